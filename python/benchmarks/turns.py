"""Whole passes of all subjects in turns, and the lines that are handed over."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Pass:
    """What one pass of a subject left."""

    seconds: float
    sizes: dict[str, int] = field(default_factory=dict)
    """stored_bytes, index_bytes, files."""


@dataclass
class Subject:
    """Something that does a case's work."""

    name: str
    work: Callable[[], Pass]
    plain_bytes: int | None = None
    """If it moves other bytes than the case says."""
    writes: bool = False
    """Whether it writes new files.

    The host of a virtual machine may have taken back what memory is free, and the first to write to it waits for the
    host, ten times as long as writing takes. So each pass is done three times in a row, and the fastest counts.
    """


def timed(action: Callable[[], object]) -> float:
    """Return how many seconds an action takes."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def measure(
    part: str, case: dict[str, Any], plain_bytes: int, subjects: list[Subject], repetitions: int, out: Path
) -> None:
    """Let subjects take turns after an unmeasured pass each, and append their lines.

    Args:
        part: of bench/README.md.
        case: what names the case.
        plain_bytes: what one pass moves.
        subjects: who takes part; who begins moves on with each turn.
        repetitions: measured passes of each.
        out: the file of lines.
    """
    passes: dict[str, list[Pass]] = {subject.name: [] for subject in subjects}
    for turn in range(repetitions + 1):
        first = turn % len(subjects)
        for subject in subjects[first:] + subjects[:first]:
            if not turn:
                subject.work()
                continue
            done = [subject.work() for _ in range(3 if subject.writes else 1)]
            passes[subject.name].append(min(done, key=lambda one: one.seconds))
    with out.open("a") as file:
        for subject in subjects:
            last = passes[subject.name][-1]
            line = {
                "part": part,
                "language": "python",
                "subject": subject.name,
                "case": case,
                "seconds": [one.seconds for one in passes[subject.name]],
                "plain_bytes": plain_bytes if subject.plain_bytes is None else subject.plain_bytes,
                **last.sizes,
            }
            file.write(json.dumps(line) + "\n")
