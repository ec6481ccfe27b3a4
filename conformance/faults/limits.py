"""Limits of the system itself: RLIMIT_FSIZE, and a file system that is full."""

from __future__ import annotations

import contextlib
import random
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from faro_conformance.protocol import Outcome
from faults import scripts
from faults.aftermath import Scene, judge_ended, states
from faults.control import Fault
from faults.crew import Crew, Member
from faults.findings import Findings
from faults.judge import Judge, left_in
from faults.reference import HEADER, Reference, make_reference
from faults.scripts import Script
from faults.writing import errors_after

# File systems with room for a header, a region, all but the end, everything; and without room for a name.
_TMPFS = (
    "size=4k", "size=8k", "size=1000k", "size=2300k", "size=4400k", "size=16m", "size=16m,nr_inodes=1",
    "size=16m,nr_inodes=2",
)  # fmt: skip


def variants() -> list[Script]:
    """The scripts that reach the limits."""
    small, large = scripts.small(), scripts.large()
    found = [
        script.variant(layout=layout, follow=follow)
        for script in (small, large)
        for layout in ("paired", "single")
        for follow in (False, True)
    ]
    return [*found, small.variant(durability="commit", follow=True), scripts.arrow().variant(follow=True)]


class Limits:
    """The limits of one testee."""

    def __init__(self, crew: Crew, member: Member, findings: Findings) -> None:
        self.crew = crew
        self.member = member
        self.findings = findings
        self.judge = Judge(crew, findings)

    def run(self, rng: random.Random, share: float) -> None:
        """Reach the limits, with a random share of the sizes."""
        for script in variants():
            reference = make_reference(self.member, self.crew, script)
            for size in sizes(reference):
                for keep in (False, True):
                    if rng.random() < share:
                        self._try(reference, self.crew.new_folder(), keep, f"RLIMIT_FSIZE {size}", "RLIMIT_FSIZE", size)
                        self._clear()
            if script.name.startswith("large"):
                for options in _TMPFS:
                    for keep in (False, True):
                        if rng.random() < share:
                            self._on_tmpfs(reference, options, keep)
                            self._clear()

    def _clear(self) -> None:
        shutil.rmtree(self.crew.folder)
        self.crew.folder.mkdir()

    @contextlib.contextmanager
    def _file_size(self, size: int | None) -> Iterator[None]:
        """Inside this context no file may grow. The judges have no limit."""
        if size is None:
            yield
            return
        pid = self.member.child.pid
        _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))
        try:
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))

    def _on_tmpfs(self, reference: Reference, options: str, keep: bool) -> None:
        folder = self.crew.new_folder()
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, text=True, check=False
        )
        if mounted.returncode != 0:
            print(f"NOT RUN: no tmpfs may be mounted here: {mounted.stderr.strip()}", flush=True)
            self.findings.count(self.member.name, "a full tmpfs", "not run")
            return
        try:
            self._try(reference, folder, keep, f"tmpfs {options}", "a full tmpfs")
        finally:
            subprocess.run(["umount", str(folder)], check=True)

    def _try(
        self, reference: Reference, folder: Path, keep: bool, limit: str, kind: str, size: int | None = None
    ) -> None:
        script = reference.script
        request = {"path": str(folder / "out"), "options": script.options, "calls": script.calls_and_more()}
        with self._file_size(size):
            outcome = self.member.ask("write", request, Fault(keep=keep))
        what = f"{self.member.name} {script.name}: {limit}{', no unlink' if keep else ''}"
        self.findings.count(self.member.name, kind, self._judge(Scene(reference, folder, {}, what), outcome, keep))

    def _judge(self, scene: Scene, outcome: Outcome, keep: bool) -> str:
        script, findings = scene.reference.script, self.findings
        calls = script.calls_and_more()
        if outcome.kind == "error":
            findings.expect(outcome.value["code"] == "io", f"{scene.what}: {outcome.detail}")
            result = "io when made"
        elif not findings.expect(outcome.kind == "ok", f"{scene.what}: {outcome.detail}"):
            return "fault"
        elif outcome.value["finished"]:
            findings.expect(set(states(scene).values()) == {"new"}, f"{scene.what}: files differ: {states(scene)}")
            findings.expect(outcome.value["errors"] == errors_after(calls, None), f"{scene.what}: {outcome.detail}")
            return "enough"
        else:
            errors = outcome.value["errors"]
            wanted = errors_after(calls, errors[0]["call"] if errors else None)
            findings.expect(errors == wanted, f"{scene.what}: {errors}, expected {wanted}")
            result = "io, and the same ever after"
        if keep:
            left = judge_ended(self.judge, scene)
            findings.expect(left != "finished", f"{scene.what}: it failed, and the output looks finished")
        else:
            findings.expect(not left_in(scene.folder), f"{scene.what}: files are left: {left_in(scene.folder)}")
        return result


def sizes(reference: Reference) -> list[int]:
    """The sizes around the end of each thing in a file."""
    ends = {0, HEADER, *reference.message_ends, *reference.data_ends, reference.schema_end, reference.footer.end}
    ends |= {len(raw) for raw in reference.files.values()}
    return sorted({size for end in ends for size in (end - 1, end, end + 1, end + 30) if size >= 0})
