"""Delivery of a partition, a range or everything: blocks in order, checked (PRT), and their records."""

from __future__ import annotations

import builtins
from abc import ABC, abstractmethod
from collections.abc import Iterator
from types import TracebackType
from typing import TypeVar

import numpy as np

from faro_format._arguments import integer
from faro_format._block.block import Block
from faro_format._block.framing import check_framing, equal_records, scan_chains, strip_lengths
from faro_format._bytes.header import FRAMING_RECORDS, FileHeader
from faro_format._bytes.spans import Bytes, Ints
from faro_format._dictionaries import DictionaryEntry
from faro_format._error import FaroError, invalid
from faro_format._index.regions import Extent, Region
from faro_format._limits import Limits
from faro_format._message.messages import FooterMessage, Statistics, Streams
from faro_format._reader.ahead import Ahead, of_partition, of_range
from faro_format._reader.extents import Sequences, read_extent
from faro_format._reader.held import Held, own_blocks
from faro_format._reader.opening import Files
from faro_format._reader.windows import by_partition
from faro_format._storage.input_file import Window

Self = TypeVar("Self", bound="PartitionReader")

BATCH = 16 << 20
"""How many payload bytes are searched for records together."""
CHAINS = 16
"""The number of blocks from which on it is faster to find the records of all of them at once."""


def check_from_region(number: object) -> int:
    """Return the checked argument ``from_region``. If the region is not there yet, nothing is read."""
    return integer("from_region", number, 0, 2**32 - 1)


def _batches(blocks: Iterator[Block]) -> Iterator[list[Block]]:
    """Yield the data blocks in lists of about BATCH bytes; a fault is raised after the blocks before it."""
    batch: list[Block] = []
    size = 0
    fault: FaroError | None = None
    try:
        for block in blocks:
            if block.is_data:
                batch.append(block)
                size += len(block.payload)
                if size >= BATCH:
                    yield batch
                    batch, size = [], 0
    except FaroError as error:
        fault = error
    if batch:
        yield batch
    if fault is not None:
        raise fault


