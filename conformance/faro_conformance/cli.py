"""`conformance/run`: runs the cases or, if the first argument names one, another suite."""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from faro_conformance import handshake, sweep_cli
from faro_conformance.manifest import Case, Suite, select
from faro_conformance.protocol import Protocol, SuiteError
from faro_conformance.report_html import write_html
from faro_conformance.reports import Terminal, write_json, write_junit
from faro_conformance.session import Settings, run_cases
from faro_conformance.testees import find_testees

OK, FAILURES, USAGE, NOT_STARTED = 0, 1, 2, 3

_EPILOG = """\
`run sweep --help`: every change of one byte and every truncation of small outputs.
`run bounds --help`: hostile files, read under a limit on address space.
`run detection --help`: damaged files, and how much of the damage readers detect.
`run faults --help`: kills, refused system calls, real limits, and files that change while they are read.
`run partitioning --help`: `faro pack`, compared with DuckDB and a model of the key hash.
`run races --help`: writers and readers of all implementations that race for one name.

exit codes: 0 nothing failed; 1 something failed, or a list of expected failures is wrong; 2 wrong usage, or the suite
is damaged; 3 a testee could not be started
"""


def add_common(parser: argparse.ArgumentParser) -> None:
    """The options that the cases and the sweeps have in common."""
    parser.add_argument(
        "--testee",
        action="append",
        default=[],
        metavar="all|NAME|FILE.toml|COMMAND",
        help="a testee of testees/, the path of such a file, or any command line; repeatable; default: all",
    )
    parser.add_argument("--suite", type=Path, default=Path(__file__).parents[1], help="the folder conformance/")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="for each answer; default 60")
    parser.add_argument("--seed", type=int, help="the seed of all that is random; printed, to repeat a run")


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command line for the cases."""
    parser = argparse.ArgumentParser(
        prog="conformance/run",
        description="Run the Faro conformance cases against implementations.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_common(parser)
    parser.add_argument(
        "-k",
        action="append",
        default=[],
        dest="words",
        metavar="WORD[,WORD]",
        help="only cases with this op, clause (HDR-1), prefix (HDR) or part of an id; commas: any; repeated: all",
    )
    parser.add_argument("--list", action="store_true", help="list the cases, run nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="cases that run at a time")
    parser.add_argument("--shuffle", action="store_true", help="run the cases in random order, drawn with --seed")
    parser.add_argument("--no-pairs", action="store_true", help="leave out the writer x reader matrix")
    parser.add_argument("--verbose", "-v", action="store_true", help="one line for each result")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write an HTML page")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        if arguments and arguments[0] == "sweep":
            return sweep_cli.main(arguments[1:], add_common)
        if arguments and arguments[0] == "bounds":
            # Outside the package, and needed only here.
            from bounds import cli as bounds_cli

            return bounds_cli.main(arguments[1:], add_common)
        if arguments and arguments[0] == "detection":
            from detection import cli as detection_cli

            return detection_cli.main(arguments[1:], add_common)
        if arguments and arguments[0] == "faults":
            from faults import cli as faults_cli

            return faults_cli.main(arguments[1:], add_common)
        if arguments and arguments[0] == "partitioning":
            from partitioning import cli as partitioning_cli

            return partitioning_cli.main(arguments[1:], add_common)
        if arguments and arguments[0] == "races":
            from races import cli as races_cli

            return races_cli.main(arguments[1:], add_common)
        return _main(build_parser().parse_args(arguments))
    except SuiteError as error:
        print(f"conformance/run: {error}", file=sys.stderr)
        return USAGE


def _main(options: argparse.Namespace) -> int:
    if options.jobs < 1 or options.timeout <= 0:
        raise SuiteError("--jobs and --timeout have to be above 0")
    suite = Suite(options.suite)
    with tempfile.TemporaryDirectory(prefix="faro-generated-") as generated:
        everything = suite.cases(Path(generated))
        seed: int | None = None
        if options.shuffle:
            seed = random.randrange(1 << 32) if options.seed is None else options.seed
            print(f"order: --seed {seed}")
        cases = select(everything, options.words, seed)
        if options.list:
            _list(cases)
            return OK
        if not cases:
            raise SuiteError(f"no case is selected by -k {' -k '.join(options.words)}")
        testees = find_testees(options.testee or ["all"], suite.testees, suite.repo)
        if any(case.generated for case in cases):
            suite.generate(Path(generated))
        suite.verify(cases)
        terminal = Terminal(verbose=options.verbose)
        settings = Settings(jobs=options.jobs, timeout=options.timeout, pairs=not options.no_pairs)
        ids = {case.id for case in everything} | set(handshake.IDS)
        run = run_cases(cases, testees, Protocol(suite.schema), settings, ids, terminal.result)
    terminal.summary(run)
    for path, write in ((options.junit, write_junit), (options.json, write_json), (options.html, write_html)):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write(run, path)
    if run.not_started:
        return NOT_STARTED
    return FAILURES if run.failed else OK


def _list(cases: list[Case]) -> None:
    for case in cases:
        level = " (recommended)" if case.recommended else ""
        print(f"{case.id}  {case.op}  {','.join(case.clauses)}  {case.title}{level}")
    print(f"{len(cases)} cases")
