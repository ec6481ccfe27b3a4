"""Stored files: those of the library keep their promises, and the test kit finds files that break one."""

from __future__ import annotations

import errno
import io
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import storing
from storing import ShortReads

from faro_format import FaroError, Reader, storage
from faro_format.storage import LocalFile, MemoryFile, SeekableFile, StoredFile, StoredOutput, check_stored_file

SIZES = (0, 1, 9, 300_000)


def drawn(size: int) -> bytes:
    return random.Random(size).randbytes(size)


class Into(io.BytesIO):
    """An object that only reads into memory, a little at a time."""

    read = None  # type: ignore[assignment]

    def readinto(self, space: Any) -> int:
        return super().readinto(memoryview(space)[:5_000])


KINDS: dict[str, Callable[[Path, bytes], StoredFile]] = {
    "memory": lambda _, data: MemoryFile(data),
    "memory of an array": lambda _, data: MemoryFile(bytearray(data)),
    "short reads": lambda _, data: ShortReads(data),
    "object": lambda _, data: SeekableFile(io.BytesIO(data)),
    "object that reads into": lambda _, data: SeekableFile(Into(data)),
    "local": lambda path, _: LocalFile(path),
    "object of a local file": lambda path, _: SeekableFile(open(path, "rb")),  # noqa: SIM115 - it closes it
    "unbuffered object": lambda path, _: SeekableFile(open(path, "rb", buffering=0)),  # noqa: SIM115
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_promises(tmp_path: Path, kind: str, size: int) -> None:
    data = drawn(size)
    (tmp_path / "a").write_bytes(data)
    file = KINDS[kind](tmp_path / "a", data)
    check_stored_file(file, data)
    assert isinstance(file.name, str)
    assert file.version is None
    file.close()
    file.close()
    if kind != "short reads":
        with pytest.raises(FaroError, match="invalid-argument: expected an open file, found a closed one"):
            file.read(0, 1)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (storing.Shared, "with other threads, .*: expected "),
        (storing.Sequential, "read.*: expected "),
        (storing.Longer, "read.offset 0, length 0.: expected at most 0 bytes, found 1"),
        (storing.Nothing, "read.*: expected at least one byte before the end, found none"),
        (storing.Wrong, "read.*: expected byte 0x.. at offset "),
        (storing.Beyond, "read.offset 300000, length 0.: raised OSError: beyond the end"),
        (storing.Padded, "read.*: expected at most the .* bytes before the end, found "),
        (storing.Reused, "read.*: expected bytes that later reads leave alone"),
        (storing.LargerThanItIs, "size: expected 300000, found 300001"),
        (storing.RangeIsMissing, "read_ranges.*: expected 1 results, found 0"),
        (storing.RangesSorted, "read_ranges.*, range .*: expected "),
        (storing.RangesShort, "read_ranges.*, range 0 .*: expected 300000 bytes, found 4000"),
        (storing.NotBytes, "read.*: expected bytes or another buffer, found str"),
    ],
)
def test_the_kit_finds(kind: Any, message: str) -> None:
    data = drawn(300_000)
    for _ in range(3):
        with pytest.raises(AssertionError, match=message):
            check_stored_file(kind(data), data)


def test_the_kit_finds_other_bytes() -> None:
    data = drawn(300_000)
    for other in (data[:-1], data + b"a", data[:-1] + bytes([data[-1] ^ 1])):
        with pytest.raises(AssertionError, match="expected"):
            check_stored_file(MemoryFile(data), other)


# Local files.


def test_a_local_file_is_regular(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(OSError, match="a regular file"):
            LocalFile(path)
    with pytest.raises(FileNotFoundError):
        LocalFile(tmp_path / "missing")
    with pytest.raises(FaroError, match="invalid-argument"):
        LocalFile("")


def test_a_local_file_says_its_size_now(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    file = LocalFile(tmp_path / "a")
    assert (file.size, file.name) == (3, str(tmp_path / "a"))
    os.truncate(tmp_path / "a", 9)
    assert file.size == 9


# File objects.


class Moody(io.BytesIO):
    """Raises a fault that the test chooses."""

    fault: Exception | None = None

    def read(self, size: int | None = -1) -> bytes:
        if self.fault is not None:
            raise self.fault
        return super().read(size)


def test_an_object_fails_with_os_errors() -> None:
    inner = Moody(b"abc")
    file = SeekableFile(inner, "inner")
    inner.fault = RuntimeError("the connection is gone")
    with pytest.raises(OSError, match="RuntimeError: the connection is gone"):
        file.read(0, 1)
    inner.fault = PermissionError(errno.EACCES, "no")
    with pytest.raises(PermissionError):
        file.read(0, 1)
    inner.fault = None
    assert file.read(1, 9) == b"bc"
    # Closed by someone else.
    inner.close()
    with pytest.raises(OSError, match="ValueError"):
        file.read(0, 1)
    file.close()


def test_names_of_objects(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    with open(tmp_path / "a", "rb") as inner:
        assert SeekableFile(inner).name == str(tmp_path / "a")
        assert SeekableFile(inner, "b").name == "b"
    assert SeekableFile(io.BytesIO()).name == "BytesIO"
    for wrong in (b"abc", io.StringIO(), "a", None, 1):
        with pytest.raises(FaroError, match="invalid-argument"):
            SeekableFile(wrong)


def test_what_a_stored_output_refuses() -> None:
    class Lacking:
        size, name, version, read_bytes = 1, "a", None, 4 << 20

        def read(self, offset: int, length: int) -> bytes:
            return b""

    class Other(Lacking):
        def read_ranges(self, ranges: Any) -> Any:
            return [b"" for _ in ranges]

        def close(self) -> None:
            pass

    # Whatever has all parts will do.
    StoredOutput.single(Other())

    file: Any
    for file in (None, b"abc", io.BytesIO(), "path", Lacking()):
        with pytest.raises(FaroError, match=r"invalid-argument: expected file: a StoredFile.* without "):
            StoredOutput.single(file)
        with pytest.raises(FaroError, match="invalid-argument: expected index: a StoredFile"):
            StoredOutput.paired(MemoryFile(b""), file)
    wrong: Any
    for wrong in (MemoryFile(b""), "a", 1):
        with pytest.raises(FaroError, match="invalid-argument: expected stored: a StoredOutput"):
            Reader(stored=wrong)
    for wrong in (None, 1, "text"):
        with pytest.raises(FaroError, match="invalid-argument: expected data: "):
            MemoryFile(wrong)
    with pytest.raises(FaroError, match="invalid-argument: expected name: text"):
        MemoryFile(b"", None)  # type: ignore[arg-type]
    assert MemoryFile(bytearray(b"abc")).read(0, 3).readonly
    for offset, length in ((-1, 1), (0, -1)):
        with pytest.raises(FaroError, match="invalid-argument"):
            MemoryFile(b"abc").read(offset, length)


def test_the_module_names_what_it_exports() -> None:
    assert sorted(storage.__all__) == [name for name in dir(storage) if not name.startswith("_")]
