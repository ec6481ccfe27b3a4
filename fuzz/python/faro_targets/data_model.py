"""What `rebuild` must say of a data file: HDR-1, REP-9, REP-7, REP-5 and BLK-7, written from the text."""

from __future__ import annotations

import struct

from faro import Limits

from faro_targets.seal import BLOCK, HEADER, block_checksum, crc, pad8

_MAGIC = b"\x89FARO\r\n\x1a"
_SHARED = 0xFFFFFFFF
_MOST_PARTITIONS = 1 << 28
_DAMAGE = ("damage", 0)

Fault = tuple[str, int | None]


def expected(file: bytes, limits: Limits) -> str:
    """`CODE at OFFSET`, or what is kept."""
    fault = _header(file)
    if fault is not None:
        return f"{fault[0]} at {fault[1]}"
    following: dict[int, int] = {}
    at, count = HEADER, 0
    while at < len(file):
        fault = _block(file, at, limits, following)
        if fault is not None:
            break
        stored, _, partition, sequence = struct.unpack_from("<4I", file, at)
        following[partition] = sequence + 1
        at += BLOCK + pad8(stored)
        count += 1
    if fault is not None and fault is not _DAMAGE:
        return f"{fault[0]} at {fault[1]}"
    return f"blocks {count} kept {at} cut {len(file) - at}"


def _header(file: bytes) -> Fault | None:
    if file[:8] != _MAGIC[: len(file)]:
        return "not-faro", 0
    if len(file) < HEADER:
        return "truncated", len(file)
    kind, major, _, framing, count, reader, writer = struct.unpack_from("<4B3I", file, 8)
    first = struct.unpack_from("<I", file, 36)[0]
    reserved, checksum = struct.unpack_from("<2I", file, 56)
    rules: list[tuple[bool, str, int | None]] = [
        (crc(file[:60]) == checksum, "checksum", 0),
        (major == 1, "unsupported-version", 9),
        (reader <= 1, "unsupported-feature", 16),
        (kind != 4, "unsupported-feature", 8),
        (kind in (1, 2, 3), "malformed-header", 8),
        (framing <= 2, "malformed-header", 11),
        (1 <= count <= _MOST_PARTITIONS, "malformed-header", 12),
        (first + count <= _MOST_PARTITIONS, "malformed-header", 36),
        (reserved == 0, "malformed-header", 56),
        (kind == 1, "mismatched-pair", 8),
        (writer == 0, "unsupported-feature", 20),
        (framing != 2, "invalid-argument", None),
    ]
    return next(((code, at) for holds, code, at in rules if not holds), None)


def _block(file: bytes, at: int, limits: Limits, following: dict[int, int]) -> Fault | None:
    """The first check of BLK-7 that fails, without 12. What is damage needs no place."""
    left = len(file) - at
    if left < BLOCK:
        return _DAMAGE
    stored, plain, partition, sequence, kind, codec, reserved, checksum = struct.unpack_from("<4I2BHI", file, at)
    if BLOCK + pad8(stored) > left:
        return _DAMAGE
    if stored > limits.max_block_size:
        return "limit-exceeded", at
    if block_checksum(file, at, stored) != checksum or reserved or not (kind <= 1 or 64 <= kind < 128):
        return _DAMAGE
    if codec > 2:
        return "unsupported-codec", at + 17
    sized = stored == plain if codec == 0 else kind == 0 and stored < plain
    if not sized or (kind == 0 and plain < 1):
        return _DAMAGE
    if plain > limits.max_plain_size:
        return "limit-exceeded", at + 4
    reader, first, count = (struct.unpack_from("<I", file, place)[0] for place in (16, 36, 12))
    known = partition == _SHARED or first <= partition < first + count
    due = following.get(partition, 0)
    in_stream = sequence >= due if reader & 1 else sequence == due
    padding = file[at + BLOCK + stored : at + BLOCK + pad8(stored)]
    return None if known and in_stream and not any(padding) else _DAMAGE
