"""A file that is written: created, appended to, given its final name, or removed (WRT-5, WRT-6, PUB-2, PUB-3)."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Sequence
from typing import Any

from faro_format._error import ErrorCode, Place
from faro_format._storage.local_file import LocalFile
from faro_format._storage.locks import Claim, Patience, close_all, file_claim, has_name, lock_record

_VECTORS = 1000
"""Pieces in a system call; POSIX systems accept 1024."""
_CALL = 256 << 10
"""Bytes in a system call, which ends at a multiple of them in the file.

Linux caches a file in pieces that are as large as a write and aligned to their size. A write that begins inside a piece
gets smaller ones, or fills one that an earlier call began: that takes a third more time.
"""

NO_LINKS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.EINVAL)
"""The errors of a file system without hard links, or without one for this file."""


class OutputFile:
    """One file of an output that is being written. Its record lock is held until it is closed (PUB-6)."""

    def __init__(self, path: str, role: str, temporary: str | None) -> None:
        """Name the file; :meth:`create` makes it, so that an interrupted one can be removed.

        Args:
            path: its final name.
            role: for errors.
            temporary: its name until it is published; None to use the final name at once.
        """
        self.place = Place(role, path)
        self.position = 0
        """Bytes written so far."""
        # The program may change its folder before the file is finished.
        self._final = os.path.abspath(path)
        self._name = self._final if temporary is None else os.path.abspath(temporary)
        self._descriptors: list[int] = []
        self._identity: tuple[int, int] | None = None
        self._claim: Claim | None = None
        self._tail_at: int | None = None

    def create(self, *, replacing: bool = False) -> None:
        """Create the file exclusively, and take its record lock.

        Args:
            replacing: whether to remove what has its name by then.

        Raises:
            FaroError: ``io``.
        """
        patience = Patience()
        try:
            while not self._create(patience, replacing=replacing):
                self.close()
                self._identity = None
        except OSError as fault:
            raise self.place.io(fault, f"to create {self._name!r}") from fault

    def _create(self, patience: Patience, *, replacing: bool) -> bool:
        """Create the file; return False if another process removed it because it looked like a dead writer's."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
        try:
            # One call, which an interruption cannot split, so that a created file is known to be ours.
            self._descriptors.extend(map(os.open, (self._name,), (flags,), (0o666,)))
        except FileExistsError:
            if not replacing or not patience.wait():
                raise
            _remove(self._name)
            return False
        self._identify()
        self._claim = file_claim(os.fstat(self._descriptor))
        while not (self._claim.take() and lock_record(self._descriptor)):
            if not patience.wait():
                raise self.place.error(ErrorCode.IO, None, f"to lock {self._name!r}", "another process that holds it")
        return has_name(self._descriptor, self._name)

    def _identify(self) -> None:
        """Remember the identity of the created file, if one was created."""
        if self._identity is None and self._descriptors:
            status = os.fstat(self._descriptors[0])
            self._identity = status.st_dev, status.st_ino

    def _is_ours(self, status: os.stat_result) -> bool:
        return self._identity == (status.st_dev, status.st_ino)

    def _has(self, name: str) -> bool:
        """Whether a name is this file's. False if that cannot be known."""
        with contextlib.suppress(OSError):
            self._identify()
            return self._is_ours(os.lstat(name))
        return False

    @property
    def _descriptor(self) -> int:
        return self._descriptors[0] if self._descriptors else -1

    def check_free(self) -> None:
        """Raise ``io`` if there is a file of the final name."""
        if os.path.lexists(self._final):
            raise self.place.taken()

    def resume(self) -> None:
        """Open the file, whose writer has ended, and take its record lock; go on at its end.

        Raises:
            FaroError: ``io``; a living writer that has it is one reason.
        """
        try:
            status = os.stat(self._name)
            claim = file_claim(status)
            # Before it is opened: closing it would give up the lock of a writer in this process.
            if not claim.take():
                raise self.place.error(ErrorCode.IO, None, "a file without a living writer", "one that has one")
            self._claim = claim
            flags = os.O_RDWR | getattr(os, "O_CLOEXEC", 0)
            self._descriptors.extend(map(os.open, (self._name,), (flags,)))
            if not lock_record(self._descriptor):
                raise self.place.error(ErrorCode.IO, None, "a file without a living writer", "one that has one")
            self._identify()
            self.go_to(os.fstat(self._descriptor).st_size)
        except OSError as fault:
            raise self.place.io(fault, "to resume the file") from fault

    def go_to(self, position: int) -> None:
        """Append at another place from now on. What is in the file after it stays until other bytes take its place."""
        os.lseek(self._descriptor, position, os.SEEK_SET)
        self.position = position

    def cut(self) -> None:
        """Cut the file at the place where it is appended to."""
        try:
            os.ftruncate(self._descriptor, self.position)
        except OSError as fault:
            raise self.place.io(fault, f"to cut the file at {self.position}") from fault

    def remove(self) -> None:
        """Remove the file under its present name."""
        try:
            if self._has(self._name):
                os.unlink(self._name)
        except OSError as fault:
            raise self.place.io(fault, "to remove the file") from fault

    def reader(self) -> LocalFile:
        """Return the file for a reader, by its present name.

        Raises:
            FaroError: ``io``; also if the name belongs to another file by now.
        """
        try:
            opened = LocalFile(self._name)
        except OSError as fault:
            raise self.place.io(fault, "to open the file for reading") from fault
        if not self._is_ours(opened._status()):
            found = "another file, which has its name"
            raise self.place.error(ErrorCode.IO, None, "to open the file for reading", found)
        opened._name = self.place.path
        return opened

    def append(self, parts: Sequence[Any]) -> None:
        """Write pieces, each of them bytes or a contiguous array of bytes, one after another."""
        try:
            for chosen, wanted in _calls(parts, self.position):
                written = os.writev(self._descriptor, chosen)
                self.position += written
                if written < wanted:
                    # A full disk or a signal: the next call reports which.
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
        """Sync the file."""
        try:
            os.fsync(self._descriptor)
        except OSError as fault:
            raise self.place.io(fault, "to sync the file") from fault

    def end(self, tail: bytes) -> None:
        """Append the tail, after which the file looks finished."""
        self._tail_at = self.position
        self.append([tail])

    def close(self) -> None:
        """Close the file, which keeps its names. After that it does not belong to a living writer any more."""
        try:
            close_all(self._descriptors)
        finally:
            if self._claim is not None:
                self._claim.give_back()

    def forget(self) -> None:
        """Forget the identity: another file may get the same number as soon as this is closed."""
        self._identity = None

    def remove_older(self) -> None:
        """Remove the file at the final name, if there is one.

        Raises:
            FaroError: ``io``.
        """
        try:
            _remove(self._final)
        except OSError as fault:
            raise self.place.io(fault, "to remove the older file") from fault

    def replace(self) -> None:
        """Give the file its final name in one step, and replace a file that has it.

        Raises:
            FaroError: ``io``.
        """
        try:
            os.replace(self._name, self._final)
        except OSError as fault:
            raise self.place.io(fault, "to publish the file") from fault

    def link(self) -> bool:
        """Give the file its final name in one step that fails when the name exists (PUB-3).

        Returns:
            False if the file system has no such step; nothing was done then.

        Raises:
            FaroError: ``io``.
        """
        try:
            if os.name == "nt":
                os.rename(self._name, self._final)  # On this system, rename does not replace.
                return True
            os.link(self._name, self._final)
        except FileExistsError as fault:
            raise self.place.taken() from fault
        except OSError as fault:
            if fault.errno in NO_LINKS and not self.published:
                return False
            raise self.place.io(fault, "to publish the file") from fault
        # If this is refused, the temporary name stays as a second one (PUB-3).
        with contextlib.suppress(OSError):
            os.unlink(self._name)
        return True

    @property
    def published(self) -> bool:
        """Whether the final name is this file's."""
        return self._has(self._final)

    def remove_temporary(self) -> None:
        """Remove the file's temporary name; one that cannot be removed stays."""
        if self._name != self._final and self._has(self._name):
            with contextlib.suppress(OSError):
                os.unlink(self._name)

    def remove_published(self) -> None:
        """Remove the file's final name, under the publishing lock (PUB-4); one that cannot be removed stays."""
        if self.published:
            with contextlib.suppress(OSError):
                os.unlink(self._final)

    def cut_tail(self) -> bool:
        """Make the file unfinished again if its tail was written; return False if it cannot be cut (WRT-6)."""
        if self._tail_at is None:
            return True
        try:
            if not self._descriptors:
                # Not blocking, because anything may have the name by now.
                flags = os.O_WRONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
                self._descriptors.append(os.open(self._final, flags))
            if self._is_ours(os.fstat(self._descriptors[0])):
                os.ftruncate(self._descriptors[0], self._tail_at)
        except OSError:
            return False
        self._tail_at = None
        return True


def _remove(path: str) -> None:
    """Remove a file if there is one."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _calls(parts: Sequence[Any], position: int) -> Iterator[tuple[list[Any], int]]:
    """Yield pieces for one system call after another, and how many bytes they are.

    Args:
        parts: the pieces.
        position: where in the file they begin.
    """
    chosen: list[Any] = []
    size = 0
    room = _CALL - position % _CALL
    for part in parts:
        length = len(part)
        begin = 0
        # A piece that is too large is cut.
        while length - begin > room - size:
            end = begin + room - size
            chosen.append(memoryview(part)[begin:end])
            yield chosen, room
            chosen, size, begin, room = [], 0, end, _CALL
        if begin < length:
            chosen.append(memoryview(part)[begin:] if begin else part)
            size += length - begin
            if len(chosen) == _VECTORS:
                yield chosen, size
                chosen, size, room = [], 0, room - size or _CALL
    if chosen:
        yield chosen, size


def sync_folder(place: Place) -> None:
    """Sync the folder of a file, and so its name."""
    try:
        descriptor = os.open(os.path.dirname(place.path) or ".", os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as fault:
        raise place.io(fault, "to sync the folder") from fault
