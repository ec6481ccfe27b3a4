"""Blocks: their header and kinds (BLK-1 to BLK-5), and the checks of BLK-7 in their order."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from faro_format._bytes.checksum import extend
from faro_format._codec import CODEC_NONE, CODEC_ZSTD, CODECS, Codec, DecodeError, Dictionary, decompress
from faro_format._dictionaries import DICTIONARY_MAGIC, MIN_DICTIONARY, DictionaryEntry, is_dictionary
from faro_format._error import ErrorCode, Place
from faro_format._limits import Limits
from faro_format._storage.input_file import InputFile, Window

BLOCK_HEADER_SIZE = 24
NO_PARTITION = 0xFFFFFFFF
"""The partition number of blocks in shared extents and of metadata blocks (BLK-4)."""

KIND_DATA = 0
KIND_EVENT = 1
KIND_REGION = 128
KIND_FOOTER = 129
KIND_SCHEMA = 130
KIND_DICTIONARY = 131
KIND_FRAGMENT_END = 132

PARTITION_KINDS = frozenset((KIND_DATA, KIND_EVENT, *range(64, 128)))
"""The kinds of blocks in own and shared extents (CTX-1)."""
SKIPPABLE_KINDS = frozenset(range(192, 256))
"""Metadata that a reader may skip."""
REFUSED_KINDS = frozenset(range(133, 192))
"""Metadata that a reader of this version must refuse (BLK-7, check 6a)."""
_ONLY_DICTIONARY = frozenset((KIND_DICTIONARY,))

_HEADER = struct.Struct("<IIIIBBHI")
HEADER_WORDS = struct.Struct("<6I")
"""A block's header, with its kind, codec and dictionary as one number: 0 of uncompressed data."""
_PREFIX = struct.Struct("<IIIIBBH")
PADDING = tuple(bytes(-n % 8) for n in range(8))
"""The zero bytes after a payload, by its length modulo 8."""
_NOTHING = memoryview(b"")


def pad8(size: int) -> int:
    """Return ``size`` rounded up to a multiple of 8 (INT-3)."""
    return (size + 7) & ~7


class Block(NamedTuple):
    """A block that was read: its offset, its header, and its payload."""

    offset: int
    """Where the block begins, absolute, in bytes."""
    partition: int
    """Its absolute partition number; 0xFFFFFFFF in a shared extent."""
    sequence: int
    """Its number in its stream."""
    kind: int
    """0 for data, else an event's (or metadata's) kind."""
    codec: Codec
    """How it is stored."""
    plain_size: int
    """Bytes of the plain payload."""
    stored: memoryview
    """The payload as stored."""
    payload: memoryview | bytes
    """The plain payload; the stored one if decoding was not requested."""
    members: npt.NDArray[np.uint32] | None
    """In a range, for a shared block: which partitions of the range read it; else None."""
    dictionary: int = 0
    """The number of the dictionary that it is compressed with, 0 without one; a dictionary's own number."""

    @property
    def end(self) -> int:
        """Where the block ends, padding included."""
        return self.offset + BLOCK_HEADER_SIZE + pad8(len(self.stored))

    @property
    def is_data(self) -> bool:
        """Whether this is data, not an event."""
        return self.kind == KIND_DATA


def encode_header(
    seed: int,
    stored: bytes | npt.NDArray[np.uint8],
    plain_size: int,
    partition: int,
    sequence: int,
    kind: int,
    codec: Codec,
    dictionary: int = 0,
) -> bytes:
    """Return the 24 bytes before a stored payload, checksum included.

    Args:
        seed: the checksum of the file's file_id, which goes before the block's own bytes (BLK-9).
        stored: the payload as stored.
        plain_size: bytes after decompression.
        partition: absolute, or :data:`NO_PARTITION`.
        sequence: the block's number in its stream.
        kind: see BLK.
        codec: how it is compressed.
        dictionary: the number of the dictionary that the payload is compressed with, or a dictionary's own.
    """
    prefix = _PREFIX.pack(len(stored), plain_size, partition, sequence, kind, codec, dictionary)
    return prefix + extend(extend(seed, prefix), stored).to_bytes(4, "little")


