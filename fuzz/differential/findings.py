"""Findings on disk: everything needed to repeat the requests."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from faro_conformance.protocol import SuiteError

from differential.asking import Disagreement, Panel, Probe, put_files, take_files
from differential.blocks import Files
from differential.judge import show
from differential.merges import Merging, make_fragments, run_merging
from differential.minimise import ask
from differential.plan import Step
from differential.writing import Written, run_script

FILE = "finding.json"
# How many findings that look alike are kept.
_KEPT = 3


class Findings:
    """The folder for the findings of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen: Counter[str] = Counter()

    def fresh(self, found: Sequence[Disagreement]) -> str | None:
        """Count findings. Returns the signature of one that is still to be kept, or None."""
        fresh = [item.signature for item in found if self.seen[item.signature] < _KEPT]
        for item in found:
            self.seen[item.signature] += 1
        return fresh[0] if fresh else None

    def add_probe(self, probe: Probe, found: Sequence[Disagreement], origin: dict[str, Any]) -> Path:
        """Write a finding about a probe. Returns its folder."""
        steps = [{"op": step.op, "fields": step.fields, "sizes": step.sizes} for step in probe.steps]
        members = {**origin, "type": "files", "steps": steps, "mend": probe.mend, "lost": probe.lost}
        folder = self._write(found, members)
        put_files(probe.files, folder / "files")
        return folder

    def add_script(self, script: dict[str, Any], written: Written, origin: dict[str, Any]) -> Path:
        """Write a finding about a script."""
        folder = self._write(written.disagreements, {**origin, "type": "script", "script": script})
        for name, files in written.outputs.items():
            (folder / "outputs" / name).mkdir(parents=True)
            for role, data in files.items():
                (folder / "outputs" / name / role).write_bytes(data)
        return folder

    def add_merging(self, merging: Merging, found: Sequence[Disagreement], origin: dict[str, Any]) -> Path:
        """Write a finding about a merge."""
        return self._write(found, {**origin, "type": "merge", "merging": merging.members()})

    def add_fragments(
        self, files: Files, asked: Sequence[dict[str, Any]], found: Sequence[Disagreement], origin: dict[str, Any]
    ) -> Path:
        """Write a finding about the fragments of an output."""
        folder = self._write(found, {**origin, "type": "fragments", "asked": list(asked)})
        put_files(files, folder / "files")
        return folder

    def _write(self, found: Sequence[Disagreement], members: dict[str, Any]) -> Path:
        number = 1 + sum(1 for _ in self.folder.glob("finding-*")) if self.folder.is_dir() else 1
        folder = self.folder / f"finding-{number:04}"
        folder.mkdir(parents=True)
        members["found"] = [
            {
                "request": item.what,
                "why": item.why,
                "answers": {name: show(said) for name, said in item.answers.items()},
            }
            for item in found
        ]
        (folder / FILE).write_text(json.dumps(members, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return folder


def stored(folder: Path) -> Iterator[Path]:
    """The findings in a folder, or the folder itself if it is one."""
    if (folder / FILE).is_file():
        yield folder
        return
    found = sorted(path.parent for path in folder.glob(f"*/{FILE}"))
    if not found:
        raise SuiteError(f"no finding in {folder}")
    yield from found


def replay(finding: Path, panel: Panel, work: Path) -> list[Disagreement]:
    """Repeat the requests of a finding."""
    try:
        members = json.loads((finding / FILE).read_text(encoding="utf-8"))
        if members["type"] == "script":
            return run_script(members["script"], panel, work).disagreements
        if members["type"] == "merge":
            return run_merging(Merging.of(members["merging"]), panel, work)
        if members["type"] == "fragments":
            return make_fragments(take_files(finding / "files"), members["asked"], panel, work)[1]
        steps = [Step(step["op"], step["fields"], step["sizes"]) for step in members["steps"]]
        files = take_files(finding / "files")
        probe = Probe(files, steps, work, members.get("mend"), members.get("lost", False))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SuiteError(f"{finding}: {type(error).__name__}: {error}") from error
    return ask(probe, panel)
