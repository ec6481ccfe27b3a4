"""A partition of a merged file, with the originals of what is missing: each block once (MRG-12, MRG-13)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from faro_format._block.block import BLOCK_HEADER_SIZE, Block
from faro_format._error import ErrorCode, FaroError
from faro_format._index.holdings import Holdings
from faro_format._index.regions import Extent
from faro_format._reader.delivery import PartitionReader
from faro_format._reader.extents import Sequences, read_extent
from faro_format._reader.reader import Reader
from faro_format._storage.input_file import Window
from faro_format.merge._provenance import Expected, PlacedRun, hold, ordered, runs_of
from faro_format.merge._resuming import fault_of_runs


class MergedBlock(NamedTuple):
    """A block of a producer, from a merged file or from the producer's own output."""

    producer: int
    number: int
    """Its position among the blocks that the partition reads from the producer's output (FRG-1)."""
    original: bool
    """Whether it came from the producer's own output."""
    block: Block


class MergedReading:
    """An iterator over the blocks of a partition of each expected producer, each exactly once (MRG-12).

    Attributes:
        faults: the faults of the merged file that were met so far (MRG-13).
    """

    def __init__(
        self, merged: PartitionReader, partition: int, expected: list[Expected], opener: Callable[[Expected], Reader]
    ) -> None:
        """Not for callers: see :func:`with_originals`."""
        self.faults: list[FaroError] = []
        self._merged = merged
        self._partition = partition
        self._expected = expected
        self._open = opener
        self._delivered: dict[int, int] = {}
        self._complete: set[int] = set()
        self._broken: set[int] = set()
        self._sequence: int | None = 0
        """The sequence of the next run's first block, if it is known."""
        self._found = self._blocks()

    def __iter__(self) -> MergedReading:
        """Return the iterator itself."""
        return self

    def __next__(self) -> MergedBlock:
        """Return the next block.

        Raises:
            FaroError: a fault of an original, ``io``, or what the caller's function raises. Nothing follows it.
        """
        return next(self._found)

    def _blocks(self) -> Iterator[MergedBlock]:
        holdings, wanted = Holdings(), set(self._expected)
        for number in range(self._merged.region_count):
            try:
                region = self._merged._region(number)
                hold(holdings, self._merged, region)
            except FaroError as fault:
                self._keep(fault)
                holdings.skip_region()
                continue
            for placed in runs_of(region, self._partition):
                yield from self._run(placed, wanted)
        for expected in self._expected:
            if expected.producer not in self._complete:
                yield from self._original(expected)

    def _keep(self, fault: FaroError) -> None:
        """Keep a fault of the merged file. What the system refuses is the reading's."""
        if fault.code == ErrorCode.IO:
            raise fault
        self.faults.append(fault)
        self._sequence = None

    def _run(self, placed: PlacedRun, wanted: set[Expected]) -> Iterator[MergedBlock]:
        """Deliver a run, if its blocks are the next of an expected producer and attempt."""
        run, sequence = placed.run, self._sequence
        if sequence is not None:
            self._sequence = sequence + run.blocks
        producer = run.producer
        fits = run.first_block == self._delivered.get(producer, 0) and producer not in self._broken
        if not fits or Expected(producer, run.attempt) not in wanted:
            return
        count = 0
        try:
            for block in self._stored(placed, sequence):
                if count == run.blocks or block.end > placed.offset + run.length:
                    raise self._unlike(placed, f"a block that ends at {block.end} after {count} blocks")
                number = self._delivered.get(producer, 0)
                self._delivered[producer] = number + 1
                count += 1
                yield MergedBlock(producer, number, False, block)
                if block.end == placed.offset + run.length:
                    break
                if count == run.blocks:
                    raise self._unlike(placed, f"{count} blocks before offset {block.end}")
            if count != run.blocks:
                raise self._unlike(placed, f"{count} blocks")
        except FaroError as fault:
            self._broken.add(producer)
            self._keep(fault)
            return
        if run.last:
            self._complete.add(producer)

    def _unlike(self, placed: PlacedRun, found: str) -> FaroError:
        message = self._merged._region(placed.region).entry.message_offset
        return fault_of_runs(self._merged._files.index.place, message, found)

    def _stored(self, placed: PlacedRun, sequence: int | None) -> Iterator[Block]:
        """Yield the blocks from the beginning of a run on, to the end of its extent."""
        merged, partition = self._merged, self._partition
        own = merged._region(placed.region).own(partition)
        end = placed.offset if own is None else own.end
        sequences = Sequences(from_start=False)
        if sequence is not None:
            sequences.next_own[partition] = sequence
        extent = Extent(placed.offset, end, partition, None, 0, end)
        # Not further ahead than the run, after which other producers' blocks come.
        window = Window(merged._files.data, end, max(BLOCK_HEADER_SIZE, min(placed.run.length, 1 << 20)))
        return read_extent(window, extent, sequences, merged._limits, selective=False, verify=True)

    def _original(self, expected: Expected) -> Iterator[MergedBlock]:
        """Deliver what the merged file does not have of a producer."""
        first = self._delivered.get(expected.producer, 0)
        with self._open(expected) as original:
            for number, block in enumerate(original.partition(self._partition)):
                if number >= first:
                    yield MergedBlock(expected.producer, number, True, block)


def with_originals(
    merged: PartitionReader,
    partition: int,
    expected: Iterable[Expected | tuple[int, int]],
    opener: Callable[[Expected], Reader],
) -> MergedReading:
    """Read a partition of a merged file together with the originals of what it lacks (MRG-12).

    The blocks of each expected producer come in the order of their numbers, each exactly once. Damage of the merged
    file costs reads of the originals, and is in :attr:`MergedReading.faults`; it does not fail the reading::

        expected = [Expected(producer, 0) for producer in range(100)]
        for found in with_originals(merged, 3, expected, lambda of: faro.open(f"map-{of.producer}")):
            consume(found.producer, found.block.payload)

    Args:
        merged: a reader, or a follower, of a merged file.
        partition: its absolute number.
        expected: the producers, each with the attempt whose output counts.
        opener: opens the output of a producer when it is needed; it is closed after use.

    Raises:
        FaroError: ``invalid-argument`` for a partition that the file does not have, and for a producer that is named
            twice.
    """
    return MergedReading(merged, merged._check_partition(partition), ordered(expected), opener)
