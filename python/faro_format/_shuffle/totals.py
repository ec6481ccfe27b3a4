"""Sums over the outputs of a shuffle, one for each partition, in memory for those that are not zero."""

from __future__ import annotations

from collections import Counter

import numpy as np

from faro_format._bytes.spans import Ints, U64s
from faro_format._picture.sizes import Sizes, added

_WAITING = 1 << 17
"""How many numbers wait, at most about, before they are added."""


class Totals:
    """The sums of one number."""

    def __init__(self) -> None:
        """Begin with zeros."""
        self._numbers: list[Ints] = []
        self._values: list[U64s] = []
        self._waiting = 0
        self._shared: Counter[tuple[int, int]] = Counter()

    def add(self, first: int, end: int, numbers: Ints, values: U64s, to_all: int) -> None:
        """Add an output.

        Args:
            first: its first partition.
            end: one more than its last.
            numbers: its partitions that have a value.
            values: these values.
            to_all: what each of its partitions has besides.
        """
        if to_all:
            self._shared[first, end] += to_all
        # Copies: a view would keep the whole footer.
        self._numbers.append(numbers.copy())
        self._values.append(values.copy())
        self._waiting += numbers.size
        if self._waiting > max(_WAITING, 2 * self._numbers[0].size):
            self._settle()

    def _settle(self) -> None:
        if self._numbers:
            numbers, values = added(np.concatenate(self._numbers), np.concatenate(self._values))
            self._numbers, self._values, self._waiting = [numbers], [values], numbers.size

    def sizes(self, first: int, end: int) -> Sizes:
        """Return the sums of the partitions of the shuffle."""
        self._settle()
        none: Ints = np.zeros(0, np.int64)
        numbers = self._numbers[0] if self._numbers else none
        values = self._values[0] if self._values else none.astype(np.uint64)
        return Sizes(first, end, numbers, values, [(*bounds, each) for bounds, each in self._shared.items()])
