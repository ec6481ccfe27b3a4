"""The outputs in a folder, local or in an object store."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from faro_format import _arguments as arguments
from faro_format._error import ErrorCode, FaroError, Place
from faro_format._fsspec import filesystem_of
from faro_format._storage.names import DATA, INDEX, SINGLE

_DIGITS = re.compile("([0-9]+)")


def outputs_in(folder: str, options: Mapping[str, Any] | None, *, recursive: bool) -> list[str]:
    """Return the outputs of a folder, each by the name of one of its files; ``map-9`` before ``map-10``.

    Args:
        folder: a path, or a URL of fsspec.
        options: with a URL, what fsspec passes to the filesystem.
        recursive: whether folders in it are searched too; links to folders are not followed.

    Raises:
        FaroError: ``io`` if it is not a folder, or cannot be read.
    """
    place = Place(None, folder)
    try:
        if arguments.is_url(folder):
            return _by_output(_remote(folder, options or {}, recursive))
        return _by_output(_local(folder, recursive))
    except OSError as fault:
        raise place.io(fault, "a folder with outputs") from fault


def _local(folder: str, recursive: bool) -> Iterator[str]:
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if recursive:
                        waiting.append(entry.path)
                else:
                    yield entry.path


def _remote(url: str, options: Mapping[str, Any], recursive: bool) -> Iterator[str]:
    filesystem, path = filesystem_of(url, options)
    found = filesystem.find(path, maxdepth=None if recursive else 1)
    if not found and not filesystem.isdir(path):
        raise FaroError(ErrorCode.IO, "a folder with outputs", "no such folder", file=url, errno=2)
    return (filesystem.unstrip_protocol(name) for name in found)


def _by_output(paths: Iterable[str]) -> list[str]:
    """Return one file of each output; of a pair that of the index, if there is one."""
    found: dict[tuple[str, bool], str] = {}
    for path in paths:
        for ending in (SINGLE, INDEX, DATA):
            base = path.removesuffix(ending)
            if base != path and os.path.basename(base) not in ("", ".", ".."):
                key = (base, ending == SINGLE)
                if ending != DATA or key not in found:
                    found[key] = path
    return sorted(found.values(), key=_in_order)


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
