"""The plan of a run: for each part the calls of the programs, in order.

Rust and Flink cannot be one process. Cells in which a target compares them are measured in turns: the programs are
started one after the other, and then again, and the repetitions of all turns are joined.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from harness.programs import Call, Cell

PARTITIONS = (64, 1_000, 10_000)
BUFFERS = (16, 128)
CODECS = ("none", "lz4", "zstd")


@dataclass(frozen=True)
class Sizes:
    """How much a run measures."""

    turns: int
    """How many turns the cells have in which a target compares programs of several languages."""
    repetitions: int
    """Repetitions in each of these turns."""
    alone: int
    """Repetitions of a cell that is measured in one turn."""
    plain_mib: int
    """MiB in each repetition without a codec."""
    packed_mib: int
    """MiB with a codec, or with records of 16 bytes."""
    growth: bool
    """Whether the curves extend to their full sizes."""


FULL = Sizes(turns=2, repetitions=4, alone=4, plain_mib=384, packed_mib=192, growth=True)
SHORT = Sizes(turns=1, repetitions=3, alone=2, plain_mib=256, packed_mib=64, growth=False)
QUICK = Sizes(turns=1, repetitions=2, alone=2, plain_mib=64, packed_mib=32, growth=False)


SHORT_SUBJECTS = {
    "write": (
        "faro", "faro-2-buffers", "faro-2-threads", "faro-2-threads-2-buffers",
        "flink", "hash-files", "raw-write", "codec", "memcpy",
    ),
    "read": ("faro", "flink", "raw-pread-crc"),
}  # fmt: skip
"""What a short run measures in Rust and Java: Faro, and what its targets name."""


@dataclass(frozen=True)
class Step:
    """The programs that are measured in turns."""

    part: str
    calls: tuple[Call, ...]
    turns: int = 1


def _calls(part: str, sizes: Sizes, cell: Cell, repetitions: int, *, lineitem: bool = False) -> tuple[Call, ...]:
    """The calls of Rust and Java for a cell."""
    # Flink takes half a minute for a GiB of its shortest records.
    is_slow = cell.get("codec", "none") != "none" or cell.get("record_bytes") == 16
    plain = sizes.packed_mib if is_slow else sizes.plain_mib
    return tuple(
        Call(language, part, tuple(cell.items()), repetitions, plain, lineitem=lineitem)
        for language in ("rust", "java")
    )


def _text(codec: str, record_bytes: int = 100) -> Iterator[Cell]:
    """The grid for one codec and one length of records."""
    for partitions, buffer in itertools.product(PARTITIONS, BUFFERS):
        yield {
            "data": "text", "record_bytes": record_bytes, "partitions": partitions, "buffer_mib": buffer,
            "codec": codec,
        }  # fmt: skip


def write(sizes: Sizes) -> Iterator[Step]:
    """Rust and Java on text without a codec, in turns; then with a codec, with other records, and with TPC-H's rows."""
    for cell in _text("none"):
        yield Step("write", _calls("write", sizes, cell, sizes.repetitions), sizes.turns)
    others = [*_text("lz4"), *_text("zstd"), *_text("none", 16), *_text("none", 512), *_text("none", 1 << 10)]
    others.append({"data": "text", "record_bytes": 64 << 10, "partitions": 1_000, "buffer_mib": 128, "codec": "none"})
    for partitions in PARTITIONS:
        others.append(
            {"data": "skewed", "record_bytes": 100, "partitions": partitions, "buffer_mib": 16, "codec": "none"}
        )
    for cell in others:
        yield Step("write", _calls("write", sizes, cell, sizes.alone))
    for codec in CODECS:
        rows: Cell = {"data": "lineitem", "partitions": 1_000, "buffer_mib": 16, "codec": codec}
        yield Step("write", _calls("write", sizes, rows, sizes.alone, lineitem=True))


def read(sizes: Sizes) -> Iterator[Step]:
    """The same for reading, of text without a codec and with one; each program measures its own limits too."""
    for codec, partitions, buffer in itertools.product(CODECS, PARTITIONS, BUFFERS):
        cell: Cell = {"partitions": partitions, "buffer_mib": buffer, "codec": codec}
        yield Step("read", _calls("read", sizes, cell, sizes.alone))


