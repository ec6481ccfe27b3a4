"""A file that a reader reads, wherever it is: its role, its faults, and a window that walks over it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from faro_format import _arguments as arguments
from faro_format._bytes.header import HEADER_SIZE, FileHeader, FileKind, parse_header
from faro_format._dictionaries import Dictionaries
from faro_format._error import ErrorCode, FaroError, Place
from faro_format._storage.local_file import LocalFile
from faro_format._storage.read_counter import ReadCounter
from faro_format._storage.remote_output import Attempt
from faro_format._storage.stored_file import READ_BYTES, Range, StoredFile, closed, read_rest

Bytes = npt.NDArray[np.uint8]


class InputFile:
    """A stored file in a role. Closing it twice is allowed."""

    def __init__(self, file: str | os.PathLike[str] | StoredFile | Attempt, role: str) -> None:
        """Open a local file by its path, or take over a stored file, or what an attempt to open one led to.

        Raises:
            FaroError: ``io`` if it cannot be opened.
        """
        self.place = Place(role, os.fspath(file) if isinstance(file, (str, os.PathLike)) else file.name)
        self.seed = 0
        """The first part of the checksums of the file's blocks (BLK-9), after :meth:`header` was called."""
        self.dictionaries: Dictionaries | None = None
        """With the reader feature ``dictionaries``, those that are known; once :meth:`header` was called."""
        self.counter = ReadCounter()
        """What was read so far."""
        self._stored: StoredFile | None = None
        try:
            if isinstance(file, (str, os.PathLike)):
                self._stored = LocalFile(file)
            else:
                self._stored = file.take() if isinstance(file, Attempt) else file
        except OSError as fault:
            raise self._io(fault, "to open the file") from fault
        self.size = 0
        """In bytes, when it was last asked for."""
        self.refresh()
        self.read_bytes = READ_BYTES
        """How many bytes a walk over neighbouring blocks reads at once."""
        if not isinstance(self._stored, LocalFile):
            self.read_bytes = arguments.integer("read_bytes", self._stored.read_bytes, 1, 2**31)

    @property
    def far(self) -> bool:
        """Whether extents are read before a walk comes to them."""
        return self.read_bytes > READ_BYTES

    def refresh(self) -> int:
        """Return the file's size now, in bytes, and keep it as :attr:`size`."""
        used = self._used()
        try:
            self.size = used.size
        except OSError as fault:
            raise self._io(fault, "to ask for the size of the file") from fault
        finally:
            del used  # The traceback of an error would keep the file open.
        return self.size

    def read(self, offset: int, length: int) -> bytes:
        """Return ``length`` bytes from an absolute offset, or fewer at the end of the file."""
        return bytes(self._read(offset, length))

    def read_exactly(self, offset: int, length: int) -> bytes:
        """Return ``length`` bytes that were there when the file was opened.

        Raises:
            FaroError: ``truncated`` at the file's size now if the file has shrunk since (BLK-8).
        """
        return bytes(self.view_exactly(offset, length))

    def view_exactly(self, offset: int, length: int) -> bytes | memoryview:
        """Return the same bytes as :meth:`read_exactly`, as the file has them, which need not be a copy."""
        raw = self._read(offset, length)
        if len(raw) < length:
            now = self.refresh()
            raise self.place.error(ErrorCode.TRUNCATED, now, f"{offset + length} bytes", f"{now} bytes")
        return raw

    def view_ranges(self, ranges: Sequence[Range]) -> list[bytes | memoryview | None]:
        """Return the bytes of several ranges, read with one call.

        None stands for a range that cannot be read, or not to its end: reading it alone reports why.
        """
        used = self._stored
        begin = time.perf_counter()
        try:
            found = [None] * len(ranges) if used is None else list(used.read_ranges(ranges))
        except OSError:
            return [None] * len(ranges)  # It does not say which.
        finally:
            del used  # As above.
        if len(found) != len(ranges):
            raise self.place.error(ErrorCode.IO, None, f"a read that returns {len(ranges)} ranges", len(found))
        views = [
            None if raw is None else self._view(raw, length) for raw, (_, length) in zip(found, ranges, strict=True)
        ]
        total = sum(len(view) for view in views if view is not None)
        self.counter.add_read(len(ranges), total, time.perf_counter() - begin)
        return [
            view if view is not None and len(view) == length else None
            for view, (_, length) in zip(views, ranges, strict=True)
        ]

    def _read(self, offset: int, length: int) -> bytes | memoryview:
        """Return ``length`` bytes, or fewer at the end of the file."""
        used = self._used()
        begin = time.perf_counter()
        try:
            raw: bytes | memoryview = used.read(offset, length)  # type: ignore[assignment]
            # As of a local file, for small reads in short time.
            if type(raw) is not bytes or len(raw) != length:
                raw = read_rest(partial(self._checked, used), self._view(raw, length), offset, length)
            self.counter.add_read(1, len(raw), time.perf_counter() - begin)
            return raw
        except OSError as fault:
            raise self._io(fault, f"to read {length} bytes at {offset}") from fault
        finally:
            del used  # As above.

    def _checked(self, used: StoredFile, offset: int, length: int) -> bytes | memoryview:
        return self._view(used.read(offset, length), length)

    def _view(self, raw: object, most: int) -> bytes | memoryview:
        """Return what an implementation gave as bytes, at most as many as were asked for."""
        if type(raw) is not bytes:
            try:
                raw = memoryview(raw).toreadonly().cast("B")  # type: ignore[arg-type]
            except (TypeError, ValueError) as fault:
                raise self.place.error(ErrorCode.IO, None, "a read that returns bytes", type(raw).__name__) from fault
        if len(raw) > most:
            raise self.place.error(ErrorCode.IO, None, f"a read that returns at most {most} bytes", len(raw))
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
        used, self._stored = self._stored, None
        if used is not None:
            # What was read is right, whatever closing says.
            with contextlib.suppress(OSError):
                used.close()

    def _used(self) -> StoredFile:
        used = self._stored
        if used is None:
            raise closed()
        return used

    def _io(self, fault: OSError, doing: str) -> FaroError:
        """Return the ``io`` error for an error of the stored file."""
        if isinstance(fault, FaroError):
            # It says why, and not which file of the output this is.
            return self.place.error(ErrorCode.IO, None, fault.expected, fault.found, errno=fault.errno)
        return self.place.io(fault, doing)


