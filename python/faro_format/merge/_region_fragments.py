"""The runs of a region of a merged file as fragments (FRG-7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

from faro_format._arguments import integer
from faro_format._block.block import BLOCK_HEADER_SIZE, Block
from faro_format._bytes.header import FileKind
from faro_format._error import FaroError, invalid
from faro_format._index.holdings import Holdings, Run
from faro_format._index.regions import Extent, Region
from faro_format._reader.extents import Sequences, read_extent
from faro_format._reader.reader import Reader
from faro_format._storage.input_file import Window
from faro_format.merge._fragment import Sink
from faro_format.merge._names import Names
from faro_format.merge._provenance import hold
from faro_format.merge._resuming import fault_of_runs


def region_fragments(reader: Reader, region: int, names: Names, to: BinaryIO) -> int:
    """Write a stream of fragments, which a shuffle service sends to a consumer.

    Each run of the region becomes a fragment, as its producer pushed it. Every block is checked, and none is decoded.
    After an error the stream has no fragments, whatever it got.

    Args:
        reader: a merged file.
        region: the number of the region.
        names: the names of the shuffle, from which the file_id of each producer's output follows (NAM-1).
        to: where the bytes go.

    Returns:
        The number of bytes.

    Raises:
        FaroError: ``invalid-argument`` for a region that the file does not have, and for an output that is not merged;
            a fault of REG-10, MRG-2, MRG-3 or of a block; ``io`` for what the stream refuses.
    """
    if not reader.header.merged:
        raise invalid("a merged file", "the output of one producer")
    number = integer("region", region, 0, reader.region_count - 1)
    holdings = Holdings()
    for before in range(number + 1):
        hold(holdings, reader, reader._region(before))
    runs = _Runs(reader, reader._region(number))
    return sum(runs.write(partition, at, run, names, to) for partition, at, run in runs.region.runs())


class _Runs:
    """Reads the runs of a region."""

    def __init__(self, reader: Reader, region: Region) -> None:
        self._reader = reader
        self.region = region
        self._following: dict[int, int] = {}
        """The sequence of the next block, by partition."""

    def write(self, partition: int, at: int, run: Run, names: Names, to: BinaryIO) -> int:
        """Write the fragment of a run; its size in bytes."""
        reader = self._reader
        named: set[int] = set()
        if reader.header.dictionaries:
            # The dictionaries come first, so the blocks are read twice.
            before = dict(self._following)
            named = {block.dictionary for block in self._blocks(partition, at, run)} - {0}
            self._following = before
        header = replace(
            reader.header,
            kind=FileKind.FRAGMENT,
            first_partition=partition,
            partition_count=1,
            writer_features=0,
            producer=run.producer,
            attempt=run.attempt,
            file_id=names.output_file_id(run.producer, run.attempt),
        )
        sink = Sink(reader, header, sorted(named), to)
        sink.begin()
        for number, block in enumerate(self._blocks(partition, at, run), run.first_block):
            sink.block(partition, number, block)
        sink.end(run.blocks, last=run.last)
        return sink.size

    def _blocks(self, partition: int, at: int, run: Run) -> Iterator[Block]:
        """Yield the blocks of a run (MRG-3)."""
        reader, end = self._reader, at + run.length
        own = self.region.own(partition)
        extent_end = end if own is None else own.end
        # Not further ahead than the run, after which other producers' blocks come.
        window = Window(reader._files.data, extent_end, max(BLOCK_HEADER_SIZE, min(run.length, 1 << 20)))
        # The extent may go on after the run, so what its reading expects is not what is known.
        sequences = Sequences(from_start=False)
        sequences.next_own = dict(self._following)
        count, place = 0, at
        extent = Extent(at, extent_end, partition, None, 0, extent_end)
        for block in read_extent(window, extent, sequences, reader._limits, selective=False, verify=True, plain=False):
            count, place = count + 1, block.end
            if place > end or count > run.blocks:
                raise self._unlike(f"a block that ends at {place} after {count - 1} blocks")
            self._following[partition] = block.sequence + 1
            yield block
            if place == end:
                break
            if count == run.blocks:
                raise self._unlike(f"{count} blocks before offset {place}")
        if count != run.blocks:
            raise self._unlike(f"{count} blocks")

    def _unlike(self, found: str) -> FaroError:
        return fault_of_runs(self._reader._files.index.place, self.region.entry.message_offset, found)
