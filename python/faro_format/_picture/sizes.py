"""The stored bytes of partitions, most of which may be empty: sums, the largest, and bins for a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from faro_format._bytes.spans import Ints, U64s

_NONE: Ints = np.zeros(0, np.int64)
Floats = npt.NDArray[np.float64]


def exact_sum(values: U64s) -> int:
    """Return a sum that may be above 64 bits."""
    low, high = values & np.uint64(2**32 - 1), values >> np.uint64(32)
    return (int(high.sum()) << 32) + int(low.sum())


def nonzero(vector: U64s | None, first: int) -> tuple[Ints, U64s]:
    """Return which partitions have a value that is not zero, and these values."""
    if vector is None:
        return _NONE, _NONE.astype(np.uint64)
    at = np.flatnonzero(vector)
    return at + first, vector[at]


def added(numbers: Ints, values: U64s) -> tuple[Ints, U64s]:
    """Return each number once, ascending, with the sum of its values; a sum beyond 64 bits is the largest number."""
    kept, places = np.unique(numbers, return_inverse=True)
    sums = np.zeros(kept.size, np.uint64)
    np.add.at(sums, places, values)
    high = np.zeros(kept.size, np.float64)
    np.add.at(high, places, values.astype(np.float64))
    sums[high >= 2.0**64] = np.uint64(2**64 - 1)
    return kept, sums


@dataclass(frozen=True)
class Bin:
    """Neighbouring partitions that share a bar."""

    low: int
    high: int
    """One more than the last."""
    most: float
    """Bytes of the largest of them."""
    total: float
    """Bytes of all of them."""


@dataclass(frozen=True)
class Sizes:
    """What each partition reads. Memory is taken for partitions that have bytes of their own."""

    first: int
    end: int
    """One more than the last partition."""
    numbers: Ints
    """The partitions with bytes of their own, ascending."""
    values: U64s
    """These bytes."""
    shared: Sequence[tuple[int, int, int]]
    """Bytes that each partition of a range reads besides: the first, one more than the last, and the bytes."""

    @property
    def count(self) -> int:
        """How many partitions there are."""
        return self.end - self.first

    @property
    def total(self) -> int:
        """The bytes that all partitions read together."""
        return exact_sum(self.values) + sum((end - first) * each for first, end, each in self.shared)

    @property
    def mean(self) -> float:
        """The bytes of a partition on average."""
        return self.total / self.count if self.count else 0.0

    @property
    def empty(self) -> int:
        """How many partitions read nothing."""
        if any(each for *_, each in self.shared):
            covered = self._shared_of(np.arange(self.first, self.end)) if self.count <= 1 << 20 else None
            if covered is None:
                return 0
            covered[self.numbers - self.first] += self.values
            return int((covered == 0).sum())
        return self.count - int(self.numbers.size)

    @property
    def skew(self) -> float:
        """The largest partition as a multiple of the mean; 0 if all are empty."""
        mean = self.mean
        return self.most / mean if mean else 0.0

    @property
    def most(self) -> float:
        """The bytes of the largest partition."""
        # Outside of partitions with bytes of their own, the sum of ranges is largest where one begins.
        starts = np.unique(np.array([first for first, *_ in self.shared], np.int64))
        found = np.append(self.of(self.numbers), self._shared_of(starts))
        return float(found.max()) if found.size else 0.0

    def of(self, numbers: Ints) -> Floats:
        """Return the bytes of some partitions."""
        found = self._shared_of(numbers)
        at = np.searchsorted(self.numbers, numbers)
        known = at < self.numbers.size
        known[known] = self.numbers[at[known]] == numbers[known]
        found[known] += self.values[at[known]]
        return found

    def largest(self, count: int) -> list[tuple[int, float]]:
        """Return the largest partitions that have bytes of their own, the largest first, with their bytes."""
        found = self.of(self.numbers)
        order = np.argsort(-found, kind="stable")[:count]
        return list(zip(self.numbers[order].tolist(), found[order].tolist(), strict=True))

    def bins(self, most: int) -> list[Bin]:
        """Return all partitions in at most this many bins of one width."""
        if not self.count:
            return []
        width = -(-self.count // most)
        lows = np.arange(self.first, self.end, width, dtype=np.int64)
        highs = np.minimum(lows + width, self.end)
        index = (self.numbers - self.first) // width
        largest = self._shared_of(lows)
        np.maximum.at(largest, index, self.of(self.numbers))
        total = np.zeros(lows.size)
        np.add.at(total, index, self.values.astype(np.float64))
        for first, end, each in self.shared:
            total += each * np.maximum(np.minimum(highs, end) - np.maximum(lows, first), 0)
        rows = zip(lows.tolist(), highs.tolist(), largest.tolist(), total.tolist(), strict=True)
        return [Bin(*row) for row in rows]

    def _shared_of(self, numbers: Ints) -> Floats:
        found = np.zeros(numbers.size)
        for first, end, each in self.shared:
            found[(numbers >= first) & (numbers < end)] += each
        return found
