"""CSV, TSV and JSON lines: every type of field, alone and together with another in a key."""

from __future__ import annotations

import gzip
import random
from collections.abc import Sequence

import pyarrow as pa
from faro_format.key import hash_key

from partitioning.judge import Judge
from partitioning.kinds import decimal
from partitioning.model import Value, by_hash
from partitioning.oracle import Bound, Oracle
from partitioning.packing import FAILURES, Faro, bounds_option, read_records, reported_bounds
from partitioning.texts import FIELDS, SHAPES, Field, bound_text, delimited, json_line, mixed_values, raw_json

HASHED, RANGES = 7, 5

Columns = Sequence[Sequence[str | None]]


def check_text(faro: Faro, oracle: Oracle, judge: Judge, rows: int, seed: str, word: str) -> None:
    """All types of fields in all formats by all methods."""
    keys = [(field,) for field in FIELDS] + [(FIELDS[1], FIELDS[0]), (FIELDS[5], FIELDS[3])]
    for key in keys:
        for format in ("csv", "tsv", "jsonl", "jsonl untyped"):
            name = "+".join(field.name for field in key) + f" as {format}"
            untyped = format.endswith("untyped")
            if word not in name or (untyped and not all(field.untyped for field in key)):
                continue
            judge.tables += 1
            rng = random.Random(f"{seed} {name}")
            try:
                _Table(faro, oracle, judge, key, name, rng).check(rows, format.split()[0], typed=not untyped)
            except FAILURES as error:
                judge.fault(f"{name}: {error}")
    if word in "mixed":
        judge.tables += 1
        _mixed(faro, judge, rows, random.Random(f"{seed} mixed"))


