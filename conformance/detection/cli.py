"""`conformance/run detection`: measures which damage is detected."""

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
If wrong content is delivered without an error, or a follower or a repair loses committed regions without an error,
there must be one of the reasons that spec/integrity.md gives; else the command fails.

exit codes: as of conformance/run; 1 also if detection.json was measured on other files than those made now
"""


def main(arguments: Sequence[str], add_common: Callable[[argparse.ArgumentParser], None]) -> int:
    """Run the command; its exit code."""
    parser = argparse.ArgumentParser(
        prog="conformance/run detection",
        description="Damage files in every likely way, and record what readers answer.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_common(parser)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="make some damages of four small outputs, and check whether --json is stale",
    )
    parser.add_argument(
        "--places", type=int, metavar="N", help="draw this number of places in each output, also in small ones"
    )
    parser.add_argument("--by", default="rust", help="the testee that gets all damages; default rust")
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="the file of the figures; not written with --quick; with --places only if it is named",
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
    """Whether the committed figures were measured on other files."""
    try:
        measured = json.loads(figures.read_text(encoding="utf-8"))["outputs"]
    except (OSError, ValueError, KeyError) as error:
        raise SuiteError(f"{figures}: {error}") from error
    if measured == digests():
        return False
    print(f"{figures} is stale: run `make detection`")
    return True
