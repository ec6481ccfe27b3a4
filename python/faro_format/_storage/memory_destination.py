"""Outputs that are written to memory."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import MutableMapping

from faro_format import _arguments as arguments
from faro_format._error import ErrorCode, Place, invalid
from faro_format._storage.destination import ENDINGS, Destination, NewFile, Role
from faro_format._storage.memory_file import MemoryFile
from faro_format._storage.stored_file import closed
from faro_format._storage.stored_output import StoredOutput

_publishing = threading.Lock()
"""One for all destinations, because several may share their files."""


class MemoryDestination(Destination):
    """Keeps an output in memory.

    ::

    destination = storage.MemoryDestination()
    with Writer(destination=destination, options=WriterOptions(8)) as writer:
        writer.write(3, b"a record")
    with Reader(stored=destination.output()) as reader:
        records = list(reader.records(3))
    """

    def __init__(self, name: str = "memory", files: MutableMapping[str, bytes] | None = None) -> None:
        """Begin an output.

        Args:
            name: its NAME; the files are NAME.data and NAME.index, or NAME.faro.
            files: where finished files are put, by their names. Destinations may share it.

        Raises:
            FaroError: ``invalid-argument``.
        """
        self._name = arguments.text("name", name)
        if files is not None and not isinstance(files, MutableMapping):
            raise invalid("files: a dict", arguments.shown(files))
        self._files: MutableMapping[str, bytes] = {} if files is None else files

    @property
    def files(self) -> MutableMapping[str, bytes]:
        """The bytes of the finished files, by their names."""
        return self._files

    def create(self, role: Role) -> NewFile:
        """Return an empty file; see :class:`Destination`."""
        return _NewFile(self._files, self._name + ENDINGS[role])

    def taken(self, role: Role) -> str | None:
        """Return the name of a finished file; see :class:`Destination`."""
        name = self._name + ENDINGS[role]
        return name if name in self._files else None

    def output(self) -> StoredOutput:
        """Return the finished output, for a reader.

        Raises:
            FaroError: ``io`` if it is not finished.
        """
        files = {role: self._files.get(self._name + ending) for role, ending in ENDINGS.items()}
        data, index, single = (
            None if raw is None else MemoryFile(raw, self._name + ENDINGS[role]) for role, raw in files.items()
        )
        if data is not None and index is not None:
            return StoredOutput.paired(data, index)
        if single is not None:
            return StoredOutput.single(single)
        raise Place(None, self._name).error(ErrorCode.IO, None, "a finished output", "none")


class _NewFile(NewFile):
    def __init__(self, files: MutableMapping[str, bytes], name: str) -> None:
        self._files = files
        self._name = name
        self._pending: bytearray | None = bytearray()
        self._published: bytes | None = None

    @property
    def name(self) -> str:
        return self._name

    def append(self, data: bytes | memoryview) -> None:
        if self._pending is None:
            raise closed()
        self._pending += data

    def publish(self, replace: bool) -> None:
        if self._pending is None:
            raise closed()
        whole = bytes(self._pending)
        with _publishing:
            if not replace and self._name in self._files:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self._name)
            self._files[self._name] = self._published = whole
        self._pending = None

    def remove(self) -> None:
        self._pending = None
        published, self._published = self._published, None
        with _publishing:
            if published is not None and self._files.get(self._name) is published:
                del self._files[self._name]

    def open(self) -> MemoryFile:
        if self._published is None:
            raise closed()
        return MemoryFile(self._published, self._name)

    def close(self) -> None:
        self._pending = None
