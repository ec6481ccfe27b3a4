"""Batch reads of the partitions of a file, in windows of a few MiB (PRT-7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from faro_format._block.block import NO_PARTITION, Block
from faro_format._bytes.spans import Ints
from faro_format._reader.ahead import Regions, known_regions, read_windows
from faro_format._reader.held import Held
from faro_format._reader.opening import Files
from faro_format.plan import windows

_NONE = np.zeros(0, np.int64)
CHUNK = 1 << 16
"""Partitions whose bytes are added up at a time."""


class Windowed(Regions, Protocol):
    """The source of the extents that windows read."""

    _files: Files

    def _held_blocks(self, partition: int, held: Held) -> Iterator[Block]:
        """Yield the blocks of a partition of a window."""


def by_partition(reader: Windowed, low: int, high: int) -> Iterator[tuple[int, Iterator[Block]]]:
    """Yield each partition from ``low`` to ``high`` - 1 with its blocks, which must be read before the next.

    The blocks, their checks and the first fault are those of the partitions read alone.
    """
    for begin in range(low, high, CHUNK):
        end = min(begin + CHUNK, high)
        for first, last in windows(_sizes(reader, begin, end), reader._files.data.read_bytes):
            held = Held([], _NONE, 0)
            if last - first > 1:
                held = _held(reader, begin + first, begin + last)
            for partition in range(begin + first, begin + last):
                yield partition, reader._held_blocks(partition, held)


def _sizes(reader: Windowed, low: int, high: int) -> Ints:
    """Return how many bytes each partition reads, shape (high - low,)."""
    sizes = np.zeros(high - low, np.int64)
    for region in known_regions(reader):
        partitions, begins, ends = region.own_bounds(low, high)
        sizes[partitions - low] += ends - begins
        if region.shared_count:
            for partition in range(low, high):
                sizes[partition - low] += sum(extent.end - extent.begin for extent in region.shared_of(partition))
    return sizes


def _held(reader: Windowed, low: int, high: int) -> Held:
    """Read the extents that a window of partitions reads, each once."""
    bounds: list[tuple[Ints, Ints, Ints]] = []
    shared: dict[int, int] = {}
    regions, alone = 0, True
    for region in known_regions(reader):
        regions += 1
        bounds.append(region.own_bounds(low, high))
        alone = alone and not region.shared_count and not region.selective
        if region.shared_count:
            shared |= {extent.begin: extent.end for p in range(low, high) for extent in region.shared_of(p)}
    if shared:
        begins, ends = np.array(list(shared), np.int64), np.array(list(shared.values()), np.int64)
        bounds.append((np.full(begins.size, NO_PARTITION), begins, ends))
    partitions, begins, ends = map(np.concatenate, zip(*bounds, strict=True)) if bounds else (_NONE, _NONE, _NONE)
    held = Held(read_windows(reader._files.data, begins, ends), begins, regions)
    if alone:
        held.keep_own(partitions, ends)
    return held
