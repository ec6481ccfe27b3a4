"""Planning of reads, and partitions that are read one after another through it (PRT-7)."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import FILE_ID, Call, Output, write

import faro_format.plan
from faro_format import Block, FaroError, Reader, WriterOptions
from faro_format.plan import Read, plan, windows


def ints(values: list[int]) -> Any:
    return np.array(values, np.int64)


def test_neighbours_and_small_gaps_become_one_read() -> None:
    begins, ends = ints([0, 10, 30, 200, 205]), ints([10, 20, 40, 205, 300])
    assert plan(begins, ends, gap_bytes=10) == [Read(0, 40, range(3)), Read(200, 300, range(3, 5))]
    assert plan(begins, ends, gap_bytes=0) == [
        Read(0, 20, range(2)), Read(30, 40, range(2, 3)), Read(200, 300, range(3, 5)),
    ]  # fmt: skip
    assert plan(begins, ends, gap_bytes=1000, read_bytes=100) == [Read(0, 40, range(3)), Read(200, 300, range(3, 5))]
    assert plan(begins, ends, gap_bytes=10, read_bytes=5)[-1] == Read(205, 300, range(4, 5))
    assert plan(ints([]), ints([])) == []


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50)), max_size=40), st.integers(0, 60), st.integers(1, 200)
)
def test_reads_cover_every_extent_once(steps: list[tuple[int, int]], gap: int, most: int) -> None:
    gaps, sizes = ints([step[0] for step in steps]), ints([step[1] for step in steps])
    ends = np.cumsum(gaps + sizes)
    begins = ends - sizes
    reads = plan(begins, ends, gap_bytes=gap, read_bytes=most)
    assert [number for read in reads for number in read.extents] == list(range(len(steps)))
    for read in reads:
        assert read.begin == begins[read.extents[0]]
        assert read.end == ends[read.extents[-1]]
        assert len(read.extents) == 1 or read.end - read.begin <= most
    for before, after in itertools.pairwise(reads):
        assert after.begin - before.end > gap or after.begin + int(sizes[after.extents[0]]) - before.begin > most


@given(st.lists(st.integers(0, 30), max_size=50), st.integers(1, 60))
def test_windows_are_as_long_as_fits(sizes: list[int], most: int) -> None:
    found = list(windows(ints(sizes), most))
    assert [number for first, last in found for number in range(first, last)] == list(range(len(sizes)))
    for first, last in found:
        assert last - first == 1 or sum(sizes[first:last]) <= most
        if last < len(sizes):
            assert sum(sizes[first : last + 1]) > most


def script(seed: int, count: int) -> list[Call]:
    draw = random.Random(seed)
    calls = []
    for number in range(300):
        record = bytes([number % 251]) * draw.choice([0, 3, 40, 400])
        name = draw.choices(["write", "broadcast", "multicast", "flush"], [40, 2, 2, 1])[0]
        partitions = draw.sample(range(count), 1 if name == "write" else 3)
        calls.append(Call(name, partitions, record, draw.choice([0, 0, 0, 1])))
    return calls


def made(folder: Path, seed: int, **more: Any) -> Output:
    options: dict[str, Any] = {"block_size": 300, "buffer_size": 6_000, "file_id": FILE_ID} | more
    return write(folder, WriterOptions(12, **options), script(seed, 12))


Answer = tuple[list[tuple[int, int, bytes]], tuple[Any, ...] | None]


def answer(blocks: Callable[[], Iterator[tuple[int, Block]]]) -> Answer:
    found: list[tuple[int, int, bytes]] = []
    try:
        for partition, block in blocks():
            found.append((partition, block.offset, bytes(block.payload)))
    except FaroError as fault:
        return found, (fault.code, fault.role, fault.offset)
    return found, None


def alone(reader: Reader, low: int, high: int) -> Iterator[tuple[int, Block]]:
    for partition in range(low, high):
        for block in reader.partition(partition):
            yield partition, block


@pytest.mark.parametrize("window", [1, 900, 1 << 20])
@pytest.mark.parametrize(
    "more", [{}, {"layout": "single", "codec": "zstd"}, {"rotation": 5}, {"ordered": False}, {"buffer_size": 300}]
)
def test_partitions_together_are_partitions_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, window: int, more: dict[str, Any]
) -> None:
    monkeypatch.setattr(faro_format.plan.windows, "__defaults__", (window,))
    with made(tmp_path, 1, **more).reader() as reader:
        for low, high in ((0, 12), (3, 9), (4, 5), (6, 6)):
            expected = answer(lambda low=low, high=high: alone(reader, low, high))  # type: ignore[misc]
            assert expected[1] is None
            assert answer(lambda low=low, high=high: reader.by_partition(low, high)) == expected  # type: ignore[misc]
        whole = [reader.record_arrays(partition) for partition in reader.partitions]
        for number, data, offsets in reader.record_arrays_by_partition(0, 12):
            assert (data.tolist(), offsets.tolist()) == tuple(part.tolist() for part in whole[number])


def test_the_first_fault_is_that_of_partitions_alone(tmp_path: Path) -> None:
    output = made(tmp_path, 2)
    good = output.contents()
    draw = random.Random(3)
    faults = set()
    for _ in range(250):
        role = draw.choice(["data", "data", "index"])
        damaged = bytearray(good[role])
        damaged[draw.randrange(64, len(damaged))] ^= 1 << draw.randrange(8)
        output.put(good | {role: bytes(damaged)})
        try:
            reader = output.reader()
        except FaroError:
            continue
        with reader:
            expected = answer(lambda: alone(reader, 0, 12))  # noqa: B023
            found = answer(lambda: reader.by_partition(0, 12))  # noqa: B023
        assert found == expected
        faults.add(None if expected[1] is None else (expected[1][0], expected[1][1]))
    assert {("checksum", "data"), ("checksum", "index")} <= {(str(one[0].value), one[1]) for one in faults if one}


def test_a_file_that_shrinks_is_reported_in_its_turn(tmp_path: Path) -> None:
    output = made(tmp_path, 4)
    with output.reader() as reader:
        size = os.path.getsize(output.files["data"])
        os.truncate(output.files["data"], size - 2_000)
        expected = answer(lambda: alone(reader, 0, 12))
        assert expected[0]
        assert expected[1] is not None
        assert answer(lambda: reader.by_partition(0, 12)) == expected


def test_few_reads_for_many_extents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, int]] = []
    pread = os.pread

    def counting(descriptor: int, length: int, offset: int) -> bytes:
        calls.append((offset, length))
        return pread(descriptor, length, offset)

    options = WriterOptions(200, buffer_size=20_000, file_id=FILE_ID)
    output = write(tmp_path, options, [Call("write", [i * 7 % 200], bytes(30)) for i in range(4_000)])
    with output.reader() as reader:
        regions = reader.region_count
        assert regions > 5
        assert len(list(alone(reader, 0, 200))) > 10 * regions
        monkeypatch.setattr(os, "pread", counting)
        found = list(reader.by_partition(0, 200))
    assert len({partition for partition, _ in found}) == 200
    # Regions are neighbours in a data file: they become one read, or one for each 4 MiB.
    assert len(calls) == 1
    with output.reader() as reader:
        calls.clear()
        list(reader.by_partition(50, 60))
    assert sum(1 for offset, _ in calls if offset >= 64) <= 2 * regions + 3


def test_a_range_that_is_none(tmp_path: Path) -> None:
    with made(tmp_path, 5).reader() as reader:
        for low, high in ((-1, 2), (3, 2), (0, 13)):
            with pytest.raises(FaroError, match="invalid-argument"):
                reader.by_partition(low, high)
