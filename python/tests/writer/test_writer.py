"""What a writer refuses, how it fails, and what it leaves."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import FILE_ID, fault_of, output

from faro_format import ErrorCode, FaroError, Follower, Reader, Writer, WriterOptions
from faro_format._storage.output_file import OutputFile


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "options",
    [
        {"partition_count": 0},
        {"partition_count": 2**28 + 1},
        {"first_partition": 2**28},
        {"block_size": 0},
        {"buffer_size": 2**33 + 1},
        {"level": 20},
        {"rotation": 4},
        {"framing": "arrow"},
        {"schema": b""},
        {"codec": "gzip"},
        {"layout": "double"},
        {"file_id": b"short"},
        {"created_by": "\ud800"},
        {"producer": -1},
    ],
)
def test_options_out_of_range(options: dict[str, Any]) -> None:
    with pytest.raises(FaroError, match="invalid-argument"):
        WriterOptions(**({"partition_count": 4} | options))


def test_calls_that_are_refused_leave_the_writer_as_it_was(tmp_path: Path) -> None:
    options = WriterOptions(4, first_partition=2, file_id=FILE_ID, max_plain_size=100)
    bad: list[Callable[[Writer], Any]] = [
        lambda w: w.write(1, b"x"),
        lambda w: w.write(6, b"x"),
        lambda w: w.write("3", b"x"),  # type: ignore[arg-type]
        lambda w: w.write(3, "text"),
        lambda w: w.write_event(3, 2, b"x"),
        lambda w: w.write_event(3, 0, b"x"),
        lambda w: w.broadcast_event("1", b"x"),  # type: ignore
        lambda w: w.write_event(3, 128, b"x"),
        lambda w: w.multicast_event([3], 128, b"x"),
        lambda w: w.multicast([], b"x"),
        lambda w: w.multicast([2, 6], b"x"),
        lambda w: w.multicast(["a"], b"x"),  # type: ignore[list-item]
        lambda w: w.property("k", "again"),
        lambda w: w.property("k2", "\udc00"),
    ]
    with Writer(str(tmp_path / "a"), options) as writer:
        writer.property("k", "v")
        for call in bad:
            fault = fault_of(call, writer)
            assert fault is not None
            assert (fault.code, fault.file, fault.offset) == (ErrorCode.INVALID_ARGUMENT, None, None)
        for call in (lambda w: w.write(3, bytes(97)), lambda w: w.broadcast_event(1, bytes(101))):
            fault = fault_of(call, writer)
            assert fault is not None
            assert (fault.code, fault.file, fault.offset) == (ErrorCode.LIMIT_EXCEEDED, None, None)
        writer.write(3, np.arange(3, dtype=np.uint16))
    with Reader(data=tmp_path / "a.data", index=tmp_path / "a.index") as reader:
        assert [bytes(record) for record in reader.records(3)] == [bytes((0, 0, 1, 0, 2, 0))]
    after: list[Callable[[Writer], Any]] = [Writer.finish, Writer.flush, lambda w: w.write(3, b"")]
    for call in after:
        with pytest.raises(FaroError, match="invalid-argument"):
            call(writer)
    writer.abort()
    assert names(tmp_path) == ["a.data", "a.index"]


def test_temporary_names_until_finished(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path / "a"), WriterOptions(4, file_id=FILE_ID))
    writer.write(1, b"x")
    writer.flush()
    assert names(tmp_path) == ["a.data.00010203.tmp", "a.index.00010203.tmp"]
    writer.finish()
    assert names(tmp_path) == ["a.data", "a.index"]


def test_a_file_id_that_was_not_given_is_a_new_random_uuid(tmp_path: Path) -> None:
    drawn = []
    for _ in range(64):
        made = output(tmp_path, WriterOptions(1))
        with Writer(str(made.base), WriterOptions(1)):
            pass
        with made.reader() as reader:
            drawn.append(reader.header.file_id)
    assert len(set(drawn)) == 64
    assert {uuid.UUID(bytes=file_id).version for file_id in drawn} == {4}
    assert {uuid.UUID(bytes=file_id).variant for file_id in drawn} == {uuid.RFC_4122}
    # Every other bit is drawn, so it is now 0 and now 1.
    bits = np.unpackbits(np.frombuffer(b"".join(drawn), np.uint8).reshape(64, 16), axis=1)
    same = np.flatnonzero(bits.min(axis=0) == bits.max(axis=0))
    assert same.tolist() == [48, 49, 50, 51, 64, 65]


def fail_after_a_record(writer: Writer) -> None:
    writer.write(1, b"x")
    raise RuntimeError


@pytest.mark.parametrize("layout", ["paired", "single"])
@pytest.mark.parametrize("follow", [False, True])
def test_abort_leaves_nothing(tmp_path: Path, layout: Any, follow: bool) -> None:
    writer = Writer(str(tmp_path / "a"), WriterOptions(4, layout=layout, follow=follow))
    writer.write(1, b"x")
    writer.flush()
    writer.abort()
    writer.abort()
    assert names(tmp_path) == []
    with pytest.raises(RuntimeError), Writer(str(tmp_path / "a"), WriterOptions(4)) as writer:
        fail_after_a_record(writer)
    assert names(tmp_path) == []


def test_a_dropped_writer_leaves_nothing(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path / "a"), WriterOptions(4))
    writer.write(1, b"x")
    writer.flush()
    del writer
    assert names(tmp_path) == []


def test_existing_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.index").write_bytes(b"old")
    fault = fault_of(Writer, str(tmp_path / "a"), WriterOptions(4))
    assert fault is not None
    assert (fault.code, fault.role) == (ErrorCode.IO, "index")
    assert names(tmp_path) == ["a.index"]
    with Writer(str(tmp_path / "a"), WriterOptions(4, overwrite=True)):
        pass
    assert names(tmp_path) == ["a.data", "a.index"]
    with Writer(str(tmp_path / "a"), WriterOptions(4, overwrite=True, follow=True)):
        pass
    writer = Writer(str(tmp_path / "b"), WriterOptions(4))
    (tmp_path / "b.index").write_bytes(b"late")
    fault = fault_of(writer.finish)
    assert fault is not None
    assert fault.code == ErrorCode.IO
    writer.abort()
    assert names(tmp_path) == ["a.data", "a.index", "b.index"]


def test_a_failed_writer_stays_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer(str(tmp_path / "a"), WriterOptions(4))
    writer.write(1, b"x")

    def full(_descriptor: int, _parts: Any) -> int:
        raise OSError(28, "full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "writev", full)
        first = fault_of(writer.flush)
    assert first is not None
    assert first.code == ErrorCode.IO
    calls: list[Callable[[], Any]] = [writer.flush, writer.finish, lambda: writer.write(1, b""), writer.region]
    for call in calls:
        assert str(fault_of(call)) == str(first)
    writer.abort()
    for call in calls:
        again = fault_of(call)
        assert again is not None
        assert again.code == ErrorCode.INVALID_ARGUMENT
    assert names(tmp_path) == []


def test_short_writes_are_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = OutputFile(str(tmp_path / "f"), "data", None)
    monkeypatch.setattr(os, "writev", lambda fd, parts: os.write(fd, b"".join(parts)[:3]))
    file.create()
    file.append([b"ab", b"cd", b"efgh"])
    file.close()
    assert (tmp_path / "f").read_bytes() == b"abcdefgh"
    assert file.position == 8


def test_system_calls_end_at_multiples_of_their_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that begins elsewhere takes longer, because of how Linux caches files."""
    calls: list[tuple[int, int]] = []
    writev = os.writev

    def counted(descriptor: int, parts: list[Any]) -> int:
        written = writev(descriptor, parts)
        calls.append((written, len(parts)))
        return written

    file = OutputFile(str(tmp_path / "f"), "data", None)
    monkeypatch.setattr(os, "writev", counted)
    file.create()
    appended = [[b"h" * 88], [b"a" * 5, b"b" * 700_000, b"c"], [b"d" * 100] * 3_500, [b"e" * (256 << 10)]]
    for parts in appended:
        file.append(parts)
    file.close()
    assert (tmp_path / "f").read_bytes() == b"".join(part for parts in appended for part in parts)
    ends = np.cumsum([written for written, _ in calls])
    last = np.cumsum([sum(map(len, parts)) for parts in appended])
    # Or with the last piece that was handed over, or with as many pieces as a call takes.
    rest = [
        parts for end, (_, parts) in zip(ends.tolist(), calls, strict=True) if end % (256 << 10) and end not in last
    ]
    assert rest == [1000] * 2
    assert max(written for written, _ in calls) == 256 << 10


