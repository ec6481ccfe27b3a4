"""Outputs that are read while they are written (HYB)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Literal, TypeVar

import numpy.typing as npt

from faro_format._arguments import choice, integer, shown, text
from faro_format._bytes.header import FileHeader
from faro_format._error import invalid
from faro_format._storage.destination import Destination, NewFile, Role
from faro_format._storage.local_file import LocalFile
from faro_format._storage.names import Path, paths_of, split_name
from faro_format._storage.stored_file import StoredFile
from faro_format._writer.options import WriterOptions
from faro_format._writer.writer import Writer
from faro_format.hybrid._consumer import HybridConsumer
from faro_format.hybrid._figures import HybridFigures, HybridPosition
from faro_format.hybrid._full_files import FullFiles
from faro_format.hybrid._image import Image, Progress
from faro_format.hybrid._memory import HybridMemory
from faro_format.hybrid._parts import ImageFile
from faro_format.hybrid._selective_files import SelectiveFiles
from faro_format.hybrid._spiller import Spiller

Self = TypeVar("Self", bound="HybridStore")
Mode = Literal["full", "selective"]

_ENOUGH = 32 << 10
"""A region of this many bytes ends at once for a consumer that waits."""


class HybridStore:
    """An output that consumers read while it is written: from memory as long as it lasts, else from files (HYB).

    The first spill makes the files. With mode ``full`` they keep all of the output, which can be read again, and by
    several consumers. With mode ``selective`` they keep only what memory had no room for before it was consumed, and
    each partition is read once. The writing calls are those of :class:`faro_format.Writer`, with its errors. After the
    failure of a spill, every call of the store and of its consumers raises that error.
    """

    def __init__(
        self, name: Path, options: WriterOptions, *, memory: HybridMemory, mode: Mode, delay: float = 0.01
    ) -> None:
        """Begin an output of files ``NAME.data`` and ``NAME.index``, which do not exist yet.

        A selective store looks at the names when it makes the files.

        Args:
            name: the NAME of a pair.
            options: those of a writer, without those of HYB-2.
            memory: what stores share.
            mode: ``full`` or ``selective``.
            delay: the time in seconds after which a region ends for a consumer that found no block, even if it is
                small (HYB-7). The producer looks at the clock when it writes: while it does not, nothing ends.

        Raises:
            FaroError: ``invalid-argument``; ``io`` if a file of the name exists.
        """
        if not isinstance(memory, HybridMemory):
            raise invalid("memory: a HybridMemory", shown(memory))
        choice("mode", mode, ("full", "selective"))
        if isinstance(delay, bool) or not isinstance(delay, (int, float)) or not delay >= 0:
            raise invalid("delay: seconds, 0 or more", shown(delay))
        _check(options)
        base, layout = split_name(name)
        if layout == "single":
            raise invalid("name: the NAME of a pair, as a hybrid store has no single file", shown(os.fspath(name)))
        paths = paths_of(base, "paired")
        data, index = os.path.abspath(paths.data or ""), os.path.abspath(paths.index or "")
        self._memory = memory
        self._delay = delay
        self._selective = None if mode == "full" else SelectiveFiles(os.path.abspath(base), options)
        self._files = self._selective or FullFiles(data, index, replacing=options.overwrite)
        files = ImageFile(data, lambda: LocalFile(data)), ImageFile(index, lambda: LocalFile(index))
        self._image = Image(memory, *files, selective=mode == "selective")
        self._image.partition_count = options.partition_count
        self._spiller = Spiller(self._image, self._files)
        named: dict[Role, str] = {"data": data, "index": index}
        destination = _ImageDestination(self._image, named, self._spiller.finish_full, makes_files=mode == "full")
        self._writer = Writer(options=replace(options, layout="paired", follow=False), destination=destination)
        self._told = self._image.commits
        self._buffered = 0
        self._finished = False
        self._closed = False
        memory._add(self._spiller)

    @property
    def header(self) -> FileHeader:
        """The header of the output's index file. That of the files of a selective store has a feature more."""
        return self._writer.options._header

    # Writing.

    def write(self, partition: int, record: Any, *, rows: int = 1) -> None:  # noqa: ANN401
        """Write a record for one partition; see :meth:`faro_format.Writer.write`."""
        self._image.check_usable()
        self._writer.write(partition, record, rows=rows)
        self._wrote(len(memoryview(record)))

    def write_event(self, partition: int, kind: int, event: Any) -> None:  # noqa: ANN401
        """Write an event for one partition; see :meth:`faro_format.Writer.write_event`."""
        self._image.check_usable()
        self._writer.write_event(partition, kind, event)
        self._wrote(len(memoryview(event)))

    def broadcast(self, record: Any, *, rows: int = 1) -> None:  # noqa: ANN401
        """Write a record once for every partition; see :meth:`faro_format.Writer.broadcast`."""
        self._image.check_usable()
        self._writer.broadcast(record, rows=rows)
        self._wrote(len(memoryview(record)))

    def broadcast_event(self, kind: int, event: Any) -> None:  # noqa: ANN401
        """Write an event once for every partition; see :meth:`faro_format.Writer.broadcast_event`."""
        self._image.check_usable()
        self._writer.broadcast_event(kind, event)
        self._wrote(len(memoryview(event)))

    def multicast(
        self,
        partitions: Sequence[int] | npt.NDArray[Any],
        record: Any,  # noqa: ANN401
        *,
        rows: int = 1,
    ) -> None:
        """Write a record once for a set of partitions; see :meth:`faro_format.Writer.multicast`."""
        self._image.check_usable()
        self._writer.multicast(partitions, record, rows=rows)
        self._wrote(len(memoryview(record)))

    def multicast_event(self, partitions: Sequence[int] | npt.NDArray[Any], kind: int, event: Any) -> None:  # noqa: ANN401
        """Write an event once for a set of partitions; see :meth:`faro_format.Writer.multicast_event`."""
        self._image.check_usable()
        self._writer.multicast_event(partitions, kind, event)
        self._wrote(len(memoryview(event)))

    def write_batch(self, partitions: npt.ArrayLike, offsets: npt.ArrayLike, data: Any) -> None:  # noqa: ANN401
        """Write many data records; see :meth:`faro_format.Writer.write_batch`."""
        self._image.check_usable()
        self._writer.write_batch(partitions, offsets, data)
        self._wrote(memoryview(data).nbytes)

    def property(self, key: str, value: str) -> None:
        """Add a property to the footer; each key once."""
        self._image.check_usable()
        self._writer.property(key, value)
        if self._selective is not None:
            self._selective.properties[text("key", key)] = value

    def flush(self) -> None:
        """End the current region, so that consumers see its records."""
        self._image.check_usable()
        self._writer.flush()
        self._after_commit()

    def _wrote(self, size: int) -> None:
        self._buffered += size
        if self._image.commits != self._told:
            self._after_commit()
        elif (since := self._image.waited_since) is not None and (
            self._buffered >= _ENOUGH or time.monotonic() - since >= self._delay
        ):
            self.flush()

    def _after_commit(self) -> None:
        if self._image.commits != self._told:
            self._told = self._image.commits
            self._buffered = 0
            self._memory._reclaim()
            self._image.check_usable()

    def finish(self) -> None:
        """End the output. The files of a full store are finished then.

        A selective store keeps in memory what was not delivered, and may spill it later.
        """
        self._image.check_usable()
        self._writer.finish()
        self._finished = True
        self._after_commit()

    def open(self, partition: int, position: HybridPosition | None = None) -> HybridConsumer:
        """Read a partition.

        Args:
            partition: its absolute number.
            position: of an earlier consumer of the partition, in a full store; None for the beginning.

        Raises:
            FaroError: ``invalid-argument``, also for a partition of a selective store that was opened before.
        """
        self._image.check_usable()
        header = self.header
        partition = integer("partition", partition, header.first_partition, header.end_partition - 1)
        start = HybridPosition() if position is None else position
        if not isinstance(start, HybridPosition) or min(start) < 0:
            raise invalid("position: a HybridPosition", shown(position))
        progress = None
        if self._selective is not None:
            if start != HybridPosition():
                raise invalid("position: the beginning, in a selective store", shown(position))
            if partition in self._image.progress:
                raise invalid("a partition that was not opened before", f"partition {partition}, which was")
            progress = self._image.progress[partition] = Progress()
        self._image.consumers += 1
        return object.__new__(HybridConsumer)._begin(self._image, self._spiller.follower, partition, start, progress)

    def figures(self) -> HybridFigures:
        """Return what the store has done so far."""
        image = self._image
        size = sum(region.size for region in image.regions)
        data = image.data
        return HybridFigures(len(image.regions), size, image.in_memory, image.written, data.from_memory, data.from_file)

    # The end.

    def release(self) -> None:
        """Give everything up: the memory, and the files, also those that were finished (HYB-8). Consumers fail."""
        self._end(removes=True)

    def close(self) -> None:
        """Give the memory up. Consumers fail.

        The finished files of a full store stay. Those of a selective store stay if each block was delivered or is in
        them: then their footer says which were delivered. Otherwise, and without :meth:`finish`, files are removed.
        """
        self._end(removes=False)

    def _end(self, *, removes: bool) -> None:
        if self._closed:
            return
        self._closed = True
        self._memory._remove(self._spiller)
        keeps = not removes and self._finished and self._spiller.ends_files()
        self._image.end()
        if not self._finished:
            self._writer.abort()
        if not keeps:
            self._files.remove()

    def __enter__(self: Self) -> Self:
        """Return the store itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the store; it is not finished here, since its consumers may still read."""
        self.close()


