"""What a writer tells its listener, and what a follower sees at that moment."""

from __future__ import annotations

import errno
import gc
import tempfile
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from destining import Failing
from hypothesis import given, settings
from support import FILE_ID, Call, fault_of, output, scripts

import faro_format as faro
from faro_format import (
    ErrorCode,
    FaroError,
    Follower,
    Listener,
    Writer,
    WriterOptions,
    check,
    hybrid,
    storage,
)
from faro_format.arrow import ArrowWriter


class MineError(Exception):
    """What a listener of these tests raises."""


class Log(Listener):
    """Writes down what it gets, and raises after that if a test says so."""

    def __init__(self, *, raises: bool = False) -> None:
        self.news: list[tuple[Any, ...]] = []
        self.raises = raises
        self.follower: Follower | None = None

    def _note(self, *news: Any) -> None:
        self.news.append(news)
        if self.raises:
            raise MineError

    def region_written(self, name: str, region: int, size: int, /) -> None:
        if self.follower is not None:
            self.follower.poll()
            # More, if the call has ended several.
            assert self.follower.region_count > region
        self._note("region", Path(name).name, region, size)

    def finished(self, name: str, regions: int, size: int, /) -> None:
        if self.follower is not None:
            assert self.follower.poll()
            assert self.follower.region_count == regions
        self._note("finished", Path(name).name, regions, size)

    def fault(self, fault: FaroError, /) -> None:
        self._note("fault", fault.code)

    @property
    def regions(self) -> list[int]:
        """The numbers of the regions, if that is all."""
        assert {news[0] for news in self.news} <= {"region"}
        return [news[2] for news in self.news]

    @property
    def kinds(self) -> list[str]:
        return [news[0] for news in self.news]


@settings(max_examples=60, deadline=None)
@given(script=scripts(follow=True))
def test_the_news_of_each_region_comes_once_when_a_follower_sees_it(script: tuple[WriterOptions, list[Call]]) -> None:
    log = Log()
    options, calls = replace(script[0], listener=log), script[1]
    with tempfile.TemporaryDirectory() as folder:
        made = output(Path(folder), options)
        writer = Writer(str(made.base), options)
        with Follower(**made.files) as log.follower:
            for call in calls:
                call.make(writer)
                log.follower.poll()
                assert log.regions == list(range(log.follower.region_count))
                assert len(log.regions) == writer.figures().regions
            summary = writer.finish()
            assert log.follower.poll()
        with made.reader() as reader:
            sizes = [size for *_, size in reader._footer.regions.tolist()]
        name = Path(summary.files[0]).name
        expected: list[tuple[Any, ...]] = [("region", name, number, size) for number, size in enumerate(sizes)]
        expected.append(("finished", name, summary.regions, summary.data_bytes + summary.index_bytes))
        assert log.news == expected


@pytest.mark.parametrize("layout", ["paired", "single"])
def test_all_ends_of_regions(tmp_path: Path, layout: Any) -> None:
    """The call that ends a region tells of it, and no later one."""
    log = Log()
    options = WriterOptions(3, layout=layout, buffer_size=100, follow=True, dictionaries=True, listener=log)
    made = output(tmp_path, options)
    writer = Writer(str(made.base), options)
    with Follower(**made.files) as log.follower:
        writer.write(0, bytes(60))
        assert log.regions == []
        writer.write(1, bytes(60))
        assert log.regions == [0]
        # A record that is larger than the buffer, after a region.
        writer.write(2, bytes(200))
        assert log.regions == [0, 1, 2]
        writer.broadcast(b"to all")
        writer.write(1, b"after it")
        assert log.regions == [0, 1, 2, 3]
        writer.flush()
        writer.flush()
        assert log.regions == [0, 1, 2, 3, 4]
        writer.write(0, b"x")
        region = writer.region()
        assert len(log.regions) == 6
        region.block(1, 0, b"\1\0\0\0y")
        region.stored_block(2, 0, 0, 5, b"\1\0\0\0z")
        assert len(log.regions) == 6
        region.end()
        assert len(log.regions) == 7
        writer.region().end()
        writer.region().give_up()
        assert len(log.regions) == 7
        writer.write(0, b"x")
        writer.dictionary(b"\x37\xa4\x30\xec" + bytes(60))
        assert len(log.regions) == 8
        writer.write_batch([0, 1, 2], [0, 60, 120, 180], bytes(180))
        writer.flush()
        assert log.regions == list(range(11))
        writer.write(0, b"x")
        writer.finish()
        assert log.kinds == ["region"] * 12 + ["finished"]
        assert log.follower.finished


