"""Compares a testee's answers and files with the expected ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from faro_conformance.protocol import Json, Outcome, describe_error
from faro_conformance.results import Failure

# Objects whose members must all be expected. In other objects, unexpected members are ignored.
_EXACT = {"partitions", "kinds", "properties"}
# ERR-4. For all other errors these texts are free.
_CHECKSUM_WORDS = {"expected": re.compile("stored [0-9a-f]{8}"), "found": re.compile("computed [0-9a-f]{8}")}


def differences(expected: Json, got: Json, where: str = "") -> Iterator[tuple[str, Json, Json]]:
    """Where `got` does not match `expected`, by the rules of cases/README.md: place, expected, got."""
    if isinstance(expected, dict) and isinstance(got, dict):
        if where and ("error" in expected) != ("error" in got):
            # One was refused and the other one was read: they differ as a whole.
            yield where, expected, got
            return
        if where.rsplit(".", 1)[-1] in _EXACT:
            for name in sorted(got.keys() - expected.keys()):
                yield f"{where}.{name}", "nothing", got[name]
        for name, member in expected.items():
            inner = f"{where}.{name}" if where else name
            if name not in got:
                yield inner, member, "nothing"
            else:
                yield from differences(member, got[name], inner)
    elif isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got):
            yield where, expected, got
            return
        for index, (wanted, found) in enumerate(zip(expected, got, strict=True)):
            yield from differences(wanted, found, f"{where}[{index}]")
    elif type(expected) is not type(got) or expected != got:
        # Types are compared too: in Python, true equals 1.
        yield where, expected, got


def compare_outcome(what: str, expected: dict[str, Json], outcome: Outcome) -> Failure | None:
    """Compare an outcome with `{"ok": ...}` or `{"error": ...}`."""
    wanted = describe_error(expected["error"]) if "error" in expected else "ok"
    if outcome.kind not in expected:
        return Failure(what, wanted, str(outcome), outcome.detail if outcome.kind != "error" else _free_text(outcome))
    found = list(differences(expected[outcome.kind], outcome.value))
    if not found:
        misworded = next(_misworded(outcome.value), None)
        return None if misworded is None else Failure(what, "the words of ERR-4", misworded)
    if outcome.kind == "error":
        return Failure(what, wanted, str(outcome), _free_text(outcome))
    place, expected_there, got_there = found[0]
    detail = f"and {len(found) - 1} more differences" if len(found) > 1 else ""
    return Failure(what, f"{place} = {_short(expected_there)}", f"{place} = {_short(got_there)}", detail)


def _misworded(value: Json) -> Iterator[str]:
    """The texts of checksum faults that do not have the form of ERR-4. A testee may omit them."""
    if isinstance(value, dict):
        if value.get("code") == "checksum":
            for name, pattern in _CHECKSUM_WORDS.items():
                text = value.get(name)
                if text is not None and not pattern.fullmatch(text):
                    yield f"{name}: {text}"
        for member in value.values():
            yield from _misworded(member)


def compare_files(what: str, expected: Path | None, got: Path) -> Failure | None:
    """Compare a file byte for byte with the expected one. None: the file must not exist."""
    if expected is None:
        return Failure(what, "no file", "a file", got.name) if got.exists() else None
    if not got.exists():
        return Failure(what, "a file", "no file", got.name)
    return compare_bytes(what, expected.read_bytes(), got.read_bytes())


def compare_bytes(what: str, expected: bytes, got: bytes) -> Failure | None:
    """As `compare_files`, with the first byte that differs."""
    if expected == got:
        return None
    offset = first_difference(expected, got)

    def there(data: bytes) -> str:
        return f"{len(data)} bytes with {data[offset : offset + 16].hex(' ') or 'the end'} at {offset}"

    return Failure(what, there(expected), f"differs at {offset}", there(got))


def first_difference(left: bytes, right: bytes) -> int:
    """The first offset at which two byte strings differ."""
    low, high = 0, min(len(left), len(right))
    if left[:high] == right[:high]:
        return high
    while low + 1 < high:
        middle = (low + high) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _free_text(outcome: Outcome) -> str:
    parts = [f"{name} {outcome.value[name]!r}" for name in ("expected", "found") if outcome.value.get(name)]
    return "it says: " + ", ".join(parts) if parts else ""


def _short(value: Json) -> str:
    if isinstance(value, dict) and isinstance(value.get("error"), dict):
        return describe_error(value["error"])
    text = value if value == "nothing" else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= 200 else text[:200] + " ..."
