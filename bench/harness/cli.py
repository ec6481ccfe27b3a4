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

from harness import machine, store, work
from harness.figures import Results
from harness.lines import Line, join, parse, validator
from harness.page import page
from harness.plan import FULL, PARTS, QUICK, SHORT, plan
from harness.plots import draw
from harness.programs import SMALL, Call
from harness.tables import tables
from harness.targets import targets

OK, FAILURES, USAGE, INTERRUPTED = 0, 1, 2, 130

_EPILOG = """\
A full run takes hours on two cores; the part write takes one and a half. Nothing else should run meanwhile.
It needs 3 GiB on the disk and 2 GiB of memory. Its data files are removed at the end, even after an interruption.
After an interruption, the results of the turns that ended are saved, and those of other cells stay as they were.

exit codes: 0 measured; 1 a program failed (the page says which), or nothing was measured; 2 wrong usage;
130 interrupted
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
        "--short", action="store_true", help="only the main cells, in less than 15 minutes; the other cells stay"
    )
    parser.add_argument(
        "--dir", type=Path, default=machine.REPOSITORY / "out", help="where files are made; default out/"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to this file, and make no page")
    parser.add_argument(
        "--machine", metavar="NAME", help="the name of the machine's results; default from its processor's name"
    )
    parser.add_argument(
        "--into",
        type=Path,
        default=machine.REPOSITORY,
        help="the folder of the page and its plots; default the repository",
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="keep this machine's results of the parts that are not run; without it they are removed",
    )
    parser.add_argument(
        "--case",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="only cells with this value, as in --case codec=none; if several, all hold; with --keep other cells stay",
    )
    parser.add_argument(
        "--turns",
        type=int,
        metavar="N",
        help="how often each cell's programs are started; default 1 to 3, by part; small differences need more",
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
    if options.short and options.quick:
        parser.error("--short and --quick are different sizes")
    if options.page_only and options.json:
        parser.error("--json makes no page")
    try:
        if options.page_only:
            publish(options.into)
            return OK
        measured, bench = _measure(options, ["bench/run", *(sys.argv[1:] if arguments is None else arguments)])
    except (OSError, ValueError) as fault:
        print(f"bench/run: {fault}", file=sys.stderr)
        return USAGE
    if measured.interrupted:
        print(f"bench/run: interrupted; {measured.turns} of {measured.of} turns are kept", file=sys.stderr)
    if not measured.lines:
        print("bench/run: nothing was measured; nothing changed", file=sys.stderr)
        for failure in measured.failures:
            print(f"    {failure}", file=sys.stderr)
        return INTERRUPTED if measured.interrupted else FAILURES
    # The results are saved even if the page cannot be made: measuring again would take hours.
    store.save(bench, _target(options))
    if not options.json:
        publish(options.into)
    for target in targets():
        judged = target.judge(Results(measured.lines))
        print(f"{judged['state']:>12}  {judged['text']}: {judged['found']}")
    print(f"{len(measured.failures)} failures")
    if measured.interrupted:
        return INTERRUPTED
    return FAILURES if measured.failures else OK


def _target(options: argparse.Namespace) -> Path:
    """The file of the results."""
    given: Path | None = options.json
    return given or store.path_of(options.into, options.machine or store.slug(machine.machine(options.dir)))


def _measure(options: argparse.Namespace, command: list[str]) -> tuple[work.Measured, store.Bench]:
    parts = [part for part in PARTS if part in (options.parts or PARTS)]
    began, clock = datetime.now(timezone.utc), time.monotonic()
    # Read before anything is measured, as someone may commit meanwhile.
    commit, changed = machine.commit()
    for folder in (options.dir, options.into):
        folder.mkdir(parents=True, exist_ok=True)
    wanted_cell = dict(case.split("=", 1) for case in options.case)
    sizes = SHORT if options.short else QUICK if options.quick else FULL
    steps = plan(parts, sizes, wanted_cell)
    if options.turns is not None:
        steps = [replace(step, turns=options.turns) for step in steps]
    if not steps:
        wanted = [*options.case, *(["a place in a short run"] if options.short else [])]
        raise ValueError(f"no cell of these parts has {' and '.join(wanted)}")
    calls = [call for step in steps for call in step.calls]
    with work.work_folder(options.dir) as folder:
        others = any(call.tables for call in calls)
        small = any(call.small_tables for call in calls)
        needed = others or small or any(call.lineitem for call in calls)
        table = work.lineitem(folder, 0.02 if options.quick else 0.2, others=others) if needed else None
        if small:
            work.lineitem(folder / SMALL, 0.01, others=True)
        measured = work.measure(
            steps, folder, shlex.split(options.prefix), say=lambda text: print(text, file=sys.stderr), table=table
        )
    date = began.isoformat(timespec="seconds")
    where = machine.machine(options.dir)
    found = [replace(line, run=f"{commit[:12]}, {date}, {where['cpu']}") for line in measured.lines]
    kept: list[Line] = []
    failures, versions = measured.failures, machine.versions()
    target = _target(options)
    some = bool(wanted_cell) or options.short or measured.interrupted
    if (options.keep or options.short or measured.interrupted) and target.exists():
        before = json.loads(target.read_text())
        kept = _kept(before, found, by_cell=some)
        failures = _kept_failures(before, calls) + failures
        # An engine that was not built for this run was built for lines that are kept.
        versions = {
            name: before["versions"].get(name, now) if now == "unknown" else now for name, now in versions.items()
        }
    bench = {
        "version": 1,
        "date": date,
        "commit": commit,
        "changed": changed,
        "command": shlex.join(command),
        "quick": options.quick,
        "seconds": round(time.monotonic() - clock, 1),
        "machine": where,
        "versions": versions,
        "failures": failures,
        "results": [line.to_json() for line in join(kept + found)],
    }
    validator("schema.json").validate(bench)
    return measured, bench


def _kept(before: dict[str, Any], found: list[Line], *, by_cell: bool) -> list[Line]:
    """The lines of an earlier run for parts (or also cells) that this run did not measure."""

    def what(line: Line) -> tuple[object, ...]:
        return (line.part, line.language, *([line.key] if by_cell else []))

    new = {what(line) for line in found}
    return [line for line in parse(before["results"], "earlier results") if what(line) not in new]


def _kept_failures(before: dict[str, Any], calls: list[Call]) -> list[str]:
    """The failures of an earlier run in calls that this run did not make."""
    again = tuple(f"{call}: " for call in calls)
    return [failure for failure in before["failures"] if not failure.startswith(again)]


def publish(root: Path) -> None:
    """Make the page, and the plots and the tables of each machine, from all results below `root`."""
    benches = store.load(root)
    if not benches:
        raise ValueError(f"{root / store.MACHINES}: no results")
    path = machine.REPOSITORY / store.RESULTS / "diary.md"
    diary = path.read_text() if path.exists() else ""
    plots = {}
    for name, bench in benches.items():
        validator("schema.json").validate(bench)
        plots[name] = draw(Results(parse(bench["results"], name)), root, name)
        (root / store.MACHINES / f"{name}.md").write_text(tables(bench, plots[name], name))
    (root / "BENCHMARKS.md").write_text(page(benches, diary, plots))
