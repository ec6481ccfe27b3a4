"""Opening whatever holds outputs: a NAME, a file, bytes, a URL, or a folder."""

from __future__ import annotations

import io
import mmap
import os
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO, overload

from faro_format import _arguments as arguments
from faro_format._error import ErrorCode, FaroError, Place, invalid
from faro_format._fsspec import filesystem_of
from faro_format._limits import DEFAULT_LIMITS, Limits
from faro_format._reader.reader import Lookup, Reader
from faro_format._shuffle.shuffle import Progress, Shuffle
from faro_format._storage.memory_file import MemoryFile
from faro_format._storage.names import DATA, INDEX, SINGLE, Path
from faro_format._storage.seekable_file import SeekableFile
from faro_format._storage.stored_file import StoredFile
from faro_format._storage.stored_output import StoredOutput

Bytes = bytes | bytearray | memoryview | mmap.mmap
_WANTED = (
    "source: the NAME, file or URL of an output, the bytes of a single file, an open binary file, a folder, or a list "
    "of NAMEs"
)


@overload
def open(
    source: Bytes | BinaryIO | io.RawIOBase | io.BufferedIOBase,
    *,
    storage_options: Mapping[str, Any] | None = ...,
    limits: Limits = ...,
    verify: bool = ...,
    lookup: Lookup = ...,
    recursive: bool = ...,
    progress: Progress | None = ...,
) -> Reader: ...


@overload
def open(
    source: Path,
    *,
    storage_options: Mapping[str, Any] | None = ...,
    limits: Limits = ...,
    verify: bool = ...,
    lookup: Lookup = ...,
    recursive: bool = ...,
    progress: Progress | None = ...,
) -> Reader | Any: ...  # noqa: ANN401 - a Shuffle, if the path is that of a folder


@overload
def open(
    source: list[Any] | tuple[Path, ...],
    *,
    storage_options: Mapping[str, Any] | None = ...,
    limits: Limits = ...,
    verify: bool = ...,
    lookup: Lookup = ...,
    recursive: bool = ...,
    progress: Progress | None = ...,
) -> Shuffle: ...


def open(
    source: Any,
    *,
    storage_options: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    verify: bool = True,
    lookup: Lookup = "full",
    recursive: bool = True,
    progress: Progress | None = None,
) -> Any:
    """Open an output, or a whole shuffle.

    ::

        reader = faro_format.open("orders")            # orders.faro, or orders.data and orders.index
        shuffle = faro_format.open("shuffles/12")      # all outputs in a folder

    Type checkers take what a path leads to for a :class:`Reader`; where it is a folder, use :class:`Shuffle` itself.

    Args:
        source: an output: its NAME, one of its files, or a URL of fsspec, such as ``s3://bucket/orders``; or the bytes
            of a single file, or an open binary file of it that can seek, which the reader takes over and closes. A
            shuffle: a folder, with a URL too, or a list of NAMEs or URLs. If there are an output and a folder of one
            name, a separator at the end means the folder.
        storage_options: with URLs, what fsspec passes to the filesystem.
        limits: of each reader.
        verify: whether the checksums of partition blocks are verified (INT-7).
        lookup: as that of :class:`Reader`; of an output.
        recursive: whether folders in the folder are searched too; of a shuffle.
        progress: called with how many footers were read, and how many there are; of a shuffle.

    Returns:
        A :class:`Reader` of an output, or a :class:`Shuffle`.

    Raises:
        FaroError: what :class:`Reader` and :class:`Shuffle` raise.
    """
    reading: dict[str, Any] = {"limits": limits, "verify": verify}
    arguments.choice("lookup", lookup, ("full", "direct"))
    shuffling = {**reading, "storage_options": storage_options, "recursive": recursive, "progress": progress}
    if isinstance(source, (str, os.PathLike)):
        if arguments.is_url(source):
            return _remote(str(source), lookup, reading, shuffling)
        path = arguments.path("source", source)
        if _is_folder(path):
            return Shuffle(path, **shuffling)
        return Reader(path, storage_options=storage_options, lookup=lookup, **reading)
    stored = _stored(source)
    if stored is not None:
        return Reader(stored=stored, storage_options=storage_options, lookup=lookup, **reading)
    if isinstance(source, Iterable) and not isinstance(source, (io.IOBase, Mapping)):
        return Shuffle(source, **shuffling)
    raise invalid(_WANTED, arguments.shown(source))


def _stored(source: object) -> StoredOutput | None:
    """Return bytes or an open file as an output, None if it is neither."""
    if isinstance(source, (bytes, bytearray, memoryview, mmap.mmap)):
        if len(source) == 0:
            raise invalid(_WANTED, "no bytes")
        return StoredOutput.single(MemoryFile(source, "bytes in memory"))
    if isinstance(source, io.TextIOBase):
        raise invalid(_WANTED, "a file that is open as text")
    if isinstance(source, io.IOBase) or (hasattr(source, "seek") and hasattr(source, "read")):
        try:
            file: StoredFile = SeekableFile(source)
        except OSError as fault:
            wanted = "an open binary file that tells its size"
            raise Place(None, f"a {type(source).__name__}").io(fault, wanted) from fault
        return StoredOutput.single(file)
    return None


def _is_folder(path: str) -> bool:
    """Whether a path means a folder: there is one, and no output of this NAME, unless the path says that it is one."""
    if not os.path.isdir(path):
        return False
    base = path.rstrip(os.sep + (os.altsep or ""))
    if base != path or os.path.basename(base) in ("", ".", ".."):
        return True
    return not any(os.path.lexists(base + ending) for ending in (SINGLE, DATA, INDEX))


def _remote(url: str, lookup: Lookup, reading: dict[str, Any], shuffling: dict[str, Any]) -> Reader | Shuffle:
    """Open an output by its URL, or a folder if there is no such output."""
    options = shuffling["storage_options"]
    # Without a folder, separators at the end of a NAME mean nothing (PUB-1).
    if url.endswith("/") and _is_remote_folder(url, options or {}):
        return Shuffle(url, **shuffling)
    try:
        return Reader(url, storage_options=options, lookup=lookup, **reading)
    except FaroError as fault:
        if fault.code != ErrorCode.IO or not _is_remote_folder(url, options or {}):
            raise
    return Shuffle(url, **shuffling)


def _is_remote_folder(url: str, options: Mapping[str, Any]) -> bool:
    filesystem, path = filesystem_of(url, options)
    if not path.strip("/"):
        # A whole store is not a shuffle, and some stores refuse to list it.
        return False
    try:
        return bool(filesystem.isdir(path))
    except OSError:
        # Why the output cannot be opened says more.
        return False
