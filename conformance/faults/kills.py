"""SIGKILL of a writer at random moments."""

from __future__ import annotations

import concurrent.futures
import random
import shutil
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from faults import scripts
from faults.aftermath import Files, Scene, judge_ended, place_old
from faults.crew import Crew, Member
from faults.findings import Findings
from faults.judge import Judge
from faults.reference import Reference, make_reference, written
from faults.scripts import OLD_FILE_ID, Script

# Each shortens the following text, so that the distribution shows how many regions there were.
_PARTS = 4
# A writer that was done before the kill is tried again, this many times on average.
_PATIENCE = 4


@dataclass
class Target:
    """A script during which the writer is killed, and how long it takes."""

    reference: Reference
    old: Files = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)


def kill_scripts() -> list[Script]:
    """Followed and not, with and without syncs, of many small and of few large regions, with each codec."""
    small, large = scripts.long(60, 20, 600), scripts.long(3, 30, 60_000)
    return [
        small.variant(layout="paired", follow=True),
        small.variant(layout="single", follow=True),
        small.variant(layout="paired", follow=True, durability="commit"),
        large.variant(layout="paired", follow=True),
        large.variant(layout="single", follow=True),
        small.variant(layout="paired", follow=True, codec="lz4"),
        small.variant(layout="single", follow=True, codec="zstd"),
        large.variant(layout="paired"),
        large.variant(layout="single", durability="commit"),
        small.variant(layout="paired", overwrite=True, durability="commit"),
    ]


class Kills:
    """The kills of one testee."""

    def __init__(self, crew: Crew, member: Member, findings: Findings) -> None:
        self.crew = crew
        self.member = member
        self.findings = findings
        self.judge = Judge(crew, findings)

    def run(self, number: int, rng: random.Random) -> None:
        """Kill this many times."""
        chosen = kill_scripts()
        if number < len(chosen):
            chosen = rng.sample(chosen, number)
        targets = [self._target(script) for script in chosen]
        # The next one starts while the files of this one are judged.
        victims = [self.crew.victim(self.member), self.crew.victim(self.member)]
        with concurrent.futures.ThreadPoolExecutor(1) as starter:
            victims[0].start()
            struck = at = 0
            while struck < number:
                if not self.findings.expect(
                    at < _PATIENCE * number, f"{self.member.name}: {struck} of {at} were killed"
                ):
                    break
                started = starter.submit(victims[(at + 1) % 2].start)
                struck += self._kill(targets[at % len(targets)], victims[at % 2], rng)
                at += 1
                shutil.rmtree(self.crew.folder)
                self.crew.folder.mkdir()
                started.result()
            for victim in victims:
                victim.child.kill()

    def _target(self, script: Script) -> Target:
        target = Target(make_reference(self.member, self.crew, script))
        if script.options.get("overwrite"):
            target.old = written(self.member, self.crew.new_folder(), script.variant(file_id=OLD_FILE_ID))
        # A new process is slow, as is the one that is killed.
        victim = self.crew.victim(self.member)
        victim.start()
        folder = self.crew.new_folder()
        place_old(folder, target.old)
        begin = time.monotonic()
        victim.ask("write", self._request(folder, script))
        target.seconds.append(time.monotonic() - begin)
        victim.child.kill()
        return target

    @staticmethod
    def _request(folder: Path, script: Script) -> dict[str, object]:
        return {"path": str(folder / "out"), "options": script.options, "calls": script.calls()}

    def _kill(self, target: Target, victim: Member, rng: random.Random) -> bool:
        """Kill once and judge; False if the writer was done before."""
        folder, script = self.crew.new_folder(), target.reference.script
        place_old(folder, target.old)
        scene = Scene(target.reference, folder, target.old, "")
        way = rng.choice(["time", "size"])
        if way == "time":
            when = _after(rng.random() * 1.1 * statistics.median(target.seconds[-9:]))
        else:
            when = _grown(scene, rng)
        what = f"{self.member.name} {script.name}: killed"
        outcome, seconds = victim.ask_and_kill("write", self._request(folder, script), when)
        killed = outcome.kind == "crash" and "SIGKILL" in str(outcome.value)
        if not killed:
            target.seconds.append(seconds)
            self.findings.expect(outcome.kind == "ok", f"{what}: {outcome.detail}")
        result = judge_ended(self.judge, Scene(target.reference, folder, target.old, what))
        self.findings.count(self.member.name, f"kill {script.name}", _label(result, target.reference, killed))
        return killed


def _label(result: str, reference: Reference, killed: bool) -> str:
    if not killed:
        return "too late"
    if not result.endswith("regions"):
        return result
    total, count = len(reference.message_ends), int(result.split()[0])
    if count == 0:
        return "in the first region"
    part = min(count * _PARTS // total, _PARTS - 1)
    return f"after {100 * part // _PARTS} to {100 * (part + 1) // _PARTS} % of the regions"


def _after(seconds: float) -> Callable[[threading.Event], None]:
    def wait(answered: threading.Event) -> None:
        answered.wait(seconds)

    return wait


def _grown(scene: Scene, rng: random.Random) -> Callable[[threading.Event], None]:
    """Return when a file of the output has a size that was drawn."""
    role = rng.choice(scene.reference.script.roles)
    size = rng.randrange(len(scene.reference.files[role]) + 1)
    names = scene.final if scene.reference.script.followed else scene.temporary
    path = Path(names[role])

    def wait(answered: threading.Event) -> None:
        while not answered.is_set():
            try:
                if path.stat().st_size >= size:
                    return
            except FileNotFoundError:
                pass
            time.sleep(0.0001)

    return wait
