"""Readers of stored files: what they ask for, what they close, and what their errors say."""

from __future__ import annotations

import errno
import io
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import fsspec
import pytest
import storing
from storing import in_memory
from support import FILE_ID, Call, Output, fault_of, read_all, write

from faro_format import ErrorCode, FaroError, FaroIOError, Reader, WriterOptions, check
from faro_format.storage import MemoryFile, SeekableFile, StoredFile, StoredOutput, check_stored_file

CALLS = [Call("write", [number % 3], b"%d " % number * 20) for number in range(200)]


def made_in(folder: Path, **more: Any) -> Output:
    return write(folder, WriterOptions(3, file_id=FILE_ID, block_size=300, buffer_size=2_000, **more), CALLS)


def test_a_file_system_in_memory(tmp_path: Path) -> None:
    made = made_in(tmp_path)
    system = fsspec.filesystem("memory")
    opened = {}
    for role, contents in made.contents().items():
        system.pipe_file(f"/out.{role}", contents)
        opened[role] = SeekableFile(system.open(f"/out.{role}", "rb"))
        check_stored_file(opened[role], contents)
    assert opened["data"].name == "/out.data"
    with Reader(stored=StoredOutput.paired(**opened)) as reader, made.reader() as local:
        for partition in local.partitions:
            assert list(reader.partition(partition)) == list(local.partition(partition))


