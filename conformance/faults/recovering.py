"""Checks `recover` on the files of a dead writer (PUB-8): every implementation gives the same, correct result."""

from __future__ import annotations

import shutil
from pathlib import Path

from faults.judge import Judge, error_text, left_in, read_files
from faults.reference import HEADER, Reference
from faults.scripts import FILE_ID, LOCK, output_names


def recover(judge: Judge, reference: Reference, folder: Path, names: dict[str, str] | None, what: str) -> None:
    """Let every testee recover a copy of the folder. `names`: the files to use; None if an output opens there."""
    made: dict[str, bytes] | None = None
    for member in judge.crew:
        copy = judge.crew.new_folder()
        _copy(folder, copy)
        before = _contents(copy)
        outcome = member.ask("recover", {"path": str(copy / "out")})
        text = error_text(outcome) if outcome.kind != "ok" else f"{outcome.value['action']} {outcome.value['file_id']}"
        wanted = expected_action(reference, names)
        good = judge.findings.expect(text == wanted, f"{what}: {member.name} recovers: {outcome.detail}, not {wanted}")
        if not wanted.startswith(("last-commit", "rebuilt", "published")):
            judge.findings.expect(
                _contents(copy) == before, f"{what}: {member.name} recovers nothing, and files change"
            )
            continue
        if not good:
            continue
        assert names is not None
        files = read_files(output_names(str(copy), reference.script))
        if not wanted.startswith("rebuilt"):
            sizes = {role: Path(name).stat().st_size for role, name in names.items()}
            judge.findings.expect(
                files == reference.repaired(sizes), f"{what}: {member.name} recovers to other bytes than expected"
            )
        made = files if made is None else made
        judge.findings.expect(files == made, f"{what}: {member.name} recovers to other bytes than the first")
        checked = member.ask("check", {**output_names(str(copy), reference.script), "level": "decode"})
        judge.findings.expect(checked.kind == "ok", f"{what}: {member.name} recovers and checks: {checked.detail}")
        left = set(left_in(copy)) - {Path(name).name for name in output_names("", reference.script).values()}
        # The lock of a writer that could not remove it: `clean` does (PUB-9). A recovery needs a lock only at times.
        left -= {LOCK} & before.keys()
        judge.findings.expect(not left, f"{what}: {member.name} recovers and leaves {sorted(left)}")


def expected_action(reference: Reference, names: dict[str, str] | None) -> str:
    """The expected answer of `recover`: the action and the file_id, or the error."""
    if names is None:
        return "nothing None"
    roles = reference.script.roles
    sizes = {role: Path(name).stat().st_size if Path(name).exists() else -1 for role, name in names.items()}
    if all(size < 0 for size in sizes.values()):
        return "error io null@null"
    if sizes[roles[0]] < HEADER:
        return "nothing-saved None"
    if taken := _taken(names):
        return f"error io {taken}@null"
    log = sizes[roles[-1]]
    if log < HEADER:
        if "schema" in reference.script.options:
            return "error invalid-argument null@null"
        return f"rebuilt {FILE_ID[:8]}"
    if log < reference.schema_end:
        return f"error unfinished {roles[-1]}@{log}"
    whole = log == len(reference.log) and sizes[roles[0]] == len(reference.files[roles[0]])
    return f"{'published' if whole else 'last-commit'} {FILE_ID[:8]}"


def _taken(names: dict[str, str]) -> str | None:
    """The role of a file whose final name is taken. Once the data file has its final name, the index's may be taken."""
    for role, name in names.items():
        final = Path(name.removesuffix(f".{FILE_ID[:8]}.tmp"))
        if final != Path(name) and final.exists() and (role == "data" or names.get("data", "").endswith(".tmp")):
            return role
    return None


def _copy(folder: Path, to: Path) -> None:
    """Copy the files of a folder. Two names of one file stay two names of one file (PUB-7)."""
    copied: dict[int, Path] = {}
    for name in left_in(folder):
        number = (folder / name).stat().st_ino
        if number in copied:
            (to / name).hardlink_to(copied[number])
        else:
            copied[number] = Path(shutil.copy2(folder / name, to / name))


def _contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in left_in(folder)}
