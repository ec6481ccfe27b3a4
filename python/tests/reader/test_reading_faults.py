"""What is not a file, what cannot be read, and what changes while it is read."""

from __future__ import annotations

import errno
import itertools
import os
import pickle
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import FILE_ID, Call, Output, descriptors, events_of, fault_of, model, read_all, write

from faro_format import ErrorCode, FaroError, Follower, Framing, Reader, Writer, WriterOptions, check, rebuild, repair
from faro_format._storage.input_file import InputFile

BOTH = pytest.mark.parametrize("layout", ["paired", "single"])
CALLS = [
    Call("write", [0], b"one"),
    Call("broadcast", [], b"all"),
    Call("flush"),
    Call("write", [1], b"x" * 500),
    Call("write", [0], b"two"),
]


def made_in(folder: Path, layout: Any) -> Output:
    return write(folder, WriterOptions(2, layout=layout, block_size=100, file_id=FILE_ID), CALLS)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture
def soon() -> Iterator[None]:
    """End a test that waits for something."""

    def late(*_: Any) -> None:
        pytest.fail("it waits")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def make_linked_pipe(path: Path) -> None:
    os.mkfifo(f"{path}.x")
    path.symlink_to(f"{path}.x")


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


PLACES: dict[str, Callable[[Path], Any]] = {
    "nothing": lambda path: None,
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a link to a pipe": make_linked_pipe,
    "a socket": make_socket,
    "a device": lambda path: path.symlink_to("/dev/null"),
    "a device without an end": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a name that is too long": lambda path: None,
}


@BOTH
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.usefixtures("soon")
def test_what_is_no_file_is_io_and_not_waited_for(
    tmp_path_factory: pytest.TempPathFactory, layout: Any, place: str
) -> None:
    folder = tmp_path_factory.mktemp("x")
    made = made_in(folder, layout)
    for role in made.files:
        other = folder / ("y" * 300 if "long" in place else f"not-{role}")
        PLACES[place](other)
        files = {**made.files, role: other}
        asked: list[Callable[..., Any]] = [Reader, Follower, check, repair]
        if role == "data":
            asked.append(rebuild)
        before = open_files(), made.contents()
        for ask in asked:
            fault = fault_of(ask, **files)
            assert fault is not None
            assert (fault.code, fault.role, fault.offset) == (ErrorCode.IO, role, None)
            assert fault.file == str(other)
            del fault
        assert (open_files(), made.contents()) == before


@pytest.mark.usefixtures("soon")
def test_a_pipe_in_the_place_of_an_output(tmp_path: Path) -> None:
    made = made_in(tmp_path, "paired")
    made.files["index"].unlink()
    os.mkfifo(made.files["index"])
    fault = fault_of(write_again, made, overwrite=False)
    assert fault is not None
    assert fault.code == ErrorCode.IO
    # A pipe is replaced as a file is.
    rebuild(**made.files)
    assert check(**made.files).blocks == 4


def write_again(made: Output, *, overwrite: bool) -> None:
    Writer(str(made.base), WriterOptions(2, overwrite=overwrite)).finish()


def test_an_index_that_cannot_be_replaced(tmp_path: Path) -> None:
    made = made_in(tmp_path, "paired")
    made.files["index"].unlink()
    (made.files["index"] / "inside").mkdir(parents=True)
    fault = fault_of(rebuild, **made.files)
    assert fault is not None
    assert (fault.code, fault.role) == (ErrorCode.IO, "index")
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in made.files.values()}


@BOTH
@pytest.mark.parametrize("most", [1, 7, 100])
def test_short_reads_are_gone_on_with(tmp_path: Path, layout: Any, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = made_in(tmp_path, layout)
    options = WriterOptions(2, layout=layout)
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, length, at: pread(fd, min(length, most), at))
    assert check(**made.files).blocks == 4
    with made.reader() as reader, Follower(**made.files) as follower:
        assert follower.poll()
        for partition in range(2):
            expected = model(CALLS, options, partition)
            assert events_of(reader.partition(partition), Framing.RECORDS) == expected
            assert events_of(follower.partition(partition), Framing.RECORDS) == expected
    assert repair(**made.files).action == "nothing"
    if layout == "paired":
        assert rebuild(**made.files).blocks == 4