def encode_metadata(seed: int, kind: int, sequence: int, message: bytes, dictionary: int = 0) -> bytes:
    """Return a whole metadata block, padding included (BLK-5); see :func:`encode_header`."""
    header = encode_header(seed, message, len(message), NO_PARTITION, sequence, kind, CODEC_NONE, dictionary)
    return header + message + PADDING[len(message) & 7]


def check_block(
    window: Window,
    offset: int,
    end: int,
    kinds: frozenset[int],
    limits: Limits,
    *,
    metadata: bool,
    verify: bool = True,
) -> Block:
    """Make the checks 1 to 8 of BLK-7.

    Args:
        window: the file.
        offset: where the block begins.
        end: where its bounds end; at most the window's end.
        kinds: what is allowed in this place.
        limits: the reader's limits.
        metadata: whether this is a place for metadata.
        verify: whether to make check 4; it is always made for metadata (INT-7).

    Returns:
        The block, its payload as stored. The caller makes the checks 9 to 12.
    """
    place = window.file.place
    if end - offset < BLOCK_HEADER_SIZE:
        raise place.error(ErrorCode.MALFORMED_BLOCK, offset, "a block header of 24 bytes", f"{end - offset} bytes")
    at = window.locate(offset, BLOCK_HEADER_SIZE)
    header = _HEADER.unpack_from(window.data, at)
    stored_size, plain_size, partition, sequence, kind, codec, dictionary, checksum = header
    size = BLOCK_HEADER_SIZE + pad8(stored_size)
    if size > end - offset:
        raise place.error(ErrorCode.MALFORMED_BLOCK, offset, f"a block of at most {end - offset} bytes", size)
    # Data without a codec, of a size that no limit refuses, passes the checks 3 and 5 to 8 here: that takes less time.
    usual = (
        kind == codec == dictionary == KIND_DATA
        and not metadata
        and 0 < stored_size == plain_size <= limits.max_plain_size
        and stored_size <= limits.max_block_size
        and KIND_DATA in kinds
    )
    if not usual:
        check_limit(stored_size, kind, offset, place, kinds, limits, metadata=metadata)
    at = window.locate(offset, size)
    begin = at + BLOCK_HEADER_SIZE
    if verify or metadata:
        array = window.array
        actual = extend(extend(window.file.seed, window.summed[at : at + 20]), array[begin : begin + stored_size])
        if actual != checksum:
            raise place.checksum(offset, checksum, actual)
    stored = window.view[begin : begin + stored_size]
    if not usual:
        _check_fields(offset, header, window.file, kinds, limits, metadata=metadata)
    return Block(offset, partition, sequence, kind, CODECS[codec], plain_size, stored, stored, None, dictionary)


def check_header(window: Window, offset: int, kinds: frozenset[int], limits: Limits, *, metadata: bool) -> Block:
    """Make the checks 3 and 5 to 8 of BLK-7, of a block of which there may be no more than the header (FOL-2).

    Args:
        window: the file; 24 bytes are there.
        offset: where the block begins.
        kinds: what is allowed in this place.
        limits: the reader's limits.
        metadata: whether this is a place for metadata.

    Returns:
        The block without its payload. The caller makes the checks 9 and 10.
    """
    place = window.file.place
    at = window.locate(offset, BLOCK_HEADER_SIZE)
    header = _HEADER.unpack_from(window.data, at)
    stored_size, plain_size, partition, sequence, kind, codec, dictionary, _ = header
    check_limit(stored_size, kind, offset, place, kinds, limits, metadata=metadata)
    _check_fields(offset, header, window.file, kinds, limits, metadata=metadata)
    return Block(offset, partition, sequence, kind, CODECS[codec], plain_size, _NOTHING, _NOTHING, None, dictionary)


