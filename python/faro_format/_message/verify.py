"""The structural validity of messages (MSG-1 to MSG-14, VER-2), decided before any accessor touches their bytes.

The verifier is driven by a table of the schema. It verifies all tables of one kind at once, as NumPy arrays, so
that a message with a million tables does not cost a Python step for each.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

MAX_GAP = 7
LENIENT_VTABLE = 132


class StructureError(Exception):
    """A rule that a message violates. The message module adds the offset (MSG-13)."""


@dataclass(frozen=True)
class Table:
    """A table of the schema: its fields by id."""

    name: str
    fields: tuple[Field, ...]
    sizes: Ints = field(init=False, compare=False)
    """The inline sizes of the fields; their alignments, too."""
    required: npt.NDArray[np.bool_] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Make columns of the fields."""
        object.__setattr__(self, "sizes", np.array([item.size for item in self.fields], np.int64))
        object.__setattr__(self, "required", np.array([item.required for item in self.fields], np.bool_))


@dataclass(frozen=True)
class Field:
    """A field of a table. Exactly one of the last four says where its uoffset leads; none for a scalar."""

    name: str
    size: int = 4
    required: bool = False
    vector: tuple[int, int] | None = None
    """Size and alignment of the elements."""
    string: bool = False
    table: Table | None = None
    tables: Table | None = None


@dataclass
class Found:
    """The tables of one kind that a verified message holds, as columns.

    A value of -1 means an absent field.
    """

    at: Ints
    """Where each table begins in the message."""
    scalars: dict[str, Ints] = field(default_factory=dict)
    """By field: where each table has its value."""
    begins: dict[str, Ints] = field(default_factory=dict)
    """By field: where the first element of each table's vector (or string) is."""
    counts: dict[str, Ints] = field(default_factory=dict)
    """By field: how many elements each table's vector (or string) has."""
    children: dict[str, Found] = field(default_factory=dict)
    """By field: the tables that it leads to; none for a field that no table has."""


def verify(message: bytes | memoryview, identifier: bytes, root: Table, *, newer: bool) -> Found:
    """Verify a message and return where its fields are.

    Args:
        message: all bytes of the message.
        identifier: the four bytes of its kind.
        root: the root table.
        newer: whether the file's minor version is above this library's (MSG-12).

    Raises:
        StructureError: it breaks a rule.
    """
    return _Verifier(message, newer=newer).run(identifier, root)


def _require(condition: bool | np.bool_, rule: str) -> None:
    if not condition:
        raise StructureError(rule)


