"""Outputs that are written to object stores: whole or not at all, and one winner of several."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from destining import Failing
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from moto.s3 import models
from remote import BUCKET, ObjectStore
from support import FILE_ID, fault_of

import faro_format as faro
from faro_format import FaroError, Reader, Writer, WriterOptions, check, repair, storage
from faro_format._storage import s3_upload

MIB = 1 << 20
ENDINGS = {"data": ".data", "index": ".index", "single": ".faro"}
RECORDS = [np.random.default_rng(number).bytes(700_000) for number in range(20)]
"""More than one part of an upload."""


@pytest.fixture
def store(object_store: ObjectStore) -> Iterator[ObjectStore]:
    object_store.clear()
    yield object_store
    object_store.clear()


def writer(store: ObjectStore, name: str = "out", **more: Any) -> Writer:
    options = WriterOptions(4, file_id=FILE_ID, **{"buffer_size": 2 * MIB, **more})
    return Writer(f"s3://{BUCKET}/{name}", options, storage_options=store.options)


def fill(out: Writer, count: int = len(RECORDS)) -> None:
    for number, record in enumerate(RECORDS[:count]):
        out.write(number % 4, record)


@pytest.mark.parametrize("layout", ["paired", "single"])
@pytest.mark.parametrize("count", [0, 1, 20])
def test_the_objects_are_the_bytes_of_local_files(store: ObjectStore, tmp_path: Path, layout: Any, count: int) -> None:
    with writer(store, layout=layout) as out:
        fill(out, count)
        assert not [name for name in store.names() if not name.startswith("upload")]
    with Writer(tmp_path / "out", WriterOptions(4, file_id=FILE_ID, buffer_size=2 * MIB, layout=layout)) as local:
        fill(local, count)
    expected = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert store.names() == sorted(expected)
    assert {name: store.filesystem.cat_file(f"{BUCKET}/{name}") for name in expected} == expected
    url = f"s3://{BUCKET}/out"
    check(url, storage_options=store.options)
    with faro.open(url, storage_options=store.options) as reader:
        assert sum(len(record) for p in range(4) for record in reader.records(p)) == 700_000 * count


def test_how_many_requests_it_takes(store: ObjectStore) -> None:
    with store.counted() as small, writer(store) as out:
        out.write(0, b"x")
    # A look at each name, and one request for each file; the data file first.
    asks = [("HEAD", "out.data"), ("HEAD", "out.index")]
    assert [request[:2] for request in small] == [*asks, ("PUT", "out.data"), ("PUT", "out.index")]
    with store.counted() as large, writer(store, "large", layout="single") as out:
        fill(out)
    methods = [request[0] for request in large if request[0] != "HEAD"]
    # Begin, two parts of at most 8 MiB, complete.
    assert methods == ["POST", "PUT", "PUT", "POST"]


@pytest.mark.parametrize("part_bytes", [8 * MIB, 30_000])
def test_the_kit_at_s3(store: ObjectStore, monkeypatch: pytest.MonkeyPatch, part_bytes: int) -> None:
    monkeypatch.setattr(models, "S3_UPLOAD_PART_MIN_SIZE", 1)

    def find(place: Any, role: Any) -> bytes | None:
        path = place._base + ENDINGS[role]
        store.filesystem.invalidate_cache()
        return store.filesystem.cat_file(path) if store.filesystem.exists(path) else None

    def factory(number: int) -> storage.RemoteDestination:
        made = storage.RemoteDestination(store.filesystem, f"{BUCKET}/{number}")
        made._part_bytes = part_bytes
        return made

    storage.check_destination(factory, find, size=100_000)
    assert not [name for name in store.names() if name.startswith("upload")]


@pytest.mark.parametrize("kind", [MemoryFileSystem, LocalFileSystem])
def test_the_kit_at_other_filesystems(tmp_path: Path, kind: Any) -> None:
    system = kind(skip_instance_cache=True)
    base = str(tmp_path) if kind is LocalFileSystem else f"/{tmp_path.name}"
    system.makedirs(base, exist_ok=True)

    def find(place: Any, role: Any) -> bytes | None:
        path = place._base + ENDINGS[role]
        return system.cat_file(path) if system.exists(path) else None

    storage.check_destination(lambda number: storage.RemoteDestination(system, f"{base}/{number}"), find)
    assert not [name for name in system.find(base) if name.endswith(".tmp")]


@pytest.mark.parametrize("count", [1, 20])
def test_of_two_writers_of_one_name_one_wins(store: ObjectStore, count: int) -> None:
    first, second = writer(store), writer(store)
    fill(first, count)
    fill(second, count)
    first.finish()
    before = {name: store.filesystem.cat_file(f"{BUCKET}/{name}") for name in ("out.data", "out.index")}
    fault = fault_of(second.finish)
    assert isinstance(fault, FileExistsError)
    assert "io in data file 's3://bucket/out.data': expected no file of this name" in str(fault)
    # Neither an object nor an upload, even without abort.
    assert store.names() == ["out.data", "out.index"]
    second.abort()
    assert {name: store.filesystem.cat_file(f"{BUCKET}/{name}") for name in before} == before
    third = fault_of(writer, store)
    assert isinstance(third, FileExistsError)
    with writer(store, overwrite=True) as out:
        out.write(0, b"newer")
    with faro.open(f"s3://{BUCKET}/out", storage_options=store.options) as reader:
        assert [bytes(record) for record in reader.records(0)] == [b"newer"]


def test_an_index_that_is_refused_takes_the_data_file_with_it(store: ObjectStore) -> None:
    out = writer(store)
    fill(out)
    store.filesystem.pipe_file(f"{BUCKET}/out.index", b"older")
    assert isinstance(fault_of(out.finish), FileExistsError)
    assert store.names() == ["out.index"]
    assert store.filesystem.cat_file(f"{BUCKET}/out.index") == b"older"


@pytest.mark.parametrize("end", ["abort", "drop", "exception"])
def test_a_writer_that_does_not_finish_leaves_nothing(store: ObjectStore, end: str) -> None:
    out = writer(store)
    fill(out)
    assert store.names() == ["upload of out.data"]
    if end == "abort":
        out.abort()
    elif end == "exception":
        with pytest.raises(KeyboardInterrupt), out:
            raise KeyboardInterrupt
    del out
    gc.collect()
    assert store.names() == []


CODE = """
import sys
from remote import BUCKET
from test_remote_destinations import RECORDS, fill
from faro_format import Writer, WriterOptions
options = {"key": "x", "secret": "x", "endpoint_url": sys.argv[1]}
out = Writer(f"s3://{BUCKET}/out", WriterOptions(4, buffer_size=2 << 20), storage_options=options)
fill(out)
print("filled", flush=True)
if sys.argv[2] == "wait":
    sys.stdin.read()
