"""`conformance/run races`: on the command line."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from faro_conformance.child import CannotStartError, Child
from faro_conformance.manifest import Suite
from faro_conformance.protocol import Protocol, SuiteError
from faro_conformance.testees import find_testees
from races.draw import draw
from races.outputs import make_outputs
from races.run import Races

DEFAULT_ROUNDS = 1000
_SHOWN = 40

_EPILOG = """\
In each round two to four writers of different processes and languages create, overwrite, finish, follow or abort one
name at the same time, while others read it. In some rounds one writer is killed, and its files are recovered and
cleaned. After each round one complete output must be visible, and no other file may be left.

The seed repeats the rounds, but not how the processes interleave.

exit codes: as of conformance/run
"""


def main(arguments: Sequence[str], add_common: Callable[[argparse.ArgumentParser], None]) -> int:
    """Run the races; the exit code."""
    parser = argparse.ArgumentParser(
        prog="conformance/run races",
        description="Let writers and readers of all testees race for one name.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_common(parser)
    parser.add_argument("--rounds", type=int, default=DEFAULT_ROUNDS, metavar="N", help=f"default {DEFAULT_ROUNDS}")
    parser.add_argument(
        "--kills", type=float, default=0.02, metavar="SHARE", help="the share of rounds with a kill; default 0.02"
    )
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="processes of each testee; default 2")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the counts as JSON")
    options = parser.parse_args(arguments)
    if options.rounds < 1 or options.processes < 1 or not 0 <= options.kills <= 1:
        raise SuiteError("--rounds and --processes have to be above 0, and --kills from 0 to 1")
    seed = random.randrange(1 << 32) if options.seed is None else options.seed
    print(f"races: --rounds {options.rounds} --kills {options.kills:g} --seed {seed}", flush=True)
    suite = Suite(options.suite)
    protocol = Protocol(suite.schema)
    testees = find_testees(options.testee or ["all"], suite.testees, suite.repo)
    with tempfile.TemporaryDirectory(prefix="faro-races-") as temporary:
        folder = Path(temporary).resolve()
        children = [Child(t, protocol, options.timeout, folder) for _ in range(options.processes) for t in testees]
        if len(children) < 2:
            raise SuiteError("a race needs two processes: --processes 2")
        try:
            for child in children:
                child.start()
            races = Races(children, make_outputs(children[0], folder), folder)
            try:
                faults = _run(races, random.Random(seed), options.rounds, options.kills)
            finally:
                races.close()
        except CannotStartError as error:
            print(f"NOT STARTED {error}")
            return 3
        finally:
            for child in children:
                child.kill()
    for name, count in sorted(races.counts.items()):
        print(f"{name:<40} {count:>9,}")
    print(f"{options.rounds} rounds, {len(faults)} faults")
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        found = {"seed": seed, "rounds": options.rounds, "counts": dict(races.counts), "faults": faults}
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 1 if faults else 0


def _run(races: Races, rng: random.Random, rounds: int, kills: float) -> list[str]:
    found: list[str] = []
    watched = sys.stdout.isatty()
    begin = time.monotonic()
    for number in range(rounds):
        round_ = draw(rng, len(races.children), kills)
        faults = races.run(round_, rng)
        for fault in faults:
            found.append(f"round {number} ({round_}): {fault}")
            if len(found) <= _SHOWN:
                print(f"FAULT {found[-1]}", flush=True)
        if watched and number % 50 == 0:
            print(f"\r{number} of {rounds} rounds", end="", flush=True)
    if watched:
        print("\r", end="")
    print(f"{rounds / (time.monotonic() - begin):.0f} rounds a second")
    return found
