"""Regions in memory: their rules (REG-2 to REG-9, REG-11), what a partition reads from one, and a bounded cache."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from faro_format._block.block import NO_PARTITION
from faro_format._bytes.header import FileHeader, FileKind
from faro_format._bytes.spans import Ints, U32s
from faro_format._error import ErrorCode, Place
from faro_format._index.holdings import Run
from faro_format._message.messages import LAST, Records, RegionMessage

MAX_REGION = 8 * (2**32 - 1)
"""The most bytes of a region's blocks (REG-3)."""
MIN_REGION = 24


@dataclass(frozen=True)
class Entry:
    """One region of the directory, or of the walk that found it."""

    number: int
    message_offset: int
    message_size: int
    data_offset: int
    data_length: int

    @property
    def data_end(self) -> int:
        """Where the region's blocks end."""
        return self.data_offset + self.data_length


class Extent(NamedTuple):
    """Contiguous blocks of one partition, or shared ones."""

    begin: int
    """Absolute, in bytes."""
    end: int
    partition: int
    """Or NO_PARTITION for a shared extent."""
    first_block: int | None
    """The sequence of its first block; of an own extent only in files with the feature ``selective``."""
    number: int
    """The slot, or the shared extent's number in the region."""
    run_end: int
    """The end of the bytes that will be read together with these."""


class Region:
    """A region whose message is valid; all vectors are views of the message's bytes."""

    def __init__(self, header: FileHeader, entry: Entry, message: RegionMessage) -> None:
        """Take a message that has passed :func:`check_region`."""
        self.entry = entry
        self._header = header
        self._message = message
        self._first = header.first_partition
        self._count = header.partition_count
        # Relative to data_offset, which may still be any number of 64 bits.
        self._shared_ends: Ints = 8 * (int(message.offsets[-1]) + np.cumsum(message.shared_lengths))

    @property
    def cost(self) -> int:
        """About how many bytes this region takes in memory."""
        return self._message.raw.size + 40 * self._shared_ends.size + 1024

    @property
    def slots(self) -> int:
        """How many own extents the region has room for."""
        return self._message.offsets.size - 1

    @property
    def selective(self) -> bool:
        """Whether sequences may have gaps."""
        return self._header.selective

    @property
    def shared_count(self) -> int:
        """How many shared extents the region has."""
        return self._shared_ends.size

    def own(self, partition: int) -> Extent | None:
        """Return the own extent of a partition of the file, or None if it has none here."""
        message = self._message
        if message.partitions is None:
            slot = (partition - self._first - message.rotation) % self._count
        else:
            slot = int(np.searchsorted(message.partitions, np.uint32(partition)))
            if slot == message.partitions.size or int(message.partitions[slot]) != partition:
                return None
        base = self.entry.data_offset
        begin, end = int(message.offsets[slot]), int(message.offsets[slot + 1])
        if begin == end:
            return None
        first = None if message.first_block is None else int(message.first_block[slot])
        return Extent(base + 8 * begin, base + 8 * end, partition, first, slot, base + 8 * end)

    @property
    def run_count(self) -> int:
        """How many runs the region has; 0 in a file that is not merged."""
        return 0 if self._message.runs is None else self._message.runs.size

    def runs(self) -> Iterator[tuple[int, int, Run]]:
        """Yield each run with its partition and the offset of its first byte, in slot order (REG-8)."""
        if self._message.runs is None:
            return
        lengths = 8 * self._message.runs["length"].astype(np.int64)
        begins = np.cumsum(lengths) - lengths
        slots = np.searchsorted(8 * self._message.offsets[1:].astype(np.int64), begins, side="right")
        partitions = self.slot_partitions()[slots].tolist()
        base = self.entry.data_offset
        for partition, begin, run in zip(partitions, begins.tolist(), self._message.runs.tolist(), strict=True):
            producer, attempt, first, blocks, length, flags = run
            yield partition, base + begin, Run(producer, attempt, first, blocks, 8 * length, flags == LAST)

    def own_range(self, low: int, high: int) -> Iterator[Extent]:
        """Yield the own extents of the partitions from ``low`` to ``high`` - 1, in slot order."""
        message, base = self._message, self.entry.data_offset
        partitions = self.slot_partitions()
        offsets = message.offsets
        wanted = np.flatnonzero((offsets[1:] > offsets[:-1]) & (partitions >= low) & (partitions < high))
        begins = base + 8 * offsets[wanted].astype(np.int64)
        ends = base + 8 * offsets[wanted + 1].astype(np.int64)
        last = np.flatnonzero(np.append(begins[1:] != ends[:-1], True)) if wanted.size else wanted
        run_ends = ends[last].repeat(np.diff(last, prepend=-1))
        for row in range(wanted.size):
            slot = int(wanted[row])
            first = None if message.first_block is None else int(message.first_block[slot])
            partition = int(partitions[slot])
            yield Extent(int(begins[row]), int(ends[row]), partition, first, slot, int(run_ends[row]))

    def own_bounds(self, low: int, high: int) -> tuple[Ints, Ints, Ints]:
        """Return the partitions from ``low`` to ``high`` - 1 that have an own extent, ascending, and its bounds."""
        message, base = self._message, self.entry.data_offset
        if message.partitions is None:
            partitions = np.arange(low, high, dtype=np.int64)
            slots = (partitions - self._first - message.rotation) % self._count
        else:
            first, last = np.searchsorted(message.partitions, np.array([low, high], np.int64)).tolist()
            partitions, slots = message.partitions[first:last].astype(np.int64), np.arange(first, last)
        begins, ends = message.offsets[slots].astype(np.int64), message.offsets[slots + 1].astype(np.int64)
        kept = begins < ends
        return partitions[kept], base + 8 * begins[kept], base + 8 * ends[kept]

    def slot_partitions(self) -> Ints:
        """Return the partition of each slot, shape (slots,)."""
        message = self._message
        if message.partitions is not None:
            return message.partitions.astype(np.int64)
        return self._first + (message.rotation + np.arange(self._count, dtype=np.int64)) % self._count

    def slot_lengths(self) -> Ints:
        """Return the bytes of each slot's extent, shape (slots,)."""
        offsets = self._message.offsets.astype(np.int64)
        return 8 * (offsets[1:] - offsets[:-1])

    def shared_lengths(self) -> Ints:
        """Return the bytes of each shared extent, shape (shared_count,)."""
        return 8 * self._message.shared_lengths

    def shared(self, number: int) -> Extent:
        """Return a shared extent by its number in the region."""
        end = self.entry.data_offset + int(self._shared_ends[number])
        begin = end - 8 * int(self._message.shared_lengths[number])
        return Extent(begin, end, NO_PARTITION, int(self._message.shared_first_blocks[number]), number, end)

    def members(self, number: int) -> U32s | None:
        """Return the absolute numbers of a shared extent's members, ascending; None if all are."""
        begin, count = int(self._message.member_begins[number]), int(self._message.member_counts[number])
        if begin < 0:
            return None
        bits = np.unpackbits(self._message.raw[begin : begin + count], bitorder="little")
        return (np.flatnonzero(bits) + self._first).astype(np.uint32)

    def shared_of(self, partition: int) -> list[Extent]:
        """Return the shared extents of which a partition is a member, in order."""
        message = self._message
        if not self._shared_ends.size:
            return []
        index = partition - self._first
        begins, named = message.member_begins, message.member_counts > 0
        bits = message.raw[np.where(named, begins + (index >> 3), 0)] >> (index & 7) & 1
        return [self.shared(number) for number in np.flatnonzero((begins < 0) | (named & (bits == 1))).tolist()]

    def members_of_range(self, number: int, low: int, high: int) -> U32s | None:
        """Return which partitions from ``low`` to ``high`` - 1 are members of a shared extent; None if all are."""
        members = self.members(number)
        return None if members is None else members[(members >= low) & (members < high)]


