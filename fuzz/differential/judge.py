"""Whether answers to one request agree, and what the text lets implementations differ in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from faro_conformance.protocol import Outcome, describe_error, normalise

from differential.blocks import take_apart
from differential.mutate import Files

# (file, offset) of the compressed payloads.
Places = set[tuple[str, int]]
_TOLERATED = "malformed-block"
_FAILED = ("crash", "timeout", "garbage")


def compressed_places(files: Files) -> Places:
    """Where a decoder judges: COD-2 and COD-4 let one refuse there what another takes."""
    return {
        (role, piece.offset + 24)
        for role, data in files.items()
        for piece in take_apart(data).pieces
        if piece.codec in (1, 2)
    }


def disagreement(outcomes: Mapping[str, Outcome], places: Places) -> str | None:
    """Why these answers of testees are a finding, or None. `allowed` tells when the text lets them differ."""
    for name, outcome in outcomes.items():
        if outcome.kind in _FAILED:
            return f"{name}: {outcome.kind}"
    answered = {name: outcome for name, outcome in outcomes.items() if outcome.kind != "unsupported"}
    if len({_comparable(outcome) for outcome in answered.values()}) < 2:
        return None
    if allowed(answered, places):
        return None
    return "; ".join(f"{name}: {outcome}" for name, outcome in answered.items())


def allowed(outcomes: Mapping[str, Outcome], places: Places) -> bool:
    """Whether the answers differ only where some decoder refused a compressed payload."""
    values = [{outcome.kind: outcome.value} for outcome in outcomes.values()]
    if any(_refused(value, places) for value in values):
        return True
    parts = [value["ok"].get("partitions") for value in values if isinstance(value.get("ok"), dict)]
    if len(parts) == len(values) and all(isinstance(part, dict) for part in parts):
        return _allowed_partitions([value["ok"] for value in values], places)
    ranges = [value["ok"].get("range") for value in values if isinstance(value.get("ok"), dict)]
    return len(ranges) == len(values) and any(_refused(part, places) for part in ranges)


def _allowed_partitions(values: list[dict[str, Any]], places: Places) -> bool:
    spared = {number for value in values for number, part in value["partitions"].items() if _refused(part, places)}
    if not spared:
        return False
    left = [
        {**value, "partitions": {number: part for number, part in value["partitions"].items() if number not in spared}}
        for value in values
    ]
    return len({normalise({"ok": value}) for value in left}) == 1


def _refused(value: Any, places: Places) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("error"), dict):
        return False
    error = value["error"]
    return error.get("code") == _TOLERATED and (error.get("file"), error.get("offset")) in places


def _comparable(outcome: Outcome) -> str:
    return normalise({outcome.kind: outcome.value})


def signature(what: str, outcomes: Mapping[str, Outcome]) -> str:
    """Equal for findings that are probably one: the request, and each testee's verdict and code."""
    said = []
    for name, outcome in sorted(outcomes.items()):
        code = outcome.value.get("code") if outcome.kind == "error" else None
        said.append(f"{name} {outcome.kind}{' ' + str(code) if code else ''}")
    return f"{what}: {', '.join(said)}"


def show(outcome: Outcome) -> str:
    """An answer in a line."""
    if outcome.kind == "error":
        return describe_error(outcome.value)
    text = f"{outcome.kind} {json.dumps(outcome.value, sort_keys=True)}"
    return text if len(text) <= 400 else text[:400] + " ..."
