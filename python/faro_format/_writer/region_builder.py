"""Builds one region: its blocks, extents, message and statistics.

Sequences advance only when the region is committed, so a region that was given up leaves no trace (WRT-8).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from faro_format._arguments import integers, items
from faro_format._block.block import BLOCK_HEADER_SIZE, KIND_DATA, NO_PARTITION, PADDING, encode_header, pad8
from faro_format._bytes.header import FileHeader
from faro_format._bytes.spans import U32s, U64s
from faro_format._codec import CODEC_NONE, Codec, compress
from faro_format._error import ErrorCode, FaroError, invalid
from faro_format._index.regions import MAX_REGION
from faro_format._message.build import build_region
from faro_format._message.messages import Statistics, Streams
from faro_format._writer.figures import WriterFigures
from faro_format._writer.options import WriterOptions
from faro_format._writer.training import SMALL_BLOCK, KnownDictionaries

MAX_SEQUENCE = 2**32 - 2
"""Of a block, so that the next one fits into its field."""
_PIECE = 1 << 20
"""How many bytes are written to the file at once."""


@dataclass(slots=True)
class BuiltExtent:
    """An extent of the region that is being built."""

    partition: int
    """Absolute, or NO_PARTITION."""
    members: bytes | None
    """Of a shared extent, None for all."""
    length: int = 0
    """Bytes, headers and padding included."""
    plain: int = 0
    records: int = 0
    blocks: int = 0
    first_block: int = 0
    """The sequence of its first block."""
    next_block: int = 0
    """One more than the sequence of its last block."""


@dataclass
class WriterState:
    """The state that a writer keeps from region to region: sequences and sums (BLK-3, FTR-4, FTR-8)."""

    options: WriterOptions
    seed: int
    """The first part of the checksums of the file's blocks (BLK-9)."""
    dictionaries: KnownDictionaries = field(init=False)
    figures: WriterFigures = field(default_factory=WriterFigures)
    next_own: dict[int, int] = field(default_factory=dict)
    next_shared: int = 0
    missing_own: dict[int, int] = field(default_factory=dict)
    missing_shared: int = 0
    blocks: int = 0
    """Those of committed regions."""
    vectors: dict[str, U64s] = field(default_factory=dict)
    """By the statistic's name, shape (partition_count,); made when first needed."""
    to_all: dict[str, int] = field(default_factory=lambda: {"stored": 0, "plain": 0, "records": 0})

    def __post_init__(self) -> None:
        """Begin without dictionaries."""
        options = self.options
        self.dictionaries = KnownDictionaries(wanted=options.dictionaries, codec=options.codec, level=options.level)

    def count(self, name: str, extents: list[BuiltExtent], values: list[int]) -> None:
        """Add one statistic of each extent to its readers."""
        if not self.options.statistics:
            return
        own = [(e.partition, v) for e, v in zip(extents, values, strict=True) if e.partition != NO_PARTITION and v]
        if own:
            index, amounts = np.array(own, np.int64).T
            # A partition has one own extent in a region, so no index occurs twice.
            self._vector(name)[index - self.options.first_partition] += amounts.astype(np.uint64)
        for extent, value in zip(extents, values, strict=True):
            if extent.partition == NO_PARTITION and value:
                if extent.members is None:
                    self.to_all[name] += value
                else:
                    bits = np.unpackbits(np.frombuffer(extent.members, np.uint8), bitorder="little")
                    self._vector(name)[: bits.size] += np.uint64(value) * bits[: self.options.partition_count]

    def _vector(self, name: str) -> U64s:
        if name not in self.vectors:
            self.vectors[name] = np.zeros(self.options.partition_count, np.uint64)
        return self.vectors[name]

    def advance_own(self, partition: int, sequence: int, blocks: int) -> None:
        """Go on after the blocks of a partition below *sequence*; *blocks* of them are new in the file."""
        gaps = sequence - self.next_own.get(partition, 0) - blocks
        if gaps:
            self.missing_own[partition] = self.missing_own.get(partition, 0) + gaps
        self.next_own[partition] = sequence

    def advance_shared(self, sequence: int, blocks: int) -> None:
        """Go on after the shared blocks below *sequence*; *blocks* of them are new in the file."""
        self.missing_shared += sequence - self.next_shared - blocks
        self.next_shared = sequence

    def streams(self) -> Streams | None:
        """Return the footer's streams, or None if the file is not selective."""
        if not self.options.selective:
            return None

        def vector(counts: dict[int, int]) -> U32s | None:
            if not any(counts.values()):
                return None
            values = np.zeros(self.options.partition_count, np.uint32)
            partitions = np.fromiter(counts.keys(), np.int64, len(counts))
            values[partitions - self.options.first_partition] = list(counts.values())
            return values

        return Streams(vector(self.next_own), vector(self.missing_own), self.next_shared, self.missing_shared)

    def statistics(self) -> Statistics | None:
        """Return the footer's statistics, or None if none are kept."""
        if not self.options.statistics:
            return None
        return Statistics(
            self.vectors.get("stored"),
            self.vectors.get("plain"),
            self.vectors.get("records"),
            stored_to_all=self.to_all["stored"],
            plain_to_all=self.to_all["plain"],
            records_to_all=self.to_all["records"],
        )


