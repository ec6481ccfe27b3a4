"""Batch reads of the partitions of a file, in windows of a few MiB (PRT-7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from faro_format._block.block import Block
from faro_format._bytes.spans import Ints
from faro_format._reader.ahead import Regions, known_regions, read_extents
from faro_format._reader.opening import Files
from faro_format._storage.input_file import Window
from faro_format.plan import windows

CHUNK = 1 << 16
"""Partitions whose bytes are added up at a time."""


class Windowed(Regions, Protocol):
    """The source of the extents that windows read."""

    _files: Files

    def _held_blocks(self, partition: int, held: dict[int, Window]) -> Iterator[Block]:
        """Yield the blocks of a partition, extents in memory by their begin."""


def by_partition(reader: Windowed, low: int, high: int) -> Iterator[tuple[int, Iterator[Block]]]:
    """Yield each partition from ``low`` to ``high`` - 1 with its blocks, which must be read before the next.

    The blocks, their checks and the first fault are those of the partitions read alone.
    """
    for begin in range(low, high, CHUNK):
        end = min(begin + CHUNK, high)
        for first, last in windows(_sizes(reader, begin, end), reader._files.data.read_bytes):
            held: dict[int, Window] = {}
            if last - first > 1:
                held = read_extents(reader._files.data, *_wanted(reader, begin + first, begin + last))
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


def _wanted(reader: Windowed, low: int, high: int) -> tuple[Ints, Ints]:
    """Return the bounds of the extents that a window of partitions reads, each once."""
    begins, ends = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for region in known_regions(reader):
        _, first, last = region.own_bounds(low, high)
        begins.append(first)
        ends.append(last)
        if region.shared_count:
            shared = {extent.begin: extent.end for p in range(low, high) for extent in region.shared_of(p)}
            begins.append(np.array(list(shared), np.int64))
            ends.append(np.array(list(shared.values()), np.int64))
    return np.concatenate(begins), np.concatenate(ends)
