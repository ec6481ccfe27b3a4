"""Every system call of a writer fails once, in every way that it can."""

from __future__ import annotations

import errno
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from faro_conformance.protocol import Outcome
from faults import scripts
from faults.aftermath import Files, Scene, judge_ended, place_old, states
from faults.control import ANY, HALF, Fault
from faults.crew import Crew, Json, Member
from faults.findings import Findings
from faults.judge import Judge, left_in
from faults.reference import Reference, make_reference, written
from faults.scripts import OLD_FILE_ID, Script

# The writer repeats or continues such a call: no error, and the same bytes.
_HARMLESS_KINDS = ("open", "write", "sync", "cut")
_CODES = {errno.EIO: "EIO", errno.ENOSPC: "ENOSPC", errno.EINTR: "EINTR"}


@dataclass(frozen=True)
class Trial:
    """A fault, and the expected outcome."""

    fault: Fault
    name: str
    # `same`: no error and the same bytes; `io`: the call fails; `either`: one of them, by implementation.
    outcome: str


def variants() -> list[Script]:
    """The scripts that are swept."""
    small = scripts.small()
    found = [
        small.variant(layout=layout, follow=follow, durability=durability)
        for layout in ("paired", "single")
        for follow in (False, True)
        for durability in ("none", "commit")
    ]
    found += [small.variant(layout=layout, overwrite=True) for layout in ("paired", "single")]
    found += [small.variant(layout="paired", overwrite=True, follow=True, durability="commit")]
    found += [scripts.arrow().variant(layout="single", follow=True), scripts.arrow().variant(durability="commit")]
    found += [scripts.large().variant(layout=layout) for layout in ("paired", "single")]
    return found


def trials(counts: dict[str, int], script: Script) -> Iterator[Trial]:
    """All trials for a run with this many calls of each kind."""
    # Such a script begins with unlinking. If that were refused, nothing else would run.
    replaces = script.followed and script.options.get("overwrite", False)
    for kind in ("open", "write", "sync", "cut", "rename", "link", "unlink", "size", "seek"):
        needed = "either" if kind in ("size", "seek") else "io"
        for number in range(counts[kind]):
            yield Trial(Fault("errno", kind, number, error=errno.EIO), f"{kind} EIO", needed)
            if kind in ("write", "open"):
                yield Trial(Fault("errno", kind, number, error=errno.ENOSPC), f"{kind} ENOSPC", "io")
            if kind in _HARMLESS_KINDS:
                yield Trial(Fault("errno", kind, number, error=errno.EINTR), f"{kind} EINTR", "same")
            if kind in ("write", "sync", "rename", "link") and not replaces:
                fault = Fault("errno", kind, number, error=errno.EIO, keep=True)
                yield Trial(fault, f"{kind} EIO, no unlink", "io")
    if counts["rename"] and not script.options.get("overwrite"):
        # PUB-3: a file system without a rename that does not replace.
        yield Trial(Fault("errno", "rename", 0, 1, error=errno.EINVAL), "every rename EINVAL", "same")
    if counts["link"]:
        # PUB-3: a file system without hard links.
        yield Trial(Fault("errno", "link", 0, 1, error=errno.EPERM), "every link EPERM", "same")
    for number in range(counts["lock"]):
        # PUB-5 and PUB-6: a file system without record locks.
        yield Trial(Fault("errno", "lock", number, error=errno.ENOLCK), "lock ENOLCK", "same")
    if counts["lock"]:
        yield Trial(Fault("errno", "lock", 0, 1, error=errno.EOPNOTSUPP), "every lock EOPNOTSUPP", "same")
    for number in range(counts["write"]):
        for amount, name in ((1, "1 byte"), (HALF, "half")):
            yield Trial(Fault("short", "write", number, amount=amount), f"write {name}", "same")
        fault = Fault("short-then-errno", "write", number, error=errno.ENOSPC, amount=HALF, keep=not replaces)
        yield Trial(fault, "write half, then ENOSPC", "io")
    if script.name.startswith("large"):
        yield Trial(Fault("short", "write", 0, 1, amount=4096), "every write 4096 bytes", "same")
    else:
        yield Trial(Fault("short", "write", 0, 1, amount=1), "every write 1 byte", "same")
    # A system that writes nothing and reports no error must not cause an endless loop.
    yield Trial(Fault("short", "write", 0, 1, amount=0), "every write 0 bytes", "io")
    for kind in _HARMLESS_KINDS:
        if counts[kind]:
            yield Trial(Fault("errno", kind, 0, 2, error=errno.EINTR), f"every other {kind} EINTR", "same")
    for number in range(counts[ANY]):
        yield Trial(Fault("vanish", ANY, number), "the folder vanishes", "either")