def check_limit(
    stored_size: int, kind: int, offset: int, place: Place, kinds: frozenset[int], limits: Limits, *, metadata: bool
) -> None:
    """Make check 3."""
    limit = limits.max_message_size if metadata else limits.max_block_size
    if kind == KIND_DICTIONARY and kind in kinds:
        limit = limits.max_dictionary_size
    if stored_size > limit:
        raise place.error(ErrorCode.LIMIT_EXCEEDED, offset, f"stored_size of at most {limit}, the limit", stored_size)


def _check_fields(
    offset: int,
    header: tuple[int, ...],
    file: InputFile,
    kinds: frozenset[int],
    limits: Limits,
    *,
    metadata: bool,
) -> None:
    """Make the checks 5 to 8."""
    place = file.place
    stored_size, plain_size, _, _, kind, codec, dictionary, _ = header
    if dictionary and file.dictionaries is None:
        raise place.error(
            ErrorCode.MALFORMED_BLOCK, offset + 18, "dictionary 0 in a file without dictionaries", dictionary
        )
    if kind not in kinds:
        unknown = kind in REFUSED_KINDS or (kind == KIND_DICTIONARY and file.dictionaries is None)
        if metadata and unknown:
            raise place.error(ErrorCode.UNSUPPORTED_FEATURE, offset + 16, "a known kind of metadata", kind)
        raise place.error(ErrorCode.MALFORMED_BLOCK, offset + 16, "a kind allowed in this place", kind)
    if codec > CODEC_ZSTD:
        raise place.error(ErrorCode.UNSUPPORTED_CODEC, offset + 17, "codec 0, 1 or 2", codec)
    if codec and kind != KIND_DATA:
        raise place.error(ErrorCode.MALFORMED_BLOCK, offset + 17, "codec none", codec)
    if dictionary and codec != CODEC_ZSTD and kind != KIND_DICTIONARY:
        raise place.error(
            ErrorCode.MALFORMED_BLOCK, offset + 18, "dictionary 0, as the codec is not Zstandard", dictionary
        )
    if stored_size >= plain_size if codec else stored_size != plain_size:
        relation = "above" if codec else "equal to stored_size,"
        raise place.error(ErrorCode.MALFORMED_BLOCK, offset + 4, f"plain_size {relation} {stored_size}", plain_size)
    if kind == KIND_DATA and not plain_size:
        raise place.error(ErrorCode.MALFORMED_BLOCK, offset + 4, "a data block of one byte or more", 0)
    if not metadata and plain_size > limits.max_plain_size:
        raise place.error(
            ErrorCode.LIMIT_EXCEEDED,
            offset + 4,
            f"plain_size of at most {limits.max_plain_size}, the limit max_plain_size",
            plain_size,
        )


def check_partition(block: Block, partition: int, place: Place) -> None:
    """Make check 9: the block is of the expected partition."""
    if block.partition != partition:
        raise place.error(
            ErrorCode.INCONSISTENT_INDEX, block.offset + 8, f"partition {partition:#x}", f"{block.partition:#x}"
        )


def check_sequence(block: Block, place: Place, *, exactly: int | None = None, above: int = -1) -> None:
    """Make check 10a: the sequence is ``exactly`` so, if that is known, and ``above`` a number."""
    if block.sequence <= above or (exactly is not None and block.sequence != exactly):
        expected = f"sequence {exactly}" if exactly is not None else f"a sequence above {above}"
        raise place.error(ErrorCode.INCONSISTENT_INDEX, block.offset + 12, expected, block.sequence)


def check_dictionary(block: Block, file: InputFile, *, own: int | None = None) -> None:
    """Make check 10b: a partition block's dictionary is before it, a dictionary block has its ``own`` number."""
    number = block.dictionary
    if own is not None:
        if number != own:
            raise file.place.error(ErrorCode.INCONSISTENT_INDEX, block.offset + 18, f"dictionary {own}", number)
    elif number and (file.dictionaries is None or number > file.dictionaries.before(block.offset)):
        raise file.place.error(
            ErrorCode.INCONSISTENT_INDEX, block.offset + 18, "the number of a dictionary before the block", number
        )


