"""Usual blocks pass all checks at once, so each fault must be the one that the checks in their order would find."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support import FILE_ID, Call, Output, write

from faro_format import Block, FaroError, Follower, Limits, Reader, Writer, WriterOptions, storage
from faro_format._block.block import NO_PARTITION
from faro_format._block.encapsulation import encapsulation_fault
from faro_format._bytes.checksum import crc32c
from faro_format._reader.extents import _read_block
from faro_format._storage.input_file import Window
from faro_format._tables.batches import Outline, _has_compressed_buffers
from faro_format.arrow import read_batches, read_partitions

Answer = tuple[list[Any], tuple[Any, ...] | None]

CALLS = [
    *(Call("write", [partition], bytes([65 + i]) * (5 + 11 * i)) for i in range(3) for partition in (0, 1)),
    Call("flush"),
    *(Call("write", [partition], bytes([97 + partition]) * 16) for partition in (1, 0, 1)),
]
MORE = [Call("write", [0], b"an event", 1), Call("multicast", [1], b"shared"), Call("broadcast", [], b"for all")]


def answer(of: Callable[[], Iterable[Any]]) -> Answer:
    """What is delivered, and all of the fault after it."""
    found: list[Any] = []
    try:
        found.extend(of())
    except FaroError as fault:
        return found, (fault.code, fault.role, fault.offset, fault.expected, fault.found)
    return found, None


def in_order(reader: Reader, partition: int) -> Iterator[Block]:
    """The blocks of a partition, each after the checks of BLK-7 one by one."""
    own, shared = 0, -1
    for number in range(reader.region_count):
        region = reader._region(number)
        first = region.own(partition)
        for extent in ([] if first is None else [first]) + region.shared_of(partition):
            window, at = Window(reader._files.data, extent.end), extent.begin
            is_shared = extent.partition == NO_PARTITION
            exactly = extent.first_block if is_shared else own
            above = shared if is_shared else own - 1
            while at < extent.end:
                block = _read_block(
                    window, at, extent, exactly, above, None, reader._limits, verify=reader._verify, plain=True
                )
                yield block
                above, at = block.sequence, block.end
                exactly = above + 1
                own, shared = (own, above) if is_shared else (above + 1, shared)


def told(blocks: Iterable[Block]) -> Iterator[tuple[Any, ...]]:
    """Blocks with their payloads as bytes."""
    return (
        tuple(block._replace(stored=memoryview(bytes(block.stored)), payload=bytes(block.payload))) for block in blocks
    )


def walks(reader: Reader) -> Iterator[tuple[Answer, Answer]]:
    """What is delivered, and what should be."""
    expected = [answer(lambda p=p: told(in_order(reader, p))) for p in reader.partitions]  # type: ignore[misc]
    for partition, wanted in zip(reader.partitions, expected, strict=True):
        yield answer(lambda p=partition: told(reader.partition(p))), wanted  # type: ignore[misc]
    together: Answer = ([], None)
    for blocks, fault in expected:
        together = (together[0] + blocks, fault)
        if fault is not None:
            break
    yield answer(lambda: told(block for _, block in reader.by_partition(0, len(expected)))), together


def sealed(contents: bytes, block: Block) -> bytes:
    """The same bytes with the right checksum of a block, unless it no longer fits into the file."""
    at = block.offset
    size = int.from_bytes(contents[at : at + 4], "little")
    if at + 24 + size > len(contents):
        return contents
    checksum = crc32c(contents[40:56] + contents[at : at + 20] + contents[at + 24 : at + 24 + size])
    return contents[: at + 20] + checksum.to_bytes(4, "little") + contents[at + 24 :]


def damages(made: Output) -> Iterator[bytes]:
    """The data file with each byte of its blocks changed, and the checksum wrong or right."""
    good = made.contents()["data"]
    with made.reader() as reader:
        blocks = list(reader.all())
    yield good
    for block in blocks:
        for at in range(block.offset, block.end):
            for change in (1, 128):
                damaged = good[:at] + bytes((good[at] ^ change,)) + good[at + 1 :]
                # The seal of a changed checksum would restore it.
                yield damaged if block.offset + 20 <= at < block.offset + 24 else sealed(damaged, block)
            yield damaged


def opened(data: bytes, index: bytes, **more: Any) -> Reader:
    pair = storage.StoredOutput.paired(storage.MemoryFile(data), storage.MemoryFile(index))
    return Reader(stored=pair, **more)


@pytest.mark.parametrize(
    ("calls", "codec", "block_size"),
    [(CALLS, "none", 13), ([MORE[0], *CALLS], "none", 13), (CALLS + MORE, "none", 13), (CALLS, "lz4", 60)],
    ids=["usual", "with an event", "with shared blocks", "compressed"],
)
def test_every_fault_is_that_of_the_checks_in_order(
    tmp_path: Path, calls: list[Call], codec: Any, block_size: int
) -> None:
    options = WriterOptions(2, framing="opaque", file_id=FILE_ID, block_size=block_size, codec=codec, layout="paired")
    made = write(tmp_path, options, calls)
    faults = set()
    index = made.contents()["index"]
    ways: tuple[dict[str, Any], ...] = ({}, {"verify": False}, {"limits": Limits(max_block_size=12)})
    for data in damages(made):
        for more in ways:
            with opened(data, index, **more) as reader:
                for found, expected in walks(reader):
                    assert found == expected
                    faults.add(expected[1] and (str(expected[1][0]), expected[1][3].split()[0]))
    codes = ("checksum", "malformed-block", "inconsistent-index", "unsupported-codec", "limit-exceeded")
    assert {fault and fault[0] for fault in faults} >= {None, *codes}
    assert {"partition", "sequence", "zero"} <= {fault[1] for fault in faults if fault}


ROWS = pa.record_batch({"text": ["a", None, "cde"], "number": [1, 2, 3]})


def compressed(batch: pa.RecordBatch) -> bytes:
    """The message of a batch whose buffers Arrow compressed."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
        stream.write_batch(batch)
    found: bytes = list(pa.ipc.MessageReader.open_stream(sink.getvalue()))[1].serialize().to_pybytes()
    return found


