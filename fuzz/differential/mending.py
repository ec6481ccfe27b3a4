"""Repairs that write, by each testee on its own copy: the repaired files must be equal and complete."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from faro_conformance.compare import first_difference
from faro_conformance.protocol import Outcome

from differential.asking import Disagreement, Panel, Probe, place, put_files, take_files
from differential.blocks import Files
from differential.judge import Payloads, disagreement

# The requests about the repaired files.
_AFTER: list[tuple[str, dict[str, Any]]] = [
    ("check", {"level": "checksums"}),
    ("read", {"partitions": []}),
    ("repair", {"mode": "last-commit", "dry_run": True}),
]


def mend(probes: Sequence[Probe], panel: Panel) -> None:
    """Let all testees repair the probes with a repair. Disagreements are added to the probes."""
    chosen = [probe for probe in probes if probe.mend is not None]
    if not chosen:
        return
    names = [child.testee.name for child in panel.children]
    for probe in chosen:
        for name in names:
            put_files(_before(probe), _copy(probe, name))
    asked = panel.ask_each({name: [_request("repair", probe, name) for probe in chosen] for name in names})
    outputs = [{name: take_files(_copy(probe, name)) for name in names} for probe in chosen]
    after = panel.ask_each(
        {name: [_request(op, probe, name, fields) for probe in chosen for op, fields in _AFTER] for name in names}
    )
    for number, probe in enumerate(chosen):
        rows = after[number * len(_AFTER) : (number + 1) * len(_AFTER)]
        probe.mended = _judge(probe, asked[number], outputs[number], rows)


def _before(probe: Probe) -> Files:
    return {role: data for role, data in probe.files.items() if not (probe.lost and role == "index")}


def _copy(probe: Probe, name: str) -> Path:
    return probe.folder / "mend" / name


def _request(op: str, probe: Probe, name: str, fields: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
    roles = set(probe.files) if probe.files.keys() == {"single"} else {"data", "index"}
    paths = {role: str(place(role, _copy(probe, name))) for role in roles}
    return op, {**paths, **((probe.mend or {}) if fields is None else fields)}


def _judge(
    probe: Probe, asked: dict[str, Outcome], outputs: dict[str, Files], after: list[dict[str, Outcome]]
) -> list[Disagreement]:
    what = " ".join(["repair", *(f"{name}={value}" for name, value in (probe.mend or {}).items()), "really"])
    why = disagreement(asked)
    if why is not None:
        return [Disagreement(what, why, asked)]
    found = []
    able = [name for name, outcome in asked.items() if outcome.kind != "unsupported"]
    for name in able:
        why = _wrong_files(_before(probe), asked[name], outputs[name])
        if why is not None:
            found.append(Disagreement(f"{what}: files", f"{name}: {why}", asked))
    for name in able[1:]:
        why = difference(outputs[able[0]], outputs[name])
        if why is not None:
            found.append(Disagreement(f"{what}: files", f"{able[0]} and {name}: {why}", asked))
    if found or not able:
        return found
    payloads = Payloads(outputs[able[0]])
    for (op, fields), row in zip(_AFTER, after, strict=True):
        why = disagreement(row, payloads.spared({})) or _not_whole(op, asked[able[0]], row[able[0]])
        if why is not None:
            found.append(Disagreement(f"{what}, then {op} {fields}", why, row))
    return found


def _wrong_files(before: Files, said: Outcome, now: Files) -> str | None:
    """REP-2: a repair that refuses, or finds nothing to do, changes nothing. No other file is left in the folder."""
    if said.kind != "ok" or said.value["action"] == "nothing":
        return None if now == before else "changed files that it did not repair"
    odd = now.keys() - before.keys() - {"index"}
    return f"left {', '.join(sorted(odd))}" if odd else None


def _not_whole(op: str, said: Outcome, answer: Outcome) -> str | None:
    """A repaired output opens and is not repaired again. After a rebuild, all its blocks are valid."""
    if said.kind != "ok" or said.value["action"] == "nothing" or answer.kind == "unsupported":
        return None
    if op == "check" and said.value["action"] != "rebuilt":
        # Only the index was checked.
        return None
    if answer.kind != "ok":
        return f"all: {op} of what was repaired: {answer}"
    if op == "repair" and answer.value["action"] != "nothing":
        return f"all: repaired again: {answer.detail}"
    return None


def difference(one: Files, two: Files) -> str | None:
    """The first difference between the files of two outputs."""
    if one.keys() != two.keys():
        return f"{', '.join(one) or 'no files'}, but {', '.join(two) or 'no files'}"
    for role, data in one.items():
        if data != two[role]:
            return f"{role} differs at {first_difference(data, two[role])} of {len(data)} and {len(two[role])} bytes"
    return None
