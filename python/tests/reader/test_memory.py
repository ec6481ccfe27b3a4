"""How much memory reading takes (LIM-2)."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support import Output, output

from faro_format import Writer, WriterOptions

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
            read = sum(len(block.payload) for block in reader.partition(PARTITIONS - 1))
        assert read == length
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_one_region_message_at_a_time(tmp_path: Path) -> None:
    one, ten = write_regions(tmp_path, 1), write_regions(tmp_path, 10)
    peak_of_reading(one, 0, 1)  # What is imported late and kept for ever is not memory of a reader.
    one_region = peak_of_reading(one, 0, 1)
    ten_regions = peak_of_reading(ten, 0, 10)
    # A message and what checking it takes; the region that was used last is kept while the next one is read.
    assert one_region < 3 * MESSAGE
    assert ten_regions < one_region + 1.5 * MESSAGE
    # That this measures what it should: a cache for all of them is seen.
    assert peak_of_reading(ten, 1 << 30, 10) > 10 * MESSAGE
    # A bounded cache is bounded.
    assert peak_of_reading(ten, 3 * MESSAGE, 10) < one_region + 4 * MESSAGE


@pytest.mark.parametrize("call", [Writer.flush, Writer.finish, Writer.abort])
@pytest.mark.parametrize("by", ["records", "batches", "a region"])
def test_a_writer_gives_its_memory_back(tmp_path: Path, call: Callable[[Writer], None], by: str) -> None:
    """Finding: what a region held stayed with the writer."""
    size = 16 << 20
    record = bytes(1000)

    def work(count: int) -> Writer:
        options = WriterOptions(4, framing="opaque", buffer_size=2 * size)
        writer = Writer(str(output(tmp_path, options).base), options)
        if by == "records":
            for _ in range(count):
                writer.write(1, record)
        elif by == "batches":
            writer.write_batch(np.ones(count, np.int64), np.arange(0, 1000 * count + 1, 1000), bytes(1000 * count))
        elif call is Writer.abort:
            # Not ended, and lost.
            writer.region().block(1, 0, bytes(1000 * count))
        else:
            with writer.region() as region:
                region.block(1, 0, bytes(1000 * count))
        return writer

    call(work(1))  # What is imported late and kept for ever is not memory of a writer.
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        writer = work(size // 1000)
        full = tracemalloc.get_traced_memory()[0] - before
        call(writer)
        after = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    # That this measures what it should.
    assert by == "a region" or full > size * 0.9
    assert after < size // 16
    writer.abort()
