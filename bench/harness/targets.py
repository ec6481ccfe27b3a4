"""The targets, each compared with the results: met, not met and by how much, or not measured."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from harness.figures import Results, Spread, ratio, speed
from harness.lines import Key, Line

Verdict = tuple[bool | None, str]
"""Whether a target is met, None if it was not measured; and the figures that decide."""

TEXT: dict[str, Any] = {"data": "text", "record_bytes": 100}
GB = 1e9
PYARROW = ("arrow-ipc", "arrow-ipc-buffered", "parquet", "arrow-dataset-ipc")
"""How pyarrow writes a file for each partition."""


@dataclass(frozen=True)
class Target:
    """A target."""

    id: str
    text: str
    decide: Callable[[Results], Verdict]

    def judge(self, results: Results) -> dict[str, str]:
        """The target as an entry of bench.json."""
        met, found = self.decide(results)
        state = {True: "met", False: "not met", None: "not measured"}[met]
        return {"id": self.id, "text": self.text, "state": state, "found": found}


def cell(key: Key) -> str:
    """A short name of a case."""
    names = {"partitions": "P", "buffer_mib": "MiB", "record_bytes": "B", "order": "order"}
    told = ((names.get(name, ""), value) for name, value in key if name not in ("data", "plain_bytes"))
    return " ".join(f"{name}={value}" if name else str(value) for name, value in told)


def _medians(ratios: list[tuple[Key, Spread]], middle: float | None, least: float, *, strict: bool = False) -> Verdict:
    """Compare the medians of some cells with the target for their median and the target for each cell."""
    if not ratios:
        return None, "no case in which both were measured"
    values = [spread.median for _, spread in ratios]
    key, worst = min(ratios, key=lambda found: found[1].median)
    met = (worst.median > least if strict else worst.median >= least) and (
        middle is None or statistics.median(values) >= middle
    )
    found = f"median of {len(values)} cells {statistics.median(values):.2f}"
    return met, f"{found}, least {worst.median:.2f} ({worst.least:.2f} to {worst.most:.2f}) at {cell(key)}"


def _speeds(lines: list[Line], least: float) -> Verdict:
    if not lines:
        return None, "not measured"
    worst = min(lines, key=lambda line: speed(line).median)
    found = speed(worst)
    spread = f"{found.least / GB:.1f} to {found.most / GB:.1f}"
    told = f"least of {len(lines)} cells {found.median / GB:.1f} GB/s ({spread}) at {cell(worst.key)}"
    return found.median >= least, told


def ratio_target(
    id_: str,
    text: str,
    mine: tuple[str, str],
    theirs: tuple[str, str],
    part: str,
    middle: float | None,
    least: float,
    *,
    strict: bool = False,
    **case: Any,
) -> Target:
    """A target on the ratio of two subjects."""
    return Target(
        id_, text, lambda results: _medians(results.ratios(mine, theirs, part, **case), middle, least, strict=strict)
    )


def _sizes(results: Results) -> Verdict:
    found = []
    for size in (16, 1 << 10):
        found += results.ratios(
            ("rust", "faro"), ("java", "flink"), "write", data="text", record_bytes=size, codec="none"
        )
    return _medians(found, None, 1.0, strict=True)


def _codec(mine: str, theirs: str, least: float) -> Callable[[Results], Verdict]:
    def decide(results: Results) -> Verdict:
        found = []
        for codec in ("lz4", "zstd"):
            found += results.ratios(("rust", mine), ("rust", theirs), "write", codec=codec, **TEXT)
        return _medians(found, None, least)

    return decide


def _read(order: str, least: float) -> Callable[[Results], Verdict]:
    def decide(results: Results) -> Verdict:
        lines = results.select("read", "rust", "faro", codec="none", order=order)
        lines += results.select("read", "java", "faro", codec="none", order=order)
        return _speeds(lines, least)

    return decide


def _java_reads(results: Results) -> Verdict:
    found = results.ratios(("java", "faro"), ("java", "flink"), "read")
    return _medians(found, 1.5, 1.0)


def _python_writes(results: Results) -> Verdict:
    found = []
    for peer in PYARROW:
        for key, spread in results.ratios(("python", "faro"), ("python", peer), "write"):
            found.append(((*key, ("peer", peer)), spread))
    return _medians(found, None, 3.0)


def _many_partitions(results: Results) -> Verdict:
    found = []
    for few in results.select("write", "rust", "faro", codec="none", partitions=64, **TEXT):
        for many in results.select(
            "write", "rust", "faro", codec="none", partitions=10_000, buffer_mib=few.case["buffer_mib"], **TEXT
        ):
            found.append((few.case["buffer_mib"], speed(few).median / speed(many).median))
    if not found:
        return None, "not measured"
    told = ", ".join(f"{times:.2f} times with {buffer} MiB" for buffer, times in found)
    return max(times for _, times in found) <= 1.3, told


def figure(part: str, name: str, most: float, unit: str = "", scale: float = 1.0) -> Callable[[Results], Verdict]:
    """Compares a figure that every language reports with a limit."""

    def decide(results: Results) -> Verdict:
        found = [(line, line.figures[name]) for line in results.select(part, subject="faro") if name in line.figures]
        if not found:
            return None, "not measured"
        line, worst = max(found, key=lambda pair: float(pair[1]))
        told = f"most of {len(found)} cases {worst / scale:.4g}{unit} ({line.language}, {cell(line.key)})"
        return worst <= most, told

    return decide


SHUFFLE_BOUND = ("rebalance",)
"""Flink jobs that do little else than shuffle. The others sort their input, which takes longer (results/notes.md)."""


def _jobs(results: Results) -> Verdict:
    return _medians(results.ratios(("java", "faro"), ("java", "flink-sort"), "flink-jobs"), None, 0.98)


def _shuffle_bound(results: Results) -> Verdict:
    found = []
    for job in SHUFFLE_BOUND:
        found += results.ratios(("java", "faro"), ("java", "flink-sort"), "flink-jobs", job=job)
    return _medians(found, None, 1.1)


GROWTH_BUFFER = 16 << 20
"""The sort buffer of the part growth."""


def _memory(results: Results) -> Verdict:
    found = [
        (float(line.figures["peak_bytes"]) - GROWTH_BUFFER, line)
        for line in results.select("growth", "rust", "faro", curve="partitions")
        if "peak_bytes" in line.figures
    ]
    found += [
        (float(line.figures["above_buffer_bytes"]), line)
        for line in results.select("memory", "rust")
        if "above_buffer_bytes" in line.figures
    ]
    if not found:
        return None, "not measured"
    above, worst = max(found, key=lambda pair: pair[0])
    return above <= 16 << 20, f"most {above / 2**20:.1f} MiB above the sort buffer, at {cell(worst.key)}"


PEAK_FLOOR = 4 << 20
"""Less memory than this, which is a window of reading, counts as this much."""
STEEPER = 1.25
"""How much more than in proportion a curve may rise from one point to the next: repetitions vary by this much."""


def _growth(results: Results) -> Verdict:
    """Compare neighbouring points of all curves, in time and in memory."""
    series: dict[tuple[str, str, str], list[Line]] = {}
    for line in results.select("growth"):
        curve = str(line.case.get("curve"))
        # Time falls with more threads. Raw writes show the machine, not Faro.
        if curve != "threads" and curve in line.case and line.subject.startswith("faro"):
            series.setdefault((line.language, line.subject, curve), []).append(line)
    found = []
    for (language, subject, curve), lines in series.items():
        lines.sort(key=lambda line: float(line.case[curve]))
        for less, more in itertools.pairwise(lines):
            grown = float(more.case[curve]) / float(less.case[curve])
            where = f"{language} {subject}, {curve} from {less.case[curve]} to {more.case[curve]}"
            times = statistics.median(more.seconds) / statistics.median(less.seconds)
            found.append((times / grown, f"time, {where}"))
            if "peak_bytes" in less.figures and "peak_bytes" in more.figures:
                peaks = [max(float(line.figures["peak_bytes"]), PEAK_FLOOR) for line in (less, more)]
                times = peaks[1] / peaks[0]
                found.append((times / grown, f"memory, {where}"))
    if not found:
        return None, "not measured"
    worst, where = max(found)
    return worst <= STEEPER, f"most of {len(found)} steps {worst:.2f} times as much as in proportion ({where})"


def _small_blocks(results: Results) -> Verdict:
    lines = results.select("small-blocks", "rust", "faro-dictionaries", data="text", order=None)
    if not lines or lines[0].stored_bytes is None:
        return None, "not measured"
    # The target is for 1 GiB of plain data.
    stored = lines[0].stored_bytes / lines[0].plain_bytes * 2**30
    found = speed(lines[0])
    told = f"{stored / 1e6:.0f} MB for 1 GiB at {found.median / 1e6:.0f} MB/s ({_range(found, 1e6)})"
    return stored <= 470e6 and found.median >= 150e6, told


def _small_rows(results: Results) -> Verdict:
    lines = results.select("small-blocks", "rust", "faro-dictionaries", data="lineitem", order=None)
    plain = results.peer(lines[0], "rust", "faro") if lines else None
    if plain is None or plain.stored_bytes is None or lines[0].stored_bytes is None:
        return None, "not measured"
    times, faster = plain.stored_bytes / lines[0].stored_bytes, ratio(lines[0], plain)
    told = f"{times:.2f} times the ratio at {faster.median:.2f} times the speed ({_range(faster)})"
    return times >= 1.5 and faster.median > 1, told


TINY_MICROSECONDS = {"rust": 60, "java": 90}
"""The most that a tiny output may take in each language."""


def _tiny_outputs(results: Results) -> Verdict:
    told, met = [], []
    for language, most in TINY_MICROSECONDS.items():
        for line in results.select("tiny-outputs", language, "faro-single"):
            each = statistics.median(line.seconds) / int(line.case["outputs"]) * 1e6
            peer = results.peer(line, "java", "flink") if language == "java" else None
            beside = f", {ratio(line, peer).median:.1f} times as fast as Flink" if peer else ""
            told.append(f"{language} {each:.0f} µs{beside}")
            met.append(each <= most)
    return (all(met), "; ".join(told)) if met else (None, "not measured")


def _range(spread: Spread, scale: float = 1.0) -> str:
    return f"{spread.least / scale:.3g} to {spread.most / scale:.3g}"


def targets() -> Iterator[Target]:
    """All of them, in the order of the page."""
    rust, java, flink = ("rust", "faro"), ("java", "faro"), ("java", "flink")
    yield ratio_target(
        "rust-write-flink", "Rust writes, codec none: at least 5 times Flink at the median, 3 times in every cell",
        rust, flink, "write", 5.0, 3.0, codec="none", **TEXT,
    )  # fmt: skip
    yield ratio_target(
        "rust-write-limit", "Rust writes, codec none: at least 40 % of raw writes into a preallocated file",
        rust, ("rust", "raw-write-preallocated"), "write", None, 0.4, codec="none", **TEXT,
    )  # fmt: skip
    yield Target("rust-write-sizes", "Records of 16 B and of 1 KiB: faster than Flink in every cell", _sizes)
    yield Target(
        "rust-write-codec",
        "Rust writes, LZ4 and Zstandard: at least 90 % of the codec alone on the same bytes",
        _codec("faro", "codec", 0.9),
    )
    yield Target(
        "rust-write-threads",
        "With two compressing threads at least 1.7 times the codec's own single-thread speed",
        _codec("faro-2-threads", "codec", 1.7),
    )
    yield ratio_target(
        "java-write-flink", "Java writes, codec none: at least 2 times Flink at the median, 1.3 times in every cell",
        java, flink, "write", 2.0, 1.3, codec="none", **TEXT,
    )  # fmt: skip
    yield Target("read-file-order", "Verified reads in file order: at least 15 GB/s in every cell", _read("file", 15e9))
    yield Target(
        "read-partition-order",
        "Verified reads in partition order: at least 10 GB/s in every cell",
        _read("partition", 10e9),
    )
    yield Target(
        "java-read-flink",
        "Java reads: at least 1.5 times Flink's reader at the median, slower in no cell",
        _java_reads,
    )
    yield Target(
        "python-write", "Python, tables in: at least 3 times pyarrow's one file for each partition", _python_writes
    )
    yield Target(
        "python-read",
        "Python, tables out: 2 GB/s, verified",
        lambda results: _speeds(results.select("read", "python", "faro", order="partition"), 2e9),
    )
    yield Target("many-partitions", "10,000 partitions cost at most 1.3 times the time of 64", _many_partitions)
    yield Target(
        "index-bytes",
        "Index: at most 4.2 bytes for each region and partition",
        figure("index", "bytes_per_entry", 4.2, " bytes"),
    )
    yield Target(
        "index-open",
        "Opening P = 100,000 with 100 regions takes less than 50 ms",
        figure("index", "open_seconds", 0.050, " ms", 1e-3),
    )
    yield Target(
        "broadcast",
        "A broadcast of 64 MiB to 10,000: bytes, index and time within 5 % of writing to one partition",
        figure("broadcast", "worst_ratio", 1.05),
    )
    yield Target(
        "small-blocks",
        "Zstandard at P = 10,000 and 16 MiB, with dictionaries: at most 470 MB for 1 GiB at 150 MB/s",
        _small_blocks,
    )
    yield Target(
        "small-rows",
        "TPC-H lineitem in blocks of 700 bytes: at least 1.5 times the ratio of plain Zstandard, and faster",
        _small_rows,
    )
    yield Target(
        "growth",
        f"No curve of time or memory rises more than {STEEPER} times as fast as in proportion to what grows",
        _growth,
    )
    yield Target(
        "tiny-outputs",
        "A single file of 100 bytes, from its creation to its removal: at most 60 µs in Rust and 90 in Java",
        _tiny_outputs,
    )
    yield Target("flink-jobs", "Jobs of Flink: none slower than with Flink's sort shuffle by more than 2 %", _jobs)
    yield Target(
        "flink-shuffle-bound",
        "Jobs of Flink that do little else than shuffle: faster by 10 % or more",
        _shuffle_bound,
    )
    yield Target(
        "memory",
        "Memory: the sort buffer and at most 16 MiB, whatever P",
        _memory,
    )
