"""`conformance/run faults`: on the command line."""

from __future__ import annotations

import argparse
import concurrent.futures
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from faro_conformance.child import CannotStartError
from faro_conformance.manifest import Suite
from faro_conformance.protocol import Protocol, SuiteError
from faro_conformance.testees import find_testees
from faults.crew import Crew, Member
from faults.findings import Findings
from faults.kills import Kills
from faults.limits import Limits
from faults.mending import MendingSweep
from faults.merging import MergingSweep
from faults.places import Places
from faults.reading import ReadingSweep
from faults.reference import NoReferenceError
from faults.writing import WritingSweep, variants

PARTS = ("kills", "writing", "merging", "repair", "limits", "reading", "places")
# The default share of the trials in a run of all parts: all of them take minutes.
DEFAULT_SHARE = 0.03
DEFAULT_KILLS = 15

_EPILOG = """\
Parts: kills (SIGKILL of a writer at random moments); writing, merging, repair, reading (each of their system calls
fails, and files shrink and change while they are read); limits (RLIMIT_FSIZE, a full tmpfs); places (something else in
place of a file).

exit codes: as of conformance/run
"""


def main(arguments: Sequence[str], add_common: Callable[[argparse.ArgumentParser], None]) -> int:
    """Run the faults; the exit code."""
    parser = argparse.ArgumentParser(
        prog="conformance/run faults",
        description="Make system calls of writers, readers and repairs fail, and judge the results.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_common(parser)
    parser.add_argument("part", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; default all")
    parser.add_argument(
        "--victim", action="append", metavar="NAME", help="the testees that get faults; all testees judge"
    )
    parser.add_argument("--share", type=float, default=DEFAULT_SHARE, help="the share of the trials; 1 is all")
    parser.add_argument("--kills", type=int, default=DEFAULT_KILLS, metavar="N", help="kills of each testee")
    parser.add_argument("--only", help="scripts with this in their name")
    parser.add_argument("--shim", type=Path, metavar="FILE", help="default out/faults/shim.so, which make builds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the counts as JSON")
    options = parser.parse_args(arguments)
    unknown = set(options.part) - set(PARTS)
    if unknown:
        raise SuiteError(f"no part {', '.join(sorted(unknown))}")
    seed = random.randrange(1 << 32) if options.seed is None else options.seed
    print(f"faults: --kills {options.kills} --share {options.share:g} --seed {seed}", flush=True)
    suite = Suite(options.suite)
    protocol = Protocol(suite.schema)
    testees = find_testees(options.testee or ["all"], suite.testees, suite.repo)
    shim = options.shim or suite.repo / "out" / "faults" / "shim.so"
    if not shim.exists():
        raise SuiteError(f"{shim} is missing: `make out/faults/shim.so` makes it")
    findings = Findings()

    def one(name: str) -> None:
        """All parts for one victim, with a separate crew to judge."""
        rng = random.Random(f"{seed} {name}")
        with (
            tempfile.TemporaryDirectory(prefix="faro-faults-") as temporary,
            Crew(testees, protocol, shim, Path(temporary).resolve(), options.timeout) as crew,
        ):
            member = next(member for member in crew if member.name == name)
            for part in options.part or PARTS:
                begin = time.monotonic()
                _run(part, crew, member, findings, rng, options)
                print(f"{name}: {part} in {time.monotonic() - begin:.1f} s", flush=True)

    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            victims = [testee.name for testee in testees if options.victim is None or testee.name in options.victim]
            for result in [pool.submit(one, name) for name in victims]:
                result.result()
    except CannotStartError as error:
        print(f"NOT STARTED {error}")
        return 3
    except NoReferenceError as error:
        findings.fault(str(error))
    finally:
        # The counts so far are kept, whatever ended the run.
        findings.show()
        if options.json is not None:
            findings.save(options.json, seed=seed, share=options.share)
    return 1 if findings.faults else 0


def _run(
    part: str, crew: Crew, member: Member, findings: Findings, rng: random.Random, options: argparse.Namespace
) -> None:
    if part == "kills":
        Kills(crew, member, findings).run(options.kills, rng)
    if part == "merging":
        MergingSweep(crew, member, findings).run(rng, options.share)
    if part == "limits":
        Limits(crew, member, findings).run(rng, options.share)
    if part == "reading":
        ReadingSweep(crew, member, findings).run(rng, options.share)
    if part == "places" and member is crew.members[0]:
        # All testees at once.
        Places(crew, findings).run()
    if part == "repair":
        MendingSweep(crew, member, findings).run(rng, options.share)
    if part == "writing":
        chosen = [script for script in variants() if options.only is None or options.only in script.name]
        WritingSweep(crew, member, findings).run(chosen, rng, options.share, with_kills=True)
