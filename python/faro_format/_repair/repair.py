"""Repairs an unfinished output to its last commit (REP-1 to REP-4)."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Literal

import numpy as np

from faro_format import _arguments as arguments
from faro_format._block.block import KIND_FOOTER, encode_metadata
from faro_format._bytes.header import KNOWN_WRITER_FEATURES, FileHeader
from faro_format._bytes.tail import TAIL_SIZE, encode_tail
from faro_format._dictionaries import DictionaryEntry
from faro_format._error import ErrorCode, FaroError, Place
from faro_format._follow.walk import Walk
from faro_format._index.regions import Entry
from faro_format._limits import DEFAULT_LIMITS, Limits, check_limits
from faro_format._message.build import build_footer
from faro_format._message.messages import DICTIONARY, ENTRY
from faro_format._reader.opening import Files, open_files, open_finished
from faro_format._storage.input_file import InputFile
from faro_format._storage.names import Path, paths_to_read

_NONE: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True)
class RepairReport:
    """The result of a repair, or of a dry run. Cut bytes are counted in the original files."""

    action: Literal["nothing", "last-commit", "rebuilt"]
    regions: int
    data_kept: int
    """Bytes; 0 for a single file."""
    data_cut: int
    index_kept: int
    """Bytes of the index or single file before footer and tail."""
    index_cut: int
    blocks: int | None = None
    """Partition blocks found by a rebuild."""
    orphaned: int = 0
    """Shared blocks that no partition reads any more."""
    lost: tuple[str, ...] = ()
    """What a rebuild cannot restore, for people."""
    fault: FaroError | None = None
    """The fault of the block at which a rebuild stopped: it and everything after it were cut off (REP-5). None if all
    blocks of the data file were used, or the index was not rebuilt."""

    def _said(self) -> tuple[object, ...]:
        values = (getattr(self, one.name) for one in fields(self))
        return tuple(str(value) if isinstance(value, FaroError) else value for value in values)

    def __eq__(self, other: object) -> bool:
        """Whether both say the same. Exceptions have no equality, so faults are compared by their text."""
        return self._said() == other._said() if isinstance(other, RepairReport) else NotImplemented

    def __hash__(self) -> int:
        """The hash of what it says."""
        return hash(self._said())


def repair(
    name: Path | None = None,
    *,
    data: Path | None = None,
    index: Path | None = None,
    single: Path | None = None,
    limits: Limits = DEFAULT_LIMITS,
    dry_run: bool = False,
) -> RepairReport:
    """Make a finished output from an unfinished one, with exactly its committed regions (REP-1 to REP-4).

    Args:
        name: its NAME (PUB-1), or its files instead:
        data: the path of the data file.
        index: the path of the index file.
        single: the path of a single file, instead.
        limits: the limits of the reader.
        dry_run: whether to change nothing.

    Raises:
        FaroError: a fault other than a torn end; the files stay as they are.
    """
    limits, dry_run = check_limits(limits), arguments.flag("dry_run", dry_run)
    files, header = open_files(paths_to_read(name, data, index, single))
    try:
        return mend(files, header, limits, dry_run=dry_run)
    finally:
        files.close()


def mend(
    files: Files, header: FileHeader, limits: Limits, *, dry_run: bool, held: Mapping[str, int] = _NONE
) -> RepairReport:
    """Do as :func:`repair` with files that are open.

    Args:
        files: the output.
        header: of its index or single file.
        limits: the limits of the reader.
        dry_run: whether to change nothing.
        held: descriptors for writing, by path, of files whose record locks must not be lost: to close another
            descriptor of such a file would lose it.
    """
    known_features(header, files.index.place)
    data_size = files.data.size if files.paired else 0
    try:
        opened = open_finished(files, header, limits)
        regions = int(opened.footer.regions.size)
        return RepairReport("nothing", regions, data_size, 0, files.index.size, 0)
    except FaroError as fault:
        if fault.code == ErrorCode.IO:
            raise
    walk = Walk(files, header, limits, repairing=True)
    walk.go_on()
    kept = walk.kept_end
    ending = _ending(walk)
    size = files.index.size
    # After an accepted footer the right tail may be there already; then only the data file was too long.
    same = walk.footer is not None and files.index.read(kept, TAIL_SIZE + 1) == ending
    data_kept = walk.data_end if files.paired else 0
    report = RepairReport(
        "last-commit",
        len(walk.regions),
        data_kept,
        max(data_size - data_kept, 0),
        kept,
        0 if same else size - kept,
    )
    if not dry_run:
        if files.paired:
            rewrite(files.data, data_kept, b"", held)
        rewrite(files.index, kept, ending, held)
    return report


def _ending(walk: Walk) -> bytes:
    """Return what follows the part that is kept: footer and tail, or the tail alone."""
    if walk.footer is not None:
        return encode_tail(walk.footer_offset, walk.footer_size)
    data_size = walk.data_end if walk.paired else walk.kept_end
    return ending_of(walk.seed, walk.regions, walk.dictionaries, data_size, walk.kept_end, walk.sequence, "last-commit")


def ending_of(
    seed: int,
    regions: list[Entry],
    dictionaries: list[DictionaryEntry],
    data_size: int,
    offset: int,
    sequence: int,
    how: str,
) -> bytes:
    """Return a repaired file's footer block and tail (REP-3)."""
    rows = [(e.message_offset, e.message_size, 0, e.data_offset, e.data_length) for e in regions]
    message = build_footer(
        regions=np.array(rows, ENTRY),
        data_size=data_size,
        properties={"faro.repair": how},
        dictionaries=np.array([(d.offset, d.size, 0) for d in dictionaries], DICTIONARY),
    )
    return encode_metadata(seed, KIND_FOOTER, sequence, message) + encode_tail(offset, len(message))


def rewrite(file: InputFile, kept: int, ending: bytes, held: Mapping[str, int] = _NONE) -> None:
    """Cut a file, append to it, and sync it (REP-10)."""
    path = file.place.path
    try:
        with open(held[path], "r+b", 0, closefd=False) if path in held else open(path, "r+b", buffering=0) as raw:
            # Not the file's own truncate(), which does not retry after a signal.
            os.ftruncate(raw.fileno(), kept)
            raw.seek(kept)
            rest = memoryview(ending)
            while rest:
                # A full disk may accept a part of it, and report an error at the next call.
                written = raw.write(rest)
                if not written:
                    raise OSError(errno.EIO, "nothing is written, and no reason given")
                rest = rest[written:]
            os.fsync(raw.fileno())
    except OSError as fault:
        raise file.place.io(fault, "to rewrite the end of the file") from fault


def known_features(header: FileHeader, place: Place) -> None:
    """Raise ``unsupported-feature`` for a file that this library must not change (REP-9)."""
    unknown = header.writer_features & ~KNOWN_WRITER_FEATURES
    if unknown:
        raise place.error(ErrorCode.UNSUPPORTED_FEATURE, 20, "known writer features", f"{unknown:#x}")
