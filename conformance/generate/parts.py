"""Cases of vectors, strings and owners in messages, and of newer minors: MSG-1, MSG-8 to MSG-12."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .catalog import Catalog
from .message import Part, assemble, edit, positions, rebody, reref
from .raw import patch, u16, u32
from .structure import Make, Parts, at_part, later, put, slot

VECTORS = [("Region", "root.offsets", 4), ("Region", "root.shared", 4), ("Region", "root.shared.1.members", 1),
           ("Region", "root.runs", 32), ("Footer", "root.regions", 32), ("Footer", "root.statistics.stored", 8),
           ("Footer", "root.properties", 4), ("Schema", "root.arrow", 1)]  # fmt: skip
STRINGS = [("Footer", "root.created_by"), ("Footer", "root.properties.0.key"), ("Footer", "root.properties.1.value")]


def short(path: str) -> str:
    """The name of a part, for an id."""
    return path.removeprefix("root.").replace(".", "-").replace("_", "-")


def owner_of(parts: Parts, path: str) -> tuple[Part, int]:
    """The part that has the reference to another, and the offset of the reference in it."""
    for part in parts:
        for at, target, _ in part.refs:
            if target == path:
                return part, at
    raise ValueError(path)


def uoffset(path: str, value: Callable[[int, int, int], int]) -> Make:
    """Sets the uoffset that leads to a part: *value* of its own position, its target and the message's size."""

    def make(parts: Parts) -> bytes:
        owner, at = owner_of(parts, path)
        message, where = assemble(parts), positions(parts)
        position = where[owner.name] + at
        return patch(message, position, u32(value(position, where[path], len(message)) & 0xFFFFFFFF))

    return make


