"""Which blocks of which producers a merged file has, from the runs of its regions in order (MRG-2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Run(NamedTuple):
    """The blocks of one producer in one own extent of a merged file (REG-8)."""

    producer: int
    attempt: int
    first_block: int
    """The number of the first block among those that the partition reads from the producer's output (FRG-1)."""
    blocks: int
    length: int
    """Bytes, with headers and padding."""
    last: bool
    """Whether the producer has no further block for the partition."""


class Held(NamedTuple):
    """How much of a partition a file has of one producer."""

    blocks: int
    """It has the blocks with the numbers below this."""
    complete: bool


_NOTHING = Held(0, False)


class Holdings:
    """The blocks of all producers and partitions."""

    def __init__(self) -> None:
        """Begin without any."""
        self._attempts: dict[int, int] = {}
        self._held: dict[tuple[int, int], Held] = {}
        self._patchy = False

    def attempt(self, producer: int) -> int | None:
        """Return the attempt of a producer that has a run."""
        return self._attempts.get(producer)

    def held(self, producer: int, partition: int) -> Held:
        """Return what there is of a producer and a partition."""
        return self._held.get((producer, partition), _NOTHING)

    def add(self, partition: int, run: Run) -> str | None:
        """Add a run. Return the rule that it breaks, or None."""
        attempt = self._attempts.setdefault(run.producer, run.attempt)
        held = self._held.get((run.producer, partition), _NOTHING)
        if attempt != run.attempt:
            return f"a run of attempt {run.attempt} of producer {run.producer} after one of attempt {attempt}"
        if held.complete:
            return f"a run of producer {run.producer} after its last in partition {partition}"
        if run.first_block != held.blocks and not (self._patchy and run.first_block > held.blocks):
            return f"a run from block {run.first_block} on after {held.blocks} blocks in partition {partition}"
        self._held[run.producer, partition] = Held(run.first_block + run.blocks, run.last)
        return None

    def add_region(self, runs: Iterable[tuple[int, Run]]) -> str | None:
        """Add the runs of a region, each with its partition.

        Returns:
            The rule that one breaks, or None. If one breaks a rule, nothing of the region stays.
        """
        attempts: dict[int, int | None] = {}
        held: dict[tuple[int, int], Held | None] = {}
        for partition, run in runs:
            key = run.producer, partition
            attempts.setdefault(run.producer, self._attempts.get(run.producer))
            held.setdefault(key, self._held.get(key))
            broken = self.add(partition, run)
            if broken is not None:
                for producer, attempt in attempts.items():
                    _restore(self._attempts, producer, attempt)
                for key, before in held.items():
                    _restore(self._held, key, before)
                return broken
        return None

    def skip_region(self) -> None:
        """Note that a region was refused, so that runs may begin later than is known (MRG-13)."""
        self._patchy = True


def _restore(known: dict, key: object, value: object | None) -> None:  # type: ignore[type-arg]
    if value is None:
        known.pop(key, None)
    else:
        known[key] = value
