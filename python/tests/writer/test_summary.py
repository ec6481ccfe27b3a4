"""What a writer says of its output is what a reader of it finds."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, astuple, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from support import FILE_ID, Call, output, scripts

from faro_format import FaroError, Reader, Streams, Summary, Writer, WriterOptions, check
from faro_format.arrow import ArrowWriter


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(script=scripts())
def test_the_reader_finds_the_same(tmp_path: Path, script: tuple[WriterOptions, list[Call]]) -> None:
    options, calls = script
    made = output(tmp_path, options)
    writer = Writer(str(made.base), options)
    for call in calls:
        call.make(writer)
    summary = writer.finish()
    assert summary.files == tuple(map(str, made.files.values()))
    sizes = [path.stat().st_size for path in made.files.values()]
    assert summary.blocks == check(**made.files).blocks
    with made.reader() as reader:
        assert summary.file_id == reader.header.file_id
        assert summary.regions == reader.region_count
        in_regions = sum(reader._region(number).entry.data_length for number in range(reader.region_count))
        expected = sizes if made.layout == "paired" else [in_regions, sizes[0] - in_regions]
        assert [summary.data_bytes, summary.index_bytes] == expected
        assert (summary.statistics is None) == (reader.statistics is None)
        if summary.statistics is not None and reader.statistics is not None:
            for mine, its in zip(astuple(summary.statistics), astuple(reader.statistics), strict=True):
                np.testing.assert_array_equal(mine, its)


def test_tables_have_one_too(tmp_path: Path) -> None:
    writer = ArrowWriter(tmp_path / "out.faro", pa.schema([("x", pa.int64())]), 2)
    writer.write(pa.table({"x": [1, 2]}), [0, 1])
    summary = writer.finish()
    assert isinstance(summary, Summary)
    assert (summary.files, summary.regions, summary.blocks) == ((str(tmp_path / "out.faro"),), 1, 2)
    with pytest.raises(FrozenInstanceError):
        summary.blocks = 3  # type: ignore[misc]


def test_summaries_are_equal_by_their_numbers(tmp_path: Path) -> None:
    summary, again, other = (written(tmp_path, record) for record in (b"abc", b"abc", b"abcd"))
    assert (summary, hash(summary)) == (again, hash(again))
    assert summary != other
    assert summary.statistics != other.statistics
    assert summary != replace(summary, statistics=None)


def written(folder: Path, record: bytes) -> Summary:
    """The summary of an output with one record, always of the same name and id."""
    with Writer(str(folder / "same"), WriterOptions(2, file_id=FILE_ID, overwrite=True)) as writer:
        writer.write(1, record)
        return writer.finish()


def test_blocks_are_counted_without_the_gaps_between_them(tmp_path: Path) -> None:
    name = str(tmp_path / "gaps.faro")
    with Writer(name, WriterOptions(3, selective=True)) as writer:
        with writer.region() as region:
            region.sequence(7)
            region.block(1, 1, b"seven")
            region.sequence(90)
            region.block(1, 1, b"ninety")
            region.shared()
            region.sequence(3)
            region.block(None, 1, b"three")
            # A refused block leaves the wanted sequence for the next one.
            region.sequence(2)
            with pytest.raises(FaroError, match="4 or more"):
                region.block(None, 1, b"two")
            region.sequence(4)
            region.block(None, 1, b"four")
        given_up = writer.region()
        given_up.sequence(1000)
        given_up.block(1, 1, b"nothing of it stays")
        given_up.give_up()
        with writer.region() as region:
            region.sequence(91)
            region.block(1, 1, b"ninety-one")
        assert writer.figures().blocks == 5
        writer.skip_to(2, 6)
        writer.skip_shared_to(8)
        assert writer.finish().blocks == 5
    with Reader(name) as reader:
        streams = reader.streams
        assert streams is not None
        assert streams == Streams(np.array([0, 92, 6]), np.array([0, 89, 6]), 8, 6)
        assert [block.sequence for block in reader.partition(1)] == [7, 90, 3, 4, 91]
    check(name)
