"""Makes BENCHMARKS.md and bench/results/tables.md from bench.json and the explanations in notes.md."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from harness.figures import Results, Spread, Turns, ratio, speed
from harness.lines import Line, parse
from harness.plots import Plot

Name = tuple[str, str]

RESULTS = "bench/results"
"""The folder of results, notes, full tables and plots, relative to the repository's root."""
GRID = ("write", "read")
_TITLES = {
    "write": "Writing",
    "read": "Reading",
    "broadcast": "Broadcast",
    "index": "Index",
    "memory": "Memory",
    "scheduler": "Scheduler",
    "small-blocks": "Small blocks",
    "tiny-outputs": "Tiny outputs",
    "growth": "Cost as work grows",
    "flink-jobs": "Jobs of Flink",
}
_ROWS = ("partitions", "buffer_mib", "order", "threads")
_RATIOS: tuple[tuple[Name, Name], ...] = (
    (("rust", "faro"), ("java", "flink")),
    (("java", "faro"), ("java", "flink")),
    (("rust", "faro"), ("rust", "hash-files")),
    (("rust", "faro"), ("rust", "arrow-ipc")),
    (("rust", "faro"), ("rust", "parquet")),
    (("rust", "faro"), ("rust", "raw-write-preallocated")),
    (("java", "faro"), ("java", "raw-write")),
    (("rust", "faro"), ("rust", "raw-pread")),
    (("java", "faro"), ("java", "raw-pread")),
    (("rust", "faro"), ("rust", "codec")),
    (("rust", "faro-2-threads"), ("rust", "faro")),
    (("java", "faro"), ("java", "codec")),
    (("python", "faro"), ("python", "arrow-ipc")),
    (("python", "faro"), ("python", "parquet")),
    (("python", "faro"), ("python", "arrow-dataset-ipc")),
    (("python", "faro"), ("python", "arrow-ipc-buffered")),
    (("python", "faro"), ("python", "raw-write")),
    (("python", "faro"), ("python", "faro-alone")),
    (("python", "faro"), ("python", "raw-pread")),
)

_READING = """\
- **MB/s** and **GB/s** are plain record data, 4 bytes counted with each record (Python's tables: their columns), by powers of ten.
- Figures are **medians** of the repetitions after an unmeasured first one; the lowest and the highest are in brackets. Subjects of one program took turns, repetition by repetition. Rust and Java are two programs, started one after the other
  for each cell, so the two sides of a ratio between them were measured minutes apart. A **ratio** is the ratio of the medians; its range is the range of the ratios repetition by repetition.
- A subject that writes new files does each repetition three times in a row, and the fastest counts. The host of a virtual machine takes free memory back, and the first write to it would wait for the host.
- **Faro checksums** every block (CRC-32C) and writes a footer with counts; a read verifies all of it. **Flink neither checksums nor writes a footer**, decompresses at its consumer, and reads back what it wrote
  without checking it. No subject syncs. Files are new, on the filesystem above, and stay in the page cache: no disk is measured.
- The processor above is the one of the last run. Each earlier run names its own, and ratios are within a run. Figures vary from run to run; a median with a wide spread says little.
"""


def page(bench: dict[str, Any], notes: str, plots: Sequence[Plot]) -> str:
    """The page: targets, where they are missed, and the plots."""
    pieces = [_head(bench), "## How to read it\n\n" + _READING, "## Targets\n\n" + _targets(bench["targets"])]
    pieces.append("## Where Faro misses a target\n\n" + _missed(bench["targets"], explanations(notes)))
    for part in _TITLES:
        found = [plot for plot in plots if plot.part == part]
        if found:
            pieces.append(f"## {_TITLES[part]}\n")
            pieces += [f"![{plot.title}]({plot.path})\n" for plot in found]
    if bench["failures"]:
        pieces.append("## What failed\n\n" + "\n".join(f"- {_text(failure)}" for failure in bench["failures"]) + "\n")
    return "\n".join(pieces)


