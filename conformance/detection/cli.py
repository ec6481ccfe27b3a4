"""`conformance/run detection`: what damage is detected, measured."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from faro_conformance.child import CannotStartError, Child
from faro_conformance.manifest import Suite
from faro_conformance.protocol import SuiteError
from faro_conformance.testees import find_testees

from .measure import Quick
from .run import QUICK, Run, digests

SEED = 20261121

_EPILOG = """\
Whatever is delivered without an error and is not what was written, and whatever committed regions a follower or a
repair loses without an error, has to have one of the reasons that spec/integrity.md gives; else the command fails.

exit codes: as of conformance/run; 1 also when its detection.json was measured on other files than are made now
"""


def main(arguments: Sequence[str], add_common: Callable[[argparse.ArgumentParser], None]) -> int:
    """Run the command; its exit code."""
    parser = argparse.ArgumentParser(
        prog="conformance/run detection",
        description="Damage files in every likely way, and see what readers say of it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_common(parser)
    parser.add_argument(
        "--quick", action="store_true", help="some damages of four small outputs, and whether --json is stale"
    )
    parser.add_argument("--places", type=int, metavar="N", help="draw so many places of each output, small ones too")
    parser.add_argument("--by", default="rust", help="the testee that all damages are put before; default rust")
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="where the figures are; written unless --quick, and with --places only when named",
    )
    options = parser.parse_args(arguments)
    seed = SEED if options.seed is None else options.seed
    suite = Suite(options.suite)
    figures = options.json or Path(__file__).parent / "detection.json"
    testees = sorted(
        find_testees(options.testee or ["all"], suite.testees, suite.repo), key=lambda it: it.name != options.by
    )
    others = ", ".join(testee.name for testee in testees[1:]) or "no other"
    print(f"detection: --seed {seed}, measured by {testees[0].name}, compared with {others}")
    with tempfile.TemporaryDirectory(prefix="faro-") as temporary:
        children = [Child(testee, Quick(suite.schema), options.timeout, Path(temporary)) for testee in testees]
        try:
            for child in children:
                child.start()
            run = Run(children, seed, options.quick, QUICK if options.quick else options.places)
            run.all()
        except CannotStartError as error:
            print(f"NOT STARTED {error}")
            return 3
        finally:
            for child in children:
                child.stop()
                child.kill()
    run.show()
    if options.quick:
        return 1 if run.failed() or stale(figures) else 0
    if not run.failed() and (options.places is None or options.json is not None):
        figures.write_text(run.text(), encoding="utf-8")
        print(f"wrote {figures}")
    return 1 if run.failed() else 0


def stale(figures: Path) -> bool:
    """Whether the committed figures are of other files."""
    try:
        measured = json.loads(figures.read_text(encoding="utf-8"))["outputs"]
    except (OSError, ValueError, KeyError) as error:
        raise SuiteError(f"{figures}: {error}") from error
    if measured == digests():
        return False
    print(f"{figures} is stale: run `make detection`")
    return True
