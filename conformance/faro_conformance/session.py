"""One run: children of all testees, cases spread over worker threads, then the writer x reader matrix."""

from __future__ import annotations

import concurrent.futures
import queue
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from faro_conformance import expected, pairs
from faro_conformance.child import CannotStartError, Child
from faro_conformance.execute import run_case
from faro_conformance.handshake import check_handshake
from faro_conformance.manifest import Case
from faro_conformance.protocol import Json, Protocol
from faro_conformance.results import Result, Run
from faro_conformance.testees import Testee


@dataclass(frozen=True)
class Settings:
    """How to run."""

    jobs: int = 1
    timeout: float = 30.0
    pairs: bool = True


class Pool:
    """Children of one testee. Each is given to one worker at a time."""

    def __init__(self, testee: Testee, protocol: Protocol, settings: Settings, folder: Path) -> None:
        self.testee = testee
        self._protocol = protocol
        self._settings = settings
        self._folder = folder
        self._idle: queue.LifoQueue[Child] = queue.LifoQueue()
        self._all: list[Child] = []
        self.hello: dict[str, Json] = {}

    def start(self) -> None:
        """Start the first child, so that a testee that cannot start is noticed at once."""
        with self.child() as child:
            self.hello = child.hello

    @contextmanager
    def child(self) -> Iterator[Child]:
        """A child for this thread alone."""
        try:
            child = self._idle.get_nowait()
        except queue.Empty:
            child = Child(self.testee, self._protocol, self._settings.timeout, self._folder)
            self._all.append(child)
            if self.hello:
                # It starts at its first request. If it cannot, that is a crash of the case and not of the run.
                child.hello = self.hello
            else:
                child.start()
        try:
            yield child
        finally:
            self._idle.put(child)

    def close(self) -> None:
        """Stop all children."""
        for child in self._all:
            child.stop()
            child.kill()


def start_pools(
    testees: list[Testee], protocol: Protocol, settings: Settings, folder: Path, run: Run
) -> dict[str, Pool]:
    """The pools of the testees that start; those that do not are recorded in the run."""
    pools = {testee.name: Pool(testee, protocol, settings, folder) for testee in testees}

    def start(pool: Pool) -> str | None:
        try:
            pool.start()
        except CannotStartError as error:
            return str(error)
        return None

    with concurrent.futures.ThreadPoolExecutor(len(pools)) as executor:
        for name, fault in zip(list(pools), executor.map(start, list(pools.values())), strict=True):
            if fault is not None:
                run.not_started[name] = fault
                pools.pop(name)
            else:
                run.testees[name] = dict(pools[name].hello)
    return pools


def run_cases(
    cases: list[Case],
    testees: list[Testee],
    protocol: Protocol,
    settings: Settings,
    all_ids: set[str],
    progress: Callable[[Result], None],
) -> Run:
    """Run the cases with each testee. `all_ids` includes the cases that were not selected."""
    run = Run()
    entries = {testee.name: expected.load(testee.expected_failures) for testee in testees}
    for name, known in entries.items():
        run.errors += [
            f"{name}: expected failure {case} matches no case" for case in expected.unmatched(known, all_ids)
        ]

    def note(result: Result) -> None:
        result = expected.apply(result, entries[result.testee])
        run.results.append(result)
        progress(result)

    with tempfile.TemporaryDirectory(prefix="faro-") as temporary:
        folder = Path(temporary)
        pools = start_pools(testees, protocol, settings, folder, run)

        def one(case: Case, pool: Pool) -> Result:
            with pool.child() as child:
                return run_case(case, child, folder / pool.testee.name / case.id)

        try:
            for pool in pools.values():
                for result in check_handshake(pool.testee, protocol, settings.timeout, folder):
                    note(result)
            with concurrent.futures.ThreadPoolExecutor(settings.jobs) as executor:
                started = [executor.submit(one, case, pool) for case in cases for pool in pools.values()]
                for future in started:
                    note(future.result())
                if settings.pairs:
                    written = [case for case in cases if case.op == "write"]
                    for results in executor.map(lambda case: pairs.run_pairs(case, pools, folder), written):
                        for result in results:
                            note(result)
        finally:
            for pool in pools.values():
                pool.close()
    return run
