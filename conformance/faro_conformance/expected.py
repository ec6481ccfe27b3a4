"""Expected failures: known faults of a testee, with the reason and the exact wrong outcome.

An entry says that the case fails with exactly this outcome. A pass, another outcome, and an entry that matches no
case are errors, so a list cannot become outdated.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from faro_conformance.protocol import SuiteError
from faro_conformance.results import Failure, Result
from faro_conformance.testees import load_toml

_OF_A_PAIR = re.compile(r"(?:pairs|canonical)/[^/]+/(.+)")
UNEXPECTED_PASS = "unexpected pass"


@dataclass(frozen=True)
class ExpectedFailure:
    """One entry."""

    id: str
    reason: str
    outcome: str


def load(path: Path | None) -> dict[str, ExpectedFailure]:
    """The entries of a file by case id; no file, no entries."""
    if path is None:
        return {}
    entries: dict[str, ExpectedFailure] = {}
    for table in load_toml(path).get("failure", []):
        if set(table) != {"id", "reason", "outcome"} or not all(
            isinstance(text, str) and text for text in table.values()
        ):
            raise SuiteError(f"{path}: each [[failure]] needs id, reason and outcome, as texts that are not empty")
        entry = ExpectedFailure(**table)
        if entry.id in entries:
            raise SuiteError(f"{path}: {entry.id} occurs twice")
        entries[entry.id] = entry
    return entries


def unmatched(entries: dict[str, ExpectedFailure], case_ids: Collection[str]) -> list[str]:
    """The entries whose case does not exist."""
    wrong = []
    for entry in entries.values():
        match = _OF_A_PAIR.fullmatch(entry.id)
        if (match[1] if match else entry.id) not in case_ids:
            wrong.append(entry.id)
    return wrong


def apply(result: Result, entries: dict[str, ExpectedFailure]) -> Result:
    """The result, after it was compared with the expected failures."""
    entry = entries.get(result.case)
    if entry is None or result.status == "skipped":
        return result
    if result.status == "passed":
        return replace(result, status="failed", failures=(Failure("expected failure", entry.outcome, UNEXPECTED_PASS),))
    outcome = result.failures[0].outcome
    if outcome == entry.outcome:
        return replace(result, status="expected-failure", reason=entry.reason)
    changed = Failure("expected failure", entry.outcome, "another outcome", outcome)
    return replace(result, failures=(changed, *result.failures))