@BOTH
def test_every_read_that_is_refused_is_io(tmp_path: Path, layout: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = made_in(tmp_path, layout)
    whole = made.contents()
    pread = os.pread
    asked: list[Callable[..., Any]] = [check, repair, lambda **files: Follower(**files).poll()]
    if layout == "paired":
        asked.append(rebuild)
    for ask in asked:
        for refused in itertools.count():
            calls = itertools.count()

            def read(descriptor: int, length: int, at: int, *, calls: Any = calls, refused: int = refused) -> bytes:
                if next(calls) == refused:
                    raise OSError(errno.EIO, "refused")
                return pread(descriptor, length, at)

            before = open_files()
            monkeypatch.setattr(os, "pread", read)
            fault = fault_of(ask, **made.files)
            if fault is None:
                assert refused >= 2
                break
            assert (fault.code, fault.offset) == (ErrorCode.IO, None)
            assert fault.role in made.files
            del fault
            assert open_files() == before
            assert made.contents() == whole


def test_a_reader_goes_on_after_a_read_that_was_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = made_in(tmp_path, "paired")
    with made.reader() as reader:
        known = descriptors(reader)
        for _ in range(2):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(os, "pread", lambda *_: 1 // 0)
                with pytest.raises(ZeroDivisionError):
                    read_all(reader)
            read_all(reader)
    assert [descriptor() for descriptor in known] == [None, None]


# Files that change.


@pytest.mark.parametrize("role", ["data", "index"])
def test_a_file_that_shrinks_under_a_reader(tmp_path: Path, role: str) -> None:
    made = made_in(tmp_path, "paired")
    with made.reader() as reader:
        os.truncate(made.files[role], 70)
        for _ in range(2):
            fault = fault_of(read_all, reader)
            assert fault is not None
            assert (fault.code, fault.role, fault.offset) == (ErrorCode.TRUNCATED, role, 70)
        # A region that is known needs no index.
        assert reader.stored_bytes(0) > 0


@pytest.mark.parametrize("role", ["data", "index"])
def test_a_file_that_is_written_over_under_a_reader(tmp_path: Path, role: str) -> None:
    made = made_in(tmp_path, "paired")
    other = write(tmp_path, WriterOptions(2, block_size=100, file_id=bytes(16)), CALLS)
    with made.reader() as reader:
        made.files[role].write_bytes(other.contents()[role])
        fault = fault_of(read_all, reader)
        assert fault is not None
        assert (fault.code, fault.role, fault.offset) == (ErrorCode.CHECKSUM, role, 64)


def test_a_file_that_is_replaced_under_a_reader(tmp_path: Path) -> None:
    made = made_in(tmp_path, "paired")
    with made.reader() as reader:
        write_again(made, overwrite=True)
        for partition in range(2):
            assert events_of(reader.partition(partition), Framing.RECORDS) == model(CALLS, WriterOptions(2), partition)
    with made.reader() as reader:
        assert list(reader.all()) == []


def test_a_data_file_that_shrinks_under_a_rebuild_is_not_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = made_in(tmp_path, "paired")
    before = made.contents()
    # To the library the file seems longer than it is.
    monkeypatch.setattr(InputFile, "header", lambda file, real=InputFile.header: grown(file, real))
    fault = fault_of(rebuild, **made.files)
    assert fault is not None
    assert (fault.code, fault.role, fault.offset) == (ErrorCode.TRUNCATED, "data", len(before["data"]))
    assert made.contents() == before


def grown(file: InputFile, header: Any) -> Any:
    found = header(file)
    file.size += 100
    return found


def test_a_follower_of_a_file_that_shrinks_waits(tmp_path: Path) -> None:
    made = made_in(tmp_path, "paired")
    index = made.contents()["index"]
    end = len(index) - 24
    made.put(made.contents() | {"index": index[:end]})
    with Follower(**made.files) as follower:
        assert not follower.poll()
        os.truncate(made.files["index"], 64)
        assert not follower.poll()
        assert follower.region_count == 2
        made.files["index"].write_bytes(index)
        assert follower.poll()
        read_all(follower)


# Readers that end.


def test_a_closed_reader(tmp_path: Path) -> None:
    made = made_in(tmp_path, "paired")
    before = open_files()
    reader = made.reader()
    blocks = reader.partition(0)
    next(blocks)
    reader.close()
    reader.close()
    assert open_files() == before
    with pytest.raises(FaroError, match="invalid-argument"):
        list(blocks)
    with pytest.raises(FaroError, match="invalid-argument"):
        list(reader.partition(1))


def test_readers_that_are_dropped_close_their_files(tmp_path: Path) -> None:
    made = made_in(tmp_path, "paired")
    before = open_files()
    for _ in range(10):
        next(made.reader().partition(0))
        Follower(**made.files).poll()
    assert open_files() == before


def test_errors_cross_processes(tmp_path: Path) -> None:
    fault = fault_of(Reader, single=tmp_path / "x")
    assert fault is not None
    copy = pickle.loads(pickle.dumps(fault))
    assert str(copy) == str(fault)
    assert vars(copy) == vars(fault)
    assert str(fault._copy()) == str(fault)
