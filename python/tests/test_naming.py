"""What files a NAME stands for (PUB-1)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from support import fault_of

from faro import Code, Writer, WriterOptions
from faro.naming import OutputPaths, name_to_read

CASES: list[tuple[str, Any, list[str]]] = [
    ("a", None, ["a.data", "a.index"]),
    ("a", "single", ["a.faro"]),
    ("a.faro", None, ["a.faro"]),
    ("a.faro", "single", ["a.faro"]),
    ("a.data", None, ["a.data", "a.index"]),
    ("a.index", "paired", ["a.data", "a.index"]),
    ("a.faro.data", None, ["a.faro.data", "a.faro.index"]),
    ("a.parquet", None, ["a.parquet.data", "a.parquet.index"]),
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
    assert (fault.code, fault.file) == (Code.INVALID_ARGUMENT, None)
    assert os.listdir(tmp_path) == []


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
        fault = fault_of(name_to_read, tmp_path / name)
        assert fault is not None
        assert fault.code == Code.INVALID_ARGUMENT
        return
    paths = [str(tmp_path / file) for file in opened.split()]
    expected = OutputPaths(data=paths[0], index=paths[1]) if len(paths) == 2 else OutputPaths(single=paths[0])
    assert name_to_read(tmp_path / name) == expected


def test_a_folder_is_no_single_file(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assert name_to_read(os.fsencode(tmp_path / "a")).single is None  # type: ignore[arg-type]
