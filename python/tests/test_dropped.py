"""Writers that nobody ended."""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support import FILE_ID, fault_of, output

from faro import Code, FaroError, Writer, WriterOptions, check


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
    begin = "import faro; writer = faro.Writer('out', faro.WriterOptions(2)); "
    arguments = [sys.executable, "-c", begin + PROGRAMS[ending]]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, timeout=60)
    assert done.returncode == (ending == "by an error")
    assert b"ZeroDivisionError" in done.stderr or done.stderr == b""
    assert list(tmp_path.iterdir()) == []


def test_a_fork_does_not_take_its_parents_files_away(tmp_path: Path) -> None:
    program = """
import os, sys, faro
writer = faro.Writer("out", faro.WriterOptions(2))
child = os.fork()
if child == 0:
    sys.exit(0)  # Its own copy of the writer is dropped.
assert os.waitpid(child, 0)[1] == 0
writer.write(0, b"x")
writer.finish()
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert check(data=tmp_path / "out.data", index=tmp_path / "out.index").blocks == 1


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


def test_a_region_that_was_dropped_is_given_up(tmp_path: Path) -> None:
    options = WriterOptions(2, file_id=FILE_ID)
    made = output(tmp_path, options)
    with Writer(str(made.base), options) as writer:
        region = writer.region()
        region.block(0, 1, b"never")
        fault = fault_of(writer.flush)
        assert fault is not None
        assert fault.code == Code.INVALID_ARGUMENT
        del region
        writer.write(1, b"x")
    assert check(**made.files).blocks == 1