@pytest.mark.parametrize("second", [ROWS.serialize().to_pybytes(), compressed(ROWS)], ids=["plain", "compressed"])
def test_known_messages_have_the_faults_of_unknown_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second: bytes
) -> None:
    schema = ROWS.schema.serialize().to_pybytes()
    options = WriterOptions(2, framing="arrow", schema=schema, file_id=FILE_ID, layout="paired")
    messages = [Call("write", [0], ROWS.serialize().to_pybytes()), Call("write", [1], second)]
    made = write(tmp_path, options, messages)
    with made.reader() as reader:
        block = next(reader.partition(1))
    good, index = made.contents()["data"], made.contents()["index"]

    def told(data: bytes) -> list[Answer]:
        with opened(data, index) as reader:
            return [
                answer(lambda: (b.to_pylist() for _, batches in read_partitions(reader, 0, 2) for b in batches)),
                answer(lambda: (b.to_pylist() for b in read_batches(reader, 1))),
            ]

    datas = [
        sealed(good[:at] + bytes((good[at] ^ change,)) + good[at + 1 :], block)
        for at in range(block.offset + 24, block.end)
        for change in (1, 128)
    ]
    found = [told(data) for data in [good, *datas]]
    with monkeypatch.context() as patch:
        patch.setattr(Outline, "accepts", lambda *_: False)
        assert found == [told(data) for data in [good, *datas]]
    assert (found[0][0][1] is None) == (second == messages[0].record)


def test_an_outline_accepts_nothing_else() -> None:
    message = ROWS.serialize().to_pybytes()
    looked_at: set[int] = set()
    assert not _has_compressed_buffers(message, looked_at)
    outline = Outline()
    assert not outline.accepts(message)
    outline.learn(message, looked_at)
    metadata = 8 + int.from_bytes(message[4:8], "little")
    assert [outline.accepts(message[:size]) for size in range(len(message) + 1)] == [
        size >= metadata for size in range(len(message) + 1)
    ]
    accepted = 0
    for at in range(len(message)):
        for change in range(1, 256):
            damaged = message[:at] + bytes((message[at] ^ change,)) + message[at + 1 :]
            if outline.accepts(damaged):
                accepted += 1
                assert encapsulation_fault(damaged) is None
                assert not _has_compressed_buffers(damaged, set())
    assert accepted


def test_a_region_that_comes_while_partitions_are_read(tmp_path: Path) -> None:
    options = WriterOptions(3, framing="opaque", layout="paired", follow=True, block_size=20)
    name = tmp_path / "out"
    with Writer(name, options) as writer:
        for partition in range(3):
            writer.write(partition, b"first region")
        writer.flush()
        with Follower(data=tmp_path / "out.data", index=tmp_path / "out.index") as follower:
            follower.poll()
            found = follower.by_partition(0, 3)
            first = next(found)
            for partition in range(3):
                writer.write(partition, b"second region, of two blocks")
            writer.flush()
            follower.poll()
            rest = [(number, bytes(block.payload)) for number, block in found]
    second = [b"second region, of tw", b"o blocks"]
    assert (first[0], bytes(first[1].payload)) == (0, b"first region")
    assert rest == [(number, part) for number in (1, 2) for part in [b"first region", *second]]
