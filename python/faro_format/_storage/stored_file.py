"""What a reader asks of the place where a file is (docs/storage.md)."""

from __future__ import annotations

import errno
import inspect
import os
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from faro_format import _arguments as arguments
from faro_format._error import FaroError, invalid

Buffer = bytes | bytearray | memoryview
"""Bytes that were read. The file does not change them afterwards."""
Range = tuple[int, int]
"""The offset and the length of bytes to read."""

READ_BYTES = 4 << 20
"""What one read of neighbouring bytes asks for, unless a file says otherwise."""

Result = TypeVar("Result")
Bytes = TypeVar("Bytes", bound=Buffer)

_METHODS = ("size", "name", "read", "read_ranges", "version", "read_bytes", "close")
_ERRNOS = {FileNotFoundError: errno.ENOENT, PermissionError: errno.EACCES}
"""The numbers of errors that other libraries raise without one."""


class StoredFile(Protocol):
    """A file that readers can read, wherever it is; docs/storage.md says what it promises.

    A class that inherits from this one needs ``size``, ``read``, ``name`` and ``close``; ``read_ranges``,
    ``version`` and ``read_bytes`` come with it. A class that does not inherit has to define all of them::

        class Cached(storage.StoredFile):
            def __init__(self, cache, key):
                self._cache, self._key = cache, key

            @property
            def size(self):
                return self._cache.size_of(self._key)

            @property
            def name(self):
                return self._key

            def read(self, offset, length):
                return self._cache.get(self._key, offset, length)

            def close(self):
                pass

    A failure is an OSError; the reader reports it as ``io``, with the role and the name of the file. Several threads
    may read at the same time.
    """

    @property
    @abstractmethod
    def size(self) -> int:
        """The size in bytes, 0 or more. That of a finished file does not change."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name that errors show. It need not be a path."""

    @abstractmethod
    def read(self, offset: int, length: int) -> Buffer:
        """Return bytes of the file; a reader that gets fewer than it asked for reads on.

        Args:
            offset: where they begin, in bytes from the start of the file, 0 or more.
            length: how many are wanted, 0 or more.

        Returns:
            At least one byte and at most ``length``; none if the offset is at or after the end, or ``length`` is 0.

        Raises:
            OSError: they cannot be read.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the file. Closing it twice is not an error."""

    def read_ranges(self, ranges: Sequence[Range]) -> Sequence[Buffer]:
        """Return the bytes of several ranges, in their order; each whole, or up to the end of the file.

        This one reads one range after another. Another may read them at the same time, or join neighbours.

        Args:
            ranges: pairs of offset and length, in any order; they may overlap.

        Raises:
            OSError: one of them cannot be read.
        """
        return [read_rest(self.read, self.read(offset, length), offset, length) for offset, length in ranges]

    @property
    def version(self) -> str | None:
        """A name of the content: files with the same name and the same version have the same bytes. None: unknown."""
        return None

    @property
    def read_bytes(self) -> int:
        """How many neighbouring bytes a reader asks for at once, 1 or more, unless one block is larger; 4 MiB.

        More than 4 MiB are for files of which each read takes long to begin. A reader then also asks for small extents
        before it comes to them, several with one call of ``read_ranges``, up to twice as many bytes.
        """
        return READ_BYTES


def read_rest(read: Callable[[int, int], Bytes], raw: Bytes, offset: int, length: int) -> Bytes | bytes:
    """Complete a read: return ``length`` bytes from an offset, or those up to the end of the file.

    Args:
        read: reads from an offset at most as many bytes as it is given.
        raw: what the first read from ``offset`` returned.
        offset: where the bytes begin.
        length: how many there should be.
    """
    if len(raw) == length or not raw:
        return raw
    parts = [raw]
    done = len(raw)
    while raw and done < length:
        raw = read(offset + done, length - done)
        parts.append(raw)
        done += len(raw)
    return b"".join(parts)


def as_os_error(call: Callable[[], Result]) -> Result:
    """Make a call of another library, and turn an exception of any other type into an OSError.

    An error of a missing or forbidden file gets the number that the system would give it.
    """
    try:
        return call()
    except FaroError:
        raise
    except OSError as fault:
        number = next((number for kind, number in _ERRNOS.items() if isinstance(fault, kind)), None)
        if fault.errno is not None or number is None:
            raise
        raise OSError(number, os.strerror(number)) from fault
    except Exception as fault:
        raise OSError(f"{type(fault).__name__}: {fault}") from fault


def closed() -> FaroError:
    """Return the error for a file that is read after it was closed."""
    return invalid("an open file", "a closed one")


def check_methods(argument: str, file: object) -> None:
    """Refuse an object that lacks a part of a stored file; looked up without calling anything."""
    for name in _METHODS:
        if inspect.getattr_static(file, name, _METHODS) is _METHODS:
            found = arguments.shown(file)
            raise invalid(f"{argument}: a StoredFile, for example MemoryFile(data)", f"{found} without {name}")
