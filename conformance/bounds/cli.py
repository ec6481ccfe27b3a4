"""`conformance/run bounds`: hostile files under limits."""

from __future__ import annotations

import argparse
import concurrent.futures
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from faro_conformance.child import CannotStartError
from faro_conformance.manifest import Suite
from faro_conformance.protocol import Protocol, SuiteError, normalise
from faro_conformance.testees import Testee, find_testees

from . import bombs, claims, dictionaries, lengths, messages  # noqa: F401 (they register their kinds)
from .kind import KINDS, Kind, Made
from .lengths import regions
from .measure import Asked, Bounded, allowance, requests

# For an output k times as large, an operation may take k times this factor of processor time, plus this for noise.
SLACK = 2.0
NOISE = 0.5

_EPILOG = """\
Every file has right checksums. No testee may crash, run out of the address space that the limits allow, or take longer
than --timeout; all must give the same answer, with the expected code; and where a kind has two sizes, processor
time must not grow faster than the size.

exit codes: as of conformance/run
"""


class Report:
    """What was found."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.asked = 0

    def fault(self, text: str) -> None:
        """Record and show a fault."""
        self.faults.append(text)
        print(f"    FAULT {text}", flush=True)


def main(arguments: Sequence[str], add_common: Callable[[argparse.ArgumentParser], None]) -> int:
    """Run the command; its exit code."""
    parser = argparse.ArgumentParser(
        prog="conformance/run bounds",
        description="Ask every testee about hostile files, under an address-space limit.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_common(parser)
    parser.add_argument(
        "--all", action="store_true", help="both sizes of each kind, and their ratio; default: the small one"
    )
    parser.add_argument("-k", dest="word", default="", help="only kinds with this in the name")
    parser.add_argument("--list", action="store_true", help="list the kinds, run nothing")
    parser.add_argument("--times", action="store_true", help="show the slowest requests")
    options = parser.parse_args(arguments)
    kinds = [kind for kind in KINDS if options.word in kind.name]
    if not kinds:
        raise SuiteError(f"no kind has {options.word!r} in its name")
    if options.list:
        for kind in kinds:
            print(f"{kind.name}  {kind.title}")
        return 0
    suite = Suite(options.suite)
    protocol = Protocol(suite.schema)
    testees = find_testees(options.testee or ["all"], suite.testees, suite.repo)
    report = Report()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="faro-bounds-") as temporary:
        folder = Path(temporary)
        try:
            for kind in kinds:
                _run_kind(kind, testees, protocol, folder, options, report)
        except CannotStartError as error:
            print(f"NOT STARTED {error}")
            return 3
    seconds = time.monotonic() - begin
    print(f"{len(kinds)} kinds, {report.asked} requests in {seconds:.1f} s, {len(report.faults)} faults")
    return 1 if report.faults else 0


def _run_kind(
    kind: Kind, testees: list[Testee], protocol: Protocol, folder: Path, options: argparse.Namespace, report: Report
) -> None:
    print(f"{kind.name}: {kind.title}", flush=True)
    sizes = [kind.small, kind.large] if options.all and kind.large != kind.small else [kind.small]
    took: list[dict[tuple[str, str], float]] = []
    for size in sizes:
        place = folder / kind.name / str(size)
        place.mkdir(parents=True)
        made = kind.make(place, size)
        answers = _ask_testees(testees, made, protocol, place, options.timeout, report)
        _compare(kind, size, made, answers, report)
        took.append(
            {
                (name, asked): seconds
                for name, all_asked in answers.items()
                for asked, seconds in _sums(all_asked).items()
            }
        )
        for path in made.files.values():
            path.unlink()
    if options.times:
        for (name, asked), seconds in sorted(took[-1].items(), key=lambda item: -item[1])[:3]:
            print(f"    {seconds:6.2f} s  {name}  {asked}")
    if len(took) == 2:
        for key, seconds in took[1].items():
            allowed = SLACK * kind.factor * took[0].get(key, 0.0) + NOISE
            if seconds > allowed:
                before = took[0].get(key, 0.0)
                report.fault(f"{': '.join(key)}: {before:.2f} s for {kind.small}, {seconds:.2f} s for {kind.large}")


def _sums(asked: list[Asked]) -> dict[str, float]:
    sums: dict[str, float] = defaultdict(float)
    for one in asked:
        sums[one.name] += one.seconds
    return sums


def _ask_testees(
    testees: list[Testee], made: Made, protocol: Protocol, folder: Path, timeout: float, report: Report
) -> dict[str, list[Asked]]:
    """The answers of each testee. Processor time is measured for each process, so they may run at the same time."""
    # Files that grow are made for each testee.
    with concurrent.futures.ThreadPoolExecutor(1 if made.grow else len(testees)) as executor:
        asked = executor.map(lambda one: _ask_all(one, made, protocol, folder, timeout, report), testees)
        return {testee.name: answers for testee, answers in zip(testees, asked, strict=True)}


def _ask_all(
    testee: Testee, made: Made, protocol: Protocol, folder: Path, timeout: float, report: Report
) -> list[Asked]:
    bounded = Bounded(testee, protocol, folder, allowance(made.limits), timeout)
    asked: list[Asked] = []
    try:
        bounded.start(_warm(folder, testee.name))
        for name, op, fields in requests(made, folder, testee.name):
            asked.append(bounded.ask(name, op, fields))
            report.asked += 1
            if not bounded.alive:
                report.fault(f"{testee.name}: {name}: {asked[-1].outcome.detail}")
                break
    finally:
        bounded.close()
    return asked


def _warm(folder: Path, name: str) -> list[tuple[str, dict[str, object]]]:
    """Requests on a good file, by which a testee loads what it needs."""
    out = regions(3)
    out.finish()
    place = folder / f"warm-{name}"
    place.mkdir(exist_ok=True)
    files: dict[str, object] = {role: str(path) for role, path in out.save(place).items()}
    return [
        ("check", {**files, "level": "decode"}),
        ("read", files),
        ("read", {**files, "range": [0, 4]}),
        ("follow", {"action": "open", "handle": "w", **files}),
        ("follow", {"action": "poll", "handle": "w"}),
        ("follow", {"action": "close", "handle": "w"}),
        ("repair", {**files, "mode": "rebuild", "dry_run": True}),
    ]


def _compare(kind: Kind, size: int, made: Made, answers: dict[str, list[Asked]], report: Report) -> None:
    """All must give the same answers, and `check` the expected one."""
    said: dict[tuple[int, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for testee, all_asked in answers.items():
        for number, asked in enumerate(all_asked):
            said[number, asked.name][normalise({asked.outcome.kind: asked.outcome.value})].append(testee)
            if asked.name == "check decode":
                outcome = asked.outcome
                found = outcome.value["code"] if outcome.kind == "error" else outcome.kind
                if found != made.check:
                    report.fault(f"{testee}: {asked.name} of {size}: {outcome.detail[:300]}, not {made.check}")
    for (_, name), groups in said.items():
        if len(groups) > 1:
            report.fault(f"{name} of {size}: " + "; ".join(f"{' and '.join(t)} {a[:200]}" for a, t in groups.items()))
