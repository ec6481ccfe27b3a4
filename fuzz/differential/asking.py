"""Sends files and scripts to all testees and collects their answers."""

from __future__ import annotations

import concurrent.futures
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faro_conformance.child import Child
from faro_conformance.protocol import Outcome

from differential.blocks import Files
from differential.judge import Payloads, differ, disagreement, signature
from differential.plan import Step

NAME = "x"
_SUFFIX = {"data": ".data", "index": ".index", "single": ".faro"}
# Fields that differ from request to request and are ignored in comparisons.
_DRAWN = ("partitions=", "range=", "limits=")
_ROLE = {suffix: role for role, suffix in _SUFFIX.items()}


@dataclass(frozen=True)
class Disagreement:
    """A request that testees answered differently, or that one of them did not answer."""

    what: str
    why: str
    answers: dict[str, Outcome]

    @property
    def signature(self) -> str:
        """Equal for disagreements that are probably the same."""
        words = [word for word in re.split(r" (?=[a-z_]+=)", self.what) if not word.startswith(_DRAWN)]
        return signature(" ".join(words), self.answers)


@dataclass
class Probe:
    """Files, and the requests about them.

    `mend`: the fields of a repair that writes, on a copy for each testee; `lost`: the index file is removed first.
    """

    files: Files
    steps: list[Step]
    folder: Path
    mend: dict[str, Any] | None = None
    lost: bool = False
    answers: list[dict[str, Outcome]] = field(default_factory=list)
    mended: list[Disagreement] = field(default_factory=list)
    let_pass: int = 0

    def disagreements(self) -> list[Disagreement]:
        """The disagreements."""
        payloads = Payloads(self.files)
        found = []
        following: set[str] = set()
        limits: dict[str, int] = {}
        for step, answers in zip(self.steps, self.answers, strict=True):
            if step.op == "follow" and step.fields["action"] != "open" and step.fields["handle"] not in following:
                # Nothing was opened. The protocol does not define the answers for such a handle.
                continue
            if step.op != "follow" or step.fields["action"] == "open":
                limits = step.fields.get("limits", {})
            if step.fields.get("action") == "open" and any(outcome.kind == "ok" for outcome in answers.values()):
                following.add(step.fields["handle"])
            why = disagreement(answers, payloads.spared(limits))
            if why is not None:
                found.append(Disagreement(str(step), why, answers))
            else:
                self.let_pass += differ(answers)
        return found + self.mended


class Panel:
    """The testees. Each is served by its own thread."""

    def __init__(self, children: Sequence[Child]) -> None:
        self.children = list(children)
        self.requests = 0
        self._executor = concurrent.futures.ThreadPoolExecutor(len(self.children))

    def close(self) -> None:
        """Stop the testees."""
        self._executor.shutdown()
        for child in self.children:
            child.stop()
            child.kill()

    def ask(self, requests: Sequence[tuple[str, dict[str, Any]]]) -> list[dict[str, Outcome]]:
        """The answers to each request, by testee."""
        return self.ask_each({child.testee.name: requests for child in self.children})

    def ask_each(self, requests: dict[str, Sequence[tuple[str, dict[str, Any]]]]) -> list[dict[str, Outcome]]:
        """As `ask`, for requests that differ from testee to testee."""

        def one(child: Child) -> list[Outcome]:
            return child.ask_all(requests[child.testee.name])

        said = list(self._executor.map(one, self.children))
        self.requests += sum(len(outcomes) for outcomes in said)
        names = [child.testee.name for child in self.children]
        return [dict(zip(names, row, strict=True)) for row in zip(*said, strict=True)]

    def run(self, probes: Sequence[Probe]) -> None:
        """Send all requests of all probes: first those for complete files, together, then those for growing files."""
        together: list[tuple[Probe, Step]] = []
        for probe in probes:
            put_files(probe.files, probe.folder)
            together += [(probe, step) for step in probe.steps[: _growing_from(probe)]]
        rows = self.ask([request(step, probe) for probe, step in together])
        for (probe, _), row in zip(together, rows, strict=True):
            probe.answers.append(row)
        for probe in probes:
            self._run_growing(probe, probe.steps[_growing_from(probe) :])

    def _run_growing(self, probe: Probe, steps: list[Step]) -> None:
        begin = 0
        while begin < len(steps):
            sizes = steps[begin].sizes
            if sizes is not None:
                grow_files(probe.files, sizes, probe.folder)
            end = begin + 1
            while end < len(steps) and steps[end].sizes is None:
                end += 1
            probe.answers += self.ask([request(step, probe) for step in steps[begin:end]])
            begin = end


def _growing_from(probe: Probe) -> int:
    sized = [index for index, step in enumerate(probe.steps) if step.sizes is not None]
    return sized[0] if sized else len(probe.steps)


def request(step: Step, probe: Probe) -> tuple[str, dict[str, Any]]:
    """The step as a request of the protocol."""
    paths = {role: str(place(role, probe.folder)) for role in probe.files} if step.wants_files else {}
    return step.op, {**paths, **step.fields}


def place(role: str, folder: Path) -> Path:
    """The path of the file of a role."""
    return folder / f"{NAME}{_SUFFIX[role]}"


def put_files(files: Files, folder: Path) -> None:
    """Write the files into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for role, data in files.items():
        place(role, folder).write_bytes(data)


def grow_files(files: Files, sizes: dict[str, int], folder: Path) -> None:
    """Set the files to the given sizes in place, so that a process that has them open sees them grow."""
    for role, size in sizes.items():
        path = place(role, folder)
        have = path.stat().st_size
        with open(path, "r+b", buffering=0) as file:
            if have > size:
                file.truncate(size)
            else:
                file.seek(have)
                file.write(files[role][have:size])


def take_files(folder: Path) -> Files:
    """The files that a writer left, by role; others by name."""
    return {_ROLE.get(path.suffix, path.name): path.read_bytes() for path in sorted(folder.iterdir())}
