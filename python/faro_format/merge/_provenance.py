"""Whose blocks a merged file has (MRG-2, MRG-11). A file that is not merged has no runs."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from faro_format._arguments import integer
from faro_format._error import invalid
from faro_format._index.holdings import Holdings, Run
from faro_format._index.regions import Region
from faro_format._reader.delivery import PartitionReader
from faro_format.merge._resuming import fault_of_runs


class PlacedRun(NamedTuple):
    """A run of a partition, and where it is."""

    region: int
    offset: int
    """Where its first block begins in the data file."""
    run: Run


class Have(NamedTuple):
    """What a merged file has of one producer in a partition: the blocks with the numbers below ``blocks``."""

    producer: int
    attempt: int
    blocks: int
    complete: bool
    """Whether the producer has no further block for the partition."""


class Expected(NamedTuple):
    """A producer that a reader expects, with the attempt whose output counts."""

    producer: int
    attempt: int


class Missing(NamedTuple):
    """A producer that a merged file does not have completely in a partition."""

    producer: int
    attempt: int
    from_block: int
    """The number of the first block that the file does not have."""


def runs(reader: PartitionReader, partition: int) -> list[PlacedRun]:
    """Return the runs of a partition, in order.

    Args:
        reader: a reader, or a follower: then of the regions that it has seen.
        partition: its absolute number.

    Raises:
        FaroError: ``invalid-argument`` for a partition that the file does not have; a fault of REG-10;
            ``inconsistent-index`` for runs that contradict each other (MRG-2).
    """
    partition = reader._check_partition(partition)
    holdings = Holdings()
    found: list[PlacedRun] = []
    for number in range(reader.region_count):
        region = reader._region(number)
        hold(holdings, reader, region)
        found += runs_of(region, partition)
    return found


def hold(holdings: Holdings, reader: PartitionReader, region: Region) -> None:
    """Add the runs of a region, or raise the fault of one that breaks MRG-2."""
    broken = holdings.add_region((partition, run) for partition, _, run in region.runs())
    if broken is not None:
        raise fault_of_runs(reader._files.index.place, region.entry.message_offset, broken)


def runs_of(region: Region, partition: int) -> list[PlacedRun]:
    """Return the runs of a partition in a region."""
    return [PlacedRun(region.entry.number, at, run) for whose, at, run in region.runs() if whose == partition]


def have(reader: PartitionReader, partition: int) -> list[Have]:
    """Return what the file has of each producer in a partition, by producer, ascending.

    Raises:
        FaroError: as :func:`runs`.
    """
    found = _by_producer(runs(reader, partition))
    return [found[producer] for producer in sorted(found)]


def _by_producer(placed: list[PlacedRun]) -> dict[int, Have]:
    return {
        run.producer: Have(run.producer, run.attempt, run.first_block + run.blocks, run.last) for _, _, run in placed
    }


def missing(reader: PartitionReader, partition: int, expected: Iterable[Expected | tuple[int, int]]) -> list[Missing]:
    """Return which of the expected producers are not complete in a partition, ascending.

    A producer without any block for a partition pushes nothing, and is never complete there.

    Raises:
        FaroError: as :func:`runs`; ``invalid-argument`` for a producer that is named twice.
    """
    wanted = ordered(expected)
    known = _by_producer(runs(reader, partition))
    found: list[Missing] = []
    for producer, attempt in wanted:
        there = known.get(producer)
        same = there if there is not None and there.attempt == attempt else None
        if same is None or not same.complete:
            found.append(Missing(producer, attempt, 0 if same is None else same.blocks))
    return found


def ordered(expected: Iterable[Expected | tuple[int, int]]) -> list[Expected]:
    """Return the expected producers, ascending. None is named twice."""
    found = sorted(
        Expected(integer("producer", producer, 0, 2**64 - 1), integer("attempt", attempt, 0, 2**64 - 1))
        for producer, attempt in expected
    )
    for before, after in pairwise(found):
        if before.producer == after.producer:
            raise invalid("each producer once", f"producer {before.producer} twice")
    return found
