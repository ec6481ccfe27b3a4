"""A file that is written: appended to under a temporary name and then published (WRT-4, WRT-5)."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Sequence
from typing import Any

from faro.error import Code, Place

_VECTORS = 1000
"""Pieces to a system call; POSIX systems take 1024."""
_CALL = 64 << 10
"""Bytes to a system call. Linux caches a file in pieces as large as what was written, and has small ones sooner."""


class OutputFile:
    """One file of an output that is being written."""

    def __init__(self, path: str, role: str, temporary: str | None, *, overwrite: bool) -> None:
        """Say what file; :meth:`create` makes it, so that an interrupted one can be discarded.

        Args:
            path: its final name.
            role: for errors.
            temporary: what is put behind the name until it is published; None to use the final name at once.
            overwrite: whether a file of the final name may be replaced.
        """
        self.place = Place(role, path)
        self.position = 0
        """Bytes written so far."""
        self._overwrite = overwrite
        self._published = temporary is None
        # The program may go to another folder before the file is finished.
        self._final = os.path.abspath(path)
        self._name = self._final + (temporary or "")
        self._descriptors: list[int] = []
        self._identity: tuple[int, int] | None = None
        self._tail_at: int | None = None
        self._process = os.getpid()

    def create(self) -> None:
        """Create the file exclusively.

        Raises:
            FaroError: ``io``.
        """
        self.check_free()
        try:
            if self._published and self._overwrite:
                # Not truncated: who reads the old file keeps it.
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self._final)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
            # In one call, which no interruption parts: a file that was made is known to be ours.
            self._descriptors.extend(map(os.open, (self._name,), (flags,), (0o666,)))
            self._identify()
        except OSError as fault:
            raise self.place.io(fault, f"to create {self._name!r}") from fault

    def _identify(self) -> tuple[int, int] | None:
        """Return what tells the file that was made from others of its names; None if none was made."""
        if self._identity is None and self._descriptors:
            status = os.fstat(self._descriptors[0])
            self._identity = status.st_dev, status.st_ino
        return self._identity

    def _is_ours(self, status: os.stat_result) -> bool:
        return self._identity == (status.st_dev, status.st_ino)

    @property
    def _descriptor(self) -> int:
        return self._descriptors[0] if self._descriptors else -1

    def check_free(self) -> None:
        """Raise ``io`` if there is a file of the final name that must not be replaced."""
        if not self._overwrite and os.path.lexists(self._final):
            raise self.place.error(Code.IO, None, "no file of this name, or overwrite", "a file")

    def append(self, parts: Sequence[Any]) -> None:
        """Write pieces, each of them bytes or a contiguous array of bytes, one behind the other."""
        try:
            for chosen, wanted in _calls(parts):
                written = os.writev(self._descriptor, chosen)
                self.position += written
                if written < wanted:
                    # A full disk or a signal: the system says which when it is asked again.
                    rest = memoryview(b"".join(chosen))[written:]
                    while rest:
                        written = os.write(self._descriptor, rest)
                        if not written:
                            raise OSError(errno.EIO, "nothing is written, and no reason given")
                        self.position += written
                        rest = rest[written:]
        except OSError as fault:
            raise self.place.io(fault, f"to write at {self.position}") from fault

    def sync(self) -> None:
        """Bring what was written to the device."""
        try:
            os.fsync(self._descriptor)
        except OSError as fault:
            raise self.place.io(fault, "to sync the file") from fault

    def end(self, tail: bytes) -> None:
        """Append the tail, with which the file looks finished."""
        self._tail_at = self.position
        self.append([tail])

    def close(self) -> None:
        """Close the descriptor, the file staying under the name that it has."""
        if self._descriptors:
            os.close(self._descriptors.pop())

    def publish(self) -> None:
        """Close the file and give it its final name."""
        try:
            self.close()
            if not self._published:
                self.check_free()
                os.rename(self._name, self._final)
                self._published = True
        except OSError as fault:
            raise self.place.io(fault, "to publish the file") from fault

    def cut_tail(self) -> None:
        """Make the file unfinished again if its tail was written; remove it if it cannot be cut (WRT-6)."""
        if self._tail_at is None:
            return
        try:
            if not self._descriptors:
                # Not blocking, whatever has the name by now.
                flags = os.O_WRONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
                self._descriptors.append(os.open(self._final if self._published else self._name, flags))
            if self._is_ours(os.fstat(self._descriptors[0])):
                os.ftruncate(self._descriptors[0], self._tail_at)
            self.close()
        except OSError:
            self.discard()
        self._tail_at = None

    def discard(self) -> None:
        """Close and remove the file, whichever of its names it has; what cannot be removed stays."""
        with contextlib.suppress(OSError):
            self._identify()
        for name in (self._name, self._final):
            with contextlib.suppress(OSError):
                if self._is_ours(os.lstat(name)):
                    os.unlink(name)
        # Another file may be given the same identity as soon as this one is closed.
        self._identity = None
        with contextlib.suppress(OSError):
            self.close()

    def drop(self, *, keep: bool) -> None:
        """Do as :meth:`discard`, or if it is to be kept leave it unfinished, in the process that made the file."""
        if self._process != os.getpid():
            # A fork of the writer's process, which has the file still.
            with contextlib.suppress(OSError):
                self.close()
        elif keep:
            self.cut_tail()
            with contextlib.suppress(OSError):
                self.close()
        else:
            self.discard()


def _calls(parts: Sequence[Any]) -> Iterator[tuple[list[Any], int]]:
    """Yield pieces for one system call after another, and how many bytes they are."""
    chosen: list[Any] = []
    size = 0
    for part in parts:
        length = len(part)
        begin = 0
        # What is larger than the room is cut.
        while length - begin > _CALL - size:
            end = begin + _CALL - size
            chosen.append(memoryview(part)[begin:end])
            yield chosen, _CALL
            chosen, size, begin = [], 0, end
        if begin < length:
            chosen.append(memoryview(part)[begin:] if begin else part)
            size += length - begin
            if len(chosen) == _VECTORS:
                yield chosen, size
                chosen, size = [], 0
    if chosen:
        yield chosen, size


def sync_folder(place: Place) -> None:
    """Bring the names in a file's folder to the device."""
    try:
        descriptor = os.open(os.path.dirname(place.path) or ".", os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as fault:
        raise place.io(fault, "to sync the folder") from fault
