"""A local file that is read: positioned reads of one descriptor.

Positioned reads share no position, so threads may read one file at the same time.
"""

from __future__ import annotations

import contextlib
import os
import stat

from faro_format import _arguments as arguments
from faro_format._error import ErrorCode, Place
from faro_format._storage.locks import any_held, file_claim
from faro_format._storage.stored_file import StoredFile, closed

# Not blocking: opening a pipe would wait for its writer, and a pipe is refused anyway (OPN-4).
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
_READ = 1 << 30  # One system call reads less than 2 GiB.


class _Descriptor:
    """An open descriptor, closed when nothing refers to it any more.

    A call that reads refers to it meanwhile. So closing does not wait for readers, no reader uses a number that was
    given to another file, and an interruption at any point leaves no count or lock.
    """

    __slots__ = ("__weakref__", "numbers", "status")

    def __init__(self, path: str) -> None:
        """Open a file. Raises OSError if the system refuses it."""
        self.numbers: list[int] = []
        """One number, once it is open. A property would put this object into the traceback of a failed read."""
        self.status: os.stat_result | None = None
        if not self._is_written_here(path):
            # One call, which an interruption cannot split, so an opened file is always known.
            self.numbers.extend(map(os.open, (path,), (_FLAGS,)))
        self.status = os.fstat(self.numbers[0])

    def _is_written_here(self, path: str) -> bool:
        """Take over a waiting descriptor of a file that this process is writing; return False if there is none."""
        try:
            return any_held() and file_claim(os.stat(path)).reopen(self.numbers)
        except (OSError, ValueError):
            # Opening it reports the error.
            return False

    def __del__(self) -> None:
        """Close it."""
        # An interruption may have prevented that it has numbers.
        numbers = getattr(self, "numbers", ())
        with contextlib.suppress(OSError):
            while numbers:
                if self.status is None:
                    os.close(numbers.pop())
                else:
                    # Closing a descriptor of a file that this process is writing would lose its record lock (PUB-6).
                    file_claim(self.status).close_with(numbers.pop())


class LocalFile(StoredFile):
    """A regular file of this machine. Readers that get paths use it.

    Closing it does not wait: reads under way end as they would, and later ones fail with ``invalid-argument``.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open a file for reading, without waiting for anything.

        Args:
            path: its path, which is also its name.

        Raises:
            OSError: it cannot be opened, or is not a regular file.
            FaroError: ``invalid-argument`` if it is not a path.
        """
        self._name = arguments.path("path", path)
        self._open: _Descriptor | None = _Descriptor(self._name)
        status = self._open.status or os.fstat(self._open.numbers[0])
        if not stat.S_ISREG(status.st_mode):
            self._open = None
            raise Place(None, self._name).error(ErrorCode.IO, None, "a regular file", _kind(status.st_mode))

    @property
    def size(self) -> int:
        """The size now, in bytes."""
        return self._status().st_size

    def _status(self) -> os.stat_result:
        used = self._used()
        try:
            return os.fstat(used.numbers[0])
        finally:
            del used  # The traceback of an error would keep the file open.

    @property
    def name(self) -> str:
        """The path."""
        return self._name

    def read(self, offset: int, length: int) -> bytes:
        """Return ``length`` bytes from an offset, or fewer at the end of the file; see :class:`StoredFile`."""
        used = self._used()
        try:
            if not length:
                return b""
            raw = os.pread(used.numbers[0], min(length, _READ), offset)
            if len(raw) == length or not raw:
                return raw
            parts = [raw]
            done = len(raw)
            while raw and done < length:
                raw = os.pread(used.numbers[0], min(length - done, _READ), offset + done)
                parts.append(raw)
                done += len(raw)
            return b"".join(parts)
        finally:
            del used  # As above.

    def close(self) -> None:
        """Close the file for later reads."""
        self._open = None

    def _used(self) -> _Descriptor:
        used = self._open
        if used is None:
            raise closed()
        return used


def _kind(mode: int) -> str:
    """Describe something that is not a regular file."""
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    return next((name for matches, name in kinds if matches(mode)), "a device")
