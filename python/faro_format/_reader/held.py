"""What is in memory of a window of partitions, and the blocks of its own extents."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from faro_format._block.block import BLOCK_HEADER_SIZE, HEADER_WORDS, KIND_DATA, PADDING, Block
from faro_format._bytes.checksum import extend
from faro_format._bytes.spans import Ints
from faro_format._codec import CODEC_NONE
from faro_format._index.regions import Extent
from faro_format._limits import Limits
from faro_format._reader.extents import Sequences, read_extent
from faro_format._storage.input_file import InputFile, Window
from faro_format._storage.stored_file import Range

Place = tuple[int, int, Window]
"""Where an extent begins and ends, absolute, in bytes, and what has it in memory."""


class Held:
    """What is in memory of the partitions of a window."""

    def __init__(self, regions: int, own: dict[int, list[Place]] | None, windows: dict[int, Window] | None) -> None:
        """Keep what was read.

        Args:
            regions: how many regions it is of.
            own: the extents of each partition, if it reads nothing else of these regions; else None.
            windows: the extents by their begin; None if they are those of ``own``.
        """
        self.regions = regions
        self.own = own
        self._windows = windows

    @property
    def windows(self) -> dict[int, Window]:
        """The extents by their begin; one that could not be read is missing."""
        if self._windows is None:
            own = self.own or {}
            self._windows = {begin: window for places in own.values() for begin, _, window in places}
        return self._windows


class OwnExtents:
    """The own extents of partitions that read nothing else of the first regions, and the reads for some windows.

    All windows are planned at once, and lists made for them: between two windows a reader has gone through megabytes of
    payload, so code that runs once for each is not in the processor's caches, and takes several times as long.
    """

    def __init__(self, low: int, high: int, bounds: list[tuple[Ints, Ints, Ints]]) -> None:
        """Sort extents.

        Args:
            low: the first partition.
            high: one more than the last.
            bounds: of each region, which partitions have an extent, where it begins and where it ends.
        """
        none = np.zeros(0, np.int64)
        partitions, begins, ends = map(np.concatenate, zip((none, none, none), *bounds, strict=True))
        order = np.argsort(partitions, kind="stable")
        self._low = low
        self._regions = len(bounds)
        self._begins, self._ends = begins[order], ends[order]
        self._firsts: list[int] = np.searchsorted(partitions[order], np.arange(low, high + 1)).tolist()
        """The number of each partition's first extent, and one more than the last extent's."""
        self._stretches: list[tuple[int, int]] = []
        self._ranges: list[Range] = []
        """All reads, window by window."""
        self._read_bounds: list[int] = []
        """The number of each window's first read, and one more than the last read's."""
        self._places: list[tuple[int, int, int]] = []
        """Where each extent begins and ends, absolute, in bytes, and the number of its read."""

    def plan(self, stretches: list[tuple[int, int]]) -> None:
        """Plan the reads for windows; extents of a window that are neighbours are read together.

        Args:
            stretches: the first partition of each window and one more than the last, counted from the first of all;
                each window begins where the one before it ends.
        """
        bounds = [self._firsts[index] for index in [*(first for first, _ in stretches), stretches[-1][1]]]
        owners = np.repeat(np.arange(len(stretches)), np.diff(bounds))
        order = np.lexsort((self._begins, owners))
        begins, ends, owners = self._begins[order], self._ends[order], owners[order]
        fresh = np.ones(order.size, np.bool_)
        fresh[1:] = (begins[1:] != ends[:-1]) | (owners[1:] != owners[:-1])
        heads = np.flatnonzero(fresh)
        tails = np.flatnonzero(np.append(fresh[1:], True)[: order.size])
        reads = np.zeros(order.size, np.int64)
        reads[order] = np.cumsum(fresh) - 1
        self._stretches = stretches
        self._ranges = list(zip(begins[heads].tolist(), (ends[tails] - begins[heads]).tolist(), strict=True))
        self._read_bounds = np.searchsorted(owners[heads], np.arange(len(stretches) + 1)).tolist()
        self._places = list(zip(self._begins.tolist(), self._ends.tolist(), reads.tolist(), strict=True))

    def read(self, number: int, file: InputFile) -> Held:
        """Read a planned window, by its number. What the system refuses to read is left out (PRT-7)."""
        first, last = self._read_bounds[number], self._read_bounds[number + 1]
        ranges = self._ranges[first:last]
        windows: dict[int, Window] = {}
        for read, ((begin, length), data) in enumerate(zip(ranges, file.view_ranges(ranges), strict=True), first):
            if data is not None:
                windows[read] = Window(file, begin + length, length)
                windows[read].put(begin, data)
        low, high = self._stretches[number]
        firsts, places = self._firsts, self._places
        if len(windows) < len(ranges):
            wanted = places[firsts[low] : firsts[high]]
            return Held(self._regions, None, {begin: windows[read] for begin, _, read in wanted if read in windows})
        own = {
            self._low + index: [
                (begin, end, windows[read]) for begin, end, read in places[firsts[index] : firsts[index + 1]]
            ]
            for index in range(low, high)
        }
        return Held(self._regions, own, None)


def own_blocks(
    file: InputFile, partition: int, places: list[Place], limits: Limits, *, verify: bool
) -> Iterator[Block]:
    """Yield the blocks of a partition that reads its own extents only, in a file without the feature ``selective``.

    Uncompressed data that no check refuses passes all of them here: a walk that is set up for each extent takes twice
    the time. The rest of an extent with any other block is read by :func:`read_extent`.

    Args:
        file: the file.
        partition: its absolute number.
        places: its extents, of all regions from the first on.
        limits: the reader's limits.
        verify: whether checksums are verified.

    Raises:
        FaroError: the first check of BLK-7 that fails.
    """
    seed, unpack = file.seed, HEADER_WORDS.unpack_from
    most = min(limits.max_block_size, limits.max_plain_size)
    sequence = blocks = plain = stored = 0
    try:
        for start, end, window in places:
            data, summed, array, view, base = window.data, window.summed, window.array, window.view, window.base
            at, stop = start - base, end - base
            while at < stop:
                first = at + BLOCK_HEADER_SIZE
                if first > stop:
                    break
                size, plain_size, owner, number, what, checksum = unpack(data, at)
                last = first + size
                padding = PADDING[size & 7]
                after = last + len(padding)
                if (
                    what
                    or size != plain_size
                    or owner != partition
                    or number != sequence
                    or not 0 < size <= most
                    or after > stop
                    or (padding and data[last:after] != padding)
                    or (verify and extend(extend(seed, summed[at : first - 4]), array[first:last]) != checksum)
                ):
                    break
                payload = view[first:last]
                sequence += 1
                blocks += 1
                plain += size
                stored += after - at
                # As Block(...), in half of its time.
                yield tuple.__new__(
                    Block, (base + at, partition, number, KIND_DATA, CODEC_NONE, size, payload, payload, None, 0)
                )
                at = after
            else:
                continue
            sequences = Sequences()
            sequences.next_own[partition] = sequence
            rest = Extent(base + at, end, partition, None, -1, end)
            yield from read_extent(window, rest, sequences, limits, selective=False, verify=verify)
            sequence = sequences.next_own[partition]
    finally:
        file.counter.add_blocks(blocks, plain, stored)
