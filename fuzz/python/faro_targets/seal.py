"""Recomputes the checksums of a file of any bytes (TARGETS.md, "Seal")."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import google_crc32c

HEADER = 64
BLOCK = 24
TAIL = 24
_KIND = 16
_END_BLOCK = 132
_TAIL_MAGIC = bytes(byte ^ 0xFF for byte in b"\x89FARO\r\n\x1a")


def crc(*parts: bytes | bytearray) -> int:
    """The CRC-32C of some byte strings, one after another."""
    value = 0
    for part in parts:
        value = google_crc32c.extend(value, bytes(part))
    return value


def pad8(size: int) -> int:
    """A size rounded up to a multiple of 8."""
    return (size + 7) & ~7


def block_checksum(file: bytes | bytearray, at: int, size: int) -> int:
    """The correct checksum of a block (BLK-9)."""
    return crc(file[40:56], file[at : at + 20], file[at + BLOCK : at + BLOCK + size])


def _blocks(file: bytes | bytearray, end: int) -> Iterator[tuple[int, int]]:
    """Where each block begins, and its stored size, as far as the sizes lead."""
    at = HEADER
    while at + BLOCK <= end:
        size = struct.unpack_from("<I", file, at)[0]
        if at + BLOCK + size > end:
            return
        yield at, size
        at += BLOCK + pad8(size)


def seal_stream(raw: bytes) -> bytes:
    """A stream of fragments with correct checksums."""
    if len(raw) < HEADER:
        return raw
    fragment = bytearray(raw)
    struct.pack_into("<I", fragment, 60, crc(fragment[:60]))
    for at, size in _blocks(fragment, len(fragment)):
        struct.pack_into("<I", fragment, at + 20, block_checksum(fragment, at, size))
        if fragment[at + _KIND] == _END_BLOCK:
            end = at + BLOCK + pad8(size)
            return bytes(fragment[:end]) + seal_stream(raw[end:])
    return bytes(fragment)


def seal(raw: bytes) -> bytes:
    """The file with correct checksums."""
    if len(raw) < HEADER:
        return raw
    file = bytearray(raw)
    struct.pack_into("<I", file, 60, crc(file[:60]))
    tail = len(file) >= HEADER + TAIL and file.endswith(_TAIL_MAGIC)
    end = len(file) - (TAIL if tail else 0)
    for at, size in _blocks(file, end):
        struct.pack_into("<I", file, at + 20, block_checksum(file, at, size))
    if tail:
        begin = len(file) - TAIL
        struct.pack_into("<I", file, begin + 12, crc(file[begin : begin + 12], file[begin + 16 :]))
    return bytes(file)
