"""Decides whether answers to one request agree, and where the specification lets implementations differ."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from faro_conformance.protocol import FREE_TEXT, Outcome, describe_error, normalise
from generate.raw import BLOCK_HEADER_SIZE

from differential import frames
from differential.blocks import Files
from differential.frames import Verdict

_TOLERATED = "malformed-block"
_FAILED = ("crash", "timeout", "garbage")
# Whether COD-2 or COD-4 leave an error to the decoder.
Spared = Callable[[Any], bool]


@dataclass
class Payloads:
    """The compressed payloads of some files, judged if answers differ there."""

    files: Files
    _known: dict[tuple[str, int, int], Verdict] = field(default_factory=dict)

    def spared(self, limits: Mapping[str, int]) -> Spared:
        """Whether an error is a refusal that COD allows but does not demand, under the limits of the request."""
        window = limits.get("max_window_size", frames.DEFAULT_WINDOW)

        def check(value: Any) -> bool:
            error = value.get("error") if isinstance(value, dict) else None
            if not isinstance(error, dict) or error.get("code") != _TOLERATED:
                return False
            role, offset = error.get("file"), error.get("offset")
            if role not in self.files or not isinstance(offset, int):
                return False
            return self.verdict(role, offset, window) is Verdict.MAY

        return check

    def verdict(self, role: str, offset: int, window: int) -> Verdict | None:
        """The verdict of COD on the payload at an offset; None if no payload begins there."""
        key = (role, offset, window)
        if key not in self._known:
            data, begin = self.files[role], offset - BLOCK_HEADER_SIZE
            if begin < 0 or offset > len(data):
                return None
            stored, plain = struct.unpack_from("<II", data, begin)
            codec = data[begin + 17]
            if codec not in (1, 2) or offset + stored > len(data):
                return None
            self._known[key] = frames.judge(codec, data[offset : offset + stored], plain, window)
        return self._known[key]


def nothing_spared(_: Any) -> bool:
    """For files without compressed payloads."""
    return False


def disagreement(outcomes: Mapping[str, Outcome], spared: Spared = nothing_spared) -> str | None:
    """Why these answers are a finding, or None."""
    for name, outcome in outcomes.items():
        if outcome.kind in _FAILED:
            return f"{name}: {outcome.kind}"
    answered = {name: outcome for name, outcome in outcomes.items() if outcome.kind != "unsupported"}
    values: list[dict[str, Any]] = [{outcome.kind: outcome.value} for outcome in answered.values()]
    if len({normalise(value) for value in values}) < 2 or _agree_but_for_decoders(values, spared):
        return None
    return "; ".join(f"{name}: {outcome}" for name, outcome in answered.items())


def differ(outcomes: Mapping[str, Outcome]) -> bool:
    """Whether the answers differ. If that is not a finding, the difference was accepted."""
    return len({normalise({item.kind: item.value}) for item in outcomes.values() if item.kind != "unsupported"}) > 1


def _agree_but_for_decoders(values: list[dict[str, Any]], spared: Spared) -> bool:
    left = [value for value in values if not spared(value)]
    if len(_distinct(left)) < 2:
        return True
    said = [value.get("ok") for value in left]
    if not all(isinstance(value, dict) for value in said):
        return False
    for name in ("partitions", "range"):
        if all(isinstance(value, dict) and isinstance(value.get(name), dict) for value in said):
            return _agree_in_parts([value for value in said if isinstance(value, dict)], name, spared)
    return False


def _agree_in_parts(values: list[dict[str, Any]], name: str, spared: Spared) -> bool:
    """Compares each partition: testees that may refuse it are left out, the others must agree; so must the rest."""
    if len(_distinct([{**value, name: None} for value in values])) > 1:
        return False
    if name == "range":
        return len(_distinct([value[name] for value in values if not spared(value[name])])) < 2
    numbers = {number for value in values for number in value[name]}
    return all(
        len(_distinct([value[name].get(number) for value in values if not spared(value[name].get(number))])) < 2
        for number in numbers
    )


def _distinct(values: list[Any]) -> set[str]:
    return {json.dumps(_without_free_text(value), sort_keys=True) for value in values}


def _without_free_text(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    stripped = {name: _without_free_text(member) for name, member in value.items()}
    if isinstance(value.get("error"), dict):
        stripped["error"] = {name: member for name, member in value["error"].items() if name not in FREE_TEXT}
    return stripped


def signature(what: str, outcomes: Mapping[str, Outcome]) -> str:
    """Equal for findings that are probably the same: the request, and the verdict and code of each testee."""
    said = []
    for name, outcome in sorted(outcomes.items()):
        code = outcome.value.get("code") if outcome.kind == "error" else None
        said.append(f"{name} {outcome.kind}{' ' + str(code) if code else ''}")
    return f"{what}: {', '.join(said)}"


def show(outcome: Outcome) -> str:
    """An answer on one line."""
    if outcome.kind == "error":
        return describe_error(outcome.value)
    text = f"{outcome.kind} {json.dumps(outcome.value, sort_keys=True)}"
    return text if len(text) <= 400 else text[:400] + " ..."
