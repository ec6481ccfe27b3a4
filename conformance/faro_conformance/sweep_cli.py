"""`conformance/run sweep`: the sweeps on the command line."""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from faro_conformance.child import CannotStartError, Child
from faro_conformance.manifest import Case, Suite
from faro_conformance.protocol import Protocol, SuiteError
from faro_conformance.sweep import OPERATIONS, SweepReport, sweep
from faro_conformance.testees import find_testees

# Small outputs that together contain every kind of byte: see their titles in the manifests.
DEFAULT_CASES = ("sweep-paired", "sweep-single", "sweep-merged")
DEFAULT_VALUES = 12

_EPILOG = """\
Each mutation has to be refused by every testee, with the same code, file and offset by `check` at level decode, and
with the same answer by `read`; none may crash, and none may take longer than --timeout.

exit codes: as of conformance/run
"""


def main(arguments: Sequence[str], add_common: Callable[[argparse.ArgumentParser], None]) -> int:
    """Run the sweeps; the exit code."""
    parser = argparse.ArgumentParser(
        prog="conformance/run sweep",
        description="Change every byte of small outputs, cut them at every length, and ask every testee.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_common(parser)
    parser.add_argument("--all", action="store_true", help="all 255 other values of each byte")
    parser.add_argument(
        "--values",
        type=int,
        default=DEFAULT_VALUES,
        help=f"else this many, drawn with --seed; {DEFAULT_VALUES}",
    )
    parser.add_argument("--case", action="append", metavar="ID", help="the read case whose files are swept; repeatable")
    options = parser.parse_args(arguments)
    seed = random.randrange(1 << 32) if options.seed is None else options.seed
    suite = Suite(options.suite)
    protocol = Protocol(suite.schema)
    outputs = _outputs(suite, options.case or list(DEFAULT_CASES))
    testees = find_testees(options.testee or ["all"], suite.testees, suite.repo)
    values = None if options.all else options.values
    print("all values" if values is None else f"{values} values of each byte: --values {values} --seed {seed}")
    with tempfile.TemporaryDirectory(prefix="faro-") as temporary:
        children = [Child(testee, protocol, options.timeout, Path(temporary)) for testee in testees]
        try:
            for child in children:
                try:
                    child.start()
                except CannotStartError as error:
                    print(f"NOT STARTED {error}")
                    return 3
                missing = [operation for operation in OPERATIONS if operation not in child.hello["operations"]]
                if missing:
                    raise SuiteError(f"{child.testee.name} has no operation {', '.join(missing)}")
            reports = [sweep(name, files, children, values, seed) for name, files in outputs.items()]
        finally:
            for child in children:
                child.stop()
                child.kill()
    for report in reports:
        _show(report)
    return 1 if any(report.faults for report in reports) else 0


def _outputs(suite: Suite, ids: list[str]) -> dict[str, dict[str, Path]]:
    with tempfile.TemporaryDirectory() as nothing:
        cases: dict[str, Case] = {case.id: case for case in suite.cases(Path(nothing))}
    outputs = {}
    for case_id in ids:
        case = cases.get(case_id)
        if case is None or case.generated or case.op != "read" or "ok" not in case.fields["expect"]:
            raise SuiteError(f"{case_id} is not a read case of a committed, valid output")
        suite.verify([case])
        outputs[case_id] = case.files()
    return outputs


def _show(report: SweepReport) -> None:
    rate = report.requests / report.seconds if report.seconds else 0
    print(
        f"{report.name}: {report.mutations} mutations, {report.requests} requests in {report.seconds:.1f} s"
        f" ({rate:.0f} a second), {sum(report.faults.values())} faults"
    )
    codes = ", ".join(f"{code} {number}" for code, number in report.codes.most_common())
    print(f"    what check said: {codes}")
    for kind, number in report.faults.items():
        print(f"    {number} x {kind}")
    for example in report.examples:
        print(f"    {example}")