@pytest.mark.parametrize("layout", ["paired", "single"])
def test_a_listener_that_raises_changes_nothing(tmp_path: Path, layout: Any) -> None:
    log = Log(raises=True)
    options = WriterOptions(3, layout=layout, buffer_size=100, listener=log)
    made = output(tmp_path, options)
    writer = Writer(str(made.base), options)
    writer.write(0, b"0" * 60)
    for number in b"12":
        with pytest.raises(MineError):
            writer.write(0, bytes([number]) * 60)
    with pytest.raises(MineError):
        writer.flush()
    # Two regions: what it missed comes with a later call.
    writer.write(0, b"3" * 60)
    with pytest.raises(MineError):
        writer.write(0, b"4" * 200)
    assert log.regions == [0, 1, 2, 3]
    with pytest.raises(MineError):
        writer.flush()
    assert log.regions == [0, 1, 2, 3, 4]
    writer.write(1, b"x")
    # Its region is ended, and no other is begun.
    with pytest.raises(MineError):
        writer.region()
    region = writer.region()
    region.block(1, 0, b"\1\0\0\0y", 1)
    with pytest.raises(MineError):
        region.end()
    writer.write(2, b"last")
    with pytest.raises(MineError):
        writer.finish_and_open()
    assert log.regions == list(range(8))
    log.raises = False
    fault = fault_of(writer.flush)
    assert fault is not None
    assert fault.code == ErrorCode.INVALID_ARGUMENT
    assert log.kinds == ["region"] * 8 + ["finished"]
    writer.abort()
    check(**made.files)
    with made.reader() as reader:
        assert reader.region_count == 8
        assert b"".join(bytes(record[:1]) for record in reader.records(0)) == b"01234"


def test_an_exception_when_the_output_is_finished(tmp_path: Path) -> None:
    """It leaves ``finish``, also at the end of a ``with`` statement; the output is published."""
    log = Log(raises=True)
    options = WriterOptions(3, listener=log)
    with pytest.raises(MineError), Writer(tmp_path / "one", options):
        pass
    with pytest.raises(MineError):
        Writer(tmp_path / "two", options).finish_and_open()
    assert log.news == [("finished", f"{name}.data", 0, log.news[0][3]) for name in ("one", "two")]
    for name in ("one", "two"):
        faro.open(tmp_path / name).close()


@pytest.mark.parametrize("raises", [False, True])
def test_the_news_of_a_fault_comes_once(tmp_path: Path, raises: bool) -> None:
    log = Log()
    writer = Writer(tmp_path / "out", WriterOptions(3, listener=log))
    writer.write(0, b"x")
    writer.flush()
    writer.write(0, b"y")
    (tmp_path / "out.data").write_bytes(b"another's")
    log.raises = raises
    with pytest.raises(MineError if raises else FaroError) as found:
        writer.finish()
    if raises:
        assert isinstance(found.value.__context__, FaroError)
    log.raises = False
    # The fault, if the region was first, and raised.
    for call in (writer.finish, writer.flush, lambda: writer.write(0, b"x")):
        fault = fault_of(call)
        assert fault is not None
        assert fault.code == ErrorCode.IO
    writer.abort()
    assert log.kinds == ["region", "region", "fault"]


def test_every_failed_call_is_one_fault() -> None:
    def write(destination: storage.Destination, log: Log) -> None:
        options = WriterOptions(3, file_id=FILE_ID, listener=log)
        writer = Writer(destination=destination, options=options)
        for record in (b"one", b"two"):
            writer.write(0, record)
            writer.flush()
        with writer.region() as region:
            region.block(1, 0, b"\1\0\0\0y")
        writer.finish()

    sound = Failing(storage.MemoryDestination())
    write(sound, Log())
    assert len(sound.calls) > 6
    for at, call in enumerate(sound.calls):
        log = Log()
        fault = fault_of(write, Failing(storage.MemoryDestination(), at, fault=OSError(errno.EIO, "x")), log)
        assert (fault is None) == call.startswith("close"), call
        regions = [news for news in log.news if news[0] == "region"]
        assert [news[2] for news in regions] == list(range(len(regions)))
        if fault is None:
            assert log.kinds[len(regions) :] == ["finished"]
        elif log.news or at > 5:
            assert log.news[len(regions) :] == [("fault", ErrorCode.IO)], call


def test_an_interruption_is_a_fault_once(tmp_path: Path) -> None:
    class Interrupting(storage.MemoryDestination):
        def create(self, role: Any) -> Any:
            raise KeyboardInterrupt

    log = Log()
    writer = Writer(destination=Interrupting(), options=WriterOptions(3, single_below=1, listener=log))
    writer.write(0, bytes(100))
    with pytest.raises(KeyboardInterrupt):
        writer.flush()
    assert log.news == [("fault", ErrorCode.IO)]
    fault_of(writer.flush)
    writer.abort()
    assert log.news == [("fault", ErrorCode.IO)]


def test_finished_is_news_though_the_reader_fails(tmp_path: Path) -> None:
    from faro_format import Limits

    log = Log()
    writer = Writer(tmp_path / "out", WriterOptions(3, listener=log))
    for _ in range(3):
        writer.write(0, b"x")
        writer.flush()
    fault = fault_of(writer.finish_and_open, limits=Limits(max_regions=2))
    assert fault is not None
    assert fault.code == ErrorCode.LIMIT_EXCEEDED
    assert log.kinds == ["region"] * 3 + ["finished"]