@pytest.mark.parametrize("layout", ["paired", "single"])
def test_threads_read_one_output(tmp_path: Path, layout: Any) -> None:
    made = made_in(tmp_path, layout=layout)
    with made.reader() as local:
        expected = [local.payload(partition) for partition in range(3)]
    files = [SeekableFile(io.BytesIO(contents)) for contents in made.contents().values()]
    output = StoredOutput.paired(*files) if layout == "paired" else StoredOutput.single(*files)
    wrong: list[int] = []
    with Reader(stored=output, cache=0) as reader:

        def work(partition: int) -> None:
            for _ in range(20):
                if reader.payload(partition) != expected[partition]:
                    wrong.append(partition)

        threads = [threading.Thread(target=work, args=(number % 3,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


class Counting(MemoryFile):
    """Counts its calls, and fails when told."""

    def __init__(self, data: bytes, name: str = "counting") -> None:
        super().__init__(data, name)
        self.reads: list[tuple[int, int]] = []
        self.ranges: list[list[tuple[int, int]]] = []
        self.closed = 0
        self.refused: Callable[[int], bool] = lambda _: False

    def read(self, offset: int, length: int) -> memoryview:
        self.reads.append((offset, length))
        if self.refused(offset):
            raise OSError(errno.EIO, "injected")
        return super().read(offset, length)

    def read_ranges(self, ranges: Sequence[tuple[int, int]]) -> list[Any]:
        self.ranges.append(list(ranges))
        return list(super().read_ranges(ranges))

    def close(self) -> None:
        self.closed += 1
        super().close()


def counted(made: Output) -> tuple[Counting, Counting]:
    data, index = (Counting(contents, role) for role, contents in made.contents().items())
    return data, index


def test_a_window_of_partitions_is_one_call(tmp_path: Path) -> None:
    made = made_in(tmp_path)
    data, index = counted(made)
    with made.reader() as local, Reader(stored=StoredOutput.paired(data, index)) as reader:
        assert reader.region_count > 3
        data.reads.clear()
        # Without the last partition, so that the regions are apart.
        assert list(reader.by_partition(0, 2)) == list(local.by_partition(0, 2))
        assert len(data.ranges) == 1
        assert len(data.ranges[0]) == reader.region_count
        # Nothing is read a second time.
        assert data.reads == data.ranges[0]


def test_a_window_that_is_refused_is_read_piece_by_piece(tmp_path: Path) -> None:
    made = made_in(tmp_path)
    data, index = counted(made)
    with made.reader() as local, Reader(stored=StoredOutput.paired(data, index)) as reader:
        expected = list(local.by_partition(1, 3))
        refused = reader._region(2).own(1)
        assert refused is not None
        data.refused = lambda offset: offset == refused.begin
        delivered: list[tuple[int, Any]] = []
        with pytest.raises(FaroIOError) as caught:
            delivered.extend(reader.by_partition(1, 3))
        assert (caught.value.code, caught.value.role, caught.value.file) == (ErrorCode.IO, "data", "data")
        assert caught.value.errno == errno.EIO
        # Those of the two regions before it.
        before = [entry for entry in expected if entry[0] == 1 and entry[1].offset < refused.begin]
        assert delivered == before != []
        data.refused = lambda _: False
        assert list(reader.by_partition(1, 3)) == expected


def test_who_closes(tmp_path: Path) -> None:
    made = made_in(tmp_path)
    data, index = counted(made)
    with Reader(stored=StoredOutput.paired(data, index)) as reader:
        assert (data.closed, index.closed) == (0, 0)
        blocks = reader.partition(0)
        next(blocks)
    reader.close()
    assert (data.closed, index.closed) == (1, 1)
    with pytest.raises(FaroError, match="invalid-argument: expected an open file, found a closed one"):
        list(reader.partition(1))
    # A check, also one that finds something, and an opening that fails before the data file is looked at.
    data, index = counted(made)
    assert check(stored=StoredOutput.paired(data, index)).regions == reader.region_count
    assert data.closed > 0 < index.closed
    data, index = Counting(made.contents()["data"]), Counting(b"not an index", "idx")
    fault = fault_of(Reader, stored=StoredOutput.paired(data, index))
    assert fault is not None
    assert (fault.code, fault.role, fault.file) == (ErrorCode.NOT_FARO, "index", "idx")
    assert data.closed > 0 < index.closed
    # A call that is refused takes nothing over.
    data, index = counted(made)
    for more in ({"lookup": "some"}, {"data": "a"}, {"single": "b"}, {"name": "c"}):
        with pytest.raises(FaroError, match="invalid-argument"):
            Reader(stored=StoredOutput.paired(data, index), **more)  # type: ignore[arg-type]
    assert (data.closed, index.closed) == (0, 0)


def refusing(action: str) -> Iterator[tuple[type[OSError], StoredFile]]:
    """Files that refuse one of their calls, each with the class that the reader's error has."""
    for code, kind in ((errno.ENOENT, FileNotFoundError), (errno.EACCES, PermissionError), (errno.EIO, FaroIOError)):

        def refuse(self: Any, *_: Any, code: int = code) -> Any:
            raise OSError(code, os.strerror(code))

        body = {action: property(refuse) if action == "size" else refuse}
        yield kind, type("Refusing", (MemoryFile,), body)(b"", "far away")


@pytest.mark.parametrize("action", ["size", "read"])
@pytest.mark.parametrize("role", ["data", "index", "single"])
def test_errors_have_role_and_name(tmp_path: Path, action: str, role: str) -> None:
    made = made_in(tmp_path, layout="single" if role == "single" else "paired")
    for kind, refused in refusing(action):
        if action == "read":
            type(refused).size = property(lambda _: 1_000)  # type: ignore[assignment, method-assign]
        files: dict[str, StoredFile] = {name: MemoryFile(raw) for name, raw in made.contents().items()}
        files[role] = refused
        output = StoredOutput.single(files["single"]) if role == "single" else StoredOutput.paired(**files)
        with pytest.raises(kind) as caught:
            Reader(stored=output)
        fault = caught.value
        assert isinstance(fault, FaroIOError)
        assert (fault.code, fault.role, fault.file, fault.offset) == (ErrorCode.IO, role, "far away", None)
        assert str(role) in str(fault)


@pytest.mark.parametrize("kind", [storing.Longer, storing.NotBytes])
def test_a_file_that_breaks_its_promise_is_io(tmp_path: Path, kind: Any) -> None:
    made = made_in(tmp_path, layout="single")
    fault = fault_of(Reader, stored=StoredOutput.single(kind(made.contents()["single"])))
    assert fault is not None
    assert (fault.code, fault.role) == (ErrorCode.IO, "single")


def test_missing_ranges_are_io(tmp_path: Path) -> None:
    made = made_in(tmp_path)
    data = storing.RangeIsMissing(made.contents()["data"])
    data.read_ranges = lambda ranges: []  # type: ignore[method-assign]
    with Reader(stored=StoredOutput.paired(data, MemoryFile(made.contents()["index"]))) as reader:
        read_all(reader)
        fault = fault_of(lambda: list(reader.by_partition(0, 3)))
    assert fault is not None
    assert (fault.code, fault.role) == (ErrorCode.IO, "data")


def test_memory_is_not_copied(tmp_path: Path) -> None:
    made = made_in(tmp_path, layout="single")
    memory = bytearray(made.contents()["single"])
    with Reader(stored=StoredOutput.single(MemoryFile(memory))) as reader:
        block = next(reader.partition(0))
        view = memoryview(block.payload)
        assert view.obj is memory
        assert view.readonly


def test_the_names_of_files_in_errors(tmp_path: Path) -> None:
    made = made_in(tmp_path)
    made.put({role: contents[:200] for role, contents in made.contents().items()})
    assert str(fault_of(Reader, stored=in_memory(made))) == str(fault_of(made.reader))
