"""`fuzz/run`: the command line."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faro_conformance.child import CannotStartError, Child
from faro_conformance.manifest import Suite
from faro_conformance.protocol import Protocol, SuiteError
from faro_conformance.testees import find_testees

from differential.asking import Disagreement, Panel, Probe, run_script
from differential.findings import Findings, replay, stored
from differential.judge import show
from differential.mutate import mutate
from differential.plan import plan
from differential.scripts import random_script
from differential.seeds import Seeds, load

OK, FOUND, USAGE, NOT_STARTED = 0, 1, 2, 3
# A round: so many mutated outputs asked about at once, then so many scripts.
MUTANTS = 24
SCRIPTS = 4
_REPO = Path(__file__).resolve().parents[2]
_EPILOG = """\
exit codes: 0 all agreed; 1 something was found (or, with --replay, is still so); 2 wrong usage, or the suite is
damaged; 3 a testee could not be started
"""


@dataclass
class Totals:
    """What a run did."""

    begin: float = field(default_factory=time.monotonic)
    rounds: int = 0
    mutants: int = 0
    scripts: int = 0
    finished: int = 0
    found: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)

    def line(self, requests: int) -> str:
        """The progress line."""
        seconds = time.monotonic() - self.begin
        return (
            f"{seconds:.0f} s: {self.mutants} mutated outputs, {self.scripts} scripts ({self.finished} finished),"
            f" {requests} requests, {self.found} disagreements"
        )


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="fuzz/run",
        description="Ask all implementations about mutated files with right checksums, and let them write by random"
        " scripts: verdict, code, offset, content and bytes have to agree.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=1.0, metavar="N", help="how long; default 1")
    parser.add_argument("--rounds", type=int, metavar="N", help="end after so many rounds, if that is sooner")
    parser.add_argument("--seed", type=int, metavar="S", help="of everything that is drawn; printed")
    parser.add_argument(
        "--replay", type=Path, metavar="FOLDER", help="ask again what a finding, or a folder of them, asked"
    )
    parser.add_argument(
        "--findings", type=Path, default=_REPO / "out" / "fuzz", metavar="FOLDER", help="where to; default out/fuzz"
    )
    parser.add_argument(
        "--testee", action="append", default=[], metavar="all|NAME|FILE.toml|COMMAND", help="as of conformance/run"
    )
    parser.add_argument("--suite", type=Path, default=_REPO / "conformance", help="the folder conformance/")
    parser.add_argument("--timeout", type=float, default=30.0, metavar="SECONDS", help="for each answer; default 30")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run the command; its exit code."""
    options = build_parser().parse_args(arguments)
    try:
        return _main(options)
    except SuiteError as error:
        print(f"fuzz/run: {error}", file=sys.stderr)
        return USAGE


def _main(options: argparse.Namespace) -> int:
    if options.minutes <= 0 or options.timeout <= 0:
        raise SuiteError("--minutes and --timeout have to be above 0")
    suite = Suite(options.suite)
    protocol = Protocol(suite.schema)
    testees = find_testees(options.testee or ["all"], suite.testees, suite.repo)
    findings = list(stored(options.replay)) if options.replay is not None else []
    if len(testees) < 2:
        raise SuiteError("one testee alone agrees with itself: two at least")
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="faro-fuzz-", dir=memory if memory.is_dir() else None) as temporary:
        work = Path(temporary)
        panel = Panel([Child(testee, protocol, options.timeout, work) for testee in testees])
        try:
            for child in panel.children:
                child.start()
            if options.replay is not None:
                return _replay(findings, panel, work)
            return _fuzz(options, load(suite.folder), panel, work)
        except CannotStartError as error:
            print(f"NOT STARTED {error}")
            return NOT_STARTED
        finally:
            panel.close()


def _replay(findings: list[Path], panel: Panel, work: Path) -> int:
    still = 0
    for finding in findings:
        found = replay(finding, panel, work / "replay")
        still += bool(found)
        print(f"{finding.name}: {'still so' if found else 'all agree'}")
        _show(found)
    return FOUND if still else OK


def _fuzz(options: argparse.Namespace, seeds: Seeds, panel: Panel, work: Path) -> int:
    seed = random.randrange(1 << 32) if options.seed is None else options.seed
    names = ", ".join(child.testee.name for child in panel.children)
    print(f"{names}; {len(seeds.committed)} seeds; --seed {seed}", flush=True)
    totals = Totals()
    folder = options.findings / str(seed)
    findings = Findings(folder)
    end = totals.begin + 60 * options.minutes
    shown = totals.begin
    while time.monotonic() < end and (options.rounds is None or totals.rounds < options.rounds):
        # Each round draws from its own source, so that a run that is ended early or late draws the same.
        rng = random.Random(f"{seed}/{totals.rounds}")
        _scripts(seed, seeds, panel, work, findings, totals, rng)
        _mutants(seed, seeds, panel, work, findings, totals, rng)
        totals.rounds += 1
        if time.monotonic() - shown > 5:
            shown = time.monotonic()
            print(totals.line(panel.requests), flush=True)
    print(totals.line(panel.requests))
    print("check at level decode: " + ", ".join(f"{code} {number}" for code, number in totals.verdicts.most_common()))
    for child in panel.children:
        if child.restarts:
            print(f"{child.testee.name} was started anew {child.restarts} times")
    for text, number in findings.seen.most_common():
        print(f"{number} x {text}")
    if totals.found:
        print(f"kept in {folder}; again by: fuzz/run --replay {folder}")
    return FOUND if totals.found else OK


def _mutants(
    seed: int, seeds: Seeds, panel: Panel, work: Path, findings: Findings, totals: Totals, rng: random.Random
) -> None:
    probes: list[Probe] = []
    origins: list[dict[str, Any]] = []
    for number in range(MUTANTS):
        name, files = seeds.draw(rng)
        _, other = seeds.draw(rng)
        changed, done = mutate(files, other, rng)
        probes.append(Probe(changed, plan(changed, rng, f"follower-{number}"), work / str(number)))
        origins.append({"seed": seed, "round": totals.rounds, "number": number, "from": name, "changes": done})
    panel.run(probes)
    for probe, origin in zip(probes, origins, strict=True):
        found = probe.disagreements()
        totals.mutants += 1
        totals.found += len(found)
        decode = next(iter(probe.answers[2].values()))
        totals.verdicts[str(decode.value["code"]) if decode.kind == "error" else decode.kind] += 1
        if found and findings.add_probe(probe, found, origin):
            print(f"{origin['from']}: {'; '.join(origin['changes'])}")
            _show(found)


def _scripts(
    seed: int, seeds: Seeds, panel: Panel, work: Path, findings: Findings, totals: Totals, rng: random.Random
) -> None:
    for number in range(SCRIPTS):
        script = random_script(rng)
        written = run_script(script, panel, work / "script")
        totals.scripts += 1
        totals.finished += written.finished
        totals.found += len(written.disagreements)
        origin: dict[str, Any] = {"seed": seed, "round": totals.rounds, "number": number}
        if written.disagreements and findings.add_script(script, written, origin):
            print(f"script {number} of round {totals.rounds}")
            _show(written.disagreements)
        if written.finished and not written.disagreements:
            name = f"script {number} of round {totals.rounds}"
            seeds.written.append((name, next(iter(written.outputs.values()))))


def _show(found: list[Disagreement]) -> None:
    for item in found:
        print(f"  {item.what}: {item.why}")
        for name, said in item.answers.items():
            print(f"    {name}: {show(said)}")
