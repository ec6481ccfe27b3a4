"""The stored file or files of one output, and which output a caller names."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from faro_format import _arguments as arguments
from faro_format._error import invalid
from faro_format._storage.names import OutputPaths, Path, check_given, paths_to_read
from faro_format._storage.remote_output import Attempt, open_remote
from faro_format._storage.stored_file import StoredFile, check_methods


class StoredOutput:
    """The file or files of one output, for :class:`faro_format.Reader` and :func:`faro_format.check`.

    Made by :meth:`paired` or :meth:`single`. The reader or the check that opens it takes its files over. It closes
    them in the end, and when opening fails.
    """

    __slots__ = ("_data", "_index")
    _index: StoredFile | Attempt | str
    """The index file, or the single file. A text is a local path."""
    _data: StoredFile | Attempt | str | None

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
            if file is not None and not isinstance(file, str):
                with contextlib.suppress(OSError):
                    file.close()


def _made(index: StoredFile | Attempt | str, data: StoredFile | Attempt | str | None) -> StoredOutput:
    made = StoredOutput.__new__(StoredOutput)
    made._index, made._data = index, data
    return made


def output_to_read(
    name: Path | None,
    data: Path | None,
    index: Path | None,
    single: Path | None,
    stored: StoredOutput | None,
    options: Mapping[str, Any] | None,
) -> OutputPaths | StoredOutput:
    """Return the output that a caller names by its paths or URLs, or gives as a :class:`StoredOutput`.

    Raises:
        FaroError: ``invalid-argument`` if it is both, or no such object; as :func:`paths_to_read`.
        ImportError: fsspec, or its package for a protocol, is not installed.
    """
    if options is not None and not isinstance(options, Mapping):
        raise invalid("storage_options: a dict of options of the filesystem", arguments.shown(options))
    remote = stored is None and any(map(arguments.is_url, (name, data, index, single)))
    if options is not None and not remote:
        raise invalid("storage_options with a URL only", "no URL")
    if remote:
        check_given(name, data, index, single)
        return _made(*open_remote(name, data, index, single, options or {}))
    if stored is None:
        return paths_to_read(name, data, index, single)
    arguments.instance("stored", stored, StoredOutput, "StoredOutput.single(MemoryFile(data))")
    if not (name is None and data is None and index is None and single is None):
        raise invalid("a path, or stored", "both of them")
    return stored
