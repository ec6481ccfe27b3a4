"""Headers, sizes and counts that claim more than there is."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np

from generate.raw import ARROW, KIND_FOOTER, KIND_REGION, KIND_SCHEMA, NOBODY, OPAQUE, RECORDS, Header, tail

from .build import FOOTER, REGION, SCHEMA, Output, Part, block, message, shared_extents, u32s, vector
from .kind import LARGER, MIB, Made, kind

MOST = 1 << 28


def _output(count: int = 4, *, single: bool = False, framing: int = OPAQUE) -> Output:
    return Output(Header(partition_count=count, framing=framing), single=single)


@kind()
def partitions_claimed(folder: Path, size: int) -> Made:
    """A header that claims 2^28 partitions, and nothing after it."""
    out = _output(MOST)
    out.finish()
    return Made(out.save(folder), "ok", (0, MOST - 1), ((0, MOST),))


@kind()
def dense_claimed(folder: Path, size: int) -> Made:
    """A dense region of 2^28 partitions has two offsets."""
    out = _output(MOST)
    out.region(block(out.header, b"x"))
    out.finish()
    return Made(out.save(folder), "inconsistent-index", (0, MOST - 1), ((0, MOST),))


@kind()
def sparse_claimed(folder: Path, size: int) -> Made:
    """One sparse slot and a broadcast, of 2^28 partitions."""
    out = _output(MOST)
    blocks = block(out.header, b"own", partition=77) + block(out.header, b"all", partition=NOBODY)
    out.region(blocks, parts={3: u32s([0, 4]), 5: u32s([77]), 6: shared_extents(np.array([4]), None)})
    out.finish()
    return Made(out.save(folder), "ok", (0, 77, MOST - 1), ((0, MOST), (70, 80)))


@kind(2, 6)
def members_large(folder: Path, size: int) -> Made:
    """Shared extents whose members are bit sets of 32 MiB, in a file of 2^28 partitions."""
    out = _output(MOST)
    for number in range(size):
        members = bytearray(MOST // 8)
        members[number] = 1
        extents = shared_extents(np.array([4]), bytes(members), number)
        out.region(block(out.header, b"x", partition=NOBODY, sequence=number),
                   parts={3: u32s([0]), 5: u32s([]), 6: extents})  # fmt: skip
    out.finish()
    limits = {**LARGER, "max_message_size": 33 * MIB}
    return Made(out.save(folder), "ok", (0, 8, MOST - 1), ((0, 8),), limits)


@kind(1, 1)
def block_claimed(folder: Path, size: int) -> Made:
    """Blocks that claim 2 GiB, 4 GiB, and sizes that overflow, in an extent of 32 bytes."""
    out = _output()
    for number, claim in enumerate((0x80000000, 0xFFFFFFFF, 0xFFFFFFE8, 0x7FFFFFF8)):
        out.region(block(out.header, b"x", sequence=number, stored_size=claim), parts={3: u32s([0, 4, 4, 4, 4])})
    out.finish()
    return Made(out.save(folder), "malformed-block")


@kind(1, 1)
def block_above_limit(folder: Path, size: int) -> Made:
    """A block of 64 MiB where the limit is 1 MiB."""
    out = _output()
    content = block(out.header, bytes(64 * MIB))
    out.region(content, parts={3: u32s([0] + [len(content) // 8] * 4)})
    out.finish()
    return Made(out.save(folder), "limit-exceeded")


@kind(1, 1)
def pending_claimed(folder: Path, size: int) -> Made:
    """An unfinished index that ends in a message that claims the largest size."""
    out = _output()
    out.index += block(out.header, bytes(64), KIND_REGION, NOBODY, stored_size=0xFFFFFFF0)
    return Made(out.save(folder), "unfinished", polls=50)


@kind()
def counts_claimed(folder: Path, size: int) -> Made:
    """Counts of 2^32 - 1 and counts that overflow, in every vector of a message."""
    out = _output()
    for slot in (3, 5, 6, 7, 8):
        for count in (0xFFFFFFFF, 0x40000000, 0x10000000):
            part = Part(lambda _, count=count: struct.pack("<I", count) + bytes(32), 8)  # type: ignore[misc]
            parts = {3: u32s([0, 4]), slot: part}
            out.region(block(out.header, b"x"), parts=parts)
    out.finish()
    return Made(out.save(folder), "malformed-message")


@kind(1000, 4000)
def records_claimed(folder: Path, size: int) -> Made:
    """Records that claim 4 GiB."""
    out = _output(framing=RECORDS)
    content = b"".join(
        block(out.header, struct.pack("<I", 1) + b"x" + struct.pack("<I", 0xFFFFFFF0 + i % 16), sequence=i)
        for i in range(size)
    )
    out.region(content, parts={3: u32s([0] + [len(content) // 8] * 4)})
    out.finish()
    return Made(out.save(folder), "malformed-block")


@kind(50_000, 200_000)
def records_empty(folder: Path, size: int) -> Made:
    """A million records without bytes."""
    out = _output(framing=RECORDS)
    content = block(out.header, bytes(4 * size))
    out.region(content, parts={3: u32s([0] + [len(content) // 8] * 4)})
    out.finish()
    return Made(out.save(folder), "ok")


@kind()
def arrow_claimed(folder: Path, size: int) -> Made:
    """Arrow messages whose metadata claim -8 bytes, 2 GiB, and more than is there."""
    out = _output(framing=ARROW)
    schema = vector(b"\xff" * 4 + struct.pack("<i", 8) + bytes(8), 16, 1)
    out.metadata(message(SCHEMA, {}, {0: schema}), KIND_SCHEMA)
    for number, length in enumerate((0x7FFFFFF8, 24, -8, -(1 << 31), 4)):
        content = block(out.header, b"\xff" * 4 + struct.pack("<i", length) + bytes(16), sequence=number)
        out.region(content, parts={3: u32s([0] + [len(content) // 8] * 4)})
    out.finish()
    return Made(out.save(folder), "malformed-block")


def _directory(folder: Path, change: Callable[[Output], None]) -> Made:
    """Four regions, with a changed directory."""
    out = _output()
    for number in range(4):
        content = block(out.header, b"x", sequence=number)
        out.region(content, parts={3: u32s([0] + [len(content) // 8] * 4)})
    change(out)
    out.finish()
    return Made(out.save(folder), "inconsistent-index")


@kind()
def directory_one_message(folder: Path, size: int) -> Made:
    """A directory whose entries all lead to one message."""

    def change(out: Output) -> None:
        at, length, _, _ = out.entries[0]
        out.entries = [(at, length, offset, bytes_) for _, _, offset, bytes_ in out.entries]

    return _directory(folder, change)


@kind()
def directory_footer(folder: Path, size: int) -> Made:
    """A directory whose entries lead to the footer that contains it."""

    def change(out: Output) -> None:
        out.entries = [(len(out.index), 8, offset, length) for _, _, offset, length in out.entries]

    return _directory(folder, change)


@kind()
def directory_backwards(folder: Path, size: int) -> Made:
    """A directory from the last region to the first."""
    return _directory(folder, lambda out: out.entries.reverse())


@kind()
def directory_wraps(folder: Path, size: int) -> Made:
    """An entry whose offset and size wrap around 2^64."""

    def change(out: Output) -> None:
        out.entries[1] = (0xFFFFFFFFFFFFFFF8, 0xFFFFFFFF, *out.entries[1][2:])

    return _directory(folder, change)


@kind()
def tail_circles(folder: Path, size: int) -> Made:
    """A tail that leads to itself, into a payload, and to a footer that is inside another."""
    out = _output(single=True)
    inner = message(FOOTER, {1: (8, 64)}, {})
    nested = block(out.header, inner, KIND_FOOTER, NOBODY)
    out.region(block(out.header, nested + tail(64 + 24, len(inner))), parts={3: u32s([0, 20, 20, 20, 20])})
    at = len(out.index)
    out.metadata(message(FOOTER, {1: (8, at)}, {0: out.directory()}), KIND_FOOTER)
    out.index += tail(len(out.index), 0)
    return Made(out.save(folder), "inconsistent-index")


@kind(1000, 4000)
def messages_tiny(folder: Path, size: int) -> Made:
    """A region message that is only an identifier, again and again."""
    out = _output()
    for number in range(size):
        content = block(out.header, b"x", sequence=number)
        out.data += content
        out.entries.append((len(out.index), 8, len(out.data) - 32, 32))
        out.metadata(struct.pack("<I4s", 8, REGION), KIND_REGION)
    out.finish()
    return Made(out.save(folder), "malformed-message")
