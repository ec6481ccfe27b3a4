"""A model of `rebuild`, written from the text: HDR-1, REP-9, REP-7, REP-5, REP-6, DIC-4 and BLK-7."""

from __future__ import annotations

import struct

import numpy as np
from faro_format import Limits
from faro_format._message.build import build_region

from faro_targets.seal import BLOCK, HEADER, block_checksum, crc, pad8

_MAGIC = b"\x89FARO\r\n\x1a"
_SHARED = 0xFFFFFFFF
_MOST_PARTITIONS = 1 << 28
_DAMAGE = ("damage", 0)

Fault = tuple[str, int | None]


def expected(file: bytes, limits: Limits) -> str:
    """`CODE at OFFSET`, or what `rebuild` keeps."""
    fault = _header(file)
    return _blocks(file, limits) if fault is None else f"{fault[0]} at {fault[1]}"


def _blocks(file: bytes, limits: Limits) -> str:
    following: dict[int, int] = {}
    at, count, orphaned, regions = HEADER, 0, 0, 0
    kept, dictionaries = HEADER, 0
    open_region = _Region(at)
    fault: Fault | None = None
    while at < len(file):
        if _is_dictionary(file, at):
            fault = _dictionary(file, at, limits, dictionaries)
            if fault is not None:
                break
            if open_region.extents:
                if not open_region.fits(regions, file, limits):
                    return f"limit-exceeded at {open_region.begin}"
                regions += 1
            dictionaries += 1
            at += BLOCK + pad8(struct.unpack_from("<I", file, at)[0])
            open_region = _Region(at)
            continue
        fault = _block(file, at, limits, following, dictionaries)
        if fault is not None:
            break
        stored, _, partition, sequence = struct.unpack_from("<4I", file, at)
        size = BLOCK + pad8(stored)
        following[partition] = sequence + 1
        if open_region.ends_before(partition):
            if not open_region.fits(regions, file, limits):
                return f"limit-exceeded at {open_region.begin}"
            regions += 1
            open_region = _Region(at)
        open_region.add(partition, sequence, size)
        orphaned += partition == _SHARED
        at += size
        kept = at
        count += 1
    if fault is not None and fault is not _DAMAGE:
        return f"{fault[0]} at {fault[1]}"
    if open_region.extents:
        if not open_region.fits(regions, file, limits):
            return f"limit-exceeded at {open_region.begin}"
        regions += 1
    return f"regions {regions} blocks {count} kept {kept} cut {len(file) - kept} orphaned {orphaned}"


class _Region:
    """A region that `rebuild` forms (REP-6)."""

    def __init__(self, begin: int) -> None:
        self.begin = begin
        self.extents: list[list[int]] = []
        """Partition, sequence of the first block, units of 8 bytes."""

    def ends_before(self, partition: int) -> bool:
        # The partition number of shared blocks is above all partitions.
        return bool(self.extents) and partition < self.extents[-1][0]

    def add(self, partition: int, sequence: int, size: int) -> None:
        if not self.extents or self.extents[-1][0] != partition:
            self.extents.append([partition, sequence, 0])
        self.extents[-1][2] += size // 8

    def fits(self, number: int, file: bytes, limits: Limits) -> bool:
        """Whether a reader with these limits accepts it as region `number`, dense or sparse by SRT-8."""
        count, reader_features = struct.unpack_from("<2I", file, 12)
        first = struct.unpack_from("<I", file, 56)[0]
        own = [extent for extent in self.extents if extent[0] != _SHARED]
        sparse = 2 * len(own) + 1 < count
        slots = own
        if not sparse:
            by_partition = {extent[0]: extent for extent in own}
            slots = [by_partition.get(first + slot, [0, 0, 0]) for slot in range(count)]
        offsets = np.cumsum([0, *(extent[2] for extent in slots)])
        message = build_region(
            sequence=number,
            data_offset=self.begin,
            data_length=8 * sum(extent[2] for extent in self.extents),
            offsets=offsets.astype(np.uint32),
            partitions=np.array([extent[0] for extent in slots], np.uint32) if sparse else None,
            shared=[(extent[2], b"", extent[1]) for extent in self.extents if extent[0] == _SHARED],
            first_block=np.array([extent[1] for extent in slots], np.uint32) if reader_features & 1 else None,
        )
        return number < limits.max_regions and len(message) <= limits.max_message_size


