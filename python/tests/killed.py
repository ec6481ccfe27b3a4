"""Writers that are killed: processes of their own, ended by SIGKILL at a point that is chosen."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from faro_format import Writer, WriterOptions

CALLS = ("open", "writev", "link", "unlink", "replace", "ftruncate", "fsync")
"""What is counted, each before it is made."""


def die() -> None:
    """End this process as kill -9 does."""
    os.kill(os.getpid(), signal.SIGKILL)


def killed(action: Callable[[], Any], before: int = -1) -> bool:
    """Do something in a process of its own, which is killed before one of its system calls, counted from 0.

    Returns:
        Whether it was killed.
    """
    child = os.fork()
    if child == 0:
        # Whatever happens here must not go on in a copy of the tests.
        try:
            count = itertools.count()
            for name in CALLS:
                setattr(os, name, _counted(getattr(os, name), count, before))
            action()
            os._exit(0)
        finally:
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def _counted(call: Callable[..., Any], count: Iterator[int], before: int) -> Callable[..., Any]:
    def made(*arguments: Any, **named: Any) -> Any:
        if next(count) == before:
            die()
        return call(*arguments, **named)

    return made


def write(folder: Path, /, **options: Any) -> Writer:
    """A writer of `out` with two regions that are committed and a record that is not; its X is that of file_id."""
    writer = Writer(folder / "out", WriterOptions(2, framing="opaque", **options))
    for record in (b"one", b"two"):
        writer.write(0, record)
        writer.flush()
    writer.write(0, b"end")
    return writer


def write_and_die(folder: Path, /, **options: Any) -> None:
    """Leave what a writer leaves that is killed before `finish`."""

    def work() -> None:
        writer = write(folder, **options)
        die()
        writer.abort()

    assert killed(work)


def finish_and_die(folder: Path, before: str, /, **options: Any) -> None:
    """Leave what a writer leaves that is killed before it gives a file a final name that ends so."""

    def work() -> None:
        writer = write(folder, **options)
        for name in ("link", "replace"):
            call = getattr(os, name)

            def given(old: str, new: str, call: Any = call) -> None:
                if new.endswith(before):
                    die()
                call(old, new)

            setattr(os, name, given)
        writer.finish()

    assert killed(work)


@contextlib.contextmanager
def living(folder: Path, /, **options: Any) -> Iterator[None]:
    """A writer that lives, in another process."""
    ready, end = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(end[1])
            writer = write(folder, **options)
            os.write(ready[1], b"x")
            os.read(end[0], 1)
            writer.abort()
        finally:
            os._exit(0)
    os.close(end[0])
    try:
        assert os.read(ready[0], 1) == b"x"
        yield
    finally:
        for descriptor in (*ready, end[1]):
            os.close(descriptor)
        os.waitpid(child, 0)


def names(folder: Path) -> list[str]:
    """What is in a folder."""
    return sorted(os.listdir(folder))


def contents(folder: Path) -> dict[str, bytes]:
    """What is in the files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}
