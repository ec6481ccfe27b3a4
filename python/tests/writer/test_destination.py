"""Writing to a destination: the bytes of local files, and no failure that leaves something published."""

from __future__ import annotations

import errno
import gc
import tempfile
from pathlib import Path
from typing import Any

import pytest
from destining import Failing
from hypothesis import given, settings
from support import FILE_ID, Call, fault_of, scripts, write

from faro_format import FaroError, Reader, Writer, WriterOptions, storage
from faro_format.arrow import ArrowWriter


def memory_writer(destination: Any, **more: Any) -> Writer:
    return Writer(destination=destination, options=WriterOptions(4, file_id=FILE_ID, **more))


def use(writer: Writer) -> None:
    """Make calls of all kinds: regions of the sort buffer and of the region writer, a dictionary, a property."""
    writer.write(0, b"first")
    writer.broadcast(b"all")
    writer.flush()
    if writer.options.dictionaries:
        writer.dictionary(bytes.fromhex("37a430ec") + bytes(60))
    with writer.region() as region:
        region.block(1, 0, b"\1\0\0\0x", 1)
        region.block(2, 0, (2 << 20).to_bytes(4, "little") + bytes(2 << 20), 1)
    writer.property("k", "v")
    writer.write(3, b"last")


@settings(max_examples=60, deadline=None)
@given(script=scripts())
def test_the_bytes_are_those_of_local_files(script: tuple[WriterOptions, list[Call]]) -> None:
    options, calls = script
    destination = storage.MemoryDestination("out")
    with Writer(destination=destination, options=options) as writer:
        for call in calls:
            call.make(writer)
    with tempfile.TemporaryDirectory() as folder:
        expected = write(Path(folder), options, calls).contents()
    names = {"data": "out.data", "index": "out.index", "single": "out.faro"}
    assert destination.files == {names[role]: contents for role, contents in expected.items()}


WAYS: list[dict[str, Any]] = [
    {},
    {"layout": "single", "durability": "commit"},
    {"durability": "commit", "codec": "zstd", "dictionaries": True},
    {"overwrite": True},
    {"single_below": 1},
    {"single_below": 2**20, "buffer_size": 1},
]


@pytest.mark.parametrize("options", WAYS, ids=str)
def test_bytes_and_files_of_each_way(tmp_path: Path, options: dict[str, Any]) -> None:
    destination = storage.MemoryDestination("out")
    writer = memory_writer(destination, **options)
    use(writer)
    assert destination.files == {}
    summary = writer.finish()
    assert sorted(summary.files) == sorted(destination.files)
    with Writer(tmp_path / "out", WriterOptions(4, file_id=FILE_ID, **options)) as local:
        use(local)
    assert destination.files == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("options", WAYS, ids=str)
def test_a_failure_of_any_call_leaves_nothing_published(options: dict[str, Any], after: bool) -> None:
    at = 0
    while True:
        inner = storage.MemoryDestination("out")
        destination = Failing(inner, at, after=after)
        writer, fault = None, None
        try:
            writer = memory_writer(destination, **options)
            use(writer)
            writer.finish()
        except FaroError as found:
            fault = found
        if len(destination.calls) <= at:
            assert fault is None
            break
        failed = destination.calls[at]
        if failed == "close":
            # All is published by then.
            assert fault is None
            Reader(stored=inner.output()).close()
        else:
            assert fault is not None, failed
            assert (fault.code, fault.errno, fault.role is not None) == ("io", errno.EDQUOT, True)  # type: ignore
            assert inner.files == {}, failed
            if writer is not None:
                assert str(fault_of(writer.write, 0, b"x")) == str(fault)
                writer.abort()
                assert {"remove", "close"} <= set(destination.calls) or "create" not in destination.calls[:at]
            assert inner.files == {}
        at += 1
    assert at > 8


@pytest.mark.parametrize("kind", [KeyboardInterrupt, ValueError])
def test_what_is_no_error_of_the_system_is_passed_on(kind: type[BaseException]) -> None:
    for at in range(60):
        inner = storage.MemoryDestination("out")
        destination = Failing(inner, at, fault=kind("x"))
        try:
            with memory_writer(destination) as writer:
                use(writer)
        except kind:
            assert inner.files == {}
        else:
            if len(destination.calls) <= at:
                destination._at = -1  # The writer is dropped later.
                break
            assert destination.calls[at] == "close"
    assert at > 8


