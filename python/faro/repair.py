"""Recovery of an unfinished output to its last commit, and rebuilding of a lost index (REP)."""

from __future__ import annotations

import contextlib
import errno
import os
from dataclasses import dataclass
from typing import Literal

import numpy as np

from faro.block import (
    BLOCK_HEADER_SIZE,
    KIND_DICTIONARY,
    KIND_FOOTER,
    KIND_REGION,
    KIND_SCHEMA,
    NO_PARTITION,
    PARTITION_KINDS,
    Block,
    check_block,
    check_content,
    check_dictionary,
    check_dictionary_block,
    check_padding,
    check_sequence,
    encode_metadata,
)
from faro.canonical import build_footer, build_schema
from faro.dictionaries import DictionaryPlace
from faro.error import Code, FaroError, Place, invalid
from faro.header import FRAMING_ARROW, HEADER_SIZE, KIND_DATA, KIND_INDEX, KNOWN_WRITER_FEATURES, FileHeader
from faro.index import MAX_REGION, Entry
from faro.limits import DEFAULT_LIMITS, Limits
from faro.message import DICTIONARY, ENTRY
from faro.opening import TAIL_SIZE, encapsulation_fault, encode_tail, open_files, open_finished
from faro.output import OutputFile, sync_folder
from faro.reader import Path, output_paths
from faro.region_builder import BuiltExtent, region_message
from faro.source import SourceFile, Window, check_kind
from faro.walk import Walk

TEMPORARY = ".rebuild.tmp"
"""What a rebuilt index has behind its name until it is whole (REP-10)."""

LOST = (
    "members of shared extents, runs, statistics and properties",
    "regions missing at the end, if there were any",
    "whether the last blocks were ever committed",
)
"""What a rebuilt index can never have again (REP-8)."""


@dataclass(frozen=True)
class RepairReport:
    """What a repair did, or would do. Bytes cut are those of the files as they were."""

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
    """Shared blocks that nobody reads any more."""
    lost: tuple[str, ...] = ()


def repair(
    *,
    data: Path | None = None,
    index: Path | None = None,
    single: Path | None = None,
    limits: Limits = DEFAULT_LIMITS,
    dry_run: bool = False,
) -> RepairReport:
    """Make a finished output of an unfinished one: exactly its committed regions (REP-1 to REP-4).

    Args:
        data: the path of the data file.
        index: the path of the index file.
        single: the path of a single file, instead.
        limits: what the file may ask for.
        dry_run: whether to change nothing.

    Raises:
        FaroError: a fault that is no torn end; the files stay as they are.
    """
    files, header = open_files(*output_paths(data, index, single))
    try:
        _known_features(header, files.index.place)
        data_size = files.data.size if files.paired else 0
        try:
            opened = open_finished(files, header, limits)
            regions = int(opened.footer.regions.size)
            return RepairReport("nothing", regions, data_size, 0, files.index.size, 0)
        except FaroError as fault:
            if fault.code == Code.IO:
                raise
        walk = Walk(files, header, limits, repairing=True)
        walk.go_on()
        kept = walk.kept_end
        ending = _ending(walk)
        size = files.index.size
        # Behind an accepted footer the right tail may stand already; then it was the data file that was too long.
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
                _rewrite(files.data, data_kept, b"")
            _rewrite(files.index, kept, ending)
        return report
    finally:
        files.close()


def _ending(walk: Walk) -> bytes:
    """Return what is to stand behind what is kept: footer and tail, or the tail alone."""
    if walk.footer is not None:
        return encode_tail(walk.footer_offset, walk.footer_size)
    data_size = walk.data_end if walk.paired else walk.kept_end
    return _finish(walk.seed, walk.regions, walk.dictionaries, data_size, walk.kept_end, walk.sequence, "last-commit")


