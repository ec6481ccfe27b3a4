"""The targets. Each is compared with the results of one machine."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from harness.figures import Results, Spread, ratio, speed
from harness.lines import Line
from harness.verdicts import NOT_MEASURED, Cell, Target, Verdict, cells, decide, decide_speeds, figure, short_name

RUST, JAVA, PYTHON = (("rust", "faro"), ("java", "faro"), ("python", "faro"))
FARO_FULL, FLINK_FULL = ("java", "faro-full"), ("java", "flink-full")
FARO_SELECTIVE, FLINK_SELECTIVE = ("java", "faro-selective"), ("java", "flink-selective")
FARO_PUSH, SPARK_PUSH = ("java", "faro-push"), ("java", "spark-push")
FLINK, FLINK_JOB, SPARK_JOB = ("java", "flink"), ("java", "flink-sort"), ("java", "spark-sort")
SPARK, COPY = ("java", "spark"), ("rust", "read-crc-write")
HASH_FILES, RAW_WRITE, CODEC = (("rust", subject) for subject in ("hash-files", "raw-write", "codec"))
TEXT: dict[str, Any] = {"data": "text", "record_bytes": 100, "codec": "none"}
FAST_TABLES = 2e9
"""Bytes a second that are enough, whatever the limit."""
PYARROW = ("arrow-ipc", "arrow-ipc-buffered", "parquet", "arrow-dataset-ipc")
"""How pyarrow writes a file for each partition."""

OF_RAW_WRITES = {
    (64, 16): 0.52, (1_000, 16): 0.45, (10_000, 16): 0.35, (64, 128): 0.42, (1_000, 128): 0.32, (10_000, 128): 0.28,
}  # fmt: skip
"""The share of raw writes that the Rust writer reaches, by partitions and the sort buffer's MiB."""
SHORT_RECORDS = 512
"""The longest records, in bytes, with which Java is never slower than Flink."""


def _rust_raw(results: Results) -> Verdict:
    def least(case: dict[str, Any]) -> float:
        return OF_RAW_WRITES[case["partitions"], case["buffer_mib"]]

    return decide(cells(results, RUST, RAW_WRITE, "write", least, **TEXT))


def _two_buffers(results: Results) -> Verdict:
    return decide(cells(results, ("rust", "faro-2-buffers"), RAW_WRITE, "write", 0.6, **TEXT, partitions=64))


def _rust_unchecked(results: Results) -> Verdict:
    found = []
    for peer in (FLINK, HASH_FILES):
        for one in cells(results, RUST, peer, "write", 1.0, codec="none"):
            found.append(replace(one, peer=f"({peer[1]})"))
    return decide(found)


def _java_flink(results: Results) -> Verdict:
    def least(case: dict[str, Any]) -> float:
        return 1.0 if case.get("record_bytes", 100) <= SHORT_RECORDS else 0.9

    return decide(cells(results, JAVA, FLINK, "write", least, codec="none"), 1.5)


def _codec(mine: str, least: float) -> Callable[[Results], Verdict]:
    def decided(results: Results) -> Verdict:
        codecs = [case | {"codec": codec} for case in (TEXT,) for codec in ("lz4", "zstd")]
        return decide(one for case in codecs for one in cells(results, ("rust", mine), CODEC, "write", least, **case))

    return decided


def _reads(language: str) -> Callable[[Results], Verdict]:
    def least(case: dict[str, Any]) -> float:
        return 0.85 if (case["partitions"], case["buffer_mib"]) == (10_000, 16) else 0.9

    def decided(results: Results) -> Verdict:
        mine, theirs = (language, "faro"), (language, "raw-pread-crc")
        return decide(cells(results, mine, theirs, "read", least, codec="none"))

    return decided


def _python_writes(results: Results) -> Verdict:
    found = []
    for peer in PYARROW:
        for one in cells(results, PYTHON, ("python", peer), "write", 1.0):
            found.append(replace(one, peer=f"({peer})"))
    return decide(found)