def check_region(message: RegionMessage, header: FileHeader, entry: Entry, place: Place, kind: int) -> Region:
    """Check the rules REG-2 to REG-9 and REG-11 of a structurally valid message.

    Args:
        message: the message.
        header: the header of the index or single file.
        entry: the region's entry in the directory, or from the walk.
        place: the index or single file.
        kind: the kind of the file that holds the blocks, 1 or 3.

    Raises:
        FaroError: ``inconsistent-index`` at the message's first byte.
    """

    def require(condition: bool | np.bool_, rule: str, found: object = "") -> None:
        if not condition:
            raise place.error(ErrorCode.INCONSISTENT_INDEX, entry.message_offset + 24, rule, found)

    count, first = header.partition_count, header.first_partition
    offsets, length = message.offsets, message.data_length
    require(message.sequence == entry.number, f"REG-2: sequence {entry.number}", message.sequence)
    require(
        length % 8 == 0 and MIN_REGION <= length <= MAX_REGION,
        "REG-3: data_length a multiple of 8 from 24 to 8 * (2^32 - 1)",
        length,
    )
    require(message.data_offset == entry.data_offset, f"REG-3: data_offset {entry.data_offset}", message.data_offset)
    require(length == entry.data_length, f"REG-3: data_length {entry.data_length}", length)
    if kind != FileKind.DATA:
        end = message.data_offset + length
        require(end == entry.message_offset, f"REG-3: blocks that end at {entry.message_offset}", end)
    slots = count if message.partitions is None else message.partitions.size
    require(offsets.size == slots + 1, f"REG-4: {slots + 1} offsets", offsets.size)
    require(offsets[0] == 0, "REG-4: offsets that begin with 0", offsets[0])
    if message.partitions is None:
        require((offsets[1:] >= offsets[:-1]).all(), "REG-4: ascending offsets")
        require(message.rotation < count, f"REG-5: a rotation below {count}", message.rotation)
    else:
        named = message.partitions
        require((offsets[1:] > offsets[:-1]).all(), "REG-5: strictly ascending offsets")
        require((named[1:] > named[:-1]).all(), "REG-5: strictly ascending partitions")
        if slots:
            require(first <= named[0] and int(named[-1]) < first + count, "REG-5: partitions of the file")
        require(message.rotation == 0, "REG-5: rotation 0 of a sparse region", message.rotation)
    total = int(offsets[-1]) + int(message.shared_lengths.sum())
    require(8 * total == length, f"REG-6: extents of {length} bytes", 8 * total)
    require((message.shared_lengths >= 3).all(), "REG-6: shared extents of at least 24 bytes")
    # An empty vector of members: no partition reads the extent.
    named_members = message.member_counts > 0
    if named_members.any():
        size = (count + 7) // 8
        require((message.member_counts[named_members] == size).all(), f"REG-7: members of {size} bytes")
        last = message.raw[message.member_begins[named_members] + size - 1]
        require(not (last >> ((count - 1) % 8)).astype(np.uint16).max() >> 1, "REG-7: members of the file")
    if message.runs is not None:
        require(header.merged, "REG-8: no runs in a file that is not merged")
        require(not message.shared_lengths.size, "REG-8: no shared extents beside runs")
        require(_runs_tile(message.runs, offsets), "REG-8: runs that tile the own extents")
        require(_runs_are_possible(message.runs), "REG-8: runs of possible blocks, with known flags")
    if header.selective:
        have = 0 if message.first_block is None else message.first_block.size
        present = message.first_block is not None or slots == 0
        require(present and have == slots, f"REG-9: first_block of {slots} values", have)
        if message.first_block is not None:
            empty = offsets[1:] == offsets[:-1]
            require(not message.first_block[empty].any(), "REG-9: first_block 0 where there are no blocks")
    else:
        require(message.first_block is None, "REG-9: no first_block in a file that is not selective")
    firsts = message.shared_first_blocks
    require((firsts[1:] > firsts[:-1]).all(), "REG-11: ascending first_block of shared extents")
    return Region(header, entry, message)


