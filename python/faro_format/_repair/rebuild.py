"""Rebuilds a lost or damaged index from its data file (REP-5 to REP-8)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Literal

from faro_format import _arguments as arguments
from faro_format._block.block import (
    BLOCK_HEADER_SIZE,
    KIND_DICTIONARY,
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
from faro_format._block.encapsulation import encapsulation_fault
from faro_format._bytes.buffers import as_bytes
from faro_format._bytes.header import FRAMING_ARROW, HEADER_SIZE, FileHeader, FileKind
from faro_format._dictionaries import DictionaryEntry
from faro_format._error import ErrorCode, FaroError, Place, invalid
from faro_format._index.regions import MAX_REGION, Entry
from faro_format._limits import DEFAULT_LIMITS, Limits, check_limits
from faro_format._message.build import build_schema
from faro_format._repair.repair import RepairReport, ending_of, known_features, rewrite
from faro_format._storage.input_file import InputFile, Window, check_kind
from faro_format._storage.names import Path, paths_to_read
from faro_format._storage.output_file import OutputFile, sync_folder
from faro_format._writer.region_builder import BuiltExtent, region_message

TEMPORARY = ".rebuild.tmp"
"""The ending of a rebuilt index's name until it is complete (REP-10)."""

LOST = (
    "members of shared extents, runs, statistics, streams and properties",
    "regions missing at the end, if there were any",
    "whether the last blocks were ever committed",
)
"""Information that a rebuild cannot restore (REP-8)."""


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
        """Of the region that is being collected."""
        self._pending: list[DictionaryEntry] = []
        self.dictionaries: list[DictionaryEntry] = []
        """Those that a region follows."""

    @property
    def dictionary_count(self) -> int:
        """How many dictionaries were found."""
        return len(self.dictionaries) + len(self._pending)

    def take_dictionary(self, where: DictionaryEntry, end: int, place: Place) -> None:
        """Add a dictionary, which ends the region before it (REP-6); ``end`` is where its block ends."""
        self.close(place)
        self._pending.append(where)
        self._begin = end

    def check_position(self, block: Block, place: Place) -> None:
        """Check a block's partition and sequence: checks 9 and 10a of BLK-7."""
        partition, selective = block.partition, self.header.selective
        shared = partition == NO_PARTITION
        if not shared and not self.header.first_partition <= partition < self.header.end_partition:
            raise place.error(ErrorCode.INCONSISTENT_INDEX, block.offset + 8, "a partition of the file", partition)
        following = self._next_shared if shared else self._next_own.get(partition, 0)
        check_sequence(block, place, exactly=None if selective else following, above=following - 1)

    def take(self, block: Block, place: Place) -> None:
        """Put a block that passed its checks into a region (REP-6)."""
        partition = block.partition
        shared = partition == NO_PARTITION
        if shared:
            self._next_shared = block.sequence + 1
        else:
            self._next_own[partition] = block.sequence + 1
        size = block.end - block.offset
        extents = self._extents
        descends = bool(extents) and not shared and partition < extents[-1].partition
        if descends or self._length + size > MAX_REGION:
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
        """End the region that is being collected, if it has blocks."""
        if not self._extents:
            return
        begin, limits = self._begin, self.limits
        if len(self.done) >= limits.max_regions:
            raise place.error(ErrorCode.LIMIT_EXCEEDED, begin, f"at most {limits.max_regions} regions", "one more")
        message = region_message(self._extents, self.header, len(self.done), begin)
        if len(message) > limits.max_message_size:
            wanted = f"a region whose message has at most {limits.max_message_size} bytes"
            raise place.error(ErrorCode.LIMIT_EXCEEDED, begin, wanted, len(message))
        self.done.append((begin, self._length, message))
        self._begin, self._length, self._extents = begin + self._length, 0, []


def rebuild(
    name: Path | None = None,
    *,
    data: Path | None = None,
    index: Path | None = None,
    shared: Literal["none", "all"] = "none",
    schema: bytes | None = None,
    limits: Limits = DEFAULT_LIMITS,
    dry_run: bool = False,
) -> RepairReport:
    """Rebuild the index of a data file from its blocks (REP-5 to REP-8); the data file is cut after the last one.

    If a damaged block ends the walk, the report's ``fault`` names it.

    Args:
        name: the output's NAME (PUB-1), or its files instead:
        data: the path of the data file.
        index: the path of the index file, which is replaced if there is one.
        shared: which partitions read shared blocks: none, or all. Only the lost index knew.
        schema: with framing arrow, the encapsulated Arrow schema message.
        limits: the limits of the reader.
        dry_run: whether to change nothing.

    Raises:
        FaroError: a fault of the header, or one of a block that is not damage; ``invalid-argument`` if framing
            arrow lacks the schema.
    """
    arguments.choice("shared", shared, ("none", "all"))
    limits, dry_run = check_limits(limits), arguments.flag("dry_run", dry_run)
    schema = None if schema is None else bytes(as_bytes(schema, "schema"))
    paths = paths_to_read(name, data, index)
    if paths.data is None or paths.index is None:
        raise invalid("the NAME of a pair; repair() mends a single file", arguments.shown(paths.single))
    file, final = InputFile(paths.data, "data"), paths.index
    try:
        return make_index(file, final, final + TEMPORARY, limits, dry_run=dry_run, shared=shared, schema=schema)
    finally:
        file.close()


