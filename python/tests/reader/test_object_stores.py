"""Outputs in object stores: opened by URL, with few requests, the same blocks and faults as local ones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from comparing import damaged, everything
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from remote import BUCKET, ObjectStore, in_memory_store
from support import Call, Output, delivered, fault_of, read_all, scripts, write

import faro_format as faro
from faro_format import ErrorCode, FaroError, Framing, Reader, WriterOptions, check, storage
from faro_format._storage import input_file, remote_file

SOME = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
MIB = 1 << 20


class Tiny(storage.RemoteFile):
    """Asks for so little that small outputs take many requests."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named, fetch_bytes=64)

    @property
    def read_bytes(self) -> int:
        return 300


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_file, "READ_BYTES", 100)
    for name, size in {"FETCH": 64, "WHOLE": 0, "GAP": 16, "JOINED": 400, "READ": 200}.items():
        monkeypatch.setattr(remote_file, name, size)


@pytest.mark.usefixtures("tiny")
@SOME
@given(script=scripts(), seed=st.integers(0, 2**32))
def test_the_same_blocks_and_faults(tmp_path: Path, script: tuple[WriterOptions, list[Call]], seed: int) -> None:
    made = write(tmp_path, *script)
    assert not any(name.startswith("open") for name in compare(made))
    for _ in damaged(made, seed):
        compare(made)


def compare(made: Output) -> dict[str, Any]:
    local = everything(**made.files)
    assert everything(stored=lambda: in_memory_store(made, Tiny)) == local
    assert everything(stored=lambda: in_memory_store(made)) == local
    return local


@pytest.mark.usefixtures("tiny")
def test_a_region_message_that_is_larger_than_a_read(tmp_path: Path) -> None:
    """It follows a smaller one, which is read ahead."""
    made = write(
        tmp_path,
        WriterOptions(40, statistics=False),
        [Call("write", [0], b"x"), Call("flush"), *(Call("write", [number], b"x") for number in range(40))],
    )
    with Reader(**made.files) as reader:
        sizes = reader._footer.regions["message_size"].tolist()
    assert sizes[0] < 150 < 200 < sizes[1]
    compare(made)


def calls(count: int, size: int, partitions: int = 7) -> list[Call]:
    rng = np.random.default_rng(count)
    return [Call("write", [number % partitions], rng.bytes(size)) for number in range(count)]


