"""Whatever fails at any step of a reading, the call ends with its data or the cause, and the next one goes on.

No lock stays taken, no descriptor open, and no other thread that uses the same reader waits: each next call is made
in a thread of its own, which has to end in time.
"""

from __future__ import annotations

import errno
import itertools
import os
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from interruption import Interruption
from support import descriptors

from faro_format import ErrorCode, FaroError, Follower, PartitionReader, Reader, Writer, WriterOptions, check
from faro_format.arrow import ArrowWriter, read_batches

BOUND = 20.0
"""Seconds in which a call of a small output ends."""
PARTITIONS = 4
CAUSES: dict[str, Callable[[], BaseException]] = {
    "Exception": lambda: ZeroDivisionError("injected"),
    "OSError": lambda: OSError(errno.EIO, "injected"),
    "MemoryError": lambda: MemoryError("injected"),
    "KeyboardInterrupt": lambda: KeyboardInterrupt("injected"),
    "SystemExit": lambda: SystemExit("injected"),
}


def in_time(action: Callable[[], Any]) -> Any:
    """What an action returns or raises in a thread of its own; the test fails if it does not end."""
    ended: list[tuple[Any, BaseException | None]] = []

    def work() -> None:
        try:
            ended.append((action(), None))
        except BaseException as fault:
            ended.append((None, fault))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(BOUND)
    assert ended, "the call does not end"
    found, fault = ended[0]
    if fault is not None:
        raise fault
    return found


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Outputs of small blocks, with shared ones, several regions and dictionaries; and one of tables."""
    folder = tmp_path_factory.mktemp("outputs")
    words = [b"partition %d of the order %d, " % (i % 3, i % 11) * 4 for i in range(900)]
    options = WriterOptions(PARTITIONS, codec="zstd", dictionaries=True, block_size=256, buffer_size=80_000)
    with Writer(folder / "records", options) as writer:
        for number, word in enumerate(words):
            writer.write(number % PARTITIONS, word)
        writer.broadcast(b"for all")
        writer.multicast([0, 2], b"for two")
    with ArrowWriter(folder / "tables", pa.schema([("x", pa.int64())]), PARTITIONS, buffer_size=1000) as tables:
        for number in range(3):
            tables.write(pa.table({"x": range(100)}), np.arange(100) % PARTITIONS + 0 * number)
    return folder


def payloads(blocks: Iterator[Any]) -> list[Any]:
    return [(block.partition, block.sequence, bytes(block.payload)) for block in blocks]


def polled(reader: PartitionReader) -> Any:
    assert isinstance(reader, Follower)
    return reader.poll(), reader.region_count, payloads(reader.partition(1))


Ask = Callable[[PartitionReader], Any]
ASKED: dict[str, tuple[Callable[[Path], PartitionReader], Ask]] = {
    "blocks": (lambda folder: Reader(folder / "records"), lambda reader: payloads(reader.partition(2))),
    "direct": (
        lambda folder: Reader(folder / "records", lookup="direct"),
        lambda reader: payloads(reader.partition(2)),
    ),
    "records": (lambda folder: Reader(folder / "records"), lambda reader: [bytes(r) for r in reader.records(1)]),
    "arrays": (
        lambda folder: Reader(folder / "records", cache=0),
        lambda reader: [part.tolist() for part in reader.record_arrays(0)],
    ),
    "by partition": (
        lambda folder: Reader(folder / "records"),
        lambda reader: [(number, payloads(iter([block]))) for number, block in reader.by_partition(0, PARTITIONS)],
    ),
    "range": (lambda folder: Reader(folder / "records"), lambda reader: payloads(reader.range(1, 3))),
    "stored": (lambda folder: Reader(folder / "records"), lambda reader: [reader.stored_bytes(p) for p in range(4)]),
    "tables": (
        lambda folder: Reader(folder / "tables"),
        lambda reader: [batch.to_pydict() for batch in read_batches(reader, 3)],
    ),
    "follower": (lambda folder: Follower(folder / "records"), polled),
    "check": (
        lambda folder: Reader(folder / "records"),
        lambda reader: check(data=reader._files.data.place.path, index=reader._files.index.place.path).blocks,
    ),
}


def locks_of(reader: Any) -> list[Any]:
    """Every lock that a reader has, with the files and caches in it."""
    found, seen, todo = [], set(), [reader]
    while todo:
        thing = todo.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, type(threading.Lock())):
            found.append(thing)
        elif type(thing).__module__.startswith("faro_format.") and hasattr(thing, "__dict__"):
            todo += vars(thing).values()
    return found


def ended_by(action: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """What an action returns, or what it raises, without the traceback, which refers to what was open."""
    try:
        return action(), None
    except BaseException as fault:
        return None, fault.with_traceback(None)


def check_end(reader: PartitionReader, ask: Ask, expected: Any, cause: BaseException, action: Callable[[], Any]) -> str:
    """Make a call in which something fails; check how it ends, and that the reader can be used as before.

    Args:
        reader: what is read.
        ask: the call.
        expected: what it returns when nothing fails.
        cause: what is raised in it.
        action: makes the call, and returns what that returns and whether the cause was raised.
    """
    ended, fault = ended_by(action)
    if fault is None:
        found, raised = ended
        assert found == expected
        # A read that the system refuses may be made again; nothing else is passed over.
        assert not raised or isinstance(cause, OSError)
    elif isinstance(fault, FaroError):
        # What the system refuses is io; and pyarrow's errors cannot be told from others in the same place.
        assert isinstance(cause, (ZeroDivisionError, OSError)), repr(fault)
        assert "injected" in str(fault) or fault.code == ErrorCode.IO, repr(fault)
    else:
        assert fault is cause
    locks = locks_of(reader)
    assert locks
    assert not any(lock.locked() for lock in locks)
    known = descriptors(reader)
    again, refused = ended_by(lambda: in_time(lambda: ask(reader)))
    if isinstance(reader, Follower) and refused is not None:
        # A poll that was interrupted is not gone on with, and says so.
        assert "open another follower" in str(refused), repr(refused)
    else:
        assert (again, refused) == (expected, None)
    in_time(reader.close)
    if fault is not None:
        fault.__context__ = None
    assert [descriptor() for descriptor in known] == [None, None]
    return "data" if fault is None else type(fault).__name__


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("asked", ASKED)
def test_an_error_at_any_step_of_the_library(outputs: Path, asked: str, cause: str) -> None:
    make, ask = ASKED[asked]
    with make(outputs) as reader:
        expected = ask(reader)
    with make(outputs) as reader, Interruption() as counted:
        ask(reader)
    # Other steps for each cause.
    stride = max(counted.steps // 10, 1) | 1
    ends = []
    for step in range((list(CAUSES).index(cause) * stride) // len(CAUSES), counted.steps, stride):
        fault = CAUSES[cause]()
        reader = make(outputs)

        def action(reader: PartitionReader = reader, step: int = step, fault: BaseException = fault) -> Any:
            with Interruption(step, lambda: fault) as interruption:
                try:
                    return ask(reader), interruption.raised
                except FaroError:
                    # It may have been raised where the library takes the descriptor: no error of the system is.
                    fault.__traceback__ = None
                    raise

        ends.append(check_end(reader, ask, expected, fault, action))
    assert len(set(ends) - {"data"}) > 0


class SystemCalls:
    """System calls, one of which fails."""

    def __init__(self, refused: int, fault: BaseException) -> None:
        self.fault = fault
        self.raised = False
        self._left = refused

    def failing(self, call: Any) -> Any:
        def made(*arguments: Any) -> Any:
            self._left -= 1
            if self._left == -1:
                self.raised = True
                raise self.fault
            return call(*arguments)

        return made


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("asked", ASKED)
def test_an_error_of_any_system_call(outputs: Path, asked: str, cause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, ask = ASKED[asked]
    with make(outputs) as reader:
        expected = ask(reader)
    for refused in itertools.count():
        reader = make(outputs)
        calls = SystemCalls(refused, CAUSES[cause]())

        def action(reader: PartitionReader = reader, calls: SystemCalls = calls) -> Any:
            with monkeypatch.context() as patch:
                for name in ("pread", "fstat", "open"):
                    patch.setattr(os, name, calls.failing(getattr(os, name)))
                return ask(reader), calls.raised

        check_end(reader, ask, expected, calls.fault, action)
        if not calls.raised:
            break
    # The statistics say what is stored, and nothing is read.
    assert refused > 1 or asked == "stored"


@pytest.mark.parametrize("call", ["read_schema", "read_message", "read_record_batch"])
@pytest.mark.parametrize("cause", ["MemoryError", "KeyboardInterrupt", "SystemExit"])
def test_what_is_no_fault_of_the_file_is_not_told_as_damage(
    outputs: Path, call: str, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Reader(outputs / "tables") as reader:
        fault = CAUSES[cause]()
        with monkeypatch.context() as patch:
            patch.setattr(pa.ipc, call, lambda *_: (_ for _ in ()).throw(fault))
            with pytest.raises(type(fault), match="injected"):
                list(read_batches(reader, 1))
        assert sum(batch.num_rows for batch in read_batches(reader, 1)) == 75


@pytest.mark.parametrize("cause", CAUSES)
def test_threads_that_wait_for_what_one_loads_go_on(outputs: Path, cause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread fails while it loads a dictionary, which the others wait for."""
    threads = 4
    with Reader(outputs / "records") as reader:
        expected = payloads(reader.partition(0))
    reader = Reader(outputs / "records")
    known = reader._files.data.dictionaries
    assert known is not None
    place, pread, take = known.entries[0], os.pread, known.take
    arrived, loads = threading.Semaphore(0), itertools.count()

    def taken(*arguments: Any) -> Any:
        arrived.release()
        return take(*arguments)

    def read(descriptor: int, length: int, at: int) -> bytes:
        if known._lock.locked() and at == place.offset and next(loads) == 0:
            for _ in range(threads):
                assert arrived.acquire(timeout=BOUND)
            raise CAUSES[cause]()
        return pread(descriptor, length, at)

    monkeypatch.setattr(known, "take", taken)
    monkeypatch.setattr(os, "pread", read)
    ends: list[Any] = []
    pool = [
        threading.Thread(target=lambda: ends.append(ended_by(lambda: payloads(reader.partition(0)))), daemon=True)
        for _ in range(threads)
    ]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join(BOUND)
    assert len(ends) == threads
    assert sum(found == expected for found, _ in ends) == threads - 1
    (fault,) = (fault for _, fault in ends if fault is not None)
    assert isinstance(fault, (type(CAUSES[cause]()), FaroError))
    in_time(reader.close)


