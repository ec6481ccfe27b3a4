"""Judges the files that an interrupted writer left, by the answers of every implementation."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

from faro_conformance.protocol import Outcome
from faults.crew import Crew, Member
from faults.findings import Findings
from faults.reference import HEADER, Reference, content, expected
from faults.scripts import output_names

_HANDLES = itertools.count()
# One of this many outputs is also rebuilt from its data file.
_REBUILT = 4


def error_text(outcome: Outcome) -> str:
    """An error as code, file and offset; any other outcome as its kind."""
    return str(outcome)


class Judge:
    """Judges files with all testees of a crew."""

    def __init__(self, crew: Crew, findings: Findings) -> None:
        self.crew = crew
        self.findings = findings
        # Repaired outputs that were read already: testee, reference, number of regions. Bytes are always compared.
        self._read: set[tuple[str, int, int]] = set()
        self._judged = 0

    def sizes(self, reference: Reference, names: dict[str, str], what: str) -> dict[str, int] | None:
        """The sizes of files that must be prefixes of the reference's; None if they are not. Missing: -1."""
        sizes = {}
        for role, name in names.items():
            path = Path(name)
            raw = path.read_bytes() if path.exists() else None
            sizes[role] = -1 if raw is None else len(raw)
            if raw is not None and raw != reference.files[role][: len(raw)]:
                self.findings.fault(f"{what}: the {role} file is not a prefix of the undisturbed one, {len(raw)} bytes")
                return None
        if reference.script.paired:
            count = reference.committed(sizes["index"])
            if count and sizes["data"] < reference.data_ends[count - 1]:
                self.findings.fault(f"{what}: region {count - 1} is committed before its data is there: {sizes}")
                return None
        return sizes

    def leftover(self, reference: Reference, names: dict[str, str], what: str) -> int | None:
        """Judge files that were being followed when their writer ended; the regions committed, or None for a fault.

        They are followed, opened and repaired by all testees.
        """
        sizes = self.sizes(reference, names, what)
        if sizes is None:
            return None
        refusal = _refusal(reference, sizes)
        log_role = reference.script.roles[-1]
        count = reference.committed(sizes[log_role])
        finished = sizes[log_role] == len(reference.log)
        results: dict[str, dict[str, bytes]] = {}
        for member in self.crew:
            self._follow(member, reference, names, refusal, (count, finished), f"{what}: {member.name} follows")
            if refusal is None:
                self._open(member, reference, names, f"{what}: {member.name} opens")
            results[member.name] = self._repair(member, reference, names, refusal, f"{what}: {member.name} repairs")
        if refusal is None:
            wanted = reference.repaired(sizes)
            for name, files in results.items():
                for role, raw in wanted.items():
                    self.findings.expect(
                        files.get(role) == raw, f"{what}: {name} repairs the {role} file to other bytes than expected"
                    )
            self._judged += 1
            if self._judged % _REBUILT == 1:
                self._rebuild(reference, names, sizes, what)
        return count

    def _follow(
        self,
        member: Member,
        reference: Reference,
        names: dict[str, str],
        refusal: str | None,
        state: tuple[int, bool],
        what: str,
    ) -> None:
        handle = f"judge-{next(_HANDLES)}"
        opened = member.ask("follow", {"action": "open", "handle": handle, **names})
        if refusal is not None:
            self.findings.expect(error_text(opened) == refusal, f"{what}: {opened.detail}, expected {refusal}")
            return
        if not self.findings.expect(opened.kind == "ok", f"{what}: {opened.detail}"):
            return
        polled = member.ask("follow", {"action": "poll", "handle": handle})
        wanted = {"regions": state[0], "finished": state[1]}
        self.findings.expect(polled.value == wanted, f"{what}: {polled.detail}, expected {wanted}")
        read = member.ask("follow", {"action": "read", "handle": handle})
        self._same_content(read, reference, state[0], f"{what} and reads")
        member.ask("follow", {"action": "close", "handle": handle})

    def _same_content(self, outcome: Outcome, reference: Reference, count: int, what: str) -> None:
        wanted = expected(reference, self.crew, count)
        same = outcome.kind == "ok" and content(outcome.value) == wanted
        self.findings.expect(same, f"{what}: {outcome.detail[:500]}, expected {str(wanted)[:500]}")

    def _open(self, member: Member, reference: Reference, names: dict[str, str], what: str) -> None:
        """A reader of finished outputs: it reads the complete output, or answers `unfinished`."""
        log_role = reference.script.roles[-1]
        size = Path(names[log_role]).stat().st_size
        outcome = member.ask("read", dict(names))
        if size == len(reference.log):
            self._same_content(outcome, reference, len(reference.message_ends), what)
        else:
            wanted = f"error unfinished {log_role}@{size}"
            self.findings.expect(error_text(outcome) == wanted, f"{what}: {outcome.detail}, expected {wanted}")

    def _repair(
        self, member: Member, reference: Reference, names: dict[str, str], refusal: str | None, what: str
    ) -> dict[str, bytes]:
        folder = self.crew.new_folder()
        copies = copy_files(names, str(folder), reference)
        outcome = member.ask("repair", {**copies, "mode": "last-commit"})
        files = read_files(copies)
        if refusal is not None:
            self.findings.expect(error_text(outcome) == refusal, f"{what}: {outcome.detail}, expected {refusal}")
            self.findings.expect(files == read_files(names), f"{what}: it was refused, and the files changed")
            return files
        if self.findings.expect(outcome.kind == "ok", f"{what}: {outcome.detail}"):
            count = outcome.value["regions"]
            log_size = Path(names[reference.script.roles[-1]]).stat().st_size
            finished = log_size == len(reference.log)
            self.findings.expect(
                (outcome.value["action"] == "nothing") == finished and count == reference.committed(log_size),
                f"{what}: {outcome.detail}",
            )
            seen = (member.name, id(reference), -1 if finished else count)
            if seen in self._read:
                return files
            self._read.add(seen)
            read = member.ask("read", dict(copies))
            self._same_content(read, reference, count, f"{what} and reads")
            checked = member.ask("check", {**copies, "level": "decode"})
            self.findings.expect(checked.kind == "ok", f"{what} and checks: {checked.detail}")
        return files

    def _rebuild(self, reference: Reference, names: dict[str, str], sizes: dict[str, int], what: str) -> None:
        """Rebuild from the data file alone: all implementations make the same index, and it passes `check`."""
        if not reference.script.paired or sizes["data"] < HEADER or "schema" in reference.script.options:
            return
        first: dict[str, bytes] | None = None
        for member in self.crew:
            folder = self.crew.new_folder()
            copies = copy_files(names, str(folder), reference)
            Path(copies["index"]).unlink(missing_ok=True)
            outcome = member.ask("repair", {**copies, "mode": "rebuild"})
            if not self.findings.expect(outcome.kind == "ok", f"{what}: {member.name} rebuilds: {outcome.detail}"):
                continue
            checked = member.ask("check", {**copies, "level": "decode"})
            self.findings.expect(checked.kind == "ok", f"{what}: {member.name} rebuilds and checks: {checked.detail}")
            files = read_files(copies)
            kept = len(files["data"])
            self.findings.expect(
                files["data"] == reference.files["data"][:kept],
                f"{what}: {member.name} rebuilds, and the data is not a prefix",
            )
            first = files if first is None else first
            self.findings.expect(files == first, f"{what}: {member.name} rebuilds to other bytes than the first")

    def whole(self, reference: Reference, names: dict[str, str], what: str) -> None:
        """Files at final names that look finished: they equal the reference's, and all testees read them."""
        raw = read_files(names)
        if not self.findings.expect(raw == reference.files, f"{what}: finished files that differ"):
            return
        for member in self.crew:
            outcome = member.ask("read", dict(names))
            self._same_content(outcome, reference, len(reference.message_ends), f"{what}: {member.name} reads")


def _refusal(reference: Reference, sizes: dict[str, int]) -> str | None:
    """The error when an output that cannot be opened yet is followed or repaired (OPN-1, HDR-1, SCH-1)."""
    log_role = reference.script.roles[-1]
    for role in (log_role, "data"):
        size = sizes.get(role, HEADER)
        if size < 0:
            return f"error io {role}@null"
        if size < HEADER:
            return f"error truncated {role}@{size}"
    if sizes[log_role] < reference.schema_end:
        return f"error unfinished {log_role}@{sizes[log_role]}"
    return None


def copy_files(names: dict[str, str], folder: str, reference: Reference) -> dict[str, str]:
    """Copies of the existing files, at the final names in another folder."""
    copies = output_names(folder, reference.script)
    for role, name in names.items():
        if Path(name).exists():
            shutil.copyfile(name, copies[role])
    return copies


def read_files(names: dict[str, str]) -> dict[str, bytes]:
    """The existing files."""
    return {role: Path(name).read_bytes() for role, name in names.items() if Path(name).exists()}


def left_in(folder: Path) -> list[str]:
    """The names in a folder; none if it does not exist."""
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []
