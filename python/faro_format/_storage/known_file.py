"""A stored file of which some bytes are in memory, so that they need no read."""

from __future__ import annotations

from collections.abc import Sequence

from faro_format._storage.stored_file import Buffer, Range, StoredFile


class KnownFile(StoredFile):
    """A file that was just written: what opening it reads is known."""

    def __init__(self, file: StoredFile, known: Sequence[tuple[int, bytes]]) -> None:
        """Take a file over.

        Args:
            file: where the bytes are.
            known: some of them, each part with the offset where it begins.
        """
        self._file = file
        self._known = known

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self._file.size

    @property
    def name(self) -> str:
        """What errors call it."""
        return self._file.name

    @property
    def version(self) -> str | None:
        """The name of its content."""
        return self._file.version

    @property
    def read_bytes(self) -> int:
        """How much a reader asks for at once."""
        return self._file.read_bytes

    def read(self, offset: int, length: int) -> Buffer:
        """Return bytes from memory if all of them are there, else from the file."""
        for begin, data in self._known:
            if begin <= offset and offset + length <= begin + len(data):
                return data[offset - begin : offset - begin + length]
        return self._file.read(offset, length)

    def read_ranges(self, ranges: Sequence[Range]) -> Sequence[Buffer]:
        """Return the bytes of several ranges of the file."""
        return self._file.read_ranges(ranges)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
