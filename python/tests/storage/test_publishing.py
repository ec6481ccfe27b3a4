"""Final names given once and whole, the publishing lock, and files of living writers (PUB-2 to PUB-6)."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import FILE_ID, fault_of

import faro_format as faro
from faro_format import ErrorCode, FaroError, Follower, Writer, WriterOptions, check
from faro_format._error import Place
from faro_format._storage import locks
from faro_format._storage.publishing_lock import PublishingLock

LAYOUTS = pytest.mark.parametrize("layout", ["paired", "single"])


def begin(folder: Path, record: bytes, /, **more: Any) -> Writer:
    writer = Writer(folder / "out", WriterOptions(2, **more))
    writer.write(0, record)
    return writer


def visible(folder: Path) -> bytes:
    """The record of the output that is there; the folder holds nothing else."""
    names = sorted(os.listdir(folder))
    assert names in (["out.data", "out.index"], ["out.faro"])
    files: dict[str, Any] = {path.suffix[1:].replace("faro", "single"): path for path in folder.iterdir()}
    assert check(**files).blocks == 1
    raw: bytes = files.get("data", files.get("single", folder)).read_bytes()
    return raw[64 + 24 + 4 :][:3]


def fails(call: Callable[[], Any], role: str | None = None) -> None:
    fault = fault_of(call)
    assert fault is not None
    assert fault.code == ErrorCode.IO
    assert role is None or fault.role == role


@contextlib.contextmanager
def another_process(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has the record lock of a file, which it makes."""
    program = """
import fcntl, os, sys
file = open(sys.argv[1], "ab")
fcntl.lockf(file, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()
"""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", program, str(path)], **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"locked\n"
        try:
            yield process
        finally:
            process.kill()


def is_locked(path: Path) -> bool:
    """Whether another process is refused the record lock of a file."""
    program = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'ab'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, timeout=60)
    return done.returncode != 0 and b"BlockingIOError" in done.stderr


# PUB-2.


@LAYOUTS
def test_temporary_names(tmp_path: Path, layout: Any) -> None:
    writer = begin(tmp_path, b"one", layout=layout, file_id=FILE_ID)
    roles = ["data", "index"] if layout == "paired" else ["faro"]
    assert sorted(os.listdir(tmp_path)) == [f"out.{role}.00010203.tmp" for role in roles]
    # A second one of the same file_id has no other names, and does not take these.
    fails(lambda: begin(tmp_path, b"two", layout=layout, file_id=FILE_ID))
    writer.finish()
    assert visible(tmp_path) == b"one"


# PUB-3.


@LAYOUTS
def test_one_of_two_that_do_not_overwrite_succeeds(tmp_path: Path, layout: Any, monkeypatch: Any) -> None:
    one, two = begin(tmp_path, b"one", layout=layout), begin(tmp_path, b"two", layout=layout)
    # The other one finishes when this one has seen that the names are free.
    link = os.link

    def come_first(*names: Any) -> None:
        monkeypatch.setattr(os, "link", link)
        two.finish()
        link(*names)

    monkeypatch.setattr(os, "link", come_first)
    fails(one.finish)
    one.abort()
    assert visible(tmp_path) == b"two"


@pytest.mark.parametrize("data", ["ours", "another's"])
def test_the_data_file_is_taken_back_when_the_index_is_refused(tmp_path: Path, data: str, monkeypatch: Any) -> None:
    writer = begin(tmp_path, b"one")
    link = os.link

    def occupy(old: str, new: str) -> None:
        if new.endswith(".index"):
            (tmp_path / "out.index").write_bytes(b"another's")
            if data == "another's":
                (tmp_path / "other").write_bytes(b"another's")
                (tmp_path / "other").replace(tmp_path / "out.data")
        link(old, new)

    monkeypatch.setattr(os, "link", occupy)
    fails(writer.finish, "index")
    # At once, before the writer is aborted.
    expected = ["out.data", "out.index"] if data == "another's" else ["out.index"]
    assert sorted(name for name in os.listdir(tmp_path) if not name.endswith(".tmp")) == expected
    del writer
    gc.collect()
    assert sorted(os.listdir(tmp_path)) == expected
    assert all((tmp_path / name).read_bytes() == b"another's" for name in expected)