class RegionBuilder:
    """Takes blocks in the order of the file; own extents first (SRT-7)."""

    def __init__(self, state: WriterState, sink: Callable[[list[Any]], None] | None) -> None:
        """Begin a region.

        Args:
            state: the writer's; unchanged until :meth:`commit`.
            sink: takes the blocks' bytes as they come; None to keep them in :attr:`parts`.
        """
        self._state = state
        self._options = state.options
        self._seed = state.seed
        self._timed = state.options.timed
        self._sink = sink
        self._pending = 0
        self._next_shared = state.next_shared
        # Statistics count data blocks only (FTR-4), figures all.
        self._event_bytes = 0
        self.parts: list[Any] = []
        """Pieces of bytes that were not yet passed to the sink."""
        self.extents: list[BuiltExtent] = []
        self.length = 0
        """Bytes of the region's blocks so far."""

    @property
    def dictionary_count(self) -> int:
        """How many dictionaries blocks may name."""
        return self._state.dictionaries.count

    def own(self, partition: int) -> None:
        """Begin the own extent of a partition."""
        self._close_extent()
        self._begin(partition, None, self.next_own(partition))

    def shared(self, members: bytes | None) -> None:
        """Begin a shared extent."""
        self._close_extent()
        self._begin(NO_PARTITION, members, self._next_shared)

    def _begin(self, partition: int, members: bytes | None, sequence: int) -> None:
        self.extents.append(BuiltExtent(partition, members, first_block=sequence, next_block=sequence))

    def next_own(self, partition: int) -> int:
        """Return the sequence of the next own block of a partition that has no extent in the region."""
        return self._state.next_own.get(partition, 0)

    def skip_to(self, sequence: int) -> None:
        """Let the next block of the current extent have this sequence, which is not below its own."""
        extent = self.extents[-1]
        extent.next_block = sequence
        if not extent.blocks:
            extent.first_block = sequence

    def _close_extent(self) -> None:
        if self.extents and self.extents[-1].blocks and self.extents[-1].partition == NO_PARTITION:
            self._next_shared = self.extents[-1].next_block

    def plain(self, kind: int, payload: Any, records: int) -> None:  # noqa: ANN401 - bytes or an array of them
        """Add a block to the current extent, compressed if that makes it smaller (BLK-6)."""
        codec = self._options.codec
        size = len(payload)
        if codec != CODEC_NONE and kind == KIND_DATA:
            known, number = self._state.dictionaries, 0
            begin = time.perf_counter() if self._timed else 0.0
            if known.trained and size < SMALL_BLOCK:
                packed, number = known.compress(payload)
            else:
                packed = compress(codec, self._options.level, payload)
            if self._timed:
                self._state.figures.compress_time += time.perf_counter() - begin
            if len(packed) < size:
                self.stored(kind, codec, size, packed, records, number)
                return
        self.stored(kind, CODEC_NONE, size, payload, records)

    def stored(
        self,
        kind: int,
        codec: Codec,
        plain_size: int,
        payload: Any,  # noqa: ANN401
        records: int,
        dictionary: int = 0,
    ) -> None:
        """Add a block as it is."""
        extent = self.extents[-1]
        size = len(payload)
        length = BLOCK_HEADER_SIZE + pad8(size)
        if self.length + length > MAX_REGION:
            raise FaroError(ErrorCode.LIMIT_EXCEEDED, f"a region of at most {MAX_REGION} bytes")
        sequence = extent.next_block
        if sequence > MAX_SEQUENCE:
            raise FaroError(ErrorCode.LIMIT_EXCEEDED, "fewer than 2^32 blocks in a stream")
        begin = time.perf_counter() if self._timed else 0.0
        header = encode_header(self._seed, payload, plain_size, extent.partition, sequence, kind, codec, dictionary)
        if self._timed:
            self._state.figures.checksum_time += time.perf_counter() - begin
        self.parts.append(header)
        if size:
            self.parts.append(payload)
        if size & 7:
            self.parts.append(PADDING[size & 7])
        extent.blocks += 1
        extent.next_block += 1
        extent.length += length
        if kind == KIND_DATA:
            extent.plain += plain_size
            extent.records += records
        else:
            self._event_bytes += plain_size
        self.length += length
        self._pending += length
        if self._pending >= _PIECE:
            self.drain()

    def drain(self) -> None:
        """Pass the pending pieces to the sink, if there is one."""
        if self._sink is not None:
            self._sink(self.parts)
            self.parts = []
        self._pending = 0

    def message(self, sequence: int, data_offset: int, *, wrapped: bool = False) -> bytes:
        """Return the region message (SRT-8).

        Args:
            sequence: the region's number.
            data_offset: where its blocks begin.
            wrapped: whether own extents wrapped around, as rotation asks: such a region is dense.
        """
        options = self._options
        kept = [extent for extent in self.extents if extent.blocks]
        rotation = options.rotation
        return region_message(kept, options._header, sequence, data_offset, rotation=rotation, wrapped=wrapped)

    def commit(self) -> None:
        """Advance the writer's sequences and sums; the region is in the file."""
        self._close_extent()
        state = self._state
        for extent in self.extents:
            if not extent.blocks:
                continue
            if extent.partition != NO_PARTITION:
                state.advance_own(extent.partition, extent.next_block, extent.blocks)
            else:
                state.advance_shared(extent.next_block, extent.blocks)
        blocks = sum(extent.blocks for extent in self.extents)
        state.blocks += blocks
        figures = state.figures
        figures.regions += self.length > 0
        figures.blocks += blocks
        figures.plain_bytes += sum(extent.plain for extent in self.extents) + self._event_bytes
        figures.stored_bytes += self.length
        state.count("stored", self.extents, [extent.length for extent in self.extents])
        state.count("plain", self.extents, [extent.plain for extent in self.extents])
        state.count("records", self.extents, [extent.records for extent in self.extents])


