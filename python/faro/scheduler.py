"""Planning of reads (docs/scheduler.md), without threads: few long reads for many small extents.

What is wanted goes in as bounds; what comes out are reads in the order of the file, neighbours and small gaps between
them put together. Batch reads take the partitions of a file in windows of a few MiB: the extents of a window are read
with one system call for each region, or fewer, and delivered by partition from memory (PRT-7).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from faro.arguments import integer
from faro.block import Block
from faro.error import FaroError
from faro.gather import Ints
from faro.index import Region
from faro.source import SourceFile, Window

if TYPE_CHECKING:
    from faro.delivery import PartitionReader

GAP_BYTES = 64 << 10
"""A gap between wanted bytes that is read and let go, at most."""
READ_BYTES = 4 << 20
"""What is read at once, unless one extent is larger."""
WINDOW_BYTES = 4 << 20
"""The bytes of a window of partitions, all regions together."""
CHUNK = 1 << 16
"""Partitions whose bytes are added up at a time."""


@dataclass(frozen=True)
class Read:
    """One system call."""

    begin: int
    """Absolute, in bytes."""
    end: int
    extents: range
    """Which of the wanted extents lie inside, as numbers in ascending order of their begins."""


def plan(begins: Ints, ends: Ints, *, gap_bytes: int = GAP_BYTES, read_bytes: int = READ_BYTES) -> list[Read]:
    """Return the reads that cover the extents that are wanted, in the order of the file.

    Args:
        begins: where extents begin, absolute, ascending, in bytes, shape (n,).
        ends: where they end, shape (n,); none overlaps the next, but may be wanted twice.
        gap_bytes: the largest gap that is read across.
        read_bytes: the largest read, 1 or more; an extent that is larger is a read alone.

    Raises:
        FaroError: ``invalid-argument`` for sizes below these.
    """
    gap_bytes = integer("gap_bytes", gap_bytes, 0, 2**63 - 1)
    read_bytes = integer("read_bytes", read_bytes, 1, 2**63 - 1)
    reads: list[Read] = []
    first = 0
    begin = end = -1
    for number, (low, high) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
        if number and low - end <= gap_bytes and max(end, high) - begin <= read_bytes:
            end = max(end, high)
            continue
        if number:
            reads.append(Read(begin, end, range(first, number)))
        first, begin, end = number, low, high
    if begins.size:
        reads.append(Read(begin, end, range(first, begins.size)))
    return reads


def windows(sizes: Ints, window_bytes: int = WINDOW_BYTES) -> Iterator[tuple[int, int]]:
    """Yield the bounds of stretches of consecutive partitions that total up to ``window_bytes``.

    Args:
        sizes: the bytes of each partition, shape (n,).
        window_bytes: the most that a stretch of two partitions or more holds, 1 or more.

    Raises:
        FaroError: ``invalid-argument`` for less, at once.
    """
    return _windows(sizes, integer("window_bytes", window_bytes, 1, 2**63 - 1))


def _windows(sizes: Ints, window_bytes: int) -> Iterator[tuple[int, int]]:
    ends = np.cumsum(sizes)
    first = 0
    while first < sizes.size:
        before = int(ends[first] - sizes[first])
        last = int(np.searchsorted(ends, before + window_bytes, side="right"))
        last = max(first + 1, last)
        yield first, last
        first = last


def _read(file: SourceFile, begins: Ints, ends: Ints) -> dict[int, Window]:
    """Read the extents that are wanted; return for the begin of each a window over the read that holds it.

    What the system refuses is left out: who wants it asks again in its turn, and is told then (PRT-7).
    """
    order = np.argsort(begins, kind="stable")
    begins, ends = begins[order], ends[order]
    found: dict[int, Window] = {}
    # Without gaps, whose bytes would be held too.
    for read in plan(begins, ends, gap_bytes=0):
        try:
            window = Window(file, read.end, read.end - read.begin)
            window.locate(read.begin, read.end - read.begin)
        except FaroError:
            continue
        for number in read.extents:
            found[int(begins[number])] = window
    return found


def by_partition(reader: PartitionReader, low: int, high: int) -> Iterator[tuple[int, Iterator[Block]]]:
    """Yield each partition from ``low`` to ``high`` - 1 with its blocks, which are taken before the next is asked for.

    The blocks, their checks and the first fault are those of the partitions read alone.
    """
    for begin in range(low, high, CHUNK):
        end = min(begin + CHUNK, high)
        for first, last in windows(_sizes(reader, begin, end)):
            held: dict[int, Window] = {}
            if last - first > 1:
                held = _read(reader.data_file, *_wanted(reader, begin + first, begin + last))
            for partition in range(begin + first, begin + last):
                yield partition, reader.held_blocks(partition, held)


def _regions(reader: PartitionReader) -> Iterator[Region]:
    """Yield the regions up to the first that is refused: whoever comes to it meets its fault in his turn."""
    for number in range(reader.region_count):
        try:
            region = reader.region(number)
        except FaroError:
            return
        yield region


def _sizes(reader: PartitionReader, low: int, high: int) -> Ints:
    """Return the bytes of what each partition reads, shape (high - low,)."""
    sizes = np.zeros(high - low, np.int64)
    for region in _regions(reader):
        partitions, begins, ends = region.own_bounds(low, high)
        sizes[partitions - low] += ends - begins
        if region.shared_count:
            for partition in range(low, high):
                sizes[partition - low] += sum(extent.end - extent.begin for extent in region.shared_of(partition))
    return sizes


def _wanted(reader: PartitionReader, low: int, high: int) -> tuple[Ints, Ints]:
    """Return the bounds of the extents that a window of partitions reads, each once."""
    begins, ends = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for region in _regions(reader):
        _, first, last = region.own_bounds(low, high)
        begins.append(first)
        ends.append(last)
        if region.shared_count:
            shared = {extent.begin: extent.end for p in range(low, high) for extent in region.shared_of(p)}
            begins.append(np.array(list(shared), np.int64))
            ends.append(np.array(list(shared.values()), np.int64))
    return np.concatenate(begins), np.concatenate(ends)
