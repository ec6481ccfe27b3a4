"""Messages: canonical bytes by the FlatBuffers builder, and any other bytes by an assembler that puts part after part."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import flatbuffers

Fields = dict[str, Any]

# The fields of each table, in the order of declaration. A struct is given as (format, size).
STRUCTS = {"Run": ("<QQIIII", 32), "RegionEntry": ("<QIIQQ", 32), "DictionaryEntry": ("<QII", 16)}
TABLES: dict[str, list[tuple[str, str]]] = {
    "SharedExtent": [("length", "u32"), ("members", "[u8]"), ("first_block", "u32")],
    "Region": [("sequence", "u32"), ("data_offset", "u64"), ("data_length", "u64"), ("offsets", "[u32]"),
               ("rotation", "u32"), ("partitions", "[u32]"), ("shared", "[SharedExtent]"), ("runs", "[Run]"),
               ("first_block", "[u32]")],
    "Statistics": [("stored", "[u64]"), ("plain", "[u64]"), ("records", "[u64]"), ("stored_to_all", "u64"),
                   ("plain_to_all", "u64"), ("records_to_all", "u64")],
    "Streams": [("next", "[u32]"), ("missing", "[u32]"), ("shared_next", "u32"), ("shared_missing", "u32")],
    "Property": [("key", "string"), ("value", "string")],
    "Footer": [("regions", "[RegionEntry]"), ("data_size", "u64"), ("statistics", "Statistics"),
               ("properties", "[Property]"), ("created_by", "string"), ("dictionaries", "[DictionaryEntry]"),
               ("streams", "Streams")],
    "Schema": [("arrow", "[u8]")],
}  # fmt: skip
FIRST = {"SharedExtent": 3, "Region": 9, "Statistics": 6, "Streams": 4, "Property": 2, "Footer": 5, "Schema": 1}
"""How many fields each table had at first. Vtables made here have these, and later fields only if they are present."""
IDENTIFIER = {"Region": b"FRRG", "Footer": b"FRFT", "Schema": b"FRSC"}
SCALARS = {"u8": 1, "u32": 4, "u64": 8}
FORMAT = {"u8": "B", "u32": "I", "u64": "Q"}


def element(kind: str) -> tuple[int, int]:
    """Size and alignment of the elements of a vector type."""
    inner = kind[1:-1]
    if inner in SCALARS:
        return SCALARS[inner], SCALARS[inner]
    return (STRUCTS[inner][1], 8) if inner in STRUCTS else (4, 4)


def elements(kind: str, values: Sequence[Any]) -> bytes:
    """The bytes of a vector's elements, of scalars or structs."""
    inner = kind[1:-1]
    if inner in STRUCTS:
        return b"".join(struct.pack(STRUCTS[inner][0], *value) for value in values)
    return struct.pack(f"<{len(values)}{FORMAT[inner]}", *values)


def _child(builder: flatbuffers.Builder, kind: str, value: Any) -> int:
    if kind == "string":
        return int(builder.CreateString(value))
    if kind in TABLES:
        return _table(builder, kind, value)
    if kind[1:-1] in TABLES:
        tables = [_table(builder, kind[1:-1], item) for item in value]
        builder.StartVector(4, len(tables), 4)
        for at in reversed(tables):
            builder.PrependUOffsetTRelative(at)
        return int(builder.EndVector())
    size, alignment = element(kind)
    raw = elements(kind, value)
    builder.StartVector(size, len(value), alignment)
    builder.head -= len(raw)
    builder.Bytes[builder.head : builder.head + len(raw)] = raw
    return int(builder.EndVector())


def _table(builder: flatbuffers.Builder, name: str, fields: Fields) -> int:
    declared = TABLES[name]
    unknown = set(fields) - {known for known, _ in declared}
    if unknown:
        raise ValueError(f"{name} has no {unknown}")
    children = {
        known: _child(builder, kind, fields[known])
        for known, kind in declared
        if kind not in SCALARS and fields.get(known) is not None
    }
    builder.StartObject(len(declared))
    inline = [(SCALARS.get(kind, 4), slot, known, kind) for slot, (known, kind) in enumerate(declared)]
    for _, slot, known, kind in sorted(inline, key=lambda item: (-item[0], -item[1])):
        if known in children:
            builder.PrependUOffsetTRelativeSlot(slot, children[known], 0)
        elif kind == "u32":
            builder.PrependUint32Slot(slot, fields.get(known, 0), 0)
        elif kind == "u64":
            builder.PrependUint64Slot(slot, fields.get(known, 0), 0)
    return int(builder.EndObject())


def canonical(name: str, fields: Fields) -> bytes:
    """The canonical bytes, CAN-2."""
    builder = flatbuffers.Builder(256)
    root = _table(builder, name, fields)
    builder.Finish(root, file_identifier=IDENTIFIER[name])
    return bytes(builder.Output())


