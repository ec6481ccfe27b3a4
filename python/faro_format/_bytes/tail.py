"""The tail: the 24 bytes that end a finished file (TAIL-1)."""

from __future__ import annotations

import struct

from faro_format._bytes.checksum import crc32c
from faro_format._bytes.header import MAGIC

TAIL_SIZE = 24
TAIL_MAGIC = bytes(byte ^ 0xFF for byte in MAGIC)
_TAIL = struct.Struct("<QII8s")


def encode_tail(footer_offset: int, footer_size: int) -> bytes:
    """Return the 24 bytes that end a finished file (TAIL-1)."""
    head = struct.pack("<QI", footer_offset, footer_size)
    return head + crc32c(TAIL_MAGIC, crc32c(head)).to_bytes(4, "little") + TAIL_MAGIC


def parse_tail(raw: bytes) -> tuple[int, int, int, int]:
    """Return a tail's footer_offset and footer_size, its stored checksum, and the computed one."""
    footer_offset, footer_size, checksum, magic = _TAIL.unpack(raw)
    return footer_offset, footer_size, checksum, crc32c(magic, crc32c(raw[:12]))
