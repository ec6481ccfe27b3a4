"""The files of one output in a destination, from their creation until they are published or removed (PUB-10)."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from faro_format._arguments import text
from faro_format._error import ErrorCode, FaroError, Place
from faro_format._storage.destination import Destination, NewFile, Role, check_new_file_methods
from faro_format._storage.names import Layout
from faro_format._storage.stored_file import StoredFile, check_methods
from faro_format._writer.made_files import MadeFiles
from faro_format._writer.options import WriterOptions

_log = logging.getLogger("faro_format")

_GATHERED = 1 << 20
"""Small pieces are joined to calls of about this many bytes."""
_ROLES: dict[Layout, tuple[Role, ...]] = {"paired": ("data", "index"), "single": ("single",)}


class _File:
    """A new file in its role. A failure of it is ``io``."""

    def __init__(self, new: NewFile, role: Role) -> None:
        self._new = new
        self.place = Place(role, text("NewFile.name", new.name))
        self.position = 0

    def append(self, parts: Sequence[Any]) -> None:
        try:
            for data in _gathered(parts):
                self._new.append(data)
                self.position += len(data)
        except OSError as fault:
            raise self.place.io(fault, f"to write at {self.position}") from fault

    def sync(self) -> None:
        try:
            self._new.sync()
        except OSError as fault:
            raise self.place.io(fault, "to sync the file") from fault

    def end(self, tail: bytes) -> None:
        self.append([tail])

    def publish(self, *, replace: bool) -> None:
        try:
            self._new.publish(replace)
        except FileExistsError as fault:
            raise self.place.taken() from fault
        except OSError as fault:
            raise self.place.io(fault, "to publish the file") from fault

    def open(self) -> StoredFile:
        opened = self._new.open()
        check_methods("NewFile.open", opened)
        return opened


class DestinationFiles(MadeFiles[_File]):
    """The data and index file, or the single file, of a writer in a destination."""

    def __init__(self, destination: Destination, options: WriterOptions) -> None:
        """Begin without files; :meth:`create` makes them."""
        super().__init__()
        self._destination = destination
        self._overwrite = options.overwrite
        # With single_below, the names of both layouts must be free (WRT-13).
        self._kept_free: tuple[Role, ...] = _ROLES[options.layout or "paired"]
        if options.single_below:
            self._kept_free = ("data", "index", "single")
        self._late = options.single_below > 0
        self._made: list[NewFile] = []
        self._unread: OSError | None = None

    def check_free(self) -> None:
        """Raise ``io`` if a file exists that the writer may not replace (WRT-4)."""
        for role in () if self._overwrite else self._kept_free:
            try:
                name = self._destination.taken(role)
            except OSError as fault:
                raise _fault(role, fault, "to look for a file of this name") from fault
            if name is not None:
                raise Place(role, text("Destination.taken", name)).taken()

    def create(self, layout: Layout) -> None:
        """Create the files of a layout.

        Raises:
            FaroError: ``io``; :meth:`discard` removes the files that were made.
        """
        self.check_free()
        for role in _ROLES[layout]:
            try:
                new = self._destination.create(role)
            except FileExistsError as fault:
                raise Place(role, fault.filename or f"the {role} file").taken() from fault
            except OSError as fault:
                raise _fault(role, fault, "to create the file") from fault
            check_new_file_methods(new)
            self._made.append(new)
            self._files.append(_File(new, role))

    def publish(self, *, sync: Callable[[], None] | None, reading: bool = False) -> None:
        """Give the files their names and close them: the data file first, because the index is the commit.

        Args:
            sync: syncs the files, if that is wanted; it is called before.
            reading: whether :meth:`readers` is called afterwards.

        Raises:
            FaroError: ``io``; the files are removed then.
        """
        try:
            if sync:
                sync()
            if self._late:
                self.check_free()
            for file in self._files:
                file.publish(replace=self._overwrite)
        except BaseException:
            self._remove()
            raise
        if reading:
            self._open()
        self.close()

    def _open(self) -> None:
        """Open the files for a reader. They are published: a failure is reported by :meth:`readers`."""
        try:
            for file in self._files:
                self._readers.append(file.open())
        except OSError as fault:
            self._unread = fault

    def readers(self) -> tuple[StoredFile, StoredFile | None]:
        """Return the published files for a reader: the index or single file, and the data file.

        Raises:
            FaroError: ``io`` if one could not be opened.
        """
        readers, self._readers = self._readers, []
        if self._unread is not None:
            for reader in readers:
                with contextlib.suppress(OSError):
                    reader.close()
            raise self._files[len(readers)].place.io(self._unread, "to open the published file")
        return readers[-1], readers[0] if self.paired else None

    def _remove(self) -> None:
        # The index first: a pair without one is not an output.
        for new in reversed(self._made):
            try:
                new.remove()
            except Exception as fault:
                # The writer reports the failure before this one, or none at all.
                _log.warning("%r cannot be removed: %s", _name_of(new), fault)

    def cut_tail(self) -> None:
        """Do nothing: an unfinished file has no name here, so no one can follow it."""

    def discard(self) -> None:
        """Remove and close the files. Files that cannot be removed stay."""
        self._remove()
        self.close()

    def close(self) -> None:
        """Close the files, of which those that are published keep their names."""
        for new in self._made:
            with contextlib.suppress(Exception):
                new.close()

    def drop(self, *, keep: bool) -> None:
        """Remove the files of a writer that was dropped, in the process that made them (WRT-6, WRT-11)."""
        if self._process == os.getpid():
            self.discard()


def _name_of(new: NewFile) -> object:
    """Return the name of a file, which may be one that fails."""
    with contextlib.suppress(Exception):
        return new.name
    return "a file"


def _fault(role: Role, fault: OSError, doing: str) -> FaroError:
    """Return the error for a file that has no name yet."""
    known = Place(role, "").io(fault, doing)
    return FaroError(ErrorCode.IO, known.expected, known.found, file=fault.filename, role=role, errno=fault.errno)


def _gathered(parts: Sequence[Any]) -> Iterator[bytes | memoryview]:
    """Yield the bytes of pieces: small ones joined, large ones as they are."""
    small: list[Any] = []
    size = 0
    for part in parts:
        if small and size + len(part) > _GATHERED:
            yield b"".join(small)
            small, size = [], 0
        if len(part) > _GATHERED:
            yield memoryview(part).cast("B").toreadonly()
        else:
            small.append(part)
            size += len(part)
    if small:
        yield b"".join(small)
