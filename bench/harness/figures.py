"""Medians, spreads and ratios."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.lines import Key, Line


@dataclass(frozen=True)
class Spread:
    """The spread of some measurements."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """The spread of one value or more."""
        return cls(statistics.median(values), min(values), max(values))

    @property
    def relative(self) -> float:
        """The range of the values, as a share of their median."""
        return (self.most - self.least) / self.median


def speed(line: Line) -> Spread:
    """Bytes of plain data a second."""
    return Spread.of(line.speeds)


def ratio(line: Line, peer: Line) -> Spread:
    """How many times as fast a subject is as its peer.

    Computed from the medians, as single repetitions may be disturbed. The range is the one of the ratios repetition
    by repetition.
    """
    each = Spread.of([mine / theirs for mine, theirs in zip(line.speeds, peer.speeds, strict=False)])
    middle = speed(line).median / speed(peer).median
    return Spread(middle, min(middle, each.least), max(middle, each.most))


@dataclass(frozen=True)
class Turns:
    """The ratio of two subjects, turn by turn. The programs were restarted for each turn."""

    count: int
    mean: float
    """The geometric mean of the ratios of each turn's medians."""
    error: float
    """The standard error of the mean, as a share of it."""

    @classmethod
    def of(cls, line: Line, peer: Line) -> Turns | None:
        """The ratio of two subjects that were measured in the same turns, if there were at least two turns."""
        if line.turns < 2 or (line.turns, len(line.seconds)) != (peer.turns, len(peer.seconds)):
            return None
        ratios = [math.log(b / a) for a, b in zip(_medians(line), _medians(peer), strict=True)]
        error = statistics.stdev(ratios) / math.sqrt(len(ratios))
        return cls(len(ratios), math.exp(statistics.mean(ratios)), error)


def _medians(line: Line) -> list[float]:
    size = len(line.seconds) // line.turns
    return [statistics.median(line.seconds[turn * size : (turn + 1) * size]) for turn in range(line.turns)]


class Results:
    """The lines of a run, with look-ups by part, case and subject."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.lines = list(lines)

    def select(self, part: str, language: str | None = None, subject: str | None = None, **case: Any) -> list[Line]:
        """The lines of a part whose case has these values; of one language and subject, if given."""
        return [
            line
            for line in self.lines
            if line.part == part
            and language in (None, line.language)
            and subject in (None, line.subject)
            and all(line.case.get(key) == value for key, value in case.items())
        ]

    def peer(self, line: Line, language: str, subject: str) -> Line | None:
        """The line of another subject in the same case, if there is one."""
        for other in self.lines:
            if other.part == line.part and other.name == (language, subject) and other.key == line.key:
                return other
        return None

    def ratios(
        self, mine: tuple[str, str], theirs: tuple[str, str], part: str, **case: Any
    ) -> list[tuple[Key, Spread]]:
        """The ratio of two subjects in each case in which both were measured."""
        found = []
        for line in self.select(part, mine[0], mine[1], **case):
            other = self.peer(line, *theirs)
            if other is not None:
                found.append((line.key, ratio(line, other)))
        return found
