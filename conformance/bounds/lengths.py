"""Files with very many of something, with stretches of zeros, and files that grow."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from generate.raw import KIND_EVENT, KIND_REGION, NOBODY, OPAQUE, Header

from .build import Output, block, u32s
from .kind import LARGER, MIB, Made, kind

GIB = 1 << 30


def regions(count: int, *, single: bool = False) -> Output:
    """Regions of one block each."""
    out = Output(Header(partition_count=4, framing=OPAQUE), single=single)
    for number in range(count):
        out.region(block(out.header, b"x", sequence=number), parts={3: u32s([0, 4, 4, 4, 4])})
    return out


@kind(5_000, 20_000)
def regions_many(folder: Path, size: int) -> Made:
    """Regions of one block."""
    out = regions(size)
    out.finish()
    return Made(out.save(folder), "ok", limits=LARGER)


@kind(5_000, 20_000)
def regions_many_single(folder: Path, size: int) -> Made:
    """Regions of one block in a single file."""
    out = regions(size, single=True)
    out.finish()
    return Made(out.save(folder), "ok", limits=LARGER)


@kind(2_000, 8_000)
def regions_above_limit(folder: Path, size: int) -> Made:
    """More regions than the limit."""
    out = regions(size)
    out.finish()
    return Made(out.save(folder), "limit-exceeded", limits={**LARGER, "max_regions": 1_000})


@kind(50_000, 200_000)
def blocks_tiny(folder: Path, size: int) -> Made:
    """Blocks without payload in one extent."""
    out = Output(Header(partition_count=4, framing=OPAQUE))
    blocks = b"".join(block(out.header, b"", KIND_EVENT, sequence=number) for number in range(size))
    out.region(blocks, parts={3: u32s([0] + [len(blocks) // 8] * 4)})
    out.finish()
    return Made(out.save(folder), "ok")


# Both are more than a reader caches, as cached messages cost nothing.
@kind(32, 96)
def messages_large(folder: Path, size: int) -> Made:
    """Region messages of 1 MiB, of which one partition needs a few bytes each."""
    count = 250_000
    out = Output(Header(partition_count=count, framing=OPAQUE))
    offsets = np.full(count + 1, 4, "<u4")
    offsets[0] = 0
    for number in range(size):
        out.region(block(out.header, b"x", sequence=number), parts={3: u32s(offsets)})
    out.finish()
    return Made(out.save(folder), "ok", (0, count - 1), ((0, 2),))


@kind(20_000, 80_000)
def skippable_many(folder: Path, size: int) -> Made:
    """Metadata blocks that may be skipped."""
    out = Output(Header(partition_count=4, framing=OPAQUE))
    for number in range(size):
        out.metadata(b"", 192 + number % 64)
    out.finish()
    return Made(out.save(folder), "ok")


@kind(4 * MIB, 16 * MIB)
def zeros_behind(folder: Path, size: int) -> Made:
    """Zeros after the last region message, and after the data."""
    out = regions(3)
    out.index += bytes(size)
    out.data += bytes(size)
    return Made(out.save(folder), "unfinished")


@kind(4 * MIB, 16 * MIB)
def zeros_in_extent(folder: Path, size: int) -> Made:
    """Zeros where a region's blocks were."""
    out = Output(Header(partition_count=4, framing=OPAQUE))
    out.region(bytes(size), parts={3: u32s([0] + [size // 8] * 4)})
    out.finish()
    return Made(out.save(folder), "checksum")


@kind(4 * MIB, 16 * MIB)
def zeros_single(folder: Path, size: int) -> Made:
    """Zeros after the blocks of a single file that were never committed."""
    out = regions(3, single=True)
    out.index += block(out.header, b"x", sequence=3) + bytes(size)
    return Made(out.save(folder), "unfinished")


@kind(GIB, 4 * GIB)
def hole_in_index(folder: Path, size: int) -> Made:
    """A sparse index file of GiB."""
    out = regions(3)
    files = out.save(folder)
    os.truncate(files["index"], size)
    return Made(files, "unfinished", without=("repair", "rebuild"))


@kind(GIB, 4 * GIB)
def hole_in_data(folder: Path, size: int) -> Made:
    """A sparse data file of GiB."""
    out = regions(3)
    out.finish()
    files = out.save(folder)
    os.truncate(files["data"], size)
    return Made(files, "inconsistent-index")


@kind(1, 1)
def pending_grows(folder: Path, size: int) -> Made:
    """An unfinished index whose last message is long and incomplete, and grows by one byte before each poll."""
    out = regions(3)
    content = bytes(15 * MIB)
    out.index += block(out.header, content, KIND_REGION, NOBODY, out.messages)[: 14 * MIB]
    return Made(out.save(folder), "unfinished", limits=LARGER, polls=500, grow=1)


@kind(2_000, 8_000)
def polled_often(folder: Path, size: int) -> Made:
    """An unfinished index of many regions that is polled often."""
    out = regions(size)
    return Made(out.save(folder), "unfinished", limits=LARGER, polls=500)


@kind(20_000, 80_000)
def uncommitted_polled(folder: Path, size: int) -> Made:
    """Blocks of an unfinished single file that are never committed, polled often."""
    out = Output(Header(partition_count=4, framing=OPAQUE), single=True)
    out.index += b"".join(block(out.header, b"x", sequence=number) for number in range(size))
    return Made(out.save(folder), "unfinished", polls=500)


@kind(5_000, 20_000)
def descending(folder: Path, size: int) -> Made:
    """Blocks whose partitions descend, so that a rebuilt index has a region for each."""
    out = Output(Header(partition_count=2, framing=OPAQUE))
    blocks = b"".join(block(out.header, b"x", partition=1 - number % 2, sequence=number // 2) for number in range(size))
    out.data += blocks
    return Made(out.save(folder), "unfinished", limits=LARGER)
