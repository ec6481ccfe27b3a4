"""Bytes of hostile outputs: big, quick to make, and with correct checksums, so that readers do not stop there."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import google_crc32c
import numpy as np

from generate.raw import KIND_DATA, KIND_DICTIONARY, KIND_FOOTER, KIND_REGION, NOBODY, Header, pad8, tail

INDEX, DATA, SINGLE = 2, 1, 3
REGION, FOOTER, SCHEMA = b"FRRG", b"FRFT", b"FRSC"
# The number of fields of each table.
FIELDS = {REGION: 9, FOOTER: 6, SCHEMA: 1}


@dataclass(frozen=True)
class Part:
    """A vector, string or table of a message: made for its position in the message."""

    make: Callable[[int], bytes]
    # The alignment of its first element, which follows a count of 4 bytes.
    align: int = 4


def vector(elements: bytes, count: int, align: int = 4) -> Part:
    """A vector of scalars or structs."""
    return Part(lambda _: struct.pack("<I", count) + elements, align)


def u32s(values: Iterable[int] | np.ndarray) -> Part:
    """A vector of u32."""
    array = np.asarray(values, "<u4")
    return vector(array.tobytes(), len(array))


def u64s(values: Iterable[int] | np.ndarray) -> Part:
    """A vector of u64."""
    array = np.asarray(values, "<u8")
    return vector(array.tobytes(), len(array), 8)


def text(value: bytes) -> Part:
    """A string."""
    return Part(lambda _: struct.pack("<I", len(value)) + value + b"\0")


def message(identifier: bytes, scalars: dict[int, tuple[int, int]], parts: dict[int, Part]) -> bytes:
    """A message whose parts follow one another. `scalars`: field to size and value; `parts`: field to part."""
    inline = sorted([(-size, slot) for slot, (size, _) in scalars.items()] + [(-4, slot) for slot in parts])
    count = FIELDS[identifier]
    vtable = 8
    table = vtable + 4 + 2 * count
    # The fields of 8 bytes follow the first 4 bytes of the table.
    table += -(table - 4) % 8
    places, at = {}, table + 4
    for size, slot in inline:
        places[slot] = at
        at -= size
    out = bytearray(at)
    struct.pack_into("<I4s", out, 0, table, identifier)
    struct.pack_into("<HH", out, vtable, 4 + 2 * count, at - table)
    struct.pack_into("<i", out, table, table - vtable)
    for slot, place in places.items():
        struct.pack_into("<H", out, vtable + 4 + 2 * slot, place - table)
    for slot, (size, value) in scalars.items():
        struct.pack_into("<I" if size == 4 else "<Q", out, places[slot], value)
    for slot, part in parts.items():
        out += bytes(-len(out) % 4)
        out += bytes(-(len(out) + 4) % part.align)
        struct.pack_into("<I", out, places[slot], len(out) - places[slot])
        out += part.make(len(out))
    return bytes(out)


def shared_extents(lengths: np.ndarray, members: bytes | None, first_block: int = 0) -> Part:
    """A vector of SharedExtent tables of one vtable; `members` are the members of each, in separate vectors."""
    count = len(lengths)

    def make(position: int) -> bytes:
        at_vtable = 4 + 4 * count
        inline = 16 if members is not None else 12
        vtable = struct.pack("<HHHHH", 10, inline, 4, 12 if members is not None else 0, 8)
        at_tables = at_vtable + 12
        each = inline + (4 + len(members) + -len(members) % 4 if members is not None else 0)
        tables = at_tables + np.arange(count, dtype="<i8") * each
        rows = np.zeros((count, each), np.uint8)
        words = rows[:, :inline].view("<u4")
        words[:, 0] = (tables - at_vtable).astype("<i4").view("<u4")
        words[:, 1] = lengths
        words[:, 2] = first_block + np.arange(count)
        if members is not None:
            words[:, 3] = 4
            rows[:, 16:20] = np.frombuffer(struct.pack("<I", len(members)), np.uint8)
            rows[:, 20 : 20 + len(members)] = np.frombuffer(members, np.uint8)
        offsets = (tables - 4 - 4 * np.arange(count)).astype("<u4")
        return struct.pack("<I", count) + offsets.tobytes() + vtable + bytes(2) + rows.tobytes()

    return Part(make)


def block(
    header: Header, payload: bytes, kind: int = KIND_DATA, partition: int = 0, sequence: int = 0,
    codec: int = 0, plain_size: int | None = None, stored_size: int | None = None, dictionary: int = 0,
) -> bytes:  # fmt: skip
    """A block of the file with this header."""
    stored = len(payload) if stored_size is None else stored_size
    plain = stored if plain_size is None else plain_size
    head = struct.pack("<IIIIBBH", stored, plain, partition, sequence, kind, codec, dictionary)
    checksum = google_crc32c.value(header.file_id + head + payload)
    return head + struct.pack("<I", checksum) + payload + bytes(pad8(len(payload)) - len(payload))


@dataclass
class Output:
    """An output that is being built: a pair, or a single file (`data` stays empty then)."""

    header: Header
    single: bool = False
    data: bytearray = field(init=False)
    index: bytearray = field(init=False)
    entries: list[tuple[int, int, int, int]] = field(default_factory=list)
    messages: int = 0
    dictionaries: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.data = bytearray() if self.single else bytearray(self.header.of_kind(DATA).encode())
        self.index = bytearray(self.header.of_kind(SINGLE if self.single else INDEX).encode())

    def metadata(self, payload: bytes, kind: int) -> None:
        """Append a metadata block."""
        self.index += block(self.header, payload, kind, NOBODY, self.messages)
        self.messages += 1

    def dictionary(self, content: bytes) -> None:
        """Append a dictionary."""
        target = self.index if self.single else self.data
        number = len(self.dictionaries) + 1
        self.dictionaries.append((len(target), len(content)))
        sequence = self.messages if self.single else number - 1
        target += block(self.header, content, KIND_DICTIONARY, NOBODY, sequence, dictionary=number)
        self.messages += self.single

    def region(
        self, blocks: bytes, scalars: dict[int, tuple[int, int]] | None = None, parts: dict[int, Part] | None = None
    ) -> None:
        """Append a region: its blocks, and a message with these fields besides those of every message."""
        target = self.index if self.single else self.data
        offset = len(target)
        target += blocks
        fields = {0: (4, len(self.entries)), 1: (8, offset), 2: (8, len(blocks)), **(scalars or {})}
        content = message(REGION, fields, parts or {3: u32s([0, len(blocks) // 8])})
        self.entries.append((len(self.index), len(content), offset, len(blocks)))
        self.metadata(content, KIND_REGION)

    def directory(self) -> Part:
        """The entries of the regions."""
        entries = b"".join(
            struct.pack("<QIIQQ", at, size, 0, offset, length) for at, size, offset, length in self.entries
        )
        return vector(entries, len(self.entries), 8)

    def finish(self, parts: dict[int, Part] | None = None) -> None:
        """Append footer and tail."""
        size = len(self.index) if self.single else len(self.data)
        known = b"".join(struct.pack("<QII", at, length, 0) for at, length in self.dictionaries)
        more = {5: vector(known, len(self.dictionaries), 8)} if known else {}
        content = message(FOOTER, {1: (8, size)}, {0: self.directory(), **more, **(parts or {})})
        at = len(self.index)
        self.metadata(content, KIND_FOOTER)
        self.index += tail(at, len(content))

    def save(self, folder: Path) -> dict[str, Path]:
        """Write the files; their roles and paths."""
        if self.single:
            files = {"single": (folder / "x.faro", self.index)}
        else:
            files = {"data": (folder / "x.data", self.data), "index": (folder / "x.index", self.index)}
        for path, content in files.values():
            path.write_bytes(content)
        return {role: path for role, (path, _) in files.items()}
