"""Which partitions a producer pushes together, to which merger, and in which order (PSH)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import xxhash

from faro_format._arguments import integer
from faro_format._bytes.header import MAX_PARTITIONS
from faro_format._error import invalid

_U64 = 2**64 - 1


@dataclass(frozen=True)
class PlannedPush:
    """One push of a :class:`PushPlan`: a range of partitions, for :func:`fragment`."""

    merger: int
    """The number of the merger that gets it."""
    first: int
    """The first partition of the range."""
    end: int
    """The partition after the last of the range."""
    bytes: int
    """The bytes of these partitions in the output."""


@dataclass(frozen=True)
class PushPlan:
    """How the producers of a shuffle push their outputs to its mergers. Sizes are in bytes.

    ::

        plan = PushPlan(partition_count=8, mergers=2)
        stored = [reader.stored_bytes(partition) for partition in range(8)]
        for push in plan.pushes(producer, stored):
            fragment(reader, push.first, push.end, connections[push.merger])

    Raises:
        FaroError: ``invalid-argument`` for an option out of range.
    """

    partition_count: int
    mergers: int
    """How many mergers there are."""
    first_partition: int = 0
    push_size: int = 3 << 20
    """Bytes of a push, at most, except if it is of one partition."""
    largest_partition: int = 1 << 20
    """Bytes of a partition that is pushed, at most."""

    def __post_init__(self) -> None:
        """Check all options."""
        count = integer("partition_count", self.partition_count, 1, MAX_PARTITIONS)
        integer("first_partition", self.first_partition, 0, MAX_PARTITIONS - count)
        integer("mergers", self.mergers, 1, 2**32 - 1)
        integer("push_size", self.push_size, 0, _U64)
        integer("largest_partition", self.largest_partition, 0, _U64)

    def merger(self, partition: int) -> int:
        """Return the merger of a partition (PSH-1).

        Raises:
            FaroError: ``invalid-argument`` for a partition that the shuffle does not have.
        """
        first = self.first_partition
        place = integer("partition", partition, first, first + self.partition_count - 1) - first
        return place * self.mergers // self.partition_count

    def partitions(self, merger: int) -> range:
        """Return the partitions of a merger; none for some, if there are more mergers than partitions (PSH-1).

        Raises:
            FaroError: ``invalid-argument`` for a merger that the shuffle does not have.
        """
        integer("merger", merger, 0, self.mergers - 1)
        first, end = (
            self.first_partition - (-at * self.partition_count // self.mergers) for at in (merger, merger + 1)
        )
        return range(first, end)

    def pushes(self, producer: int, stored: Sequence[int]) -> list[PlannedPush]:
        """Return the pushes of a producer, in the order in which it makes them (PSH-2, PSH-3).

        Args:
            producer: Its number.
            stored: The bytes of each partition in its output, from the first one (``Reader.stored_bytes``).

        Raises:
            FaroError: ``invalid-argument`` for bytes of another number of partitions, or negative ones.
        """
        key = integer("producer", producer, 0, _U64).to_bytes(8, "little")
        if len(stored) != self.partition_count:
            raise invalid(f"stored: bytes of {self.partition_count} partitions", len(stored))

        def place(push: PlannedPush) -> tuple[int, int]:
            return xxhash.xxh64_intdigest(key + push.first.to_bytes(4, "little")), push.first

        return sorted(self._ranges(stored), key=place)

    def _ranges(self, stored: Sequence[int]) -> Iterator[PlannedPush]:
        push: PlannedPush | None = None
        for partition, size in enumerate(stored, self.first_partition):
            if integer("stored", size, 0, _U64) == 0:
                continue
            merger = self.merger(partition)
            large = size > self.largest_partition
            if push is not None and (large or push.merger != merger or push.bytes + size > self.push_size):
                yield push
                push = None
            if large:
                continue
            if push is None:
                push = PlannedPush(merger, partition, partition + 1, size)
            else:
                push = PlannedPush(merger, push.first, partition + 1, push.bytes + size)
        if push is not None:
            yield push
