"""Outputs whose files have URLs that fsspec knows (PUB-1, FIL-1)."""

from __future__ import annotations

import errno
import posixpath
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Literal

from faro_format import _arguments as arguments
from faro_format._error import ErrorCode, FaroError, invalid
from faro_format._fsspec import filesystem_of
from faro_format._storage.names import DATA, INDEX, SINGLE, Path, split_remote
from faro_format._storage.remote_file import FETCH, WHOLE, RemoteFile
from faro_format._storage.stored_file import StoredFile

Fetch = tuple[Literal["end", "start"], int]

# Opening reads the header of a data file, and the header and the end of others. Most indexes are read whole.
_SINGLE: Fetch = ("end", FETCH)
_DATA: Fetch = ("start", FETCH)
_INDEX: Fetch = ("end", WHOLE)


class Attempt:
    """A file that was opened, or the error; it is reported when the reader comes to the file, in the order of OPN-1."""

    __slots__ = ("_result", "name")

    def __init__(self, filesystem: Any, path: str, fetch: Fetch) -> None:  # noqa: ANN401 - fsspec has no types
        """Open a file."""
        self.name = shown_url(filesystem.unstrip_protocol(path))
        self._result: RemoteFile | OSError
        try:
            self._result = RemoteFile(filesystem, path, name=self.name, fetch=fetch[0], fetch_bytes=fetch[1])
        except OSError as fault:
            self._result = fault

    @property
    def missing(self) -> bool:
        """Whether there is no such file."""
        return isinstance(self._result, FileNotFoundError)

    @property
    def found(self) -> bool:
        """Whether there is such a file; a store may forbid to ask for one that is missing."""
        return not isinstance(self._result, (FileNotFoundError, PermissionError))

    def take(self) -> StoredFile:
        """Return the open file, or raise the OSError."""
        if isinstance(self._result, OSError):
            raise self._result
        return self._result

    def close(self) -> None:
        """Close the file, if it is open."""
        if not isinstance(self._result, OSError):
            self._result.close()


Opened = tuple[Attempt | str, Attempt | str | None]
"""The index file and the data file; or the single file, and None. A text is a local path."""


def open_remote(
    name: Path | None, data: Path | None, index: Path | None, single: Path | None, options: Mapping[str, Any]
) -> Opened:
    """Open the files of an output that a caller names as for local files, some by URLs; those of a pair at once.

    Raises:
        FaroError: ``invalid-argument``, as for local files; ``io`` if there is no file of that NAME.
    """
    if name is not None:
        return _by_name(str(name), options)
    if single is not None:
        return _opening(single, _SINGLE, options)(), None
    first, second = _opening(index, _INDEX, options), _opening(data, _DATA, options)
    with ThreadPoolExecutor(2) as threads:
        running = threads.submit(first), threads.submit(second)
        return running[0].result(), running[1].result()


def _opening(file: Path | None, fetch: Fetch, options: Mapping[str, Any]) -> Callable[[], Attempt | str]:
    """Return the call that opens a file. The filesystem is made here: fsspec keeps one for each thread."""
    if arguments.is_url(file):
        return partial(Attempt, *filesystem_of(str(file), options), fetch)
    return partial(arguments.path, "file", file)


def _by_name(url: str, options: Mapping[str, Any]) -> Opened:
    filesystem, path = filesystem_of(url, options)
    base, layout = split_remote(path)
    wanted: dict[str, Fetch] = {}
    if layout != "paired":
        wanted[SINGLE] = _SINGLE
    if layout != "single":
        wanted |= {INDEX: _INDEX, DATA: _DATA}
    # At once: three answers, of which one or two say that there is no such file, take as long as one.
    with ThreadPoolExecutor(len(wanted)) as threads:
        running = {
            ending: threads.submit(Attempt, filesystem, base + ending, fetch) for ending, fetch in wanted.items()
        }
        opened = {ending: attempt.result() for ending, attempt in running.items()}
    if layout == "single":
        return opened[SINGLE], None
    pair = opened[INDEX], opened[DATA]
    shown = shown_url(filesystem.unstrip_protocol(base))
    if layout is None:
        has_single, has_pair = opened[SINGLE].found, any(attempt.found for attempt in pair)
        if has_single and has_pair:
            raise invalid(f"one output of this NAME; say {shown + SINGLE!r} or {shown + DATA!r}", "both layouts")
        if has_single:
            return opened[SINGLE], None
    if not all(attempt.missing for attempt in opened.values()):
        return pair
    if layout is None:
        exactly = Attempt(filesystem, base, _SINGLE)
        if not exactly.missing:
            return exactly, None
    endings = "NAME.faro, or NAME.data and NAME.index" if layout is None else "NAME.data and NAME.index"
    expected = f"an output {posixpath.basename(shown)!r}: {endings}"
    file = pair[0].name
    raise FaroError(ErrorCode.IO, expected, "none of these files", file=file, role="index", errno=errno.ENOENT)


def shown_url(url: str) -> str:
    """Return a URL as errors show it: without a password, and without the query of HTTP, which may be a signature."""
    head, mark, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    if head.endswith(("http", "https")):
        path = path.partition("?")[0]
    return head + mark + host.rpartition("@")[2] + slash + path
