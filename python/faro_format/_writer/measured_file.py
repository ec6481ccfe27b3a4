"""A file that is written: how much and for how long, and the bytes of it that opening reads."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from faro_format._error import Place
from faro_format._storage.known_file import KnownFile
from faro_format._storage.stored_file import StoredFile
from faro_format._writer.figures import WriterFigures
from faro_format._writer.made_files import WrittenFile

_FIRST = (64 << 10) + 64
"""A header, and what opening reads of a schema at once."""


class MeasuredFile:
    """A file of the output, as the committer uses it."""

    def __init__(self, file: WrittenFile, figures: WriterFigures) -> None:
        """Begin with an empty file, whose figures are added to the writer's."""
        self._file = file
        self._figures = figures
        self._first = bytearray()
        self._wanted = _FIRST
        self._last: tuple[int, bytes] = (0, b"")

    @property
    def place(self) -> Place:
        """The file in errors."""
        return self._file.place

    @property
    def position(self) -> int:
        """Bytes written so far."""
        return self._file.position

    def append(self, parts: Sequence[Any], *, last: bool = False) -> None:
        """Write pieces one after another; keep them in memory if they are the last that opening reads."""
        before = self._file.position
        begin = time.perf_counter()
        try:
            self._file.append(parts)
        finally:
            self._figures.write_time += time.perf_counter() - begin
            self._figures.file_bytes += self._file.position - before
        if last:
            self._last = before, b"".join(parts)
        elif len(self._first) < self._wanted:
            for part in parts:
                self._first += memoryview(part)[: self._wanted - len(self._first)]

    def append_first(self, parts: Sequence[Any]) -> None:
        """Write pieces that opening reads, whatever their size."""
        self._wanted = max(_FIRST, self._file.position + sum(map(len, parts)))
        self.append(parts)

    def sync(self) -> None:
        """Make what was written survive a crash."""
        begin = time.perf_counter()
        try:
            self._file.sync()
        finally:
            self._figures.sync_time += time.perf_counter() - begin

    def end(self, tail: bytes) -> None:
        """Append the tail, after which the file looks finished."""
        begin = time.perf_counter()
        self._file.end(tail)
        self._figures.write_time += time.perf_counter() - begin
        self._figures.file_bytes += len(tail)
        self._last = self._last[0], self._last[1] + tail

    def known(self, file: StoredFile) -> KnownFile:
        """Return the published file with the bytes that are known of it."""
        first, (begin, last) = bytes(self._first), self._last
        if len(first) == begin:
            return KnownFile(file, ((0, first + last),))
        return KnownFile(file, ((0, first), (begin, last)))