@pytest.mark.parametrize("layout", ["paired", "single"])
def test_large_partitions(tmp_path: Path, layout: Any) -> None:
    made = write(tmp_path, WriterOptions(7, layout=layout, buffer_size=4 << 20, codec="lz4"), calls(60, 300_000))
    local = everything(**made.files)
    assert everything(stored=lambda: in_memory_store(made)) == local
    role = "data" if layout == "paired" else "single"
    changed = bytearray(made.contents()[role])
    changed[len(changed) // 2] ^= 1
    made.put(made.contents() | {role: bytes(changed)})
    local = everything(**made.files)
    assert everything(stored=lambda: in_memory_store(made)) == local
    assert local["check decode"][1][0] == "checksum"


@pytest.mark.parametrize("layout", ["paired", "single"])
def test_in_s3(tmp_path: Path, object_store: ObjectStore, layout: Any) -> None:
    made = write(tmp_path, WriterOptions(7, layout=layout, buffer_size=MIB), calls(400, 10_000))
    url = object_store.put(made, f"same-{layout}")
    options = object_store.options
    with faro.open(url, storage_options=options) as reader, made.reader() as local:
        for read in (Reader.all, lambda reader: reader.by_partition(0, 7), lambda reader: reader.range(2, 5)):
            assert list(read(reader)) == list(read(local)) != []
        assert delivered(reader, Framing.RECORDS) == delivered(local, Framing.RECORDS)
    for lookup in ("full", "direct"):
        with faro.open(url, storage_options=options, lookup=lookup) as reader, made.reader() as local:
            assert delivered(reader, Framing.RECORDS) == delivered(local, Framing.RECORDS)
    assert check(url, storage_options=options) == check(**made.files)
    # The same fault, in the file of the store.
    for _ in damaged(made, 3):
        object_store.put(made, f"same-{layout}")
        expected, found = fault_of(check, **made.files), fault_of(check, url, storage_options=options)
        assert (expected is None) == (found is None)
        if expected is not None and found is not None:
            told = ("code", "role", "offset", "expected", "found")
            assert [getattr(found, name) for name in told] == [getattr(expected, name) for name in told]
            assert str(found.file).startswith(f"{url}.")


def test_requests_of_a_folder(tmp_path: Path, object_store: ObjectStore) -> None:
    """Files of other programs are known by their first bytes: of a pair those of the index, if it has one."""
    made = write(tmp_path, WriterOptions(3), calls(2, 100, 3))
    for number in range(3):
        object_store.put(made, f"folder/map-{number}")
    for name in ("sales.data", "book.index", "half.index"):
        object_store.filesystem.pipe_file(f"{BUCKET}/folder/{name}", b"something else")
    object_store.filesystem.pipe_file(f"{BUCKET}/folder/empty.data", b"")
    object_store.filesystem.pipe_file(f"{BUCKET}/folder/half.data", made.contents()["data"])
    with object_store.counted() as requests:
        shuffle = faro.Shuffle(f"s3://{BUCKET}/folder", storage_options=object_store.options)
    assert len(shuffle) == 4
    assert shuffle.sum_up().other_files == 3
    begins = [key for _, key, asked in requests if asked is not None]
    names = ["book.index", "half.data", "half.index", *(f"map-{number}.index" for number in range(3)), "sales.data"]
    assert sorted(begins) == [f"folder/{name}" for name in names]


def test_requests_of_a_pair(tmp_path: Path, object_store: ObjectStore) -> None:
    made = write(tmp_path, WriterOptions(3, buffer_size=48 * MIB), calls(200, 100_000, 3))
    url = object_store.put(made, "requests")
    end = made.files["data"].stat().st_size
    with object_store.counted() as requests:
        reader = faro.open(f"{url}.data", storage_options=object_store.options)
    assert sorted(requests) == [("GET", "requests.data", "bytes=0-65535"), ("GET", "requests.index", f"bytes=-{MIB}")]
    with object_store.counted() as requests:
        read_all(reader)
    # A partition is one extent of less than 8 MiB.
    assert len(requests) == 3
    for walk in (reader.all, lambda: reader.by_partition(0, 3)):
        with object_store.counted() as requests:
            assert len(list(walk())) > 150
        assert len(requests) <= end // (8 * MIB) + 1 == 3
        assert {key for _, key, _ in requests} == {"requests.data"}
    reader.close()
    with object_store.counted() as requests:
        check(f"{url}.index", storage_options=object_store.options)
    assert len(requests) == 2 + 3


def test_requests_of_small_extents(tmp_path: Path, object_store: ObjectStore) -> None:
    # 100 regions of about 100 KB: a partition has one small extent in each.
    made = write(tmp_path, WriterOptions(10, buffer_size=100_000), calls(1_000, 9_000, 10))
    url = object_store.put(made, "small")
    with faro.open(f"{url}.data", storage_options=object_store.options) as reader:
        assert reader.region_count > 50
        for walk in (lambda: reader.partition(3), reader.all, lambda: reader.by_partition(0, 10)):
            with object_store.counted() as requests:
                assert len(list(walk())) > 50
            # The file has 9 MB.
            assert len(requests) <= 2


def test_requests_of_a_single_file(tmp_path: Path, object_store: ObjectStore) -> None:
    options = object_store.options
    small = object_store.put(write(tmp_path, WriterOptions(3, layout="single"), calls(5, 9_000, 3)), "tiny")
    with object_store.counted() as requests, faro.open(f"{small}.faro", storage_options=options) as reader:
        read_all(reader)
    assert len(requests) == 1
    made = write(tmp_path, WriterOptions(7, layout="single", buffer_size=MIB), calls(1_000, 9_000))
    large = object_store.put(made, "large")
    with object_store.counted() as requests:
        reader = faro.open(f"{large}.faro", storage_options=options)
    assert requests == [("GET", "large.faro", "bytes=-65536"), ("GET", "large.faro", "bytes=0-65535")]
    with object_store.counted() as requests, reader:
        assert list(reader.all())
        assert reader.region_count > 5
    # The region messages first, in as many requests at once as are 1 MiB apart.
    assert len(requests) <= reader.region_count + 2


def test_names(tmp_path: Path, object_store: ObjectStore) -> None:
    options = object_store.options
    pair = object_store.put(write(tmp_path, WriterOptions(3), calls(5, 100, 3)), "names/pair")
    single = object_store.put(write(tmp_path, WriterOptions(3, layout="single"), calls(5, 100, 3)), "names/single")
    both = object_store.put(write(tmp_path, WriterOptions(3), calls(5, 100, 3)), "names/both")
    object_store.put(write(tmp_path, WriterOptions(3, layout="single"), calls(5, 100, 3)), "names/both")
    for name in (pair, f"{pair}/", f"{pair}.data", f"{pair}.index", single, f"{single}.faro", f"{both}.faro"):
        with object_store.counted() as requests, faro.open(name, storage_options=options) as reader:
            assert reader.partitions == range(3)
        # A separator at the end may mean a folder, which has to be looked for.
        expected = {True: 3, False: 1 if "faro" in name else 2}[name.rstrip("/") in (pair, single)]
        assert len(requests) == expected or (name.endswith("/") and len(requests) <= expected + 2), name
    with pytest.raises(FaroError, match="invalid-argument: expected one output of this NAME; say 's3://bucket/names"):
        faro.open(both, storage_options=options)
    # A single file of exactly this name.
    object_store.filesystem.copy(f"{BUCKET}/names/single.faro", f"{BUCKET}/names/exactly")
    assert check("s3://bucket/names/exactly", storage_options=options).blocks == 3
    assert Reader(single="s3://bucket/names/exactly", storage_options=options).region_count == 1
    assert check(data=f"{pair}.data", index=f"{pair}.index", storage_options=options).blocks == 3
    # One file of a pair is a pair.
    object_store.filesystem.rm_file(f"{BUCKET}/names/pair.data")
    fault = fault_of(faro.open, pair, storage_options=options)
    assert fault is not None
    assert (type(fault), fault.role, fault.file) == (type(fault), "data", f"{pair}.data")
    assert isinstance(fault, FileNotFoundError)
    for name, wanted in (("none", "NAME.faro, or NAME.data and NAME.index"), ("none.data", "NAME.data and NAME.index")):
        with pytest.raises(FileNotFoundError, match=f"expected an output 'none': {wanted}, found none of these files"):
            faro.open(f"s3://{BUCKET}/names/{name}", storage_options=options)
    with pytest.raises(FileNotFoundError, match=f"io in single file 's3://{BUCKET}/names/none.faro'"):
        faro.open(f"s3://{BUCKET}/names/none.faro", storage_options=options)
    for name in ("s3://bucket/.faro", "s3://bucket/..", "s3://"):
        with pytest.raises(FaroError, match="invalid-argument: expected the NAME of an output"):
            faro.open(name, storage_options=options)


def test_a_pair_in_two_places(tmp_path: Path) -> None:
    made = write(tmp_path, WriterOptions(3), calls(5, 100, 3))
    fsspec.filesystem("memory").pipe_file("/apart.data", made.contents()["data"])
    with Reader(data="memory://apart.data", index=made.files["index"]) as reader:
        assert len(list(reader.all())) == 3
    with pytest.raises(FileNotFoundError, match=r"io in index file '.*none.index'"):
        Reader(data="memory://apart.data", index=tmp_path / "none.index")
    with faro.open(made.base.as_uri()) as reader:
        assert len(list(reader.all())) == 3


def test_content_that_is_replaced_is_never_mixed(tmp_path: Path, object_store: ObjectStore) -> None:
    first = write(tmp_path, WriterOptions(3, buffer_size=MIB), calls(400, 10_000, 3))
    second = write(tmp_path, WriterOptions(3, buffer_size=MIB), calls(400, 10_000, 3))
    url = object_store.put(first, "replaced")
    reader = faro.open(url, storage_options=object_store.options)
    blocks = reader.all()
    assert next(blocks) is not None
    object_store.put(second, "replaced")
    with pytest.raises(FaroError, match="it was replaced") as caught:
        list(reader.partition(1))
    assert (caught.value.code, caught.value.role) == (ErrorCode.IO, "data")


def refused_calls(url: str) -> Iterator[Any]:
    yield lambda: faro.Follower(url)
    yield lambda: faro.Follower(single=url)
    yield lambda: faro.repair(url)
    yield lambda: faro.rebuild(url)
    yield lambda: faro.recover(url)
    yield lambda: faro.clean(url)
    yield lambda: storage.LocalFile(url)


@pytest.mark.parametrize("url", ["s3://bucket/out", "s3://bucket/out.faro", "simplecache::s3://bucket/out"])
def test_what_takes_no_url(url: str) -> None:
    for call in refused_calls(url):
        with pytest.raises(FaroError, match=r"invalid-argument: expected \w+: a local path; only Writer, open, Reader"):
            call()


def test_other_arguments_that_are_refused(tmp_path: Path) -> None:
    url: Any
    for url in ("nothing://a/b", "s3.x://a/b"):
        with pytest.raises(FaroError, match="invalid-argument: expected a URL and storage_options that fsspec accepts"):
            faro.open(url)
    options: Any
    for options in ({}, {"anon": True}, "text"):
        with pytest.raises(FaroError, match="invalid-argument: expected storage_options"):
            faro.open(str(tmp_path / "out"), storage_options=options)
    # Paths that contain a protocol, and begin with none.
    (tmp_path / "s3:").mkdir()
    for path in (f"{tmp_path}/s3://out", tmp_path / "s3:" / "out"):
        with faro.Writer(path, WriterOptions(1, overwrite=True)) as writer:
            writer.write(0, b"x")
        assert check(path).blocks == 1


def test_what_errors_show_of_a_url() -> None:
    url = "http://user:secret@127.0.0.1:1/out.faro?Signature=secret"
    for named in ({"name": url}, {"single": url}, {"data": url, "index": url}):
        fault = fault_of(Reader, **named)
        assert fault is not None
        assert fault.code == ErrorCode.IO
        assert "127.0.0.1:1/out.faro" in str(fault)
        assert "secret" not in str(fault)


def test_without_fsspec_the_error_says_how_to_get_it() -> None:
    code = "import sys; sys.modules['fsspec'] = None\nimport faro_format as faro\nfaro.open('s3://bucket/out')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: URLs need fsspec")
    assert 'the extra "fsspec"' in last
    assert "pip install './python[fsspec]'" in last
