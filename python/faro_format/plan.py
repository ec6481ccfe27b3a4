"""Planning of reads (docs/scheduler.md), without threads: few long reads for many small extents.

The input is bounds of wanted bytes. The output is reads in the order of the file, which combine neighbours and small
gaps between them. Batch reads take the partitions of a file in windows of a few MiB: the extents of a window are read
with one system call for each region, or fewer, and delivered by partition from memory (PRT-7).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from faro_format._arguments import integer
from faro_format._bytes.spans import Ints

__all__ = ["Read", "plan", "windows"]

_GAP_BYTES = 64 << 10
"""The largest gap between wanted bytes that is read and discarded."""
_READ_BYTES = 4 << 20
"""The largest read, unless one extent is larger."""
_WINDOW_BYTES = 4 << 20
"""The bytes of a window of partitions, all regions together."""


@dataclass(frozen=True)
class Read:
    """One system call."""

    begin: int
    """Absolute, in bytes."""
    end: int
    extents: range
    """The numbers of the wanted extents inside, in ascending order of their begins."""


def plan(begins: Ints, ends: Ints, *, gap_bytes: int = _GAP_BYTES, read_bytes: int = _READ_BYTES) -> list[Read]:
    """Return the reads that cover the wanted extents, in the order of the file.

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


def windows(sizes: Ints, window_bytes: int = _WINDOW_BYTES) -> Iterator[tuple[int, int]]:
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
