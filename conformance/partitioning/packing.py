"""Runs the command, and reads what it wrote."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from faro_format import FaroError, Reader
from faro_format.arrow import read_table

from partitioning.oracle import Bound


class PackError(Exception):
    """The command failed; the text says why."""


FAILURES = (PackError, FaroError, duckdb.Error, pa.ArrowException)
"""Exceptions that a wrong command can cause: no output, an unreadable output, or bounds of another type."""


class Faro:
    """The command `faro`, in its own folder."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program = program
        self.folder = folder
        self.packs = 0

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run it until it ends."""
        command = [str(self._program), *arguments]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)

    def pack(self, source: str, by: str, *options: str) -> Path:
        """Pack a file. Returns the name of the output."""
        output = self.folder / "out"
        done = self.run("pack", source, "-o", output.name, "--by", by, "--force", "--memory=64KiB", *options)
        self.packs += 1
        if done.returncode != 0:
            raise PackError(f"exit code {done.returncode}: {done.stderr.strip()}")
        return output


def bounds_option(folder: Path, bounds: Sequence[Bound], ducks: Sequence[str], *, in_file: bool) -> str:
    """Bounds as an argument if that is possible, else in a file of JSON lines.

    Args:
        folder: of the file.
        bounds: ascending.
        ducks: DuckDB's types of the columns, which decide what is a number in JSON.
        in_file: whether they go into a file in any case.

    """
    plain = len(ducks) == 1 and all(text and "," not in text and text == text.strip() for (text,) in bounds)
    if plain and bounds and not in_file:
        return "--bounds=" + ",".join(str(bound[0]) for bound in bounds)

    def raw(text: str | None, duck: str) -> str:
        bare = not duck.startswith(("BLOB", "VARCHAR", "DATE", "TIME")) and text not in ("NaN", "inf", "-inf")
        return text if bare and text is not None else json.dumps(text)

    lines = [f"[{', '.join(map(raw, bound, ducks))}]\n" for bound in bounds]
    (folder / "bounds").write_text("".join(lines))
    return "--bounds=@bounds"


def reported_bounds(output: Path, columns: int) -> list[Bound]:
    """The bounds that the output records, with numbers as they were written."""
    with Reader(output) as reader:
        text = reader.properties.get("faro.pack.bounds", "[]")

    def shown(value: Any) -> str | None:
        return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)

    bounds = json.loads(text, parse_int=str, parse_float=str)
    return [[shown(value) for value in (bound if columns > 1 else [bound])] for bound in bounds]


@dataclass(frozen=True)
class Rows:
    """Rows of an output of Arrow batches, in the order that they were read in."""

    numbers: list[int]
    """Their values in the column `row`."""
    columns: dict[str, Any]
    partitions: list[int]


def read_rows(output: Path) -> Rows:
    """All rows of an output, and the partition of each."""
    with Reader(output) as reader:
        first = reader.header.first_partition
        tables = [read_table(reader, first + partition) for partition in range(reader.header.partition_count)]
    partitions = [partition for partition, table in enumerate(tables) for _ in range(table.num_rows)]
    names = tables[0].column_names
    columns = {name: pa.concat_arrays([c for table in tables for c in table[name].chunks]) for name in names}
    return Rows(columns["row"].to_pylist(), columns, partitions)


def read_records(output: Path) -> list[tuple[bytes, int]]:
    """All records of an output of text, and the partition of each."""
    with Reader(output) as reader:
        return [
            (bytes(record), partition)
            for partition in range(reader.header.partition_count)
            for record in reader.records(partition)
        ]