def test_an_iterator_of_the_caller_that_fails_leaves_the_writer_as_it_was(tmp_path: Path) -> None:
    def numbers(cause: BaseException) -> Iterator[int]:
        yield 1
        raise cause

    with Writer(tmp_path / "out", WriterOptions(PARTITIONS)) as writer:
        for cause in CAUSES.values():
            fault = cause()
            with pytest.raises(type(fault), match="injected"):
                writer.multicast(numbers(fault), b"one")  # type: ignore[arg-type]
            # It may write itself meanwhile.
            writer.multicast((writer.write(0, b"inner") or number for number in (0, 0)), b"two")  # type: ignore
    with Reader(tmp_path / "out") as reader:
        assert [bytes(record) for record in reader.records(0)] == [b"inner", b"inner", b"two"] * len(CAUSES)


def test_an_iterator_that_is_left_in_the_middle_holds_nothing(outputs: Path) -> None:
    reader = Reader(outputs / "records")
    known = descriptors(reader)
    walks = [
        *(reader.partition(0), reader.by_partition(0, PARTITIONS), reader.range(0, 2)),
        *(reader.records(1), reader.record_arrays_by_partition(0, 2)),
    ]
    for walk in walks:
        next(walk)
        assert not any(lock.locked() for lock in locks_of(reader))
    in_time(reader.close)
    assert [descriptor() for descriptor in known] == [None, None]
    for walk in walks:
        # What was read before may still be delivered.
        _, fault = ended_by(partial(in_time, partial(list, walk)))
        assert fault is None or "closed" in str(fault)


@pytest.mark.parametrize("cause", CAUSES)
def test_a_poll_that_was_interrupted(outputs: Path, cause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Follower(outputs / "records") as follower:
        with monkeypatch.context() as patch:
            fault = CAUSES[cause]()
            patch.setattr(os, "pread", lambda *_: (_ for _ in ()).throw(fault))
            with pytest.raises((type(fault), FaroError)) as caught:
                follower.poll()
            refused = isinstance(caught.value, FaroError)
        if refused:
            assert follower.poll()
            assert follower.region_count > 1
        else:
            with pytest.raises(FaroError, match="open another follower"):
                follower.poll()