class PartitionReader(ABC):
    """The common part of a reader of a finished output and of a follower. Not constructed by callers.

    Several threads may read from one at the same time; each iterator belongs to one thread.
    """

    def __init__(self, files: Files, header: FileHeader, limits: Limits, verify: bool) -> None:
        """Use open files whose headers were checked."""
        self._files = files
        self._limits = limits
        self._verify = verify
        self.header = header
        """The header of the index or single file."""

    @property
    @abstractmethod
    def region_count(self) -> int:
        """How many committed regions are known."""

    @abstractmethod
    def _region(self, number: int) -> Region:
        """Return a region, its message checked (REG-10)."""

    @property
    @abstractmethod
    def _footer(self) -> FooterMessage | None:
        """The footer, if it is known."""

    @property
    @abstractmethod
    def schema_message(self) -> bytes | None:
        """The encapsulated Arrow schema message, with framing arrow."""

    @property
    def properties(self) -> dict[str, str]:
        """The footer's properties. They are data: do not print them unescaped (SEC-4)."""
        return {} if self._footer is None else dict(self._footer.properties)

    @property
    def created_by(self) -> str | None:
        """The writing program, as its caller named it; None if the footer does not say."""
        return None if self._footer is None else self._footer.created_by

    @property
    def statistics(self) -> Statistics | None:
        """The footer's statistics; None if there are none. A hint unless they were checked (FTR-6)."""
        return None if self._footer is None else self._footer.statistics

    @property
    def streams(self) -> Streams | None:
        """How many blocks the streams of a ``selective`` file had, and how many of them are not in it (FTR-8, PRT-8).

        None in other files, before the file is finished, and when it is not known, as after a repair. A hint unless it
        was checked (FTR-6).
        """
        return None if self._footer is None else self._footer.streams

    @property
    def dictionaries(self) -> tuple[DictionaryEntry, ...]:
        """Where the dictionaries are, number 1 first; a follower of a pair knows those before committed regions."""
        known = self._files.data.dictionaries
        return () if known is None else known.entries

    @property
    def partitions(self) -> builtins.range:
        """The absolute numbers of the file's partitions."""
        return range(self.header.first_partition, self.header.end_partition)

    def _check_range(self, low: int, high: int) -> tuple[int, int]:
        low = integer("low", low, self.header.first_partition, self.header.end_partition)
        return low, integer("high", high, low, self.header.end_partition)

    def _check_partition(self, partition: int) -> int:
        return integer("partition", partition, self.header.first_partition, self.header.end_partition - 1)

    def partition(self, partition: int, *, from_region: int = 0) -> Iterator[Block]:
        """Yield the blocks that a partition reads, in order (PRT-1 to PRT-4).

        Args:
            partition: its absolute number.
            from_region: the region to begin with.

        Raises:
            FaroError: ``invalid-argument`` (PRT-2) at once; the first fault of the file when it is reached.
        """
        return self._blocks(self._check_partition(partition), check_from_region(from_region))

    def by_partition(self, low: int, high: int) -> Iterator[tuple[int, Block]]:
        """Yield the blocks of the partitions ``low`` to ``high`` - 1, one partition after another (PRT-7).

        Each block comes with its partition's number: a shared block once for each partition that reads it. Small
        partitions are read together, some MiB at a time.

        Raises:
            FaroError: ``invalid-argument`` (PRT-2) at once; the first fault of the file when it is reached.
        """
        grouped = by_partition(self, *self._check_range(low, high))
        return ((number, block) for number, blocks in grouped for block in blocks)

    def record_arrays_by_partition(self, low: int, high: int) -> Iterator[tuple[int, Bytes, Ints]]:
        """Yield each partition from ``low`` to ``high`` - 1 with what :meth:`record_arrays` returns for it."""
        low, high = self._check_range(low, high)
        self._check_records()
        return ((number, *self._record_arrays(blocks)) for number, blocks in by_partition(self, low, high))

    def _held_blocks(self, partition: int, held: Held) -> Iterator[Block]:
        """Yield the blocks of a partition of a window."""
        if held.own is None or held.regions != self.region_count:
            yield from self._blocks(partition, 0, held.windows)
        else:
            places = held.own[partition]
            yield from own_blocks(self._files.data, partition, places, self._limits, verify=self._verify)

    def _blocks(self, partition: int, from_region: int, held: dict[int, Window] | None = None) -> Iterator[Block]:
        sequences = Sequences(from_start=from_region == 0)
        ahead = Ahead(self._files.data, of_partition(self, partition, from_region))
        # A window of partitions has read ahead already.
        find = held.get if held else ahead.window
        for number in range(from_region, self.region_count):
            for extent in self._extents_of(number, partition):
                yield from self._extent(extent, sequences, find(extent.begin))

    def _extents_of(self, number: int, partition: int) -> Iterator[Extent]:
        """Yield the extents that a partition reads from a region (PRT-1)."""
        region = self._region(number)
        own = region.own(partition)
        if own is not None:
            yield own
        yield from region.shared_of(partition)

    def _extent(self, extent: Extent, sequences: Sequences, window: Window | None = None) -> Iterator[Block]:
        return read_extent(
            window or Window(self._files.data, extent.end),
            extent,
            sequences,
            self._limits,
            selective=self.header.selective,
            verify=self._verify,
        )

    def range(self, low: int, high: int) -> Iterator[Block]:
        """Yield the blocks of the partitions ``low`` to ``high`` - 1, region by region (PRT-5).

        A shared block comes once; its ``members`` are those of the range that read it, None if all do.
        """
        return self._range_blocks(*self._check_range(low, high))

    def all(self) -> Iterator[Block]:
        """Yield the blocks of all partitions; see :meth:`range`."""
        return self.range(self.header.first_partition, self.header.end_partition)

    def _range_blocks(self, low: int, high: int) -> Iterator[Block]:
        if low == high:
            return
        sequences = Sequences()
        ahead = Ahead(self._files.data, of_range(self, low, high))
        for number in range(self.region_count):
            region = self._region(number)
            run_end = -1
            for extent in region.own_range(low, high):
                if run_end != extent.run_end:
                    run_end = extent.run_end
                    window = ahead.window(extent.begin) or Window(self._files.data, run_end)
                yield from self._extent(extent, sequences, window)
            for shared in range(region.shared_count):
                members = region.members_of_range(shared, low, high)
                if members is None or members.size:
                    extent = region.shared(shared)
                    for block in self._extent(extent, sequences, ahead.window(extent.begin)):
                        yield block._replace(members=members)

    def record_spans(self, partition: int) -> Iterator[tuple[Block, Ints, Ints]]:
        """Yield each data block of a partition with where its records begin and their lengths (FRM-2).

        The records are in the block's payload: zero-copy, no Python object for each.
        """
        self._check_records()
        return self._record_spans(self.partition(partition))

    def _record_spans(self, blocks: Iterator[Block]) -> Iterator[tuple[Block, Ints, Ints]]:
        for block in blocks:
            if block.is_data:
                spans = check_framing(block, self.header.framing, self._files.data.place)
                if spans is not None:
                    yield block, *spans

    def records(self, partition: int) -> Iterator[memoryview]:
        """Yield the data records of a partition one by one, without events."""
        return self._records(self.record_spans(partition))

    def _records(self, spans: Iterator[tuple[Block, Ints, Ints]]) -> Iterator[memoryview]:
        for block, begins, lengths in spans:
            payload = memoryview(block.payload)
            for begin, end in zip(begins.tolist(), (begins + lengths).tolist(), strict=True):
                yield payload[begin:end]

    def record_arrays(self, partition: int) -> tuple[Bytes, Ints]:
        """Return all data records of a partition as one buffer.

        Returns:
            The records one after another, shape (bytes,), and where each begins, shape (records + 1,).
        """
        self._check_records()
        return self._record_arrays(self.partition(partition))

    def _check_records(self) -> None:
        if self.header.framing != FRAMING_RECORDS:
            name = self.header.framing.name.lower()
            raise invalid("an output with framing records; payload() and partition() read any", f"framing {name}")

    def _record_arrays(self, found: Iterator[Block]) -> tuple[Bytes, Ints]:
        parts: list[Bytes] = []
        lengths: list[Ints] = []
        for blocks in _batches(found):
            for data, sizes in self._batch_records(blocks):
                parts.append(data)
                lengths.append(sizes)
        offsets = np.zeros(sum(sizes.size for sizes in lengths) + 1, np.int64)
        if parts:
            np.cumsum(np.concatenate(lengths), out=offsets[1:])
        together = np.empty(int(offsets[-1]), np.uint8)
        at = 0
        for part in parts:
            together[at : at + part.size].reshape(part.shape)[...] = part
            at += part.size
        return together, offsets

    def _batch_records(self, blocks: list[Block]) -> Iterator[tuple[Bytes, Ints]]:
        """Yield the records of data blocks, one after another, and their lengths.

        Records of one length are a view of their block, shape (records, length).
        """
        if len(blocks) >= CHAINS and equal_records(blocks[0].payload) is None:
            payload = b"".join(block.payload for block in blocks)
            ends = np.cumsum([len(block.payload) for block in blocks], dtype=np.int64)
            found = scan_chains(np.frombuffer(payload, np.uint8), np.append(np.int64(0), ends[:-1]), ends)
            if found is not None:
                yield strip_lengths(payload, *found)[0], found[1]
                return
        for block in blocks:
            rows = equal_records(block.payload)
            if rows is not None:
                yield rows, np.full(rows.shape[0], rows.shape[1], np.int64)
                continue
            # A few blocks, or one with an incomplete record, which this reports.
            for _, begins, sizes in self._record_spans(iter([block])):
                yield strip_lengths(block.payload, begins, sizes)[0], sizes

    def payload(self, partition: int) -> bytes:
        """Return the plain payloads of a partition's data blocks, one after another (FRM-1)."""
        return b"".join(block.payload for block in self.partition(partition) if block.is_data)

    def stored_bytes(self, partition: int) -> int:
        """Return the bytes of the extents that a partition reads, without reading a block (PRT-6)."""
        partition = self._check_partition(partition)
        statistics = self.statistics
        if statistics is not None:
            vector = statistics.stored
            own_bytes = 0 if vector is None else int(vector[partition - self.header.first_partition])
            return own_bytes + statistics.stored_to_all
        total = 0
        for number in range(self.region_count):
            region = self._region(number)
            own = region.own(partition)
            total += own.end - own.begin if own is not None else 0
            total += sum(extent.end - extent.begin for extent in region.shared_of(partition))
        return total

    def close(self) -> None:
        """Close the files.

        An iterator that is still open fails with ``invalid-argument`` when it next reads a file; what it has read
        before, it still yields.
        """
        self._files.close()

    def __enter__(self: Self) -> Self:
        """Return the reader itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the files."""
        self.close()
