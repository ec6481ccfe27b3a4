"""Threads that share a reader, many who follow one writer, and who stops in the middle."""

from __future__ import annotations

import gc
import itertools
import multiprocessing
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support import FILE_ID, Call, Output, descriptors, events_of, fault_of, model, output, write

from faro_format import (
    Block,
    ErrorCode,
    FaroError,
    Follower,
    Framing,
    PartitionReader,
    Reader,
    Writer,
    WriterOptions,
    check,
)
from faro_format._storage.names import Layout
from faro_format._writer.options import CodecName

PARTITIONS = 8
THREADS = 4


@pytest.fixture(autouse=True)
def turns() -> Iterator[None]:
    """Let threads take turns as often as Python can, so that they meet in the middle of things."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def calls_of(count: int, seed: int = 1) -> list[Call]:
    draw = random.Random(seed)
    calls = []
    for i in range(count):
        record = b"record %d " % (i % 7) * draw.randrange(11)
        if i % 50 == 7:
            calls.append(Call("broadcast", [], record, 64 * (i % 100 == 7)))
        elif i % 50 == 31:
            calls.append(Call("multicast", draw.sample(range(PARTITIONS), 3), record))
        else:
            calls.append(Call("write", [draw.randrange(PARTITIONS)], record))
    return calls


def options_of(layout: Layout, codec: CodecName) -> WriterOptions:
    return WriterOptions(
        PARTITIONS, layout=layout, codec=codec, buffer_size=3000, block_size=200, ordered=False, file_id=FILE_ID
    )


def told(blocks: Iterator[Block]) -> list[Any]:
    """What blocks say, as something to compare."""
    return [
        (b.offset, b.partition, b.sequence, b.kind, bytes(b.payload), None if b.members is None else b.members.tolist())
        for b in blocks
    ]


def questions(reader: PartitionReader, made: Output) -> dict[str, Callable[[], Any]]:
    asked: dict[str, Callable[[], Any]] = {}
    for p in range(PARTITIONS):
        asked[f"blocks {p}"] = partial(lambda p: told(reader.partition(p)), p)
        asked[f"records {p}"] = partial(lambda p: [bytes(record) for record in reader.records(p)], p)
        asked[f"arrays {p}"] = partial(lambda p: [part.tolist() for part in reader.record_arrays(p)], p)
        asked[f"from region {p}"] = partial(lambda p: told(reader.partition(p, from_region=p)), p)
        asked[f"range {p}"] = partial(lambda p: told(reader.range(p // 2, p)), p)
        asked[f"stored {p}"] = partial(reader.stored_bytes, p)
    asked["all"] = lambda: told(reader.all())
    asked["check"] = lambda: check(**made.files)
    asked["regions"] = lambda: [reader._region(number).entry for number in range(reader.region_count)]
    return asked


@pytest.mark.parametrize(("layout", "codec"), [("paired", "none"), ("single", "lz4"), ("paired", "zstd")])
def test_threads_share_a_reader(tmp_path: Path, layout: Layout, codec: CodecName) -> None:
    made = write(tmp_path, options_of(layout, codec), calls_of(200))
    with made.reader() as alone:
        assert alone.region_count > 3
        expected = {name: ask() for name, ask in questions(alone, made).items()}
    # A cache that holds one region, so that regions come and go while they are used.
    with made.reader(cache=1) as reader, Follower(**made.files, cache=1) as follower:
        follower.poll()
        asked = questions(reader, made) | {f"{name}, followed": ask for name, ask in questions(follower, made).items()}
        order = list(asked)
        random.Random(2).shuffle(order)
        barrier = threading.Barrier(THREADS)

        def work(number: int) -> list[str]:
            barrier.wait(60)
            # Each thread begins elsewhere; some meet at the same question.
            turned = order[number // 2 * 30 :] + order[: number // 2 * 30]
            return [name for name in turned if asked[name]() != expected[name.removesuffix(", followed")]]

        with ThreadPoolExecutor(THREADS) as pool:
            assert list(pool.map(work, range(THREADS))) == [[]] * THREADS
        assert len(reader._cache._regions) == 1
        assert reader._cache._bytes == sum(region.cost for region in reader._cache._regions.values())


def test_threads_that_meet_a_fault_meet_the_same(tmp_path: Path) -> None:
    made = write(tmp_path, options_of("paired", "none"), calls_of(300))
    data = bytearray(made.contents()["data"])
    data[len(data) // 2] ^= 1
    made.put(made.contents() | {"data": bytes(data)})

    def faults(reader: Reader) -> list[str]:
        return [str(fault_of(lambda p=p: list(reader.partition(p)))) for p in range(PARTITIONS)]

    with made.reader() as alone:
        expected = faults(alone)
    assert len(set(expected)) > 1
    with made.reader(cache=1) as reader, ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(lambda _: faults(reader), range(THREADS))) == [expected] * THREADS


def test_a_reader_that_is_closed_while_threads_read(tmp_path: Path) -> None:
    """Its descriptors' numbers are used again at once, and no reader may be given what another file holds."""
    made = write(tmp_path, options_of("paired", "none"), calls_of(300))
    wrong = tmp_path / "wrong"
    wrong.write_bytes(bytes(made.files["data"].stat().st_size))
    with made.reader() as alone:
        expected = [told(alone.partition(p)) for p in range(PARTITIONS)]
    pread = os.pread

    def slowly(descriptor: int, length: int, at: int) -> bytes:
        time.sleep(0.0002)
        return pread(descriptor, length, at)

    for _ in range(15):
        reader = made.reader(verify=False, cache=1)
        ended: list[Exception] = []

        def work(number: int, reader: Reader = reader, ended: list[Exception] = ended) -> None:
            try:
                for p in itertools.cycle(range(number, PARTITIONS)):
                    assert told(reader.partition(p)) == expected[p]
            except Exception as fault:
                ended.append(fault)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "pread", slowly)
            threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
            for thread in threads:
                thread.start()
            time.sleep(0.01)
            known = descriptors(reader)
            reader.close()
            others = [os.open(wrong, os.O_RDONLY) for _ in range(4)]
            for thread in threads:
                thread.join(60)
        for other in others:
            os.close(other)
        assert len(ended) == THREADS
        for end in ended:
            assert isinstance(end, FaroError), repr(end)
            assert end.code == ErrorCode.INVALID_ARGUMENT, str(end)
        assert [descriptor() for descriptor in known] == [None, None]