def _many_partitions(results: Results) -> Verdict:
    found = []
    for few in results.select("write", *RUST, partitions=64, **TEXT):
        buffer = few.case["buffer_mib"]
        for many in results.select("write", *RUST, partitions=10_000, buffer_mib=buffer, **TEXT):
            found.append((speed(few).median / speed(many).median, buffer))
    if not found:
        return NOT_MEASURED
    return max(found)[0] <= 1.5, ", ".join(f"{times:.2f} with {buffer} MiB" for times, buffer in found)


SHUFFLE_BOUND = ("rebalance",)
"""Flink jobs that do little else than shuffle. The others sort their input, which takes longer (results/diary.md)."""
MOST_READS = 0.1
"""The reads of a pushed shuffle, as a share of those without push."""
MOST_WRITTEN = 0.6
"""The bytes that a shuffle with spills writes, as a share of what Spark's does."""
WIDE = 100
"""The parallelism at which the peak of the heap counts."""


def _jobs(
    part: str, peer: tuple[str, str], least: float, *jobs: str, mine: tuple[str, str] = JAVA
) -> Callable[[Results], Verdict]:
    def decided(results: Results) -> Verdict:
        found = cells(results, mine, peer, part, least)
        return decide(one for one in found if not jobs or dict(one.key).get("job") in jobs)

    return decided


def _spills(results: Results) -> Verdict:
    found = []
    for line in results.select("spark-jobs", *JAVA):
        peer = results.peer(line, *SPARK_JOB)
        if str(line.case.get("job")) == "repartition-spill" and peer:
            mine, theirs = (float(one.figures["written_bytes"]) for one in (line, peer))
            found.append((mine / theirs, f"{mine / 1e6:,.0f} MB, Spark {theirs / 1e6:,.0f} MB"))
    return (max(found)[0] <= MOST_WRITTEN, max(found)[1]) if found else NOT_MEASURED


def _pushed_reads(results: Results) -> Verdict:
    found = []
    for line in results.select("spark-push", *FARO_PUSH, job="tiny-blocks"):
        peer = results.peer(line, *JAVA)
        if peer:
            mine, theirs = (float(one.figures["reads"]) for one in (line, peer))
            told = f"{mine:,.0f} reads of {float(line.figures['mean_read_bytes']) / 1e3:,.1f} kB, without push"
            cell = f"in {line.case['job']}, P={line.case['partitions']}"
            found.append((mine / theirs, f"{told} {theirs:,.0f}, {cell}"))
    return (max(found)[0] <= MOST_READS, max(found)[1]) if found else NOT_MEASURED


def _heap(results: Results) -> Verdict:
    found = []
    for line in results.select("flink-jobs", *JAVA, partitions=WIDE):
        peer = results.peer(line, *FLINK_JOB)
        if peer and "peak_heap_bytes" in line.figures and "peak_heap_bytes" in peer.figures:
            mine, theirs = (float(one.figures["peak_heap_bytes"]) for one in (line, peer))
            found.append((mine / theirs, f"{mine / 1e6:,.0f} MB, Flink {theirs / 1e6:,.0f} MB in {line.case['job']}"))
    return (max(found)[0] <= 1, max(found)[1]) if found else NOT_MEASURED


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
        return NOT_MEASURED
    above, worst = max(found, key=lambda pair: pair[0])
    return above <= 16 << 20, f"{above / 2**20:.1f} MiB at {short_name(worst.key)}"


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
        return NOT_MEASURED
    worst, where = max(found)
    return worst <= STEEPER, f"{worst:.2f} ({where}); {len(found)} steps"