@LAYOUTS
@pytest.mark.parametrize("taken", [False, True])
def test_a_file_system_without_hard_links(tmp_path: Path, layout: Any, taken: bool, monkeypatch: Any) -> None:
    replace, lock = os.replace, tmp_path / "out.faro-lock"
    role = "data" if layout == "paired" else "faro"
    renamed: list[str] = []

    def refuse(*_: Any) -> None:
        if taken:
            (tmp_path / f"out.{role}").write_bytes(b"another's")
        raise OSError(errno.EPERM, "no links")

    def note(old: str, new: str) -> None:
        # With the lock, as nothing else keeps others from publishing between the check and this.
        assert is_locked(lock)
        renamed.append(new)
        replace(old, new)

    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(os, "replace", note)
    writer = begin(tmp_path, b"one", layout=layout)
    if taken:
        fails(writer.finish)
        del writer
        gc.collect()
        assert os.listdir(tmp_path) == [f"out.{role}"]
    else:
        writer.finish()
        assert len(renamed) == (2 if layout == "paired" else 1)
        assert visible(tmp_path) == b"one"


# PUB-4.


def test_a_pair_that_is_overwritten_is_renamed_with_the_lock(tmp_path: Path, monkeypatch: Any) -> None:
    begin(tmp_path, b"old").finish()
    replace, locked = os.replace, []

    def note(old: str, new: str) -> None:
        locked.append(is_locked(tmp_path / "out.faro-lock"))
        replace(old, new)

    monkeypatch.setattr(os, "replace", note)
    begin(tmp_path, b"new", overwrite=True).finish()
    assert locked == [True, True]
    assert visible(tmp_path) == b"new"


