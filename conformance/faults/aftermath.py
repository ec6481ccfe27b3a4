"""Judges the files that a writer left when it ended."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from faults.judge import Judge, error_text, left_in
from faults.recovering import recover
from faults.reference import HEADER, Reference
from faults.scripts import LOCK, output_names, temporary_names

Files = dict[str, bytes]


@dataclass(frozen=True)
class Scene:
    """A folder, the script that ran in it, and the files that were at the final names before."""

    reference: Reference
    folder: Path
    old: Files
    what: str

    @property
    def old_id(self) -> str:
        """The file_id of the older output, in hexadecimal digits."""
        return next(iter(self.old.values()))[40:56].hex()

    @property
    def final(self) -> dict[str, str]:
        """The final names."""
        return output_names(str(self.folder), self.reference.script)

    @property
    def temporary(self) -> dict[str, str]:
        """The temporary names."""
        return temporary_names(str(self.folder), self.reference.script)


def place_old(folder: Path, old: Files) -> None:
    """Write an older output at the final names."""
    suffixes = {"data": ".data", "index": ".index", "single": ".faro"}
    for role, raw in old.items():
        (folder / f"out{suffixes[role]}").write_bytes(raw)


def states(scene: Scene) -> dict[str, str]:
    """The state of each final name: `none`, `old`, `new` (complete) or `part`."""
    found = {}
    for role, name in scene.final.items():
        path = Path(name)
        if not path.exists():
            found[role] = "none"
            continue
        raw = path.read_bytes()
        if scene.old.get(role) == raw:
            found[role] = "old"
        else:
            found[role] = "new" if raw == scene.reference.files[role] else "part"
    return found


def judge_ended(judge: Judge, scene: Scene) -> str:
    """Judge the files of a writer that was stopped at any point and removed nothing. Returns how far it got."""
    findings, script, what = judge.findings, scene.reference.script, scene.what
    found = states(scene)
    roles = script.roles
    allowed = {Path(name).name for names in (scene.final, scene.temporary) for name in names.values()} | {LOCK}
    strange = [name for name in left_in(scene.folder) if name not in allowed]
    findings.expect(not strange, f"{what}: other names in the folder: {strange}")
    if not script.followed:
        # WRT-4, PUB-2: a file at a final name is complete, and the index file gets its name last.
        findings.expect("part" not in found.values(), f"{what}: at a final name, and not complete: {found}")
        order = found[roles[0]] == "new" or found[roles[-1]] != "new"
        findings.expect(order, f"{what}: the index has its name before the data: {found}")
        recover(judge, scene.reference, scene.folder, _recoverable(scene, found), what)
    if "old" in found.values():
        _judge_old(judge, scene, found)
        names = dict(scene.temporary)
        if found[roles[0]] == "new":
            names[roles[0]] = scene.final[roles[0]]
        if script.followed:
            return "replacing"
        return _progress(judge, scene, names)
    if all(state == "new" for state in found.values()):
        judge.whole(scene.reference, scene.final, what)
        return "finished"
    if script.followed:
        return _progress(judge, scene, scene.final)
    names = {role: scene.final[role] if state == "new" else scene.temporary[role] for role, state in found.items()}
    for member in judge.crew:
        # No output looks finished: reading reports the missing file.
        outcome = member.ask("read", scene.final)
        missing = f"error io {roles[-1]}@null"
        findings.expect(error_text(outcome) == missing, f"{what}: {member.name} reads: {outcome.detail}")
    return _progress(judge, scene, names)


def _recoverable(scene: Scene, found: dict[str, str]) -> dict[str, str] | None:
    """The files that `recover` has to use, at their current names. None: an output is there and opens."""
    if set(found.values()) in ({"old"}, {"new"}):
        return None
    return {role: scene.final[role] if state == "new" else scene.temporary[role] for role, state in found.items()}


def _judge_old(judge: Judge, scene: Scene, found: dict[str, str]) -> None:
    """Older files at final names: every reader reads them completely or refuses them, in the same way."""
    whole = all(state == "old" for state in found.values())
    verdicts = set()
    for member in judge.crew:
        outcome = member.ask("read", scene.final)
        verdicts.add("ok" if outcome.kind == "ok" else error_text(outcome))
        if outcome.kind == "ok":
            same = outcome.value["header"]["file_id"] == scene.old_id and whole
            judge.findings.expect(same, f"{scene.what}: {member.name} reads a mixture of old and new: {found}")
    judge.findings.expect(len(verdicts) == 1, f"{scene.what}: old files beside new ones: {verdicts}")
    judge.findings.expect(("ok" in verdicts) == whole, f"{scene.what}: {found} are read as {verdicts}")


def _progress(judge: Judge, scene: Scene, names: dict[str, str]) -> str:
    reference = scene.reference
    there = [Path(name) for name in names.values() if Path(name).exists()]
    if not there:
        return "nothing"
    count = judge.leftover(reference, names, scene.what)
    if count is None:
        return "fault"
    log = Path(names[reference.script.roles[-1]])
    size = log.stat().st_size if log.exists() else 0
    if all(path.stat().st_size <= HEADER for path in there):
        return "headers"
    if count == len(reference.message_ends) and (size > reference.message_ends[-1] or not reference.script.followed):
        return "at finish"
    return f"{count} regions"
