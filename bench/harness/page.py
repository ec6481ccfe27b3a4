"""Makes BENCHMARKS.md from the results of all machines and the explanations in diary.md."""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence

from harness.figures import Results, speed
from harness.lines import parse
from harness.plots import Plot
from harness.store import MACHINES, RESULTS, Bench
from harness.tables import table, text_of
from harness.targets import targets

_READING = """\
- A **ratio** is the speed of Faro divided by the speed of its peer or of the machine's limit, of medians of repetitions that took turns; in brackets the lowest and the highest, repetition by repetition. `raw-write` and `raw-pread-crc` only write, or only read and checksum, the same bytes; `codec` only compresses them.
- A cell is named by partitions (P), sort buffer (MiB), threads (T) and record length (B, if it is not 100). Speeds count plain record data, 4 bytes with each record, by powers of ten.
- **Faro checksums** every block (CRC-32C), and its reads verify all of it. **Flink, `hash-files` and pyarrow's IPC files have no checksums.** Flink's reader decompresses later, at its consumer. No subject syncs; files are new and stay in the page cache.
- A subject that writes does each repetition three times in a row, and the fastest counts: the hosts of these virtual machines take free memory back. Rust and Java are separate programs, so ratios between them are of minutes that differ.
"""
_SHOWN = ("write-none", "read-none")
"""The plots on the page. All others are beside the tables of their machine."""


def page(benches: Mapping[str, Bench], diary: str, plots: Mapping[str, Sequence[Plot]]) -> str:
    """The page: machines, targets side by side, where they are missed, and some plots."""
    results = {name: Results(parse(bench["results"], name)) for name, bench in benches.items()}
    judged = {name: [one.judge(found) for one in targets()] for name, found in results.items()}
    pieces = [_head(benches), "## Machines\n\n" + _machines(benches, results), "## How to read it\n\n" + _READING]
    pieces.append(
        "## Targets\n\nEach row is a grid of cells. Shown is the cell that is furthest below its target, or nearest to it, then the median, and how many cells miss the target. For small queries the mean of the cells is shown, with the least and the greatest cell, of processor times: less is better.\n\n"
    )
    pieces[-1] += _targets(judged)
    pieces.append("## Where Faro misses a target, and why\n\n" + _missed(judged, explanations(diary)))
    shown = [
        (name, plot) for name in plots for plot in plots[name] if plot.path.endswith(tuple(f"{s}.svg" for s in _SHOWN))
    ]
    if shown:
        pieces.append("## Plots\n")
        pieces += [f"![{plot.title}, {name}]({plot.path})\n" for name, plot in shown]
    failures = [f"- {name}: {text_of(failure)}\n" for name, bench in benches.items() for failure in bench["failures"]]
    if failures:
        pieces.append("## What failed\n\n" + "".join(failures))
    return "\n".join(pieces)


def _head(benches: Mapping[str, Bench]) -> str:
    quick = [name for name, bench in benches.items() if bench["quick"]]
    said = f"\n**{', '.join(quick)}: these are small sizes (`--quick`), which show that the programs run, not how fast.**\n"
    return (
        f"# Benchmarks\n\n<!-- Made by `make bench` from {MACHINES} and {RESULTS}/diary.md: edit those. -->\n\n"
        "`make bench-short` measures the main cells in less than 15 minutes, `make bench` everything, in hours, on two cores. "
        "[bench/README.md](bench/README.md) says what is measured, and on which data. "
        f"What was tried, and profiles, are in [the diary]({RESULTS}/diary.md).\n" + (said if quick else "")
    )


def _machines(benches: Mapping[str, Bench], results: Mapping[str, Results]) -> str:
    rows = []
    for name, bench in benches.items():
        machine = bench["machine"]
        copies = [speed(line).median for line in results[name].select("write", "rust", "memcpy")]
        rows.append(
            (
                f"[{name}]({MACHINES}/{name}.md)",
                f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_bytes'] / 2**30:.0f} GiB",
                f"{statistics.median(copies) / 1e9:.0f} GB/s" if copies else "",
                f"{machine['kernel'].split('-')[0]}, {machine['filesystem'].split(' ')[0]}",
                f"{bench['date'][:10]}, {bench['commit'][:8]}{', with uncommitted changes' if bench['changed'] else ''}",
            )
        )
    return table(["results", "machine", "`memcpy`", "system", "last run"], rows)


def _targets(judged: Mapping[str, list[dict[str, str]]]) -> str:
    rows = []
    for entries in zip(*judged.values(), strict=True):
        rows.append([text_of(entries[0]["text"]), *(_verdict(entry) for entry in entries)])
    return table(["target", *judged], rows)


def _verdict(entry: dict[str, str]) -> str:
    if entry["state"] == "not measured":
        return "not measured"
    found = text_of(entry["found"])
    return f"met: {found}" if entry["state"] == "met" else f"**not met**: {found}"


def _missed(judged: Mapping[str, list[dict[str, str]]], reasons: Mapping[str, str]) -> str:
    """For each target that a machine does not meet, the first line of its explanation."""
    rows = []
    for entries in zip(*judged.values(), strict=True):
        if any(entry["state"] == "not met" for entry in entries):
            why = reasons.get(entries[0]["id"], "Not explained yet.").split("\n")[0]
            rows.append(f"- **{text_of(entries[0]['text'])}.** {why}\n")
    return "".join(rows) or "None.\n"


def explanations(diary: str) -> dict[str, str]:
    """The sections of diary.md, by the id of the target in the heading."""
    pieces = re.split(r"^## (\S+)\n", diary, flags=re.MULTILINE)
    return {name: text.strip() for name, text in zip(pieces[1::2], pieces[2::2], strict=True)}
