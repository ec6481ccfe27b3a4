"""The option single_below: a small output becomes one file, decided late (WRT-13)."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import FILE_ID, Call, fault_of, scripts

import faro_format as faro
from faro_format import FaroError, Writer, WriterOptions

PAIR = ["out.data", "out.index"]
SINGLE = ["out.faro"]
DICTIONARY = bytes.fromhex("37a430ec") + bytes(60)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def writer(folder: Path, below: int = 1000, **more: Any) -> Writer:
    return Writer(folder / "out", WriterOptions(4, single_below=below, file_id=FILE_ID, **more))


@pytest.mark.parametrize(("below", "files"), [(3 * 12 + 6, SINGLE), (3 * 12 + 5, PAIR)])
def test_the_sum_of_the_charges_decides(tmp_path: Path, below: int, files: list[str]) -> None:
    with writer(tmp_path, below) as out:
        for record in (b"a", b"bb", b"ccc"):
            out.write(1, record)
        assert names(tmp_path) == []
    assert names(tmp_path) == files
    with faro.open(tmp_path / "out") as reader:
        assert [bytes(record) for record in reader.records(1)] == [b"a", b"bb", b"ccc"]


@pytest.mark.parametrize(("below", "files"), [(12 + 1 + 1, SINGLE), (12 + 1, PAIR)])
def test_a_set_of_members_is_charged(tmp_path: Path, below: int, files: list[str]) -> None:
    with writer(tmp_path, below) as out:
        out.multicast([0, 3], b"x")
    assert names(tmp_path) == files


def region(out: Writer) -> None:
    with out.region() as blocks:
        blocks.block(0, 0, b"\1\0\0\0x", 1)


def flushed(out: Writer) -> None:
    out.write(0, b"x")
    out.flush()


def full(out: Writer) -> None:
    out.write(0, bytes(40))
    out.write(0, bytes(40))


def after_records(out: Writer) -> None:
    out.write(0, b"x")
    out.region().give_up()


ENDS: dict[str, Callable[[Writer], Any]] = {
    "flush": flushed,
    "a full buffer": full,
    "a record larger than the buffer": lambda out: out.write(0, bytes(200)),
    "region": region,
    "region after records": after_records,
    "region of nothing": lambda out: out.region().end(),
    "dictionary": lambda out: out.dictionary(DICTIONARY),
}


@pytest.mark.parametrize("name", ENDS)
def test_what_ends_a_region_decides_for_a_pair(tmp_path: Path, name: str) -> None:
    with writer(tmp_path, 2**33, buffer_size=100, dictionaries=True, codec="zstd") as out:
        ENDS[name](out)
        assert len(names(tmp_path)) == 2
    assert names(tmp_path) == PAIR


def test_a_flush_of_nothing_decides_nothing(tmp_path: Path) -> None:
    with writer(tmp_path, 1) as out:
        out.flush()
        assert names(tmp_path) == []
    assert names(tmp_path) == SINGLE


@settings(max_examples=60, deadline=None)
@given(script=scripts(layout=None, buffer_size=1 << 20), part=st.floats(0, 2))
def test_the_bytes_are_those_of_the_layout(script: tuple[WriterOptions, list[Call]], part: float) -> None:
    options, calls = script
    given = {name: getattr(options, name) for name in WriterOptions.__dataclass_fields__}
    with tempfile.TemporaryDirectory() as folder:
        made: dict[str, dict[str, bytes]] = {}
        charged, ended = 0, False
        for layout in ("single", "paired"):
            path = Path(folder, layout)
            path.mkdir()
            with Writer(path / "out", WriterOptions(**given | {"layout": layout})) as out:
                for call in calls:
                    held = out._buffer.count + (call.name != "flush")
                    call.make(out)
                    ended = ended or out._buffer.count != held
                charged = out._buffer.charged
            made[layout] = {file.name: file.read_bytes() for file in path.iterdir()}
        below = max(int(charged * part), 1)
        path = Path(folder, "late")
        path.mkdir()
        with Writer(path / "out", WriterOptions(**given | {"single_below": below})) as out:
            for call in calls:
                call.make(out)
        expected = made["single" if charged <= below and not ended else "paired"]
        assert {file.name: file.read_bytes() for file in path.iterdir()} == expected


@pytest.mark.parametrize("name", [*SINGLE, *PAIR])
def test_the_names_of_both_layouts_must_be_free(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"older")
    with pytest.raises(FileExistsError, match=name):
        writer(tmp_path)
    (tmp_path / name).unlink()
    for below in (1, 1000):
        out = writer(tmp_path, below)
        out.write(0, b"x")
        (tmp_path / name).write_bytes(b"newer")
        fault = fault_of(out.finish)
        assert isinstance(fault, FileExistsError)
        assert name in str(fault)
        assert str(fault_of(out.write, 0, b"x")) == str(fault)
        out.abort()
        assert names(tmp_path) == [name]
        (tmp_path / name).unlink()


@pytest.mark.parametrize("name", [*SINGLE, *PAIR])
def test_they_must_be_free_when_the_files_are_published(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for below in (1, 1000):
        out = writer(tmp_path, below)
        out.write(0, b"x")
        append = out._log._append_message

        def late(*arguments: Any, real: Any = append) -> Any:
            (tmp_path / name).write_bytes(b"newer")
            return real(*arguments)

        monkeypatch.setattr(out._log, "_append_message", late)
        assert isinstance(fault_of(out.finish), FileExistsError)
        out.abort()
        assert names(tmp_path) == [name]
        (tmp_path / name).unlink()


@pytest.mark.parametrize("more", [{"layout": "single"}, {"layout": "paired"}, {"follow": True}, {"overwrite": True}])
def test_options_that_contradict_are_refused(more: dict[str, Any]) -> None:
    with pytest.raises(FaroError, match="invalid-argument: expected single_below without"):
        WriterOptions(4, single_below=1, **more)
    WriterOptions(4, single_below=0, **more)


@pytest.mark.parametrize("ending", [".faro", ".data", ".index"])
def test_a_name_with_an_ending_is_refused(tmp_path: Path, ending: str) -> None:
    with pytest.raises(FaroError, match="invalid-argument: expected a NAME without an ending"):
        Writer(tmp_path / f"out{ending}", WriterOptions(4, single_below=1))
    assert names(tmp_path) == []


@pytest.mark.parametrize("decided", [False, True])
@pytest.mark.parametrize("how", ["abort", "drop"])
def test_a_writer_that_does_not_finish_leaves_nothing(tmp_path: Path, decided: bool, how: str) -> None:
    out = writer(tmp_path)
    out.write(0, b"x")
    if decided:
        out.flush()
    assert len(names(tmp_path)) == 2 * decided
    if how == "abort":
        out.abort()
    del out
    gc.collect()
    assert names(tmp_path) == []
