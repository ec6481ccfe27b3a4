"""The stored file or files of one output, and which output a caller names."""

from __future__ import annotations

import contextlib

from faro_format import _arguments as arguments
from faro_format._error import invalid
from faro_format._storage.names import OutputPaths, Path, paths_to_read
from faro_format._storage.stored_file import StoredFile, check_methods


class StoredOutput:
    """The file or files of one output, for :class:`faro_format.Reader` and :func:`faro_format.check`.

    Made by :meth:`paired` or :meth:`single`. The reader or the check that opens it takes its files over. It closes
    them in the end, and when opening fails.
    """

    __slots__ = ("_data", "_index")
    _index: StoredFile
    """The index file, or the single file."""
    _data: StoredFile | None

    def __init__(self) -> None:
        """Not for callers."""
        raise TypeError("not constructed by callers: StoredOutput.paired() and single() make it")

    @staticmethod
    def paired(data: StoredFile, index: StoredFile) -> StoredOutput:
        """Return an output that is a pair.

        Args:
            data: the data file.
            index: the index file.

        Raises:
            FaroError: ``invalid-argument`` for anything else than a :class:`StoredFile`.
        """
        check_methods("data", data)
        check_methods("index", index)
        return _made(index, data)

    @staticmethod
    def single(file: StoredFile) -> StoredOutput:
        """Return an output that is a single file.

        Raises:
            FaroError: ``invalid-argument`` for anything else than a :class:`StoredFile`.
        """
        check_methods("file", file)
        return _made(file, None)

    def _close(self) -> None:
        """Close the files."""
        for file in (self._index, self._data):
            if file is not None:
                with contextlib.suppress(OSError):
                    file.close()


def _made(index: StoredFile, data: StoredFile | None) -> StoredOutput:
    made = StoredOutput.__new__(StoredOutput)
    made._index, made._data = index, data
    return made


def output_to_read(
    name: Path | None, data: Path | None, index: Path | None, single: Path | None, stored: StoredOutput | None
) -> OutputPaths | StoredOutput:
    """Return the output that a caller names by its paths, or gives as a :class:`StoredOutput`.

    Raises:
        FaroError: ``invalid-argument`` if it is both, or no such object; as :func:`paths_to_read`.
    """
    if stored is None:
        return paths_to_read(name, data, index, single)
    arguments.instance("stored", stored, StoredOutput, "StoredOutput.single(MemoryFile(data))")
    if not (name is None and data is None and index is None and single is None):
        raise invalid("a path, or stored", "both of them")
    return stored
