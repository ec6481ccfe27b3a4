"""What is in memory of a window of partitions, and the blocks of its own extents."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from faro_format._block.block import BLOCK_HEADER_SIZE, HEADER_WORDS, KIND_DATA, PADDING, Block
from faro_format._bytes.checksum import extend
from faro_format._bytes.spans import Ints
from faro_format._codec import CODEC_NONE
from faro_format._index.regions import Extent
from faro_format._limits import Limits
from faro_format._reader.ahead import by_begin
from faro_format._reader.extents import Sequences, read_extent
from faro_format._storage.input_file import InputFile, Window

Place = tuple[int, int, Window]
"""Where an extent begins and ends, absolute, in bytes, and what has it in memory."""


class Held:
    """What is in memory of the partitions of a window."""

    def __init__(self, reads: list[tuple[Window, Ints]], begins: Ints, regions: int) -> None:
        """Keep what was read.

        Args:
            reads: what :func:`faro_format._reader.ahead.read_windows` returned.
            begins: where the extents begin, absolute, in the order of regions.
            regions: how many regions they are of.
        """
        self._reads = reads
        self._begins = begins
        self.regions = regions
        self.own: dict[int, list[Place]] | None = None
        """The extents of each partition that has any, if it reads nothing else of these regions; else None."""

    @functools.cached_property
    def windows(self) -> dict[int, Window]:
        """The extents by their begin; one that could not be read is missing."""
        return by_begin(self._begins, self._reads)

    def keep_own(self, partitions: Ints, ends: Ints) -> None:
        """Set :attr:`own`, if all extents could be read.

        Args:
            partitions: the partition of each extent; none is shared.
            ends: where they end, absolute, in bytes.
        """
        windows: list[Window | None] = [None] * ends.size
        for window, numbers in self._reads:
            for number in numbers.tolist():
                windows[number] = window
        own: dict[int, list[Place]] = {partition: [] for partition in partitions.tolist()}
        for partition, begin, end, held in zip(
            partitions.tolist(), self._begins.tolist(), ends.tolist(), windows, strict=True
        ):
            if held is None:
                return
            own[partition].append((begin, end, held))
        self.own = own


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
