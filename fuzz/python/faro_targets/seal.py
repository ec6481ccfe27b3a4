"""Recomputes the checksums of a file of any bytes (TARGETS.md, "Seal")."""

from __future__ import annotations

import struct

import google_crc32c

HEADER = 64
BLOCK = 24
TAIL = 24
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


def seal(raw: bytes) -> bytes:
    """The file with correct checksums."""
    if len(raw) < HEADER:
        return raw
    file = bytearray(raw)
    struct.pack_into("<I", file, 60, crc(file[:60]))
    tail = len(file) >= HEADER + TAIL and file.endswith(_TAIL_MAGIC)
    end = len(file) - (TAIL if tail else 0)
    at = HEADER
    while at + BLOCK <= end:
        size = struct.unpack_from("<I", file, at)[0]
        if at + BLOCK + size > end:
            break
        struct.pack_into("<I", file, at + 20, block_checksum(file, at, size))
        at += BLOCK + pad8(size)
    if tail:
        begin = len(file) - TAIL
        struct.pack_into("<I", file, begin + 12, crc(file[begin : begin + 12], file[begin + 16 :]))
    return bytes(file)
