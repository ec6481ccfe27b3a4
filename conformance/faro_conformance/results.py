"""Results: one `Result` for each case and testee, and their sums."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Status = Literal["passed", "failed", "skipped", "expected-failure"]

# The prefixes of clause numbers, with the chapters of spec/README.md, in its order.
CHAPTERS = {
    "INT": "Introduction",
    "HDR": "File header",
    "BLK": "Blocks",
    "COD": "Compression",
    "FIL": "Files",
    "TAIL": "The tail",
    "OPN": "Opening",
    "MSG": "Messages",
    "CAN": "Canonical bytes",
    "REG": "Region message",
    "FTR": "Footer message",
    "SCH": "Schema message",
    "PRT": "Reading",
    "CHK": "Checking",
    "FOL": "Following",
    "FRM": "Framing",
    "WRT": "Writing",
    "SRT": "Sort buffer",
    "PUB": "Publishing",
    "REP": "Repair",
    "ERR": "Errors",
    "LIM": "Limits",
    "VER": "Versions and features",
    "SEC": "Security",
    "KEY": "Key hash",
}
PROTOCOL_CHAPTER = "Protocol"


@dataclass(frozen=True)
class Failure:
    """One difference from the expected outcome."""

    what: str
    expected: str
    got: str
    # Further details for people. Expected failures are not compared with them.
    detail: str = ""

    @property
    def outcome(self) -> str:
        """The wrong outcome, in the form of the lists of expected failures."""
        return f"{self.what}: {self.got}"

    def __str__(self) -> str:
        text = f"{self.what}: expected {self.expected}, got {self.got}"
        return f"{text} ({self.detail})" if self.detail else text


@dataclass(frozen=True)
class Result:
    """The result of one case with one testee. `writer` is set in the writer x reader matrix."""

    case: str
    testee: str
    status: Status
    clauses: tuple[str, ...] = ()
    op: str = ""
    title: str = ""
    recommended: bool = False
    failures: tuple[Failure, ...] = ()
    # Why it was skipped, or why its failure is expected.
    reason: str = ""
    seconds: float = 0.0
    writer: str | None = None

    @property
    def chapter(self) -> str:
        """The chapter of the case's first clause in the specification."""
        if not self.clauses:
            return PROTOCOL_CHAPTER
        return CHAPTERS.get(self.clauses[0].split("-")[0], self.clauses[0].split("-")[0])


@dataclass
class Totals:
    """The sums of one testee. Failures of SHOULD cases are counted separately: they do not make the run fail."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    expected_failures: int = 0
    recommended: int = 0

    def __str__(self) -> str:
        text = f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"
        if self.expected_failures:
            text += f", {self.expected_failures} failed as expected"
        if self.recommended:
            text += f", {self.recommended} recommendations not followed"
        return text


@dataclass
class Run:
    """All results of one run of the suite."""

    # By the name of the testee: its answer to `hello`.
    testees: dict[str, dict[str, object]] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)
    # Testees that could not be started, and the errors of expected-failure files.
    not_started: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def totals(self) -> dict[str, Totals]:
        """The sums by testee."""
        sums = {name: Totals() for name in self.testees}
        for result in self.results:
            count(sums.setdefault(result.testee, Totals()), result)
        return sums

    @property
    def failed(self) -> bool:
        """Whether anything failed."""
        return bool(self.errors) or any(totals.failed for totals in self.totals().values())


def count(totals: Totals, result: Result) -> None:
    """Add one result to the sums."""
    if result.status == "passed":
        totals.passed += 1
    elif result.status == "skipped":
        totals.skipped += 1
    elif result.status == "expected-failure":
        totals.expected_failures += 1
    elif result.recommended:
        totals.recommended += 1
    else:
        totals.failed += 1


def chapter_order(results: Iterable[Result]) -> list[str]:
    """The chapters that occur, in the specification's order."""
    order = [PROTOCOL_CHAPTER, *CHAPTERS.values()]
    found = {result.chapter for result in results}
    return sorted(found, key=lambda chapter: (order.index(chapter) if chapter in order else len(order), chapter))
