"""finish_and_open: the reader is as one that was opened by name, and opening reads nothing."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from destining import Failing
from hypothesis import given, settings
from remote import BUCKET, ObjectStore
from support import FILE_ID, Call, delivered, fault_of, scripts

import faro_format as faro
from faro_format import FaroError, Limits, Reader, Writer, WriterOptions, check, storage
from faro_format._storage.local_file import LocalFile


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The reads of local files."""
    made: list[tuple[int, int]] = []
    real = LocalFile.read

    def read(file: LocalFile, offset: int, length: int) -> bytes:
        made.append((offset, length))
        return real(file, offset, length)

    monkeypatch.setattr(LocalFile, "read", read)
    return made


def found_by(reader: Reader) -> dict[str, Any]:
    statistics = reader.statistics
    return {
        "header": reader.header,
        "properties": reader.properties,
        "regions": reader.region_count,
        "stored": [reader.stored_bytes(partition) for partition in reader.partitions],
        "statistics": None if statistics is None else repr(statistics),
        "schema": reader.schema_message,
        "dictionaries": reader.dictionaries,
        "delivered": delivered(reader, reader.header.framing),
    }


@settings(max_examples=60, deadline=None)
@given(script=scripts())
def test_the_reader_is_as_one_that_was_opened_by_name(script: tuple[WriterOptions, list[Call]]) -> None:
    options, calls = script
    with tempfile.TemporaryDirectory() as folder:
        out = Writer(Path(folder, "out"), options)
        for call in calls:
            call.make(out)
        out.property("k", "v")
        summary, reader = out.finish_and_open()
        with reader, faro.open(Path(folder, "out")) as opened:
            assert found_by(reader) == found_by(opened)
            assert [reader._files.data.place, reader._files.index.place] == [
                opened._files.data.place,
                opened._files.index.place,
            ]
            assert (summary.regions, summary.file_id) == (opened.region_count, opened.header.file_id)
    assert str(fault_of(out.write, 0, b"x")) == "invalid-argument: expected an open writer, found one that was finished"


WAYS: list[dict[str, Any]] = [
    {},
    {"layout": "single"},
    {"follow": True},
    {"overwrite": True, "durability": "commit"},
    {"single_below": 1 << 20},
]


def schema(columns: int) -> bytes:
    return bytes(pa.schema([(f"a column with a long name {n}", pa.int64()) for n in range(columns)]).serialize())


@pytest.mark.parametrize("options", WAYS, ids=str)
@pytest.mark.parametrize("columns", [0, 3, 2000])
def test_opening_reads_nothing(
    tmp_path: Path, reads: list[tuple[int, int]], options: dict[str, Any], columns: int
) -> None:
    more: dict[str, Any] = {"framing": "arrow", "schema": schema(columns)} if columns else {}
    out = Writer(tmp_path / "out", WriterOptions(4, file_id=FILE_ID, **options, **more))
    for number in range(100):
        record = b"\xff\xff\xff\xff" + (8).to_bytes(4, "little") + bytes(2000) if columns else bytes(3000)
        out.write(number % 4, record)
    _, reader = out.finish_and_open()
    assert reads == []
    with reader:
        assert len(list(reader.all())) > 3
        assert reads != []
        if columns:
            assert reader.schema_message == schema(columns)
    check(tmp_path / "out")


def test_it_reads_what_was_written_whatever_has_the_name(tmp_path: Path) -> None:
    out = Writer(tmp_path / "out", WriterOptions(1))
    out.write(0, b"first")
    _, reader = out.finish_and_open()
    with Writer(tmp_path / "out", WriterOptions(1, overwrite=True)) as other:
        other.write(0, b"second")
    with reader:
        assert [bytes(record) for record in reader.records(0)] == [b"first"]
        (tmp_path / "out.data").unlink()
        assert [bytes(record) for record in reader.records(0)] == [b"first"]
    before = set(os.listdir("/proc/self/fd"))
    del reader
    assert set(os.listdir("/proc/self/fd")) <= before


def test_a_limit_that_is_broken_leaves_a_published_output(tmp_path: Path) -> None:
    out = Writer(tmp_path / "out", WriterOptions(1))
    for _ in range(3):
        out.write(0, b"x")
        out.flush()
    with pytest.raises(FaroError, match="limit-exceeded"):
        out.finish_and_open(limits=Limits(max_regions=2))
    out.abort()
    assert check(tmp_path / "out").regions == 3


def test_arguments_are_checked_before_anything_is_done(tmp_path: Path) -> None:
    out = Writer(tmp_path / "out", WriterOptions(1))
    wrongs: list[dict[str, Any]] = [{"limits": 1}, {"verify": 1}, {"cache": -1}, {"lookup": "both"}]
    for wrong in wrongs:
        with pytest.raises(FaroError, match="invalid-argument"):
            out.finish_and_open(**wrong)
    out.write(0, b"x")
    out.finish_and_open(lookup="direct")[1].close()


def test_in_memory() -> None:
    destination = storage.MemoryDestination("out")
    out = Writer(destination=destination, options=WriterOptions(1))
    out.write(0, b"x")
    _, reader = out.finish_and_open()
    destination.files.clear()
    with reader:
        assert [bytes(record) for record in reader.records(0)] == [b"x"]


@pytest.mark.parametrize("which", [0, 1])
def test_a_file_that_cannot_be_opened_is_published(which: int) -> None:
    destination = Failing(storage.MemoryDestination("out"))
    with Writer(destination=destination, options=WriterOptions(1)) as out:
        out.finish_and_open()
    opens = [number for number, call in enumerate(destination.calls) if call == "open"]
    inner = storage.MemoryDestination("out")
    out = Writer(destination=Failing(inner, opens[which]), options=WriterOptions(1))
    fault = fault_of(out.finish_and_open)
    assert isinstance(fault, OSError)
    assert (fault.role, fault.expected) == (["data", "index"][which], "to open the published file")
    out.abort()
    Reader(stored=inner.output()).close()


def test_in_an_object_store(object_store: ObjectStore) -> None:
    object_store.clear()
    url = f"s3://{BUCKET}/out"
    out = Writer(url, WriterOptions(1), storage_options=object_store.options)
    out.write(0, b"x")
    with object_store.counted() as requests:
        _, reader = out.finish_and_open()
    assert [request[0] for request in requests] == ["PUT", "PUT"]
    with reader:
        assert [bytes(record) for record in reader.records(0)] == [b"x"]
        object_store.filesystem.pipe_file(f"{BUCKET}/out.data", bytes(1000))
    object_store.clear()


def test_a_followed_output_whose_name_was_taken_is_not_opened(tmp_path: Path) -> None:
    """Else the reader would have this output's index and another one's blocks."""
    with Writer(tmp_path / "other", WriterOptions(2, layout="single")) as other:
        other.write(0, b"another")
    out = Writer(tmp_path / "out", WriterOptions(2, layout="single", follow=True))
    out.write(0, b"a record")
    out.flush()
    os.replace(tmp_path / "other.faro", tmp_path / "out.faro")
    with pytest.raises(FaroError, match="another file") as fault:
        out.finish_and_open()
    assert fault.value.code == "io"
    out.abort()
    check(tmp_path / "out.faro")
