"""The sizes of all partitions of an output, from its statistics or its regions."""

from __future__ import annotations

import numpy as np

from faro_format._bytes.spans import Ints
from faro_format._message.messages import Statistics
from faro_format._picture.sizes import Sizes, added, exact_sum, nonzero
from faro_format._reader.delivery import PartitionReader

_NONE: Ints = np.zeros(0, np.int64)


def sizes_of(reader: PartitionReader) -> Sizes:
    """Return the stored bytes of all partitions.

    They are those of the statistics. Without statistics, the messages of all regions are read. Memory is taken for the
    partitions that have bytes, however many the header claims.
    """
    first, end = reader.header.first_partition, reader.header.end_partition
    statistics = reader.statistics
    if statistics is not None:
        numbers, values = nonzero(statistics.stored, first)
        return Sizes(first, end, numbers, values, [(first, end, statistics.stored_to_all)])
    names: list[Ints] = [_NONE]
    bytes_of: list[Ints] = [_NONE]
    to_all = 0
    for number in range(reader.region_count):
        region = reader._region(number)
        partitions, begins, ends = region.own_bounds(first, end)
        names.append(partitions)
        bytes_of.append(ends - begins)
        for shared, length in enumerate(region.shared_lengths().tolist()):
            members = region.members(shared)
            if members is None:
                to_all += length
            else:
                names.append(members.astype(np.int64))
                bytes_of.append(np.full(members.size, length, np.int64))
    numbers, values = added(np.concatenate(names), np.concatenate(bytes_of).astype(np.uint64))
    return Sizes(first, end, numbers, values, [(first, end, to_all)])


def record_count(statistics: Statistics) -> int:
    """Return the records of an output: one for all partitions counts once, one for some counts for each of them."""
    return statistics.records_to_all + (0 if statistics.records is None else exact_sum(statistics.records))


def present(reader: PartitionReader, low: int, high: int) -> Ints | None:
    """Return which partitions of a range have extents of their own; None if some are shared."""
    found: list[Ints] = [_NONE]
    for number in range(reader.region_count):
        region = reader._region(number)
        if region.shared_count:
            return None
        found.append(region.own_bounds(low, high)[0])
    return np.unique(np.concatenate(found))
