"""The files of a selective store: the blocks that were not delivered when their region left the memory (HYB-5)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace

from faro_format._block.block import BLOCK_HEADER_SIZE, pad8
from faro_format._bytes.header import HEADER_SIZE as FILE_HEADER_SIZE
from faro_format._follow.follower import Follower
from faro_format._index.regions import Region
from faro_format._writer.options import WriterOptions
from faro_format._writer.writer import Writer
from faro_format.hybrid._image import Image, ImageRegion, Progress

_NONE = 1 << 32
"""No block has this sequence or a later one."""


class _Rest:
    """Blocks of an extent that were not delivered: their owner, and their bounds in the image."""

    def __init__(self, partition: int | None, members: list[int] | None, start: int, end: int) -> None:
        self.partition = partition
        self.members = members
        self.start = start
        self.end = end


class SelectiveFiles:
    """A selective output, which is made when the first region is written."""

    def __init__(self, name: str, options: WriterOptions) -> None:
        """Name the output.

        Args:
            name: its NAME.
            options: the caller's, with the file_id of the image.
        """
        self._name = name
        # The listener learns of the image's regions.
        own = replace(options, selective=True, follow=True, statistics=False, listener=None)
        self._options = replace(own, layout="paired")
        self._writer: Writer | None = None
        self._own: dict[int, int] = {}
        self._shared = 0
        self._end = FILE_HEADER_SIZE
        self.properties: dict[str, str] = {}
        self._finished: tuple[str, ...] = ()

    def write(self, image: Image, region: ImageRegion, reader: Follower) -> None:
        """Write what is left of a region, and tell the image where it is."""
        reader.poll()
        rests = list(self._rests(image, reader._region(region.number), region.number))
        before = self._end
        location = []
        if rests:
            if self._writer is None:
                self._writer = Writer(self._name, self._options)
            for rest in rests:
                location.append((rest.start, rest.end, self._end))
                self._end += rest.end - rest.start
            self._copy(self._writer, image, rests)
        image.wrote(region, location, None, self._end - before)

    def _rests(self, image: Image, region: Region, number: int) -> Iterator[_Rest]:
        first = self._options.first_partition
        for partition in self._in_slot_order(region):
            extent = region.own(partition)
            if extent is not None:
                wanted = _wanted(image.progress.get(partition), number, shared=False)
                start = _rest(image, extent.begin, extent.end, wanted)
                if start < extent.end:
                    yield _Rest(partition, None, start, extent.end)
        for place in range(region.shared_count):
            extent = region.shared(place)
            some = region.members(place)
            members = None if some is None else [int(member) for member in some]
            readers = range(first, first + self._options.partition_count) if members is None else members
            wanted = min((_wanted(image.progress.get(p), number, shared=True) for p in readers), default=_NONE)
            start = _rest(image, extent.begin, extent.end, wanted)
            if start < extent.end:
                yield _Rest(None, members, start, extent.end)

    def _in_slot_order(self, region: Region) -> list[int]:
        """Return the partitions of a region in the order that a region writer wants; a sparse region has another."""
        options = self._options
        turn = options.first_partition + options.rotation
        return sorted(map(int, region.slot_partitions()), key=lambda partition: (partition < turn, partition))

    def _copy(self, writer: Writer, image: Image, rests: list[_Rest]) -> None:
        with writer.region() as written:
            for rest in rests:
                if rest.partition is None:
                    written.shared(rest.members)
                at = rest.start
                while at < rest.end:
                    header = _header(image, at)
                    stored = int.from_bytes(header[:4], "little")
                    sequence = int.from_bytes(header[12:16], "little")
                    payload = _read(image, at + BLOCK_HEADER_SIZE, stored)
                    plain = int.from_bytes(header[4:8], "little")
                    written.sequence(sequence)
                    written.stored_block(rest.partition, header[16], header[17], plain, payload)
                    if rest.partition is None:
                        self._shared = sequence + 1
                    else:
                        self._own[rest.partition] = sequence + 1
                    at += BLOCK_HEADER_SIZE + pad8(stored)

    def finish(self, image: Image) -> None:
        """End the files, if there are any: the footer says that all else was delivered."""
        writer = self._writer
        if writer is None:
            return
        shared = self._shared
        for partition, progress in image.progress.items():
            writer.skip_to(partition, max(self._own.get(partition, 0), progress.own))
            shared = max(shared, progress.shared)
        writer.skip_shared_to(shared)
        for key, value in self.properties.items():
            writer.property(key, value)
        self._finished = writer.finish().files

    def remove(self) -> None:
        """Remove the files. The index goes first, because it is the commit."""
        if self._writer is not None:
            self._writer.abort()
        for path in reversed(self._finished):
            # What cannot be removed stays, finished as it is (WRT-6).
            with contextlib.suppress(OSError):
                os.unlink(path)


def _wanted(progress: Progress | None, region: int, *, shared: bool) -> int:
    """Return the sequence from which a partition still needs blocks of a region."""
    if progress is None or progress.region < region:
        return 0
    if progress.region > region:
        return _NONE
    return progress.shared if shared else progress.own


def _rest(image: Image, start: int, end: int, wanted: int) -> int:
    """Return where the blocks of an extent begin that have this sequence or a later one."""
    if wanted == _NONE:
        return end
    at = start
    while wanted and at < end:
        header = _header(image, at)
        if int.from_bytes(header[12:16], "little") >= wanted:
            break
        at += BLOCK_HEADER_SIZE + pad8(int.from_bytes(header[:4], "little"))
    return at


def _header(image: Image, at: int) -> bytes:
    return _read(image, at, BLOCK_HEADER_SIZE)


def _read(image: Image, at: int, length: int) -> bytes:
    raw = image.data.read(at, length)
    while len(raw) < length:
        more = image.data.read(at + len(raw), length - len(raw))
        if not more:
            raise OSError("the image has ended")
        raw += more
    return raw
