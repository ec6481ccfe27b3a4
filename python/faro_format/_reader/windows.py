"""Batch reads of the partitions of a file, in windows of a few MiB (PRT-7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from faro_format._block.block import Block
from faro_format._bytes.spans import Ints
from faro_format._reader.ahead import Regions, known_regions, read_extents
from faro_format._reader.held import Held, OwnExtents
from faro_format._reader.opening import Files
from faro_format.plan import windows

_NONE = np.zeros(0, np.int64)
CHUNK = 1 << 16
"""Partitions whose bytes are added up at a time."""
EXTENTS = 1 << 16
"""Extents of these partitions that are kept; of more, those of one window at a time are looked up again."""


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
        stretches = list(windows(_sizes(reader, begin, end), reader._files.data.read_bytes))
        known = _own(reader, begin, end, EXTENTS)
        if known is not None:
            known.plan(stretches)
        for number, (first, last) in enumerate(stretches):
            held = Held(0, None, {})
            if last - first > 1 and known is not None:
                held = known.read(number, reader._files.data)
            elif last - first > 1:
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


def _own(reader: Windowed, low: int, high: int, most: int | None = None) -> OwnExtents | None:
    """Return the own extents of partitions; None if they may read others, or sequences have gaps.

    Args:
        reader: the source.
        low: the first partition.
        high: one more than the last.
        most: None is returned too for more extents than these.
    """
    bounds: list[tuple[Ints, Ints, Ints]] = []
    count = 0
    for region in known_regions(reader):
        bounds.append(region.own_bounds(low, high))
        count += bounds[-1][0].size
        if region.shared_count or region.selective or (most is not None and count > most):
            return None
    return OwnExtents(low, high, bounds)


def _held(reader: Windowed, low: int, high: int) -> Held:
    """Read the extents that a window of partitions reads, each once."""
    own = _own(reader, low, high)
    if own is not None:
        own.plan([(0, high - low)])
        return own.read(0, reader._files.data)
    begins, ends = [_NONE], [_NONE]
    regions = 0
    for region in known_regions(reader):
        regions += 1
        _, first, last = region.own_bounds(low, high)
        begins.append(first)
        ends.append(last)
        if region.shared_count:
            shared = {extent.begin: extent.end for p in range(low, high) for extent in region.shared_of(p)}
            begins.append(np.array(list(shared), np.int64))
            ends.append(np.array(list(shared.values()), np.int64))
    found = read_extents(reader._files.data, np.concatenate(begins), np.concatenate(ends))
    return Held(regions, None, found)
