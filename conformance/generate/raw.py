"""The bytes outside of messages: headers, blocks and tails. They are correct unless a case makes them wrong."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

import google_crc32c

MAGIC = bytes.fromhex("894641524f0d0a1a")
TAIL_MAGIC = bytes(b ^ 0xFF for b in MAGIC)
NOBODY = 0xFFFFFFFF
HEADER_SIZE = 64
BLOCK_HEADER_SIZE = 24
TAIL_SIZE = 24
FILE_ID = bytes.fromhex("f0e1d2c3b4a5468798a7b6c5d4e3f201")

DATA, INDEX, SINGLE, MANIFEST, FRAGMENT = 1, 2, 3, 4, 5
MERGED = (1 << 64) - 1
"""The producer of a merged file."""
OPAQUE, RECORDS, ARROW = 0, 1, 2
NONE, LZ4, ZSTD = 0, 1, 2
KIND_DATA, KIND_EVENT, KIND_REGION, KIND_FOOTER, KIND_SCHEMA = 0, 1, 128, 129, 130
KIND_DICTIONARY = 131


def crc(data: bytes) -> int:
    """CRC-32C, INT-6."""
    return int(google_crc32c.value(data))


def block_crc(file_id: bytes, head: bytes, payload: bytes) -> int:
    """The checksum of a block whose bytes 0 to 19 are *head*, BLK-9."""
    return crc(file_id + head + payload)


def file_id_of(data: bytes) -> bytes:
    """The file_id in a file's header."""
    return data[40:56]


def pad8(n: int) -> int:
    """*n* rounded up to a multiple of 8, INT-3."""
    return -(-n // 8) * 8


def u16(n: int) -> bytes:
    """Two bytes, little-endian."""
    return struct.pack("<H", n)


def u32(n: int) -> bytes:
    """Four bytes, little-endian."""
    return struct.pack("<I", n)


def u64(n: int) -> bytes:
    """Eight bytes, little-endian."""
    return struct.pack("<Q", n)


@dataclass(frozen=True)
class Header:
    """The fields of a file header; `checksum` None is the right one."""

    kind: int = SINGLE
    partition_count: int = 4
    framing: int = RECORDS
    version_major: int = 1
    version_minor: int = 0
    reader_features: int = 0
    writer_features: int = 0
    producer: int = 0
    attempt: int = 0
    first_partition: int = 0
    file_id: bytes = FILE_ID
    magic: bytes = MAGIC
    checksum: int | None = None

    def encode(self) -> bytes:
        """The 64 bytes."""
        head = self.magic + bytes([self.kind, self.version_major, self.version_minor, self.framing])
        head += struct.pack("<IIIQQ", self.partition_count, self.reader_features, self.writer_features,
                            self.producer, self.attempt)  # fmt: skip
        head += self.file_id + u32(self.first_partition)
        return head + u32(crc(head) if self.checksum is None else self.checksum)

    def of_kind(self, kind: int) -> Header:
        """The same header for another file of the output."""
        return replace(self, kind=kind)


def run(
    producer: int, length: int, blocks: int = 1, first: int = 0, attempt: int = 0, last: int = 0
) -> tuple[int, ...]:
    """A run (REG-8); *length* in units of 8 bytes."""
    return (producer, attempt, first, blocks, length, last)


@dataclass(frozen=True)
class Block:
    """A block. A field that is None follows from the others; any other value is used as it is, right or wrong."""

    plain: bytes = b""
    kind: int = KIND_DATA
    codec: int = NONE
    stored: bytes | None = None
    partition: int | None = None
    sequence: int | None = None
    plain_size: int | None = None
    stored_size: int | None = None
    reserved: int = 0  # other bits of the field dictionary
    dictionary: int = 0
    checksum_xor: int = 0
    file_id: bytes | None = None  # the file_id for the checksum, BLK-9
    padding: bytes | None = None
    records: int | None = None

    @property
    def payload(self) -> bytes:
        """The payload as stored."""
        return self.plain if self.stored is None else self.stored

    @property
    def claimed_plain(self) -> int:
        """The plain size that the header gives."""
        return len(self.plain) if self.plain_size is None else self.plain_size

    @property
    def size(self) -> int:
        """Bytes in the file."""
        padding = pad8(len(self.payload)) - len(self.payload) if self.padding is None else len(self.padding)
        return BLOCK_HEADER_SIZE + len(self.payload) + padding

    def encode(self, partition: int, sequence: int, file_id: bytes) -> bytes:
        """The block's bytes, with the partition, sequence and file_id of its place, unless it has its own."""
        stored_size = len(self.payload) if self.stored_size is None else self.stored_size
        partition = partition if self.partition is None else self.partition
        sequence = sequence if self.sequence is None else self.sequence
        head = struct.pack("<IIIIBBH", stored_size, self.claimed_plain, partition, sequence, self.kind, self.codec,
                           self.reserved | self.dictionary)  # fmt: skip
        checksum = block_crc(file_id if self.file_id is None else self.file_id, head, self.payload) ^ self.checksum_xor
        padding = bytes(pad8(len(self.payload)) - len(self.payload)) if self.padding is None else self.padding
        return head + u32(checksum) + self.payload + padding


def tail(footer_offset: int, footer_size: int, magic: bytes = TAIL_MAGIC, checksum_xor: int = 0) -> bytes:
    """The 24 bytes of TAIL-1."""
    head = u64(footer_offset) + u32(footer_size)
    return head + u32(crc(head + magic) ^ checksum_xor) + magic


def patch(data: bytes, offset: int, new: bytes) -> bytes:
    """*data* with *new* written at *offset*."""
    if offset < 0 or offset + len(new) > len(data):
        raise ValueError("a patch outside of the file")
    return data[:offset] + new + data[offset + len(new) :]


def seal_header(data: bytes) -> bytes:
    """The file with its header's checksum made right again."""
    return patch(data, 60, u32(crc(data[:60])))


def seal_block(data: bytes, offset: int, payload: int | None = None) -> bytes:
    """The file with the checksum of the block at *offset* made right again, over *payload* stored bytes."""
    size = struct.unpack_from("<I", data, offset)[0] if payload is None else payload
    head, body = data[offset : offset + 20], data[offset + 24 : offset + 24 + size]
    return patch(data, offset + 20, u32(block_crc(file_id_of(data), head, body)))


def seal_tail(data: bytes) -> bytes:
    """The file with its tail's checksum made right again."""
    at = len(data) - TAIL_SIZE
    return patch(data, at + 12, u32(crc(data[at : at + 12] + data[at + 16 :])))