def _small_blocks(results: Results) -> Verdict:
    lines = results.select("small-blocks", "rust", "faro-dictionaries", data="text", order=None)
    if not lines or lines[0].stored_bytes is None:
        return NOT_MEASURED
    # The target is for 1 GiB of plain data.
    stored = lines[0].stored_bytes / lines[0].plain_bytes * 2**30
    found = speed(lines[0])
    told = f"{stored / 1e6:.0f} MB at {found.median / 1e6:.0f} MB/s ({_range(found, 1e6)})"
    return stored <= 470e6 and found.median >= 150e6, told


def _small_rows(results: Results) -> Verdict:
    lines = results.select("small-blocks", "rust", "faro-dictionaries", data="lineitem", order=None)
    plain = results.peer(lines[0], *RUST) if lines else None
    if plain is None or plain.stored_bytes is None or lines[0].stored_bytes is None:
        return NOT_MEASURED
    times, faster = plain.stored_bytes / lines[0].stored_bytes, ratio(lines[0], plain)
    told = f"{times:.2f} at {faster.median:.2f} times the speed ({_range(faster)})"
    return times >= 1.5 and faster.median > 1, told


TINY_MICROSECONDS = {"rust": 60, "java": 90}
"""The most that a tiny output may take in each language."""


def _tiny_outputs(results: Results) -> Verdict:
    told, met = [], []
    for language, most in TINY_MICROSECONDS.items():
        for line in results.select("tiny-outputs", language, "faro-single"):
            each = statistics.median(line.seconds) / int(line.case["outputs"]) * 1e6
            peer = results.peer(line, *FLINK) if language == "java" else None
            beside = f", {ratio(line, peer).median:.1f} times as fast as Flink" if peer else ""
            told.append(f"{language} {each:.0f} µs{beside}")
            met.append(each <= most)
    return (all(met), "; ".join(told)) if met else NOT_MEASURED


TINY_PARTITION_MICROSECONDS = {"faro": 120, "faro-selective": 40}
"""The most that a tiny partition of Flink with two consumers may take: the sum of the medians of its stages."""
STAGES = ("create", "write", "read", "release")
TINY_READ_MICROSECONDS = 1_000
"""The most that a hundred consumers may take to read such a partition."""
TINY_BYTES_BESIDE = 600
TINY_RECORD = 100
"""The size of a record of such a partition, in bytes."""


def _tiny_partitions(results: Results) -> Verdict:
    told, met = [], []
    for subject, most in TINY_PARTITION_MICROSECONDS.items():
        for line in results.select("flink-tiny", "java", subject, partitions=2):
            each = sum(float(line.figures[f"{stage}_microseconds"]) for stage in STAGES)
            beside = (line.stored_bytes or 0) - 2 * TINY_RECORD
            told.append(f"{subject} {each:.0f} µs" + (f" and {beside} bytes beside the data" if line.files else ""))
            met += [each <= most, beside <= TINY_BYTES_BESIDE]
    for line in results.select("flink-tiny", "java", "faro", partitions=100):
        reads = float(line.figures["read_microseconds"])
        told.append(f"read by 100 consumers in {reads:.0f} µs")
        met.append(reads <= TINY_READ_MICROSECONDS)
    return (all(met), "; ".join(told)) if met else NOT_MEASURED


def _query_cpu(results: Results) -> Verdict:
    """The processor time of a query, beside that with Flink's own exchanges of the same kind.

    Each cell has to be met. The mean of a kind's cells is shown too, since one cell cannot show a few per cent: ratios
    of its turns are between 0.61 and 1.38.
    """
    ratios, told = [], []
    left_out = 0
    for kind, mine, theirs in (("blocking", "faro", "flink-sort"), ("selective", "faro-selective", "flink-selective")):
        found = []
        for line in results.select("flink-queries", "java", mine):
            left_out += int(line.figures.get("peer_left_out", 0))
            if results.peer(line, "java", theirs) and "cpu_ratio" in line.figures:
                clients = line.case["clients"]
                cell = f"{line.case['job']}, {clients} client{'' if clients == 1 else 's'}"
                found.append((float(line.figures["cpu_ratio"]), cell))
        if found:
            mean = statistics.geometric_mean(ratio for ratio, _ in found)
            (least, _), (most, cell) = min(found), max(found)
            ratios += [ratio for ratio, _ in found]
            told.append(f"{kind} {mean:.2f} (cells {least:.2f} to {most:.2f}, most in {cell})")
    if not told:
        return NOT_MEASURED
    missed = sum(ratio > 1 for ratio in ratios)
    if missed:
        told.append(f"{missed} of {len(ratios)} missed")
    if left_out:
        told.append(f"left out, since Flink's process ended again and again: {left_out}")
    return not missed, "; ".join(told)


