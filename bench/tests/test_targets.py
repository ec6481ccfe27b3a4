"""The verdicts on targets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support import bench, grid, line

from harness.figures import Results, ratio
from harness.lines import Line, join
from harness.tables import tables
from harness.targets import OF_RAW_WRITES, SHORT_RECORDS, targets


def verdicts(lines: list[Line]) -> dict[str, dict[str, str]]:
    return {one.id: one.judge(Results(lines)) for one in targets()}


def state(lines: list[Line], target: str) -> str:
    return verdicts(lines)[target]["state"]


def test_nothing_is_met_that_was_not_measured() -> None:
    assert {found["state"] for found in verdicts([]).values()} == {"not measured"}


def test_a_share_that_depends_on_the_cell() -> None:
    def shares(above: float) -> list[Line]:
        return [
            line("rust", subject, [seconds], partitions=partitions, buffer_mib=buffer)
            for (partitions, buffer), least in OF_RAW_WRITES.items()
            for subject, seconds in (("faro", 1 / (least + above)), ("raw-write", 1.0))
        ]

    assert state(shares(0.01), "rust-write-raw") == "met"
    missed = shares(0.01)
    missed[0] = line("rust", "faro", [1 / 0.51])
    found = verdicts(missed)["rust-write-raw"]
    assert found["state"] == "not met"
    assert found["found"].startswith("0.51 (0.51 to 0.51) at MiB=16 P=64 (0.52 wanted); median of 6 cells 0.")
    assert found["found"].endswith(", 1 missed")


@pytest.mark.parametrize(("subject", "language"), [("flink", "java"), ("hash-files", "rust")])
def test_a_cell_names_the_peer_that_is_faster(subject: str, language: str) -> None:
    lines = [line("rust", "faro", [1.0], record_bytes=16), line(language, subject, [0.9], record_bytes=16)]
    found = verdicts(lines)["rust-write-unchecked"]
    assert (found["state"], found["found"]) == ("not met", f"0.90 (0.90 to 0.90) at MiB=16 P=64 B=16 ({subject})")


def test_long_records_may_cost_their_checksums_in_java() -> None:
    def measured(size: int, faro: float) -> list[Line]:
        return [line("java", "faro", [faro], record_bytes=size), line("java", "flink", [1.0], record_bytes=size)]

    many = [one for size in (16, 17, 18) for one in measured(size, 0.5)]
    assert state(many + measured(SHORT_RECORDS + 1, 1.1), "java-write-flink") == "met"
    assert state(many + measured(SHORT_RECORDS, 1.1), "java-write-flink") == "not met"
    # The median counts too.
    assert state(measured(SHORT_RECORDS, 0.9), "java-write-flink") == "not met"


def test_blocks_of_ten_thousand_partitions_are_small() -> None:
    def measured(partitions: int, share: float) -> list[Line]:
        case: dict[str, Any] = {"part": "read", "partitions": partitions, "order": "file"}
        return [line("rust", "faro", [1 / share], **case), line("rust", "raw-pread-crc", [1.0], **case)]

    assert state(measured(64, 0.91) + measured(10_000, 0.86), "rust-read") == "met"
    assert state(measured(64, 0.89), "rust-read") == "not met"
    assert state(measured(10_000, 0.84), "rust-read") == "not met"
    assert state(measured(64, 0.91), "java-read") == "not measured"


def test_the_memory_target_asks_both_parts_that_measure_it() -> None:
    lines = [line("rust", "faro", [1.0], part="growth", curve="partitions", figures={"peak_bytes": 17 << 20})]
    assert state(lines, "memory") == "met"
    lines.append(line("rust", "faro", [1.0], part="memory", figures={"above_buffer_bytes": 20 << 20}))
    assert "20.0 MiB at" in verdicts(lines)["memory"]["found"]
    assert state(lines, "memory") == "not met"


def test_a_curve_may_not_bend_away() -> None:
    def points(seconds: list[float], peaks: list[int]) -> list[Line]:
        return [
            line("rust", "faro", [each], part="growth", curve="regions", regions=x, figures={"peak_bytes": peak << 20})
            for x, each, peak in zip((10, 20, 200), seconds, peaks, strict=True)
        ]

    assert state(points([1.0, 2.0, 20.0], [7, 7, 8]), "growth") == "met"
    bent = verdicts(points([1.0, 2.0, 60.0], [7, 7, 8]))["growth"]
    assert bent["state"] == "not met"
    assert bent["found"] == "3.00 (time, rust faro, regions from 20 to 200); 4 steps"
    assert "memory" in verdicts(points([1.0, 2.0, 20.0], [7, 70, 80]))["growth"]["found"]
    threads = [line("rust", "faro", [x], part="growth", curve="threads", threads=x) for x in (1, 2)]
    assert state(threads, "growth") == "not measured"
    machine = [line("rust", "raw-write", [x], part="growth", curve="data_mib", data_mib=x) for x in (1, 2)]
    assert state(machine, "growth") == "not measured"


def test_threads_are_held_against_the_codec_alone() -> None:
    lines = [
        line("rust", subject, [seconds], codec="lz4")
        for subject, seconds in (("faro", 3.0), ("faro-2-threads", 1.5), ("codec", 2.0))
    ]
    assert state(lines, "rust-write-threads") == state(lines, "rust-write-codec") == "not met"
    lines[0], lines[1] = line("rust", "faro", [2.2], codec="lz4"), line("rust", "faro-2-threads", [1.3], codec="lz4")
    assert state(lines, "rust-write-threads") == state(lines, "rust-write-codec") == "met"


def test_two_buffers_are_held_against_raw_writes() -> None:
    case: dict[str, Any] = {"codec": "none", "data": "text", "record_bytes": 100, "buffer_mib": 16}
    for seconds, expected in ((1.6, "met"), (1.7, "not met")):
        lines = [
            line("rust", "faro-2-buffers", [seconds], partitions=64, **case),
            line("rust", "raw-write", [1.0], partitions=64, **case),
            line("rust", "faro-2-buffers", [9.0], partitions=1_000, **case),
            line("rust", "raw-write", [1.0], partitions=1_000, **case),
        ]
        assert state(lines, "rust-write-buffers") == expected


def test_figures_and_speeds() -> None:
    lines = [
        line("python", "faro", [0.4], part="read", data="text-table"),
        line("rust", "faro", [1.0], part="index", figures={"bytes_per_entry": 4.19, "open_seconds": 0.06}),
    ]
    assert state(lines, "python-read") == state(lines, "index-bytes") == "met"
    assert verdicts(lines)["index-open"] == {
        "id": "index-open",
        "text": "Opening P=100000 with 100 regions: at most 50 ms",
        "state": "not met",
        "found": "60 ms",
    }
    slow = line("python", "faro", [0.6], part="read", data="text-table")
    assert state([slow], "python-read") == "not met"
    for limit, expected in ((0.55, "met"), (0.5, "not met")):
        of = line("python", "pread-crc-arrow", [limit], part="read", data="text-table")
        assert state([slow, of], "python-read") == expected


def test_pyarrow_is_held_against_in_every_form() -> None:
    lines = [line("python", "faro", [1.0], data="text-table"), line("python", "parquet", [2.0], data="text-table")]
    assert state(lines, "python-write") == "met"
    lines.append(line("python", "arrow-ipc-buffered", [0.8], data="text-table"))
    found = verdicts(lines)["python-write"]
    assert found["state"] == "not met"
    assert "text-table (arrow-ipc-buffered)" in found["found"]


def test_small_blocks_are_held_to_size_and_speed() -> None:
    def measured(stored: int, seconds: float) -> list[Line]:
        one = line("rust", "faro-dictionaries", [seconds], part="small-blocks")
        rows = line("rust", "faro-dictionaries", [seconds], part="small-blocks", data="lineitem")
        plain = line("rust", "faro", [5.0], part="small-blocks", data="lineitem")
        read = line("rust", "faro-dictionaries", [0.1], part="small-blocks", order="partition")
        return [
            read,
            replace(one, stored_bytes=stored),
            replace(rows, stored_bytes=stored),
            replace(plain, stored_bytes=6 * 10**8),
        ]

    good = verdicts(measured(400_000_000, 4.0))
    assert good["small-blocks"]["state"] == good["small-rows"]["state"] == "met"
    assert good["small-blocks"]["found"].startswith("429 MB at 250 MB/s")
    for stored, seconds in ((440_000_000, 4.0), (400_000_000, 8.0)):
        bad = verdicts(measured(stored, seconds))
        assert bad["small-blocks"]["state"] == bad["small-rows"]["state"] == "not met"


def test_tiny_outputs_are_held_to_their_time() -> None:
    def found(rust: float, java: float) -> dict[str, str]:
        times = {("rust", "faro-single"): rust, ("java", "faro-single"): java, ("java", "flink"): 300e-6}
        lines = [
            line(*subject, [each * 1000] * 3, part="tiny-outputs", outputs=1000) for subject, each in times.items()
        ]
        return verdicts(lines)["tiny-outputs"]

    assert found(60e-6, 90e-6)["state"] == "met"
    assert found(60e-6, 60e-6)["found"] == "rust 60 µs; java 60 µs, 5.0 times as fast as Flink"
    assert found(61e-6, 90e-6)["state"] == found(60e-6, 91e-6)["state"] == "not met"


def test_merging_is_held_to_a_copy_and_to_spark() -> None:
    def found(rust: float, java: float) -> dict[str, dict[str, str]]:
        times = {("rust", "faro"): rust, ("rust", "read-crc-write"): 1, ("java", "faro"): java, ("java", "spark"): 1}
        lines = [
            line(*subject, [seconds] * 3, part="merge", figures={"index_bytes_each": 32.5}, block_bytes=10_000)
            for subject, seconds in times.items()
        ]
        return verdicts(lines)

    assert found(1.1, 1.0)["merge"]["state"] == found(1.1, 1.0)["merge-spark"]["state"] == "met"
    assert found(1.2, 1.0)["merge"]["state"] == found(1.1, 1.1)["merge-spark"]["state"] == "not met"
    assert found(1.1, 1.0)["merge-spark"]["found"].endswith("index: 32.5 bytes for each push, Spark 32.5")


def test_jobs_are_held_against_the_sort_shuffle() -> None:
    def measured(job: str, faro: float, heap: int = 1) -> list[Line]:
        case = {"job": job, "partitions": 100}
        return [
            Line("flink-jobs", "java", subject, case, (seconds,), 10**9, figures={"peak_heap_bytes": bytes_})
            for subject, seconds, bytes_ in (("faro", faro, heap), ("flink-sort", 1.0, 2), ("flink-hash", 0.1, 1))
        ]

    good = verdicts(measured("q1", 1.01) + measured("rebalance", 0.9))
    assert good["flink-jobs"]["state"] == good["flink-shuffle-bound"]["state"] == good["flink-heap"]["state"] == "met"
    bad = verdicts(measured("q1", 1.03) + measured("rebalance", 0.95, heap=3))
    assert bad["flink-jobs"]["state"] == bad["flink-shuffle-bound"]["state"] == bad["flink-heap"]["state"] == "not met"
    assert "q1" in bad["flink-jobs"]["found"]
    two = join([*measured("q1", 0.5), *measured("q1", 0.5)])
    assert "| q1 | 100 | 2.00 (2.00 to 2.00) | 2.000 ± 0.000 of 2 | 0.20 " in tables(bench(two), [], "c")


def test_jobs_of_spark_are_compared_with_its_own_shuffle() -> None:
    def measured(job: str, faro: float, written: int = 50) -> list[Line]:
        case = {"job": job, "partitions": 256}
        return [
            Line("spark-jobs", "java", subject, case, (seconds,), 10**9, figures={"written_bytes": bytes_})
            for subject, seconds, bytes_ in (("faro", faro, written), ("spark-sort", 1.0, 100))
        ]

    names = ("spark-jobs", "spark-sort-spill", "spark-spill-bytes")
    good = verdicts(measured("q3", 1.02) + measured("sort-spill", 0.86) + measured("repartition-spill", 0.9))
    assert [good[name]["state"] for name in names] == ["met"] * 3
    bad = verdicts(measured("q3", 1.04) + measured("sort-spill", 0.88) + measured("repartition-spill", 0.9, 61))
    assert [bad[name]["state"] for name in names] == ["not met"] * 3


def test_many_partitions_are_held_against_few() -> None:
    assert state(grid(1.0, 1.0), "many-partitions") == "not met"
    assert state([one for one in grid(1.0, 1.0) if one.case["buffer_mib"] == 128], "many-partitions") == "met"


def test_tiny_partitions_are_held_against_microseconds_and_bytes() -> None:
    def measured(faro: int, selective: int, read: int, stored: int) -> list[Line]:
        lines = []
        for subject, stage, files, partitions in (
            ("faro", faro, 1, 2), ("faro-selective", selective, 0, 2), ("faro", read, 1, 100)
        ):  # fmt: skip
            figures = {f"{name}_microseconds": stage for name in ("create", "write", "read", "release")}
            size = stored if files else 0
            case = {"partitions": partitions}
            lines.append(Line("flink-tiny", "java", subject, case, (1.0,), 10, size, None, files, figures))
        return lines

    good = verdicts(measured(30, 10, 1000, 800))["flink-tiny"]
    assert good["state"] == "met"
    told = "faro 120 µs and 600 bytes beside the data; faro-selective 40 µs; read by 100 consumers in 1000 µs"
    assert good["found"] == told
    for bad in ((31, 10, 1000, 800), (30, 11, 1000, 800), (30, 10, 1001, 800), (30, 10, 1000, 801)):
        assert verdicts(measured(*bad))["flink-tiny"]["state"] == "not met"


def test_hybrid_jobs_are_held_against_the_same_kind_of_exchange() -> None:
    def measured(job: str, selective: float, full: float) -> list[Line]:
        case = {"job": job, "partitions": 4}
        return [
            Line("flink-hybrid", "java", subject, case, (seconds,), 1)
            for subject, seconds in (
                ("faro-selective", selective), ("flink-selective", 1.05), ("faro-full", full), ("flink-full", 1.0)
            )
        ]  # fmt: skip

    found = verdicts([*measured("rebalance", 0.9, 1.0), *measured("small", 1.05, 1.0)])
    ids = ("flink-hybrid", "flink-hybrid-full", "flink-hybrid-shuffle-bound")
    assert [found[each]["state"] for each in ids] == ["met"] * 3
    found = verdicts([*measured("rebalance", 1.0, 1.1), *measured("small", 1.06, 1.0)])
    assert [found[each]["state"] for each in ids] == ["not met"] * 3


def test_queries_are_held_against_the_same_kind_of_exchange() -> None:
    def measured(faro: float, selective: float, clients: int = 4) -> list[Line]:
        case = {"job": "sums", "clients": clients}
        lines = []
        for subject, cpu, peer in (
            ("faro", faro, 20.0), ("faro-selective", selective, 30.0), ("flink-sort", 20.0, 0.0),
            ("flink-selective", 30.0, 0.0),
        ):  # fmt: skip
            figures = {"cpu_milliseconds_each": cpu}
            if peer:
                figures |= {"cpu_ratio": cpu / peer, "cpu_ratio_least": 0.5, "cpu_ratio_most": 2.0}
            lines.append(Line("flink-queries", "java", subject, case, (0.1,), 0, figures=figures))
        return lines

    assert verdicts(measured(20.0, 30.0))["flink-queries"]["state"] == "met"
    bad = verdicts(measured(19.0, 31.0))["flink-queries"]
    assert (bad["state"], bad["found"]) == (
        "not met", "blocking 0.95 (cells 0.95 to 0.95, most in sums, 4 clients); "
        "selective 1.03 (cells 1.03 to 1.03, most in sums, 4 clients); 1 of 2 missed"
    )  # fmt: skip
    # Each cell decides, even if the mean is met.
    several = verdicts([*measured(18.0, 30.0), *measured(21.0, 30.0, 1)])["flink-queries"]
    assert several["state"] == "not met"
    assert several["found"].startswith("blocking 0.97 (cells 0.90 to 1.05, most in sums, 1 client); selective 1.00")
    assert several["found"].endswith("; 1 of 4 missed")
    lines = measured(20.0, 30.0)
    lines.append(Line("flink-queries", "java", "faro-selective", {"job": "tpch", "clients": 4}, (0.1,), 0,
                      figures={"cpu_milliseconds_each": 1.0, "peer_left_out": 1}))  # fmt: skip
    found = verdicts(lines)["flink-queries"]["found"]
    assert found.endswith("; left out, since Flink's process ended again and again: 1")
    # Queries have no plain bytes, and are compared by their times.
    one, other = measured(20.0, 30.0)[:2]
    assert ratio(replace(one, seconds=(0.1, 0.2)), replace(other, seconds=(0.2, 0.4))).median == pytest.approx(2)


def test_pushed_jobs_are_held_against_pushed_jobs() -> None:
    def measured(seconds: float, reads: int) -> list[Line]:
        case = {"job": "tiny-blocks", "partitions": 300}
        return [
            Line("spark-push", "java", subject, case, (took,), 10**9, figures={"reads": count, "mean_read_bytes": 7000})
            for subject, took, count in (
                ("faro-push", seconds, reads), ("spark-push", 1.0, 10), ("faro", 0.1, 1000), ("spark-sort", 0.1, 1000)
            )
        ]  # fmt: skip

    good = verdicts(measured(1.02, 100))
    assert good["spark-push"]["state"] == good["spark-push-reads"]["state"] == "met"
    bad = verdicts(measured(1.1, 101))
    assert bad["spark-push"]["state"] == bad["spark-push-reads"]["state"] == "not met"
    assert bad["spark-push-reads"]["found"] == "101 reads of 7.0 kB, without push 1,000, in tiny-blocks, P=300"
    assert "| faro-push / spark-push |" in tables(bench(measured(1.0, 1)), [], "c")
