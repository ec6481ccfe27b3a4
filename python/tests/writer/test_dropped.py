"""Writers that were not ended."""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import FILE_ID, fault_of, output

from faro_format import ErrorCode, FaroError, Writer, WriterOptions, check


@pytest.mark.parametrize("cause", [ZeroDivisionError, OSError])
def test_a_writer_in_a_cycle_goes_with_it(tmp_path: Path, cause: type[Exception]) -> None:
    gc.disable()
    try:
        writer = Writer(str(tmp_path / "out"), WriterOptions(2))
        writer.write(0, b"x")
        holder: dict[str, Any] = {"writer": writer}
        holder["itself"] = holder
        del writer, holder
        assert len(list(tmp_path.iterdir())) == 2
        gc.collect()
        assert list(tmp_path.iterdir()) == []
        # A failed writer is in none of its own making.
        writer = Writer(str(tmp_path / "out"), WriterOptions(2))
        with pytest.MonkeyPatch.context() as patch:

            def refuse(*_: Any) -> int:
                raise cause

            patch.setattr(os, "writev", refuse)
            writer.write(0, b"x")
            with contextlib.suppress(FaroError, ZeroDivisionError):
                writer.flush()
            assert fault_of(writer.finish) is not None
        del writer
        assert list(tmp_path.iterdir()) == []
    finally:
        gc.enable()


PROGRAMS = {
    "at its end": "holder = [writer]; holder.append(holder); writer.write(0, b'x')",
    "by an error": "writer.write(0, b'x'); writer.flush(); 1 // 0",
    "with a region begun": "region = writer.region(); region.block(0, 1, b'x')",
    "in another folder": "import os; os.chdir('/'); writer.write(0, b'x'); writer.flush()",
}


@pytest.mark.parametrize("ending", PROGRAMS)
def test_a_program_that_ends_leaves_no_temporary_files(tmp_path: Path, ending: str) -> None:
    begin = "import faro_format as faro; writer = faro.Writer('out', faro.WriterOptions(2)); "
    arguments = [sys.executable, "-c", begin + PROGRAMS[ending]]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, timeout=60)
    assert done.returncode == (ending == "by an error")
    assert b"ZeroDivisionError" in done.stderr or done.stderr == b""
    assert list(tmp_path.iterdir()) == []


def test_an_old_writer_does_not_remove_what_another_made_in_its_place(tmp_path: Path) -> None:
    options = WriterOptions(2, file_id=FILE_ID)
    for _ in range(20):
        first = Writer(str(tmp_path / "out"), options)
        first.abort()
        second = Writer(str(tmp_path / "out"), options)
        first.abort()
        del first
        second.write(0, b"x")
        second.finish()
        assert check(data=tmp_path / "out.data", index=tmp_path / "out.index").blocks == 1
        for path in tmp_path.iterdir():
            path.unlink()


@pytest.mark.parametrize("follow", [False, True])
def test_a_lost_region_lets_nothing_be_published(tmp_path: Path, follow: bool) -> None:
    """WRT-10: neither ended nor given up, and no call can any more."""
    writer = Writer(str(tmp_path / "out"), WriterOptions(2, follow=follow))
    writer.region().block(0, 1, b"never")
    gc.collect()
    calls: list[Callable[[], Any]] = [
        lambda: writer.write(1, b"x"),
        lambda: writer.broadcast(b"x"),
        lambda: writer.multicast([1], b"x"),
        lambda: writer.write_batch([1], [0, 1], b"x"),
        lambda: writer.property("key", "value"),
        lambda: writer.dictionary(bytes(8)),
        writer.flush,
        writer.region,
        writer.finish,
    ]
    for call in calls:
        fault = fault_of(call)
        assert fault is not None
        assert fault.code == ErrorCode.INVALID_ARGUMENT
    fault = fault_of(writer.__exit__, None, None, None)
    assert fault is not None
    assert list(tmp_path.iterdir()) == []


def test_a_writer_dropped_with_a_region_begun_publishes_nothing(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path / "out"), WriterOptions(2))
    writer.write(0, b"before")
    region = writer.region()
    region.block(0, 1, b"never")
    del writer, region
    assert list(tmp_path.iterdir()) == []


def test_a_region_left_by_an_exception_is_given_up(tmp_path: Path) -> None:
    """Its with-block says where it ends, so nothing is lost."""
    made = output(tmp_path, WriterOptions(2))
    with Writer(str(made.base), WriterOptions(2)) as writer:
        with contextlib.suppress(ZeroDivisionError), writer.region() as region:
            region.block(0, 1, b"never")
            raise ZeroDivisionError
        writer.write(1, b"x")
    assert check(**made.files).blocks == 1


def test_a_lost_region_gives_its_memory_back(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path / "out"), WriterOptions(2))
    region = writer.region()
    builder = weakref.ref(region._builder)
    del region
    assert builder() is None
    writer.abort()
