"""Cases of the structure of messages: MSG."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace

from . import base
from .catalog import Catalog, fault
from .message import FIRST, IDENTIFIER, TABLES, Fields, Part, assemble, edit, layout, positions, rebody
from .output import Output, Region, Shared, arrow_message, build
from .raw import ARROW, Block, Header, patch, run, u16, u32

Parts = list[Part]
Make = Callable[[Parts], bytes]
SCHEMA = base.SCHEMA


def fixture(root: str, encode: Callable[[Fields], bytes], minor: int = 0, good: bool = False) -> Output:
    """A file in which the message of one kind is made by *encode*; the message has most fields.

    A region with shared extents has no runs (REG-8). It has both if its structure is bad, which is found before that.
    """
    if root == "Schema":
        header = Header(partition_count=2, framing=ARROW, version_minor=minor)
        own = {1: [Block(arrow_message(b"a batch"), records=1)]}
        return Output(header, [Region(own)], schema=SCHEMA, encode_schema=encode)
    own = {0: [base.text("a", "b")], 2: [base.text("c"), base.text("dd")]}
    shared = [Shared([base.text("to all")]), Shared([base.text("to two")], [1, 3])]
    runs = [run(7, 5), run(7, 4), run(8, 4)]
    region = Region(own, shared, runs=None if good else runs)
    output = Output(Header(version_minor=minor), [region], statistics=True, created_by="a case",
                    properties={"one": "1", "two": "zwei"})  # fmt: skip
    if root == "Region":
        region.encode = encode
    else:
        output.encode_footer = encode
    return output


def put(
    cat: Catalog, root: str, name: str, clause: str, title: str, make: Make, minor: int = 0, good: bool = False
) -> None:
    """A case whose message of one kind is made of changed parts."""
    output = fixture(root, lambda fields: make(layout(root, fields)), minor, good)
    id = f"{clause.split()[0].lower()}-{root.lower()}-{name}"
    clause += " MSG-13"
    if good:
        cat.valid(id, clause, title, output)
        return
    built = build(output)
    if root == "Region":
        cat.bad_region(id, clause, title, built, fault("malformed-message", "single", built.messages[0] + 24))
        return
    at = 88 if root == "Schema" else built.footer + 24
    cat.refused(id, clause, title, built.files, fault("malformed-message", "single", at),
                features=["arrow"] if root == "Schema" else [])  # fmt: skip


def raw(offset: int, new: bytes) -> Make:
    """Overwrites bytes of the finished message."""
    return lambda parts: patch(assemble(parts), offset, new)


def at_part(name: str, offset: int, new: bytes) -> Make:
    """Overwrites bytes of a part after references were filled in."""
    return lambda parts: patch(assemble(parts), positions(parts)[name] + offset, new)


def vtable_at(parts: Parts, path: str, where: int) -> bytes:
    """The message with a table's vtable said to be at a position."""
    table = positions(parts)[path]
    return patch(assemble(parts), table, struct.pack("<i", table - where))


def slot(parts: Parts, path: str, field: int) -> int:
    """The offset of a field in its table."""
    vtable = next(part for part in parts if part.name == f"{path}:vtable")
    return int(struct.unpack_from("<H", vtable.body, 4 + 2 * field)[0])


def gapped(gap: bytes) -> Make:
    """Bytes before the root's vtable that belong to no part."""
    return lambda parts: assemble(edit(parts, "root:vtable", lambda part: replace(part, gap=gap)))


def later(table: str, vtable: Part) -> int:
    """How many of a table's fields are after the end of its vtable."""
    return len(TABLES[table]) - (len(vtable.body) - 4) // 2