def tables(bench: dict[str, Any], notes: str) -> str:
    """The full tables, and the complete explanation of each target."""
    results = Results(parse(bench["results"], "bench.json"))
    pieces = ["# Benchmarks: all figures\n\n<!-- Made by `make bench` from bench.json and notes.md: edit those. -->\n"]
    earlier = "\n".join(f"- {_text(run)}" for run in bench["earlier"])
    if earlier:
        pieces.append(f"## Runs that measured a part\n\n{earlier}\n")
    pieces.append("## Explanation of each target\n" + _explained(bench["targets"], explanations(notes)))
    for part in (part for part in _TITLES if results.select(part)):
        pieces.append(f"## {_TITLES[part]}\n")
        pieces.append(_grid(results, part) if part in GRID else _figures(results.select(part)))
        if part == "flink-jobs":
            pieces.append(_jobs(results))
    return "\n".join(pieces)


def _head(bench: dict[str, Any]) -> str:
    machine = bench["machine"]
    changed = ", with files changed" if bench["changed"] else ""
    quick = (
        "\n**These are small sizes (`--quick`): they show that the programs run, not how fast.**\n"
        if bench["quick"]
        else ""
    )
    rows = [
        ("command", f"`{bench['command']}`, {bench['seconds'] / 60:.0f} minutes, {bench['date']}"),
        ("revision", f"{bench['commit'][:12]}{changed}"),
        ("processor", f"{machine['cpu']}, {machine['cores']} cores"),
        ("memory", f"{machine['memory_bytes'] / 2**30:.1f} GiB"),
        ("system", f"{machine['kernel']}, {machine['filesystem']}"),
        *(
            [("earlier runs", f"{len(bench['earlier'])}, named in [the tables]({RESULTS}/tables.md)")]
            if bench["earlier"]
            else []
        ),
        ("versions", ", ".join(f"{name} {version}" for name, version in bench["versions"].items())),
    ]
    return (
        f"# Benchmarks\n\n<!-- Made by `make bench` from {RESULTS}/bench.json and notes.md: edit those. -->\n\n"
        "`make bench` makes these figures again (hours on two cores; `make bench ARGS=--quick` tries it). "
        "[bench/README.md](bench/README.md) describes what is measured, and on which data. "
        f"[All figures]({RESULTS}/tables.md) are on a separate page.\n" + quick + "\n" + table(["", ""], rows)
    )


def _targets(targets: list[dict[str, str]]) -> str:
    rows = [
        (_text(t["text"]), _text(t["found"]), f"**{t['state']}**" if t["state"] == "not met" else t["state"])
        for t in targets
    ]
    return table(["target", "found", ""], rows)


def _missed(targets: list[dict[str, str]], notes: dict[str, str]) -> str:
    """For each target that is not met, the first sentences of its explanation."""
    rows = []
    for target in targets:
        if target["state"] == "not met":
            why = notes.get(target["id"], "Not explained yet.").split("\n")[0]
            rows.append(f"- **{_text(target['text'])}.** {_beginning(why)}\n")
    return "\n".join(rows) or "None.\n"


def _beginning(text: str, most: int = 420) -> str:
    """As many sentences from the beginning of a text as there is room for, at least one."""
    sentences = re.split(r"(?<=[.:]) (?=[A-Z])", text)
    shown = sentences[0]
    for sentence in sentences[1:]:
        if len(shown) + len(sentence) >= most:
            break
        shown += " " + sentence
    return shown


def _explained(targets: list[dict[str, str]], notes: dict[str, str]) -> str:
    text = ""
    for target in targets:
        if target["id"] in notes and target["state"] != "not measured":
            text += f"\n### {target['text']}: {target['state']}\n\n{notes[target['id']]}\n"
    return text


def explanations(notes: str) -> dict[str, str]:
    """The sections of notes.md, by the id of the target in the heading."""
    pieces = re.split(r"^## (\S+)\n", notes, flags=re.MULTILINE)
    return {name: text.strip() for name, text in zip(pieces[1::2], pieces[2::2], strict=True)}


def _grid(results: Results, part: str) -> str:
    """The tables of a part whose cases form a grid: one table for each kind of data."""
    groups: dict[tuple[Any, ...], list[Line]] = {}
    for line in results.select(part):
        case = line.case
        group = (line.language == "python", str(case.get("data")), case.get("record_bytes", 0), str(case.get("codec")))
        groups.setdefault(group, []).append(line)
    text = ""
    for (_, data, size, codec), lines in sorted(groups.items()):
        of = f" of {size:,} bytes" if size else ""
        text += f"\n### {data}{of}, codec {codec}\n\n{_speeds(lines)}\n{_ratio_table(results, lines)}"
    return text