def check_padding(block: Block, window: Window) -> None:
    """Make check 11: the padding is zero."""
    length = len(block.stored)
    if not length & 7:
        return
    begin = block.offset + BLOCK_HEADER_SIZE + length
    at = window.locate(begin, -length & 7)
    padding = window.data[at : at + (-length & 7)]
    for i, value in enumerate(padding):
        if value:
            raise window.file.place.error(ErrorCode.MALFORMED_BLOCK, begin + i, "zero padding", value)


def check_content(block: Block, place: Place) -> None:
    """Make the last check of a dictionary block (DIC-4): its payload begins like a dictionary."""
    if not is_dictionary(block.stored):
        raise place.error(
            ErrorCode.MALFORMED_BLOCK,
            block.offset + BLOCK_HEADER_SIZE,
            f"a dictionary: {DICTIONARY_MAGIC.hex(' ')} and more, {MIN_DICTIONARY} bytes at least",
            bytes(block.stored[:MIN_DICTIONARY]).hex(" "),
        )


def check_dictionary_block(
    window: Window, offset: int, end: int, limits: Limits, number: int, *, sequence: int | None = None
) -> Block:
    """Check a dictionary block where nothing else is allowed (DIC-4, except the entry of a footer).

    Args:
        window: the file.
        offset: where the block begins.
        end: where its bounds end.
        limits: the reader's limits.
        number: the dictionary's.
        sequence: the block's, if it is known.
    """
    file = window.file
    block = check_block(window, offset, end, _ONLY_DICTIONARY, limits, metadata=True)
    check_partition(block, NO_PARTITION, file.place)
    check_sequence(block, file.place, exactly=sequence)
    check_dictionary(block, file, own=number)
    check_padding(block, window)
    return block


def load_dictionary(
    file: InputFile, limits: Limits, number: int, entry: DictionaryEntry, *, sequence: int | None = None
) -> Block:
    """Read a dictionary at the offset that the footer, or a walk, gives (DIC-4)."""
    end = entry.offset + BLOCK_HEADER_SIZE + pad8(entry.size)
    block = check_dictionary_block(Window(file, end), entry.offset, end, limits, number, sequence=sequence)
    if len(block.stored) != entry.size:
        found = len(block.stored)
        raise file.place.error(
            ErrorCode.INCONSISTENT_INDEX, entry.offset, f"stored_size {entry.size} of the footer", found
        )
    check_content(block, file.place)
    return block


def _take_dictionary(file: InputFile, limits: Limits, number: int) -> Dictionary:
    """Return a dictionary of the file for decoding (DIC-6)."""

    def load(number: int, entry: DictionaryEntry) -> Dictionary:
        sequence = number - 1 if file.place.role == "data" else None
        block = load_dictionary(file, limits, number, entry, sequence=sequence)
        try:
            return Dictionary(bytes(block.stored))
        except DecodeError as fault:
            raise file.place.error(fault.code, entry.offset + BLOCK_HEADER_SIZE, fault.expected, fault.found) from None

    if file.dictionaries is None:
        raise AssertionError("check 5 has refused the block")
    return file.dictionaries.take(number, load)


def decode(block: Block, limits: Limits, file: InputFile) -> Block:
    """Make check 12: return the block with its plain payload."""
    if block.codec == CODEC_NONE:
        return block
    dictionary = _take_dictionary(file, limits, block.dictionary) if block.dictionary else None
    try:
        plain = decompress(block.codec, block.stored, block.plain_size, limits.max_window_size, dictionary)
    except DecodeError as fault:
        raise file.place.error(fault.code, block.offset + BLOCK_HEADER_SIZE, fault.expected, fault.found) from None
    return block._replace(payload=plain)
