"""What the files of one output have in common, wherever they go."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar

from faro_format._error import Place
from faro_format._storage.stored_file import StoredFile


class WrittenFile(Protocol):
    """One file that is being written."""

    @property
    def place(self) -> Place:
        """The file in errors."""

    @property
    def position(self) -> int:
        """Bytes written so far."""

    def append(self, parts: Sequence[Any]) -> None:
        """Write pieces, each of them bytes or a contiguous array of bytes, one after another."""

    def sync(self) -> None:
        """Make what was written survive a crash."""

    def end(self, tail: bytes) -> None:
        """Append the tail, after which the file looks finished."""


File = TypeVar("File", bound=WrittenFile)


class MadeFiles(Generic[File]):
    """The data and index file, or the single file, of a writer, once they are made."""

    def __init__(self) -> None:
        """Begin without files."""
        self._files: list[File] = []
        self._readers: list[StoredFile] = []
        self._process = os.getpid()

    @property
    def data(self) -> File:
        """The data file, or the single file."""
        return self._files[0]

    @property
    def index(self) -> File:
        """The index file, or the single file."""
        return self._files[-1]

    @property
    def paths(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(file.place.path for file in self._files)

    @property
    def paired(self) -> bool:
        """Whether there are two."""
        return len(self._files) == 2