@dataclass(frozen=True)
class Part:
    """A part of a message: its bytes, the references in them, and its alignment."""

    name: str
    body: bytes
    align: int = 4
    at: int = 0  # the byte of the body that is aligned
    refs: tuple[tuple[int, str, int], ...] = ()  # the offset of a uoffset, the part it leads to, and an error to add
    vtable: str | None = None  # a table's vtable, for the i32 at its start
    gap: bytes = b""  # comes before the part, after the zero bytes of its alignment
    aligned: bool = True


def assemble(parts: Sequence[Part], end: bytes = b"") -> bytes:
    """The message made of *parts*, one after another, with their references filled in."""
    where, out = {}, bytearray()
    for part in parts:
        if part.aligned:
            out += bytes(-(len(out) + len(part.gap) + part.at) % part.align)
        out += part.gap
        where[part.name] = len(out)
        out += part.body
    for part in parts:
        start = where[part.name]
        for at, target, wrong in part.refs:
            struct.pack_into("<I", out, start + at, (where[target] + wrong - start - at) & 0xFFFFFFFF)
        if part.vtable is not None:
            struct.pack_into("<i", out, start, start - where[part.vtable])
    return bytes(out) + end


def positions(parts: Sequence[Part]) -> dict[str, int]:
    """Where each part of `assemble(parts)` begins."""
    where, size = {}, 0
    for part in parts:
        if part.aligned:
            size += -(size + len(part.gap) + part.at) % part.align
        size += len(part.gap)
        where[part.name] = size
        size += len(part.body)
    return where


@dataclass
class _Layout:
    parts: list[Part] = field(default_factory=list)

    def table(self, name: str, path: str, fields: Fields) -> None:
        """Adds a table in the order vtable, table, children: valid, and not canonical."""
        offsets, body, refs, later = [], bytearray(4), [], []
        for known, kind in TABLES[name]:
            value = fields.get(known)
            if value is None:
                offsets.append(0)
                continue
            size = SCALARS.get(kind, 4)
            body += bytes(-len(body) % size)
            offsets.append(len(body))
            if kind in SCALARS:
                body += struct.pack("<" + FORMAT[kind], value)
            else:
                refs.append((len(body), f"{path}.{known}", 0))
                later.append((f"{path}.{known}", kind, value))
                body += bytes(4)
        while offsets and not offsets[-1] and len(offsets) > FIRST.get(name, 0):
            offsets.pop()
        vtable = struct.pack(f"<HH{len(offsets)}H", 4 + 2 * len(offsets), len(body), *offsets)
        self.parts.append(Part(f"{path}:vtable", vtable, align=2))
        wide = any(kind == "u64" and fields.get(known) is not None for known, kind in TABLES[name])
        self.parts.append(Part(path, bytes(body), 8 if wide else 4, 0, tuple(refs), f"{path}:vtable"))
        for child, kind, value in later:
            self.child(child, kind, value)

    def child(self, path: str, kind: str, value: Any) -> None:
        if kind == "string":
            raw = value if isinstance(value, bytes) else value.encode()
            self.parts.append(Part(path, struct.pack("<I", len(raw)) + raw + b"\0"))
        elif kind in TABLES:
            self.table(kind, path, value)
        elif kind[1:-1] in TABLES:
            refs = tuple((4 + 4 * i, f"{path}.{i}", 0) for i in range(len(value)))
            self.parts.append(Part(path, struct.pack("<I", len(value)) + bytes(4 * len(value)), refs=refs))
            for i, item in enumerate(value):
                self.table(kind[1:-1], f"{path}.{i}", item)
        else:
            alignment = max(4, element(kind)[1])
            body = struct.pack("<I", len(value)) + elements(kind, value)
            self.parts.append(Part(path, body, alignment, 4))


def layout(name: str, fields: Fields) -> list[Part]:
    """The parts of a valid message, root first: `root`, `root:vtable`, `root.shared.0.members` and so on."""
    made = _Layout([Part("head", bytes(4) + IDENTIFIER[name], refs=((0, "root", 0),))])
    made.table(name, "root", fields)
    return made.parts


def edit(parts: Sequence[Part], name: str, change: Callable[[Part], Part]) -> list[Part]:
    """The parts with one of them changed."""
    if name not in {part.name for part in parts}:
        raise ValueError(f"no part {name}")
    return [change(part) if part.name == name else part for part in parts]


def rebody(parts: Sequence[Part], name: str, offset: int, new: bytes) -> list[Part]:
    """The parts with bytes of one part's body overwritten."""

    def change(part: Part) -> Part:
        if offset + len(new) > len(part.body):
            raise ValueError("outside of the part")
        return replace(part, body=part.body[:offset] + new + part.body[offset + len(new) :])

    return edit(parts, name, change)


def reref(parts: Sequence[Part], name: str, at: int, target: str, wrong: int = 0) -> list[Part]:
    """The parts, with the reference at *at* of one part leading elsewhere."""

    def change(part: Part) -> Part:
        refs = tuple((a, target, wrong) if a == at else (a, t, w) for a, t, w in part.refs)
        if refs == part.refs:
            raise ValueError("no such reference")
        return replace(part, refs=refs)

    return edit(parts, name, change)