def python(sizes: Sizes) -> Iterator[Step]:
    """Tables and records in Python and pyarrow, all in one process."""
    for part, data, partitions in itertools.product(
        ("write", "read"), ("text-table", "lineitem-table", "text"), (64, 1_000)
    ):
        cell = (("data", data), ("partitions", partitions))
        yield Step("python", (Call("python", part, cell, sizes.alone, sizes.plain_mib // 2),))


JOBS = ("small", "rebalance", "keyed-sum", "word-count", "q1", "q3", "q5", "q9", "q18")
"""Flink jobs: four that make their own data, and TPC-H queries."""
WIDE = 100
"""Subtasks of each operator in jobs that mostly shuffle."""


def flink_jobs(sizes: Sizes) -> Iterator[Step]:
    """Whole jobs, with Faro's shuffle and with Flink's own. Each shuffle has a process; these take turns."""
    cells = [(job, 4) for job in JOBS] + [("rebalance", WIDE), ("keyed-sum", WIDE)]
    for job, parallelism in cells:
        cell = (("job", job), ("partitions", parallelism), ("codec", "lz4"))
        # All jobs except the first sort at their consumers, which takes time.
        plain = 2 * sizes.plain_mib if job == "rebalance" else sizes.packed_mib // 2
        # One run takes a tenth of a second, so milliseconds matter.
        repetitions = 25 * sizes.alone if job == "small" else sizes.alone + 2
        call = Call("java", "flink-jobs", cell, repetitions, plain, tables=job.startswith("q"))
        # Medians of processes differ by 5 to 10 %.
        yield Step("flink-jobs", (call,), sizes.alone - 1)


def flink_hybrid(sizes: Sizes) -> Iterator[Step]:
    """Whole jobs with hybrid exchanges, with Faro's and Flink's own; and the same with blocking exchanges."""
    for job in ("small", "rebalance", "keyed-sum", "word-count"):
        cell = (("job", job), ("partitions", 4), ("codec", "lz4"))
        plain = 2 * sizes.plain_mib if job == "rebalance" else sizes.packed_mib // 2
        repetitions = 25 * sizes.alone if job == "small" else sizes.alone + 2
        yield Step("flink-hybrid", (Call("java", "flink-hybrid", cell, repetitions, plain),), sizes.turns)


TINY_CONSUMERS = (2, 100)
"""The subpartitions of tiny partitions."""


def flink_tiny(sizes: Sizes) -> Iterator[Step]:
    """Partitions with one record for each consumer, from their creation to their release."""
    for partitions in TINY_CONSUMERS:
        cell = (("partitions", partitions),)
        more = () if sizes.growth else ("--quick", "yes")
        yield Step("flink-tiny", (Call("java", "flink-tiny", cell, sizes.alone + 2, None, more),), 1)


CLIENTS = (1, 8, 32)
"""Clients that run small queries at the same time."""


def flink_queries(sizes: Sizes) -> Iterator[Step]:
    """Small queries of some clients at once, with each of Flink's kinds of exchanges and with Faro's."""
    for job, clients in itertools.product(("sums", "tpch"), CLIENTS if sizes.growth else CLIENTS[:1]):
        cell = (("job", job), ("clients", clients), ("partitions", 2), ("codec", "lz4"))
        # Five shuffles run up to 32 turns of five seconds or more before they are measured. Turns differ by a tenth.
        # Those of one client have the fewest queries.
        repetitions = (4 if (job, clients) == ("tpch", 1) else 2) * sizes.alone
        call = Call("java", "flink-queries", cell, repetitions, None, small_tables=True, timeout=5400.0)
        yield Step("flink-queries", (call,), 1)


SPARK_JOBS = (
    ("q3", 16), ("q9", 16), ("q18", 16), ("repartition", 64), ("repartition-spill", 256), ("sort-spill", 256),
    ("tiny-blocks", 300), ("tiny-blocks", 1_000),
)  # fmt: skip
"""Jobs of Spark, with the partitions of their shuffles. Up to 200 partitions Spark's own writer has no spills."""


def spark_jobs(sizes: Sizes) -> Iterator[Step]:
    """Whole jobs, with Faro's shuffle and with Spark's own. Each shuffle has a process; these take turns."""
    for job, partitions in SPARK_JOBS:
        if partitions == 1_000 and not sizes.growth:
            # A million blocks take a minute in each run.
            continue
        cell = (("job", job), ("partitions", partitions), ("codec", "lz4"))
        repetitions = 2 if partitions == 1_000 else sizes.alone + 2
        call = Call("java", "spark-jobs", cell, repetitions, sizes.plain_mib, tables=job.startswith("q"))
        yield Step("spark-jobs", (call,), 1 if partitions == 1_000 else sizes.turns)


PUSHED_JOBS = (("repartition", 64), ("tiny-blocks", 300), ("tiny-blocks", 2_000))
"""Jobs on a cluster with shuffle services, with the partitions of their shuffles."""


def spark_push(sizes: Sizes) -> Iterator[Step]:
    """Jobs with and without push, each with Faro's shuffle and with Spark's own."""
    for job, partitions in PUSHED_JOBS:
        if partitions == 2_000 and not sizes.growth:
            # Four million blocks take minutes in each run.
            continue
        cell = (("job", job), ("partitions", partitions), ("codec", "lz4"))
        many = partitions == 2_000
        repetitions, timeout = (1, 3600.0) if many else (sizes.alone + 2, 1500.0)
        yield Step("spark-push", (Call("java", "spark-push", cell, repetitions, sizes.plain_mib, timeout=timeout),))


REPETITIONS = {"tiny-outputs": 15}
"""For parts in which the program's own number is too small: a pass may be disturbed for a second."""


WHOLE = {("merge", "rust"): ("--whole-shuffle",)}
"""Options of parts that are run whole."""


def short(sizes: Sizes) -> Iterator[Step]:
    """The main cells, which show most targets: a machine can be added in less than 15 minutes."""
    cells = [*_text("none")]
    for record_bytes, codec, partitions in (
        (16, "none", 64), (16, "none", 1_000), (512, "none", 64), (1 << 10, "none", 64), (1 << 10, "none", 1_000),
        (100, "lz4", 64), (100, "lz4", 10_000), (100, "zstd", 64),
    ):  # fmt: skip
        cells += [
            cell
            for cell in _text(codec, record_bytes)
            if (cell["partitions"], cell["buffer_mib"]) == (partitions, BUFFERS[0])
        ]
    rows: list[Cell] = [
        {"partitions": partitions, "buffer_mib": buffer, "codec": "none"}
        for partitions, buffer in itertools.product(PARTITIONS, BUFFERS)
    ]
    cells_of: dict[str, list[Cell]] = {"write": cells, "read": rows}
    for part, chosen in cells_of.items():
        for cell in chosen:
            # Two regions or more.
            less = replace(
                sizes, plain_mib=sizes.plain_mib if cell["buffer_mib"] == BUFFERS[1] else sizes.plain_mib // 2
            )
            calls = _calls(part, less, cell, sizes.repetitions)
            yield Step(part, tuple(replace(call, subjects=SHORT_SUBJECTS[part]) for call in calls))
    for step in python(sizes):
        if "text" not in dict(step.calls[0].cell).values():
            yield step


def _single(part: str, sizes: Sizes, *languages: str) -> Iterator[Step]:
    repetitions = REPETITIONS.get(part) if sizes.growth else None
    for language in languages:
        more = WHOLE.get((part, language), ()) if sizes.growth else ("--quick",)
        yield Step(part, (Call(language, part, (), repetitions, None, more),))


def plan(parts: list[str], sizes: Sizes, cell: Mapping[str, str] = MappingProxyType({})) -> list[Step]:
    """The steps of some parts, in order; only those whose cells match `cell`. With SHORT, only the main cells."""
    steps: list[Step] = []
    if sizes is SHORT:
        steps = [step for step in short(sizes) if step.part in parts]
    for part in [] if sizes is SHORT else parts:
        if part in GRIDS:
            steps += GRIDS[part](sizes)
        else:
            steps += _single(part, sizes, *SINGLE[part])
    return [step for step in steps if all(_has(call, cell) for call in step.calls)]


def _has(call: Call, cell: Mapping[str, str]) -> bool:
    found = {key: str(value) for key, value in call.cell}
    return all(found.get(key) == value for key, value in cell.items())


GRIDS = {
    "write": write,
    "read": read,
    "python": python,
    "flink-jobs": flink_jobs,
    "flink-hybrid": flink_hybrid,
    "flink-queries": flink_queries,
    "flink-tiny": flink_tiny,
    "spark-jobs": spark_jobs,
    "spark-push": spark_push,
}
SINGLE = {
    "broadcast": ("rust",),
    "index": ("rust",),
    "scheduler": ("rust", "java"),
    "small-blocks": ("rust",),
    "tiny-outputs": ("rust", "java"),
    "merge": ("rust", "java"),
    "growth": ("rust", "java"),
    "memory": ("rust",),
}
PARTS = (*GRIDS, *SINGLE)