def make_index(
    file: InputFile,
    path: str,
    temporary: str,
    limits: Limits,
    *,
    dry_run: bool,
    shared: Literal["none", "all"] = "none",
    schema: bytes | None = None,
    held: Mapping[str, int] | None = None,
) -> RepairReport:
    """Do as :func:`rebuild` with a data file that is open.

    Args:
        file: the data file.
        path: the path of the index file.
        temporary: its path until it is whole.
        limits: the limits of the reader.
        dry_run: whether to change nothing.
        shared: who reads shared blocks.
        schema: the Arrow schema message.
        held: see :func:`faro_format._repair.repair.mend`.
    """
    header = check_kind(file.header(), FileKind.DATA, file.place)
    known_features(header, file.place)
    if (schema is not None) != (header.framing == FRAMING_ARROW):
        raise invalid("schema: with framing arrow, and only then", f"framing {header.framing.name.lower()}")
    if schema is not None and encapsulation_fault(schema) is not None:
        raise invalid("schema: an encapsulated Arrow message", encapsulation_fault(schema))
    members = b"" if shared == "none" else None
    found = _Rebuild(header._with_kind(FileKind.INDEX), members, limits)
    kept, fault = _scan(file, found, limits)
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
        fault=fault,
    )
    if not dry_run:
        output = OutputFile(path, "index", temporary)
        _write_index(output, found, kept, schema, lambda: rewrite(file, kept, b"", held or {}))
    return report


def _scan(file: InputFile, found: _Rebuild, limits: Limits) -> tuple[int, FaroError | None]:
    """Use the blocks of a data file up to the first that is damaged (REP-5).

    Returns:
        The end of the last one that is used, and the fault of the one that is damaged, if there is one.
    """
    window = Window(file, file.size)
    offset = kept = HEADER_SIZE
    damage: FaroError | None = None
    while offset < file.size:
        try:
            if _is_dictionary(window, offset):
                number = found.dictionary_count + 1
                if number > limits.max_dictionaries:
                    wanted = f"at most {limits.max_dictionaries} dictionaries"
                    raise file.place.error(ErrorCode.LIMIT_EXCEEDED, offset, wanted, "one more")
                block = check_dictionary_block(window, offset, file.size, limits, number, sequence=number - 1)
                check_content(block, file.place)
                where = DictionaryEntry(offset, len(block.stored))
                found.take_dictionary(where, block.end, file.place)
                if file.dictionaries is not None:
                    file.dictionaries.extend([where])
            else:
                block = check_block(window, offset, file.size, PARTITION_KINDS, limits, metadata=False)
                found.check_position(block, file.place)
                check_dictionary(block, file)
                check_padding(block, window)
                found.take(block, file.place)
                kept = block.end
        except FaroError as fault:
            # Not damage. The file must not change meanwhile.
            if fault.code in (ErrorCode.LIMIT_EXCEEDED, ErrorCode.UNSUPPORTED_CODEC, ErrorCode.IO, ErrorCode.TRUNCATED):
                raise
            # Without its traceback, which would keep the file and its window.
            damage = fault._copy()
            break
        offset = block.end
    found.close(file.place)
    return kept, damage


def _is_dictionary(window: Window, offset: int) -> bool:
    """Whether a header says that a dictionary begins here, in a file that may have them."""
    if window.file.dictionaries is None or window.end - offset < BLOCK_HEADER_SIZE:
        return False
    at = window.locate(offset, BLOCK_HEADER_SIZE)
    return window.data[at + 16] == KIND_DICTIONARY


def _write_index(
    output: OutputFile, found: _Rebuild, data_size: int, schema: bytes | None, cut_data: Callable[[], None]
) -> None:
    """Write the index under a temporary name, cut the data file, and rename the index, in this order (REP-10)."""
    header, seed = found.header, found.header._seed
    try:
        # A file that an interrupted rebuild left is replaced.
        output.create(replacing=True)
        output.append([header._encode()])
        sequence = 0
        if schema is not None:
            output.append([encode_metadata(seed, KIND_SCHEMA, sequence, build_schema(schema))])
            sequence += 1
        entries: list[Entry] = []
        for number, (begin, length, message) in enumerate(found.done):
            entries.append(Entry(number, output.position, len(message), begin, length))
            output.append([encode_metadata(seed, KIND_REGION, sequence, message)])
            sequence += 1
        end = ending_of(seed, entries, found.dictionaries, data_size, output.position, sequence, "rebuilt")
        output.append([end])
        output.sync()
        cut_data()
        output.replace()
        sync_folder(output.place)
        with contextlib.suppress(OSError):
            output.close()
    except BaseException:
        output.remove_temporary()
        with contextlib.suppress(OSError):
            output.close()
        raise