def region_message(
    extents: list[BuiltExtent],
    header: FileHeader,
    sequence: int,
    data_offset: int,
    *,
    rotation: int = 0,
    wrapped: bool = False,
) -> bytes:
    """Return the canonical message of a region, dense or sparse by SRT-8.

    Args:
        extents: those that have blocks, as they are in the file.
        header: the header of the index or single file.
        sequence: the region's number.
        data_offset: where its blocks begin.
        rotation: of a dense region.
        wrapped: whether own extents wrapped around, as rotation asks: such a region is dense.
    """
    count, first = header.partition_count, header.first_partition
    own = [extent for extent in extents if extent.partition != NO_PARTITION]
    lengths = np.array([extent.length // 8 for extent in own], np.int64)
    partitions = np.array([extent.partition for extent in own], np.int64)
    blocks = np.array([extent.first_block for extent in own], np.int64)
    named = None
    if is_sparse(len(own), count) and not wrapped:
        rotation = 0
        named = partitions.astype(np.uint32)
        slots = np.arange(len(own))
        size = len(own)
    else:
        slots = (partitions - first - rotation) % count
        size = count
    offsets, first_block = np.zeros(size + 1, np.int64), np.zeros(size, np.int64)
    offsets[1 + slots] = lengths
    first_block[slots] = blocks
    return build_region(
        sequence=sequence,
        data_offset=data_offset,
        data_length=sum(extent.length for extent in extents),
        offsets=np.cumsum(offsets).astype(np.uint32),
        rotation=rotation,
        partitions=named,
        shared=[(e.length // 8, e.members, e.first_block) for e in extents if e.partition == NO_PARTITION],
        first_block=first_block.astype(np.uint32) if header.selective else None,
    )


def is_sparse(own: int, partition_count: int) -> bool:
    """Whether a region in which ``own`` partitions have extents is sparse (SRT-8)."""
    return 2 * own + 1 < partition_count


def member_bits(partitions: Any, options: WriterOptions) -> bytes | None:  # noqa: ANN401 - a sequence or an array
    """Return the bit set of a set of partitions; None when it holds all of the file (SRT-5).

    Args:
        partitions: absolute numbers, in any order, repeated or not.
        options: the writer's.

    Raises:
        FaroError: ``invalid-argument`` if the set is empty or leaves the file (WRT-1).
    """
    if not hasattr(partitions, "__array__"):
        partitions = items("partitions", partitions, "a sequence or a set of integers")
    numbers = integers("partitions", partitions, options.first_partition, options._end_partition - 1)
    if not numbers.size:
        raise invalid("partitions: one or more", "none")
    index = np.unique(numbers - options.first_partition)
    if index.size == options.partition_count:
        return None
    packed = np.zeros((options.partition_count + 7) // 8, np.uint8)
    np.bitwise_or.at(packed, index >> 3, (1 << (index & 7)).astype(np.uint8))
    return packed.tobytes()