def test_append_is_not_called_after_it_failed() -> None:
    inner = storage.MemoryDestination("out")
    total = Failing(inner)
    with memory_writer(total) as writer:
        use(writer)
    for at in [number for number, what in enumerate(total.calls) if what == "append"]:
        destination = Failing(storage.MemoryDestination("out"), at)
        with pytest.raises(FaroError), memory_writer(destination) as writer:
            use(writer)
        assert not {"append", "sync", "publish"} & set(destination.calls[at + 1 :])


@pytest.mark.parametrize("layout", ["paired", "single"])
@pytest.mark.parametrize("when", ["before", "while"])
def test_a_name_that_exists(layout: Any, when: str) -> None:
    files: dict[str, bytes] = {}
    name = "out.data" if layout == "paired" else "out.faro"
    if when == "before":
        files[name] = b"older"
        fault = fault_of(memory_writer, storage.MemoryDestination("out", files), layout=layout)
    else:
        writer = memory_writer(storage.MemoryDestination("out", files), layout=layout)
        use(writer)
        files[name] = b"older"
        fault = fault_of(writer.finish)
    assert isinstance(fault, FileExistsError)
    role = "data" if layout == "paired" else "single"
    expected = f"io in {role} file '{name}': expected no file of this name, or the option overwrite=True, found a file"
    assert str(fault) == expected
    assert files == {name: b"older"}
    with memory_writer(storage.MemoryDestination("out", files), layout=layout, overwrite=True) as writer:
        use(writer)
    assert files[name] != b"older"


def test_an_index_that_is_refused_takes_the_data_file_with_it() -> None:
    files: dict[str, bytes] = {}
    writer = memory_writer(storage.MemoryDestination("out", files))
    use(writer)
    files["out.index"] = b"older"
    fault = fault_of(writer.finish)
    assert isinstance(fault, FileExistsError)
    assert fault.role == "index"
    assert files == {"out.index": b"older"}


def test_of_two_writers_of_one_name_one_succeeds() -> None:
    files: dict[str, bytes] = {}
    first, second = (memory_writer(storage.MemoryDestination("out", files)) for _ in range(2))
    use(first)
    use(second)
    first.finish()
    before = dict(files)
    assert isinstance(fault_of(second.finish), FileExistsError)
    second.abort()
    assert files == before


@pytest.mark.parametrize("name", ["out.faro", "out.data", "out.index"])
def test_single_below_keeps_the_names_of_both_layouts_free(name: str) -> None:
    for below in (1, 1000):
        files = {name: b"older"}
        destination = storage.MemoryDestination("out", files)
        assert isinstance(fault_of(memory_writer, destination, single_below=below), FileExistsError)
        files.clear()
        writer = memory_writer(destination, single_below=below)
        writer.write(0, b"x")
        files[name] = b"newer"
        assert isinstance(fault_of(writer.finish), FileExistsError)
        assert files == {name: b"newer"}


def test_single_below_makes_the_files_late() -> None:
    for below, made in ((1000, ["create"]), (1, ["create", "create"])):
        destination = Failing(storage.MemoryDestination())
        writer = memory_writer(destination, single_below=below)
        writer.write(0, b"x")
        assert set(destination.calls) == {"taken"}
        writer.finish()
        assert [call for call in destination.calls if call == "create"] == made


@pytest.mark.parametrize("end", ["abort", "drop"])
def test_a_writer_that_does_not_finish_removes_its_files(end: str) -> None:
    destination = Failing(storage.MemoryDestination())
    writer = memory_writer(destination)
    use(writer)
    if end == "abort":
        writer.abort()
    del writer
    gc.collect()
    assert destination.calls.count("remove") >= 2
    assert destination.calls.count("close") >= 2
    assert destination.inner.files == {}  # type: ignore[attr-defined]


def test_arguments_that_contradict() -> None:
    destination = storage.MemoryDestination()
    with pytest.raises(FaroError, match="invalid-argument: expected name or destination"):
        Writer(options=WriterOptions(1))
    with pytest.raises(FaroError, match="invalid-argument: expected name or destination"):
        Writer("out", WriterOptions(1), destination=destination)
    with pytest.raises(FaroError, match="invalid-argument: expected follow with a local file only"):
        memory_writer(destination, follow=True)


def test_tables() -> None:
    import pyarrow as pa

    destination = storage.MemoryDestination()
    table = pa.table({"x": [1, 2, 3]})
    with ArrowWriter(None, table.schema, 2, destination=destination) as writer:
        writer.write(table, [0, 1, 0])
    from faro_format.arrow import read_table

    with Reader(stored=destination.output()) as reader:
        assert read_table(reader, 0).column("x").to_pylist() == [1, 3]