"""


@pytest.mark.parametrize("end", ["kill", "exit"])
def test_a_process_that_ends_leaves_no_object(store: ObjectStore, end: str) -> None:
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*folders, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", CODE, store.options["endpoint_url"], "wait" if end == "kill" else "go"]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "filled\n"
        if end == "kill":
            child.send_signal(signal.SIGKILL)
    # Neither makes requests any more: an upload may stay open. It is not an object, and no reader sees it.
    assert [name for name in store.names() if not name.startswith("upload")] == []


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_failure_of_any_request_leaves_nothing(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    real = type(store.filesystem)._call_s3
    at = 0
    made: list[str] = []

    async def call(system: Any, method: str, *arguments: Any, **named: Any) -> Any:
        made.append(method)
        fails = len(made) - 1 == at
        if fails and not after:
            raise ConnectionError("before")
        answer = await real(system, method, *arguments, **named)
        if fails:
            raise ConnectionError("after")
        return answer

    while True:
        made.clear()
        out, fault = None, None
        with monkeypatch.context() as patch:
            patch.setattr(type(store.filesystem), "_call_s3", call)
            try:
                out = writer(store, "out")
                fill(out, 14)
                out.finish()
            except FaroError as found:
                fault = found
                # Whatever has failed: no object has its name, even before the writer is aborted.
                assert [name for name in store.names() if not name.startswith("upload")] == []
                if out is not None:
                    out.abort()
        if len(made) <= at:
            assert fault is None
            break
        left = store.names()
        if fault is None:
            # The answer for a name that is free is an error already.
            assert after
            assert made[at] == "head_object"
        else:
            assert isinstance(fault, OSError)
            # The number of the upload was lost with the answer.
            lost = after and made[at] == "create_multipart_upload"
            assert left == (["upload of out.data"] if lost else [])
        store.clear()
        at += 1
    assert {"create_multipart_upload", "upload_part", "complete_multipart_upload", "put_object"} <= set(made)


def test_an_answer_that_was_lost_is_found_again(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client repeats a request whose answer was lost; the store then refuses it because of the first one."""
    real = type(store.filesystem)._call_s3

    async def twice(system: Any, method: str, *arguments: Any, **named: Any) -> Any:
        if method in ("put_object", "complete_multipart_upload"):
            await real(system, method, *arguments, **named)
        return await real(system, method, *arguments, **named)

    monkeypatch.setattr(type(store.filesystem), "_call_s3", twice)
    with writer(store) as out:
        fill(out, 14)
    check(f"s3://{BUCKET}/out", storage_options=store.options)


def test_what_needs_local_files_is_refused(store: ObjectStore) -> None:
    url = f"s3://{BUCKET}/out"
    with pytest.raises(FaroError, match="invalid-argument: expected follow with a local file only, found a URL"):
        writer(store, follow=True)
    with pytest.raises(FaroError, match="invalid-argument: expected name: a local path"):
        repair(url)
    with pytest.raises(FaroError, match="invalid-argument: expected storage_options with a URL only"):
        Writer("out", WriterOptions(1), storage_options={})
    with pytest.raises(FaroError, match="invalid-argument: expected layout paired of a NAME that ends so"):
        writer(store, "out.data", layout="single")
    with pytest.raises(FaroError, match="invalid-argument"):
        Writer("nosuchprotocol://x/out", WriterOptions(1))


