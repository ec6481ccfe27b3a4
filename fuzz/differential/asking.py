"""Puts files and scripts before all testees and gathers what they say."""

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
# What differs from request to request without making it another one.
_DRAWN = ("partitions=", "range=", "limits=")
_ROLE = {suffix: role for role, suffix in _SUFFIX.items()}


@dataclass(frozen=True)
class Disagreement:
    """One request that testees answered differently, or one of them not at all."""

    what: str
    why: str
    answers: dict[str, Outcome]

    @property
    def signature(self) -> str:
        """Equal for what is probably the same."""
        words = [word for word in re.split(r" (?=[a-z_]+=)", self.what) if not word.startswith(_DRAWN)]
        return signature(" ".join(words), self.answers)


@dataclass
class Probe:
    """Files, and what is asked about them.

    `mend`: what a repair that writes is asked for, on a copy for each testee; `lost`: without the index file.
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
        """Where the answers do not agree."""
        payloads = Payloads(self.files)
        found = []
        following: set[str] = set()
        limits: dict[str, int] = {}
        for step, answers in zip(self.steps, self.answers, strict=True):
            if step.op == "follow" and step.fields["action"] != "open" and step.fields["handle"] not in following:
                # Nothing was opened: what is said of a handle that is none, the protocol leaves open.
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
    """The testees, each asked in a thread of its own."""

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
        """The answers to each request by testee."""
        return self.ask_each({child.testee.name: requests for child in self.children})

    def ask_each(self, requests: dict[str, Sequence[tuple[str, dict[str, Any]]]]) -> list[dict[str, Outcome]]:
        """As `ask`, of requests that differ from testee to testee."""

        def one(child: Child) -> list[Outcome]:
            return child.ask_all(requests[child.testee.name])

        said = list(self._executor.map(one, self.children))
        self.requests += sum(len(outcomes) for outcomes in said)
        names = [child.testee.name for child in self.children]
        return [dict(zip(names, row, strict=True)) for row in zip(*said, strict=True)]

    def run(self, probes: Sequence[Probe]) -> None:
        """Ask everything of all probes: together what needs whole files, then what has files that grow."""
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
    """The step as the protocol has it."""
    paths = {role: str(place(role, probe.folder)) for role in probe.files} if step.wants_files else {}
    return step.op, {**paths, **step.fields}


def place(role: str, folder: Path) -> Path:
    """Where the file of a role stands."""
    return folder / f"{NAME}{_SUFFIX[role]}"


def put_files(files: Files, folder: Path) -> None:
    """Write the files into a folder that has no others."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for role, data in files.items():
        place(role, folder).write_bytes(data)


def grow_files(files: Files, sizes: dict[str, int], folder: Path) -> None:
    """Make the files as long as `sizes` say, in place, so that who has them open sees them grow."""
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
