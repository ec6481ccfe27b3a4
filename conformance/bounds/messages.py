"""Messages that are shared, nested, overlapping or simply long."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from generate.raw import MERGED, NOBODY, OPAQUE, Header

from .build import Output, Part, block, shared_extents, text, u32s, u64s, vector
from .kind import LARGER, Made, kind


def _with_shared(folder: Path, part: Part, check: str, minor: int = 0) -> Made:
    """A region message with this vector of shared extents, without blocks for them."""
    out = Output(Header(partition_count=4, framing=OPAQUE, version_minor=minor))
    out.region(block(out.header, b"x"), parts={3: u32s([0, 4, 4, 4, 4]), 6: part})
    out.finish()
    return Made(out.save(folder), check, limits=LARGER)


def _one_table(count: int, members: int) -> Part:
    """A vector of *count* references to one table, whose members have *size* bytes."""

    def make(position: int) -> bytes:
        at_vtable = 4 + 4 * count
        at_table = at_vtable + 12
        offsets = (at_table - 4 - 4 * np.arange(count)).astype("<u4")
        table = struct.pack("<iIII", at_table - at_vtable, 3, 0, 4) + struct.pack("<I", members) + bytes(members)
        vtable = struct.pack("<HHHHHH", 10, 16, 4, 12, 8, 0)
        return struct.pack("<I", count) + offsets.tobytes() + vtable + table

    return Part(make)


@kind(200_000, 800_000)
def table_shared(folder: Path, size: int) -> Made:
    """A vector whose elements all lead to one table."""
    return _with_shared(folder, _one_table(size, 64), "malformed-message")


@kind(100_000, 400_000)
def table_shared_large(folder: Path, size: int) -> Made:
    """The same with a large set of members, so that naive work would be the product."""
    return _with_shared(folder, _one_table(size, 4 * size), "malformed-message")


@kind(100_000, 400_000)
def table_shared_newer(folder: Path, size: int) -> Made:
    """The same in a file of a newer minor version, where gaps are allowed."""
    return _with_shared(folder, _one_table(size, 4 * size), "malformed-message", minor=1)


@kind(100_000, 400_000)
def tables_overlap(folder: Path, size: int) -> Made:
    """Tables that overlap by all but four bytes."""

    def make(position: int) -> bytes:
        at_vtable = 4 + 4 * size
        at_tables = at_vtable + 8
        tables = at_tables + 4 * np.arange(size)
        offsets = (tables - 4 - 4 * np.arange(size)).astype("<u4")
        vtable = struct.pack("<HHHH", 6, 0xFFFC, 4, 0)
        body = (tables - at_vtable).astype("<i4").tobytes() + bytes(0x10000)
        return struct.pack("<I", size) + offsets.tobytes() + vtable + body

    return _with_shared(folder, Part(make), "malformed-message")


@kind(50_000, 200_000)
def vtables_own(folder: Path, size: int) -> Made:
    """Tables, each with its own vtable of the largest size."""

    def make(position: int) -> bytes:
        each = 12 + 8
        base = 4 + 4 * size
        tables = base + 12 + each * np.arange(size)
        offsets = (tables - 4 - 4 * np.arange(size)).astype("<u4")
        row = struct.pack("<HHHHHH", 10, 8, 4, 0, 0, 0) + struct.pack("<iI", 12, 3)
        return struct.pack("<I", size) + offsets.tobytes() + row * size

    out = Output(Header(partition_count=4, framing=OPAQUE))
    blocks = block(out.header, b"", 1) + b"".join(block(out.header, b"", 1, NOBODY, number) for number in range(size))
    out.region(blocks, parts={3: u32s([0, 3, 3, 3, 3]), 6: Part(make)})
    out.finish()
    # All say that their first block is 0.
    return Made(out.save(folder), "inconsistent-index" if size > 1 else "ok", limits=LARGER)


@kind(20_000, 80_000)
def properties_many(folder: Path, size: int) -> Made:
    """Properties with keys of six digits."""

    def make(position: int) -> bytes:
        base = 4 + 4 * size + 8
        each = 12 + 12 + 8
        tables = base + each * np.arange(size)
        offsets = (tables - 4 - 4 * np.arange(size)).astype("<u4")
        vtable = struct.pack("<HHHH", 8, 12, 4, 8)
        rows = b"".join(
            struct.pack("<iII", 8 + each * number, 8, 16) + b"\6\0\0\0%06d\0\0" % number + b"\3\0\0\0abc\0"
            for number in range(size)
        )
        return struct.pack("<I", size) + offsets.tobytes() + vtable + rows

    out = Output(Header(partition_count=4))
    out.finish({3: Part(make)})
    return Made(out.save(folder), "ok", limits=LARGER)


@kind(20_000, 80_000)
def strings_overlap(folder: Path, size: int) -> Made:
    """Properties whose values are inside one another."""

    def make(position: int) -> bytes:
        base = 4 + 4 * size + 8
        tables = base + 12 * np.arange(size)
        strings = base + 12 * size
        offsets = (tables - 4 - 4 * np.arange(size)).astype("<u4")
        rows = np.zeros((size, 3), "<u4")
        rows[:, 0] = 8 + 12 * np.arange(size)
        rows[:, 1] = strings + 8 * np.arange(size) - (tables + 4)
        rows[:, 2] = strings + 8 * np.arange(size) + 4 - (tables + 8)
        # Each claims 64 bytes, and so covers the sixteen after it; all bytes are text.
        texts = b"\x40\0\0\0" * (2 * size + 40)
        vtable = struct.pack("<HHHH", 8, 12, 4, 8)
        return struct.pack("<I", size) + offsets.tobytes() + vtable + rows.tobytes() + texts

    out = Output(Header(partition_count=4))
    out.finish({3: Part(make)})
    return Made(out.save(folder), "malformed-message", limits=LARGER)


@kind(1 << 20, 4 << 20)
def text_long(folder: Path, size: int) -> Made:
    """A created_by of megabytes."""
    out = Output(Header(partition_count=4))
    out.finish({4: text("é".encode() * (size // 2))})
    return Made(out.save(folder), "ok", limits=LARGER)


@kind(1 << 20, 4 << 20)
def text_broken(folder: Path, size: int) -> Made:
    """A created_by of megabytes whose last character is not valid UTF-8."""
    out = Output(Header(partition_count=4))
    out.finish({4: text("é".encode() * (size // 2) + b"\xc3")})
    return Made(out.save(folder), "malformed-message", limits=LARGER)


@kind(10_000, 40_000)
def shared_many(folder: Path, size: int) -> Made:
    """Shared extents of one block, each with members."""
    out = Output(Header(partition_count=64, framing=OPAQUE))
    blocks = b"".join(block(out.header, b"shared", partition=NOBODY, sequence=number) for number in range(size))
    extents = shared_extents(np.full(size, 4), bytes([1, 0, 0, 0, 0, 0, 0, 0x80]))
    out.region(blocks, parts={3: u32s([0]), 5: u32s([]), 6: extents})
    out.finish()
    return Made(out.save(folder), "ok", (0, 1, 63), ((0, 64), (1, 63)), LARGER)


@kind(50_000, 200_000)
def runs_many(folder: Path, size: int) -> Made:
    """Runs of one block each."""
    out = Output(Header(partition_count=4, framing=OPAQUE, producer=MERGED))
    blocks = b"".join(block(out.header, b"run", sequence=number) for number in range(size))
    runs = np.zeros(size, np.dtype("<u8, <u8, <u4, <u4, <u4, <u4"))
    runs["f0"], runs["f3"], runs["f4"] = np.arange(size), 1, 4
    offsets = u32s([0] + [len(blocks) // 8] * 4)
    out.region(blocks, parts={3: offsets, 7: vector(runs.tobytes(), size, 8)})
    out.finish()
    return Made(out.save(folder), "ok", limits=LARGER)


@kind(250_000, 1_000_000)
def slots_empty(folder: Path, size: int) -> Made:
    """Dense slots without a block."""
    out = Output(Header(partition_count=size, framing=OPAQUE))
    offsets = np.zeros(size + 1, "<u4")
    offsets[-1] = 4
    out.region(block(out.header, b"last", partition=size - 1), parts={3: u32s(offsets)})
    out.finish()
    return Made(out.save(folder), "ok", (0, size - 1), ((0, size),), LARGER)


@kind(100_000, 400_000)
def statistics_large(folder: Path, size: int) -> Made:
    """Statistics of every partition."""
    counts = np.full(size, 32, "<u8")
    out = Output(Header(partition_count=size, framing=OPAQUE))
    blocks = b"".join(block(out.header, b"x", partition=number) for number in range(size))
    out.region(blocks, parts={3: u32s(np.arange(size + 1) * 4)})
    out.finish({2: _statistics(counts, np.ones(size, "<u8"))})
    return Made(out.save(folder), "ok", (0, size - 1), ((0, size),), LARGER)


def _statistics(stored: np.ndarray, plain: np.ndarray) -> Part:
    """A Statistics table with two vectors."""

    def make(position: int) -> bytes:
        # Table (12 bytes), vtable (8), then the vectors, whose elements are aligned by 8.
        first = 20 + -(position + 24) % 8
        content = u64s(stored).make(0)
        second = first + len(content)
        second += -(position + second + 4) % 8
        head = struct.pack("<iII", -12, first - 4, second - 8) + struct.pack("<HHHH", 8, 12, 4, 8)
        out = head + bytes(first - 20) + content
        return out + bytes(second - len(out)) + u64s(plain).make(0)

    return Part(make)
