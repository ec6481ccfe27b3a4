"""A file that is read: positioned reads of one descriptor, and a window that walks over it.

Positioned reads share no position, so threads may read one file at the same time.
"""

from __future__ import annotations

import contextlib
import os
import stat

import numpy as np
import numpy.typing as npt

from faro_format._bytes.header import HEADER_SIZE, FileHeader, FileKind, parse_header
from faro_format._dictionaries import Dictionaries
from faro_format._error import ErrorCode, Place, invalid
from faro_format._storage.locks import any_held, file_claim

Bytes = npt.NDArray[np.uint8]

WINDOW = 4 << 20
"""How many bytes a walk over neighbouring blocks reads at once."""

# Not blocking: opening a pipe would wait for its writer, and a pipe is refused anyway (OPN-4).
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
_READ = 1 << 30  # One system call reads less than 2 GiB.


class _Descriptor:
    """An open descriptor, closed when nothing refers to it any more.

    A call that reads refers to it meanwhile. So closing does not wait for readers, no reader uses a number that was
    given to another file, and an interruption at any point leaves no count or lock.
    """

    __slots__ = ("__weakref__", "_numbers", "status")

    def __init__(self, path: str) -> None:
        """Open a file. Raises OSError if the system refuses it."""
        self._numbers: list[int] = []
        self.status: os.stat_result | None = None
        if not self._is_written_here(path):
            # One call, which an interruption cannot split, so an opened file is always known.
            self._numbers.extend(map(os.open, (path,), (_FLAGS,)))
        self.status = os.fstat(self._numbers[0])

    def _is_written_here(self, path: str) -> bool:
        """Take over a waiting descriptor of a file that this process is writing; return False if there is none."""
        try:
            return any_held() and file_claim(os.stat(path)).reopen(self._numbers)
        except (OSError, ValueError):
            # Opening it reports the error.
            return False

    @property
    def number(self) -> int:
        """The descriptor's number."""
        return self._numbers[0]

    def __del__(self) -> None:
        """Close it."""
        with contextlib.suppress(OSError):
            while self._numbers:
                if self.status is None:
                    os.close(self._numbers.pop())
                else:
                    # Closing a descriptor of a file that this process is writing would lose its record lock (PUB-6).
                    file_claim(self.status).close_with(self._numbers.pop())


class InputFile:
    """An open file, read by offset. Closing it twice is allowed."""

    def __init__(self, path: str | os.PathLike[str], role: str) -> None:
        """Open a file for reading.

        Raises:
            FaroError: ``io`` if it cannot be opened.
        """
        name = os.fspath(path)
        self.place = Place(role, name)
        self.seed = 0
        """The first part of the checksums of the file's blocks (BLK-9), after :meth:`header` was called."""
        self.dictionaries: Dictionaries | None = None
        """With the reader feature ``dictionaries``, those that are known; once :meth:`header` was called."""
        self._open: _Descriptor | None = None
        try:
            self._open = _Descriptor(name)
        except OSError as fault:
            raise self.place.io(fault, "to open the file") from fault
        status = self._open.status or os.fstat(self._open.number)
        if not stat.S_ISREG(status.st_mode):
            self._open = None
            raise self.place.error(ErrorCode.IO, None, "a regular file", _kind(status.st_mode))
        self.size = status.st_size

    def refresh(self) -> int:
        """Return the file's size now, in bytes, and keep it as :attr:`size`."""
        used = self._used()
        try:
            self.size = os.fstat(used.number).st_size
        except OSError as fault:
            raise self.place.io(fault, "to ask for the size of the file") from fault
        finally:
            del used  # The traceback of an error would keep the file open.
        return self.size

    def read(self, offset: int, length: int) -> bytes:
        """Return ``length`` bytes from an absolute offset, or fewer at the end of the file."""
        parts: list[bytes] = []
        done = 0
        used = self._used()
        try:
            while done < length:
                raw = os.pread(used.number, min(length - done, _READ), offset + done)
                if not raw:
                    break
                parts.append(raw)
                done += len(raw)
        except OSError as fault:
            raise self.place.io(fault, f"to read {length} bytes at {offset}") from fault
        finally:
            del used  # As above.
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def read_exactly(self, offset: int, length: int) -> bytes:
        """Return ``length`` bytes that were there when the file was opened.

        Raises:
            FaroError: ``truncated`` at the file's size now if the file has shrunk since (BLK-8).
        """
        raw = self.read(offset, length)
        if len(raw) < length:
            now = self.refresh()
            raise self.place.error(ErrorCode.TRUNCATED, now, f"{offset + length} bytes", f"{now} bytes")
        return raw

    def header(self) -> FileHeader:
        """Check and return the file's header (HDR-1), which must be read before blocks."""
        raw = self.read(0, min(self.size, HEADER_SIZE))
        size = self.size if len(raw) == min(self.size, HEADER_SIZE) else self.refresh()
        header = parse_header(raw, size, self.place)
        self.seed = header._seed
        self.dictionaries = Dictionaries() if header.dictionaries else None
        return header

    def close(self) -> None:
        """Close the file for later reads, which fail with ``invalid-argument``; those under way end as they would."""
        self._open = None

    def _used(self) -> _Descriptor:
        used = self._open
        if used is None:
            raise invalid("an open file", "a closed one")
        return used


def _kind(mode: int) -> str:
    """Describe something that is not a regular file."""
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    return next((name for matches, name in kinds if matches(mode)), "a device")


class Window:
    """Bytes of a file around the current offset of a walk. Each byte is read once if the walk goes forward.

    Memory: the window, or the one block that is larger.
    """

    def __init__(self, file: InputFile, end: int, size: int = WINDOW) -> None:
        """Make an empty window over the bytes of ``file`` below the absolute offset ``end``."""
        self.file = file
        self.end = end
        self._size = size
        self._base = 0
        self.data: bytes = b""
        self.array: Bytes = np.frombuffer(b"", np.uint8)

    def locate(self, offset: int, length: int) -> int:
        """Make ``length`` bytes at an absolute offset available and return where in :attr:`data` they begin.

        The caller has checked that they end at or before :attr:`end`.
        """
        at = offset - self._base
        if at < 0 or at + length > len(self.data):
            want = min(max(length, self._size), self.end - offset)
            self.data = self.file.read_exactly(offset, want)
            self.array = np.frombuffer(self.data, np.uint8)
            self._base = offset
            return 0
        return at


def check_kind(header: FileHeader, kind: FileKind, place: Place) -> FileHeader:
    """Return the header if it is of the expected kind of file (OPN-1, checks 2 and 4)."""
    if header.kind != kind:
        names = {FileKind.DATA: "a data file", FileKind.INDEX: "an index file", FileKind.SINGLE: "a single file"}
        raise place.error(ErrorCode.MISMATCHED_PAIR, 8, names[kind], names[header.kind])
    return header
