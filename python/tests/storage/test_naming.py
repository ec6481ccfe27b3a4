"""What files a NAME stands for (PUB-1)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from support import fault_of

import faro_format as faro
from faro_format import (
    ErrorCode,
    Follower,
    PartitionReader,
    Reader,
    Writer,
    WriterOptions,
    check,
    rebuild,
    recover,
    repair,
)
from faro_format._storage.names import OutputPaths, paths_to_open, split_name

CASES: list[tuple[str, Any, list[str]]] = [
    ("a", None, ["a.data", "a.index"]),
    ("a", "single", ["a.faro"]),
    ("a.faro", None, ["a.faro"]),
    ("a.faro", "single", ["a.faro"]),
    ("a.data", None, ["a.data", "a.index"]),
    ("a.index", "paired", ["a.data", "a.index"]),
    ("a.faro.data", None, ["a.faro.data", "a.faro.index"]),
    ("a.parquet", None, ["a.parquet.data", "a.parquet.index"]),
    ("..a", None, ["..a.data", "..a.index"]),
]


@pytest.mark.parametrize(("name", "layout", "files"), CASES)
def test_what_a_writer_makes(tmp_path: Path, name: str, layout: Any, files: list[str]) -> None:
    with Writer(tmp_path / name, WriterOptions(2, layout=layout)) as writer:
        assert writer.options.layout == ("single" if files[0] == "a.faro" else "paired")
    assert sorted(os.listdir(tmp_path)) == files


@pytest.mark.parametrize(
    ("name", "layout"), [("a.faro", "paired"), ("a.data", "single"), ("a.index", "single"), (7, None)]
)
def test_a_layout_that_contradicts_the_ending(tmp_path: Path, name: Any, layout: Any) -> None:
    where = name if isinstance(name, int) else str(tmp_path / name)
    fault = fault_of(Writer, where, WriterOptions(2, layout=layout))
    assert fault is not None
    assert (fault.code, fault.file) == (ErrorCode.INVALID_ARGUMENT, None)
    assert os.listdir(tmp_path) == []


def test_separators_at_the_end_are_not_part_of_a_name(tmp_path: Path) -> None:
    for name in ("a/", "b//", "c.faro/"):
        Writer(f"{tmp_path}/{name}", WriterOptions(2)).finish()
    assert sorted(os.listdir(tmp_path)) == ["a.data", "a.index", "b.data", "b.index", "c.faro"]


@pytest.mark.parametrize(
    "name", ["/", ".", "..", "f/.", "f/..", "f/./", ".faro", "f/.data", ".index", "..faro", "f/...data"]
)
def test_some_paths_are_not_names(name: str) -> None:
    for call in (lambda: Writer(name, WriterOptions(2)), lambda: Reader(name), lambda: recover(name)):
        fault = fault_of(call)
        assert fault is not None
        assert fault.code == ErrorCode.INVALID_ARGUMENT


READ: list[tuple[list[str], str, str]] = [
    ([], "a.faro", "a.faro"),
    (["a.data", "a.index"], "a.faro", "a.faro"),
    (["a.faro"], "a.data", "a.data a.index"),
    ([], "a.index", "a.data a.index"),
    (["a.faro"], "a", "a.faro"),
    (["a.data", "a.index"], "a", "a.data a.index"),
    (["a.index"], "a", "a.data a.index"),
    (["a.data"], "a", "a.data a.index"),
    (["a.faro", "a.index"], "a", "refused"),
    (["a.faro", "a"], "a", "a.faro"),
    (["a"], "a", "a"),
    ([], "a", "a.data a.index"),
]


@pytest.mark.parametrize(("files", "name", "opened"), READ)
def test_what_a_reader_opens(tmp_path: Path, files: list[str], name: str, opened: str) -> None:
    for file in files:
        (tmp_path / file).touch()
    if opened == "refused":
        fault = fault_of(paths_to_open, *split_name(tmp_path / name))
        assert fault is not None
        assert fault.code == ErrorCode.INVALID_ARGUMENT
        return
    paths = [str(tmp_path / file) for file in opened.split()]
    expected = OutputPaths(data=paths[0], index=paths[1]) if len(paths) == 2 else OutputPaths(single=paths[0])
    assert paths_to_open(*split_name(tmp_path / name)) == expected


def test_a_folder_is_no_single_file(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assert paths_to_open(str(tmp_path / "a"), None).single is None


ASK: list[Any] = [faro.open, Reader, Follower, check, repair, recover]


@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize("ask", ASK)
@pytest.mark.parametrize(
    ("layout", "names"), [("single", ["out", "out.faro"]), ("paired", ["out", "out.data", "out.index"])]
)
def test_all_that_read_take_the_same_names(tmp_path: Path, layout: Any, names: list[str], ask: Any, kind: Any) -> None:
    Writer(tmp_path / "out", WriterOptions(2, layout=layout)).finish()
    for name in names:
        found = ask(kind(tmp_path / name))
        if isinstance(found, PartitionReader):
            assert found.partitions == range(2)
            found.close()
        else:
            assert found.regions == 0


def test_rebuild_takes_the_names_of_a_pair(tmp_path: Path) -> None:
    for name in ("out", "out.data", "out.index"):
        Writer(tmp_path / "out", WriterOptions(2, overwrite=True)).finish()
        os.unlink(tmp_path / "out.index")
        assert rebuild(tmp_path / name).action == "rebuilt"
        assert check(tmp_path / name).regions == 0
    Writer(tmp_path / "one.faro", WriterOptions(2)).finish()
    fault = fault_of(rebuild, tmp_path / "one.faro")
    assert fault is not None
    assert fault.code == ErrorCode.INVALID_ARGUMENT


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"name": "a", "single": "a.faro"},
        {"data": "a.data"},
        {"index": "a.index"},
        {"data": "a.data", "index": "a.index", "single": "a.faro"},
    ],
)
@pytest.mark.parametrize("ask", [Reader, Follower, check, repair])
def test_names_that_contradict_each_other(ask: Any, given: dict[str, str]) -> None:
    fault = fault_of(ask, **given)
    assert fault is not None
    assert fault.code == ErrorCode.INVALID_ARGUMENT
    assert fault.expected == "name, or data and index, or single"


def test_a_name_of_no_output_says_what_was_looked_for(tmp_path: Path) -> None:
    fault = fault_of(faro.open, tmp_path / "nosuch")
    assert fault is not None
    assert (fault.code, fault.found) == (ErrorCode.IO, "none of these files")
    assert "'nosuch'" in fault.expected
