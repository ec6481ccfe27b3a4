"""Interruptions at any step of a call, as Ctrl-C makes them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from interruption import Interruption
from killed import finish_and_die, write_and_die
from support import FILE_ID, Call, Output, events_of, fault_of, model, output

from faro_format import ErrorCode, FaroError, Writer, WriterOptions, check, clean, recover
from faro_format._writer.calls import Calls
from faro_format._writer.region_writer import RegionWriter

CALLS = [
    Call("write", [0], b"first"),
    Call("multicast", [0, 2], b"to two"),
    Call("write", [1], b"a" * 90),
    Call("flush"),
    Call("broadcast", [], b"event", 64),
    Call("write", [2], b""),
    Call("multicast", [1], b"to one"),
    Call("write", [2], b"last"),
]
FINISH = Call("finish")
KINDS = pytest.mark.parametrize(
    ("layout", "more"),
    [
        ("paired", {}),
        ("paired", {"overwrite": True}),
        ("single", {"durability": "commit"}),
        ("paired", {"follow": True, "durability": "commit"}),
        ("paired", {"follow": True, "overwrite": True}),
        ("single", {"follow": True}),
    ],
)


def options_of(layout: Any, more: dict[str, Any]) -> WriterOptions:
    return WriterOptions(3, layout=layout, buffer_size=150, file_id=FILE_ID, **more)


def steps_of(action: Callable[[], None], points: int) -> range:
    """Steps of an action to interrupt, about so many, other ones than in another action."""
    with Interruption() as all_steps:
        action()
    assert all_steps.steps > 1000
    stride = max(all_steps.steps // points, 1) | 1
    return range(stride // 2, all_steps.steps, stride)


def holds(made: Output, calls: list[Call], options: WriterOptions) -> bool:
    """Whether an output is whole and holds what the calls wrote."""
    check(**made.files)
    with made.reader() as reader:
        return all(
            events_of(reader.partition(partition), options.framing) == model(calls, options, partition)
            for partition in reader.partitions
        )


def is_unfinished(made: Output) -> bool:
    """Whether followers of an output see no end of it."""
    fault = fault_of(made.reader)
    # Files without a header yet are truncated.
    return fault is not None and fault.code in (ErrorCode.UNFINISHED, ErrorCode.TRUNCATED)


def write_all(made: Output, options: WriterOptions) -> None:
    with Writer(str(made.base), options) as writer:
        for call in CALLS:
            call.make(writer)
        with writer.region() as region:
            region.block(0, 0, b"\3\0\0\0own")
            region.shared()
            region.block(None, 1, b"event")
        writer.property("key", "value")


@KINDS
def test_an_interruption_at_any_step_leaves_all_or_nothing(tmp_path: Path, layout: Any, more: dict[str, Any]) -> None:
    options = options_of(layout, more)
    whole = output(tmp_path, options)
    left = 0
    for step in steps_of(lambda: write_all(whole, options), 120):
        made = output(tmp_path / "x", options)
        made.base.parent.mkdir(exist_ok=True)
        with Interruption(step) as interruption, contextlib.suppress(KeyboardInterrupt):
            write_all(made, options)
        if interruption.raised and not any(path.exists() for path in made.files.values()):
            assert list(made.base.parent.iterdir()) == []
            continue
        if not options.follow or fault_of(made.reader) is None:
            assert made.contents() == whole.contents()
            left += 1
        else:
            assert is_unfinished(made)
        for path in made.files.values():
            path.unlink()
    assert left < 5


def go_on(made: Output, options: WriterOptions, at: int) -> tuple[bool, list[Call], Call | None]:
    """Write on after an interruption, and finish twice.

    Returns:
        Whether a finish returned; the calls that returned or were interrupted; which one was.
    """
    made_calls: list[Call] = []
    refused: list[bool] = []
    interrupted = None
    finished = False
    with Interruption(at) as interruption:
        try:
            writer = Writer(str(made.base), options)
        except KeyboardInterrupt:
            return False, [], None
        for call in [*CALLS, FINISH, FINISH]:
            try:
                writer.finish() if call is FINISH else call.make(writer)
                made_calls.append(call)
                finished = finished or call is FINISH
            except KeyboardInterrupt:
                made_calls.append(call)
                interrupted = call
            except FaroError as fault:
                refused.append(fault.code == (ErrorCode.INVALID_ARGUMENT if writer._calls.ended else ErrorCode.IO))
                refused.append(interruption.raised or finished)
    assert all(refused)
    assert interruption.raised == (interrupted is not None)
    return finished, [call for call in made_calls if call is not FINISH], interrupted


@KINDS
def test_who_goes_on_after_an_interruption(tmp_path: Path, layout: Any, more: dict[str, Any]) -> None:
    """A call that was interrupted was made, or was not, or the writer takes no more: never a half of it."""
    options = options_of(layout, more)
    whole = output(tmp_path, options)
    outcomes: set[str] = set()
    for step in steps_of(lambda: write_all(whole, options), 120):
        made = output(tmp_path / "x", options)
        made.base.parent.mkdir(exist_ok=True)
        finished, calls, interrupted = go_on(made, options, step)
        exists = [path for path in made.files.values() if path.exists()]
        if finished or (exists and not options.follow):
            # Without a finish that returned: it was interrupted when nothing was left to do.
            assert finished or interrupted is FINISH
            without = [call for call in calls if call is not interrupted]
            assert holds(made, calls, options) or holds(made, without, options)
            outcomes.add("finished")
        elif exists:
            # A follower keeps what was committed, and does not take it for finished.
            if is_unfinished(made):
                outcomes.add("unfinished")
            else:
                assert interrupted is FINISH
                assert holds(made, calls, options)
        else:
            outcomes.add("nothing")
        for path in exists:
            path.unlink()
        assert list(made.base.parent.iterdir()) == []
    assert outcomes >= {"unfinished" if options.follow else "nothing"}


BLOCKS: list[tuple[str, Callable[[RegionWriter], None]]] = [
    ("own", lambda region: region.block(0, 1, b"own")),
    ("abc", lambda region: region.stored_block(1, 64, 0, 3, b"abc")),
    ("", lambda region: region.shared([1])),
    ("event", lambda region: region.block(None, 1, b"event")),
    ("", lambda region: region.end()),
]


def test_an_interrupted_region_has_whole_blocks_or_is_not_committed(tmp_path: Path) -> None:
    options = WriterOptions(3, file_id=FILE_ID)
    writer = Writer(str(output(tmp_path, options).base), options)
    region = writer.region()
    with Interruption() as all_steps:
        for _, call in BLOCKS:
            call(region)
    finished = 0
    for step in range(3, all_steps.steps, all_steps.steps // 150):
        made = output(tmp_path, options)
        writer = Writer(str(made.base), options)
        region = writer.region()
        taken: list[str] = []
        interrupted = ""
        with Interruption(step):
            for name, call in BLOCKS:
                try:
                    call(region)
                    taken.append(name)
                except KeyboardInterrupt:
                    interrupted = name
                except FaroError:
                    pass
        del region
        if fault_of(writer.finish) is None:
            finished += 1
            check(**made.files)
            with made.reader() as reader:
                found = [bytes(block.payload).decode() for block in reader.all()]
            whole = [name for name, _ in BLOCKS if name in taken and name]
            assert found in ([], whole, [name for name, _ in BLOCKS if name and name in (*taken, interrupted)])
    assert finished < 50


def test_ctrl_c(tmp_path: Path) -> None:
    """A signal, as a terminal or a notebook sends it, while a program writes."""
    program = """
