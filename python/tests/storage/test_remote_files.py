"""Remote files: what they promise, what they ask the store for, and that replaced content is noticed."""

from __future__ import annotations

import errno
import functools
import random
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
import s3fs
from fsspec.implementations.memory import MemoryFileSystem
from remote import BUCKET, ObjectStore

from faro_format import ErrorCode, FaroError
from faro_format.storage import RemoteFile, check_stored_file

MIB = 1 << 20
PATH = f"{BUCKET}/file"


@functools.lru_cache(2)
def drawn(size: int) -> bytes:
    return random.Random(size).randbytes(size)


def memory() -> MemoryFileSystem:
    return MemoryFileSystem(global_store=False, skip_instance_cache=True)


@pytest.fixture(params=["s3", "memory"])
def system(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue("object_store").filesystem if request.param == "s3" else memory()


@pytest.mark.parametrize("fetch", ["end", "start"])
@pytest.mark.parametrize("size", [0, 1, 9, 65_536, 300_000])
def test_it_keeps_the_promises(system: Any, size: int, fetch: Any) -> None:
    system.pipe_file(PATH, drawn(size))
    check_stored_file(RemoteFile(system, PATH, fetch=fetch), drawn(size))


def test_a_large_file_keeps_the_promises() -> None:
    system = memory()
    system.pipe_file(PATH, drawn(40 * MIB))
    file = RemoteFile(system, PATH)
    wanted = [(0, 40 * MIB), (5, 30 * MIB), (MIB, 3), (39 * MIB, 2 * MIB), (17, 16 * MIB), (20 * MIB, 7)]
    for (offset, length), raw in zip(wanted, file.read_ranges(wanted), strict=True):
        assert raw == drawn(40 * MIB)[offset : offset + length]


def test_gaps_are_not_kept() -> None:
    system = memory()
    system.pipe_file(PATH, drawn(200 * MIB))
    file = RemoteFile(system, PATH)
    wanted = [(number * MIB, 100) for number in range(1, 199)]
    tracemalloc.start()
    found = file.read_ranges(wanted)
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [bytes(raw) for raw in found] == [drawn(200 * MIB)[at : at + 100] for at, _ in wanted]
    # Without them, the requests would have 198 MiB.
    assert kept < MIB
    assert most < 160 * MIB


def test_requests(object_store: ObjectStore) -> None:
    system = object_store.filesystem
    system.pipe_file(PATH, drawn(40 * MIB))

    def asked(work: Callable[[], Any]) -> list[str | None]:
        with object_store.counted() as requests:
            work()
        assert {(method, key) for method, key, _ in requests} <= {("GET", "file")}
        return sorted((where for _, _, where in requests), key=str)

    def span(begin: int, length: int) -> str:
        return f"bytes={begin}-{begin + length - 1}"

    opened: list[RemoteFile] = []
    assert asked(lambda: opened.append(RemoteFile(system, PATH))) == ["bytes=-65536"]
    (file,) = opened
    assert file.size == 40 * MIB
    assert file.version == system.info(PATH)["ETag"]
    # The end is in memory, and the first bytes once they were read.
    assert asked(lambda: file.read(40 * MIB - 65_536, 65_536)) == []
    assert asked(lambda: file.read(0, 64)) == [span(0, 65_536)]
    assert asked(lambda: file.read_ranges([(64, 1_000), (65_000, 536), (40 * MIB - 5, 100)])) == []
    # Neighbours are joined across a gap of up to 1 MiB, up to 16 MiB.
    near, far = (5 * MIB, 10), (6 * MIB + 10, 10)
    assert asked(lambda: file.read_ranges([far, near])) == [span(5 * MIB, MIB + 20)]
    far = (6 * MIB + 11, 10)
    assert asked(lambda: file.read_ranges([far, near])) == [span(*near), span(*far)]
    eight = [(number * 8 * MIB + 65_536, 8 * MIB) for number in range(4)]
    assert asked(lambda: file.read_ranges(eight)) == sorted([span(65_536, 16 * MIB), span(16 * MIB + 65_536, 16 * MIB)])
    assert asked(lambda: file.read(MIB, 16 * MIB)) == [span(MIB, 16 * MIB)]
    pieces = [*((MIB + number * 8 * MIB, 8 * MIB) for number in range(3)), (25 * MIB, 1)]
    assert asked(lambda: file.read(MIB, 24 * MIB + 1)) == sorted(span(*piece) for piece in pieces)
    # A small file is fetched whole, once.
    system.pipe_file(PATH, drawn(MIB))
    file = RemoteFile(system, PATH)
    assert asked(lambda: file.read_ranges([(300_000, 5), (5, 5), (600_000, 5)])) == [span(0, MIB - 65_536)]
    assert asked(lambda: file.read(0, MIB)) == []
    assert file.read(0, MIB) == drawn(MIB)


def test_ranges_are_asked_for_at_the_same_time(object_store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    system = object_store.filesystem
    system.pipe_file(PATH, drawn(20 * MIB))
    file = RemoteFile(system, PATH)
    running, most = 0, 0
    call = type(system)._call_s3

    async def counting(*arguments: Any, **named: Any) -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            return await call(*arguments, **named)
        finally:
            running -= 1

    monkeypatch.setattr(type(system), "_call_s3", counting)
    file.read_ranges([(number * 3 * MIB, MIB) for number in range(6)])
    assert most > 1


@pytest.mark.parametrize("size", [300_000, 3_000_000])
def test_replaced_content_is_noticed(system: Any, size: int) -> None:
    system.pipe_file(PATH, drawn(size))
    file = RemoteFile(system, PATH)
    assert file.read(size - 10, 10) == drawn(size)[-10:]
    # The size stays the same.
    system.pipe_file(PATH, drawn(size + 1)[1:])
    for read in (lambda: file.read(100_000, 10), lambda: file.read_ranges([(5, 9), (100_000, 70_000)])):
        with pytest.raises(FaroError, match=r"expected the content that was opened, .*: it was replaced") as caught:
            read()
        assert caught.value.code == ErrorCode.IO
    # What is in memory is still that of the file that was opened.
    assert file.read(size - 10, 10) == drawn(size)[-10:]
    system.rm_file(PATH)
    with pytest.raises(FileNotFoundError):
        file.read(100_000, 10)


def test_replaced_content_while_it_is_opened() -> None:
    system = memory()
    system.pipe_file(PATH, drawn(300_000))
    read = system.cat_file

    def replaced(*arguments: Any, **named: Any) -> bytes:
        system.pipe_file(PATH, drawn(300_001)[1:])
        return bytes(read(*arguments, **named))

    system.cat_file = replaced
    with pytest.raises(FaroError, match="it was replaced"):
        RemoteFile(system, PATH)


def test_what_fails(system: Any) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        RemoteFile(system, f"{BUCKET}/none")
    assert caught.value.errno == errno.ENOENT
    system.pipe_file(PATH, drawn(3_000_000))
    file = RemoteFile(system, PATH)
    assert file.name.endswith("://" + PATH) or file.name.endswith(":///" + PATH)
    assert RemoteFile(system, PATH, name="it").name == "it"
    file.close()
    file.close()
    for offset in (0, 2_999_999):
        with pytest.raises(FaroError, match="invalid-argument: expected an open file"):
            file.read(offset, 1)


def test_folders_and_asynchronous_filesystems_are_refused(object_store: ObjectStore) -> None:
    system = memory()
    system.pipe_file("/folder/file", b"x")
    with pytest.raises(FaroError, match="expected a file, found a folder"):
        RemoteFile(system, "/folder")
    with pytest.raises(FaroError, match="invalid-argument: expected filesystem: one that is not asynchronous"):
        RemoteFile(s3fs.S3FileSystem(**object_store.options, asynchronous=True), PATH)


def test_answers_of_another_length_are_refused() -> None:
    system = memory()
    system.pipe_file(PATH, drawn(3_000_000))
    file = RemoteFile(system, PATH)
    read = system.cat_file
    system.cat_file = lambda *arguments, **named: read(*arguments, **named)[:-1]
    with pytest.raises(FaroError, match="expected an answer of 10 bytes from 100000, found 9"):
        file.read(100_000, 10)
    with pytest.raises(FaroError, match="expected an answer of 65536 bytes from 2934464, found 65535"):
        RemoteFile(system, PATH)
