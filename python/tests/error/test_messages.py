"""What errors say: the words that all languages share (ERR-4), and whole numbers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support import FILE_ID, Output, fault_of, output, read_all

from faro_format import ErrorCode, FaroError, Follower, Reader, Writer, WriterOptions
from faro_format._bytes.header import HEADER_SIZE


def written(folder: Path, **more: Any) -> Output:
    options = WriterOptions(2, file_id=FILE_ID, **more)
    made = output(folder, options)
    with Writer(made.base, options) as writer:
        writer.write(0, b"record")
    return made


def read(made: Output) -> None:
    with made.reader() as reader:
        read_all(reader)


def follow(made: Output) -> None:
    with Follower(**made.files) as follower:
        follower.poll()


def damage(made: Output, role: str, at: int) -> int:
    """Change a checksum's last byte; return the checksum that was there, and is right."""
    raw = bytearray(made.contents()[role])
    at %= len(raw)
    right = int.from_bytes(raw[at : at + 4], "little")
    raw[at + 3] ^= 0xFF
    made.files[role].write_bytes(raw)
    return right


TAIL = -12
CHECKSUMS = [("data", HEADER_SIZE - 4), ("index", HEADER_SIZE - 4), ("index", TAIL), ("data", HEADER_SIZE + 20)]


@pytest.mark.parametrize(("role", "at"), [*CHECKSUMS, ("index", HEADER_SIZE + 20)])
@pytest.mark.parametrize("how", [read, follow])
def test_a_checksum_is_stored_or_computed(tmp_path: Path, role: str, at: int, how: Any) -> None:
    made = written(tmp_path)
    if how is follow and role == "data" and at > HEADER_SIZE:
        how = read
    right = damage(made, role, at)
    fault = fault_of(how, made)
    assert fault is not None
    stored, computed = f"stored {right ^ 0xFF000000:08x}", f"computed {right:08x}"
    assert (fault.code, fault.expected, fault.found) == (ErrorCode.CHECKSUM, stored, computed)


def test_no_other_place_words_a_checksum(tmp_path: Path) -> None:
    """Everything that reports one goes by one function."""
    import faro_format as faro

    sources = [path.read_text() for path in Path(faro.__file__).parent.rglob("*.py")]
    assert sum(len(re.findall(r"error\(\s*ErrorCode\.CHECKSUM", source)) for source in sources) == 1


def test_a_file_id_is_shown_whole(tmp_path: Path) -> None:
    one, two = written(tmp_path), output(tmp_path, WriterOptions(2))
    with Writer(two.base, WriterOptions(2, file_id=bytes(15) + b"\1")):
        pass
    fault = fault_of(Reader, data=two.files["data"], index=one.files["index"])
    assert fault is not None
    assert (fault.code, fault.offset) == (ErrorCode.MISMATCHED_PAIR, 40)
    assert (fault.expected, fault.found) == (f"file_id {FILE_ID.hex()} of the index file", "0" * 31 + "1")


@pytest.mark.parametrize("codec", ["none", "zstd"])
@pytest.mark.parametrize("level", [-5, 0, 20])
def test_a_level_is_reported_as_it_was_given(codec: Any, level: int) -> None:
    with pytest.raises(FaroError, match=f"invalid-argument: .*level: an integer from 1 to 19, found {level}$"):
        WriterOptions(2, codec=codec, level=level)
