"""`fuzz/run`: the command line."""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from faro_conformance.child import CannotStartError, Child
from faro_conformance.manifest import Suite
from faro_conformance.protocol import Protocol, SuiteError
from faro_conformance.testees import find_testees

from differential.asking import Panel
from differential.corpus import ask_entries, entries, in_turn, probe_of
from differential.findings import Findings, replay, stored
from differential.seeds import load
from differential.stream import Stream, Totals, show_all
from pack import name_of

# How many inputs of a corpus are sent at once.
_TOGETHER = 32
OK, FOUND, USAGE, NOT_STARTED = 0, 1, 2, 3
_REPO = Path(__file__).resolve().parents[2]
_EPILOG = """\
exit codes: 0 all agreed; 1 something was found (or, with --replay, is still so); 2 wrong usage, or the suite is
damaged; 3 a testee could not be started
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="fuzz/run",
        description="Compare all implementations on mutated files with correct checksums, and on random scripts of"
        " writer calls: verdict, code, offset, content and bytes must agree.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--minutes", type=float, metavar="N", help="how long; default 1, or nothing with --replay or --corpus"
    )
    parser.add_argument("--rounds", type=int, metavar="N", help="end after this many rounds, if that is sooner")
    parser.add_argument("--seed", type=int, metavar="S", help="the seed of everything random; printed")
    parser.add_argument(
        "--replay", type=Path, metavar="FOLDER", help="repeat the requests of a finding, or of a folder of them"
    )
    parser.add_argument("--corpus", type=Path, metavar="FOLDER", help="use each input in the packs of a folder once")
    parser.add_argument("--corpus-minutes", type=float, default=60.0, metavar="N", help="at most this long; default 60")
    parser.add_argument("--report", type=Path, metavar="FILE", help="append a line of JSON with the counts of the run")
    parser.add_argument(
        "--minimise", type=float, default=20.0, metavar="SECONDS", help="at most, for each finding; default 20"
    )
    parser.add_argument("--first", action="store_true", help="end after the round in which something was found")
    parser.add_argument(
        "--findings",
        type=Path,
        default=_REPO / "out" / "fuzz",
        metavar="FOLDER",
        help="default out/fuzz",
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
    if (options.minutes is not None and options.minutes <= 0) or options.corpus_minutes <= 0 or options.timeout <= 0:
        raise SuiteError("--minutes, --corpus-minutes and --timeout have to be above 0")
    suite = Suite(options.suite)
    protocol = Protocol(suite.schema)
    testees = find_testees(options.testee or ["all"], suite.testees, suite.repo)
    findings = list(stored(options.replay)) if options.replay is not None else []
    if len(testees) < 2:
        raise SuiteError("one testee alone always agrees with itself: at least two are needed")
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="faro-differential-", dir=memory if memory.is_dir() else None) as temporary:
        work = Path(temporary)
        panel = Panel([Child(testee, protocol, options.timeout, work) for testee in testees])
        try:
            for child in panel.children:
                child.start()
            return _run(options, findings, panel, work)
        except CannotStartError as error:
            print(f"NOT STARTED {error}")
            return NOT_STARTED
        finally:
            panel.close()


def _run(options: argparse.Namespace, findings: list[Path], panel: Panel, work: Path) -> int:
    """Run everything that the options name, in one run, so that the testees start once."""
    seed = random.randrange(1 << 32) if options.seed is None else options.seed
    bad = False
    if options.replay is not None:
        bad |= _replay(findings, panel, work)
    if options.corpus is not None:
        bad |= _corpus(options, seed, panel, work)
    if (options.replay is None and options.corpus is None) or options.minutes is not None:
        bad |= _fuzz(options, seed, panel, work)
    return FOUND if bad else OK


def _replay(findings: list[Path], panel: Panel, work: Path) -> bool:
    still = 0
    for finding in findings:
        found = replay(finding, panel, work / "replay")
        still += bool(found)
        print(f"{finding.name}: {'still so' if found else 'all agree'}")
        show_all(found)
    return bool(still)


def _corpus(options: argparse.Namespace, seed: int, panel: Panel, work: Path) -> bool:
    """The inputs of a corpus, as many as there is time for."""
    known = entries(options.corpus)
    findings = Findings(options.findings / f"corpus-{seed}")
    begin, done, bad = time.monotonic(), 0, 0
    waiting = list(in_turn(known, seed))
    while waiting and time.monotonic() - begin <= 60 * options.corpus_minutes:
        batch, waiting = waiting[:_TOGETHER], waiting[_TOGETHER:]
        done += len(batch)
        for (target, data), found in zip(batch, ask_entries(batch, panel, work / "corpus"), strict=True):
            if not found:
                continue
            bad += 1
            name = f"{target}/{name_of(data)}"
            print(name)
            show_all(found)
            probe = probe_of(target, data, work / "corpus") if target != "script" else None
            if probe is not None and findings.fresh(found):
                print(f"  kept: {findings.add_probe(probe, found, {'from': name})}")
    print(f"corpus: {done} of {len(known)} inputs in {time.monotonic() - begin:.0f} s, {bad} with disagreements")
    return bool(bad)


def _fuzz(options: argparse.Namespace, seed: int, panel: Panel, work: Path) -> bool:
    seeds = load(options.suite)
    names = ", ".join(child.testee.name for child in panel.children)
    print(f"{names}; {len(seeds.committed)} seeds; --seed {seed}", flush=True)
    folder = options.findings / str(seed)
    findings = Findings(folder)
    stream = Stream(seed, seeds, panel, work, findings, options.minimise)
    stream.run(1.0 if options.minutes is None else options.minutes, options.rounds, options.first)
    totals = stream.totals
    print(totals.line(panel.requests))
    print("check at level decode: " + ", ".join(f"{code} {number}" for code, number in totals.verdicts.most_common()))
    print(f"accepted because of COD: {totals.let_pass} answers")
    for child in panel.children:
        if child.restarts:
            print(f"{child.testee.name} was restarted {child.restarts} times")
    for text, number in findings.seen.most_common():
        print(f"{number} x {text}")
    if totals.found:
        print(f"kept in {folder}; again by: fuzz/run --replay {folder}")
    panel.close()
    _report(options, seed, totals, panel)
    return bool(totals.found)


def _report(options: argparse.Namespace, seed: int, totals: Totals, panel: Panel) -> None:
    """Report what the run did, and its CPU time, which is known for the testees after they ended."""
    own, theirs = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    cpu = [own.ru_utime + own.ru_stime, theirs.ru_utime + theirs.ru_stime]
    print(f"CPU: {cpu[0]:.0f} s here, {cpu[1]:.0f} s in the testees")
    if options.report is None:
        return
    line = {
        "seed": seed, "minutes": round(totals.seconds / 60, 2), "rounds": totals.rounds, "outputs": totals.mutants,
        "repaired": totals.mended, "scripts": totals.scripts, "finished": totals.finished, "merges": totals.merges,
        "requests": panel.requests, "disagreements": totals.found, "let_pass": totals.let_pass,
        "cpu_seconds": round(sum(cpu)),
    }  # fmt: skip
    with open(options.report, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