def vectors(cat: Catalog) -> None:
    """Offsets and lengths of vectors, strings and tables."""
    wrongs: list[tuple[str, str, Callable[[int, int, int], int]]] = [
        ("offset-0", "MSG-1", lambda at, to, size: 0),
        ("offset-2", "MSG-1", lambda at, to, size: 2),
        ("offset-odd", "MSG-1", lambda at, to, size: to - at + 2),
        ("offset-past-end", "MSG-1", lambda at, to, size: size - at + (-size % 4)),
        ("offset-back", "MSG-1 INT-4 SEC-3", lambda at, to, size: -4),
        ("offset-most", "MSG-1 INT-4", lambda at, to, size: 0xFFFFFFFC),
    ]
    paths = [(root, path) for root, path, _ in VECTORS] + STRINGS
    paths += [("Footer", "root.statistics"), ("Region", "root.shared.1"), ("Footer", "root.properties.1")]
    for root, path in paths:
        for name, clause, value in wrongs:
            put(cat, root, f"{short(path)}-{name}", clause, f"the uoffset to {path}: {name}", uoffset(path, value))
    for root, path, size in VECTORS:
        counts = [("most", 0xFFFFFFFF), ("half", 0x80000000), ("wraps", (1 << 32) // size if size > 1 else 0xFFFFFFFE)]
        for name, count in counts:
            put(cat, root, f"{short(path)}-count-{name}", "MSG-8 INT-4 SEC-1", f"{path} has {count:X} elements",
                at_part(path, 0, u32(count & 0xFFFFFFFF)))  # fmt: skip

        def one_more(parts: Parts, path: str = path, size: int = size) -> bytes:
            # The last part of the message, so that no other part follows.
            last = next(part for part in parts if part.name == path)
            moved = [part for part in parts if part.name != path] + [last]
            count = int.from_bytes(last.body[:4], "little") + 1
            return assemble(rebody(moved, path, 0, u32(count)))

        put(cat, root, f"{short(path)}-count-one-more", "MSG-8", f"{path} ends one element after the message", one_more)
    wide = [("Region", "root.runs"), ("Footer", "root.regions"), ("Footer", "root.statistics.stored")]
    for root, path in wide:
        put(cat, root, f"{short(path)}-misaligned", "MSG-8", f"the elements of {path} are at a multiple of 4 only",
            lambda p, path=path: assemble(edit(p, path, lambda part: replace(part, at=0))))  # type: ignore[misc]  # fmt: skip
        put(cat, root, f"{short(path)}-empty-misaligned", "MSG-8", f"{path} is empty, and its elements would not be aligned",
            lambda p, path=path: assemble(edit(p, path, lambda part: replace(part, at=0, body=u32(0)))))  # type: ignore[misc]  # fmt: skip

    def at_end(parts: Parts) -> bytes:
        last = Part("late", bytes(2), 4)
        message = assemble([*parts, last])
        owner, at = owner_of(parts, "root.offsets")
        position = positions(parts)[owner.name] + at
        return patch(message, position, u32(positions([*parts, last])["late"] - position))

    put(cat, "Region", "vector-half-inside", "MSG-8", "only two bytes of a vector's count are in the message", at_end)


def strings(cat: Catalog) -> None:
    """MSG-9."""
    bad = [
        ("surrogate", b"a\xed\xa0\x80b"), ("surrogate-low", b"\xed\xbf\xbf"), ("overlong-2", b"\xc0\x80"),
        ("overlong-slash", b"\xc1\xbf"), ("overlong-3", b"\xe0\x9f\xbf"), ("overlong-4", b"\xf0\x8f\xbf\xbf"),
        ("above-10ffff", b"\xf4\x90\x80\x80"), ("f5", b"\xf5\x80\x80\x80"), ("ff", b"\xff"), ("lone-80", b"a\x80"),
        ("cut-2", b"ab\xc3"), ("cut-3", b"\xe2\x82"), ("cut-4", b"\xf0\x9f\x92"), ("not-continued", b"\xc3("),
        ("pair", b"\xed\xa0\xbd\xed\xb2\xa9"), ("five-bytes", b"\xf8\x88\x80\x80\x80"),
    ]  # fmt: skip

    def text(path: str, content: bytes, behind: bytes = b"\0") -> Make:
        body = u32(len(content)) + content + behind
        return lambda parts: assemble(edit(parts, path, lambda part: replace(part, body=body)))

    for name, content in bad:
        put(
            cat,
            "Footer",
            f"utf-8-{name}",
            "MSG-9",
            f"created_by is not UTF-8: {name}",
            text("root.created_by", content),
        )
    put(cat, "Footer", "utf-8-key", "MSG-9", "a property's key is not UTF-8", text("root.properties.0.key", b"\x80"))
    put(
        cat,
        "Footer",
        "utf-8-value",
        "MSG-9",
        "a property's value is not UTF-8",
        text("root.properties.1.value", b"\xfe"),
    )
    for root, path in STRINGS:
        put(cat, root, f"{short(path)}-without-zero", "MSG-9", f"{path} is not followed by a zero byte",
            text(path, b"abc", b"\x01"))  # fmt: skip

        def last(parts: Parts, path: str = path) -> bytes:
            moved = next(part for part in parts if part.name == path)
            return assemble([*[p for p in parts if p.name != path], replace(moved, body=u32(4) + b"text")])

        put(cat, root, f"{short(path)}-zero-outside", "MSG-9", f"{path} ends with the message, without its zero", last)
        put(cat, root, f"{short(path)}-count-most", "MSG-9 MSG-8 INT-4", f"{path} has FFFFFFFF bytes",
            at_part(path, 0, u32(0xFFFFFFFF)))  # fmt: skip


def owners(cat: Catalog) -> None:
    """MSG-10: one owner each, and nothing overlaps."""

    def alias(path: str, other: str) -> Make:
        """The owner of *path* leads to *other* instead, and *path* is removed from the message."""

        def make(parts: Parts) -> bytes:
            owner, at = owner_of(parts, path)
            gone = [p for p in parts if p.name != path and not p.name.startswith((path + ".", path + ":"))]
            return assemble(reref(gone, owner.name, at, other))

        return make

    for root, path, other in (
        ("Region", "root.shared.1", "root.shared.0"), ("Footer", "root.properties.1", "root.properties.0"),
        ("Footer", "root.properties.0.value", "root.properties.0.key"),
        ("Footer", "root.properties.1.value", "root.properties.0.value"),
        ("Footer", "root.statistics.plain", "root.statistics.stored"),
        ("Footer", "root.statistics.records", "root.statistics.stored"),
        ("Footer", "root.created_by", "root.properties.1.value"),
        ("Region", "root.runs", "root.offsets"), ("Region", "root.shared.1.members", "root.offsets"),
    ):  # fmt: skip
        put(cat, root, f"{short(path)}-is-{short(other)}", "MSG-10", f"{path} and {other} are one and the same",
            alias(path, other))  # fmt: skip

    def inside(path: str, other: str, by: int) -> Make:
        def make(parts: Parts) -> bytes:
            owner, at = owner_of(parts, path)
            gone = [p for p in parts if p.name != path]
            return assemble(reref(gone, owner.name, at, other, by))

        return make

    put(cat, "Footer", "value-inside-stored", "MSG-10", "a string is inside a vector of zeros",
        inside("root.properties.0.value", "root.statistics.stored", 8))  # fmt: skip
    put(cat, "Region", "members-in-runs", "MSG-10", "the members are in the vector of runs",
        inside("root.shared.1.members", "root.runs", 12))  # fmt: skip

    def vtable_in(parts: Parts) -> bytes:
        # The string's bytes are those of the vtable that the property would have had, and valid UTF-8.
        vtable = next(part for part in parts if part.name == "root.properties.0:vtable").body
        parts = edit(parts, "root.created_by", lambda part: replace(part, body=u32(len(vtable)) + vtable + b"\0"))
        parts = edit(parts, "root.properties.0", lambda part: replace(part, vtable="root.created_by"))
        less = [part for part in parts if part.name != "root.properties.0:vtable"]
        where = positions(less)
        at = where["root.properties.0"]
        return patch(assemble(less), at, (at - where["root.created_by"] - 4).to_bytes(4, "little", signed=True))

    put(cat, "Footer", "vtable-in-string", "MSG-10 MSG-4", "a vtable is inside a string", vtable_in)

    def overlapping(parts: Parts) -> bytes:
        # Property's second vtable begins two bytes before the end of the first, whose last entry is its size.
        one, two = "root.properties.0:vtable", "root.properties.1:vtable"
        merged = [p for p in parts if p.name != two]
        key, value = slot(parts, "root.properties.0", 0), slot(parts, "root.properties.0", 1)
        body = u16(8) + u16(12) + u16(key) + u16(value) + u16(12) + u16(key) + u16(value)
        merged = edit(merged, one, lambda part: replace(part, body=body))
        merged = edit(merged, "root.properties.1", lambda part: replace(part, vtable=one))
        message, where = assemble(merged), positions(merged)
        at = where["root.properties.1"]
        return patch(message, at, (at - where[one] - 6).to_bytes(4, "little", signed=True))

    put(cat, "Footer", "vtables-overlap", "MSG-10", "two vtables overlap: the last entry of one is the size of the other",
        overlapping)  # fmt: skip

    def sharing(parts: Parts) -> bytes:
        less = [p for p in parts if p.name != "root.properties.1:vtable"]
        return assemble(edit(less, "root.properties.1", lambda p: replace(p, vtable="root.properties.0:vtable")))

    put(cat, "Footer", "vtable-shared", "MSG-10", "two tables share one vtable", sharing, good=True)

    def many(parts: Parts) -> bytes:
        refs = tuple((4 + 4 * i, "root.shared.0", 0) for i in range(5000))
        body = u32(5000) + bytes(20_000)
        gone = [p for p in parts if not p.name.startswith("root.shared.1")]
        return assemble(edit(gone, "root.shared", lambda part: replace(part, body=body, refs=refs)))

    put(
        cat,
        "Region",
        "shared-5000-times",
        "MSG-14 MSG-10 SEC-3",
        "a vector of 5,000 uoffsets that lead to one table",
        many,
    )


def newer(cat: Catalog) -> None:
    """MSG-12: what a newer minor relaxes, and what it does not."""

    def grow(path: str, entries: int, present: bool = True, beyond: str = "") -> Make:
        """A table with that many more fields. The last one is present: a uoffset to an unknown vector.

        They follow the fields of its vtable or, with *beyond*, all fields of that table in the schema.
        """

        def make(parts: Parts) -> bytes:
            table = next(part for part in parts if part.name == path)
            vtable = next(part for part in parts if part.name == f"{path}:vtable")
            known = later(beyond, vtable) if beyond else 0
            more = u16(0) * (known + entries - 1) + u16(len(table.body) if present else 0)
            body = u16(len(vtable.body) + len(more)) + vtable.body[2:] + more
            parts = edit(parts, f"{path}:vtable", lambda part: replace(part, body=body))
            if not present:
                return assemble(parts)
            refs = (*table.refs, (len(table.body), "unknown", 0))
            parts = edit(parts, path, lambda part: replace(part, body=part.body + bytes(4), refs=refs))
            parts = rebody(parts, f"{path}:vtable", 2, u16(len(table.body) + 4))
            return assemble([*parts, Part("unknown", u32(9) + b"something")])

        return make

    tables = [("Region", "root"), ("Region", "root.shared.1"), ("Footer", "root"), ("Footer", "root.statistics"),
              ("Footer", "root.properties.0"), ("Schema", "root")]  # fmt: skip
    for root, path in tables:
        name, beyond = ("root", root) if path == "root" else (short(path), "")
        put(cat, root, f"{name}-field-of-minor-1", "MSG-12 VER-2", f"{path} has a field of a newer minor", grow(path, 1, beyond=beyond),
            minor=1, good=True)  # fmt: skip
        put(cat, root, f"{name}-absent-of-minor-1", "MSG-12 VER-2", f"{path} has an absent field of a newer minor",
            grow(path, 3, False, beyond), minor=1, good=True)  # fmt: skip
        put(cat, root, f"{name}-field-of-minor-0", "MSG-4 VER-2", f"{path} has a field that minor 0 does not have",
            grow(path, 1, beyond=beyond))  # fmt: skip
    known = {"Region": 9, "Footer": 5, "Schema": 1}
    for root, count in known.items():
        put(cat, root, "vtable-132-of-minor-1", "MSG-12", "a vtable of 132 bytes in a newer minor",
            grow("root", 64 - count), minor=1, good=True)  # fmt: skip
        put(cat, root, "vtable-134-of-minor-1", "MSG-12 MSG-4", "a vtable of 134 bytes in a newer minor",
            grow("root", 65 - count), minor=1)  # fmt: skip
        put(cat, root, "gaps-of-minor-1", "MSG-12", "bytes of unknown parts in a newer minor",
            lambda p: assemble(p, b"\x01" * 50), minor=1, good=True)  # fmt: skip

    def aliased(parts: Parts) -> bytes:
        owner, at = owner_of(parts, "root.shared.1")
        gone = [p for p in parts if not p.name.startswith("root.shared.1")]
        return assemble(reref(gone, owner.name, at, "root.shared.0"))

    put(cat, "Region", "table-twice-of-minor-1", "MSG-12 MSG-10", "a table that two uoffsets lead to, in a newer minor",
        aliased, minor=1)  # fmt: skip
    put(cat, "Region", "count-of-minor-1", "MSG-12 MSG-8", "a newer minor does not permit a vector outside of the message",
        at_part("root.offsets", 0, u32(0x40000000)), minor=1)  # fmt: skip
    put(cat, "Footer", "utf-8-of-minor-1", "MSG-12 MSG-9", "a newer minor does not permit text that is not UTF-8",
        at_part("root.created_by", 4, b"\xff"), minor=1)  # fmt: skip
    put(cat, "Region", "identifier-of-minor-1", "MSG-12 MSG-2", "a newer minor does not permit another identifier",
        lambda p: patch(assemble(p), 4, b"FRFT"), minor=255)  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (vectors, strings, owners, newer):
        part(cat)
