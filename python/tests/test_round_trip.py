"""Random scripts against a simple model, and the batch path against the record path."""

from __future__ import annotations

import itertools
import pickle
import random
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import FILE_ID, Call, arrow_message, events_of, model, output, scripts, write

import faro_format as faro
from faro_format import (
    Codec,
    ErrorCode,
    FaroError,
    FileKind,
    Framing,
    Reader,
    Writer,
    WriterOptions,
    check,
)
from faro_format._storage.names import Layout
from faro_format._writer.options import CodecName

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUICK
@given(script=scripts())
def test_a_partition_reads_what_was_written(tmp_path: Path, script: tuple[WriterOptions, list[Call]]) -> None:
    options, calls = script
    made = write(tmp_path, options, calls)
    report = check(**made.files, level="decode")
    with made.reader() as reader:
        assert reader.region_count == report.regions
        for partition in reader.partitions:
            found = events_of(reader.partition(partition), options.framing)
            expected = model(calls, options, partition)
            if options.ordered:
                assert found == expected
            elif options.framing != Framing.OPAQUE:
                assert sorted(found) == sorted(expected)
            else:
                assert sum(len(data) for _, data in found) == sum(len(data) for _, data in expected)
            statistics = reader.statistics
            stored = sum(block.end - block.offset for block in reader.partition(partition))
            assert reader.stored_bytes(partition) == stored
            if statistics is not None and options.framing != Framing.OPAQUE:
                vector = statistics.records
                own = 0 if vector is None else int(vector[partition - options.first_partition])
                assert own + statistics.records_to_all == sum(kind == 0 for kind, _ in expected)


@QUICK
@given(script=scripts(), data=st.data())
def test_a_range_reads_what_its_partitions_read(
    tmp_path: Path, script: tuple[WriterOptions, list[Call]], data: st.DataObject
) -> None:
    options, calls = script
    made = write(tmp_path, options, calls)
    low = data.draw(st.integers(options.first_partition, options._end_partition))
    high = data.draw(st.integers(low, options._end_partition))
    with made.reader() as reader:
        by_partition: dict[int, list[int]] = {partition: [] for partition in range(low, high)}
        for block in reader.range(low, high):
            if block.partition in by_partition:
                by_partition[block.partition].append(block.offset)
            else:
                members = range(low, high) if block.members is None else block.members.tolist()
                assert len(members) > 0
                for member in members:
                    by_partition[member].append(block.offset)
        for partition, offsets in by_partition.items():
            assert offsets == [block.offset for block in reader.partition(partition)]


@QUICK
@given(
    script=scripts(layout="paired"),
    rows=st.lists(st.tuples(st.integers(0, 11), st.sampled_from((0, 1, 5, 30, 31, 33, 100, 250))), max_size=60),
)
def test_a_batch_leaves_the_bytes_of_its_records(
    tmp_path: Path, script: tuple[WriterOptions, list[Call]], rows: list[tuple[int, int]]
) -> None:
    options, calls = script
    if options.framing == Framing.ARROW:
        return
    partitions = np.array([options.first_partition + p % options.partition_count for p, _ in rows], np.int64)
    records = [bytes((i * 7 + j) & 255 for j in range(size)) for i, (_, size) in enumerate(rows)]
    one, other = output(tmp_path, options), output(tmp_path, options)
    half = len(calls) // 2
    with Writer(str(one.base), options) as writer:
        for call in calls[:half]:
            call.make(writer)
        for partition, record in zip(partitions.tolist(), records, strict=True):
            writer.write(partition, record)
        for call in calls[half:]:
            call.make(writer)
    with Writer(str(other.base), options) as writer:
        for call in calls[:half]:
            call.make(writer)
        offsets = 3 + np.append(0, np.cumsum([len(record) for record in records])).astype(np.int32)
        writer.write_batch(partitions.astype(np.uint16), offsets, b"abc" + b"".join(records) + b"z")
        for call in calls[half:]:
            call.make(writer)
    assert one.contents() == other.contents()


@QUICK
@given(sizes=st.lists(st.integers(0, 300), max_size=50), same=st.booleans(), block_size=st.sampled_from((1, 100, 5000)))
def test_records_as_arrays(tmp_path: Path, sizes: list[int], same: bool, block_size: int) -> None:
    records = [bytes([i & 255]) * (sizes[0] if same else size) for i, size in enumerate(sizes)]
    options = WriterOptions(3, block_size=block_size, file_id=FILE_ID)
    made = write(tmp_path, options, [Call("write", [1], record) for record in records])
    with made.reader() as reader:
        assert [bytes(record) for record in reader.records(1)] == records
        data, offsets = reader.record_arrays(1)
        assert [data[a:b].tobytes() for a, b in itertools.pairwise(offsets)] == records
        assert reader.header.framing == Framing.RECORDS
        assert reader.record_arrays(2)[1].tolist() == [0]


def test_a_refused_batch_leaves_the_writer_as_it_was(tmp_path: Path) -> None:
    options = WriterOptions(3, file_id=FILE_ID, max_plain_size=20)
    made = output(tmp_path, options)
    with Writer(str(made.base), options) as writer:
        for partitions, offsets in (([0, 3], [0, 1, 2]), ([0], [0]), ([0], [0, 9]), ([0, 1], [0, 2, 1])):
            with pytest.raises(FaroError, match="invalid-argument"):
                writer.write_batch(np.array(partitions), np.array(offsets), b"12")
        with pytest.raises(FaroError, match="limit-exceeded"):
            writer.write_batch(np.array([0, 0]), np.array([0, 1, 18]), bytes(18))
        writer.write_batch(np.array([2]), np.array([0, 2]), b"12")
    with made.reader() as reader:
        assert [bytes(record) for record in reader.records(2)] == [b"12"]


