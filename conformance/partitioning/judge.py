"""Counts comparisons, and records faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_SHOWN = 3


class Judge:
    """Counts, and the faults."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.tables = 0
        self.rows = 0

    def fault(self, what: str) -> None:
        """Record and show a fault."""
        self.faults.append(what)
        print(f"    FAULT {what}", flush=True)

    def compare(self, what: str, keys: Sequence[Any], found: Sequence[Any], expected: Sequence[Any]) -> None:
        """Compare values of rows with the expected ones. A fault shows the first rows that differ, with keys."""
        self.rows += len(found)
        if len(found) != len(expected):
            self.fault(f"{what}: {len(found)} rows, expected {len(expected)}")
            return
        wrong = [row for row in range(len(found)) if found[row] != expected[row]]
        if wrong:
            shown = "; ".join(
                f"{keys[row]!r:.80} is {found[row]!r:.80}, not {expected[row]!r:.80}" for row in wrong[:_SHOWN]
            )
            self.fault(f"{what}: {len(wrong)} of {len(found)} rows: {shown}")

    def balanced(self, what: str, partitions: Sequence[int], count: int) -> None:
        """By range, no partition begins later than its share of the rows."""
        for partition in range(1, count):
            before = sum(1 for row in partitions if row < partition)
            if before > partition * len(partitions) // count:
                self.fault(f"{what}: {before} of {len(partitions)} rows come before partition {partition} of {count}")
                return
