"""A file_id from the names of a shuffle (NAM-1)."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from faro_format._arguments import integer, text
from faro_format._bytes.header import MAX_PARTITIONS

_U64 = 2**64 - 1


class Names(NamedTuple):
    """The names of a shuffle (NAM-1)."""

    application: str
    shuffle: str

    def output_file_id(self, producer: int, attempt: int) -> bytes:
        """Return the file_id of a producer's output."""
        return output_file_id(self.application, self.shuffle, producer, attempt)


def output_file_id(application: str, shuffle: str, producer: int, attempt: int) -> bytes:
    """Return the file_id of a producer's output, from its names.

    A reader that knows the names knows the file_id, and so that the bytes are of the output that it asked for.
    """
    numbers = integer("producer", producer, 0, _U64), integer("attempt", attempt, 0, _U64)
    return _file_id("output", application, shuffle, b"".join(number.to_bytes(8, "little") for number in numbers))


def merged_file_id(application: str, shuffle: str, generation: int, first_partition: int = 0) -> bytes:
    """Return the file_id of a merged file, from its names."""
    end = integer("generation", generation, 0, _U64).to_bytes(8, "little")
    end += integer("first_partition", first_partition, 0, MAX_PARTITIONS - 1).to_bytes(4, "little")
    return _file_id("merged", application, shuffle, end)


def _file_id(what: str, application: str, shuffle: str, end: bytes) -> bytes:
    digest = hashlib.sha256()
    for part in (what, text("application", application), text("shuffle", shuffle)):
        raw = part.encode()
        digest.update(len(raw).to_bytes(4, "little") + raw)
    digest.update(end)
    made = bytearray(digest.digest()[:16])
    # A UUID of version 8.
    made[6] = made[6] & 0x0F | 0x80
    made[8] = made[8] & 0x3F | 0x80
    return bytes(made)