def _rows(lines: list[Line]) -> list[tuple[tuple[Any, ...], list[Line]]]:
    rows: dict[tuple[Any, ...], list[Line]] = {}
    for line in lines:
        rows.setdefault(tuple(line.case.get(key, "") for key in _ROWS), []).append(line)
    return sorted(rows.items(), key=lambda row: [(str(type(value)), value) for value in row[0]])


def _speeds(lines: list[Line]) -> str:
    names = sorted({line.name for line in lines}, key=lambda name: (name[0] != "rust", name))
    rows = _rows(lines)
    used = [i for i in range(len(_ROWS)) if any(row[i] != "" for row, _ in rows)]
    head = [_ROWS[i].replace("_", " ") for i in used] + [f"{language} {subject}" for language, subject in names]
    body = []
    for row, found in rows:
        cells = {line.name: megabytes(speed(line)) for line in found}
        body.append([_value(row[i]) for i in used] + [cells.get(name, "") for name in names])
    return "MB/s:\n\n" + table(head, body)


def _ratio_table(results: Results, lines: list[Line]) -> str:
    """The meaningful ratios among some lines."""
    names = {line.name for line in lines}
    pairs = [(mine, theirs) for mine, theirs in _RATIOS if mine in names and theirs in names]
    if not pairs:
        return ""
    rows = _rows(lines)
    used = [i for i in range(len(_ROWS)) if any(row[i] != "" for row, _ in rows)]
    head = [_ROWS[i].replace("_", " ") for i in used] + [f"{' '.join(m)} / {' '.join(t)}" for m, t in pairs]
    body = []
    for row, found in rows:
        cells = []
        for mine, theirs in pairs:
            line = next((line for line in found if line.name == mine), None)
            peer = results.peer(line, *theirs) if line else None
            cells.append(times(ratio(line, peer)) if line and peer else "")
        body.append([_value(row[i]) for i in used] + cells)
    return "\nRatios:\n\n" + table(head, body)


def _figures(lines: list[Line]) -> str:
    """The table of a part whose cases do not form a grid."""
    keys = _union(key for line in lines for key in line.case if key != "plain_bytes")
    names = _union(name for line in lines for name in line.figures)
    sizes = [
        name
        for name in ("stored_bytes", "index_bytes", "files")
        if any(getattr(line, name) is not None for line in lines)
    ]
    head = [*(key.replace("_", " ") for key in keys), "subject", "ms", "MB/s", *sizes, *names]
    body = []
    for line in lines:
        milliseconds = Spread.of([seconds * 1e3 for seconds in line.seconds])
        body.append(
            [_value(line.case.get(key, "")) for key in keys]
            + [f"{line.language} {line.subject}", f"{milliseconds.median:,.1f}"]
            + [megabytes(speed(line)) if line.plain_bytes else ""]
            + [_value(getattr(line, name)) for name in sizes]
            + [_value(line.figures.get(name, "")) for name in names]
        )
    return table([name.replace("_", " ") for name in head], body)


def _jobs(results: Results) -> str:
    """The comparison of jobs with Faro's shuffle with those with Flink's."""
    peers = ("flink-sort", "flink-hash")
    head = ["job", "partitions", *(word for peer in peers for word in (f"faro / {peer}", "process by process"))]
    body = []
    for line in results.select("flink-jobs", "java", "faro"):
        cells = []
        for name in peers:
            peer = results.peer(line, "java", name)
            turns = Turns.of(line, peer) if peer else None
            cells.append(times(ratio(line, peer)) if peer else "")
            cells.append(f"{turns.mean:.3f} ± {turns.mean * turns.error:.3f} of {turns.count}" if turns else "")
        body.append([_value(line.case.get("job", "")), _value(line.case.get("partitions", "")), *cells])
    return (
        "How many times as fast, by the medians of all runs (the range run by run); and the mean of the ratios of processes,"
        " with its standard error:\n\n" + table(head, body)
    )


def _union(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def megabytes(found: Spread) -> str:
    """A speed in MB/s with its spread."""
    return f"{found.median / 1e6:,.0f} ({found.least / 1e6:,.0f} to {found.most / 1e6:,.0f})"


def times(found: Spread) -> str:
    """A ratio with its spread."""
    return f"{found.median:.2f} ({found.least:.2f} to {found.most:.2f})"


def _value(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return _text(str(value))
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _text(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"