def _merge(results: Results) -> Verdict:
    return decide(cells(results, RUST, COPY, "merge", 0.9))


def _merge_spark(results: Results) -> Verdict:
    """Speed decides. The verdict also has the index bytes of each push."""
    met, told = decide(cells(results, JAVA, SPARK, "merge", 1.0))
    each = []
    for language, subject in (JAVA, SPARK):
        found = [line.figures.get("index_bytes_each") for line in results.select("merge", language, subject)]
        each.append(" and ".join(f"{float(one):.1f}" for one in found if one is not None))
    return met, f"{told}; index: {each[0]} bytes for each push, Spark {each[1]}" if all(each) else told


def _range(spread: Spread, scale: float = 1.0) -> str:
    return f"{spread.least / scale:.3g} to {spread.most / scale:.3g}"


def _tables_out(results: Results) -> Verdict:
    tables = [one for one in results.select("read", *PYTHON) if str(one.case.get("data")).endswith("-table")]
    slow = [one for one in tables if speed(one).median < FAST_TABLES]
    found = []
    for line in slow:
        limit = results.peer(line, "python", "pread-crc-arrow")
        if limit is not None:
            found.append(Cell(line.key, ratio(line, limit), 0.9))
    return decide(found) if found else decide_speeds(tables, FAST_TABLES)