# Many who follow.


def follow(files: dict[str, Any], expected: list[list[tuple[int, bytes]]], begun: Path) -> int:
    """Follow an output to its end; what is delivered is always the beginning of what will be.

    Returns:
        How many polls saw something new.
    """
    with Follower(**files, cache=1) as follower:
        begun.touch()
        regions, news = -1, 0
        while not follower.poll():
            if follower.region_count > regions:
                regions = follower.region_count
                news += 1
                for p in range(PARTITIONS):
                    found = events_of(follower.partition(p), Framing.RECORDS)
                    assert found == expected[p][: len(found)]
            time.sleep(0.001)
        for p in range(PARTITIONS):
            assert events_of(follower.partition(p), Framing.RECORDS) == expected[p]
    return news


@pytest.mark.parametrize("layout", ["paired", "single"])
@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_many_follow_one_writer(tmp_path: Path, layout: Layout, kind: str) -> None:
    options = WriterOptions(PARTITIONS, layout=layout, follow=True, buffer_size=500, block_size=100, codec="zstd")
    calls = calls_of(120)
    expected = [model(calls, options, p) for p in range(PARTITIONS)]
    made = output(tmp_path, options)
    files = {role: str(path) for role, path in made.files.items()}
    count = 5 if kind == "threads" else 2
    begun = [tmp_path / f"begun{number}" for number in range(count)]
    # Not forked: threads of this process may hold locks.
    context = multiprocessing.get_context("spawn")
    pool: Any = ThreadPoolExecutor(count) if kind == "threads" else ProcessPoolExecutor(count, context)
    with pool, Writer(str(made.base), options) as writer:
        followers = [pool.submit(follow, files, expected, path) for path in begun]
        while not all(path.exists() for path in begun):
            time.sleep(0.01)
        for call in calls:
            call.make(writer)
            time.sleep(0.001)
        writer.finish()
        # They saw it grow.
        assert sum(one.result(120) for one in followers) > 2 * count
    assert check(**made.files).regions > 5