def test_open_by_name(tmp_path: Path) -> None:
    layouts: tuple[Layout, ...] = ("paired", "single")
    for layout in layouts:
        name = str(tmp_path / layout)
        with Writer(name, WriterOptions(2, layout=layout)) as writer:
            writer.write(1, b"x")
            writer.property("k", "v")
        with faro.open(name) as reader:
            assert isinstance(reader, Reader)
            assert reader.payload(1) == b"\x01\0\0\0x"
            assert reader.properties == {"k": "v"}


def test_records_of_many_blocks_at_once(tmp_path: Path) -> None:
    drawn = random.Random(7)
    records = [drawn.randbytes(drawn.choice([0, 1, 3, 40, 700])) for _ in range(5_000)]
    with Writer(str(tmp_path / "a"), WriterOptions(2, block_size=1_000, buffer_size=100_000)) as writer:
        for record in records:
            writer.write(1, record)
    with faro.open(tmp_path / "a") as reader:
        assert sum(1 for _ in reader.partition(1)) > 500
        data, offsets = reader.record_arrays(1)
        assert list(reader.records(1)) == records
    assert data.tobytes() == b"".join(records)
    assert np.diff(offsets).tolist() == [len(record) for record in records]


def test_the_first_fault_of_many_blocks_is_named(tmp_path: Path) -> None:
    options = WriterOptions(1, layout="single", block_size=100, file_id=FILE_ID)
    name = str(tmp_path / "a")
    with Writer(name, options) as writer, writer.region() as region:
        for number in range(60):
            region.block(0, 0, b"\2\0\0\0xy\0\0\0\0")
            region.block(0, 0, b"\1\0\0\0x" if number != 40 else b"\2\0\0\0x")
    with faro.open(tmp_path / "a") as reader:
        blocks = list(reader.partition(0))
    wrong, damaged = blocks[81].offset, blocks[100].offset
    path = tmp_path / "a.faro"
    content = bytearray(path.read_bytes())
    content[damaged + 24] ^= 1
    path.write_bytes(content)
    with faro.open(tmp_path / "a") as reader, pytest.raises(FaroError) as caught:
        reader.record_arrays(0)
    assert (caught.value.code, caught.value.offset) == (ErrorCode.MALFORMED_BLOCK, wrong + 24)


@pytest.mark.parametrize("number", range(3))
def test_framing_kind_and_codec_are_enumerated(tmp_path: Path, number: int) -> None:
    framing, codec = Framing(number), Codec(number)
    kind, schema = (FileKind.SINGLE, arrow_message(b"schema")) if number else (FileKind.INDEX, None)
    options: dict[str, Any] = {"framing": framing.name.lower(), "codec": codec.name.lower()}
    options |= {"layout": "single" if number else "paired", "schema": schema if framing == Framing.ARROW else None}
    with Writer(tmp_path / "out", WriterOptions(1, **options)) as writer:
        writer.write(0, arrow_message(b"x" * 1000))
    with faro.open(tmp_path / "out") as reader:
        assert (reader.header.framing, reader.header.kind) == (framing, kind) == (number, 3 if number else 2)
        assert (type(reader.header.framing), type(reader.header.kind)) == (Framing, FileKind)
        assert [(block.codec, type(block.codec)) for block in reader.partition(0)] == [(codec, Codec)]


def test_options_take_a_member_or_its_name(tmp_path: Path) -> None:
    names: tuple[CodecName, ...] = ("none", "lz4", "zstd")
    for codec, name in zip(Codec, names, strict=True):
        given = WriterOptions(2, codec=codec, framing=Framing.OPAQUE, file_id=FILE_ID)
        named = WriterOptions(2, codec=name, framing="opaque", file_id=FILE_ID)
        assert given == named
        for options in (given, named, replace(named, block_size=5), pickle.loads(pickle.dumps(named))):
            assert (type(options.framing), options.framing) == (Framing, Framing.OPAQUE)
            assert (type(options.codec), options.codec) == (Codec, codec)
    assert (WriterOptions(2).framing, WriterOptions(2).codec) == (Framing.RECORDS, Codec.NONE)
    with Writer(tmp_path / "a", given) as writer:
        writer.write(0, b"x" * 999)
    with faro.open(tmp_path / "a") as reader:
        again = WriterOptions(2, framing=reader.header.framing, codec=next(reader.partition(0)).codec, file_id=FILE_ID)
    assert again == given
    with pytest.raises(FrozenInstanceError):
        given.codec = Codec.NONE  # type: ignore[misc]
    # Neither a number, nor a member of another enumeration, nor a name that is spelled otherwise.
    wrong: Any
    for wrong in (1, True, None, FileKind.DATA, "LZ4", b"lz4", 1.0):
        with pytest.raises(FaroError, match="invalid-argument: expected codec: one of "):
            WriterOptions(2, codec=wrong)
        with pytest.raises(FaroError, match="invalid-argument: expected framing: one of "):
            WriterOptions(2, framing=wrong)