def _runs_tile(runs: Records, offsets: U32s) -> bool:
    """Whether each run is inside one extent, and all together fill them in slot order (REG-8)."""
    lengths = runs["length"].astype(np.int64)
    ends = np.cumsum(lengths)
    if (ends[-1] if ends.size else 0) != offsets[-1] or (lengths < 1).any():
        return False
    # The extent of a run is the one that holds its first unit; a run that ends after it crosses over.
    extent = np.searchsorted(offsets[1:], ends - lengths, side="right")
    return bool((ends <= offsets[1:][extent]).all())


def _runs_are_possible(runs: Records) -> bool:
    """Whether the blocks of each run fit into it, their numbers fit into 32 bits, and its flags are known (REG-8)."""
    blocks, length = runs["blocks"].astype(np.int64), runs["length"].astype(np.int64)
    first = runs["first_block"].astype(np.int64)
    return bool(((blocks >= 1) & (3 * blocks <= length) & (first + blocks <= 1 << 32) & (runs["flags"] <= LAST)).all())


class RegionCache:
    """A cache of the most recently used regions, up to a sum of bytes. Threads may share it."""

    def __init__(self, capacity: int) -> None:
        """Make an empty cache of about ``capacity`` bytes; the newest region is always kept."""
        self._capacity = capacity
        self._regions: OrderedDict[int, Region] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        self.hits = 0
        """How often a region was here."""
        self.loads = 0
        """How often one was not, and was loaded."""

    @property
    def held(self) -> int:
        """About how many bytes the regions take."""
        return self._bytes

    def get(self, number: int, load: Callable[[int], Region]) -> Region:
        """Return a region by its number; ``load`` makes it when it is not here."""
        with self._lock:
            region = self._regions.get(number)
            if region is not None:
                self._regions.move_to_end(number)
                self.hits += 1
                return region
        region = load(number)
        with self._lock:
            self.loads += 1
            if number not in self._regions:
                self._regions[number] = region
                self._bytes += region.cost
                while self._bytes > self._capacity and len(self._regions) > 1:
                    self._bytes -= self._regions.popitem(last=False)[1].cost
        return region