class Window:
    """Bytes of a file around the current offset of a walk. Each byte is read once if the walk goes forward.

    Memory: the window, or the one block that is larger.
    """

    def __init__(self, file: InputFile, end: int, size: int | None = None) -> None:
        """Make an empty window over the bytes of ``file`` below the absolute offset ``end``.

        Args:
            file: the file.
            end: an absolute offset.
            size: how many bytes are read at once; what the file prefers unless given.
        """
        self.file = file
        self.end = end
        self._size = size or file.read_bytes
        self.base = 0
        """Where :attr:`data` begins in the file, absolute, in bytes."""
        self.data: bytes | memoryview = b""
        self.array: Bytes = np.frombuffer(b"", np.uint8)
        self.view = memoryview(b"")
        """The same bytes, whose slices share the memory."""
        self.summed: bytes | Bytes = b""
        """The same bytes, as the checksum function takes them: it refuses a memoryview."""

    def locate(self, offset: int, length: int) -> int:
        """Make ``length`` bytes at an absolute offset available and return where in :attr:`data` they begin.

        The caller has checked that they end at or before :attr:`end`.
        """
        at = offset - self.base
        if at < 0 or at + length > len(self.data):
            want = min(max(length, self._size), self.end - offset)
            self.put(offset, self.file.view_exactly(offset, want))
            return 0
        return at

    def put(self, offset: int, data: bytes | memoryview) -> None:
        """Use bytes of the file that were read from an absolute offset."""
        self.data = data
        self.array = np.frombuffer(data, np.uint8)
        self.view = memoryview(data)
        self.summed = data if isinstance(data, bytes) else self.array
        self.base = offset


_NAMES = {
    FileKind.DATA: "a data file",
    FileKind.INDEX: "an index file",
    FileKind.SINGLE: "a single file",
    FileKind.FRAGMENT: "a fragment",
}


def check_kind(header: FileHeader, kind: FileKind, place: Place) -> FileHeader:
    """Return the header if it is of the expected kind of file (OPN-1, checks 2 and 4)."""
    if header.kind != kind:
        raise place.error(ErrorCode.MISMATCHED_PAIR, 8, _NAMES[kind], _NAMES[header.kind])
    return header
