"""The stored file or files of one output, and which output a caller names."""

from __future__ import annotations

import contextlib
import inspect
from dataclasses import dataclass

from faro_format import _arguments as arguments
from faro_format._error import invalid
from faro_format._storage.names import OutputPaths, Path, paths_to_read
from faro_format._storage.stored_file import StoredFile

_NEEDED = ("size", "name", "read", "read_ranges", "version", "close")


@dataclass(frozen=True)
class StoredOutput:
    """The file or files of one output, for :class:`faro_format.Reader` and :func:`faro_format.check`.

    Made by :meth:`paired` or :meth:`single`. Whoever opens it takes its files over, and closes them, also if opening
    fails.
    """

    _index: StoredFile
    _data: StoredFile | None = None

    @staticmethod
    def paired(data: StoredFile, index: StoredFile) -> StoredOutput:
        """Return an output that is a pair.

        Args:
            data: the data file.
            index: the index file.

        Raises:
            FaroError: ``invalid-argument`` for anything else than a :class:`StoredFile`.
        """
        _check("data", data)
        _check("index", index)
        return StoredOutput(index, data)

    @staticmethod
    def single(file: StoredFile) -> StoredOutput:
        """Return an output that is a single file.

        Raises:
            FaroError: ``invalid-argument`` for anything else than a :class:`StoredFile`.
        """
        _check("file", file)
        return StoredOutput(file)

    def _close(self) -> None:
        """Close the files."""
        for file in (self._index, self._data):
            if file is not None:
                with contextlib.suppress(OSError):
                    file.close()


def _check(argument: str, file: object) -> None:
    """Refuse an object that lacks a part of a stored file; looked up without calling anything."""
    for name in _NEEDED:
        if inspect.getattr_static(file, name, None) is None:
            found = arguments.shown(file)
            raise invalid(f"{argument}: a StoredFile, for example MemoryFile(data)", f"{found} without {name}")


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