def targets() -> Iterator[Target]:
    """All of them, in the order of the page."""
    yield Target("rust-write-raw", "Rust writes: 0.52 to 0.28 of `raw-write`, by cell", _rust_raw)
    yield Target("rust-write-buffers", "Rust writes, with two buffers: 0.6 of `raw-write` at P=64", _two_buffers)
    yield Target("rust-write-unchecked", "Rust writes: 1.0 of Flink and of `hash-files`", _rust_unchecked)
    yield Target("java-write-flink", "Java writes: 1.0 of Flink, 0.9 above 512 B, median 1.5", _java_flink)
    yield Target("rust-write-codec", "Rust compresses: 0.9 of `codec` alone", _codec("faro", 0.9))
    yield Target("rust-write-threads", "With two threads: 1.5 of one thread's `codec`", _codec("faro-2-threads", 1.5))
    read = "reads: 0.9 of `raw-pread-crc`, 0.85 at P=10000 MiB=16"
    yield Target("rust-read", f"Rust {read}", _reads("rust"))
    yield Target("java-read", f"Java {read}", _reads("java"))
    yield Target(
        "java-read-flink", "Java reads: 1.0 of Flink, median 1.5",
        lambda results: decide(cells(results, JAVA, FLINK, "read", 1.0), 1.5),
    )  # fmt: skip
    yield Target("python-write", "Python, tables in: 1.0 of pyarrow's file for each partition", _python_writes)
    yield Target("python-read", "Python, tables out: 2 GB/s, or 0.9 of `pread-crc-arrow`", _tables_out)
    yield Target("many-partitions", "10,000 partitions cost at most 1.5 times the time of 64", _many_partitions)
    yield Target(
        "index-bytes", "Index: at most 4.2 bytes for each region and partition",
        figure("index", "bytes_per_entry", 4.2, " bytes"),
    )  # fmt: skip
    yield Target(
        "index-open", "Opening P=100000 with 100 regions: at most 50 ms",
        figure("index", "open_seconds", 0.050, " ms", 1e-3),
    )  # fmt: skip
    yield Target(
        "broadcast", "A broadcast to 10,000 costs at most 1.05 times writing to one",
        figure("broadcast", "worst_ratio", 1.05, " times"),
    )  # fmt: skip
    yield Target("small-blocks", "Zstandard, P=10000, dictionaries: 1 GiB in 470 MB at 150 MB/s", _small_blocks)
    yield Target(
        "small-rows", "Dictionaries, blocks of 700 bytes: 1.5 times the ratio of none, and faster", _small_rows
    )
    yield Target("growth", f"No curve rises more than {STEEPER} times as fast as in proportion", _growth)
    yield Target("tiny-outputs", "A file of 100 bytes, whole life: 60 µs in Rust, 90 in Java", _tiny_outputs)
    yield Target("merge", "Merging: 0.9 of reading, checksums and writing alone", _merge)
    yield Target("merge-spark", "Java merges: 1.0 of Spark's merge manager, which checks nothing", _merge_spark)
    yield Target("flink-jobs", "Flink's jobs: 0.98 of its sort shuffle", _jobs("flink-jobs", FLINK_JOB, 0.98))
    yield Target(
        "flink-shuffle-bound", "Jobs that do little else than shuffle: 1.1",
        _jobs("flink-jobs", FLINK_JOB, 1.1, *SHUFFLE_BOUND),
    )  # fmt: skip
    yield Target("flink-heap", f"Peak heap in jobs at parallelism {WIDE}: at most Flink's", _heap)
    yield Target(
        "flink-hybrid", "Flink's jobs with selective hybrid exchanges: 1.0 of its own",
        _jobs("flink-hybrid", FLINK_SELECTIVE, 1.0, mine=FARO_SELECTIVE),
    )  # fmt: skip
    yield Target(
        "flink-hybrid-full", "Flink's jobs with full hybrid exchanges: 1.0 of its own",
        _jobs("flink-hybrid", FLINK_FULL, 1.0, mine=FARO_FULL),
    )  # fmt: skip
    yield Target(
        "flink-hybrid-shuffle-bound", "Jobs that do little else than shuffle, with selective exchanges: 1.1",
        _jobs("flink-hybrid", FLINK_SELECTIVE, 1.1, "rebalance", mine=FARO_SELECTIVE),
    )  # fmt: skip
    yield Target(
        "flink-tiny",
        "A tiny partition of Flink: 120 µs, 600 bytes beside data; hybrid 40 µs; 100 read in 1 ms",
        _tiny_partitions,
    )
    yield Target(
        "hybrid-full", "Java's full hybrid stores, with a thread that spills: 0.95 of its writer",
        lambda results: decide(cells(results, ("java", "faro-hybrid-full-2-threads"), ("java", "faro"), "write", 0.95)),
    )  # fmt: skip
    yield Target("flink-queries", "Processor time of a small query: at most Flink's", _query_cpu)
    yield Target("spark-jobs", "Spark's jobs: 0.97 of its own shuffle", _jobs("spark-jobs", SPARK_JOB, 0.97))
    yield Target(
        "spark-sort-spill", "Spark's sort with spills: 1.15 of its own shuffle",
        _jobs("spark-jobs", SPARK_JOB, 1.15, "sort-spill"),
    )  # fmt: skip
    yield Target("spark-spill-bytes", "A spilling shuffle of Spark writes at most 0.6 of its own", _spills)
    yield Target(
        "spark-push", "Spark's jobs with push: 0.97 of its own", _jobs("spark-push", SPARK_PUSH, 0.97, mine=FARO_PUSH)
    )
    yield Target(
        "spark-push-reads", "A pushed shuffle of Spark with tiny blocks: at most 0.1 of the reads", _pushed_reads
    )
    yield Target("memory", "Rust's memory beside the sort buffer, measured: at most 16 MiB", _memory)
