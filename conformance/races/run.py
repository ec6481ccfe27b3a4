"""The rounds: processes of all testees that use one name at the same time."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from faro_conformance.child import Child
from faro_conformance.protocol import Outcome
from races.draw import Round
from races.judge import leftovers, reader_fault, state, state_faults, succeeded, writer_faults
from races.outputs import Layout, Output, final_names

# A round takes milliseconds. A writer or reader that takes this long waits forever.
_PATIENCE = 30.0


class Races:
    """Rounds with some children."""

    def __init__(self, children: list[Child], outputs: dict[tuple[Layout, int], Output], folder: Path) -> None:
        self.children = children
        self.outputs = outputs
        self.folder = folder
        self.counts: Counter[str] = Counter()
        self._pool = ThreadPoolExecutor(len(children) + 1)

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def run(self, round_: Round, rng: random.Random) -> list[str]:
        """Run a round. Returns the violations."""
        folder = self.folder / "round"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if round_.older is not None:
            older = self.outputs[round_.layout, round_.older]
            for role, path in final_names(folder, round_.layout).items():
                Path(path).write_bytes(older.files[role])
        outcomes, seen = self._race(round_, folder)
        faults = [fault for outcome in seen if (fault := reader_fault(round_, self.outputs, outcome))]
        self.counts["reads: " + "of whole outputs"] += sum(outcome.kind == "ok" for outcome in seen)
        self.counts["reads: refused"] += sum(outcome.kind != "ok" for outcome in seen)
        if round_.kill is None:
            faults += self._judge_ended(round_, folder, outcomes)
        else:
            faults += self._judge_killed(round_, folder, outcomes, rng)
        return faults

    def _race(self, round_: Round, folder: Path) -> tuple[list[Outcome], list[Outcome]]:
        """The answers of the writers, and all answers of the readers."""
        names = final_names(folder, round_.layout)
        ended = threading.Event()
        start = threading.Barrier(len(round_.writers) + len(round_.readers) + (round_.kill is not None))

        def write(at: int) -> Outcome:
            writing = round_.writers[at]
            request = writing.request(str(folder / "out"), round_.layout)
            start.wait()
            return self.children[writing.child].ask("write", request, _PATIENCE)

        def read(child: int) -> list[Outcome]:
            seen = []
            start.wait()
            while not ended.is_set():
                seen.append(self.children[child].ask("read", {**names}, _PATIENCE))
            return seen

        def kill(at: int, seconds: float) -> None:
            pid = self.children[round_.writers[at].child].pid
            start.wait()
            time.sleep(seconds)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

        writes = [self._pool.submit(write, at) for at in range(len(round_.writers))]
        reads = [self._pool.submit(read, child) for child in round_.readers]
        if round_.kill is not None:
            self._pool.submit(kill, *round_.kill).result()
        try:
            outcomes = [write.result() for write in writes]
        finally:
            ended.set()
        return outcomes, [outcome for read_ in reads for outcome in read_.result()]

    def _judge_ended(self, round_: Round, folder: Path, outcomes: list[Outcome]) -> list[str]:
        faults: list[str] = []
        for writing, outcome in zip(round_.writers, outcomes, strict=True):
            self.counts["writers: " + ("succeeded" if succeeded(outcome) else f"{writing.ending}, not published")] += 1
            faults += writer_faults(writing, outcome)
        faults += state_faults(round_, outcomes, state(folder, round_.layout, self.outputs))
        if left := leftovers(folder, round_.layout):
            faults.append(f"left: {', '.join(left)}")
        return faults

    def _judge_killed(self, round_: Round, folder: Path, outcomes: list[Outcome], rng: random.Random) -> list[str]:
        """Judge the files of a killed writer: after recover and clean, only one complete output remains."""
        assert round_.kill is not None
        victim = round_.writers[round_.kill[0]]
        child = self.children[victim.child]
        # It may have answered before it was killed.
        child.start()
        faults: list[str] = []
        for writing, outcome in zip(round_.writers, outcomes, strict=True):
            if writing is not victim:
                faults += writer_faults(writing, outcome)
        found = state(folder, round_.layout, self.outputs)
        between = isinstance(found, str) and found != "nothing"
        self.counts["killed: between two names" if between else "killed: one whole output, or nothing"] += 1
        mender = rng.choice(self.children)
        request = {"path": str(folder / "out")}
        outcome = mender.ask("recover", request)
        if outcome.kind == "error" and outcome.value["code"] == "invalid-argument":
            output = self.outputs[round_.layout, victim.output]
            outcome = mender.ask("recover", {**request, "file_id": output.x})
        if outcome.kind == "ok":
            self.counts[f"recover: {outcome.value['action']}"] += 1
        elif outcome.kind == "error" and outcome.value["code"] == "io" and not self._remains(round_, folder):
            self.counts["recover: nothing there"] += 1
        else:
            faults.append(f"{mender.testee.name}: recover: {outcome.detail}")
        after = state(folder, round_.layout, self.outputs)
        if isinstance(after, str) and after != "nothing" and outcome.kind == "ok":
            faults += self._recovered(round_, folder, mender, after)
        sweeper = rng.choice(self.children)
        swept = sweeper.ask("clean", {"folder": str(folder), "older_than": 0})
        if swept.kind != "ok" or swept.value["kept"]:
            faults.append(f"{sweeper.testee.name}: clean: {swept.detail}")
        if left := leftovers(folder, round_.layout):
            faults.append(f"left by {sweeper.testee.name}'s clean: {', '.join(left)}")
        return faults

    def _remains(self, round_: Round, folder: Path) -> bool:
        return bool(leftovers(folder, round_.layout)) or state(folder, round_.layout, self.outputs) != "nothing"

    def _recovered(self, round_: Round, folder: Path, mender: Child, after: str) -> list[str]:
        """A recovered output may be incomplete, but every reader reads the same."""
        answers = [child.ask("read", {**final_names(folder, round_.layout)}) for child in self.children[:3]]
        if any(answer.kind != "ok" or answer.value != answers[0].value for answer in answers):
            return [f"after {mender.testee.name}'s recover visible is {after}: {[a.detail for a in answers]}"]
        return []