class _Verifier:
    def __init__(self, message: bytes | memoryview, *, newer: bool) -> None:
        self.message = message
        self.newer = newer
        self.size = len(message)
        self.bytes = np.frombuffer(message, np.uint8)
        self.u16 = np.frombuffer(message, "<u2", self.size // 2)
        self.u32 = np.frombuffer(message, "<u4", self.size // 4)
        self.vtables: list[tuple[Ints, Ints]] = []
        self.parts: list[tuple[Ints, Ints]] = []
        self.inner: list[tuple[Ints, Ints]] = []
        """The bytes of parts that are not gaps inside a table."""
        self.strings = 0

    def run(self, identifier: bytes, root: Table) -> Found:
        _require(self.size >= 8, "MSG-2: at least 8 bytes")
        _require(bytes(self.message[4:8]) == identifier, f"MSG-2: identifier {identifier.decode()}")
        head = (np.zeros(1, np.int64), np.full(1, 8, np.int64))
        self.parts.append(head)
        self.inner.append(head)
        found = self.visit(root, self.follow(np.zeros(1, np.int64)))
        self.check_parts()
        return found

    def load16(self, at: Ints) -> Ints:
        values: Ints = self.u16[at >> 1].astype(np.int64)
        return values

    def load32(self, at: Ints) -> Ints:
        values: Ints = self.u32[at >> 2].astype(np.int64)
        return values

    def follow(self, at: Ints) -> Ints:
        """Return where the uoffsets at some positions, all multiples of 4, lead to."""
        distance = self.load32(at)
        target = at + distance
        _require(((distance >= 4) & (target & 3 == 0) & (target <= self.size - 4)).all(), "MSG-1: a uoffset in range")
        return target

    def visit(self, table: Table, at: Ints) -> Found:
        """Verify all tables of one kind and what they lead to."""
        size = self.size
        vtable = at - self.load32(at).astype(np.uint32).view(np.int32)
        inside = (vtable >= 8) & (vtable & 1 == 0) & (vtable <= size - 4)
        _require(inside.all(), "MSG-3: a vtable inside the message")
        vtable_size, inline = self.load16(vtable), self.load16(vtable + 2)
        most = LENIENT_VTABLE if self.newer else 4 + 2 * len(table.fields)
        sized = (vtable_size & 1 == 0) & (vtable_size >= 4) & (vtable_size <= most) & (vtable + vtable_size <= size)
        _require(sized.all(), "MSG-4: a vtable's size")
        _require(((inline >= 4) & (at + inline <= size)).all(), "MSG-5: a table inside the message")
        self.parts.append((at, at + inline))
        self.inner.append((at, at + 4))
        self.vtables.append((vtable, vtable + vtable_size))
        entries = (vtable + 4)[:, None] + 2 * np.arange(len(table.fields))
        named = entries + 2 <= (vtable + vtable_size)[:, None]
        offsets = np.where(named, self.load16(np.where(named, entries, 0)), 0)
        present = offsets != 0
        _require((present | ~table.required).all(), "MSG-7: a required field")
        positions = at[:, None] + offsets
        sizes = table.sizes
        fits = (offsets >= 4) & (offsets + sizes <= inline[:, None]) & (positions % sizes == 0)
        _require((fits | ~present).all(), "MSG-6: a field inside its table")
        spans = np.where(present, offsets * 16 + sizes, 1 << 24)
        spans.sort(axis=1)
        _require(((spans[:, :-1] >> 4) + (spans[:, :-1] & 15) <= spans[:, 1:] >> 4).all(), "MSG-6: fields apart")
        self.inner.append((positions[present], (positions + sizes)[present]))
        found = Found(at)
        scalars = np.where(present, positions, -1)
        for i, item in enumerate(table.fields):
            found.scalars[item.name] = scalars[:, i]
            self.descend(item, found)
        return found

    def descend(self, item: Field, found: Found) -> None:
        """Verify what the uoffsets of one field lead to."""
        position = found.scalars[item.name]
        present = position >= 0
        if not present.any():
            found.counts[item.name] = found.begins[item.name] = np.full(len(position), -1, np.int64)
        elif item.table is not None:
            found.children[item.name] = self.visit(item.table, self.follow(position[present]))
        elif item.vector is not None or item.string or item.tables is not None:
            element, alignment = item.vector or ((1, 1) if item.string else (4, 4))
            target = self.follow(position[present])
            count = self.load32(target)
            begin = target + 4
            end = begin + count * element + (1 if item.string else 0)
            _require((end <= self.size).all(), "MSG-8: a vector inside the message")
            _require((begin % alignment == 0).all(), "MSG-8: elements aligned")
            self.parts.append((target, end))
            self.inner.append((target, end))
            if item.string:
                self.check_strings(begin, end)
            for column, values in ((found.begins, begin), (found.counts, count)):
                column[item.name] = np.full(len(position), -1, np.int64)
                column[item.name][present] = values
            if item.tables is not None:
                # Only a root table has vectors of tables: there is at most one such vector of a field.
                elements = begin.repeat(count) + 4 * np.arange(count.sum(), dtype=np.int64)
                found.children[item.name] = self.visit(item.tables, self.follow(elements))

    def check_strings(self, begins: Ints, ends: Ints) -> None:
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            # Strings that overlap would make the work quadratic.
            self.strings += end - begin
            _require(self.strings <= self.size, "MSG-10: strings apart")
            _require(self.message[end - 1] == 0, "MSG-9: a zero byte after a string")
            try:
                str(self.message[begin : end - 1], "utf-8")
            except UnicodeDecodeError:
                raise StructureError("MSG-9: valid UTF-8") from None

    def check_parts(self) -> None:
        """Check that parts are owned once, do not overlap and leave only small gaps of zeros (MSG-10, MSG-11)."""
        vtables = np.concatenate([begin for begin, _ in self.vtables])
        vtables, first = np.unique(vtables, return_index=True)
        shapes = (vtables, np.concatenate([end for _, end in self.vtables])[first])
        begins, ends = _sorted([*self.parts, shapes])
        gaps = np.append(begins[1:], self.size) - ends
        _require((gaps >= 0).all(), "MSG-10: parts that do not overlap")
        if self.newer:
            return
        _require((gaps <= MAX_GAP).all(), "MSG-11: gaps of at most 7 bytes")
        begins, ends = _sorted([*self.inner, shapes])
        gap_ends = np.append(begins[1:], self.size)
        wide = gap_ends > ends
        bounds = np.column_stack((ends[wide], gap_ends[wide])).ravel()
        if not bounds.size:
            return
        if bounds[-1] == self.size:
            bounds = bounds[:-1]
        _require(not np.bitwise_or.reduceat(self.bytes, bounds)[::2].any(), "MSG-11: gaps of zeros")


def _sorted(spans: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Return the begins and ends of all spans, sorted by begin."""
    begins = np.concatenate([begin for begin, _ in spans])
    ends = np.concatenate([end for _, end in spans])
    order = np.argsort(begins, kind="stable")
    return begins[order], ends[order]