def test_refusals_and_ends_without_an_output_make_no_news(tmp_path: Path) -> None:
    log = Log()
    writer = Writer(tmp_path / "out", WriterOptions(3, listener=log))
    assert fault_of(writer.write, 9, b"x") is not None
    assert fault_of(writer.skip_to, 0, 1) is not None
    writer.write(0, b"x")
    writer.abort()
    dropped = Writer(tmp_path / "out", WriterOptions(3, listener=log))
    dropped.write(0, b"x")
    del dropped
    assert log.news == []


def test_a_listener_may_own_the_writer(tmp_path: Path) -> None:
    """Both are freed, and the files removed."""
    log: Any = Log()
    log.writer = Writer(tmp_path / "out", WriterOptions(3, listener=log))
    log.writer.write(0, b"x")
    log.writer.flush()
    freed = weakref.ref(log)
    del log
    gc.collect()
    assert freed() is None
    assert list(tmp_path.iterdir()) == []


def test_a_listener_may_write_on(tmp_path: Path) -> None:
    class More(Log):
        writer: Writer

        def region_written(self, name: str, region: int, size: int, /) -> None:
            super().region_written(name, region, size)
            if region < 3:
                self.writer.write(0, b"more")
                self.writer.flush()

    log = More()
    log.writer = Writer(tmp_path / "out", WriterOptions(3, listener=log))
    log.writer.write(0, b"x")
    log.writer.flush()
    log.writer.finish()
    assert log.kinds == ["region"] * 4 + ["finished"]
    assert [news[2] for news in log.news[:4]] == [0, 1, 2, 3]


def test_a_listener_has_the_class() -> None:
    wrong: Any = print
    fault = fault_of(WriterOptions, 3, listener=wrong)
    assert fault is not None
    assert (fault.code, "Listener" in str(fault)) == (ErrorCode.INVALID_ARGUMENT, True)
    # One that defines nothing is told all the same.  # prose: allow
    with Writer(destination=storage.MemoryDestination(), options=WriterOptions(3, listener=Listener())) as writer:
        writer.write(0, b"x")


def rows(count: int) -> Any:
    return pa.table({"n": list(range(count))})


def test_an_arrow_writer_takes_rows_whole_before_a_listener_can_raise(tmp_path: Path) -> None:
    log = Log(raises=True)
    writer = ArrowWriter(tmp_path / "out", rows(1).schema, 2, buffer_size=8000, listener=log)
    with pytest.raises(MineError):
        writer.write(rows(2000), [0, 1] * 1000)
    writer.write(rows(2), [0, 1])
    # The rows that are kept, and those for all, are two regions.
    with pytest.raises(MineError):
        writer.broadcast(rows(10))
    assert log.regions == [0, 1]
    with pytest.raises(MineError):
        writer.flush()
    assert log.regions == [0, 1, 2]
    writer.write(rows(2), [1, 1])
    with pytest.raises(MineError):
        writer.finish()
    assert log.regions == [0, 1, 2, 3]
    log.raises = False
    assert fault_of(writer.flush) is not None
    assert log.kinds == ["region"] * 4 + ["finished"]
    with faro.open(tmp_path / "out") as reader:
        assert reader.region_count == 4
        counts = reader.statistics
        assert counts is not None
        assert counts.records is not None
        assert (counts.records.tolist(), counts.records_to_all) == ([1001, 1003], 10)


def test_an_arrow_writer_and_a_follower(tmp_path: Path) -> None:
    log = Log()
    writer = ArrowWriter(tmp_path / "out", rows(1).schema, 2, follow=True, listener=log)
    with Follower(tmp_path / "out") as log.follower:
        for number in range(1, 4):
            writer.write(rows(2), [0, 1])
            writer.flush()
            assert len(log.regions) == number
        writer.write(rows(2), [0, 1])
        writer.finish()
    assert log.kinds == ["region"] * 4 + ["finished"]


def test_a_fault_of_an_arrow_writer(tmp_path: Path) -> None:
    log = Log()
    writer = ArrowWriter(tmp_path / "out", rows(1).schema, 2, listener=log)
    writer.write(rows(2), [0, 1])
    (tmp_path / "out.data").write_bytes(b"another's")
    for _ in range(2):
        assert fault_of(writer.finish) is not None
    assert log.kinds == ["region", "fault"]


@pytest.mark.parametrize("mode", ["full", "selective"])
def test_a_hybrid_store_has_the_news_of_its_regions_once(tmp_path: Path, mode: Any) -> None:
    log = Log()
    memory = hybrid.HybridMemory(1)
    with hybrid.HybridStore(tmp_path / "out", WriterOptions(2, listener=log), memory=memory, mode=mode) as store:
        for _ in range(3):
            store.write(0, bytes(1000))
            store.flush()
        assert log.regions == [0, 1, 2]
        store.finish()
    assert log.kinds == ["region"] * 3 + ["finished"]
