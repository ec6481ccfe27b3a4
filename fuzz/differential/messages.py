"""Decodes a message into its fields, with the tables of the cases' generator, so that one can be changed."""

from __future__ import annotations

import random
import struct
from typing import Any

from generate.message import FORMAT, SCALARS, STRUCTS, TABLES, Fields, Part, assemble, canonical, element, layout

_U32 = 1 << 32
_EDGES = [0, 1, 2, 3, 4, 7, 8, 16, 24, 64, 255, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF]
_WIDE_EDGES = [*_EDGES, 1 << 32, (1 << 53) - 1, 1 << 53, (1 << 63) - 1, 1 << 63, (1 << 64) - 8, (1 << 64) - 1]
_MOST_ELEMENTS = 1 << 20


class DecodeError(Exception):
    """The bytes are not a message of this table."""


def decode(name: str, message: bytes) -> Fields:
    """The fields that are present. Raises `DecodeError` if the bytes are not a message."""
    try:
        return _table(name, message, struct.unpack_from("<I", message, 0)[0], 0)
    except (struct.error, UnicodeDecodeError, IndexError) as error:
        raise DecodeError(str(error)) from error


def _table(name: str, message: bytes, at: int, depth: int) -> Fields:
    if depth > 4:
        raise DecodeError("too deep")
    vtable = at - struct.unpack_from("<i", message, at)[0]
    if vtable < 0:
        raise DecodeError("a vtable before the message")
    size = struct.unpack_from("<H", message, vtable)[0]
    fields: Fields = {}
    for slot, (known, kind) in enumerate(TABLES[name]):
        if 4 + 2 * slot + 2 > size:
            break
        place = struct.unpack_from("<H", message, vtable + 4 + 2 * slot)[0]
        if not place:
            continue
        if kind in SCALARS:
            fields[known] = struct.unpack_from("<" + FORMAT[kind], message, at + place)[0]
        else:
            target = at + place + struct.unpack_from("<I", message, at + place)[0]
            fields[known] = _child(kind, message, target, depth)
    return fields


def _child(kind: str, message: bytes, at: int, depth: int) -> Any:
    if kind in TABLES:
        return _table(kind, message, at, depth + 1)
    count = struct.unpack_from("<I", message, at)[0]
    if kind == "string":
        return message[at + 4 : at + 4 + count].decode()
    if count > min(_MOST_ELEMENTS, len(message)):
        raise DecodeError("a vector larger than the message")
    inner = kind[1:-1]
    if inner in TABLES:
        places = [at + 4 + 4 * index for index in range(count)]
        return [_table(inner, message, p + struct.unpack_from("<I", message, p)[0], depth + 1) for p in places]
    size, _ = element(kind)
    form = STRUCTS[inner][0] if inner in STRUCTS else "<" + FORMAT[inner]
    values = [struct.unpack_from(form, message, at + 4 + size * index) for index in range(count)]
    return values if inner in STRUCTS else [value[0] for value in values]


def mutate_fields(name: str, fields: Fields, rng: random.Random) -> str:
    """Change one field in place, so that it can still be encoded. Returns what was done."""
    known, kind = rng.choice(TABLES[name])
    where = f"{name}.{known}"
    if kind in SCALARS:
        fields[known] = nudge(fields.get(known, 0), 8 * SCALARS[kind], rng)
        return f"{where} = {fields[known]}"
    value = fields.get(known)
    if value is None:
        fields[known] = _fresh(kind, rng)
        return f"{where} added"
    if rng.random() < 0.1 and kind in ("[u64]", "[Run]", "[RegionEntry]", "[SharedExtent]", "[Property]", "string"):
        del fields[known]
        return f"{where} left out"
    if kind in TABLES:
        return f"{where}: {mutate_fields(kind, value, rng)}"
    if kind == "string":
        fields[known] = rng.choice(["", value + "\0", value * 2, value[:-1], "\U0010ffff", "\u00e9"])
        return f"{where} is another text"
    return f"{where}: {_mutate_vector(kind, value, rng)}"


