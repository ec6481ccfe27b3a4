"""Reading ahead of a walk, from files of which each read takes long to begin: several extents with one call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from faro_format._bytes.spans import Ints
from faro_format._error import FaroError
from faro_format._index.regions import Region
from faro_format._storage.input_file import InputFile, Window
from faro_format.plan import plan

Bounds = tuple[int, int]
"""Where wanted bytes begin and end."""


class Regions(Protocol):
    """The source of the extents."""

    @property
    def region_count(self) -> int:
        """How many regions there are."""

    def _region(self, number: int) -> Region:
        """Return a region."""


def known_regions(reader: Regions, from_region: int = 0) -> Iterator[Region]:
    """Yield the regions up to the first that is refused: a reading that reaches it reports its fault."""
    for number in range(from_region, reader.region_count):
        try:
            region = reader._region(number)
        except FaroError:
            return
        yield region


def of_partition(reader: Regions, partition: int, from_region: int) -> Iterator[Bounds]:
    """Yield the bounds of the extents that a partition reads, as long as they are known."""
    for region in known_regions(reader, from_region):
        own = region.own(partition)
        for extent in ([] if own is None else [own]) + region.shared_of(partition):
            yield extent.begin, extent.end


def of_range(reader: Regions, low: int, high: int) -> Iterator[Bounds]:
    """Yield the bounds of the runs and shared extents that a range of partitions reads, as long as they are known."""
    for region in known_regions(reader):
        last = -1
        for extent in region.own_range(low, high):
            if extent.run_end != last:
                yield extent.begin, extent.run_end
            last = extent.run_end
        for shared in range(region.shared_count):
            members = region.members_of_range(shared, low, high)
            if members is None or members.size:
                extent = region.shared(shared)
                yield extent.begin, extent.end


class Ahead:
    """What a walk will read: its extents up to some MiB ahead are in memory. Each walk has its own.

    It does nothing for a file that is near, or for an extent that is larger than one read.
    """

    def __init__(self, file: InputFile, upcoming: Iterator[Bounds]) -> None:
        """Begin a walk.

        Args:
            file: the file.
            upcoming: the bounds of what the walk reads, in its order. It ends before whatever cannot be known.
        """
        self._file = file
        self._upcoming = upcoming
        self._held: dict[int, Window | None] = {}

    def window(self, begin: int) -> Window | None:
        """Return a window that has the extent that begins there; None if the walk has to read it."""
        if not self._file.far:
            return None
        if not self._held:
            self._read()
        return self._held.pop(begin, None)

    def windows(self) -> list[Window | None]:
        """Return windows that have the next extents, one or more if the walk goes on, in its order."""
        self._read()
        return list(self._held.values())

    def _read(self) -> None:
        wanted: list[Bounds] = []
        large = None
        total = 0
        for begin, end in self._upcoming:
            if end - begin > self._file.read_bytes:
                large = begin
                break
            wanted.append((begin, end))
            total += end - begin
            if total >= self._file.read_bytes:
                break
        if wanted:
            begins, ends = np.array(wanted, np.int64).T
            found = read_extents(self._file, begins, ends)
            # An extent that could not be read is read again by the walk, which reports the error.
            self._held |= {begin: found.get(begin) for begin, _ in wanted}
        if large is not None:
            # After those before it: windows() returns them in the walk's order.
            self._held[large] = None


def read_extents(file: InputFile, begins: Ints, ends: Ints) -> dict[int, Window]:
    """Read the wanted extents. Return, by the begin of each, a window over the read that contains it.

    Reads that the system refuses are left out: the reading of their partition repeats them, and gets the error (PRT-7).
    """
    order = np.argsort(begins, kind="stable")
    begins, ends = begins[order], ends[order]
    found: dict[int, Window] = {}
    # Without gaps, whose bytes would be kept in memory too.
    reads = plan(begins, ends, gap_bytes=0, read_bytes=file.read_bytes)
    ranges = [(read.begin, read.end - read.begin) for read in reads]
    for read, data in zip(reads, file.view_ranges(ranges), strict=True):
        if data is None:
            continue
        window = Window(file, read.end, len(data))
        window.put(read.begin, data)
        for number in read.extents:
            found[int(begins[number])] = window
    return found