def _finish(
    seed: int,
    regions: list[Entry],
    dictionaries: list[DictionaryPlace],
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


def _rewrite(file: SourceFile, kept: int, ending: bytes) -> None:
    """Cut a file, append to it, and bring that to the device (REP-10)."""
    try:
        with open(file.place.path, "r+b", buffering=0) as raw:
            # Not the file's own truncate(), which is not tried again after a signal.
            os.ftruncate(raw.fileno(), kept)
            raw.seek(kept)
            rest = memoryview(ending)
            while rest:
                # A full disk may take a part of it, and says so when it is asked again.
                written = raw.write(rest)
                if not written:
                    raise OSError(errno.EIO, "nothing is written, and no reason given")
                rest = rest[written:]
            os.fsync(raw.fileno())
    except OSError as fault:
        raise file.place.io(fault, "to rewrite the end of the file") from fault


def _known_features(header: FileHeader, place: Place) -> None:
    unknown = header.writer_features & ~KNOWN_WRITER_FEATURES
    if unknown:
        raise place.error(Code.UNSUPPORTED_FEATURE, 20, "known writer features", f"{unknown:#x}")


class _Rebuild:
    """The regions that the blocks of a data file are put into (REP-6)."""

    def __init__(self, header: FileHeader, members: bytes | None, limits: Limits) -> None:
        self.header = header
        self.members = members
        self.limits = limits
        self.done: list[tuple[int, int, bytes]] = []
        """Where each region begins, its bytes, and its message."""
        self.blocks = 0
        self.shared_blocks = 0
        self._next_own: dict[int, int] = {}
        self._next_shared = 0
        self._begin = HEADER_SIZE
        self._length = 0
        self._extents: list[BuiltExtent] = []
        """Of the region in hand."""
        self._pending: list[DictionaryPlace] = []
        self.dictionaries: list[DictionaryPlace] = []
        """Those behind which a region stands."""

    @property
    def dictionary_count(self) -> int:
        """How many dictionaries were found."""
        return len(self.dictionaries) + len(self._pending)

    def take_dictionary(self, where: DictionaryPlace, end: int, place: Place) -> None:
        """Take in a dictionary, which ends the region before it (REP-6); ``end`` is where its block ends."""
        self.close(place)
        self._pending.append(where)
        self._begin = end

    def take(self, block: Block, place: Place) -> None:
        """Check a block's partition and sequence (REP-5), and put it into a region."""
        partition, selective = block.partition, self.header.selective
        shared = partition == NO_PARTITION
        if not shared and not self.header.first_partition <= partition < self.header.end_partition:
            raise place.error(Code.INCONSISTENT_INDEX, block.offset + 8, "a partition of the file", partition)
        following = self._next_shared if shared else self._next_own.get(partition, 0)
        check_sequence(block, place, exactly=None if selective else following, above=following - 1)
        if shared:
            self._next_shared = block.sequence + 1
        else:
            self._next_own[partition] = block.sequence + 1
        size = block.end - block.offset
        extents = self._extents
        behind = bool(extents) and not shared and partition < extents[-1].partition
        if behind or self._length + size > MAX_REGION:
            self.close(place)
            extents = self._extents
        if not extents or extents[-1].partition != partition:
            extents.append(BuiltExtent(partition, self.members if shared else None, first_block=block.sequence))
        self.dictionaries += self._pending
        self._pending = []
        extents[-1].blocks += 1
        extents[-1].length += size
        self._length += size
        self.blocks += 1
        self.shared_blocks += shared

    def close(self, place: Place) -> None:
        """End the region in hand, if it holds anything."""
        if not self._extents:
            return
        begin, limits = self._begin, self.limits
        if len(self.done) >= limits.max_regions:
            raise place.error(Code.LIMIT_EXCEEDED, begin, f"at most {limits.max_regions} regions", "one more")
        message = region_message(self._extents, self.header, len(self.done), begin)
        if len(message) > limits.max_message_size:
            wanted = f"a region whose message has at most {limits.max_message_size} bytes"
            raise place.error(Code.LIMIT_EXCEEDED, begin, wanted, len(message))
        self.done.append((begin, self._length, message))
        self._begin, self._length, self._extents = begin + self._length, 0, []


def rebuild(
    *,
    data: Path,
    index: Path,
    shared: Literal["none", "all"] = "none",
    schema: bytes | None = None,
    limits: Limits = DEFAULT_LIMITS,
    dry_run: bool = False,
) -> RepairReport:
    """Make the index of a data file anew from its blocks (REP-5 to REP-8); the data file is cut behind the last.

    Args:
        data: the path of the data file.
        index: the path of the index file, which is replaced if there is one.
        shared: who reads shared blocks: nobody, or every partition. Who did stood in the lost index.
        schema: with framing arrow, the encapsulated Arrow schema message.
        limits: what the file may ask for.
        dry_run: whether to change nothing.

    Raises:
        FaroError: a fault of the header, or one of a block that is no damage; ``invalid-argument`` if framing
            arrow lacks the schema.
    """
    if shared not in ("none", "all"):
        raise invalid("shared none or all", repr(shared))
    file = SourceFile(data, "data")
    try:
        header = check_kind(file.header(), KIND_DATA, file.place)
        _known_features(header, file.place)
        if (schema is not None) != (header.framing == FRAMING_ARROW):
            raise invalid("the Arrow schema message with framing arrow, and only then")
        if schema is not None and encapsulation_fault(schema) is not None:
            raise invalid("an encapsulated Arrow schema message", encapsulation_fault(schema))
        nobody = b"" if shared == "none" else None
        found = _Rebuild(header.with_kind(KIND_INDEX), nobody, limits)
        kept = _scan(file, found, limits)
        report = RepairReport(
            "rebuilt",
            len(found.done),
            kept,
            file.size - kept,
            0,
            0,
            blocks=found.blocks,
            orphaned=found.shared_blocks if shared == "none" else 0,
            lost=LOST,
        )
        if not dry_run:
            _write_index(os.fspath(index), found, kept, schema, file)
        return report
    finally:
        file.close()


def _scan(file: SourceFile, found: _Rebuild, limits: Limits) -> int:
    """Take the blocks of a data file up to the first that is damaged; return where the last one ends."""
    window = Window(file, file.size)
    offset = kept = HEADER_SIZE
    while offset < file.size:
        try:
            if _is_dictionary(window, offset):
                number = found.dictionary_count + 1
                if number > limits.max_dictionaries:
                    wanted = f"at most {limits.max_dictionaries} dictionaries"
                    raise file.place.error(Code.LIMIT_EXCEEDED, offset, wanted, "one more")
                block = check_dictionary_block(window, offset, file.size, limits, number, sequence=number - 1)
                check_content(block, file.place)
                where = DictionaryPlace(offset, len(block.stored))
                found.take_dictionary(where, block.end, file.place)
                if file.dictionaries is not None:
                    file.dictionaries.extend([where])
            else:
                block = check_block(window, offset, file.size, PARTITION_KINDS, limits, metadata=False)
                check_dictionary(block, file)
                check_padding(block, window)
                found.take(block, file.place)
                kept = block.end
        except FaroError as fault:
            # No damage; and the file must not change meanwhile.
            if fault.code in (Code.LIMIT_EXCEEDED, Code.UNSUPPORTED_CODEC, Code.IO, Code.TRUNCATED):
                raise
            break
        offset = block.end
    found.close(file.place)
    return kept


def _is_dictionary(window: Window, offset: int) -> bool:
    """Whether a header says that a dictionary stands here, in a file that may have them."""
    if window.file.dictionaries is None or window.end - offset < BLOCK_HEADER_SIZE:
        return False
    at = window.locate(offset, BLOCK_HEADER_SIZE)
    return window.data[at + 16] == KIND_DICTIONARY


def _write_index(path: str, found: _Rebuild, data_size: int, schema: bytes | None, data: SourceFile) -> None:
    """Write the index under a temporary name, cut the data file, and rename the index, in this order (REP-10)."""
    header, seed = found.header, found.header.seed
    output = OutputFile(path, "index", TEMPORARY)
    try:
        # What an interrupted rebuild left: nobody else writes under this name.
        with contextlib.suppress(OSError):
            os.unlink(path + TEMPORARY)
        output.create()
        output.append([header.encode()])
        sequence = 0
        if schema is not None:
            output.append([encode_metadata(seed, KIND_SCHEMA, sequence, build_schema(schema))])
            sequence += 1
        entries: list[Entry] = []
        for number, (begin, length, message) in enumerate(found.done):
            entries.append(Entry(number, output.position, len(message), begin, length))
            output.append([encode_metadata(seed, KIND_REGION, sequence, message)])
            sequence += 1
        end = _finish(seed, entries, found.dictionaries, data_size, output.position, sequence, "rebuilt")
        output.append([end])
        output.sync()
        _rewrite(data, data_size, b"")
        output.replace()
        sync_folder(output.place)
    except BaseException:
        output.remove_temporary()
        raise
    finally:
        with contextlib.suppress(OSError):
            output.close()
