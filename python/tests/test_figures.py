"""What writers and readers tell of themselves: figures and log records."""

from __future__ import annotations

import logging
import tempfile
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from destining import Failing
from hypothesis import given, settings
from support import Call, fault_of, scripts

import faro_format as faro
from faro_format import FaroError, ReaderFigures, Writer, WriterFigures, WriterOptions, storage
from faro_format.arrow import ArrowWriter


@settings(max_examples=60, deadline=None)
@given(script=scripts())
def test_the_figures_agree_with_the_files(script: tuple[WriterOptions, list[Call]]) -> None:
    options, calls = script
    with tempfile.TemporaryDirectory() as folder:
        out = Writer(Path(folder, "out"), options)
        for number, call in enumerate(calls):
            assert out.figures().records <= sum(call.name != "flush" and not call.kind for call in calls[:number])
            call.make(out)
        summary = out.finish()
        figures = out.figures()
        assert figures.records == sum(call.name != "flush" and not call.kind for call in calls)
        assert (figures.regions, figures.blocks) == (summary.regions, summary.blocks)
        assert figures.spills <= figures.regions
        assert figures.file_bytes == sum(path.stat().st_size for path in Path(folder).iterdir())
        assert (figures.memory_used, out.memory_used, figures.memory_refusals) == (0, 0, 0)
        assert figures.compress_time == figures.checksum_time == figures.sync_time == 0
        with faro.open(Path(folder, "out")) as reader:
            blocks = list(reader.all())
            found = reader.figures()
        assert figures.blocks == found.blocks == len(blocks)
        assert figures.plain_bytes == found.plain_bytes == sum(block.plain_size for block in blocks)
        assert figures.stored_bytes == found.stored_bytes
        assert found.regions_read == figures.regions
        assert found.reads >= 3


def test_a_writer_counts_what_it_holds_and_spills(tmp_path: Path) -> None:
    out = Writer(tmp_path / "out", WriterOptions(4, buffer_size=1 << 20))
    assert out.figures() == WriterFigures(file_bytes=128, write_time=out.figures().write_time)
    for _ in range(1000):
        out.write(0, bytes(1000))
    assert 1_000_000 < out.memory_used < 3_000_000
    assert out.figures().memory_used == out.memory_used
    assert (out.figures().regions, out.figures().spills) == (0, 0)
    for _ in range(1000):
        out.write(0, bytes(1000))
    # 1,036 records are charged 1 MiB.
    assert (out.figures().regions, out.figures().spills) == (1, 1)
    out.flush()
    assert (out.figures().regions, out.figures().spills, out.memory_used) == (2, 1, 0)
    out.write(0, bytes(2 << 20))
    assert (out.figures().regions, out.figures().spills) == (3, 1)
    with out.region() as region:
        region.block(1, 0, b"\1\0\0\0x", 5)
    assert (out.figures().regions, out.figures().records) == (4, 2006)
    assert out.figures().region_time > out.figures().write_time > 0
    out.abort()
    assert out.figures().regions == 4
    assert out.memory_used == 0


def test_what_counts_as_a_spill_and_as_a_record(tmp_path: Path) -> None:
    """The same calls have the same figures in all languages."""
    with Writer(tmp_path / "out", WriterOptions(2, buffer_size=100)) as out:

        def of() -> tuple[int, int, int]:
            figures = out.figures()
            return figures.regions, figures.spills, figures.records

        out.write(0, bytes(60))
        assert of() == (0, 0, 0)
        out.write(0, bytes(60))
        assert of() == (1, 1, 1)
        out.write(1, bytes(200))
        assert of() == (3, 2, 3)
        out.broadcast(bytes(10))
        out.write(1, bytes(10))
        assert of() == (4, 2, 4)
        out.write_event(1, 64, b"event")
        out.flush()
        assert of() == (5, 2, 5)


def test_records_in_an_order_that_ends_regions_are_not_spills(tmp_path: Path) -> None:
    with Writer(tmp_path / "out", WriterOptions(4)) as out:
        out.broadcast(b"x")
        out.write(0, b"x")
        out.broadcast(b"x")
        out.write_batch([0, 1], [0, 1, 2], b"xy")
    assert (out.figures().regions, out.figures().spills, out.figures().records) == (3, 0, 5)


