"""The output that a store's writer writes (HYB-1), and which of its regions may leave the memory next (HYB-6)."""

from __future__ import annotations

import bisect
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from faro_format._block.block import BLOCK_HEADER_SIZE, pad8
from faro_format._bytes.header import HEADER_SIZE as FILE_HEADER_SIZE
from faro_format._error import FaroError, invalid
from faro_format.hybrid._memory import HybridMemory
from faro_format.hybrid._parts import ImageFile, Part

_REGION = 128
_FOOTER = 129

Piece = Literal["header", "region", "footer", "other", "tail"]


@dataclass
class Progress:
    """How far a partition of a selective store was read."""

    region: int = 0
    """The region that is being read; all before it were."""
    own: int = 0
    """The sequence after the last own block that was delivered."""
    shared: int = 0
    """The sequence after the last shared block that was delivered."""


@dataclass
class ImageRegion:
    """A committed region."""

    number: int
    data: Part
    index: Part
    unread: int
    """In a selective store, the partitions that have not read it to its end."""
    place: Literal["staying", "leaving", "gone"] = "staying"
    written: bool = False

    @property
    def size(self) -> int:
        """The size of its blocks in bytes."""
        return self.data.end - self.data.start

    @property
    def message_size(self) -> int:
        """The size of its message, as a block of the index file, in bytes."""
        return self.index.end - self.index.start


