"""The publishing lock of an output (PUB-5)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

from faro_format._error import ErrorCode, Place
from faro_format._storage import locks
from faro_format._storage.locks import Claim, Patience, close_all, has_name, lock_record

LOCK = ".faro-lock"
"""The ending of the lock's file."""


class PublishingLock:
    """The lock of one NAME, held by one thread of one process at a time."""

    def __init__(self, base: str, place: Place) -> None:
        """Name the output; :meth:`take` takes the lock.

        Args:
            base: its NAME without ending, absolute.
            place: for errors.
        """
        self._path = base + LOCK
        self._place = place
        self._claim: Claim | None = None
        self._descriptors: list[int] = []

    def take(self) -> None:
        """Take the lock, waiting for others that have it.

        Raises:
            FaroError: ``io``, for example if another writer has had it for 60 seconds.
        """
        patience = Patience()
        try:
            self._claim = name_claim(self._path)
            while not self._claim.take():
                self._wait(patience)
            while not self._lock():
                self._wait(patience)
        except OSError as fault:
            raise self._place.io(fault, f"to lock {self._path!r}") from fault

    def give_back(self) -> None:
        """Remove the lock's file, so that the next can take it. Does nothing if this does not have the lock."""
        if self._descriptors:
            with contextlib.suppress(OSError):
                # An interruption may have come before the lock was known to be taken.
                if lock_record(self._descriptors[0]) and has_name(self._descriptors[0], self._path):
                    os.unlink(self._path)
            with contextlib.suppress(OSError):
                close_all(self._descriptors)
        if self._claim is not None:
            self._claim.give_back()

    def __del__(self) -> None:
        """Give back a lock that was dropped."""
        with contextlib.suppress(AttributeError):  # An object whose construction was interrupted has no fields.
            self.give_back()

    def _lock(self) -> bool:
        """Take the record lock of the file; return False if another process has it or has removed the file."""
        flags = os.O_WRONLY | os.O_CREAT
        for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"):
            flags |= getattr(os, flag, 0)
        # One call, which an interruption cannot split.
        self._descriptors.extend(map(os.open, (self._path,), (flags,), (0o666,)))
        if lock_record(self._descriptors[0]) and has_name(self._descriptors[0], self._path):
            return True
        close_all(self._descriptors)
        return False

    def _wait(self, patience: Patience) -> None:
        if not patience.wait():
            wanted = f"the publishing lock {self._path!r} in {locks.PATIENCE:g} seconds"
            raise self._place.error(ErrorCode.IO, None, wanted, "another writer that holds it; try again")


def name_claim(path: str) -> Claim:
    """Return the claim of a lock's file, by its name and the identity of its folder."""
    folder, name = os.path.split(path)
    status = os.stat(folder)
    return Claim("name", status.st_dev, status.st_ino, name)


def locked(lock: PublishingLock, work: Callable[[], None]) -> None:
    """Call a function that needs the publishing lock. The lock is given back, however it ends."""
    # Not a "with" statement, because an interruption may come between its entry and its body.
    try:
        lock.take()
        work()
        lock.give_back()
    except BaseException:
        lock.give_back()
        raise