def kills(counts: dict[str, int]) -> Iterator[Trial]:
    """The process is killed before, in and after each call."""
    for number in range(counts[ANY]):
        yield Trial(Fault("kill-before", ANY, number), "killed before a call", "killed")
    for number in range(counts["write"]):
        yield Trial(Fault("kill-short", "write", number, amount=HALF), "killed in a write", "killed")


class WritingSweep:
    """The sweep of one testee."""

    def __init__(self, crew: Crew, member: Member, findings: Findings) -> None:
        self.crew = crew
        self.member = member
        self.findings = findings
        self.judge = Judge(crew, findings)
        # The process that has published an output.
        self._experienced: int | None = None

    def run(self, chosen: list[Script], rng: random.Random, share: float, with_kills: bool) -> None:
        """Sweep the scripts, with a random share of the trials."""
        for script in chosen:
            reference = make_reference(self.member, self.crew, script)
            old: Files = {}
            if script.options.get("overwrite"):
                old = written(self.member, self.crew.new_folder(), script.variant(file_id=OLD_FILE_ID))
            known = None
            for is_fresh in (False, True):
                counts = self._undisturbed(reference, old, is_fresh)
                if counts == known:
                    break
                known = counts
                plan = list(trials(counts, script))
                if with_kills:
                    plan += kills(counts)
                if share < 1:
                    plan = [trial for trial in plan if rng.random() < share]
                for trial in plan:
                    self._try(reference, old, trial, is_fresh)
                    shutil.rmtree(self.crew.folder)
                    self.crew.folder.mkdir()

    def _prepare(self, is_fresh: bool) -> None:
        """Start a new process, or let this one publish an output first.

        A process may learn what its file system can do (PUB-3), so that its calls depend on what it did before.
        """
        member = self.member
        if is_fresh:
            member.start()
        elif member.pid is None or member.pid != self._experienced:
            script = scripts.small().variant(layout="paired")
            request = self._request(self.crew.new_folder(), script, Fault())
            outcome = member.ask("write", request)
            self.findings.expect(outcome.kind == "ok", f"{member.name}: an output before the faults: {outcome.detail}")
            self._experienced = member.pid

    @staticmethod
    def _request(folder: Path, script: Script, fault: Fault) -> Json:
        return {"path": str(folder / "out"), "options": script.options, "calls": script.calls_and_more()}

    def _undisturbed(self, reference: Reference, old: Files, is_fresh: bool) -> dict[str, int]:
        """The calls of an undisturbed run. The shim must have seen them."""
        self._prepare(is_fresh)
        folder = self.crew.new_folder()
        place_old(folder, old)
        outcome = self.member.ask("write", self._request(folder, reference.script, Fault()), Fault())
        counts = self.member.control.counts
        what = f"{self.member.name} {reference.script.name}"
        scene = Scene(reference, folder, old, what)
        self._same(scene, outcome)
        wanted = ["open", "write"]
        wanted += ["sync"] if reference.script.options.get("durability") == "commit" else []
        for kind in wanted:
            self.findings.expect(counts[kind] > 0, f"{what}: the shim saw no {kind}: it is not under the testee")
        publishing = _publishing(reference.script)
        seen = not publishing or any(counts[kind] for kind in publishing)
        self.findings.expect(seen, f"{what}: the shim saw none of {', '.join(publishing)}")
        return counts

    def _try(self, reference: Reference, old: Files, trial: Trial, is_fresh: bool) -> None:
        self._prepare(is_fresh)
        folder, fault = self.crew.new_folder(), trial.fault
        place_old(folder, old)
        moved = folder.with_name(f"{folder.name}-moved")
        if fault.action == "vanish":
            fault = Fault(fault.action, fault.kind, fault.number, move=(folder, moved))
        outcome = self.member.ask("write", self._request(folder, reference.script, fault), fault)
        process = ", first of a process" if is_fresh else ""
        what = f"{self.member.name} {reference.script.name}{process}: {trial.fault}"
        fired = self.member.control.fired
        if not self.findings.expect(fired > 0, f"{what}: no call was struck"):
            return
        place = moved if moved.exists() else folder
        scene = Scene(reference, place, old, what)
        if trial.outcome == "killed":
            killed = outcome.kind == "crash" and "SIGKILL" in str(outcome.value)
            self.findings.expect(killed, f"{what}: {outcome.detail}")
            result = judge_ended(self.judge, scene)
            result = "regions" if result.endswith("regions") else result
        elif trial.outcome == "same":
            self._same(scene, outcome)
            result = "as if nothing were"
        else:
            result = self._failed(scene, outcome, trial)
        self.findings.count(self.member.name, trial.name, result)

    def _same(self, scene: Scene, outcome: Outcome) -> None:
        """Only the calls after `finish` failed, and the files are right."""
        wanted = {"errors": errors_after(scene.reference.script.calls_and_more(), None), "finished": True}
        self.findings.expect(outcome.value == wanted, f"{scene.what}: {outcome.detail}, expected {wanted}")
        self.findings.expect(set(states(scene).values()) == {"new"}, f"{scene.what}: files differ: {states(scene)}")
        self._only(scene, set(scene.final.values()))

    def _only(self, scene: Scene, names: set[str]) -> None:
        strange = set(left_in(scene.folder)) - {Path(name).name for name in names}
        self.findings.expect(not strange, f"{scene.what}: files are left: {sorted(strange)}")

    def _failed(self, scene: Scene, outcome: Outcome, trial: Trial) -> str:
        script = scene.reference.script
        if outcome.kind == "ok" and outcome.value["finished"]:
            # The writer did not need the refused call, so the output is complete.
            allowed = trial.outcome == "either" or trial.fault.kind == "unlink"
            self.findings.expect(allowed, f"{scene.what}: it finished: {outcome.detail}")
            wanted = {"errors": errors_after(script.calls_and_more(), None), "finished": True}
            self.findings.expect(outcome.value == wanted, f"{scene.what}: {outcome.detail}, expected {wanted}")
            self.judge.whole(scene.reference, scene.final, scene.what)
            return "finished all the same"
        if outcome.kind == "error":
            self.findings.expect(outcome.value["code"] == "io", f"{scene.what}: {outcome.detail}")
            result = "io when made"
        elif self.findings.expect(outcome.kind == "ok", f"{scene.what}: {outcome.detail}"):
            errors = outcome.value["errors"]
            first = errors[0]["call"] if errors else None
            wanted_errors = errors_after(script.calls_and_more(), first)
            found = f"{_short(errors)}, expected {_short(wanted_errors)}"
            self.findings.expect(errors == wanted_errors, f"{scene.what}: {found}")
            result = "io, and the same ever after"
        else:
            return "fault"
        moved = trial.fault.action == "vanish" and scene.folder.name.endswith("-moved")
        if trial.fault.keep or moved:
            left = judge_ended(self.judge, scene)
            # WRT-6: the tail is cut off again. Renamed files are complete, only the folder is not synced. So are files
            # in a folder that was moved away, to which no name leads any more.
            looks = script.followed and not moved and left == "finished"
            self.findings.expect(not looks, f"{scene.what}: it failed, and the output looks finished")
        else:
            self._removed(scene)
        return result

    def _removed(self, scene: Scene) -> None:
        """After `abort`: no temporary files, and at the final names only the files of before."""
        found = states(scene)
        if not scene.reference.script.followed or "old" not in found.values():
            self.findings.expect(not {"new", "part"} & set(found.values()), f"{scene.what}: left behind: {found}")
        self._only(scene, set(scene.final.values()))
        if scene.old and set(found.values()) == {"old"}:
            judge_ended(self.judge, scene)


def _publishing(script: Script) -> list[str]:
    """The calls that give files their names, one of them. Without overwrite, it fails if the name exists (PUB-3)."""
    if script.followed:
        return []
    return ["rename"] if script.options.get("overwrite") else ["rename", "link"]


def _short(errors: list[Json]) -> str:
    return " ".join(f"{error['call']}:{error['code']}" for error in errors)


def errors_after(calls: list[Json], failed: int | None) -> list[Json]:
    """The errors of `calls_and_more` when call `failed` fails with `io`; None: nothing fails."""
    finish = calls.index({"call": "finish"})
    abort = calls.index({"call": "abort"})
    errors = []
    for at, call in enumerate(calls):
        if call["call"] == "abort":
            continue
        if failed is not None and failed <= at < abort:
            errors.append({"call": at, "code": "io"})
        elif at > finish:
            errors.append({"call": at, "code": "invalid-argument"})
    return errors