def _check(options: WriterOptions) -> None:
    """Refuse the options that a store cannot have (HYB-2)."""
    if not isinstance(options, WriterOptions):
        raise invalid("options: WriterOptions, for example WriterOptions(partition_count=8)", shown(options))
    refused = (
        ("layout", options.layout == "single"),
        ("single_below", options.single_below > 0),
        ("durability", options.durability != "none"),
        ("dictionaries", options.dictionaries),
        ("selective", options.selective),
    )
    for name, given in refused:
        if given:
            raise invalid(f"a hybrid store without {name}", shown(getattr(options, name)))


class _ImageDestination(Destination):
    """Where the writer of a store writes: into the image."""

    def __init__(self, image: Image, paths: dict[Role, str], ending: Callable[[], None], *, makes_files: bool) -> None:
        self._image = image
        self._paths = paths
        self._ending = ending
        # Whether there will be files in any case, so that their names are looked at now.
        self._makes_files = makes_files

    def create(self, role: Role) -> NewFile:
        return _ImageNewFile(self._image, role, self._paths[role], self._ending)

    def taken(self, role: Role) -> str | None:
        path = self._paths[role]
        return path if self._makes_files and os.path.lexists(path) else None


class _ImageNewFile(NewFile):
    """A file of the image."""

    def __init__(self, image: Image, role: Role, path: str, ending: Callable[[], None]) -> None:
        self._image = image
        self._role = role
        self._path = path
        self._ending = ending

    @property
    def name(self) -> str:
        return self._path

    def append(self, data: bytes | memoryview) -> None:
        if self._role == "data":
            self._image.add_data(bytes(data))
        else:
            self._image.add_index(bytes(data))

    def publish(self, replace: bool) -> None:
        if self._role == "index":
            self._ending()

    def remove(self) -> None:
        """Do nothing: the store removes its files."""

    def open(self) -> StoredFile:
        return self._image.data if self._role == "data" else self._image.index

    def close(self) -> None:
        """Do nothing: the image stays."""