def test_the_region_writer(tmp_path: Path) -> None:
    options = WriterOptions(8, rotation=5, framing="opaque", file_id=FILE_ID, codec="lz4")
    made = output(tmp_path, options)
    with Writer(str(made.base), options) as writer:
        writer.write(0, b"before")
        with writer.region() as region:
            region.block(6, 0, b"six" * 100, 3)
            region.block(6, 1, b"")
            region.block(1, 0, bytearray(b"one"), 1)
            refused: list[Callable[[], None]] = [
                lambda: region.block(6, 0, b"x"),
                lambda: region.block(None, 0, b"x"),
                lambda: region.block(1, 0, b""),
                lambda: region.block(1, 2, b"x"),
                lambda: region.stored_block(1, 0, 3, 9, b"x"),
                lambda: region.stored_block(1, 1, 1, 9, b"x"),
                lambda: region.stored_block(1, 0, 1, 1, b"x"),
                lambda: writer.write(1, b""),
                lambda: region.shared([9]),
            ]
            for call in refused:
                with pytest.raises(FaroError, match="invalid-argument"):
                    call()
            region.shared([3, 1, 3])
            region.block(None, 0, b"for two", 1)
            region.shared()
            with pytest.raises(FaroError, match="invalid-argument"):
                region.block(2, 0, b"x")
        given_up = writer.region()
        given_up.block(1, 0, b"never")
        given_up.give_up()
        with pytest.raises(FaroError, match="invalid-argument"):
            given_up.end()
        given_up.give_up()
        writer.write(1, b"after")
    with made.reader() as reader:
        assert reader.region_count == 3
        assert [bytes(b.payload) for b in reader.partition(1)] == [b"one", b"for two", b"after"]
        assert [b.kind for b in reader.partition(6)] == [0, 1]
        assert reader.statistics is not None
        assert reader.statistics.records is not None
        assert reader.statistics.records.tolist() == [1, 3, 0, 1, 0, 0, 3, 0]


@pytest.mark.parametrize("layout", ["paired", "single"])
def test_durability(tmp_path: Path, layout: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    options = WriterOptions(2, layout=layout, durability="commit", follow=True)
    made = output(tmp_path, options)
    with Writer(str(made.base), options) as writer:
        writer.write(1, b"x")
        writer.flush()
        assert len(synced) == 2
        with Follower(**made.files) as follower:
            follower.poll()
            assert follower.region_count == 1
    assert len(synced) == (5 if layout == "paired" else 4)