def test_single_below(store: ObjectStore) -> None:
    with writer(store, single_below=100) as out:
        out.write(0, b"x")
        assert store.names() == []
    assert store.names() == ["out.faro"]
    assert isinstance(fault_of(writer, store, single_below=100), FileExistsError)


def test_memory_by_url() -> None:
    url = "memory://folder/out"
    system = MemoryFileSystem()
    try:
        with Writer(url, WriterOptions(4)) as out:
            out.write(0, b"x")
        with faro.open(url) as reader:
            assert [bytes(record) for record in reader.records(0)] == [b"x"]
        assert isinstance(fault_of(Writer, url, WriterOptions(4)), FileExistsError)
        at = 0
        while True:
            for name in system.find("/folder"):
                system.rm_file(name)
            destination = Failing(storage.RemoteDestination(system, "/folder/out"), at)
            try:
                with Writer(destination=destination, options=WriterOptions(4)) as out:
                    out.write(0, b"x")
            except FaroError:
                assert system.find("/folder") == []
                at += 1
            else:
                break
        assert at > 8
    finally:
        system.rm("/folder", recursive=True)


def test_a_written_file_is_opened_without_a_request(store: ObjectStore) -> None:
    for size in (1000, 9 * MIB):
        destination = storage.RemoteDestination(store.filesystem, f"{BUCKET}/{size}")
        made = destination.create("single")
        whole = np.random.default_rng(size).bytes(size)
        made.append(whole)
        made.publish(False)
        with store.counted() as requests:
            opened = made.open()
            assert (opened.size, opened.name) == (size, f"s3://{BUCKET}/{size}.faro")
        assert requests == []
        assert b"".join(bytes(opened.read(at, MIB)) for at in range(0, size, MIB)) == whole
        store.filesystem.pipe_file(f"{BUCKET}/{size}.faro", bytes(size))
        with pytest.raises(OSError, match="it was replaced"):
            made.open().read(0, 10)
        made.remove()
        assert store.filesystem.cat_file(f"{BUCKET}/{size}.faro", end=10) == bytes(10)
    with pytest.raises(FaroError, match="invalid-argument"):
        Reader(stored=storage.StoredOutput.single(storage.RemoteDestination(object(), "x")))  # type: ignore[arg-type]


def test_parts_grow_slowly(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts double after a number of parts, not of bytes: S3 accepts 10,000 of them, of at most 5 GiB."""
    monkeypatch.setattr(models, "S3_UPLOAD_PART_MIN_SIZE", 1)
    monkeypatch.setattr(s3_upload, "_DOUBLED", 3)
    real = type(store.filesystem)._call_s3
    sizes: list[int] = []

    async def call(system: Any, method: str, *arguments: Any, **named: Any) -> Any:
        if method == "upload_part":
            sizes.append(len(named["Body"]))
        return await real(system, method, *arguments, **named)

    monkeypatch.setattr(type(store.filesystem), "_call_s3", call)
    monkeypatch.setattr(store.filesystem, "fixed_upload_size", False)
    file = s3_upload.S3Upload(store.filesystem, f"{BUCKET}/parts", "parts", 1000)
    for _ in range(40):
        file.append(bytes(500))
    file.publish(False)
    # The last part has the rest.
    assert sizes == [1000] * 3 + [2000] * 3 + [4000] * 2 + [3000]
    file.remove()
    file.close()


@pytest.mark.parametrize("layout", ["paired", "single"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_failure_of_any_call_of_a_filesystem_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, layout: Any, after: bool
) -> None:
    at = 0
    while True:
        system = MemoryFileSystem(global_store=False, skip_instance_cache=True)
        made: list[str] = []
        with monkeypatch.context() as patch:
            for method in ("info", "mv", "rm_file", "open"):
                real = getattr(system, method)

                def call(
                    *arguments: Any,
                    _real: Any = real,
                    _made: list[str] = made,
                    _named: str = method,
                    _at: int = at,
                    **named: Any,
                ) -> Any:
                    _made.append(_named)
                    fails = len(_made) - 1 == _at
                    if fails and not after:
                        raise OSError("before")
                    answer = _real(*arguments, **named)
                    if fails:
                        raise OSError("after")
                    return answer

                patch.setattr(system, method, call)
            fault = None
            try:
                out = Writer(
                    destination=storage.RemoteDestination(system, "/out"),
                    options=WriterOptions(2, file_id=FILE_ID, layout=layout),
                )
                out.write(0, b"a record")
                out.finish()
            except FaroError as found:
                fault = found
        if len(made) <= at:
            assert fault is None
            break
        whole = [path for path in system.find("/") if not path.endswith(".tmp")]
        assert len(whole) == (0 if fault else 1 if layout == "single" else 2)
        at += 1
    assert at > 5
