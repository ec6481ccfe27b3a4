"""The page with its machines, their tables and their plots."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from support import bench, grid, line

from harness import cli, store
from harness.figures import Results
from harness.machine import REPOSITORY
from harness.page import explanations, page
from harness.plots import draw
from harness.programs import Call
from harness.tables import table, tables
from harness.targets import targets

DIARY = "# Diary\n\n## rust-write-unchecked\n\nIt is the cache.\n\nMore of it.\n"


def test_the_page_has_the_machines_side_by_side(tmp_path: Path) -> None:
    growth = [line("rust", "faro", [x], part="growth", curve="partitions", partitions=x) for x in (1, 10, 1000)]
    fast = grid(0.15, 1.0) + growth + [line("rust", "faro", [0.2], order="a|b")]
    slow = [*grid(1.5, 1.0), line("rust", "memcpy", [0.1])]
    benches = {"fast": bench(fast, failures=["java read: exit code 1: <boom>"]), "slow": bench(slow)}
    plots = {name: draw(Results(lines), tmp_path, name) for name, lines in (("fast", fast), ("slow", slow))}
    text = page(benches, DIARY, plots)
    assert "| target | fast | slow |" in text
    assert "| [slow](bench/results/machines/slow.md) | c, 2 cores, 1 GiB | 10 GB/s | k, f |" in text
    row = next(line for line in text.splitlines() if line.startswith("| Rust writes: 1.0 of Flink"))
    assert row.count("**not met**") == 1
    assert "met: 2.22 (2.22 to 2.22)" in row
    assert "**. It is the cache." not in text
    assert "It is the cache." in text
    assert "More of it." not in text
    assert "Not explained yet." in text
    assert "&lt;boom>" in text
    assert {plot.path for plot in plots["fast"]} == {
        "bench/results/plots/fast/write-none.svg",
        "bench/results/plots/fast/growth-partitions.svg",
    }
    for name, found in plots.items():
        full = tables(benches[name], found, name)
        for plot in found:
            assert ("write-none" in plot.path) == (plot.path in text)
            assert plot.path.removeprefix("bench/results/") in full
            ElementTree.parse(tmp_path / plot.path)
    full = tables(benches["fast"], plots["fast"], "fast")
    assert "a\\|b" in full
    assert "6.67 (6.67 to 6.67)" in full


def test_plots_are_the_same_bytes_again(tmp_path: Path) -> None:
    made = []
    for name in ("a", "b"):
        draw(Results(grid(0.1, 1.0)), tmp_path / name, "m")
        made.append((tmp_path / name / "bench/results/plots/m/write-none.svg").read_bytes())
    assert made[0] == made[1]


def test_explanations_and_tables() -> None:
    assert explanations("text\n## one\n\na\nb\n\n## two\nc\n") == {"one": "a\nb", "two": "c"}
    assert table(["a", "b"], [("1", "2")]) == "| a | b |\n|---|---|\n| 1 | 2 |\n"


@pytest.mark.parametrize(
    ("cpu", "name"),
    [
        ("Intel(R) Xeon(R) Processor", "intel-xeon"),
        ("AMD EPYC", "amd-epyc"),
        ("Intel(R) Core(TM) i7 CPU @ 2.6GHz", "intel-core-i7-2-6ghz"),
        ("", "unknown"),
    ],
)
def test_a_machine_is_named_after_its_processor(cpu: str, name: str) -> None:
    assert store.slug({"cpu": cpu}) == name


def test_the_page_can_be_made_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--page-only", "--into", str(tmp_path)]
    assert cli.main(arguments) == cli.USAGE
    assert "no results" in capsys.readouterr().err
    made = bench(grid(0.1, 1.0))
    store.save(made, store.path_of(tmp_path, "m"))
    assert store.load(tmp_path) == {"m": made}
    assert cli.main(arguments) == 0
    assert "# Benchmarks" in (tmp_path / "BENCHMARKS.md").read_text()
    assert "## Writing" in (tmp_path / store.MACHINES / "m.md").read_text()


def test_the_committed_page_is_short_and_made_of_the_committed_results(tmp_path: Path) -> None:
    for name, committed in store.load(REPOSITORY).items():
        store.save(committed, store.path_of(tmp_path, name))
        # Absolute paths are those of one machine.
        assert not any(word.startswith("/") for word in committed["command"].split()), committed["command"]
    assert cli.main(["--page-only", "--into", str(tmp_path)]) == 0
    made = sorted(path for path in tmp_path.rglob("*") if path.suffix in (".md", ".json"))
    for path in made:
        assert path.read_bytes() == (REPOSITORY / path.relative_to(tmp_path)).read_bytes()
    assert len(made) > 2
    assert (REPOSITORY / "BENCHMARKS.md").stat().st_size <= 15_000


def test_each_explanation_is_of_a_target_and_begins_with_one_line() -> None:
    known = {target.id for target in targets()}
    for name, text in explanations((REPOSITORY / store.RESULTS / "diary.md").read_text()).items():
        assert name in known
        assert len(text.split("\n")[0]) <= 320


def test_failures_are_kept_until_their_call_is_made_again() -> None:
    calls = [Call("java", "flink-queries", (("job", "sums"), ("clients", clients)), 1, None) for clients in (1, 32)]
    before = {"failures": [f"{call}: more than 900 s" for call in calls]}
    assert cli._kept_failures(before, calls[:1]) == [f"{calls[1]}: more than 900 s"]
    assert cli._kept_failures(before, []) == before["failures"]