def _mutate_vector(kind: str, values: list[Any], rng: random.Random) -> str:
    inner = kind[1:-1]
    if not values:
        values.append(_fresh_element(inner, rng))
        return "an element added"
    index = rng.randrange(len(values))
    action = rng.choice(["change", "change", "change", "change", "remove", "repeat", "swap"])
    if action == "remove":
        del values[index]
        return f"without {index}"
    if action == "repeat":
        values.insert(index, dict(values[index]) if inner in TABLES else values[index])
        return f"{index} twice"
    if action == "swap":
        other = rng.randrange(len(values))
        values[index], values[other] = values[other], values[index]
        return f"{index} and {other} swapped"
    if inner in TABLES:
        return f"[{index}] {mutate_fields(inner, values[index], rng)}"
    if inner in STRUCTS:
        members = list(values[index])
        member = rng.randrange(len(members))
        width = 64 if STRUCTS[inner][0][1 + member] == "Q" else 32
        members[member] = nudge(members[member], width, rng)
        values[index] = tuple(members)
        return f"[{index}][{member}] = {members[member]}"
    values[index] = nudge(values[index], 8 * SCALARS[inner], rng)
    return f"[{index}] = {values[index]}"


def nudge(value: int, bits: int, rng: random.Random) -> int:
    """Another number with this many bits: near, far, or extreme."""
    step = rng.choice([1, 1, 2, 3, 4, 8, 24, 32, 64])
    way = rng.randrange(4)
    if way == 0:
        value += step
    elif way == 1:
        value -= step
    elif way == 2:
        value ^= 1 << rng.randrange(bits)
    else:
        value = rng.choice(_WIDE_EDGES if bits == 64 else _EDGES)
    return value % (1 << bits)


def _fresh(kind: str, rng: random.Random) -> Any:
    if kind == "string":
        return "fuzz"
    if kind in TABLES:
        return {known: _fresh(inner, rng) for known, inner in TABLES[kind] if inner == "u64"}
    if kind in SCALARS:
        return rng.choice([0, 1, 8])
    return [_fresh_element(kind[1:-1], rng) for _ in range(rng.choice([0, 1, 1, 2, 4, 5]))]


def _fresh_element(inner: str, rng: random.Random) -> Any:
    if inner in STRUCTS:
        return tuple(rng.choice([0, 1, 8, 64]) for _ in STRUCTS[inner][0][1:])
    if inner in TABLES:
        return {known: "k" if kind == "string" else 1 for known, kind in TABLES[inner] if not kind.startswith("[")}
    return rng.choice([0, 1, 2, 3, 8])


def encode(name: str, fields: Fields, rng: random.Random) -> bytes:
    """The fields as a message: mostly canonical, else in another valid layout."""
    if rng.random() < 0.6:
        return canonical(name, fields)
    return assemble(layout(name, fields))


def mutate_layout(name: str, fields: Fields, rng: random.Random) -> tuple[bytes, str]:
    """A message with the same fields and another layout of its parts. Also returns what was done."""
    parts = layout(name, fields)
    index = rng.randrange(1, len(parts))
    part = parts[index]
    action = rng.choice(["gap", "swap", "reference", "alias", "vtable", "byte", "end", "drop"])
    end = b""
    if action == "gap":
        parts[index] = _changed(part, gap=rng.choice([bytes(1), bytes(4), bytes(7), bytes(8), b"\1", bytes(4) + b"\1"]))
    elif action == "swap":
        other = rng.randrange(1, len(parts))
        parts[index], parts[other] = parts[other], parts[index]
    elif action in ("reference", "alias"):
        owners = [i for i, p in enumerate(parts) if p.refs]
        index = rng.choice(owners)
        refs = list(parts[index].refs)
        which = rng.randrange(len(refs))
        at, target, _ = refs[which]
        wrong = rng.choice([-8, -4, -2, 1, 2, 4, 8, 1 << 31]) if action == "reference" else 0
        refs[which] = (at, rng.choice(parts).name if action == "alias" else target, wrong)
        parts[index] = _changed(parts[index], refs=tuple(refs))
    elif action == "vtable":
        tables = [i for i, p in enumerate(parts) if p.vtable is not None]
        index = rng.choice(tables)
        parts[index] = _changed(parts[index], vtable=parts[rng.choice(tables)].vtable)
    elif action == "byte" and part.body:
        at = rng.randrange(len(part.body))
        body = bytearray(part.body)
        body[at] = nudge(body[at], 8, rng)
        parts[index] = _changed(part, body=bytes(body))
    elif action == "end":
        end = bytes(rng.choice([1, 4, 7, 8, 16]))
    else:
        parts[index] = _changed(part, aligned=False)
    return assemble(parts, end), f"{name} laid out with {action} at {parts[index].name}"


def _changed(part: Part, **members: Any) -> Part:
    return Part(**{**part.__dict__, **members})
