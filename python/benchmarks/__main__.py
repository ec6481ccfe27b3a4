"""The command line of the harness: see bench/README.md."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa

import faro_format as faro
from benchmarks.data import lineitem_table, text_table
from benchmarks.limits import pread_crc_arrow, raw_pread, raw_write
from benchmarks.records import Records
from benchmarks.tables import Tables
from benchmarks.turns import Pass, Subject, measure, timed
from faro_format.arrow import read_batches, read_partitions, read_schema

BUFFER_MIB = 64
HEADER = 24
"""Bytes before a block's payload."""


def cases(part: str) -> Iterator[dict[str, Any]]:
    """Yield what names the cases of a part."""
    for data in ("text-table", "lineitem-table", "text"):
        for partitions in (64, 1_000):
            case = {"data": data, "partitions": partitions, "buffer_mib": BUFFER_MIB, "codec": "none"}
            if data == "text":
                case["record_bytes"] = 100
            yield case | ({"order": "partition"} if part == "read" else {})


def tables_of(case: dict[str, Any], folder: Path, plain_mib: int) -> Tables:
    """Make the table of a case, and say how often it is handed over."""
    table = text_table() if case["data"] == "text-table" else lineitem_table(folder)
    count = max(1, (plain_mib << 20) // table.nbytes)
    return Tables(folder, table, count, case["partitions"], case["buffer_mib"])


def write(case: dict[str, Any], folder: Path, options: argparse.Namespace) -> None:
    """Measure writing."""
    if case["data"] == "text":
        records = Records(100, case["partitions"], case["buffer_mib"], options.plain_mib << 20)
        plain = records.plain_bytes
        work = Tables(folder, None, 0, case["partitions"], case["buffer_mib"])
        subjects = [
            Subject("faro", partial(work.run, records.batches), writes=True),
            Subject("faro-each", partial(work.run, records.calls), records.bytes_of_calls, writes=True),
        ]
    else:
        work = tables_of(case, folder, options.plain_mib)
        plain = work.plain_bytes
        peers = {
            "faro": work.faro,
            "arrow-ipc": work.arrow_ipc,
            "arrow-ipc-buffered": work.arrow_ipc_buffered,
            "parquet": work.parquet,
            "arrow-dataset-ipc": work.dataset_ipc,
        }
        subjects = [Subject(name, partial(work.run, action), writes=True) for name, action in peers.items()]
    subjects.append(Subject("raw-write", partial(work.run, lambda path: raw_write(path, plain)), writes=True))
    measure("write", case | {"plain_bytes": plain}, plain, subjects, options.repetitions, options.out)


def read(case: dict[str, Any], folder: Path, options: argparse.Namespace) -> None:
    """Measure verified reads, of a file that is cached: all partitions, one after another."""
    path = folder / "read"
    path.mkdir()
    if case["data"] == "text":
        records = Records(100, case["partitions"], case["buffer_mib"], options.plain_mib << 20)
        records.batches(path)
        plain = records.plain_bytes
        subjects = [Subject("faro", lambda: Pass(timed(lambda: records.read(path))))]
    else:
        work = tables_of(case, folder, options.plain_mib)
        work.faro(path)
        plain = work.plain_bytes
        rows = work.count * work.table.num_rows

        def check(found: int) -> None:
            if found != rows:
                raise AssertionError(f"{found} rows")

        def together() -> None:
            with faro.open(path / "rows") as reader:
                found = read_partitions(reader, 0, work.partitions)
                check(sum(batch.num_rows for _, batches in found for batch in batches))

        def alone() -> None:
            with faro.open(path / "rows") as reader:
                check(sum(batch.num_rows for number in reader.partitions for batch in read_batches(reader, number)))

        with faro.open(path / "rows") as reader:
            blocks = sorted((one.offset + HEADER, len(one.stored)) for one in reader.all())
            schema = read_schema(reader)

        def limit() -> None:
            check(pread_crc_arrow(path / "rows.data", schema, blocks))

        subjects = [
            Subject("faro", lambda: Pass(timed(together))),
            Subject("faro-alone", lambda: Pass(timed(alone))),
            Subject("pread-crc-arrow", lambda: Pass(timed(limit))),
        ]
    data = path / "rows.data"
    subjects.append(Subject("raw-pread", lambda: Pass(timed(lambda: raw_pread(data))), data.stat().st_size))
    try:
        measure("read", case | {"plain_bytes": plain}, plain, subjects, options.repetitions, options.out)
    finally:
        shutil.rmtree(path)


PARTS = {"write": write, "read": read}


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure the Python library beside pyarrow."
    )
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--out", type=Path, required=True, help="the file that lines are appended to")
    parser.add_argument("--dir", type=Path, required=True, help="where files are made, and removed again")
    parser.add_argument("--repetitions", type=int, default=5, metavar="N", help="measured passes; default 5")
    parser.add_argument("--plain-mib", type=int, default=1024, metavar="N", help="of a pass; default 1024")
    parser.add_argument("--case", action="append", default=[], metavar="KEY=VALUE", help="only such cases; repeatable")
    return parser


def main() -> int:
    """Run the command."""

    def stop(number: int, _: FrameType | None) -> None:
        raise KeyboardInterrupt(signal.Signals(number).name)

    signal.signal(signal.SIGTERM, stop)
    options = build_parser().parse_args()
    # One thread, as the others: pyarrow's own files are written by the thread that calls.
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    wanted = [pair.split("=", 1) for pair in options.case]
    for case in cases(options.part):
        if all(str(case.get(key)) == value for key, value in wanted):
            with tempfile.TemporaryDirectory(dir=options.dir) as folder:
                PARTS[options.part](case, Path(folder), options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
