"""A file of another writer that is examined: claimed, locked, and read without losing the lock (PUB-6)."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable
from typing import TypeVar

from faro_format._bytes.header import HEADER_SIZE, FileHeader, parse_header
from faro_format._error import FaroError, Place
from faro_format._storage.locks import Claim, close_all, file_claim, has_name, lock_record


class HeldFile:
    """A regular file that no other process writes or repairs until :meth:`give_back`, or that is a living writer's."""

    def __init__(self, path: str, role: str | None) -> None:
        """Name a file; :meth:`take` examines it."""
        self.path = path
        self.place = Place(role, path)
        self.living = False
        """Whether it is a living writer's."""
        self.start = b""
        """Its first 64 bytes; none of a living writer's of this process, whose lock opening the file would lose."""
        self._descriptors: list[int] = []
        self._claim: Claim | None = None
        self._first: HeldFile | None = None
        self.status: os.stat_result

    def take(self, claim: Claim | None = None) -> bool:
        """Claim, open and lock the file.

        Args:
            claim: what to claim; the file by its number unless given.

        Returns:
            False if no regular file has the name.

        Raises:
            FaroError: ``io``.
        """
        try:
            return self._take(claim)
        except OSError as fault:
            raise self.place.io(fault, "to open the file") from fault

    def _take(self, claim: Claim | None) -> bool:
        try:
            self.status = os.lstat(self.path)
            if not stat.S_ISREG(self.status.st_mode):
                return False
            self._claim = claim or file_claim(self.status)
            # Checked before it is opened, because closing it would lose a lock of this process.
            if not self._claim.take():
                self.living = True
                return True
            flags = os.O_RDWR
            for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
                flags |= getattr(os, flag, 0)
            self._descriptors.extend(map(os.open, (self.path,), (flags,)))
        except FileNotFoundError:
            return False
        status = os.fstat(self.descriptor)
        if not os.path.samestat(status, self.status):
            return False  # Another file has the name now.
        self.living = not lock_record(self.descriptor)
        self.status = os.fstat(self.descriptor)
        self.start = os.pread(self.descriptor, HEADER_SIZE, 0)
        return has_name(self.descriptor, self.path)

    def share(self, other: HeldFile) -> None:
        """Use what another has taken: this is a second name of the same file."""
        self.status, self.living, self.start = other.status, other.living, other.start
        self._descriptors, self._first = other._descriptors, other

    @property
    def descriptor(self) -> int:
        """The open file, for reading and writing."""
        return self._descriptors[0]

    @property
    def opened(self) -> bool:
        """Whether the file is open; a living writer's of this process is not."""
        return bool(self._descriptors)

    def header(self) -> FileHeader | None:
        """Return the header that the file begins with (HDR-1), or None."""
        try:
            return parse_header(self.start, self.status.st_size, self.place)
        except FaroError:
            return None

    def give_back(self) -> None:
        """Close the file."""
        if self._first is None:
            with contextlib.suppress(OSError):
                close_all(self._descriptors)
        if self._claim is not None:
            self._claim.give_back()

    def __del__(self) -> None:
        """Close a file that was dropped."""
        with contextlib.suppress(AttributeError):  # An object whose construction was interrupted has no fields.
            self.give_back()


Result = TypeVar("Result")


def holding(files: list[HeldFile], work: Callable[[], Result]) -> Result:
    """Call a function that needs held files, and give them back, however it ends."""
    # Not "finally", because an interruption there would leave them held.
    try:
        result = work()
        for file in files:
            file.give_back()
        return result
    except BaseException:
        for file in files:
            file.give_back()
        raise
