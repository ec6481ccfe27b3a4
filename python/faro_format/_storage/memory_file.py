"""A file in memory."""

from __future__ import annotations

from typing import Any

from faro_format import _arguments as arguments
from faro_format._bytes.buffers import as_bytes
from faro_format._error import invalid
from faro_format._storage.stored_file import StoredFile, closed


class MemoryFile(StoredFile):
    """A file in memory, which is not copied: what is read are read-only views of it.

    The caller does not change the bytes while the file or anything read from it is in use.
    """

    def __init__(self, data: Any, name: str = "memory") -> None:  # noqa: ANN401 - any contiguous buffer
        """Use bytes, or any other contiguous buffer, as a file.

        Args:
            data: its bytes.
            name: what errors call it.

        Raises:
            FaroError: ``invalid-argument``.
        """
        self._data: memoryview | None = as_bytes(data, "data").toreadonly()
        self._name = arguments.text("name", name)
        self._size = self._data.nbytes

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self._size

    @property
    def name(self) -> str:
        """What errors call it."""
        return self._name

    def read(self, offset: int, length: int) -> memoryview:
        """Return a view of the file; see :class:`StoredFile`."""
        data = self._data
        if data is None:
            raise closed()
        if offset < 0 or length < 0:
            # A slice would count them from the end.
            raise invalid("an offset and a length of 0 or more", f"{offset} and {length}")
        return data[offset : offset + length]

    def close(self) -> None:
        """Let go of the bytes; views of them that were read stay valid."""
        self._data = None
