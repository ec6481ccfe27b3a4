"""Canonical bytes of messages: the builder's calls in the order of CAN-2 (CAN-1).

The generated code has no function that adds all fields of a table; the order here, by size downwards and
backwards in declaration, is the one that Rust's and Java's have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import flatbuffers
import numpy.typing as npt

from faro_format._bytes.spans import U32s
from faro_format._message.messages import RUN, Records, Statistics, Streams
from faro_format.generated import Footer, Property, Region, Schema, SharedExtent
from faro_format.generated import Statistics as Stats
from faro_format.generated import Streams as StreamsTable


def build_region(
    *,
    sequence: int,
    data_offset: int,
    data_length: int,
    offsets: U32s,
    rotation: int = 0,
    partitions: U32s | None = None,
    shared: Sequence[tuple[int, bytes | None, int]] = (),
    runs: Records | None = None,
    first_block: U32s | None = None,
) -> bytes:
    """Return the canonical region message.

    Args:
        sequence: the region's number.
        data_offset: where its blocks begin, absolute, in bytes.
        data_length: bytes of its blocks.
        offsets: shape (slots + 1,), units of 8 bytes.
        rotation: the partition of the first slot less first_partition, of a dense region.
        partitions: shape (slots,), the partition of each slot of a sparse region; None for a dense one.
        shared: of each shared extent its length in units of 8 bytes, its members' bits, None for all, and the
            sequence of its first block.
        runs: of dtype :data:`faro_format._message.messages.RUN`, for merged files.
        first_block: shape (slots,), only with the feature ``selective``.
    """
    builder = flatbuffers.Builder(256 + 4 * offsets.size + 64 * len(shared))
    at_offsets = _vector(builder, offsets, "<u4")
    # An empty vector of partitions is a sparse region without slots (CAN-3).
    at_partitions = 0 if partitions is None else _vector(builder, partitions, "<u4")
    at_shared = 0
    if shared:
        extents = []
        for length, members, first in shared:
            at_members = 0 if members is None else builder.CreateByteVector(members)
            SharedExtent.SharedExtentStart(builder)
            SharedExtent.SharedExtentAddFirstBlock(builder, first)
            SharedExtent.SharedExtentAddMembers(builder, at_members)
            SharedExtent.SharedExtentAddLength(builder, length)
            extents.append(SharedExtent.SharedExtentEnd(builder))
        at_shared = _offsets(builder, extents)
    at_runs = _structs(builder, runs.astype(RUN, copy=False), 32) if runs is not None and runs.size else 0
    at_first = 0
    if first_block is not None and first_block.size:
        at_first = _vector(builder, first_block, "<u4")
    Region.RegionStart(builder)
    Region.RegionAddDataLength(builder, data_length)
    Region.RegionAddDataOffset(builder, data_offset)
    Region.RegionAddFirstBlock(builder, at_first)
    Region.RegionAddRuns(builder, at_runs)
    Region.RegionAddShared(builder, at_shared)
    Region.RegionAddPartitions(builder, at_partitions)
    Region.RegionAddRotation(builder, rotation)
    Region.RegionAddOffsets(builder, at_offsets)
    Region.RegionAddSequence(builder, sequence)
    return _finish(builder, Region.RegionEnd(builder), b"FRRG")


def build_footer(
    *,
    regions: Records,
    data_size: int,
    statistics: Statistics | None = None,
    properties: Mapping[str, str] | None = None,
    created_by: str | None = None,
    dictionaries: Records | None = None,
    streams: Streams | None = None,
) -> bytes:
    """Return the canonical footer message.

    Args:
        regions: the directory, of dtype :data:`faro_format._message.messages.ENTRY`.
        data_size: as in FTR-1, in bytes.
        statistics: None if none were kept.
        properties: in any order.
        created_by: the writing program.
        dictionaries: of dtype :data:`faro_format._message.messages.DICTIONARY`.
        streams: None if they are not known, or the file is not selective.
    """
    builder = flatbuffers.Builder(1024 + 32 * regions.size)
    at_regions = _structs(builder, regions, 32) if regions.size else 0
    at_statistics = 0 if statistics is None else _statistics(builder, statistics)
    at_properties = 0
    if properties:
        tables = []
        for key, value in sorted(properties.items(), key=lambda item: item[0].encode()):
            at_key = builder.CreateString(key)
            at_value = builder.CreateString(value)
            Property.PropertyStart(builder)
            Property.PropertyAddValue(builder, at_value)
            Property.PropertyAddKey(builder, at_key)
            tables.append(Property.PropertyEnd(builder))
        at_properties = _offsets(builder, tables)
    at_created = 0 if created_by is None else builder.CreateString(created_by)
    at_dictionaries = _structs(builder, dictionaries, 16) if dictionaries is not None and dictionaries.size else 0
    at_streams = 0 if streams is None else _streams(builder, streams)
    Footer.FooterStart(builder)
    Footer.FooterAddDataSize(builder, data_size)
    Footer.FooterAddStreams(builder, at_streams)
    Footer.FooterAddDictionaries(builder, at_dictionaries)
    Footer.FooterAddCreatedBy(builder, at_created)
    Footer.FooterAddProperties(builder, at_properties)
    Footer.FooterAddStatistics(builder, at_statistics)
    Footer.FooterAddRegions(builder, at_regions)
    return _finish(builder, Footer.FooterEnd(builder), b"FRFT")


def build_schema(arrow: bytes) -> bytes:
    """Return the canonical schema message around an encapsulated Arrow schema message."""
    builder = flatbuffers.Builder(64 + len(arrow))
    at_arrow = builder.CreateByteVector(arrow)
    Schema.SchemaStart(builder)
    Schema.SchemaAddArrow(builder, at_arrow)
    return _finish(builder, Schema.SchemaEnd(builder), b"FRSC")


def _counts(builder: Any, values: npt.NDArray[Any] | None, dtype: str) -> int:  # noqa: ANN401
    """Add a vector of statistics or streams, unless all of its values are zero (CAN-3)."""
    return 0 if values is None or not values.any() else _vector(builder, values, dtype)


def _streams(builder: Any, streams: Streams) -> int:  # noqa: ANN401
    at_next = _counts(builder, streams.next, "<u4")
    at_missing = _counts(builder, streams.missing, "<u4")
    StreamsTable.StreamsStart(builder)
    StreamsTable.StreamsAddSharedMissing(builder, streams.shared_missing)
    StreamsTable.StreamsAddSharedNext(builder, streams.shared_next)
    StreamsTable.StreamsAddMissing(builder, at_missing)
    StreamsTable.StreamsAddNext(builder, at_next)
    return int(StreamsTable.StreamsEnd(builder))


def _statistics(builder: Any, statistics: Statistics) -> int:  # noqa: ANN401
    at_stored = _counts(builder, statistics.stored, "<u8")
    at_plain = _counts(builder, statistics.plain, "<u8")
    at_records = _counts(builder, statistics.records, "<u8")
    Stats.StatisticsStart(builder)
    Stats.StatisticsAddRecordsToAll(builder, statistics.records_to_all)
    Stats.StatisticsAddPlainToAll(builder, statistics.plain_to_all)
    Stats.StatisticsAddStoredToAll(builder, statistics.stored_to_all)
    Stats.StatisticsAddRecords(builder, at_records)
    Stats.StatisticsAddPlain(builder, at_plain)
    Stats.StatisticsAddStored(builder, at_stored)
    return int(Stats.StatisticsEnd(builder))


def _vector(builder: Any, values: npt.NDArray[Any], dtype: str) -> int:  # noqa: ANN401
    return int(builder.CreateNumpyVector(values.astype(dtype, copy=False)))


def _structs(builder: Any, values: Records, size: int) -> int:  # noqa: ANN401
    """Add a vector of structs aligned to 8: the builder's own call refuses structured arrays."""
    builder.StartVector(size, values.size, 8)
    raw = values.tobytes()
    builder.head -= len(raw)
    builder.Bytes[builder.head : builder.head + len(raw)] = raw
    return int(builder.EndVector())


def _offsets(builder: Any, tables: Sequence[int]) -> int:  # noqa: ANN401
    builder.StartVector(4, len(tables), 4)
    for table in reversed(tables):
        builder.PrependUOffsetTRelative(table)
    return int(builder.EndVector())


def _finish(builder: Any, root: int, identifier: bytes) -> bytes:  # noqa: ANN401
    builder.Finish(root, identifier)
    return bytes(builder.Output())
