"""Makes the tables with all figures of a machine, and the pieces of Markdown for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from harness.figures import Results, Spread, Turns, ratio, speed
from harness.lines import Line, parse
from harness.plots import Plot
from harness.store import Bench
from harness.verdicts import Name

GRID = ("write", "read")
TITLES = {
    "write": "Writing",
    "read": "Reading",
    "broadcast": "Broadcast",
    "index": "Index",
    "memory": "Memory",
    "scheduler": "Scheduler",
    "small-blocks": "Small blocks",
    "tiny-outputs": "Tiny outputs",
    "merge": "Merging",
    "growth": "Cost as work grows",
    "flink-jobs": "Jobs of Flink",
    "flink-hybrid": "Hybrid exchanges of Flink",
    "flink-queries": "Small queries of Flink",
    "flink-tiny": "Tiny partitions of Flink",
    "spark-jobs": "Jobs of Spark",
    "spark-push": "Push-based shuffle of Spark",
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
    (("rust", "faro-2-buffers"), ("rust", "faro")),
    (("rust", "faro-2-threads"), ("rust", "faro")),
    (("rust", "faro-2-threads-2-buffers"), ("rust", "faro")),
    (("java", "faro"), ("java", "codec")),
    (("python", "faro"), ("python", "arrow-ipc")),
    (("python", "faro"), ("python", "parquet")),
    (("python", "faro"), ("python", "arrow-dataset-ipc")),
    (("python", "faro"), ("python", "arrow-ipc-buffered")),
    (("python", "faro"), ("python", "raw-write")),
    (("python", "faro"), ("python", "faro-alone")),
    (("python", "faro"), ("python", "raw-pread")),
)


def tables(bench: Bench, plots: Sequence[Plot], name: str) -> str:
    """The full tables of a machine, with its plots. `name` is that of its file."""
    results = Results(parse(bench["results"], name))
    pieces = [
        f"# Benchmarks: all figures of {name}\n\n<!-- Made by `make bench` from {name}.json: edit nothing here. -->\n"
    ]
    pieces += [_head(bench), "## Runs\n\nThe last one is above. Each figure is of one of these.\n\n" + _runs(results)]
    for part in (part for part in TITLES if results.select(part)):
        pieces.append(f"## {TITLES[part]}\n")
        pieces += [
            f"![{plot.title}](../plots/{plot.path.split('/plots/')[1]})\n" for plot in plots if plot.part == part
        ]
        pieces.append(_grid(results, part) if part in GRID else _figures(results.select(part)))
        if part in JOB_PEERS:
            pieces.append(_jobs(results, part))
    return "\n".join(pieces)


def _head(bench: Bench) -> str:
    machine = bench["machine"]
    rows = [
        ("command", f"`{bench['command']}`, {bench['seconds'] / 60:.0f} minutes, {bench['date']}"),
        ("revision", f"{bench['commit'][:12]}{', with files changed' if bench['changed'] else ''}"),
        ("processor", f"{machine['cpu']}, {machine['cores']} cores"),
        ("memory", f"{machine['memory_bytes'] / 2**30:.1f} GiB"),
        ("system", f"{machine['kernel']}, {machine['filesystem']}"),
        ("versions", ", ".join(f"{name} {version}" for name, version in bench["versions"].items())),
    ]
    return table(["", ""], rows)


def _runs(results: Results) -> str:
    runs: dict[str, list[str]] = {}
    for line in results.lines:
        runs.setdefault(line.run or "unknown", []).append(f"{line.part} ({line.language})")
    rows = ((run, ", ".join(sorted(set(parts)))) for run, parts in sorted(runs.items()))
    return table(["revision, date, processor", "measured"], rows)


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


JOB_PEERS = {
    "flink-jobs": ("flink-sort", "flink-hash"),
    "flink-hybrid": ("flink-selective", "flink-full", "faro", "flink-sort"),
    "flink-queries": ("flink-pipelined", "flink-selective", "flink-sort"),
    "spark-jobs": ("spark-sort", "spark-sort-no-checksums"),
    "spark-push": ("spark-push", "spark-sort"),
}
"""The engines' own shuffles."""
JOB_SUBJECTS = {"spark-push": "faro-push", "flink-hybrid": "faro-selective", "flink-queries": "faro-selective"}
"""What is compared with them, if it is not `faro`."""


def _jobs(results: Results, part: str) -> str:
    """The comparison of jobs with Faro's shuffle with those with the engine's."""
    peers = JOB_PEERS[part]
    mine = JOB_SUBJECTS.get(part, "faro")
    lines = results.select(part, "java", mine)
    keys = ["job", "partitions", *(["clients"] if any("clients" in line.case for line in lines) else [])]
    head = [*keys, *(word for peer in peers for word in (f"{mine} / {peer}", "process by process"))]
    body = []
    for line in lines:
        cells = []
        for name in peers:
            peer = results.peer(line, "java", name)
            turns = Turns.of(line, peer) if peer else None
            cells.append(times(ratio(line, peer)) if peer else "")
            cells.append(f"{turns.mean:.3f} ± {turns.mean * turns.error:.3f} of {turns.count}" if turns else "")
        body.append([*(_value(line.case.get(key, "")) for key in keys), *cells])
    return (
        "How many times as fast, by the medians of all runs (the range run by run); and the mean of the ratios of"
        " processes, with its standard error:\n\n" + table(head, body)
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
        return text_of(str(value))
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def text_of(text: str) -> str:
    """A text as Markdown in a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"
