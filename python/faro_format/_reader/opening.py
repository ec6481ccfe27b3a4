"""Opening a finished output (OPN-1, OPN-2, FTR-2 to FTR-5, FTR-7, SCH-1) and looking up its regions (REG-10)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from faro_format._block.block import (
    BLOCK_HEADER_SIZE,
    KIND_DICTIONARY,
    KIND_FOOTER,
    KIND_REGION,
    KIND_SCHEMA,
    NO_PARTITION,
    Block,
    check_block,
    check_dictionary,
    check_padding,
    check_partition,
    check_sequence,
    pad8,
)
from faro_format._block.encapsulation import encapsulation_fault
from faro_format._bytes.header import (
    FRAMING_ARROW,
    HEADER_SIZE,
    PAIR_FIELDS,
    FileHeader,
    FileKind,
)
from faro_format._bytes.spans import Ints
from faro_format._bytes.tail import TAIL_MAGIC, TAIL_SIZE, parse_tail
from faro_format._dictionaries import MAX_DICTIONARIES, MIN_DICTIONARY, DictionaryEntry
from faro_format._error import ErrorCode, Place
from faro_format._index.regions import MAX_REGION, MIN_REGION, Entry, Region, check_region
from faro_format._limits import Limits
from faro_format._message.messages import FooterMessage, Records, Streams, parse_footer, parse_region, parse_schema
from faro_format._storage.input_file import InputFile, Window, check_kind
from faro_format._storage.names import OutputPaths
from faro_format._storage.remote_output import Attempt
from faro_format._storage.stored_file import StoredFile
from faro_format._storage.stored_output import StoredOutput

_SCHEMA = 64 << 10
"""Bytes that are read of a schema at once."""
_MOST = 2**62
"""Above every place in a file, and far enough below 2^63 that sums do not wrap."""


@dataclass(frozen=True)
class Files:
    """The open files of an output; for a single file, ``data`` is ``index``."""

    index: InputFile
    data: InputFile

    @property
    def paired(self) -> bool:
        """Whether there are two files."""
        return self.data is not self.index

    @property
    def data_kind(self) -> FileKind:
        """The kind of the file that holds the blocks."""
        return FileKind.DATA if self.paired else FileKind.SINGLE

    def close(self) -> None:
        """Close both."""
        self.index.close()
        self.data.close()


def open_files(output: OutputPaths | StoredOutput) -> tuple[Files, FileHeader]:
    """Open an output's files and check their headers (OPN-1, checks 1 to 5).

    Args:
        output: the paths of the pair or the single file, or stored files, which are closed if a check fails.

    Returns:
        The files, and the header of the index or single file.

    Raises:
        FaroError: the first check that fails.
    """
    first: str | StoredFile | Attempt | None
    second: str | StoredFile | Attempt | None
    if isinstance(output, StoredOutput):
        first, second = output._index, output._data
    else:
        first, second = output.single or output.index, output.data
    opened: list[InputFile] = []
    try:
        if second is None:
            opened.append(InputFile(first or "", "single"))
            header = check_kind(opened[0].header(), FileKind.SINGLE, opened[0].place)
            return Files(opened[0], opened[0]), header
        opened.append(InputFile(first or "", "index"))
        header = check_kind(opened[0].header(), FileKind.INDEX, opened[0].place)
        opened.append(InputFile(second, "data"))
        place = opened[1].place
        other = check_kind(opened[1].header(), FileKind.DATA, place)
        for name, offset in PAIR_FIELDS:
            mine, its = getattr(header, name), getattr(other, name)
            if mine != its:
                raise place.error(
                    ErrorCode.MISMATCHED_PAIR, offset, f"{name} {_shown(mine)} of the index file", _shown(its)
                )
        return Files(opened[0], opened[1]), header
    except BaseException:
        for file in opened:
            file.close()
        if isinstance(output, StoredOutput):
            output._close()
        raise


def _shown(field: int | bytes) -> str:
    """Return a field of a header as text for errors; a file_id as its 32 digits."""
    return field.hex() if isinstance(field, bytes) else str(int(field))


@dataclass(frozen=True)
class Opened:
    """The result of opening a finished output."""

    footer: FooterMessage
    footer_offset: int
    footer_sequence: int
    schema: bytes | None
    """The encapsulated Arrow schema message, with framing arrow."""


def open_finished(files: Files, header: FileHeader, limits: Limits) -> Opened:
    """Make the checks 6 to 9 of OPN-1."""
    index, place = files.index, files.index.place
    size = index.size
    tail_at = size - TAIL_SIZE
    raw = index.read_exactly(tail_at, TAIL_SIZE) if tail_at >= HEADER_SIZE else b""
    if raw[16:] != TAIL_MAGIC:
        raise place.error(
            ErrorCode.UNFINISHED,
            size,
            "a tail at the end; follow a file that is being written, recover() one whose writer died",
            raw[16:].hex(" "),
        )
    footer_offset, footer_size, stored, computed = parse_tail(raw)
    if stored != computed:
        raise place.checksum(tail_at, stored, computed)
    leads = footer_offset >= HEADER_SIZE and footer_offset % 8 == 0
    if not leads or footer_offset + BLOCK_HEADER_SIZE + pad8(footer_size) != tail_at:
        found = f"footer_offset {footer_offset}, footer_size {footer_size}"
        raise place.error(ErrorCode.INCONSISTENT_INDEX, tail_at, "a footer block that ends at the tail", found)
    window = Window(index, tail_at)
    block = metadata_block(window, footer_offset, tail_at, frozenset((KIND_FOOTER,)), limits, None)
    if len(block.stored) != footer_size:
        raise place.error(
            ErrorCode.INCONSISTENT_INDEX, footer_offset, f"stored_size {footer_size} of the tail", len(block.stored)
        )
    footer = read_footer(block, files, header, limits)
    if files.data.dictionaries is not None:
        files.data.dictionaries.extend(dictionary_entries(footer))
    if files.paired:
        data = files.data
        if data.size < footer.data_size:
            raise data.place.error(ErrorCode.TRUNCATED, data.size, f"{footer.data_size} bytes", data.size)
        check_data_end(data, footer.data_size)
    schema = None
    if header.framing == FRAMING_ARROW:
        schema = read_schema(Window(index, tail_at, _SCHEMA), tail_at, header, limits)
    return Opened(footer, footer_offset, block.sequence, schema)


def check_data_end(data: InputFile, data_size: int) -> None:
    """Make check 8 of OPN-1: nothing follows the last region of a data file."""
    if data.size > data_size:
        raise data.place.error(ErrorCode.INCONSISTENT_INDEX, data_size, f"{data_size} bytes", data.size)


def metadata_block(
    window: Window,
    offset: int,
    end: int,
    kinds: frozenset[int],
    limits: Limits,
    sequence: int | None,
    dictionary: int = 0,
) -> Block:
    """Check a metadata block by BLK-7.

    Args:
        window: the file.
        offset: where the block begins.
        end: where its bounds end.
        kinds: what is allowed in this place.
        limits: the reader's limits.
        sequence: the block's, if it is known.
        dictionary: where dictionaries are allowed, the number of the next.
    """
    block = check_block(window, offset, end, kinds, limits, metadata=True)
    check_partition(block, NO_PARTITION, window.file.place)
    if sequence is not None:
        check_sequence(block, window.file.place, exactly=sequence)
    if block.kind == KIND_DICTIONARY:
        check_dictionary(block, window.file, own=dictionary)
    check_padding(block, window)
    return block


def read_footer(block: Block, files: Files, header: FileHeader, limits: Limits) -> FooterMessage:
    """Make the checks 6 to 8 of OPN-2 of a footer block."""
    place, at = files.index.place, block.offset + BLOCK_HEADER_SIZE
    footer = parse_footer(block, place, header.version_minor)
    counts = (
        ("regions", footer.regions.size, limits.max_regions),
        ("dictionaries", footer.dictionaries.size, limits.max_dictionaries),
    )
    for name, count, most in counts:
        if count > most:
            raise place.error(ErrorCode.LIMIT_EXCEEDED, at, f"at most {most} {name}", count)
    _check_footer(footer, block.offset, header, place, paired=files.paired)
    return footer


def _check_footer(footer: FooterMessage, footer_offset: int, header: FileHeader, place: Place, *, paired: bool) -> None:
    """Check the rules FTR-2 to FTR-5, FTR-7 and FTR-8."""

    def require(condition: bool | np.bool_, rule: str) -> None:
        if not condition:
            raise place.error(ErrorCode.INCONSISTENT_INDEX, footer_offset + BLOCK_HEADER_SIZE, rule)

    regions = footer.regions
    require(not regions["flags"].any(), "FTR-2: flags that are zero")
    # First limited by the file's size, so that the sums below cannot wrap.
    require((regions["message_offset"] <= footer_offset).all(), "FTR-2: region messages before the footer")
    at = regions["message_offset"].astype(np.int64)
    ends = at + BLOCK_HEADER_SIZE + ((regions["message_size"].astype(np.int64) + 7) & ~7)
    require(not (at % 8).any() and (at >= HEADER_SIZE).all(), "FTR-2: message offsets")
    require((at[1:] >= ends[:-1]).all() and (ends <= footer_offset).all(), "FTR-2: region messages in order")
    require((regions["data_length"] <= MAX_REGION).all(), "FTR-3: largest data_length")
    lengths = regions["data_length"].astype(np.int64)
    require(not (lengths % 8).any() and (lengths >= MIN_REGION).all(), "FTR-3: data_length")
    dictionaries = footer.dictionaries
    require(header.dictionaries or not dictionaries.size, "FTR-7: no dictionaries without their feature")
    require(dictionaries.size <= MAX_DICTIONARIES, f"FTR-7: at most {MAX_DICTIONARIES} dictionaries")
    require(not dictionaries["reserved"].any(), "FTR-7: reserved fields that are zero")
    require((dictionaries["size"] >= MIN_DICTIONARY).all(), f"FTR-7: sizes of at least {MIN_DICTIONARY}")
    require((dictionaries["offset"] <= _MOST).all(), "FTR-7: offsets inside a file")
    starts = dictionaries["offset"].astype(np.int64)
    sizes = BLOCK_HEADER_SIZE + ((dictionaries["size"].astype(np.int64) + 7) & ~7)
    require(not (starts % 8).any() and (starts >= HEADER_SIZE).all(), "FTR-7: offsets of dictionaries")
    require((starts[1:] >= (starts + sizes)[:-1]).all(), "FTR-7: dictionaries in order")
    if paired:
        require(_tile(regions, lengths, starts, sizes), "FTR-3: regions and dictionaries that tile the data file")
        data_size = HEADER_SIZE + int(lengths.sum()) + int(sizes.sum())
        require(footer.data_size == data_size, f"FTR-3: data_size {data_size}")
    else:
        require((regions["data_offset"] <= footer_offset).all(), "FTR-3: blocks before the footer")
        begins = regions["data_offset"].astype(np.int64)
        require(not (begins % 8).any() and (begins >= HEADER_SIZE).all(), "FTR-3: data_offset")
        require((begins[1:] >= ends[:-1]).all(), "FTR-3: blocks after the message before them")
        require((begins + lengths == at).all(), "FTR-3: blocks that end at their message")
        require(footer.data_size == footer_offset, f"FTR-3: data_size {footer_offset}")
        # The region that begins before a dictionary must end before it, and the next region begin after it.
        behind = np.searchsorted(begins, starts, side="right")
        limits = np.append(begins, footer_offset)
        apart = (np.append(HEADER_SIZE, ends)[behind] <= starts) & (starts + sizes <= limits[behind])
        require(apart.all(), "FTR-7: dictionaries between regions")
    if footer.statistics is not None:
        kept = footer.statistics
        pairs = (
            (kept.stored, kept.stored_to_all),
            (kept.plain, kept.plain_to_all),
            (kept.records, kept.records_to_all),
        )
        for vector, to_all in pairs:
            if vector is None:
                continue
            require(vector.size == header.partition_count, f"FTR-4: vectors of {header.partition_count} values")
            require(int(vector.max()) + to_all < 2**64, "FTR-4: sums of at most 2^64 - 1")
    if footer.streams is not None:
        _check_streams(footer.streams, header, require)
    keys = [key.encode() for key, _ in footer.properties]
    require(all(a < b for a, b in itertools.pairwise(keys)), "FTR-5: ascending keys of properties")


def _check_streams(streams: Streams, header: FileHeader, require: Callable[[bool, str], None]) -> None:
    """Check the rules FTR-8."""
    require(header.selective, "FTR-8: no streams without the feature selective")
    for vector in (streams.next, streams.missing):
        count = header.partition_count
        require(vector is None or vector.size == count, f"FTR-8: vectors of {count} values")
    if streams.missing is not None:
        most = 0 if streams.next is None else streams.next
        require(bool((streams.missing <= most).all()), "FTR-8: no more missing blocks than there were")
    require(streams.shared_missing <= streams.shared_next, "FTR-8: no more missing shared blocks than there were")


def _tile(regions: Records, lengths: Ints, starts: Ints, sizes: Ints) -> bool:
    """Whether regions and dictionaries, each in its order, tile a data file, and a region ends it (FTR-3)."""
    if (regions["data_offset"] > _MOST).any():
        return False
    offsets = regions["data_offset"].astype(np.int64)
    if (offsets[1:] <= offsets[:-1]).any():
        return False
    begins, spans = np.append(offsets, starts), np.append(lengths, sizes)
    order = np.argsort(begins, kind="stable")
    spans = spans[order]
    tiles = bool((begins[order] == HEADER_SIZE + np.cumsum(spans) - spans).all())
    return tiles and (not starts.size or (offsets.size > 0 and bool(starts[-1] < offsets[-1])))


def dictionary_entries(footer: FooterMessage) -> list[DictionaryEntry]:
    """Return where the dictionaries are, according to the footer, number 1 first."""
    rows = footer.dictionaries[["offset", "size"]].tolist()
    return [DictionaryEntry(offset, size) for offset, size in rows]


def read_schema(window: Window, end: int, header: FileHeader, limits: Limits) -> bytes:
    """Check the schema block (SCH-1) and return the Arrow message in it."""
    place = window.file.place
    block = metadata_block(window, HEADER_SIZE, end, frozenset((KIND_SCHEMA,)), limits, 0)
    arrow = parse_schema(block, place, header.version_minor)
    fault = encapsulation_fault(arrow)
    if fault is not None:
        raise place.error(
            ErrorCode.MALFORMED_MESSAGE, HEADER_SIZE + BLOCK_HEADER_SIZE, "an encapsulated Arrow message", fault
        )
    return bytes(arrow)


def directory_entry(footer: FooterMessage, number: int) -> Entry:
    """Return a region's entry of the directory."""
    message_offset, message_size, _, data_offset, data_length = footer.regions[number].item()
    return Entry(number, message_offset, message_size, data_offset, data_length)


def message_bounds(entry: Entry) -> tuple[int, int]:
    """Return where the block of a region message begins and ends."""
    return entry.message_offset, entry.message_offset + BLOCK_HEADER_SIZE + pad8(entry.message_size)


def load_region(files: Files, header: FileHeader, limits: Limits, entry: Entry, window: Window | None = None) -> Region:
    """Look up a region message, in a window that has it or in the file, and check it (REG-10)."""
    file = files.index
    at, end = message_bounds(entry)
    block = metadata_block(window or Window(file, end), at, end, frozenset((KIND_REGION,)), limits, None)
    if len(block.stored) != entry.message_size:
        raise file.place.error(
            ErrorCode.INCONSISTENT_INDEX, at, f"stored_size {entry.message_size} of the directory", len(block.stored)
        )
    message = parse_region(block, file.place, header.version_minor)
    return check_region(message, header, entry, file.place, files.data_kind)