def test_followed_files_replace_older_ones_with_the_lock(tmp_path: Path, monkeypatch: Any) -> None:
    begin(tmp_path, b"old").finish()
    seen: list[bool] = []
    open_, unlink = os.open, os.unlink

    def note(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if str(path).endswith((".data", ".index")) and flags & os.O_CREAT:
            seen.append(is_locked(tmp_path / "out.faro-lock"))
        return open_(path, flags, *more, **named)

    def remove(path: Any) -> None:
        seen.append(is_locked(tmp_path / "out.faro-lock") or str(path).endswith("lock"))
        unlink(path)

    monkeypatch.setattr(os, "open", note)
    monkeypatch.setattr(os, "unlink", remove)
    writer = begin(tmp_path, b"new", overwrite=True, follow=True)
    assert seen == [True] * 5
    writer.finish()
    assert visible(tmp_path) == b"new"


def test_followed_files_over_one_that_comes_meanwhile(tmp_path: Path, monkeypatch: Any) -> None:
    """Another writer, which does not overwrite, takes no lock."""
    other, open_ = begin(tmp_path, b"old"), os.open

    def publish(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if str(path).endswith(".data"):
            monkeypatch.setattr(os, "open", open_)
            other.finish()
        return open_(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", publish)
    writer = begin(tmp_path, b"new", overwrite=True, follow=True)
    writer.finish()
    assert visible(tmp_path) == b"new"


def test_an_aborted_writer_removes_its_followed_files_with_the_lock(tmp_path: Path, monkeypatch: Any) -> None:
    writer, unlink = begin(tmp_path, b"one", follow=True), os.unlink
    removed: dict[str, bool] = {}

    def remove(path: str) -> None:
        removed[Path(path).name] = is_locked(tmp_path / "out.faro-lock")
        unlink(path)

    monkeypatch.setattr(os, "unlink", remove)
    writer.abort()
    assert removed == {"out.data": True, "out.index": True, "out.faro-lock": True}
    assert os.listdir(tmp_path) == []


def test_an_aborted_writer_leaves_what_another_published_meanwhile(tmp_path: Path) -> None:
    writer = begin(tmp_path, b"one", follow=True)
    begin(tmp_path, b"two", overwrite=True).finish()
    writer.abort()
    assert visible(tmp_path) == b"two"


# PUB-5.


def test_the_lock_waits_for_another_process(tmp_path: Path, monkeypatch: Any) -> None:
    lock = tmp_path / "out.faro-lock"
    # It may be left by a process that died.
    lock.touch()
    begin(tmp_path, b"old", overwrite=True).finish()
    with another_process(lock) as process:
        writer = begin(tmp_path, b"new", overwrite=True)
        sleep = time.sleep

        def wait(seconds: float) -> None:
            process.kill()
            process.wait()
            sleep(seconds)

        monkeypatch.setattr(time, "sleep", wait)
        writer.finish()
    assert visible(tmp_path) == b"new"


def test_a_writer_that_waits_too_long_fails(tmp_path: Path, monkeypatch: Any) -> None:
    assert locks.PATIENCE == 60
    monkeypatch.setattr(locks, "PATIENCE", 0.05)
    begin(tmp_path, b"old").finish()
    with another_process(tmp_path / "out.faro-lock"):
        writer = begin(tmp_path, b"new", overwrite=True)
        fails(writer.finish)
        del writer
        gc.collect()
        # Another's lock stays.
        assert sorted(os.listdir(tmp_path)) == ["out.data", "out.faro-lock", "out.index"]
    (tmp_path / "out.faro-lock").unlink()
    assert visible(tmp_path) == b"old"


def test_a_lock_that_is_no_regular_file(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    for make in (lambda path: path.symlink_to(elsewhere), Path.mkdir, os.mkfifo):
        make(tmp_path / "out.faro-lock")
        writer = begin(tmp_path, b"new", overwrite=True)
        fails(writer.finish)
        del writer
        gc.collect()
        assert os.listdir(tmp_path) == ["out.faro-lock"]
        (tmp_path / "out.faro-lock").rmdir() if make is Path.mkdir else (tmp_path / "out.faro-lock").unlink()


def test_the_lock_admits_one_thread_at_a_time(tmp_path: Path) -> None:
    """By whatever name it is called."""
    (tmp_path / "link").symlink_to(tmp_path)
    bases = [tmp_path / "out", tmp_path / "link" / "out"]
    inside = [0]
    most: list[int] = []

    def work(base: Path) -> None:
        for _ in range(50):
            lock = PublishingLock(str(base), Place("data", "out.data"))
            lock.take()
            inside[0] += 1
            os.listdir(tmp_path)
            most.append(inside[0])
            inside[0] -= 1
            lock.give_back()
            lock.give_back()

    threads = [threading.Thread(target=work, args=(bases[i % 2],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert most == [1] * 200
    assert os.listdir(tmp_path) == ["link"]


def test_a_lock_whose_file_was_removed_is_taken_anew(tmp_path: Path, monkeypatch: Any) -> None:
    """PUB-5, step 4: another process had it, and removed the file when it had been opened here."""
    lock = PublishingLock(str(tmp_path / "out"), Place("data", "out.data"))
    lockf, path = fcntl.lockf, tmp_path / "out.faro-lock"

    def remove(*arguments: Any) -> None:
        monkeypatch.setattr(fcntl, "lockf", lockf)
        path.unlink()
        lockf(*arguments)

    monkeypatch.setattr(fcntl, "lockf", remove)
    lock.take()
    assert is_locked(path)
    lock.give_back()
    assert not path.exists()


# PUB-6.


@LAYOUTS
@pytest.mark.parametrize("follow", [False, True])
@pytest.mark.parametrize("overwrite", [False, True])
def test_files_are_locked_until_the_writer_has_finished(
    tmp_path: Path, layout: Any, follow: bool, overwrite: bool, monkeypatch: Any
) -> None:
    writer = begin(tmp_path, b"one", layout=layout, follow=follow, overwrite=overwrite, durability="commit")
    files = list(tmp_path.iterdir())
    assert [is_locked(file) for file in files] == [True] * len(files)
    last: list[bool] = []

    def sync(descriptor: int) -> None:
        if os.path.samestat(os.fstat(descriptor), tmp_path.stat()):
            last.extend(is_locked(file) for file in tmp_path.iterdir())

    monkeypatch.setattr(os, "fsync", sync)
    writer.finish()
    # When all files have their names.
    assert last == [True] * len(files)
    assert not any(map(is_locked, tmp_path.iterdir()))


@LAYOUTS
def test_reading_a_file_that_is_written_here_does_not_lose_its_lock(tmp_path: Path, layout: Any) -> None:
    """A process loses the record lock of a file when it closes any descriptor of it."""
    writer = begin(tmp_path, b"one", layout=layout, follow=True)
    files = list(tmp_path.iterdir())
    before = len(os.listdir("/proc/self/fd"))
    named: dict[str, Any] = {path.suffix[1:].replace("faro", "single"): path for path in files}
    for _ in range(3):
        with Follower(**named) as follower:
            follower.poll()
        fails_at_opening = fault_of(faro.open, tmp_path / "out")
        assert fails_at_opening is not None
    assert [is_locked(file) for file in files] == [True] * len(files)
    writer.finish()
    assert not any(map(is_locked, files))
    # Nothing is left open.
    assert len(os.listdir("/proc/self/fd")) == before - len(files)
    assert visible(tmp_path) == b"one"


@pytest.mark.parametrize("missing", ["module", "lock"])
def test_without_record_locks_a_writer_goes_on(tmp_path: Path, missing: str, monkeypatch: Any) -> None:
    if missing == "module":
        monkeypatch.setattr(locks, "fcntl", None)
    else:

        def refuse(*_: Any) -> None:
            raise OSError(errno.ENOLCK, "none")

        monkeypatch.setattr(fcntl, "lockf", refuse)
    begin(tmp_path, b"old").finish()
    begin(tmp_path, b"new", overwrite=True).finish()
    assert visible(tmp_path) == b"new"


def test_a_file_that_is_taken_for_a_dead_writers_before_its_lock_is_made_anew(tmp_path: Path, monkeypatch: Any) -> None:
    lockf = fcntl.lockf

    def remove(*arguments: Any) -> None:
        monkeypatch.setattr(fcntl, "lockf", lockf)
        for path in tmp_path.iterdir():
            path.unlink()
        raise BlockingIOError(errno.EAGAIN, "held by one who cleans")

    monkeypatch.setattr(fcntl, "lockf", remove)
    begin(tmp_path, b"one").finish()
    assert visible(tmp_path) == b"one"


def test_a_file_that_another_process_keeps_locked(tmp_path: Path, monkeypatch: Any) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "held")

    monkeypatch.setattr(fcntl, "lockf", refuse)
    monkeypatch.setattr(locks, "PATIENCE", 0.05)
    with pytest.raises(FaroError, match=r"^io .*lock"):
        begin(tmp_path, b"one")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system does not list descriptors")
def test_readers_of_a_file_that_is_written_here_use_few_descriptors(tmp_path: Path) -> None:
    name = tmp_path / "again.faro"
    with Writer(name, WriterOptions(1, follow=True)) as writer:
        writer.write(0, b"a")
        writer.flush()
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(500):
            with pytest.raises(FaroError, match="unfinished"):
                faro.open(name)
        assert len(os.listdir("/proc/self/fd")) < before + 20
    faro.open(name).close()
