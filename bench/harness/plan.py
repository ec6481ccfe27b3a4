"""What a run measures: for each part the calls of the programs, in the order in which they are made.

Rust and Flink are not one process. A cell in which they are compared is measured in turns: the programs are started one
after the other, and then again, and the repetitions of all turns are joined.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from harness.programs import Call, Cell

PARTITIONS = (64, 1_000, 10_000)
BUFFERS = (16, 128)
CODECS = ("none", "lz4", "zstd")


@dataclass(frozen=True)
class Sizes:
    """How much a run measures."""

    turns: int
    repetitions: int
    """In each turn."""
    plain_mib: int
    """In each repetition without a codec."""
    packed_mib: int
    """With one."""
    growth: bool
    """Whether the curves go up to their full sizes."""


FULL = Sizes(turns=2, repetitions=2, plain_mib=512, packed_mib=192, growth=True)
QUICK = Sizes(turns=1, repetitions=2, plain_mib=64, packed_mib=32, growth=False)


@dataclass(frozen=True)
class Step:
    """The programs that are measured in turns."""

    part: str
    calls: tuple[Call, ...]
    turns: int = 1


def _call(language: str, part: str, sizes: Sizes, cell: Cell, **more: object) -> Call:
    plain = sizes.plain_mib if cell.get("codec", "none") == "none" else sizes.packed_mib
    return Call(language, part, tuple(cell.items()), sizes.repetitions, plain, **more)  # type: ignore[arg-type]


def _cells() -> Iterator[Cell]:
    """The grid, and beside it other records, without a codec."""
    for codec, partitions, buffer in itertools.product(CODECS, PARTITIONS, BUFFERS):
        yield {"data": "text", "record_bytes": 100, "partitions": partitions, "buffer_mib": buffer, "codec": codec}
    for size, partitions, buffer in itertools.product((16, 1 << 10), PARTITIONS, BUFFERS):
        yield {"data": "text", "record_bytes": size, "partitions": partitions, "buffer_mib": buffer, "codec": "none"}
    yield {"data": "text", "record_bytes": 64 << 10, "partitions": 1_000, "buffer_mib": 128, "codec": "none"}
    for partitions in PARTITIONS:
        yield {"data": "skewed", "record_bytes": 100, "partitions": partitions, "buffer_mib": 16, "codec": "none"}


def write(sizes: Sizes) -> Iterator[Step]:
    """Rust and Java in every cell, in turns; TPC-H's rows."""
    for cell in _cells():
        yield Step("write", (_call("rust", "write", sizes, cell), _call("java", "write", sizes, cell)), sizes.turns)
    for codec in CODECS:
        rows: Cell = {"data": "lineitem", "partitions": 1_000, "buffer_mib": 16, "codec": codec}
        calls = tuple(_call(language, "write", sizes, rows, lineitem=True) for language in ("rust", "java"))
        yield Step("write", calls, sizes.turns)


def read(sizes: Sizes) -> Iterator[Step]:
    """The same for reading, of text without a codec and with one."""
    for codec, partitions, buffer in itertools.product(CODECS, PARTITIONS, BUFFERS):
        cell: Cell = {"partitions": partitions, "buffer_mib": buffer, "codec": codec}
        yield Step("read", (_call("rust", "read", sizes, cell), _call("java", "read", sizes, cell)), sizes.turns)


def python(sizes: Sizes) -> Iterator[Step]:
    """Tables and records in Python, beside pyarrow, all in one process."""
    for part, data, partitions in itertools.product(
        ("write", "read"), ("text-table", "lineitem-table", "text"), (64, 1_000)
    ):
        cell = (("data", data), ("partitions", partitions))
        repetitions = sizes.turns * sizes.repetitions + 1
        yield Step("python", (Call("python", part, cell, repetitions, sizes.plain_mib // 2),))


def _single(part: str, sizes: Sizes, *languages: str) -> Iterator[Step]:
    for language in languages:
        yield Step(part, (Call(language, part, (), None, None, () if sizes.growth else ("--quick",)),))


def plan(parts: list[str], sizes: Sizes) -> list[Step]:
    """The steps of some parts, in order."""
    steps: list[Step] = []
    for part in parts:
        if part in ("write", "read", "python"):
            steps += {"write": write, "read": read, "python": python}[part](sizes)
        else:
            steps += _single(part, sizes, *SINGLE[part])
    return steps


SINGLE = {
    "broadcast": ("rust",),
    "index": ("rust",),
    "scheduler": ("rust", "java"),
    "small-blocks": ("rust",),
    "growth": ("rust", "java"),
}
PARTS = ("write", "read", "python", *SINGLE)
