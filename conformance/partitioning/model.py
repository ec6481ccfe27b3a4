"""A model of the hash of a key, written from spec/key-hash.md alone, for Python values."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

import xxhash

Value = None | bool | int | float | str | bytes | tuple[int, int]
"""A value of a key; a decimal is its unscaled value and its scale."""


def encoded(value: Value) -> bytes:
    """The encoding of a value, KEY-1."""
    if value is None:
        return b"\0"
    if isinstance(value, bool):
        return bytes([1, value])
    if isinstance(value, int):
        return struct.pack("<Bq", 2, value) if value < 1 << 63 else struct.pack("<BQ", 3, value)
    if isinstance(value, float):
        return b"\4" + (bytes.fromhex("000000000000f87f") if value != value else struct.pack("<d", value or 0.0))
    if isinstance(value, tuple):
        return b"\7" + value[0].to_bytes(16, "little", signed=True) + struct.pack("<b", value[1])
    tag, data = (5, value.encode()) if isinstance(value, str) else (6, value)
    return struct.pack("<BI", tag, len(data)) + data


def by_hash(keys: Iterable[Sequence[Value]], partitions: int) -> list[int]:
    """The partition of each key (KEY-2)."""
    return [xxhash.xxh64_intdigest(b"".join(map(encoded, key)), seed=0) % partitions for key in keys]