class _Table:
    """One key in one format."""

    def __init__(
        self, faro: Faro, oracle: Oracle, judge: Judge, key: Sequence[Field], name: str, rng: random.Random
    ) -> None:
        self._faro, self._oracle, self._judge = faro, oracle, judge
        self._key, self._name, self._rng = key, name, rng
        self._ducks = [field.duck for field in key]

    def check(self, rows: int, format: str, *, typed: bool) -> None:
        """By hash, by bounds and by range."""
        columns = [field.texts(self._rng, rows) for field in self._key]
        if format == "jsonl":
            self._json(columns, typed=typed)
            return
        delimiter = "," if format == "csv" else "\t"
        # An empty field is null, except in a column of text.
        columns = [
            ["" if text is None and field.name == "text" else text for text in column]
            for field, column in zip(self._key, columns, strict=True)
        ]
        lines = delimited(columns, delimiter, self._rng)
        header = delimiter.join(["row", *(f"k{n}" for n in range(len(self._key)))])
        source = self._write(f"in.{format}", [header, *lines])
        self._methods(source, self._by(["k{}"] * len(self._key), typed=True), lines, columns)

    def _json(self, columns: Columns, *, typed: bool) -> None:
        shapes = [self._rng.choice(SHAPES) for _ in self._key] if len(self._key) > 1 else list(SHAPES)
        for shape in shapes:
            rng = self._rng
            raws = [
                [raw_json(field, text, rng) for text in column]
                for field, column in zip(self._key, columns, strict=True)
            ]
            # A null may also be left out, as long as some record has a value.
            members = [
                {
                    f"k{n}": None if raw == "null" and rng.random() < 0.5 else shape.line(raw)
                    for n, raw in enumerate(row)
                }
                for row in zip(*raws, strict=True)
            ]
            lines = [json_line(row, record, rng) for row, record in enumerate(members)]
            by = self._by([shape.by.replace("{}", "k{}")] * len(self._key), typed=typed)
            self._methods(self._write("in.jsonl", lines), by, lines, columns)

    def _by(self, names: Sequence[str], *, typed: bool) -> str:
        kinds = [f":{field.name}" if typed else "" for field in self._key]
        return ",".join(name.format(n) + kind for n, (name, kind) in enumerate(zip(names, kinds, strict=True)))

    def _write(self, name: str, lines: Sequence[str]) -> str:
        text = "".join(line + "\n" for line in lines).encode()
        if self._rng.random() < 0.3:
            text, name = gzip.compress(text), f"{name}.gz"
        (self._faro.folder / name).write_bytes(text)
        return name

    def _methods(self, source: str, by: str, lines: Sequence[str], columns: Columns) -> None:
        faro, judge, what = self._faro, self._judge, f"{self._name} by {by}"
        output = faro.pack(source, by, "--partitions", str(HASHED))
        keys = [
            tuple(None if text is None else field.key(text) for field, text in zip(self._key, row, strict=True))
            for row in zip(*columns, strict=True)
        ]
        judge.compare(f"{what} by hash", lines, _found(judge, what, read_records(output), lines), by_hash(keys, HASHED))
        python = [hash_key(map(_python, key)) % HASHED for key in keys]
        judge.compare(f"{what} by Python's faro_format.key", lines, python, by_hash(keys, HASHED))

        bounds = self._bounds(columns)
        # JSON without a type: the form of a bound decides; texts have quotes.
        in_file = self._key[0].name == "text" or self._rng.random() < 0.3
        output = faro.pack(source, by, bounds_option(faro.folder, bounds, self._ducks, in_file=in_file))
        self._ranged(f"{what} by bounds", read_records(output), lines, columns, bounds)

        output = faro.pack(source, by, "--range", "--partitions", str(RANGES))
        records = read_records(output)
        self._ranged(f"{what} by range", records, lines, columns, reported_bounds(output, len(self._key)))
        judge.balanced(f"{what} by range", [partition for _, partition in records], RANGES)

    def _ranged(
        self,
        what: str,
        records: list[tuple[bytes, int]],
        lines: Sequence[str],
        columns: Columns,
        bounds: Sequence[Bound],
    ) -> None:
        expected = self._oracle.partitions(_arrays(columns), self._ducks, bounds)
        self._judge.compare(f"{what} {bounds}", lines, _found(self._judge, what, records, lines), expected)

    def _bounds(self, columns: Columns) -> list[Bound]:
        whole = [row for row in zip(*columns, strict=True) if None not in row]
        drawn = self._rng.sample(whole, min(8, len(whole)))
        bounds = [
            [
                None if text is None else bound_text(field, text, self._rng)
                for field, text in zip(self._key, row, strict=True)
            ]
            for row in drawn
        ]
        return self._oracle.ascending(_arrays(columns), self._ducks, bounds)


def _arrays(columns: Columns) -> list[pa.Array]:
    return [pa.array(column, pa.string()) for column in columns]


def _python(value: Value) -> object:
    return decimal(*value) if isinstance(value, tuple) else value


def _found(judge: Judge, what: str, records: list[tuple[bytes, int]], lines: Sequence[str]) -> list[int | None]:
    """The partition of each line. Every line must be there once."""
    before = sorted(line.encode() for line in lines)
    judge.compare(f"{what}: the records", before, sorted(record for record, _ in records), before)
    partitions = dict(records)
    return [partitions.get(line.encode()) for line in lines]


def _mixed(faro: Faro, judge: Judge, rows: int, rng: random.Random) -> None:
    """JSON values of all types in one column, by hash."""
    values = mixed_values(rng, rows)
    lines = [json_line(row, {"k": raw}, rng) for row, (raw, _) in enumerate(values)]
    (faro.folder / "in.jsonl").write_text("".join(line + "\n" for line in lines))
    keys = [(value,) for _, value in values]
    for by in ("k", "/k"):
        output = faro.pack("in.jsonl", by, "--partitions", str(HASHED))
        found = _found(judge, f"mixed by {by}", read_records(output), lines)
        judge.compare(f"mixed by {by}", lines, found, by_hash(keys, HASHED))
