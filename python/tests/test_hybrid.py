"""Hybrid stores (HYB), compared with an ordinary writer that gets the same calls."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from faro_format import ErrorCode, FaroError, Reader, Writer, WriterOptions, check
from faro_format.hybrid import HybridConsumer, HybridFigures, HybridMemory, HybridPosition, HybridStore

Seen = tuple[bool, int, int, bytes]
MODES = ("full", "selective")
INTERLEAVINGS = int(os.environ.get("FARO_INTERLEAVINGS", "100"))
"""How many are drawn in each mode: a sample, unless the variable says otherwise."""


def seen(block: Any) -> Seen:
    return block.partition == 0xFFFFFFFF, block.sequence, block.kind, bytes(block.payload)


def take(consumer: HybridConsumer, most: int) -> Iterator[Seen]:
    if most:
        for count, block in enumerate(consumer.blocks(), 1):
            yield seen(block)
            if count == most:
                return


def random_options(rng: random.Random, partitions: int) -> WriterOptions:
    return WriterOptions(
        partitions,
        first_partition=rng.choice((0, 5)),
        file_id=rng.randbytes(16),
        codec=rng.choice(("none", "lz4", "zstd")),
        block_size=rng.randrange(20, 200),
        buffer_size=rng.randrange(1, 3000),
        rotation=rng.randrange(partitions),
        ordered=rng.random() < 0.5,
        statistics=rng.random() < 0.5,
    )


def call(rng: random.Random, options: WriterOptions, targets: tuple[Any, Any]) -> None:
    """Make the same random call of both."""
    record = rng.randbytes(rng.randrange(2000) if rng.random() < 0.05 else rng.randrange(60))
    first = options.first_partition
    partition = first + rng.randrange(options.partition_count)
    kind = rng.randrange(12)
    for target in targets:
        if kind == 0:
            target.broadcast(record)
        elif kind == 1:
            target.multicast([partition, first], record)
        elif kind == 2:
            target.broadcast_event(1, record)
        elif kind == 3:
            target.write_event(partition, 70, record)
        elif kind == 4:
            target.multicast_event([partition], 64, record)
        elif kind == 5:
            target.flush()
        elif kind == 6:
            target.write_batch([partition, first], [0, len(record) // 2, len(record)], record)
        else:
            target.write(partition, record)


@pytest.mark.parametrize("mode", MODES)
def test_consumers_read_what_a_writer_writes_in_any_interleaving(mode: Any, tmp_path: Path) -> None:
    made = 0
    from_files = 0
    for seed in range(INTERLEAVINGS):
        rng = random.Random(seed)
        options = random_options(rng, rng.randrange(1, 8))
        memory = HybridMemory(rng.choice((rng.randrange(500), 4000, 1 << 20)))
        plain, name = tmp_path / f"plain{seed}", tmp_path / f"store{seed}"
        writer = Writer(plain, options)
        # Regions end as the writer's, and not because a consumer waits.
        store = HybridStore(name, options, memory=memory, mode=mode, delay=1e9)
        partitions = range(options.first_partition, options.first_partition + options.partition_count)
        consumers: dict[int, HybridConsumer] = {}
        found: dict[int, list[Seen]] = {partition: [] for partition in partitions}
        for _ in range(rng.randrange(100)):
            call(rng, options, (writer, store))
            if rng.random() < 0.3:
                partition = rng.choice(partitions)
                if partition not in consumers:
                    consumers[partition] = store.open(partition)
                found[partition] += take(consumers[partition], rng.randrange(6))
                if mode == "full" and rng.random() < 0.1:
                    consumers[partition].close()
                    consumers[partition] = store.open(partition, consumers[partition].position)
            blocks = store.figures().in_memory
            assert blocks <= memory.size + 4000
            # Messages are counted too.
            assert memory.used > blocks or blocks == 0
        writer.finish()
        store.finish()
        figures = store.figures()
        from_files += figures.from_files
        assert (tmp_path / f"store{seed}.index").exists() == (mode == "full" or figures.written > 0)
        with Reader(plain) as reader:
            for partition in partitions:
                if partition not in consumers:
                    consumers[partition] = store.open(partition)
                found[partition] += take(consumers[partition], 1 << 30)
                assert consumers[partition].finished
                assert [seen(block) for block in reader.partition(partition)] == found[partition], (seed, partition)
        store.close()
        assert memory.used == 0
        if mode == "full":
            for ending in (".data", ".index"):
                assert (tmp_path / f"plain{seed}{ending}").read_bytes() == (
                    tmp_path / f"store{seed}{ending}"
                ).read_bytes()
        elif (tmp_path / f"store{seed}.index").exists():
            made += 1
            check_selective(name, plain)
    assert mode == "full" or INTERLEAVINGS / 20 < made < INTERLEAVINGS * 0.95
    assert from_files


def check_selective(name: Path, plain: Path) -> None:
    """The files have a part of the blocks, and say how many are missing."""
    check(name)
    with Reader(name) as some, Reader(plain) as whole:
        assert some.header.file_id == whole.header.file_id
        streams = some.streams
        assert streams is not None
        count = whole.header.partition_count
        # A vector that is None is all zeros.
        following = [0] * count if streams.next is None else streams.next.tolist()
        gaps = [0] * count if streams.missing is None else streams.missing.tolist()
        for stream, partition in enumerate(range(whole.header.first_partition, whole.header.end_partition)):
            blocks = [seen(block) for block in whole.partition(partition)]
            kept = [seen(block) for block in some.partition(partition)]
            assert set(kept) <= set(blocks)
            own = sum(not block[0] for block in blocks)
            missing = own - sum(not block[0] for block in kept)
            assert (following[stream], gaps[stream]) == (own, missing)


def make(tmp_path: Path, mode: Any, size: int = 0, **options: Any) -> HybridStore:
    return HybridStore(tmp_path / "s", WriterOptions(3, **options), memory=HybridMemory(size), mode=mode)


def code(fault: pytest.ExceptionInfo[FaroError]) -> ErrorCode:
    return fault.value.code


@pytest.mark.parametrize(
    "options",
    [{"layout": "single"}, {"single_below": 9}, {"durability": "commit"}, {"selective": True}, {"dictionaries": True}],
)
def test_options_that_a_store_cannot_have_are_refused(options: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(FaroError) as fault:
        make(tmp_path, "full", **options)
    assert code(fault) == ErrorCode.INVALID_ARGUMENT


def test_a_single_files_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FaroError) as fault:
        HybridStore(tmp_path / "s.faro", WriterOptions(3), memory=HybridMemory(0), mode="full")
    assert code(fault) == ErrorCode.INVALID_ARGUMENT
    assert "the NAME of a pair" in str(fault.value)
    assert "layout" not in str(fault.value)


def test_a_partition_of_a_selective_store_is_opened_once(tmp_path: Path) -> None:
    with make(tmp_path, "selective") as store:
        store.open(1).close()
        for partition, position in ((1, None), (3, None), (2, HybridPosition(1, 0, 0))):
            with pytest.raises(FaroError) as fault:
                store.open(partition, position)
            assert code(fault) == ErrorCode.INVALID_ARGUMENT
        with store.open(2) as consumer:
            assert not list(consumer.blocks())
        with pytest.raises(FaroError) as fault:
            list(consumer.blocks())
        assert code(fault) == ErrorCode.INVALID_ARGUMENT


def test_with_memory_enough_a_selective_store_has_no_file(tmp_path: Path) -> None:
    with make(tmp_path, "selective", 1 << 20) as store:
        store.write(1, bytes(1000))
        store.flush()
        size = store.figures().in_memory
        assert size > 1000
        for partition in range(3):
            consumer = store.open(partition)
            assert len(list(consumer.blocks())) == (partition == 1)
            assert not consumer.finished
        figures = store.figures()
        assert figures == HybridFigures(1, size, 0, 0, figures.from_memory, 0)
        assert figures.from_memory >= size
        store.finish()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("mode", MODES)
def test_a_store_that_is_not_finished_leaves_nothing(mode: Any, tmp_path: Path) -> None:
    store = make(tmp_path, mode)
    store.write(0, bytes(100))
    store.flush()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.data", "s.index"]
    consumer = store.open(0)
    store.close()
    store.close()
    assert not list(tmp_path.iterdir())
    with pytest.raises(FaroError) as fault:
        list(consumer.blocks())
    assert code(fault) == ErrorCode.INVALID_ARGUMENT
    with pytest.raises(FaroError):
        store.write(0, b"1")


@pytest.mark.parametrize("mode", MODES)
def test_release_removes_finished_files(mode: Any, tmp_path: Path) -> None:
    store = make(tmp_path, mode)
    store.write(0, bytes(100))
    store.finish()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.data", "s.index"]
    store.release()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("mode", MODES)
def test_a_failed_spill_is_told_to_everyone(mode: Any, tmp_path: Path) -> None:
    memory = HybridMemory(0)
    store = HybridStore(tmp_path / "no folder" / "s", WriterOptions(3), memory=memory, mode=mode)
    consumer = store.open(0)
    store.write(0, bytes(100))
    for action in (store.flush, lambda: list(consumer.blocks()), lambda: store.write(0, b"1"), store.finish):
        with pytest.raises(FaroError) as fault:
            action()
        assert code(fault) == ErrorCode.IO
    assert memory.used == 0
    store.close()


@pytest.mark.parametrize("mode", MODES)
def test_a_spill_that_is_interrupted_makes_the_store_fail(
    mode: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = HybridMemory(0)
    store = HybridStore(tmp_path / "s", WriterOptions(3), memory=memory, mode=mode)
    store.write(0, bytes(100))

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(store._spiller._files), "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.flush()
    assert memory.used == 0
    for action in (partial(store.write, 1, b"more"), store.flush, store.finish):
        with pytest.raises(FaroError) as fault:
            action()
        assert code(fault) == ErrorCode.IO
    store.close()
    assert not list(tmp_path.iterdir())


def test_a_waiting_consumer_ends_the_region(tmp_path: Path) -> None:
    with HybridStore(
        tmp_path / "s", WriterOptions(3), memory=HybridMemory(1 << 20), mode="selective", delay=1e9
    ) as store:
        consumer = store.open(0)
        store.write(0, bytes(40_000))
        assert store.figures().regions == 0
        assert not list(consumer.blocks())
        store.write(0, b"1")
        assert store.figures().regions == 1
        assert list(consumer.blocks())
        store.write(0, bytes(1000))
        assert store.figures().regions == 1


def test_a_consumer_has_waited_since_it_found_no_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    memory = HybridMemory(1 << 20)
    with HybridStore(tmp_path / "s", WriterOptions(3), memory=memory, mode="full", delay=5) as store:
        consumer = store.open(0)
        assert not list(consumer.blocks())
        now = 104.0
        assert not list(consumer.blocks())
        store.write(1, b"not yet")
        assert store.figures().regions == 0
        now = 105.0
        store.write(1, b"now")
        assert store.figures().regions == 1
        now = 120.0
        store.write(1, b"no consumer waits for more")
        assert store.figures().regions == 1


def test_a_consumer_is_not_constructed() -> None:
    with pytest.raises(TypeError):
        HybridConsumer()


def test_properties_are_in_the_footer(tmp_path: Path) -> None:
    for mode in MODES:
        store = HybridStore(tmp_path / mode, WriterOptions(3), memory=HybridMemory(0), mode=mode)  # type: ignore[arg-type]
        store.property("key", "value")
        store.write(0, b"a record")
        store.finish()
        store.close()
        with Reader(tmp_path / mode) as reader:
            assert reader.properties == {"key": "value"}


def test_names_that_exist(tmp_path: Path) -> None:
    (tmp_path / "s.index").touch()
    with pytest.raises(FaroError) as fault:
        make(tmp_path, "full")
    assert code(fault) == ErrorCode.IO
    # It may need no file.
    store = make(tmp_path, "selective")
    store.write(0, bytes(100))
    with pytest.raises(FaroError) as fault:
        store.flush()
    assert code(fault) == ErrorCode.IO
    store.release()
    assert [path.name for path in tmp_path.iterdir()] == ["s.index"]
