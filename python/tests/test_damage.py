"""Every changed byte and every lost byte of a small output is reported, and nothing but a FaroError comes of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import FILE_ID, Call, Output, fault_of, read_all, scripts, write

from faro_format import ErrorCode, FaroError, Reader, WriterOptions, check
from faro_format._index.regions import RegionCache
from faro_format._storage.names import Layout

SMALL = [Call("write", [0], b"abc"), Call("broadcast", [], b"d", 1)]


def small(folder: Path, layout: Layout) -> Output:
    options = WriterOptions(1, layout=layout, framing="opaque", file_id=FILE_ID, statistics=False)
    return write(folder, options, SMALL)


def stage(reader: Reader, role: str, offset: int) -> str:
    """Which step of reading first meets a byte: to leave out the steps before it, that do not see it."""
    entry = reader._footer.regions[0]
    if role != "index" and entry["data_offset"] <= offset < entry["data_offset"] + entry["data_length"]:
        return "blocks"
    if role != "data" and entry["message_offset"] <= offset < reader._opened.footer_offset:
        return "region"
    return "open"


@pytest.mark.parametrize("layout", ["paired", "single"])
def test_every_changed_byte_is_reported(tmp_path: Path, layout: Layout) -> None:
    made = small(tmp_path, layout)
    with made.reader() as reader:
        read_all(reader)
        for role, path in made.files.items():
            contents = path.read_bytes()
            descriptor = os.open(path, os.O_WRONLY)
            for offset, right in enumerate(contents):
                step = stage(reader, role, offset)
                for change in range(1, 256):
                    os.pwrite(descriptor, bytes((right ^ change,)), offset)
                    if step == "open":
                        fault = fault_of(made.reader)
                    else:
                        if step == "region":
                            reader._cache = RegionCache(0)
                        fault = fault_of(read_all, reader)
                    assert fault is not None, (role, offset, change)
                    assert fault.role in made.files
                    assert fault.offset is not None
                os.pwrite(descriptor, bytes((right,)), offset)
                if step == "region":
                    reader._cache = RegionCache(0)
            os.close(descriptor)
        read_all(reader)


@pytest.mark.parametrize("layout", ["paired", "single"])
def test_every_truncation_is_reported(tmp_path: Path, layout: Layout) -> None:
    made = small(tmp_path, layout)
    whole = made.contents()
    for role, contents in whole.items():
        for length in range(len(contents)):
            made.put(whole | {role: contents[:length]})
            fault = fault_of(made.reader)
            assert fault is not None
            assert (fault.code, fault.role) == (
                (ErrorCode.TRUNCATED if length < 64 or role == "data" else ErrorCode.UNFINISHED),
                role,
            )
            assert fault.offset == length


def test_what_is_not_there(tmp_path: Path) -> None:
    made = small(tmp_path, "paired")
    for role, path in made.files.items():
        kept = path.read_bytes()
        path.unlink()
        fault = fault_of(made.reader)
        assert fault is not None
        assert (fault.code, fault.role, fault.offset) == (ErrorCode.IO, role, None)
        path.write_bytes(kept)
    swapped = {"data": made.files["index"], "index": made.files["data"]}
    fault = fault_of(Reader, **swapped)
    assert fault is not None
    assert (fault.code, fault.role, fault.offset) == (ErrorCode.MISMATCHED_PAIR, "index", 8)
    wrong: tuple[dict[str, Any], ...] = ({}, {"data": "x"}, {"single": "x", "index": "y"}, {"single": "\0"})
    for files in wrong:
        with pytest.raises(FaroError, match="invalid-argument"):
            Reader(**files)


def test_the_file_shrinks_while_it_is_read(tmp_path: Path) -> None:
    made = small(tmp_path, "paired")
    with made.reader() as reader:
        os.truncate(made.files["data"], 100)
        fault = fault_of(read_all, reader)
        assert fault is not None
        assert (fault.code, fault.role, fault.offset) == (ErrorCode.TRUNCATED, "data", 100)


def reseal(contents: bytearray, rng: np.random.Generator) -> None:
    """Change a few bytes and make the checksums of all blocks right again, so that what is inside is looked at."""
    from faro_format._bytes.checksum import crc32c

    for _ in range(int(rng.integers(1, 4))):
        contents[int(rng.integers(64, len(contents)))] = int(rng.choice((0, 1, 2, 3, 4, 7, 8, 64, 128, 255)))
    at = 64
    while at + 24 <= len(contents):
        size = int.from_bytes(contents[at : at + 4], "little")
        if at + 24 + size > len(contents):
            break
        checksum = crc32c(bytes(contents[40:56]) + bytes(contents[at : at + 20] + contents[at + 24 : at + 24 + size]))
        contents[at + 20 : at + 24] = checksum.to_bytes(4, "little")
        at += 24 + (size + 7 & ~7)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(script=scripts(), seed=st.integers(0, 2**32))
def test_damage_under_right_checksums_ends_in_a_faro_error(
    tmp_path: Path, script: tuple[WriterOptions, list[Call]], seed: int
) -> None:
    options, calls = script
    made = write(tmp_path, options, calls)
    rng = np.random.default_rng(seed)
    whole = made.contents()
    for _ in range(15):
        changed = {}
        for role, contents in whole.items():
            copy = bytearray(contents)
            if len(copy) > 64:
                reseal(copy, rng)
            changed[role] = bytes(copy)
        made.put(changed)
        fault = fault_of(check, **made.files)
        assert fault is None or fault.code != ErrorCode.INVALID_ARGUMENT
        try:
            with made.reader() as reader:
                for partition in reader.partitions:
                    fault_of(lambda reader=reader, partition=partition: list(reader.partition(partition)))
                    fault_of(reader.stored_bytes, partition)
                fault_of(lambda reader=reader: list(reader.all()))
        except FaroError:
            pass
