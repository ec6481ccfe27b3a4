"""An open file object that is read as a stored file."""

from __future__ import annotations

import io
import threading
from typing import Any

from faro_format import _arguments as arguments
from faro_format._error import invalid
from faro_format._storage.stored_file import StoredFile, as_os_error, closed


class SeekableFile(StoredFile):
    """An open binary file object that can seek: an io.BytesIO, or what fsspec opens.

    It has one position, so threads that read wait for each other; so do processes after a fork, which must not both
    read. Whatever exception the object raises becomes an OSError.
    """

    def __init__(self, file: Any, name: str | None = None) -> None:  # noqa: ANN401 - anything with seek and read
        """Take a file object over: nothing else moves its position, and closing this closes it.

        Args:
            file: an object with ``seek``, ``close``, and ``read`` or ``readinto``.
            name: what errors call it; by default what the object says, its ``name``, ``path`` or type.

        Raises:
            FaroError: ``invalid-argument`` if it is not such an object.
            OSError: it does not tell its size.
        """
        if not _is_binary(file):
            raise invalid("file: an open binary file object, with seek and read or readinto", arguments.shown(file))
        self._name = _name_of(file) if name is None else arguments.text("name", name)
        self._file: Any = file
        self._into = not callable(getattr(file, "read", None))
        self._lock = threading.Lock()
        self._size: int = as_os_error(lambda: _end_of(file))

    @property
    def size(self) -> int:
        """The size in bytes, when it was taken over."""
        return self._size

    @property
    def name(self) -> str:
        """What errors call it."""
        return self._name

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes of the file; see :class:`StoredFile`."""
        if not length:
            return b""
        return as_os_error(lambda: self._read(offset, length))

    def _read(self, offset: int, length: int) -> bytes:
        with self._lock:
            file = self._file
            if file is None:
                raise closed()
            file.seek(offset)
            if not self._into:
                raw = file.read(length)
                if raw is None:
                    raise BlockingIOError("the file object has no bytes yet")
                return bytes(raw)
            space = bytearray(length)
            count = file.readinto(space)
            if count is None:
                raise BlockingIOError("the file object has no bytes yet")
            return bytes(memoryview(space)[:count])

    def close(self) -> None:
        """Close the file object, after a read that is under way."""
        with self._lock:
            file, self._file = self._file, None
            if file is not None:
                as_os_error(file.close)


def _is_binary(file: object) -> bool:
    """Whether an object looks like an open binary file."""
    if isinstance(file, io.TextIOBase) or not callable(getattr(file, "seek", None)):
        return False
    readable = callable(getattr(file, "read", None)) or callable(getattr(file, "readinto", None))
    return readable and callable(getattr(file, "close", None))


def _end_of(file: Any) -> int:  # noqa: ANN401
    """Return where a file object ends."""
    end = file.seek(0, io.SEEK_END)
    # Some return nothing.
    return int(file.tell() if end is None else end)


def _name_of(file: object) -> str:
    """Return what a file object calls itself; a number is a descriptor, and tells people nothing."""
    names = (getattr(file, "name", None), getattr(file, "path", None))
    return next((name for name in names if isinstance(name, str) and name), type(file).__name__)