import signal, sys, faro_format as faro
# Whatever runs the tests in the background may have had the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
with faro.Writer(sys.argv[1], faro.WriterOptions(10, buffer_size=1000)) as writer:
    print("begun", flush=True)
    while True:
        writer.write(3, b"x" * 100)
"""
    arguments = [sys.executable, "-c", program, str(tmp_path / "out")]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(signal.SIGINT)
        try:
            _, shown = process.communicate(timeout=60)
        finally:
            process.kill()
    assert shown.strip().endswith(b"KeyboardInterrupt")
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_of_an_interruption(tmp_path: Path) -> None:
    """Who presses Ctrl-C twice: the second comes while the first is dealt with."""
    writer = Writer(str(tmp_path / "out"), WriterOptions(3))
    writer.write(0, b"whole")

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Calls, "fail", interrupt)
        # A record of which the bytes are taken, and not that they are its.
        patch.setattr(writer._buffer, "_streams", None)
        with pytest.raises(KeyboardInterrupt):
            writer.write(1, b"half")
    calls: list[Callable[[], Any]] = [lambda: writer.write(1, b""), writer.flush, writer.region, writer.finish]
    for call in calls:
        with pytest.raises(FaroError, match=r"io: .*interrupted"):
            call()
    writer.abort()
    assert list(tmp_path.iterdir()) == []


def test_a_call_while_another_thread_makes_one(tmp_path: Path) -> None:
    options = WriterOptions(3, file_id=FILE_ID)
    made = output(tmp_path, options)
    writer = Writer(str(made.base), options)
    writer.write(0, b"x")
    begun, go_on = threading.Event(), threading.Event()
    writev = os.writev

    def slowly(*arguments: Any) -> int:
        begun.set()
        go_on.wait(60)
        return writev(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "writev", slowly)
        thread = threading.Thread(target=writer.flush)
        thread.start()
        begun.wait(60)
        with pytest.raises(FaroError, match=r"io: .*another thread"):
            writer.write(1, b"y")
        go_on.set()
        thread.join(60)
    writer.write(2, b"z")
    writer.finish()
    assert check(**made.files).blocks == 2


@pytest.mark.parametrize(
    ("layout", "left"),
    [
        ("paired", "committed"),
        ("paired", "between"),
        ("paired", "no index"),
        ("single", "committed"),
        ("single", "between"),
    ],
)
def test_an_interrupted_recovery_can_be_made_again(tmp_path: Path, layout: Any, left: str) -> None:
    """Nothing is lost, and nothing stays locked."""

    def leave(folder: Path) -> None:
        folder.mkdir()
        if left == "between":
            finish_and_die(folder, ".index" if layout == "paired" else ".faro", layout=layout, file_id=FILE_ID)
        else:
            write_and_die(folder, layout=layout, file_id=FILE_ID)
        if left == "no index":
            (folder / f"out.index.{FILE_ID[:4].hex()}.tmp").write_bytes(b"")

    def recover_and_read(folder: Path) -> dict[str, bytes]:
        recover(folder / "out")
        assert clean(folder, older_than=0).kept == ()
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    leave(tmp_path / "whole")
    leave(tmp_path / "steps")
    whole = recover_and_read(tmp_path / "whole")
    assert len(whole) == (2 if layout == "paired" else 1)
    with Interruption() as all_steps:
        recover(tmp_path / "steps" / "out")
    stride = all_steps.steps // 40 | 1
    for step in range(stride // 2, all_steps.steps, stride):
        folder = tmp_path / str(step)
        leave(folder)
        with Interruption(step), contextlib.suppress(KeyboardInterrupt):
            recover(folder / "out")
        assert recover_and_read(folder) == whole


def test_an_interrupted_cleaning_can_be_made_again(tmp_path: Path) -> None:
    def leave(folder: Path) -> None:
        folder.mkdir()
        write_and_die(folder, file_id=FILE_ID)
        (folder / "out.faro-lock").touch()

    leave(tmp_path / "steps")
    with Interruption() as all_steps:
        clean(tmp_path / "steps", older_than=0)
    stride = all_steps.steps // 40 | 1
    for step in range(stride // 2, all_steps.steps, stride):
        folder = tmp_path / str(step)
        leave(folder)
        with Interruption(step), contextlib.suppress(KeyboardInterrupt):
            clean(folder, older_than=0)
        assert clean(folder, older_than=0).kept == ()
        assert list(folder.iterdir()) == []
