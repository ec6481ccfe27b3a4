"""Blocks: their header, and the checks of BLK-7 in their order."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from faro.checksum import extend
from faro.codec import CODEC_NONE, DecodeError, decompress
from faro.error import Code, Place
from faro.limits import Limits
from faro.source import Window

BLOCK_HEADER_SIZE = 24
NO_PARTITION = 0xFFFFFFFF
"""The partition number of blocks in shared extents and of metadata blocks (BLK-4)."""

KIND_DATA = 0
KIND_EVENT = 1
KIND_REGION = 128
KIND_FOOTER = 129
KIND_SCHEMA = 130

PARTITION_KINDS = frozenset((KIND_DATA, KIND_EVENT, *range(64, 128)))
"""The kinds of blocks in own and shared extents (BLK-7)."""
SKIPPABLE_KINDS = frozenset(range(192, 256))
"""Metadata that a reader may skip."""
REFUSED_KINDS = frozenset(range(131, 192))
"""Metadata that a reader of this version must refuse (BLK-7, check 6a)."""

_HEADER = struct.Struct("<IIIIBBHI")
_PREFIX = struct.Struct("<IIIIBBH")
PADDING = tuple(bytes(-n % 8) for n in range(8))
"""The zero bytes behind a payload, by its length modulo 8."""
_NOTHING = memoryview(b"")


def pad8(size: int) -> int:
    """Return ``size`` rounded up to a multiple of 8 (INT-3)."""
    return (size + 7) & ~7


class Block(NamedTuple):
    """A block that was read: where it stands, its header, and its payload."""

    offset: int
    """Where the block begins, absolute, in bytes."""
    partition: int
    """Its absolute partition number, or :data:`NO_PARTITION`."""
    sequence: int
    """Its number in its stream."""
    kind: int
    """0 for data, else an event's (or metadata's) kind."""
    codec: int
    """How it is stored: 0 plain, 1 LZ4, 2 Zstandard."""
    plain_size: int
    """Bytes of the plain payload."""
    stored: memoryview
    """The payload as stored."""
    payload: memoryview | bytes
    """The plain payload; the stored one where it was not asked for."""
    members: npt.NDArray[np.uint32] | None
    """In a range, for a shared block: which partitions of the range read it; else None."""

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
    codec: int,
) -> bytes:
    """Return the 24 bytes that stand before a stored payload, checksum included.

    Args:
        seed: the checksum of the file's file_id, which goes before the block's own bytes (BLK-9).
        stored: the payload as stored.
        plain_size: bytes after decompression.
        partition: absolute, or :data:`NO_PARTITION`.
        sequence: the block's number in its stream.
        kind: see BLK.
        codec: 0 plain, 1 LZ4, 2 Zstandard.
    """
    prefix = _PREFIX.pack(len(stored), plain_size, partition, sequence, kind, codec, 0)
    return prefix + extend(extend(seed, prefix), stored).to_bytes(4, "little")


def encode_metadata(seed: int, kind: int, sequence: int, message: bytes) -> bytes:
    """Return a whole metadata block, padding included (BLK-5); see :func:`encode_header`."""
    header = encode_header(seed, message, len(message), NO_PARTITION, sequence, kind, CODEC_NONE)
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
        raise place.error(Code.MALFORMED_BLOCK, offset, "a block header of 24 bytes", f"{end - offset} bytes")
    at = window.locate(offset, BLOCK_HEADER_SIZE)
    stored_size, plain_size, partition, sequence, kind, codec, reserved, checksum = _HEADER.unpack_from(window.data, at)
    size = BLOCK_HEADER_SIZE + pad8(stored_size)
    if size > end - offset:
        raise place.error(Code.MALFORMED_BLOCK, offset, f"a block of at most {end - offset} bytes", size)
    _check_limit(stored_size, offset, place, limits, metadata=metadata)
    at = window.locate(offset, size)
    begin = at + BLOCK_HEADER_SIZE
    if verify or metadata:
        array = window.array
        actual = extend(extend(window.file.seed, window.data[at : at + 20]), array[begin : begin + stored_size])
        if actual != checksum:
            raise place.error(Code.CHECKSUM, offset, f"checksum {actual:08x}", f"{checksum:08x}")
    stored = memoryview(window.data)[begin : begin + stored_size]
    block = Block(offset, partition, sequence, kind, codec, plain_size, stored, stored, None)
    _check_fields(block, stored_size, reserved, place, kinds, limits, metadata=metadata)
    return block


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
    stored_size, plain_size, partition, sequence, kind, codec, reserved, _ = _HEADER.unpack_from(window.data, at)
    _check_limit(stored_size, offset, place, limits, metadata=metadata)
    block = Block(offset, partition, sequence, kind, codec, plain_size, _NOTHING, _NOTHING, None)
    _check_fields(block, stored_size, reserved, place, kinds, limits, metadata=metadata)
    return block


def _check_limit(stored_size: int, offset: int, place: Place, limits: Limits, *, metadata: bool) -> None:
    """Make check 3."""
    limit = limits.max_message_size if metadata else limits.max_block_size
    if stored_size > limit:
        raise place.error(Code.LIMIT_EXCEEDED, offset, f"stored_size of at most {limit}", stored_size)


def _check_fields(
    block: Block,
    stored_size: int,
    reserved: int,
    place: Place,
    kinds: frozenset[int],
    limits: Limits,
    *,
    metadata: bool,
) -> None:
    """Make the checks 5 to 8."""
    offset, kind, codec, plain_size = block.offset, block.kind, block.codec, block.plain_size
    if reserved:
        raise place.error(Code.MALFORMED_BLOCK, offset + 18, "zero", reserved)
    if kind not in kinds:
        if metadata and kind in REFUSED_KINDS:
            raise place.error(Code.UNSUPPORTED_FEATURE, offset + 16, "a known kind of metadata", kind)
        raise place.error(Code.MALFORMED_BLOCK, offset + 16, "a kind allowed in this place", kind)
    if codec > 2:
        raise place.error(Code.UNSUPPORTED_CODEC, offset + 17, "codec 0, 1 or 2", codec)
    if codec and kind != KIND_DATA:
        raise place.error(Code.MALFORMED_BLOCK, offset + 17, "codec none", codec)
    if stored_size >= plain_size if codec else stored_size != plain_size:
        relation = "more" if codec else "as many"
        raise place.error(Code.MALFORMED_BLOCK, offset + 4, f"{relation} plain bytes as {stored_size}", plain_size)
    if kind == KIND_DATA and not plain_size:
        raise place.error(Code.MALFORMED_BLOCK, offset + 4, "a data block with bytes", 0)
    if not metadata and plain_size > limits.max_plain_size:
        raise place.error(Code.LIMIT_EXCEEDED, offset + 4, f"plain_size of at most {limits.max_plain_size}", plain_size)


def check_partition(block: Block, partition: int, place: Place) -> None:
    """Make check 9: the block is of the expected partition."""
    if block.partition != partition:
        raise place.error(
            Code.INCONSISTENT_INDEX, block.offset + 8, f"partition {partition:#x}", f"{block.partition:#x}"
        )


def check_sequence(block: Block, place: Place, *, exactly: int | None = None, above: int = -1) -> None:
    """Make check 10: the sequence is ``exactly`` so, if that is known, and ``above`` a number."""
    if block.sequence <= above or (exactly is not None and block.sequence != exactly):
        expected = f"sequence {exactly}" if exactly is not None else f"a sequence above {above}"
        raise place.error(Code.INCONSISTENT_INDEX, block.offset + 12, expected, block.sequence)


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
            raise window.file.place.error(Code.MALFORMED_BLOCK, begin + i, "zero padding", value)


def decode(block: Block, limits: Limits, place: Place) -> Block:
    """Make check 12: return the block with its plain payload."""
    if block.codec == CODEC_NONE:
        return block
    try:
        plain = decompress(block.codec, block.stored, block.plain_size, limits.max_window_size)
    except DecodeError as fault:
        raise place.error(fault.code, block.offset + BLOCK_HEADER_SIZE, fault.expected, fault.found) from None
    return block._replace(payload=plain)
