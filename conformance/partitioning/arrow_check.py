"""Parquet and Arrow: every type, alone and together with others in a key."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from faro_format.key import partition_columns
from pyarrow import feather, parquet

from partitioning.judge import Judge
from partitioning.kinds import KINDS, NOT_PARQUET, REFUSED, Kind, build, stored
from partitioning.model import by_hash
from partitioning.oracle import Bound, Oracle
from partitioning.packing import FAILURES, Faro, PackError, Rows, bounds_option, read_rows, reported_bounds

HASHED, RANGES = 7, 5
# Keys of several columns: the kind of each column.
TOGETHER = (
    ("int32", "text"),
    ("decimal128", "timestamp-us-UTC"),
    ("text-view", "float64", "date32"),
    ("bool", "uint64"),
    ("dictionary-text", "binary"),
)


def check_arrow(faro: Faro, oracle: Oracle, judge: Judge, rows: int, seed: str, word: str) -> None:
    """All kinds in all formats by all methods."""
    by_name = {kind.name: kind for kind in KINDS}
    keys = [(kind,) for kind in KINDS] + [tuple(by_name[name] for name in names) for names in TOGETHER]
    for key in keys:
        for format in ("parquet", "arrow", "arrows"):
            name = f"{'+'.join(kind.name for kind in key)} as {format}"
            if word not in name or (format == "parquet" and key[0].name in NOT_PARQUET):
                continue
            judge.tables += 1
            try:
                _Table(faro, oracle, judge, key, name, random.Random(f"{seed} {name}")).check(rows, format)
            except FAILURES as error:
                judge.fault(f"{name}: {error}")


class _Table:
    """One key in one format."""

    def __init__(
        self, faro: Faro, oracle: Oracle, judge: Judge, key: Sequence[Kind], name: str, rng: random.Random
    ) -> None:
        self._faro, self._oracle, self._judge = faro, oracle, judge
        self._key, self._name, self._rng = key, name, rng
        self._by = [f"k{n}" for n in range(len(key))]

    def check(self, rows: int, format: str) -> None:
        """By hash, including values that DuckDB cannot represent; then by bounds and by range."""
        faro, by = self._faro, ",".join(self._by)
        # Parquet has no seconds: they would overflow there.
        extreme = self._write(rows, format, extreme=format != "parquet")
        output = faro.pack(f"in.{format}", by, "--partitions", str(HASHED))
        self._hashed(read_rows(output), extreme)
        columns = self._write(rows, format, extreme=False)
        bounds = self._bounds(columns)
        option = bounds_option(faro.folder, bounds, self._ducks(), in_file=self._rng.random() < 0.3)
        output = faro.pack(f"in.{format}", by, option)
        self._ranged(read_rows(output), columns, bounds, "by bounds")
        output = faro.pack(f"in.{format}", by, "--range", "--partitions", str(RANGES))
        bounds = reported_bounds(output, len(self._key))
        found = read_rows(output)
        self._ranged(found, columns, bounds, "by range")
        self._judge.balanced(f"{self._name} by range", found.partitions, RANGES)
        if len(bounds) != RANGES - 1:
            self._judge.fault(f"{self._name} by range: {len(bounds)} bounds")

    def _write(self, rows: int, format: str, *, extreme: bool) -> list[Any]:
        columns = [build(kind.values(self._rng, rows, extreme=extreme), kind.type) for kind in self._key]
        table = pa.table({"row": range(rows), **dict(zip(self._by, columns, strict=True))})
        write_table(table, self._faro.folder / f"in.{format}")
        return columns

    def _bounds(self, columns: Sequence[Any]) -> list[Bound]:
        """The values of some rows, in DuckDB's order. Keys of several columns sometimes have a null."""
        rows = list(zip(*map(_bare, columns), strict=True))
        whole = [row for row in rows if None not in row or len(row) > 1]
        drawn = self._rng.sample(whole, min(8, len(whole)))
        bounds = [
            [
                None if value is None else kind.write(value, self._rng)
                for kind, value in zip(self._key, row, strict=True)
            ]
            for row in drawn
        ]
        return self._oracle.ascending(self._taken(columns), self._ducks(), bounds)

    def _ducks(self) -> list[str]:
        return [kind.duck for kind in self._key]

    def _taken(self, columns: Sequence[Any]) -> list[Any]:
        return [kind.oracle(column) for kind, column in zip(self._key, columns, strict=True)]

    def _hashed(self, found: Rows, columns: Sequence[Any]) -> None:
        self._unchanged(found, columns, "by hash")
        packed = [found.columns[name] for name in self._by]
        keys = list(zip(*map(stored, packed), strict=True))
        self._judge.compare(f"{self._name} by hash", keys, found.partitions, by_hash(keys, HASHED))
        python = [int(partition) for partition in partition_columns(packed, HASHED)]
        self._judge.compare(f"{self._name} by Python's faro_format.key", keys, python, found.partitions)

    def _ranged(self, found: Rows, columns: Sequence[Any], bounds: Sequence[Bound], how: str) -> None:
        self._unchanged(found, columns, how)
        expected = self._oracle.partitions(self._taken(columns), self._ducks(), bounds)
        keys = list(zip(*map(stored, columns), strict=True))
        found_at = dict(zip(found.numbers, found.partitions, strict=True))
        partitions = [found_at.get(row) for row in range(len(keys))]
        self._judge.compare(f"{self._name} {how} {bounds}", keys, partitions, expected)

    def _unchanged(self, found: Rows, columns: Sequence[Any], how: str) -> None:
        """Every row is there once, with its values. Parquet does not keep every unit of time."""
        for name, column in zip(self._by, columns, strict=True):
            packed = found.columns[name]
            plain = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
            same = packed if packed.type in (column.type, plain) else packed.cast(plain)
            before = [(row, repr(value)) for row, value in enumerate(stored(column))]
            after = sorted((row, repr(value)) for row, value in zip(found.numbers, stored(same), strict=True))
            self._judge.compare(f"{self._name} {how}: the rows", before, after, before)


def _bare(column: Any) -> list[Any]:
    """Stored values in the form of the kinds: decimals are unscaled."""
    return [value[0] if isinstance(value, tuple) else value for value in stored(column)]


def write_table(table: Any, path: Path) -> None:
    """Write a table in the format that the name's ending says, in batches of a few rows."""
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=100)
    elif path.suffix == ".arrow":
        feather.write_feather(table, path, compression="uncompressed", chunksize=100)
    else:
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, 100)


def check_refused(faro: Faro, judge: Judge, word: str) -> None:
    """What cannot be a key is refused by every method, and nothing is written."""
    for name, column in REFUSED.items():
        if word not in name:
            continue
        judge.tables += 1
        table = pa.table({"row": range(len(column)), "k0": column})
        write_table(table, faro.folder / "in.arrows")
        for method in ("--hash", "--range", "--bounds=1"):
            for left in faro.folder.glob("out*"):
                left.unlink()
            try:
                faro.pack("in.arrows", "k0", method)
                judge.fault(f"{name} {method}: packed")
            except PackError as error:
                if not str(error).startswith("exit code 2") or "cannot be a key" not in str(error):
                    judge.fault(f"{name} {method}: {error}")
            if any(faro.folder.glob("out*")):
                judge.fault(f"{name} {method}: left an output")
