"""Takes a file apart into header, blocks and the rest, and puts it together again with correct checksums."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace

from generate.message import Fields, canonical
from generate.raw import (
    BLOCK_HEADER_SIZE,
    HEADER_SIZE,
    KIND_FOOTER,
    KIND_REGION,
    KIND_SCHEMA,
    TAIL_MAGIC,
    TAIL_SIZE,
    block_crc,
    file_id_of,
    pad8,
    tail,
    u32,
)

from differential.messages import DecodeError, decode

ROOT_OF_KIND = {KIND_REGION: "Region", KIND_FOOTER: "Footer", KIND_SCHEMA: "Schema"}
# The files of an output by role: data and index, or single.
Files = dict[str, bytes]
_HEAD = struct.Struct("<IIIIBBH")


@dataclass(frozen=True)
class Piece:
    """One block of a file."""

    offset: int
    head: bytes  # the 20 bytes before the checksum
    payload: bytes
    padding: bytes
    sealed: int | None = None  # the checksum, right or wrong; None: the right one

    @property
    def kind(self) -> int:
        """The block's kind."""
        return self.head[16]

    @property
    def codec(self) -> int:
        """The block's codec."""
        return self.head[17]

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return BLOCK_HEADER_SIZE + len(self.payload) + len(self.padding)

    def encode(self, file_id: bytes) -> bytes:
        """The block's bytes, with the checksum for that file_id (BLK-9) unless it has its own."""
        checksum = block_crc(file_id, self.head, self.payload) if self.sealed is None else self.sealed
        return self.head + u32(checksum) + self.payload + self.padding

    def with_payload(self, payload: bytes) -> Piece:
        """The same block with another payload, sizes and padding to fit."""
        stored, plain, *rest = _HEAD.unpack(self.head)
        plain = len(payload) if self.codec == 0 or plain == stored else plain
        head = _HEAD.pack(len(payload), plain, *rest)
        return replace(self, head=head, payload=payload, padding=bytes(pad8(len(payload)) - len(payload)))


@dataclass
class Taken:
    """A file taken apart. `rest` is everything after the last complete block, except the tail."""

    header: bytes
    pieces: list[Piece] = field(default_factory=list)
    rest: bytes = b""
    tail: bytes = b""

    @property
    def file_id(self) -> bytes:
        """The file's file_id, or the part of it that is there."""
        return file_id_of(self.header)


def take_apart(data: bytes) -> Taken:
    """The parts of a file; it may be any bytes."""
    taken = Taken(data[:HEADER_SIZE])
    end = len(data)
    if end >= HEADER_SIZE + TAIL_SIZE and data.endswith(TAIL_MAGIC):
        end -= TAIL_SIZE
        taken.tail = data[end:]
    at = min(HEADER_SIZE, end)
    while at + BLOCK_HEADER_SIZE <= end:
        stored = struct.unpack_from("<I", data, at)[0]
        begin = at + BLOCK_HEADER_SIZE
        if begin + pad8(stored) > end:
            break
        payload = data[begin : begin + stored]
        taken.pieces.append(Piece(at, data[at : at + 20], payload, data[begin + stored : begin + pad8(stored)]))
        at = begin + pad8(stored)
    taken.rest = data[at:end]
    return taken


def put_together(taken: Taken) -> bytes:
    """The parts one after another. Only the checksums of blocks are recomputed."""
    return taken.header + b"".join(piece.encode(taken.file_id) for piece in taken.pieces) + taken.rest + taken.tail


def put_together_moved(taken: Taken) -> bytes:
    """As `put_together`, and all offsets of messages, regions and the footer follow the blocks that moved."""
    for _ in range(2):
        # Twice: a corrected message may change its size, and so move everything after it.
        where = _places(taken.pieces)
        single = any(piece.kind < KIND_REGION for piece in taken.pieces)
        taken.pieces = [_mend(piece, where, single, taken.pieces) for piece in taken.pieces]
    footers = [piece for piece in taken.pieces if piece.kind == KIND_FOOTER]
    if footers and taken.tail:
        at = _places(taken.pieces)[footers[-1].offset]
        taken.tail = tail(at, len(footers[-1].payload))
    return put_together(taken)


def _places(pieces: list[Piece]) -> dict[int, int]:
    """The new offset of the block that was at an offset; the first, if it is there twice."""
    places: dict[int, int] = {}
    at = HEADER_SIZE
    for piece in pieces:
        places.setdefault(piece.offset, at)
        at += piece.size
    return places


def _mend(piece: Piece, where: dict[int, int], single: bool, pieces: list[Piece]) -> Piece:
    root = ROOT_OF_KIND.get(piece.kind)
    if root not in ("Region", "Footer"):
        return piece
    try:
        fields = decode(root, piece.payload)
        changed = _mend_region(fields, where) if root == "Region" and single else False
        if root == "Footer":
            changed = _mend_footer(fields, where, single, pieces)
        return piece.with_payload(canonical(root, fields)) if changed else piece
    except (DecodeError, struct.error, ValueError, TypeError, OverflowError):
        return piece


def _mend_region(fields: Fields, where: dict[int, int]) -> bool:
    old = fields.get("data_offset", 0)
    fields["data_offset"] = where.get(old, old)
    return bool(fields["data_offset"] != old)


def _mend_footer(fields: Fields, where: dict[int, int], single: bool, pieces: list[Piece]) -> bool:
    sizes = {piece.offset: len(piece.payload) for piece in pieces}
    entries = []
    for message, size, flags, data, length in fields.get("regions") or []:
        moved = where.get(data, data) if single else data
        entries.append((where.get(message, message), sizes.get(message, size), flags, moved, length))
    changed = entries != [tuple(entry) for entry in fields.get("regions") or []]
    if changed:
        fields["regions"] = entries
    known = [tuple(entry) for entry in fields.get("dictionaries") or []] if single else []
    moved_too = [(where.get(at, at), sizes.get(at, size), reserved) for at, size, reserved in known]
    if moved_too != known:
        fields["dictionaries"] = moved_too
        changed = True
    return changed
