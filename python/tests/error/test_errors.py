"""Errors as Python code meets them: their classes, their length, and copies."""

from __future__ import annotations

import copy
import errno
import os
import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from support import FILE_ID, Call, fault_of, write

import faro_format as faro
from faro_format import (
    ErrorCode,
    ErrorFamily,
    FaroError,
    FaroIOError,
    Reader,
    Writer,
    WriterOptions,
    check,
)
from faro_format._error import Place

CALLS = [Call("write", [0], b"one"), Call("broadcast", [], b"all")]


@pytest.mark.parametrize("name", ["nothing", "nothing.faro", "nothing.data", "nowhere/nothing"])
@pytest.mark.parametrize("ask", [faro.open, Reader, check, faro.Follower, faro.repair])
def test_a_missing_file_is_a_file_not_found_error(tmp_path: Path, ask: Any, name: str) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        ask(tmp_path / name)
    fault = caught.value
    assert isinstance(fault, FaroError)
    assert (fault.code, fault.errno, fault.strerror) == (ErrorCode.IO, errno.ENOENT, os.strerror(errno.ENOENT))
    assert fault.filename == fault.file
    assert str(fault.filename).startswith(str((tmp_path / name).with_suffix("")))


def test_every_io_error_is_an_os_error(tmp_path: Path) -> None:
    folder = tmp_path / "out.faro"
    folder.mkdir()
    with pytest.raises(OSError, match="regular file") as caught:
        Reader(single=folder)
    assert isinstance(caught.value, FaroIOError)
    assert caught.value.errno is None
    assert isinstance(FaroError(ErrorCode.IO, "x"), OSError)
    assert not isinstance(FaroError(ErrorCode.CHECKSUM, "x"), OSError)


def test_a_name_that_exists_is_a_file_exists_error(tmp_path: Path) -> None:
    Writer(tmp_path / "out", WriterOptions(1)).finish()
    with pytest.raises(FileExistsError):
        Writer(tmp_path / "out", WriterOptions(1))


def test_a_folder_that_is_missing_is_a_file_not_found_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Writer(tmp_path / "nowhere" / "out", WriterOptions(1))


@pytest.mark.parametrize("number", [None, errno.ENOENT, errno.EEXIST, errno.EACCES, errno.EIO])
@pytest.mark.parametrize("code", [ErrorCode.IO, ErrorCode.CHECKSUM])
def test_copies_are_equal(code: ErrorCode, number: int | None) -> None:
    fault = FaroError(code, "this", "that", file="f.data", role="data", offset=7, errno=number)
    for other in (fault._copy(), copy.copy(fault), pickle.loads(pickle.dumps(fault))):
        assert type(other) is type(fault)
        assert (str(other), other.args) == (str(fault), fault.args)
        assert getattr(other, "errno", None) == getattr(fault, "errno", None)
        assert getattr(other, "filename", None) == getattr(fault, "filename", None)


def test_an_io_error_is_not_wrapped_twice() -> None:
    first = FaroError(ErrorCode.IO, "one", "because", file="a", role="data", errno=errno.ENOENT)
    assert isinstance(first, OSError)
    again = Place("index", "b").io(first, "two")
    assert str(again) == str(first)


def test_long_texts_are_shortened(tmp_path: Path) -> None:
    made = write(tmp_path, WriterOptions(1, layout="single", file_id=FILE_ID), CALLS)
    for given in (made.contents()["single"] * 10_000, "x" * 2_500_000, "x" * 30_000):
        fault = fault_of(Reader, single=given)
        assert fault is not None
        assert len(str(fault)) < 500
    fault = FaroError(ErrorCode.CHECKSUM, "a" * 500 + "z", "b" * 500 + "y")
    assert len(str(fault)) < 300
    assert (fault.expected[-1], fault.found[-1]) == ("z", "y")


def test_families_are_those_of_the_specification() -> None:
    text = (Path(__file__).parents[3] / "spec" / "errors.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| [^|]* \| ([a-z]+) \|$", text, re.MULTILINE)
    assert {code: str(ErrorCode(code).family) for code, _ in rows} == dict(rows)
    assert {code for code, _ in rows} == {str(code) for code in ErrorCode}
    assert FaroError(ErrorCode.UNFINISHED, "a tail").code.family is ErrorFamily.FILE