class Image:
    """The regions of a store, wherever their bytes are."""

    def __init__(self, memory: HybridMemory, data: ImageFile, index: ImageFile, *, selective: bool) -> None:
        """Begin without a region."""
        self._memory = memory
        self.data = data
        self.index = index
        self.selective = selective
        self.regions: list[ImageRegion] = []
        self.progress: dict[int, Progress] = {}
        """By partition, in a selective store."""
        self.partition_count = 0
        self.consumers = 0
        self.waited_since: float | None = None
        """When a consumer first found no block in the regions so far, by the monotonic clock in seconds."""
        self.commits = 0
        self.failure: FaroError | None = None
        self.ended = False
        self.header = b""
        """The header of the data file."""
        self._raw = b""
        self._last: Piece | None = None
        self._others: list[bytes] = []
        self._regions_end = 0
        self._open: Part | None = None
        self._staying: list[int] = []
        self._leaving: list[int] = []
        self.staying = 0
        self._next = 0
        self._wanted = 0
        self.written = 0
        """The bytes of blocks that were written to the files."""

    def add_data(self, raw: bytes) -> None:
        """Add bytes of blocks. The first 64 are the file's header."""
        if not self.header:
            self.header, raw = raw[:FILE_HEADER_SIZE], raw[FILE_HEADER_SIZE:]
            self.data.begin()
            self.data.append(self.header)
        if raw:
            if self._open is None:
                self._open = self.data.begin()
            self.data.append(raw)

    def add_index(self, raw: bytes) -> None:
        """Add bytes of the index. A region is committed by its message."""
        self._raw += raw
        for piece, chunk in self._pieces():
            part = self.index.begin()
            self.index.append(chunk)
            if piece == "region" and self._open is not None:
                self._commit(self._open, part)
            else:
                self._others.append(chunk)
        self.commits += 1
        self.waited_since = None

    def wait(self) -> None:
        """Take note that a consumer has found no block."""
        if self.waited_since is None:
            self.waited_since = time.monotonic()

    def _pieces(self) -> Iterator[tuple[Piece, bytes]]:
        """Yield the header, the blocks, and the tail of the index file, as far as they are complete."""
        while self._raw:
            raw = self._raw
            piece: Piece = "header"
            size = FILE_HEADER_SIZE
            if self._last in ("footer", "tail"):
                piece, size = "tail", len(raw)
            elif self._last is not None:
                if len(raw) < BLOCK_HEADER_SIZE:
                    return
                piece = "region" if raw[16] == _REGION else "footer" if raw[16] == _FOOTER else "other"
                size = BLOCK_HEADER_SIZE + pad8(int.from_bytes(raw[:4], "little"))
            if len(raw) < size:
                return
            self._last, self._raw = piece, raw[size:]
            yield piece, raw[:size]

    def _commit(self, data: Part, index: Part) -> None:
        region = ImageRegion(len(self.regions), data, index, self.partition_count)
        self.regions.append(region)
        self._staying.append(region.number)
        self.staying += region.size
        self._memory._count(region.size + region.message_size, 0)
        self._open = None
        self._regions_end = len(self._others)

    @property
    def beginning(self) -> list[bytes]:
        """What is in the index file before the first region."""
        return self._others[: self._regions_end]

    @property
    def footer(self) -> list[bytes]:
        """What is in the index file after the last region; everything if there is none."""
        return self._others[self._regions_end :]

    def check_usable(self) -> None:
        """Refuse the use of a store that has failed or was closed."""
        if self.failure is not None:
            raise self.failure
        if self.ended:
            raise invalid("an open store", "one that was closed")

    def fail(self, cause: FaroError) -> None:
        """Make the store fail, and drop its regions, so that others have the memory."""
        if self.failure is None and not self.ended:
            self.failure = cause
            self._drop_all()

    def end(self) -> None:
        """Give up everything."""
        if not self.ended:
            self.ended = True
            self._drop_all()
            self.data.clear()
            self.index.clear()

    def _drop_all(self) -> None:
        for region in self.regions:
            if region.place != "gone":
                self._drop(region)
            else:
                self._drop_message(region)

    def _drop(self, region: ImageRegion) -> None:
        leaving = region.place == "leaving"
        if region.place == "staying":
            self._staying.remove(region.number)
            self.staying -= region.size
        elif region.number in self._leaving:
            self._leaving.remove(region.number)
        region.place = "gone"
        self._memory._count(-region.size, -self._bytes_that_leave(region) if leaving else 0)
        region.data.chunks = None
        is_usable = self.failure is None and not self.ended
        if not (self.selective and region.unread and is_usable):
            self._drop_message(region)

    def _drop_message(self, region: ImageRegion) -> None:
        if region.index.chunks is not None:
            region.index.chunks = None
            self._memory._count(-region.message_size, 0)

    def _bytes_that_leave(self, region: ImageRegion) -> int:
        """The bytes that leave the memory with a region: its blocks, and its message unless consumers need that."""
        return region.size if self.selective else region.size + region.message_size

    def give_up(self, *, newest: bool) -> bool:
        """Decide that the newest or oldest region that may leave leaves; False if none may."""
        first = bisect.bisect_left(self._staying, self._next) if self.selective else 0
        if first == len(self._staying):
            return False
        region = self.regions[self._staying[-1 if newest else first]]
        if region.written:
            self._drop(region)
            return True
        self._staying.remove(region.number)
        self.staying -= region.size
        bisect.insort(self._leaving, region.number)
        region.place = "leaving"
        self._memory._count(0, self._bytes_that_leave(region))
        if not self.selective:
            self._wanted = max(self._wanted, region.number + 1)
        return True

    def want_all(self) -> None:
        """Want all regions to be written."""
        self._wanted = len(self.regions)

    def take(self) -> ImageRegion | None:
        """Return the next region to write, if there is one."""
        if self.failure is not None or self.ended:
            return None
        if self.selective:
            if not self._leaving:
                return None
            self._next = self._leaving.pop(0) + 1
        elif self._next < self._wanted:
            self._next += 1
        else:
            return None
        return self.regions[self._next - 1]

    def wrote(
        self,
        region: ImageRegion,
        data: list[tuple[int, int, int]],
        index: list[tuple[int, int, int]] | None,
        size: int,
    ) -> None:
        """Take note of where a region was written, and how many bytes of blocks that were."""
        self.written += size
        region.written = True
        region.data.location = data
        region.index.location = index
        if region.place == "leaving":
            self._drop(region)

    def move_to(self, progress: Progress | None, number: int) -> None:
        """Take note that a partition of a selective store was read up to a region."""
        if progress is None:
            return
        for region in self.regions[progress.region : number]:
            region.unread -= 1
            if region.unread:
                continue
            if region.place == "gone":
                self._drop_message(region)
            else:
                self._drop(region)
        progress.region = max(progress.region, number)

    @property
    def is_complete(self) -> bool:
        """Whether each block was delivered or is in the files."""
        return not self._staying and not self._leaving

    @property
    def in_memory(self) -> int:
        """The bytes of blocks that are in memory."""
        return sum(region.size for region in self.regions if region.place != "gone")
