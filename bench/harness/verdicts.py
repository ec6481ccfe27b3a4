"""How a target is decided: by ratios of two subjects, cell by cell, or by a figure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from harness.figures import Results, Spread, speed
from harness.lines import Key, Line

Verdict = tuple[bool | None, str]
"""Whether a target is met, None if it was not measured; and the figures that decide."""
Name = tuple[str, str]
"""Language and subject."""
NOT_MEASURED: Verdict = (None, "")

GB = 1e9


@dataclass(frozen=True)
class Target:
    """A target."""

    id: str
    text: str
    decide: Callable[[Results], Verdict]

    def judge(self, results: Results) -> dict[str, str]:
        """The target as an entry of a file of results."""
        met, found = self.decide(results)
        state = {True: "met", False: "not met", None: "not measured"}[met]
        return {"id": self.id, "text": self.text, "state": state, "found": found}


@dataclass(frozen=True)
class Cell:
    """The ratio of two subjects in a case, and the least that is wanted there."""

    key: Key
    ratio: Spread
    least: float
    peer: str = ""
    """The other subject, where a target compares several."""

    @property
    def met(self) -> bool:
        """Whether the median is as large as wanted."""
        return self.ratio.median >= self.least

    def __str__(self) -> str:
        return " ".join(filter(None, (short_name(self.key), self.peer)))


def short_name(key: Key) -> str:
    """A short name of a case."""
    names = {"partitions": "P", "buffer_mib": "MiB", "record_bytes": "B", "threads": "T"}
    told = (
        f"{names[name]}={value}" if name in names else str(value)
        for name, value in key
        if name not in ("data", "plain_bytes") and (name, value) not in (("codec", "none"), ("record_bytes", 100))
    )
    other = [str(value) for name, value in key if name == "data" and value != "text"]
    return " ".join([*told, *other])


def cells(
    results: Results, mine: Name, theirs: Name, part: str, least: float | Callable[[dict[str, Any]], float], **case: Any
) -> list[Cell]:
    """The cells in which both were measured; `least` may depend on the case."""
    found = results.ratios(mine, theirs, part, **case)
    return [Cell(key, ratio, least(dict(key)) if callable(least) else least) for key, ratio in found]


def decide(found: Iterable[Cell], middle: float | None = None) -> Verdict:
    """Compare each cell with the least that is wanted, and the median of all with `middle`."""
    compared = list(found)
    if not compared:
        return NOT_MEASURED
    median = statistics.median(one.ratio.median for one in compared)
    missed = [one for one in compared if not one.met]
    # The cell that is furthest below what is wanted, or the nearest to it.
    worst = min(compared, key=lambda one: one.ratio.median / one.least)
    ratio = worst.ratio
    text = f"{ratio.median:.2f} ({ratio.least:.2f} to {ratio.most:.2f}) at {worst}"
    if len({one.least for one in compared}) > 1:
        text += f" ({worst.least:.2f} wanted)"
    if len(compared) > 1:
        text += f"; median of {len(compared)} cells {median:.2f}"
        text += f", {len(missed)} missed" if missed else ""
    return not missed and (middle is None or median >= middle), text


def decide_speeds(lines: list[Line], least: float) -> Verdict:
    """Compare the speed of each line with the least that is wanted, in bytes a second."""
    if not lines:
        return NOT_MEASURED
    worst = min(lines, key=lambda line: speed(line).median)
    found = speed(worst)
    spread = f"{found.least / GB:.1f} to {found.most / GB:.1f}"
    return found.median >= least, f"{found.median / GB:.1f} GB/s ({spread}) at {short_name(worst.key)}"


def figure(part: str, name: str, most: float, unit: str = "", scale: float = 1.0) -> Callable[[Results], Verdict]:
    """Compares a figure that every language reports with a limit."""

    def decided(results: Results) -> Verdict:
        found = [float(line.figures[name]) for line in results.select(part, subject="faro") if name in line.figures]
        if not found:
            return NOT_MEASURED
        return max(found) <= most, f"{max(found) / scale:.4g}{unit}"

    return decided
