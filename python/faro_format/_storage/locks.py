"""The holder of a file: claims within the process, record locks between processes (PUB-5, PUB-6)."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import time
import weakref
from collections.abc import Hashable

try:
    import fcntl
except ImportError:  # Windows has no such record locks; writers continue without them.
    fcntl = None  # type: ignore[assignment]

PATIENCE = 60.0
"""How many seconds a writer waits for another (PUB-5)."""
_LONGEST = 0.02
"""Seconds between two attempts, at most."""

_held: dict[Hashable, weakref.ref[Claim]] = {}
"""The claims of threads, by process id, so that a fork has none of its parent's."""


class Patience:
    """Waits a moment, again and again, until the time is out."""

    def __init__(self) -> None:
        """Begin to wait."""
        self._end = time.monotonic() + PATIENCE
        self._moment = _LONGEST / 64

    def wait(self) -> bool:
        """Wait a moment; return False at once if the time is out."""
        if time.monotonic() >= self._end:
            return False
        # So that not all of them wake up at the same time.
        time.sleep(self._moment * (0.5 + random.random()))
        self._moment = min(2 * self._moment, _LONGEST)
        return True


class Claim:
    """A claim with a key, held by one thread of this process at a time; a fork does not have it.

    Taking and giving back are single operations of a dictionary, so an interruption cannot leave it half taken. A claim
    that is dropped is given back.
    """

    def __init__(self, *key: Hashable) -> None:
        """Name the key; :meth:`take` takes the claim."""
        self._key = (os.getpid(), *key)
        self._late: list[int] = []
        self._self = weakref.ref(self)

    def take(self) -> bool:
        """Take it; return False if another has it. Taking it again is allowed."""
        return _held.setdefault(self._key, self._self) is self._self

    @property
    def held(self) -> bool:
        """Whether it is held, by this or another."""
        return self._key in _held

    def give_back(self) -> None:
        """Give it back, if this has it."""
        if _held.get(self._key) is self._self:
            del _held[self._key]
        with contextlib.suppress(OSError):
            close_all(self._late)

    def close_with(self, descriptor: int) -> None:
        """Close a descriptor now, or if this is held, when it is given back."""
        known = _held.get(self._key)
        owner = known() if known is not None else None
        if owner is not None:
            owner._late.append(descriptor)
            if _held.get(self._key) is not known:
                owner.give_back()
        else:
            os.close(descriptor)

    def reopen(self, descriptors: list[int]) -> bool:
        """Move a waiting descriptor to a list; return False if there is none.

        Using it instead of opening the file again prevents that a process that reads its own unfinished files runs
        out of descriptors.
        """
        known = _held.get(self._key)
        owner = known() if known is not None else None
        with contextlib.suppress(IndexError):
            # One call, which an interruption cannot split.
            descriptors.extend(map(list.pop, [owner._late] if owner is not None else []))
        return bool(descriptors)

    def __del__(self) -> None:
        """Give back what was dropped."""
        with contextlib.suppress(AttributeError):  # An object whose construction was interrupted has no fields.
            self.give_back()


def any_held() -> bool:
    """Whether this process holds anything."""
    return bool(_held)


def file_claim(status: os.stat_result) -> Claim:
    """Return the claim of a file, by device and file number, for its writer, or to check whether that is dead."""
    return Claim("file", status.st_dev, status.st_ino)


def lock_record(descriptor: int) -> bool:
    """Take the record lock of a whole file that is open for writing; return False if another process has it.

    True also where the system has no record locks for the file.
    """
    if fcntl is None:
        return True
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as fault:
        return fault.errno not in (errno.EACCES, errno.EAGAIN)
    return True


def has_name(descriptor: int, path: str) -> bool:
    """Whether a name is that of an open file."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    return False


def close_all(descriptors: list[int]) -> None:
    """Close descriptors and forget them. If some cannot be closed, only the first error is raised."""
    # One call, which an interruption cannot split, so a closed descriptor is never closed again.
    list(map(os.close, map(list.pop, [descriptors] * len(descriptors))))