def test_one_polls_while_others_read(tmp_path: Path) -> None:
    options = WriterOptions(PARTITIONS, follow=True, buffer_size=500, block_size=100)
    calls = calls_of(200)
    expected = [model(calls, options, p) for p in range(PARTITIONS)]
    made = output(tmp_path, options)
    writer = Writer(str(made.base), options)
    with Follower(**made.files, cache=1) as follower:

        def read(number: int) -> int:
            seen = 0
            while True:
                last = follower.finished
                for p in range(number, PARTITIONS, 2):
                    found = events_of(follower.partition(p), Framing.RECORDS)
                    assert found == expected[p][: len(found)]
                    seen += len(found)
                    if last:
                        assert found == expected[p]
                if last:
                    return seen

        def put() -> None:
            for call in calls:
                call.make(writer)
            writer.finish()

        with ThreadPoolExecutor(THREADS) as pool:
            done = pool.submit(put)
            readers = [pool.submit(read, number % 2) for number in range(4)]
            while not follower.poll():
                time.sleep(0.0005)
            done.result(60)
            assert all(reader.result(60) for reader in readers)


# Who stops in the middle.


def test_reading_that_is_given_up_leaves_nothing_behind(tmp_path: Path) -> None:
    made = write(tmp_path, options_of("paired", "zstd"), calls_of(300))
    with made.reader() as alone:
        expected = {p: told(alone.partition(p)) for p in range(PARTITIONS)}
        ranges = told(alone.all())
        records = {p: [bytes(record) for record in alone.records(p)] for p in range(PARTITIONS)}
    with made.reader(cache=1) as reader:
        before = len(os.listdir("/proc/self/fd"))
        for p in range(PARTITIONS):
            for much in (0, 1, 5):
                makers: list[tuple[Callable[..., Any], tuple[int, ...]]] = [
                    (reader.partition, (p,)),
                    (reader.all, ()),
                    (reader.records, (p,)),
                    (reader.record_spans, (p,)),
                ]
                for make, arguments in makers:
                    # Closed, dropped, or ended by an error that is thrown in.
                    closed, dropped, ended = (make(*arguments) for _ in range(3))
                    for blocks in (closed, dropped, ended):
                        list(itertools.islice(blocks, much))
                    closed.close()
                    assert list(closed) == []
                    del dropped, blocks
                    with pytest.raises(KeyboardInterrupt):
                        ended.throw(KeyboardInterrupt)
                    assert list(ended) == []

            def consume(p: int = p) -> None:
                for _ in reader.partition(p):
                    raise ZeroDivisionError

            with pytest.raises(ZeroDivisionError):
                consume()
            # Half-read iterators know where they are, whatever else is read meanwhile.
            halves = [reader.partition(q) for q in range(PARTITIONS)]
            begun = [list(itertools.islice(half, p)) for half in halves]
            assert told(reader.all()) == ranges
            for q, half in enumerate(halves):
                assert told(iter([*begun[q], *half])) == expected[q]
            assert [bytes(record) for record in reader.records(p)] == records[p]
        gc.collect()
        assert len(os.listdir("/proc/self/fd")) == before


def test_threads_that_stop_in_the_middle(tmp_path: Path) -> None:
    made = write(tmp_path, options_of("single", "lz4"), calls_of(300))
    with made.reader() as alone:
        expected = [told(alone.partition(p)) for p in range(PARTITIONS)]
    with made.reader(cache=1) as reader:

        def work(number: int) -> bool:
            draw = random.Random(number)
            for _ in range(40):
                p = draw.randrange(PARTITIONS)
                much = draw.randrange(len(expected[p]) + 1)
                if told(itertools.islice(reader.partition(p), much)) != expected[p][:much]:
                    return False
            return told(reader.partition(number)) == expected[number]

        with ThreadPoolExecutor(THREADS) as pool:
            assert all(pool.map(work, range(THREADS)))