def _header(file: bytes) -> Fault | None:
    if file[:8] != _MAGIC[: len(file)]:
        return "not-faro", 0
    if len(file) < HEADER:
        return "truncated", len(file)
    kind, major, _, framing, count, reader, writer = struct.unpack_from("<4B3I", file, 8)
    first, checksum = struct.unpack_from("<2I", file, 56)
    rules: list[tuple[bool, str, int | None]] = [
        (crc(file[:60]) == checksum, "checksum", 0),
        (major == 1, "unsupported-version", 9),
        (reader <= 3, "unsupported-feature", 16),
        (kind != 4, "unsupported-feature", 8),
        (kind in (1, 2, 3, 5), "malformed-header", 8),
        (framing <= 2, "malformed-header", 11),
        (1 <= count <= _MOST_PARTITIONS, "malformed-header", 12),
        (first + count <= _MOST_PARTITIONS, "malformed-header", 56),
        (kind == 1, "mismatched-pair", 8),
        (writer == 0, "unsupported-feature", 20),
        (framing != 2, "invalid-argument", None),
    ]
    return next(((code, at) for holds, code, at in rules if not holds), None)


def _is_dictionary(file: bytes, at: int) -> bool:
    return bool(file[16] & 2) and len(file) - at >= BLOCK and file[at + 16] == 131


def _dictionary(file: bytes, at: int, limits: Limits, known: int) -> Fault | None:
    """DIC-5, then the first check of DIC-4 that fails."""
    if known >= limits.max_dictionaries:
        return "limit-exceeded", at
    stored, plain, partition, sequence, _, codec, number, checksum = struct.unpack_from("<4I2BHI", file, at)
    if BLOCK + pad8(stored) > len(file) - at:
        return _DAMAGE
    if stored > limits.max_dictionary_size:
        return "limit-exceeded", at
    if block_checksum(file, at, stored) != checksum:
        return _DAMAGE
    if codec > 2:
        return "unsupported-codec", at + 17
    right = (codec, plain, partition, sequence, number) == (0, stored, _SHARED, known, known + 1)
    begin = at + BLOCK
    padding = file[begin + stored : begin + pad8(stored)]
    begins = stored >= 8 and file[begin : begin + 4] == b"\x37\xa4\x30\xec"
    return None if right and begins and not any(padding) else _DAMAGE


def _block(file: bytes, at: int, limits: Limits, following: dict[int, int], dictionaries: int) -> Fault | None:
    """The first check of BLK-7 that fails, except 12. Damage needs no offset here."""
    left = len(file) - at
    if left < BLOCK:
        return _DAMAGE
    stored, plain, partition, sequence, kind, codec, number, checksum = struct.unpack_from("<4I2BHI", file, at)
    if BLOCK + pad8(stored) > left:
        return _DAMAGE
    if stored > limits.max_block_size:
        return "limit-exceeded", at
    if block_checksum(file, at, stored) != checksum or not (kind <= 1 or 64 <= kind < 128):
        return _DAMAGE
    if number and not file[16] & 2:
        return _DAMAGE
    if codec > 2:
        return "unsupported-codec", at + 17
    sized = stored == plain if codec == 0 else kind == 0 and stored < plain
    allowed = not number or (codec == 2 and kind == 0)
    if not allowed or not sized or (kind == 0 and plain < 1):
        return _DAMAGE
    if plain > limits.max_plain_size:
        return "limit-exceeded", at + 4
    reader, first, count = (struct.unpack_from("<I", file, place)[0] for place in (16, 56, 12))
    known = partition == _SHARED or first <= partition < first + count
    due = following.get(partition, 0)
    in_stream = sequence >= due if reader & 1 else sequence == due
    padding = file[at + BLOCK + stored : at + BLOCK + pad8(stored)]
    return None if known and in_stream and number <= dictionaries and not any(padding) else _DAMAGE
