"""Every system call of `repair` fails once. When repair runs again, the result is that of an undisturbed one."""

from __future__ import annotations

import errno
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from faro_conformance.protocol import Outcome
from faults import scripts
from faults.control import ANY, HALF, Fault
from faults.crew import Crew, Member
from faults.findings import Findings
from faults.judge import left_in, read_files
from faults.reference import Reference, make_reference
from faults.scripts import output_names
from faults.writing import Trial

_HARMLESS = ("open", "read", "write", "sync", "cut")


@dataclass(frozen=True)
class Broken:
    """An output that is unfinished or lost its index, and the result of repairing it."""

    name: str
    mode: str
    files: dict[str, bytes]
    wanted: dict[str, bytes]


def broken_outputs(reference: Reference, crew: Crew) -> Iterator[Broken]:
    """Cut inside a message, inside a footer, and before the tail; and without an index."""
    script, log = reference.script, reference.log
    role = script.roles[-1]
    second = reference.message_ends[1]
    for name, size in (("in a message", second - 20), ("in a footer", second + 100), ("in a tail", len(log) - 3)):
        files = {**reference.files, role: log[: min(size, len(log) - 1)]}
        sizes = {r: len(raw) for r, raw in files.items()}
        yield Broken(name, "last-commit", files, reference.repaired(sizes))
    if script.paired:
        files = {"data": reference.files["data"][: reference.data_ends[1] + 30]}
        yield Broken("without index", "rebuild", files, _rebuilt(reference, files, crew))
        stale = {**files, "index": b"an index that was damaged"}
        yield Broken("with a bad index", "rebuild", stale, _rebuilt(reference, stale, crew))


def _rebuilt(reference: Reference, files: dict[str, bytes], crew: Crew) -> dict[str, bytes]:
    """The result of an undisturbed rebuild. The kills test that it is the same for all."""
    folder = crew.new_folder()
    names = _put(folder, reference, files)
    for member in crew:
        outcome = member.ask("repair", {**names, "mode": "rebuild"})
        if outcome.kind == "ok":
            return read_files(names)
    return {}


def _put(folder: Path, reference: Reference, files: dict[str, bytes]) -> dict[str, str]:
    names = output_names(str(folder), reference.script)
    for role, raw in files.items():
        Path(names[role]).write_bytes(raw)
    return names


def _trials(counts: dict[str, int]) -> Iterator[Trial]:
    for kind in ("open", "read", "write", "sync", "cut", "rename", "size", "seek"):
        for number in range(counts[kind]):
            needed = "either" if kind in ("size", "seek") else "io"
            yield Trial(Fault("errno", kind, number, error=errno.EIO), f"repair: {kind} EIO", needed)
            if kind in _HARMLESS:
                yield Trial(Fault("errno", kind, number, error=errno.EINTR), f"repair: {kind} EINTR", "same")
            if kind == "write":
                fault = Fault("short-then-errno", kind, number, error=errno.ENOSPC, amount=HALF)
                yield Trial(fault, "repair: write half, then ENOSPC", "io")
            if kind in ("read", "write"):
                for amount in (1, HALF):
                    yield Trial(Fault("short", kind, number, amount=amount), f"repair: {kind} short", "same")
    yield Trial(Fault("short", "write", 0, 1, amount=0), "repair: every write 0 bytes", "io")
    for number in range(counts[ANY]):
        yield Trial(Fault("kill-before", ANY, number), "repair: killed before a call", "killed")
    for number in range(counts["write"]):
        yield Trial(Fault("kill-short", "write", number, amount=HALF), "repair: killed in a write", "killed")


class MendingSweep:
    """The sweep of one testee."""

    def __init__(self, crew: Crew, member: Member, findings: Findings) -> None:
        self.crew = crew
        self.member = member
        self.findings = findings

    def run(self, rng: random.Random, share: float) -> None:
        """Sweep, with a random share of the trials."""
        for layout in ("paired", "single"):
            reference = make_reference(self.member, self.crew, scripts.small().variant(layout=layout))
            for broken in list(broken_outputs(reference, self.crew)):
                self._sweep(reference, broken, rng, share)

    def _sweep(self, reference: Reference, broken: Broken, rng: random.Random, share: float) -> None:
        names = _put(self.crew.new_folder(), reference, broken.files)
        outcome = self.member.ask("repair", {**names, "mode": broken.mode}, Fault())
        counts = self.member.control.counts
        what = f"{self.member.name} repairs {reference.script.name} {broken.name}"
        self._good(outcome, names, broken, what)
        for kind in ("open", "read", "write", "cut"):
            self.findings.expect(counts[kind] > 0, f"{what}: the shim saw no {kind}")
        for trial in _trials(counts):
            if rng.random() < share:
                self._try(reference, broken, trial, f"{what}: {trial.fault}")
                shutil.rmtree(self.crew.folder)
                self.crew.folder.mkdir()

    def _good(self, outcome: Outcome, names: dict[str, str], broken: Broken, what: str) -> None:
        self.findings.expect(outcome.kind == "ok", f"{what}: {outcome.detail}")
        same = read_files(names) == broken.wanted
        self.findings.expect(same, f"{what}: other bytes than expected")
        folder = Path(next(iter(names.values()))).parent
        strange = set(left_in(folder)) - {Path(name).name for name in names.values()}
        self.findings.expect(not strange, f"{what}: files are left: {strange}")

    def _try(self, reference: Reference, broken: Broken, trial: Trial, what: str) -> None:
        folder = self.crew.new_folder()
        names = _put(folder, reference, broken.files)
        outcome = self.member.ask("repair", {**names, "mode": broken.mode}, trial.fault)
        if not self.findings.expect(self.member.control.fired > 0, f"{what}: no call was struck"):
            return
        result = "killed, then repaired by all"
        if trial.outcome == "killed":
            self.findings.expect(
                outcome.kind == "crash" and "SIGKILL" in str(outcome.value), f"{what}: {outcome.detail}"
            )
        elif trial.outcome == "same" or (trial.outcome == "either" and outcome.kind == "ok"):
            self._good(outcome, names, broken, what)
            self.findings.count(self.member.name, trial.name, "as if nothing were")
            return
        else:
            right = outcome.kind == "error" and outcome.value["code"] == "io"
            self.findings.expect(right, f"{what}: {outcome.detail}")
            strange = set(left_in(folder)) - {Path(name).name for name in names.values()}
            self.findings.expect(not strange, f"{what}: files are left: {strange}")
            result = "io, then repaired by all"
        self._again(reference, broken, names, what)
        self.findings.count(self.member.name, trial.name, result)

    def _again(self, reference: Reference, broken: Broken, names: dict[str, str], what: str) -> None:
        """REP-10: every testee that repairs after an interrupted repair gets the same bytes."""
        left = Path(next(iter(names.values()))).parent
        for member in self.crew:
            folder = self.crew.new_folder()
            shutil.copytree(left, folder, dirs_exist_ok=True)
            copies = output_names(str(folder), reference.script)
            outcome = member.ask("repair", {**copies, "mode": broken.mode})
            self._good(outcome, copies, broken, f"{what}: then {member.name}")