def any_root(cat: Catalog, root: str) -> None:
    """Faults in the first bytes and the root table of any message."""
    other = IDENTIFIER["Schema" if root != "Schema" else "Region"]

    def size(parts: Parts) -> int:
        return len(assemble(parts))

    heads: list[tuple[str, str, Make]] = [
        ("root-0", "MSG-1", raw(0, u32(0))),
        ("root-in-head", "MSG-1 MSG-10", raw(0, u32(4))),
        ("root-odd", "MSG-1 MSG-3", lambda p: raw(0, u32(positions(p)["root"] + 2))(p)),
        ("root-at-end", "MSG-1 MSG-3", lambda p: patch(assemble(p), 0, u32(-(-size(p) // 4) * 4))),
        ("root-most", "MSG-1 INT-4", raw(0, u32(0xFFFFFFFC))),
        ("root-negative", "MSG-1 INT-4", raw(0, u32(0x80000000))),
        ("root-half-inside", "MSG-3", lambda p: patch(assemble(p, bytes(-size(p) % 4 + 2)), 0, u32(-(-size(p) // 4) * 4))),
        ("empty", "MSG-2", lambda p: b""),
        ("four-bytes", "MSG-2", lambda p: assemble(p)[:4]),
        ("seven-bytes", "MSG-2", lambda p: assemble(p)[:7]),
        ("only-head", "MSG-2 MSG-1", lambda p: assemble(p)[:8]),
        ("eight-zeros", "MSG-2", lambda p: bytes(8)),
        ("identifier-other", "MSG-2", raw(4, other)),
        ("identifier-case", "MSG-2", raw(4, IDENTIFIER[root].lower())),
        ("identifier-zero", "MSG-2", raw(4, bytes(4))),
        ("size-prefix", "MSG-2", lambda p: u32(size(p)) + assemble(p)),
        ("vtable-in-head", "MSG-3 MSG-10", lambda p: vtable_at(p, "root", 4)),
        ("vtable-at-0", "MSG-3", lambda p: vtable_at(p, "root", 0)),
        ("vtable-odd", "MSG-3", lambda p: vtable_at(p, "root", 9)),
        ("vtable-before", "MSG-3 INT-4", lambda p: vtable_at(p, "root", -8)),
        ("vtable-at-end", "MSG-3", lambda p: vtable_at(p, "root", size(p) + size(p) % 2)),
        ("vtable-half-inside", "MSG-3 MSG-4", lambda p: vtable_at([*p, Part("end", bytes(2), 2)], "root", size(p) + size(p) % 2)),
        ("vtable-far", "MSG-3", at_part("root", 0, struct.pack("<i", -(1 << 31)))),
        ("vtable-far-back", "MSG-3", at_part("root", 0, struct.pack("<i", (1 << 31) - 1))),
        ("vtable-is-table", "MSG-10", at_part("root", 0, struct.pack("<i", 0))),
    ]  # fmt: skip
    count = FIRST[root]
    for name, value in (("0", 0), ("2", 2), ("odd", 4 + 2 * count - 1), ("3", 3), ("8000", 0x8000), ("fffe", 0xFFFE)):
        heads.append((f"vtable-size-{name}", "MSG-4", at_part("root:vtable", 0, u16(value))))
    for name, value in (("0", 0), ("3", 3), ("8000", 0x8000), ("ffff", 0xFFFF)):
        heads.append((f"inline-size-{name}", "MSG-5", at_part("root:vtable", 2, u16(value))))
    for name, entry in (("absent", 0), ("present", 4)):

        def grow(parts: Parts, entry: int = entry) -> bytes:
            def change(part: Part) -> Part:
                body = part.body[2:] + bytes(2 * later(root, part)) + u16(entry)
                return replace(part, body=u16(len(body) + 2) + body)

            return assemble(edit(parts, "root:vtable", change))

        heads.append((f"unknown-field-{name}", "MSG-4", grow))
    ends: list[tuple[str, Make]] = [
        ("end-8-zeros", lambda p: assemble(p, bytes(8))), ("end-not-zero", lambda p: assemble(p, b"\x01")),
        ("end-1000-zeros", lambda p: assemble(p, bytes(1000))), ("end-last-of-7", lambda p: assemble(p, bytes(6) + b"\x80")),
    ]  # fmt: skip
    heads += [(name, "MSG-11", make) for name, make in ends]
    for gap, name in ((bytes(8), "gap-8"), (b"\x00\x02", "gap-not-zero"), (bytes(64), "gap-64")):
        heads.append((name, "MSG-11", gapped(gap)))
    heads.append(("cut", "MSG-8 MSG-9", lambda p: assemble(p)[:-1]))
    for name, clause, make in heads:
        put(cat, root, name, clause, f"the {root} message is broken: {name}", make)
    put(cat, root, "end-7-zeros", "MSG-11", "seven zero bytes after the last part are allowed",
        lambda p: assemble(p, bytes(7)), good=True)  # fmt: skip
    put(cat, root, "gap-6", "MSG-11", "six zero bytes between two parts are allowed",
        lambda p: assemble(edit(p, "root:vtable", lambda x: replace(x, gap=bytes(6)))), good=True)  # fmt: skip
    put(cat, root, "other-order", "CAN-1", "a message that is not canonical is accepted", assemble, good=True)
    put(cat, root, "vtable-after", "CAN-1", "a vtable may come after its table",
        lambda p: assemble([*[x for x in p if x.name != "root:vtable"], next(x for x in p if x.name == "root:vtable")]),
        good=True)  # fmt: skip


def fields(cat: Catalog) -> None:
    """Offsets of fields in their tables: MSG-6 and MSG-7."""

    def entry(path: str, number: int, value: int) -> Make:
        return at_part(f"{path}:vtable", 4 + 2 * number, u16(value))

    def inline(path: str) -> Callable[[Parts], int]:
        return lambda parts: len(next(part for part in parts if part.name == path).body)

    tables = [("Region", "root", 3, 4), ("Region", "root", 1, 8), ("Region", "root.shared.0", 0, 4),
              ("Footer", "root", 0, 4), ("Footer", "root", 1, 8), ("Footer", "root.statistics", 3, 8),
              ("Footer", "root.properties.0", 1, 4), ("Schema", "root", 0, 4)]  # fmt: skip
    for root, path, number, size in tables:
        name = f"{path.replace('.', '-')}-field-{number}"
        for value in (1, 2, 3):
            put(cat, root, f"{name}-at-{value}", "MSG-6", f"field {number} of {path} at {value}, in the vtable's offset",
                entry(path, number, value))  # fmt: skip
        put(cat, root, f"{name}-past-table", "MSG-6", f"field {number} of {path} ends outside of its table",
            lambda p, path=path, number=number, size=size: entry(path, number, inline(path)(p) - size + 4)(p))  # type: ignore[misc]  # fmt: skip
        put(cat, root, f"{name}-8000", "MSG-6", f"field {number} of {path} at 8000 (hexadecimal)",
            entry(path, number, 0x8000))  # fmt: skip
        put(cat, root, f"{name}-odd", "MSG-6", f"field {number} of {path} is not aligned",
            lambda p, path=path, number=number: entry(path, number, slot(p, path, number) + 1)(p))  # type: ignore[misc]  # fmt: skip
    overlaps = [("Region", "root", 0, 4), ("Region", "root", 1, 2), ("Footer", "root.properties.0", 0, 1),
                ("Footer", "root.statistics", 3, 4), ("Region", "root", 6, 7)]  # fmt: skip
    for root, path, one, two in overlaps:
        put(cat, root, f"{path.replace('.', '-')}-overlap-{one}-{two}", "MSG-6", f"fields {one} and {two} of {path} are at one place",
            lambda p, path=path, one=one, two=two: entry(path, two, slot(p, path, one))(p))  # type: ignore[misc]  # fmt: skip

    def misaligned(path: str, number: int) -> Make:
        # The table itself moves by four, so that its u64 fields are at odd multiples of four.
        def change(part: Part) -> Part:
            return replace(part, at=4)

        return lambda parts: assemble(edit(parts, path, change))

    put(cat, "Region", "u64-misaligned", "MSG-6", "a u64 field at a multiple of 4 only", misaligned("root", 1))
    put(cat, "Footer", "u64-misaligned", "MSG-6", "a u64 field at a multiple of 4 only", misaligned("root", 1))
    put(cat, "Footer", "statistics-misaligned", "MSG-6", "the u64 fields of statistics are not aligned",
        misaligned("root.statistics", 3))  # fmt: skip

    def without(path: str, number: int) -> Make:
        """Removes a field and everything that it led to, so that nothing else is wrong."""

        def make(parts: Parts) -> bytes:
            at = slot(parts, path, number)
            owner = next(part for part in parts if part.name == path)
            child = next(target for where, target, _ in owner.refs if where == at)
            kept = [part for part in parts if part.name != child]
            refs = tuple(ref for ref in owner.refs if ref[0] != at)
            kept = edit(kept, path, lambda part: replace(part, refs=refs))
            return assemble(rebody(kept, f"{path}:vtable", 4 + 2 * number, u16(0)))

        return make

    required = [("Region", "root", 3, "offsets"), ("Schema", "root", 0, "arrow"),
                ("Footer", "root.properties.0", 0, "key"), ("Footer", "root.properties.1", 1, "value")]  # fmt: skip
    for root, path, number, name in required:
        put(cat, root, f"without-{name}", "MSG-7", f"the required field {name} is absent", without(path, number))
        short = 4 + 2 * number
        put(cat, root, f"vtable-without-{name}", "MSG-7", f"the vtable ends before the required field {name}",
            at_part(f"{path}:vtable", 0, u16(short)))  # fmt: skip
    # Bytes of a table between its fields: the padding before the first u64 of a region's table.
    put(cat, "Region", "inline-not-zero", "MSG-11", "a byte between a table's fields is not zero",
        lambda p: assemble(_wider(p, "root", b"\x00\x00\x00\x05")))  # fmt: skip
    put(cat, "Region", "inline-zero", "MSG-11", "bytes between a table's fields are zero",
        lambda p: assemble(_wider(p, "root", bytes(4))), good=True)  # fmt: skip
    put(cat, "Footer", "property-inline-not-zero", "MSG-11", "a byte between the fields of a property's table is not zero",
        lambda p: assemble(_wider(p, "root.properties.1", b"\x00\x00\x01\x00")))  # fmt: skip


def _wider(parts: Parts, path: str, more: bytes) -> Parts:
    """The parts, with bytes after a table's last field."""
    wide = edit(parts, path, lambda part: replace(part, body=part.body + more))
    size = len(next(part for part in wide if part.name == path).body)
    return rebody(wide, f"{path}:vtable", 2, u16(size))


def add(cat: Catalog) -> None:
    """All of them."""
    for root in ("Region", "Footer", "Schema"):
        any_root(cat, root)
    fields(cat)
