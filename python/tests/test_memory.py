"""How much memory reading takes (LIM-2)."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
from support import Output, output

from faro import Writer, WriterOptions

PARTITIONS = 100_000
MESSAGE = 4 * PARTITIONS
"""Bytes of a dense region's message: the offsets of its slots, u32."""


def write_regions(folder: Path, regions: int) -> Output:
    """Write dense regions, each with a record for every other partition, and for the last."""
    options = WriterOptions(PARTITIONS, framing="opaque", statistics=False)
    partitions = np.arange(1, PARTITIONS, 2)
    made = output(folder, options)
    with Writer(str(made.base), options) as writer:
        for _ in range(regions):
            writer.write_batch(partitions, np.arange(partitions.size + 1), bytes(partitions.size))
            writer.flush()
    assert made.files["index"].stat().st_size > regions * MESSAGE
    return made


def peak_of_reading(made: Output, cache: int, length: int) -> int:
    """Open an output and read its last partition; return the most memory that this took, in bytes."""
    tracemalloc.start()
    try:
        with made.reader(cache=cache) as reader:
            read = sum(len(block.payload) for block in reader.blocks(PARTITIONS - 1))
        assert read == length
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_one_region_message_at_a_time(tmp_path: Path) -> None:
    one, ten = write_regions(tmp_path, 1), write_regions(tmp_path, 10)
    peak_of_reading(one, 0, 1)  # What is imported late and kept for ever is no memory of a reader.
    one_region = peak_of_reading(one, 0, 1)
    ten_regions = peak_of_reading(ten, 0, 10)
    # A message and what checking it takes; the region that was used last is kept while the next one is read.
    assert one_region < 3 * MESSAGE
    assert ten_regions < one_region + 1.5 * MESSAGE
    # That this measures what it should: a cache for all of them is seen.
    assert peak_of_reading(ten, 1 << 30, 10) > 10 * MESSAGE
    # A bounded cache is bounded.
    assert peak_of_reading(ten, 3 * MESSAGE, 10) < one_region + 4 * MESSAGE
