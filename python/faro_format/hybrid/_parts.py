"""A file of an image: its bytes are in memory, in a file, or nowhere any more."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import dataclass, field

from faro_format._storage.stored_file import StoredFile

SAME: list[tuple[int, int, int]] = []
"""The bytes of a part are where they are in the image."""


@dataclass
class Part:
    """Bytes that come and go together."""

    start: int
    end: int
    chunks: list[bytes] | None = field(default_factory=list)
    """None once they have left the memory."""
    location: list[tuple[int, int, int]] | None = None
    """Where they are in the file: ascending (start and end in the image, start in the file); None if they are not."""

    def find(self, offset: int) -> tuple[int, int] | None:
        """Return the offset in the file of a byte, and the end in the image of the bytes that follow it there."""
        if self.location is SAME:
            return offset, self.end
        for start, end, in_file in self.location or ():
            if start <= offset < end:
                return in_file + offset - start, end
        return None


class ImageFile(StoredFile):
    """A file of an image, for its store and for readers."""

    def __init__(self, name: str, stored: Callable[[], StoredFile]) -> None:
        """Begin without a byte.

        Args:
            name: for errors.
            stored: opens the file that has what is not in memory.
        """
        self._name = name
        self._stored = stored
        self._opened: StoredFile | None = None
        self._starts: list[int] = []
        self._parts: list[Part] = []
        self._size = 0
        self.from_memory = 0
        """The bytes that were read from memory."""
        self.from_file = 0
        """The bytes that were read from the file."""

    def begin(self) -> Part:
        """Begin a part at the end."""
        part = Part(self._size, self._size)
        self._starts.append(self._size)
        self._parts.append(part)
        return part

    def append(self, chunk: bytes) -> None:
        """Add bytes to the last part."""
        part = self._parts[-1]
        if part.chunks is not None:
            part.chunks.append(chunk)
        part.end += len(chunk)
        self._size = part.end

    def clear(self) -> None:
        """Forget all bytes, and close the file."""
        self._starts.clear()
        self._parts.clear()
        if self._opened is not None:
            self._opened.close()

    @property
    def size(self) -> int:
        """The size in bytes; it grows."""
        return self._size

    @property
    def name(self) -> str:
        """The name of the file that may be made."""
        return self._name

    @property
    def read_bytes(self) -> int:
        """128 KiB, because a reader copies what it asks for."""
        return 128 << 10

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes of the image, from wherever they are."""
        if offset >= self._size or not length:
            return b""
        at = bisect.bisect_right(self._starts, offset) - 1
        if at < 0:
            raise OSError("the store was closed")
        part = self._parts[at]
        length = min(length, part.end - offset)
        if part.chunks is not None:
            self.from_memory += length
            return _cut(part.chunks, offset - part.start, length)
        found = part.find(offset)
        if found is None:
            raise OSError(f"the bytes at {offset} were delivered, and are not kept")
        in_file, end = found
        if self._opened is None:
            self._opened = self._stored()
        raw = bytes(self._opened.read(in_file, min(length, end - offset)))
        self.from_file += len(raw)
        return raw

    def close(self) -> None:
        """Do nothing: the store gives up the bytes."""


def _cut(chunks: list[bytes], skip: int, length: int) -> bytes:
    parts = []
    for chunk in chunks:
        if skip >= len(chunk):
            skip -= len(chunk)
            continue
        part = chunk[skip : skip + length]
        parts.append(part)
        length -= len(part)
        skip = 0
        if not length:
            break
    return parts[0] if len(parts) == 1 else b"".join(parts)