def test_times_that_are_asked_for(tmp_path: Path) -> None:
    for timed in (False, True):
        options = WriterOptions(4, codec="zstd", timed=timed, durability="commit", overwrite=True)
        with Writer(tmp_path / "out", options) as out:
            out.write(0, bytes(3 << 20))
        figures = out.figures()
        assert (figures.compress_time > 0) == (figures.checksum_time > 0) == timed
        assert figures.sync_time > 0
        assert figures.compress_time + figures.checksum_time < figures.region_time


def test_a_failed_writer_has_figures() -> None:
    out = Writer(destination=Failing(storage.MemoryDestination(), 13), options=WriterOptions(1))
    for _ in range(20):
        if fault_of(out.write, 0, b"x") or fault_of(out.flush):
            break
    figures = out.figures()
    assert 0 < figures.regions < 20
    assert figures.file_bytes > 0


def test_rows_of_tables_are_records(tmp_path: Path) -> None:
    table = pa.table({"x": range(100)})
    with ArrowWriter(tmp_path / "out", table.schema, 2) as out:
        out.write(table, [number % 2 for number in range(100)])
    assert out._writer.figures().records == 100


def test_a_reader_counts_what_threads_read(tmp_path: Path) -> None:
    with Writer(tmp_path / "out", WriterOptions(8, codec="zstd", dictionaries=True)) as out:
        for number in range(20_000):
            out.write(number % 8, f"a record with a number {number} and words that come again".encode())
        out.flush()
        out.write(0, b"x")
    reader = faro.open(tmp_path / "out")
    empty = reader.figures()
    assert (empty.blocks, empty.regions_read, empty.regions_cached, empty.memory_used) == (0, 0, 0, 0)
    with reader:
        threads = [threading.Thread(target=lambda: list(reader.all())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        blocks = list(reader.all())
        figures = reader.figures()
        assert figures.blocks == 5 * len(blocks)
        assert figures.stored_bytes == 5 * sum(reader.stored_bytes(partition) for partition in reader.partitions)
        assert figures.regions_read + figures.regions_cached >= 10
        assert figures.bytes_read > figures.stored_bytes
        assert figures.memory_used == reader.memory_used > 2048
        assert figures.read_time > 0
    assert reader.figures().blocks == figures.blocks
    assert isinstance(reader.figures(), ReaderFigures)


def test_a_walk_that_ends_early_counts_what_it_delivered(tmp_path: Path) -> None:
    with Writer(tmp_path / "out", WriterOptions(1, block_size=10)) as out:
        for _ in range(10):
            out.write(0, bytes(10))
    with faro.open(tmp_path / "out") as reader:
        walk = reader.partition(0)
        next(walk)
        next(walk)
        walk.close()  # type: ignore[union-attr]
        assert reader.figures().blocks == 2


def test_log_records(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "faro_format")
    with Writer(tmp_path / "out", WriterOptions(1)) as out:
        out.write(0, b"x")
    with faro.open(tmp_path / "out"):
        pass
    data, index = tmp_path / "out.data", tmp_path / "out.index"
    size = data.stat().st_size + index.stat().st_size
    assert [(record.name, record.levelname, record.getMessage()) for record in caplog.records] == [
        ("faro_format", "DEBUG", f"wrote region 0 of '{index}': 32 bytes"),
        ("faro_format", "DEBUG", f"finished '{index}': 1 regions, {size} bytes"),
        ("faro_format", "DEBUG", f"opened '{index}': 1 regions, 1 partitions"),
    ]


def test_a_file_that_cannot_be_removed_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "faro_format")

    class Stays(storage.MemoryDestination):
        def create(self, role: Any) -> storage.NewFile:
            made = super().create(role)

            def remove() -> None:
                raise OSError("it stays")

            made.remove = remove  # type: ignore[method-assign]
            return made

    destination = Stays("out")
    out = Writer(destination=destination, options=WriterOptions(1))
    destination.files["out.index"] = b"older"
    with pytest.raises(FaroError):
        out.finish()
    assert {record.levelname for record in caplog.records} == {"WARNING"}
    assert "'out.data' cannot be removed: it stays" in {record.getMessage() for record in caplog.records}
