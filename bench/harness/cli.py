"""`bench/run`: measure, and make BENCHMARKS.md and the files in bench/results/."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from harness import machine, work
from harness.figures import Results
from harness.lines import Line, join, parse, validator
from harness.page import RESULTS, page, tables
from harness.plan import FULL, PARTS, QUICK, plan
from harness.plots import draw
from harness.targets import targets

OK, FAILURES, USAGE, INTERRUPTED = 0, 1, 2, 130

_EPILOG = """\
A full run takes hours on two cores; the part write takes one and a half. Nothing else should run meanwhile.
It needs 3 GiB on the disk and 2 GiB of memory. Its data files are removed at the end, even after an interruption.

exit codes: 0 measured; 1 a program failed (the page says which), or nothing was measured; 2 wrong usage;
130 interrupted, and nothing changed
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="bench/run",
        description="Measure Faro, its peers, and the limits of the machine.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; default all")
    parser.add_argument("--quick", action="store_true", help="small sizes, to try the programs")
    parser.add_argument(
        "--dir", type=Path, default=machine.REPOSITORY / "out", help="where files are made; default out/"
    )
    parser.add_argument(
        "--json",
        type=Path,
        default=machine.REPOSITORY / RESULTS / "bench.json",
        help="the file of the results; default bench/results/bench.json",
    )
    parser.add_argument("--into", type=Path, default=machine.REPOSITORY, help="the folder of the page and its plots")
    parser.add_argument("--keep", action="store_true", help="keep the results of the parts that are not run")
    parser.add_argument(
        "--case",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="only cells with this value, as in --case codec=none; repeatable; with --keep the other cells stay",
    )
    parser.add_argument(
        "--turns",
        type=int,
        metavar="N",
        help="start each cell's programs N times, not once to three times: what differs by little needs many",
    )
    parser.add_argument("--page-only", action="store_true", help="measure nothing, make the page again")
    parser.add_argument(
        "--prefix", default="", metavar="COMMAND", help="a command before each program, as in --prefix 'taskset -c 1'"
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code."""
    parser = build_parser()
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.parts) - set(PARTS))
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)} (there are {', '.join(PARTS)})")
    if options.turns is not None and options.turns < 1:
        parser.error(f"--turns wants a number from 1 on: {options.turns}")
    if wrong := [case for case in options.case if "=" not in case]:
        parser.error(f"--case wants KEY=VALUE: {', '.join(wrong)}")
    try:
        if options.page_only:
            bench = json.loads(options.json.read_text())
        else:
            bench = _measure(options, ["bench/run", *(sys.argv[1:] if arguments is None else arguments)])
    except KeyboardInterrupt:
        print("bench/run: interrupted; nothing changed", file=sys.stderr)
        return INTERRUPTED
    except (OSError, ValueError) as fault:
        print(f"bench/run: {fault}", file=sys.stderr)
        return USAGE
    if not bench["results"]:
        print("bench/run: nothing was measured", file=sys.stderr)
        for failure in bench["failures"]:
            print(f"    {failure}", file=sys.stderr)
        return FAILURES
    if not options.page_only:
        # The results are saved even if the page cannot be made: measuring again would take hours.
        options.json.write_text(json.dumps(bench, indent=1) + "\n")
    publish(bench, options.json, options.into)
    for target in bench["targets"]:
        print(f"{target['state']:>12}  {target['text']}: {target['found']}")
    print(f"{len(bench['failures'])} failures")
    return FAILURES if bench["failures"] else OK


def _measure(options: argparse.Namespace, command: list[str]) -> dict[str, Any]:
    parts = [part for part in PARTS if part in (options.parts or PARTS)]
    began, clock = datetime.now(timezone.utc), time.monotonic()
    # Read before anything is measured, as someone may commit meanwhile.
    commit, changed = machine.commit()
    for folder in (options.dir, options.json.parent, options.into):
        folder.mkdir(parents=True, exist_ok=True)
    wanted_cell = dict(case.split("=", 1) for case in options.case)
    steps = plan(parts, QUICK if options.quick else FULL, wanted_cell)
    if options.turns is not None:
        steps = [replace(step, turns=options.turns) for step in steps]
    if not steps:
        raise ValueError(f"no cell of these parts has {' and '.join(options.case)}")
    with work.work_folder(options.dir) as folder:
        calls = [call for step in steps for call in step.calls]
        others = any(call.tables for call in calls)
        wanted = others or any(call.lineitem for call in calls)
        table = work.lineitem(folder, 0.02 if options.quick else 0.2, others=others) if wanted else None
        found, failures = work.measure(
            steps, folder, shlex.split(options.prefix), say=lambda text: print(text, file=sys.stderr), table=table
        )
    date = began.isoformat(timespec="seconds")
    where = machine.machine(options.dir)
    found = [replace(line, run=f"{commit[:12]}, {date}, {where['cpu']}") for line in found]
    kept: list[Line] = []
    if options.keep and options.json.exists():
        kept = _kept(json.loads(options.json.read_text()), found, by_cell=bool(wanted_cell))
    return {
        "version": 1,
        "date": date,
        "commit": commit,
        "changed": changed,
        "command": shlex.join(command),
        "earlier": sorted({f"{line.part} ({line.language}): {line.run}" for line in kept}),
        "quick": options.quick,
        "seconds": round(time.monotonic() - clock, 1),
        "machine": where,
        "versions": machine.versions(),
        "results": [line.to_json() for line in join(kept + found)],
        "failures": failures,
        "targets": [],
    }


def _kept(before: dict[str, Any], found: list[Line], *, by_cell: bool) -> list[Line]:
    """The lines of an earlier run for parts (or also cells) that this run did not measure."""

    def what(line: Line) -> tuple[object, ...]:
        return (line.part, line.language, *([line.key] if by_cell else []))

    new = {what(line) for line in found}
    return [line for line in parse(before["results"], "bench.json") if what(line) not in new]


def publish(bench: dict[str, Any], target: Path, root: Path) -> None:
    """Judge the targets, then write bench.json, the plots, the page, and the full tables."""
    results = Results(parse(bench["results"], "bench.json"))
    bench["targets"] = [one.judge(results) for one in targets()]
    validator("schema.json").validate(bench)
    target.write_text(json.dumps(bench, indent=1) + "\n")
    path = machine.REPOSITORY / RESULTS / "notes.md"
    notes = path.read_text() if path.exists() else ""
    plots = draw(results, root)  # makes the folder of the results
    (root / "BENCHMARKS.md").write_text(page(bench, notes, plots))
    (root / RESULTS / "tables.md").write_text(tables(bench, notes))
