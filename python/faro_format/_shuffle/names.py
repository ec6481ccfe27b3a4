"""The outputs in a folder, local or in an object store."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from faro_format import _arguments as arguments
from faro_format._bytes.header import HEADER_SIZE, FileKind, parse_header
from faro_format._error import ErrorCode, FaroError, Place
from faro_format._fsspec import filesystem_of
from faro_format._storage.names import DATA, INDEX, SINGLE

_DIGITS = re.compile("([0-9]+)")
_KINDS = {INDEX: FileKind.INDEX, DATA: FileKind.DATA}
"""The files of a pair. The index is usually enough to know a pair."""


@dataclass(frozen=True)
class Found:
    """What a folder has."""

    paths: list[str]
    """The outputs, each by the name of one of its files; ``map-9`` before ``map-10``."""
    other_files: int
    """Files of no output: those of other programs, and those that writers have not published."""


@dataclass(frozen=True)
class _Listed:
    """A file of a folder."""

    folder: str
    """The folder as the system knows it: links can lead to it under other names."""
    path: str
    size: int | None = None
    """Its size, if the listing says it."""


def outputs_in(folder: str, options: Mapping[str, Any] | None, *, recursive: bool) -> Found:
    """Return the outputs of a folder.

    ``NAME.faro`` is an output, and so are ``NAME.data`` and ``NAME.index`` if one of them begins as a file of Faro
    does; the other may be missing, which opening it reports. All other files are passed over.

    Args:
        folder: a path, or a URL of fsspec.
        options: with a URL, what fsspec passes to the filesystem.
        recursive: whether folders in it are searched too; links to folders are followed, and no folder is searched
            twice.

    Raises:
        FaroError: ``io`` if it is not a folder, or cannot be read.
    """
    place = Place(None, folder)
    try:
        if arguments.is_url(folder):
            return _remote(folder, options or {}, recursive)
        singles, pairs, others = _sorted_out(_local(folder, recursive))
        known = [pair for pair in pairs if any(map(_begins_so, pair.values()))]
    except OSError as fault:
        raise place.io(fault, "a folder with outputs") from fault
    return _found(singles, pairs, known, others)


def _local(folder: str, recursive: bool) -> Iterator[_Listed]:
    waiting, searched = [folder], set()
    while waiting:
        now = waiting.pop()
        real = os.path.realpath(now)
        if real in searched:
            continue
        searched.add(real)
        with os.scandir(now) as entries:
            for entry in entries:
                if not entry.is_dir():
                    yield _Listed(real, entry.path)
                elif recursive:
                    waiting.append(entry.path)


def _begins_so(file: _Listed) -> bool:
    """Whether a local file of a pair begins as its name says. One that cannot be read does: opening it says why."""
    if not os.path.isfile(file.path):
        return False
    try:
        with open(file.path, "rb") as opened:
            return _is_faro(file.path, opened.read(HEADER_SIZE))
    except OSError:
        return True


def _is_faro(path: str, begin: bytes) -> bool:
    """Whether the first bytes are those of a file of Faro of the kind that its name says; a damaged header counts."""
    if not begin:
        return False
    try:
        return parse_header(begin, len(begin), Place(None, path)).kind == _KINDS[os.path.splitext(path)[1]]
    except FaroError as fault:
        return fault.code != ErrorCode.NOT_FARO


def _remote(url: str, options: Mapping[str, Any], recursive: bool) -> Found:
    filesystem, path = filesystem_of(url, options)
    found = filesystem.find(path, maxdepth=None if recursive else 1, detail=True)
    if not found and not filesystem.isdir(path):
        raise FaroError(ErrorCode.IO, "a folder with outputs", "no such folder", file=url, errno=2)
    files = (_Listed(os.path.dirname(name), name, about.get("size")) for name, about in found.items())
    singles, pairs, others = _sorted_out(files)
    known: list[dict[str, _Listed]] = []
    rest = pairs
    for ending in _KINDS:
        asked = [pair[ending] for pair in rest if ending in pair and pair[ending].size != 0]
        begins = _remote_begins(filesystem, asked)
        known += [pair for pair in rest if ending in pair and begins.get(pair[ending].path, False)]
        rest = [pair for pair in rest if ending not in pair or not begins.get(pair[ending].path, False)]
    made = _found(singles, pairs, known, others)
    return Found([filesystem.unstrip_protocol(name) for name in made.paths], made.other_files)


def _remote_begins(filesystem: Any, files: list[_Listed]) -> dict[str, bool]:  # noqa: ANN401 - fsspec has no types
    """Return whether files of an object store begin as their names say; the requests run at the same time."""
    if not files:
        return {}
    paths = [file.path for file in files]
    ends = [HEADER_SIZE if file.size is None else min(HEADER_SIZE, file.size) for file in files]
    begins = filesystem.cat_ranges(paths, [0] * len(paths), ends, on_error="return")
    # A file that cannot be read counts: opening it says why.
    return {
        path: isinstance(begin, Exception) or _is_faro(path, bytes(begin))
        for path, begin in zip(paths, begins, strict=True)
    }


def _sorted_out(files: Iterable[_Listed]) -> tuple[list[_Listed], list[dict[str, _Listed]], int]:
    """Return the single files, the files that may be pairs by their endings, and the number of the others."""
    singles: list[_Listed] = []
    pairs: defaultdict[tuple[str, str], dict[str, _Listed]] = defaultdict(dict)
    others = 0
    for file in files:
        base, ending = os.path.splitext(os.path.basename(file.path))
        if base in ("", ".", "..") or ending not in (SINGLE, *_KINDS):
            others += 1
        elif ending == SINGLE:
            singles.append(file)
        else:
            pairs[file.folder, base][ending] = file
    return singles, list(pairs.values()), others


def _found(
    singles: list[_Listed], pairs: list[dict[str, _Listed]], known: list[dict[str, _Listed]], others: int
) -> Found:
    """Return the outputs, each by one file; a pair by its index, if there is one."""
    paths = [file.path for file in singles] + [(pair.get(INDEX) or pair[DATA]).path for pair in known]
    return Found(sorted(paths, key=_in_order), others + sum(map(len, pairs)) - sum(map(len, known)))


def _in_order(path: str) -> list[tuple[int, str]]:
    """Return what paths are sorted by: text as text, numbers by their size."""
    parts = _DIGITS.split(path)
    return [(len(part.lstrip("0")), part.lstrip("0")) if at % 2 else (0, part) for at, part in enumerate(parts)]


def without_ending(path: str) -> str:
    """Return the NAME of an output from that of one of its files."""
    for ending in (SINGLE, INDEX, DATA):
        if path.endswith(ending):
            return path.removesuffix(ending)
    return path
