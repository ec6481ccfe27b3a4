"""The page, its plots and the verdicts on targets."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

from support import bench, line

from harness import cli
from harness.figures import Results
from harness.lines import Line, join
from harness.page import explanations, page, table, tables
from harness.plots import draw
from harness.targets import targets


def grid(rust: float, flink: float) -> list[Line]:
    lines = []
    for partitions in (64, 1000, 10_000):
        for buffer in (16, 128):
            cell: dict[str, Any] = {"partitions": partitions, "buffer_mib": buffer}
            slow = 3.0 if partitions == 10_000 and buffer == 16 else 1.0
            lines.append(line("rust", "faro", [rust * slow, rust * slow], **cell))
            lines.append(line("java", "flink", [flink, flink], **cell))
    return lines


def verdicts(lines: list[Line]) -> dict[str, dict[str, str]]:
    return {one.id: one.judge(Results(lines)) for one in targets()}


def test_a_target_of_a_median_and_of_each_cell() -> None:
    met = verdicts(grid(0.1, 1.0))["rust-write-flink"]
    assert met["state"] == "met"
    assert "median of 6 cells 10.00, least 3.33" in met["found"]
    # The median holds, one cell does not.
    missed = verdicts(grid(0.15, 1.0))["rust-write-flink"]
    assert missed["state"] == "not met"
    assert "P=10000" in missed["found"]
    assert verdicts([])["rust-write-flink"]["state"] == "not measured"


def test_the_memory_target_asks_both_parts_that_measure_it() -> None:
    lines = [line("rust", "faro", [1.0], part="growth", curve="partitions", figures={"peak_bytes": 17 << 20})]
    assert verdicts(lines)["memory"]["state"] == "met"
    lines.append(line("rust", "faro", [1.0], part="memory", figures={"above_buffer_bytes": 20 << 20}))
    assert "20.0 MiB above" in verdicts(lines)["memory"]["found"]
    assert verdicts(lines)["memory"]["state"] == "not met"


def test_a_curve_may_not_bend_away() -> None:
    def points(seconds: list[float], peaks: list[int]) -> list[Line]:
        return [
            line("rust", "faro", [each], part="growth", curve="regions", regions=x, figures={"peak_bytes": peak << 20})
            for x, each, peak in zip((10, 20, 200), seconds, peaks, strict=True)
        ]

    assert verdicts(points([1.0, 2.0, 20.0], [7, 7, 8]))["growth"]["state"] == "met"
    bent = verdicts(points([1.0, 2.0, 60.0], [7, 7, 8]))["growth"]
    assert bent["state"] == "not met"
    assert "3.00 times as much as in proportion (time, rust faro, regions from 20 to 200)" in bent["found"]
    assert "memory" in verdicts(points([1.0, 2.0, 20.0], [7, 70, 80]))["growth"]["found"]
    threads = [line("rust", "faro", [x], part="growth", curve="threads", threads=x) for x in (1, 2)]
    assert verdicts(threads)["growth"]["state"] == "not measured"
    machine = [line("rust", "raw-write", [x], part="growth", curve="data_mib", data_mib=x) for x in (1, 2)]
    assert verdicts(machine)["growth"]["state"] == "not measured"


def test_two_threads_are_held_against_the_codec_alone() -> None:
    lines = [
        line("rust", subject, [seconds], codec="lz4")
        for subject, seconds in (("faro", 3.0), ("faro-2-threads", 1.5), ("codec", 2.0))
    ]
    assert verdicts(lines)["rust-write-threads"]["state"] == "not met"
    lines[1] = line("rust", "faro-2-threads", [1.0], codec="lz4")
    assert verdicts(lines)["rust-write-threads"]["state"] == "met"


def test_a_target_of_speed_and_one_of_a_figure() -> None:
    lines = [
        line("rust", "faro", [0.05], part="read", order="file"),
        line("java", "faro", [0.07], part="read", order="file"),
        line("rust", "faro", [1.0], part="growth", curve="partitions", figures={"peak_bytes": 17 << 20}),
        line("rust", "faro", [1.0], part="growth", curve="partitions", figures={"peak_bytes": 33 << 20}, partitions=9),
        line("rust", "faro", [1.0], part="index", figures={"bytes_per_entry": 4.19}),
    ]
    found = verdicts(lines)
    assert found["read-file-order"]["state"] == "not met"
    assert "14.3 GB/s" in found["read-file-order"]["found"]
    assert found["read-partition-order"]["state"] == "not measured"
    assert found["memory"]["state"] == "not met"
    assert "17.0 MiB above the sort buffer, at " in found["memory"]["found"]
    assert found["index-bytes"]["state"] == "met"
    assert verdicts(lines[:1])["read-file-order"]["state"] == "met"


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
    assert "429 MB for 1 GiB at 250 MB/s" in good["small-blocks"]["found"]
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
    assert verdicts([])["tiny-outputs"]["state"] == "not measured"


def test_jobs_are_held_against_the_sort_shuffle() -> None:
    def measured(job: str, faro: float) -> list[Line]:
        case = {"job": job, "partitions": 4}
        return [
            Line("flink-jobs", "java", subject, case, (seconds,), 10**9)
            for subject, seconds in (("faro", faro), ("flink-sort", 1.0), ("flink-hash", 0.1))
        ]

    good = verdicts(measured("q1", 1.01) + measured("rebalance", 0.9))
    assert good["flink-jobs"]["state"] == good["flink-shuffle-bound"]["state"] == "met"
    bad = verdicts(measured("q1", 1.03) + measured("rebalance", 0.95))
    assert bad["flink-jobs"]["state"] == bad["flink-shuffle-bound"]["state"] == "not met"
    assert "q1" in bad["flink-jobs"]["found"]
    two = join([*measured("q1", 0.5), *measured("q1", 0.5)])
    assert "| q1 | 4 | 2.00 (2.00 to 2.00) | 2.000 ± 0.000 of 2 | 0.20 " in tables(bench(two), "")


def test_many_partitions_are_held_against_few() -> None:
    assert verdicts(grid(1.0, 1.0))["many-partitions"]["state"] == "not met"
    assert (
        verdicts([one for one in grid(1.0, 1.0) if one.case["buffer_mib"] == 128])["many-partitions"]["state"] == "met"
    )


def test_the_page_says_what_was_measured_and_what_was_not_met(tmp_path: Path) -> None:
    growth = [line("rust", "faro", [x], part="growth", curve="partitions", partitions=x) for x in (1, 10, 1000)]
    lines = grid(0.15, 1.0) + growth + [line("rust", "faro", [0.2], order="a|b")]
    made = bench(lines, failures=["java read: exit code 1: <boom>"], targets=list(verdicts(lines).values()))
    plots = draw(Results(lines), tmp_path)
    text = page(made, "# Notes\n\n## rust-write-flink\n\nIt is the cache.\n", plots)
    assert "- **Rust writes, codec none" in text
    assert "It is the cache." in text
    assert "6.67 (6.67 to 6.67)" not in text
    assert "not explained yet" in text.lower()
    assert "&lt;boom>" in text
    full = tables(made, "# Notes\n\n## rust-write-flink\n\nIt is the cache.\n\nMore of it.\n")
    assert "More of it." in full
    assert "a\\|b" in full
    assert "6.67 (6.67 to 6.67)" in full
    assert {plot.path for plot in plots} == {
        "bench/results/plots/write-none.svg",
        "bench/results/plots/growth-partitions.svg",
    }
    for plot in plots:
        assert plot.path in text
        ElementTree.parse(tmp_path / plot.path)


def test_plots_are_the_same_bytes_again(tmp_path: Path) -> None:
    made = []
    for name in ("a", "b"):
        draw(Results(grid(0.1, 1.0)), tmp_path / name)
        made.append((tmp_path / name / "bench/results/plots/write-none.svg").read_bytes())
    assert made[0] == made[1]


def test_notes_and_tables() -> None:
    assert explanations("text\n## one\n\na\nb\n\n## two\nc\n") == {"one": "a\nb", "two": "c"}
    assert table(["a", "b"], [("1", "2")]) == "| a | b |\n|---|---|\n| 1 | 2 |\n"


def test_the_page_can_be_made_again(tmp_path: Path) -> None:
    target = tmp_path / "bench.json"
    target.write_text(json.dumps(bench(grid(0.1, 1.0))))
    assert cli.main(["--page-only", "--json", str(target), "--into", str(tmp_path)]) == 0
    assert "# Benchmarks" in (tmp_path / "BENCHMARKS.md").read_text()
    assert "## Writing" in (tmp_path / "bench/results/tables.md").read_text()
    assert json.loads(target.read_text())["targets"][0]["state"] == "met"
