"""Scripts: all testees carry them out, and each reads every output."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faro_conformance.protocol import Outcome

from differential.asking import NAME, Disagreement, Panel, place, take_files
from differential.blocks import Files
from differential.judge import Payloads, disagreement
from differential.mending import difference


@dataclass
class Written:
    """The result of one script."""

    answers: dict[str, Outcome]
    outputs: dict[str, Files]
    disagreements: list[Disagreement]

    @property
    def finished(self) -> bool:
        """Whether the first testee's writer published its files."""
        first = next(iter(self.answers.values()))
        return first.kind == "ok" and bool(first.value["finished"])


def run_script(script: dict[str, Any], panel: Panel, folder: Path) -> Written:
    """Let all testees carry out the script, and let each read every output."""
    names = [child.testee.name for child in panel.children]
    requests: dict[str, Sequence[tuple[str, dict[str, Any]]]] = {}
    for name in names:
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
        requests[name] = [("write", {"path": str(folder / name / NAME), **script})]
    answers = panel.ask_each(requests)[0]
    outputs = {name: take_files(folder / name) for name in names}
    written = Written(answers, outputs, [])
    why = disagreement(answers)
    if why is not None:
        written.disagreements.append(Disagreement("write", why, answers))
        return written
    able = [name for name in names if answers[name].kind != "unsupported"]
    compressed = script["options"].get("codec", "none") != "none"
    first = outputs[able[0]] if able else {}
    for name in able[1:]:
        # COD-6: stored bytes of compressed blocks are not canonical, so sizes and offsets are not either.
        same = compressed and first.keys() == outputs[name].keys()
        why = None if same else difference(first, outputs[name])
        if why is not None:
            written.disagreements.append(Disagreement("write: files", f"{able[0]} and {name}: {why}", answers))
    if written.finished and able:
        written.disagreements += _read_all({name: outputs[name] for name in able}, panel, folder, compressed)
    return written


def _read_all(outputs: dict[str, Files], panel: Panel, folder: Path, compressed: bool) -> list[Disagreement]:
    """Each output, read by each testee. Compressed outputs must have equal contents."""
    found = []
    contents: dict[str, Outcome] = {}
    for name, files in outputs.items():
        paths = {role: str(place(role, folder / name)) for role in files}
        row = panel.ask([("read", paths)])[0]
        why = disagreement(row, Payloads(files).spared({}))
        if why is not None:
            found.append(Disagreement(f"read what {name} wrote", why, row))
        contents[name] = _without_sizes(row[name])
        if not compressed:
            break
    why = disagreement(contents)
    if why is not None:
        found.append(Disagreement("read: contents of what each wrote", why, contents))
    return found


def _without_sizes(outcome: Outcome) -> Outcome:
    """An answer to `read` without what depends on compression: stored sizes and offsets."""
    if outcome.kind != "ok":
        return outcome
    parts: dict[str, Any] = {}
    for number, part in outcome.value["partitions"].items():
        left = {name: value for name, value in part.items() if name != "stored_bytes"}
        if "error" in left:
            left["error"] = {**left["error"], "offset": None}
        parts[number] = left
    # A writer may choose what it trains, and where it stores that (DIC-7).
    return Outcome("ok", {**outcome.value, "partitions": parts, "dictionaries": None})
