"""The 64 bytes at the start of every file (HDR-1 to HDR-5; INT-5 for bytes without a meaning yet)."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from enum import IntEnum

from faro_format._bytes.checksum import crc32c
from faro_format._error import ErrorCode, Place

MAGIC = b"\x89FARO\r\n\x1a"
HEADER_SIZE = 64


class FileKind(IntEnum):
    """What a file is (HDR-1)."""

    DATA = 1
    """The data file of a pair."""
    INDEX = 2
    """The index file of a pair."""
    SINGLE = 3
    """Data and index in one file."""
    FRAGMENT = 5
    """A part of an output, as it is pushed to a merge (FRG-2)."""


_MANIFEST = 4
_KINDS = frozenset(FileKind)


class Framing(IntEnum):
    """What the plain payloads of data blocks are (FRM-1 to FRM-3)."""

    OPAQUE = 0
    """Bytes that only the engine understands."""
    RECORDS = 1
    """Whole records, each after its length."""
    ARROW = 2
    """One encapsulated Arrow IPC record batch message in each block."""


# Code that runs for each record uses these: finding a member in its class takes several times as long.
FRAMING_OPAQUE, FRAMING_RECORDS, FRAMING_ARROW = Framing

SELECTIVE = 1
"""The reader feature: sequences may have gaps (VER-3)."""
DICTIONARIES = 2
"""The reader feature: blocks may be compressed with dictionaries (DIC)."""
KNOWN_READER_FEATURES = SELECTIVE | DICTIONARIES
KNOWN_WRITER_FEATURES = 0

MAX_PARTITIONS = 1 << 28
MERGED = (1 << 64) - 1
"""The producer of a merged file (MRG-1)."""
VERSION_MAJOR = 1
VERSION_MINOR = 0

_STRUCT = struct.Struct("<8sBBBBIIIQQ16sII")


@dataclass(frozen=True, slots=True)
class FileHeader:
    """The fields of a file's header."""

    kind: FileKind
    framing: Framing
    partition_count: int
    first_partition: int = 0
    producer: int = 0
    attempt: int = 0
    file_id: bytes = bytes(16)
    reader_features: int = 0
    writer_features: int = 0
    version_minor: int = VERSION_MINOR

    @property
    def selective(self) -> bool:
        """Whether sequences of partition blocks may have gaps (BLK-3)."""
        return bool(self.reader_features & SELECTIVE)

    @property
    def dictionaries(self) -> bool:
        """Whether blocks may be compressed with dictionaries of the file (DIC)."""
        return bool(self.reader_features & DICTIONARIES)

    @property
    def merged(self) -> bool:
        """Whether the file is merged: its blocks come from many producers (MRG-1)."""
        return self.producer == MERGED

    @property
    def end_partition(self) -> int:
        """One more than the file's last partition."""
        return self.first_partition + self.partition_count

    @property
    def _seed(self) -> int:
        """The checksum of file_id, which begins the checksum of each block of the file (BLK-9)."""
        return crc32c(self.file_id)

    def _with_kind(self, kind: FileKind) -> FileHeader:
        """Return this header for another file of the same output."""
        return replace(self, kind=kind)

    def _encode(self) -> bytes:
        """Return the header's 64 bytes, checksum included."""
        raw = _STRUCT.pack(
            MAGIC,
            self.kind,
            VERSION_MAJOR,
            self.version_minor,
            self.framing,
            self.partition_count,
            self.reader_features,
            self.writer_features,
            self.producer,
            self.attempt,
            self.file_id,
            self.first_partition,
            0,
        )[:60]
        return raw + crc32c(raw).to_bytes(4, "little")


def parse_header(raw: bytes, size: int, place: Place) -> FileHeader:
    """Check a header in the order of HDR-1 and return it.

    Args:
        raw: the first 64 bytes of the file, or all of it if it is shorter.
        size: the size of the file in bytes.
        place: the file, for errors.

    Raises:
        FaroError: the first check of HDR-1 that fails.
    """
    if raw[:8] != MAGIC[: len(raw)]:
        text_mode = raw[:5] == MAGIC[:5]
        hint = " (it looks as if a transfer in text mode changed line ends)" if text_mode else ""
        raise place.error(ErrorCode.NOT_FARO, 0, f"magic {MAGIC.hex(' ')}", raw[:8].hex(" ") + hint)
    if len(raw) < HEADER_SIZE:
        raise place.error(ErrorCode.TRUNCATED, size, "a header of 64 bytes", f"{size} bytes")
    (
        _,
        kind,
        major,
        minor,
        framing,
        count,
        reader_features,
        writer_features,
        producer,
        attempt,
        file_id,
        first,
        checksum,
    ) = _STRUCT.unpack(raw)
    computed = crc32c(raw[:60])
    if computed != checksum:
        raise place.checksum(0, checksum, computed)
    if major != VERSION_MAJOR:
        raise place.error(ErrorCode.UNSUPPORTED_VERSION, 9, f"major version {VERSION_MAJOR}", major)
    if reader_features & ~KNOWN_READER_FEATURES:
        raise place.error(ErrorCode.UNSUPPORTED_FEATURE, 16, "known reader features only", f"{reader_features:#x}")
    if kind == _MANIFEST:
        raise place.error(ErrorCode.UNSUPPORTED_FEATURE, 8, "file kind 1, 2, 3 or 5", "a manifest")
    if kind not in _KINDS:
        raise place.error(ErrorCode.MALFORMED_HEADER, 8, "file kind 1, 2, 3 or 5", kind)
    if framing > FRAMING_ARROW:
        raise place.error(ErrorCode.MALFORMED_HEADER, 11, "framing 0, 1 or 2", framing)
    if not 1 <= count <= MAX_PARTITIONS:
        raise place.error(ErrorCode.MALFORMED_HEADER, 12, "1 to 2^28 partitions", count)
    if first + count > MAX_PARTITIONS:
        raise place.error(ErrorCode.MALFORMED_HEADER, 56, "partition numbers below 2^28", first + count)
    return FileHeader(
        FileKind(kind),
        Framing(framing),
        count,
        first,
        producer,
        attempt,
        file_id,
        reader_features,
        writer_features,
        minor,
    )


PAIR_FIELDS: tuple[tuple[str, int], ...] = (
    ("file_id", 40),
    ("partition_count", 12),
    ("first_partition", 56),
    ("producer", 24),
    ("attempt", 32),
    ("framing", 11),
    ("reader_features", 16),
    ("writer_features", 20),
    ("version_minor", 10),
)
"""The fields in which the headers of a pair agree, in the order of FIL-3, with their offsets."""
