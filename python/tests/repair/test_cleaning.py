"""Removal of what dead writers left (PUB-9)."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from killed import contents, finish_and_die, killed, living, names, write, write_and_die
from support import FILE_ID, fault_of

from faro_format import CleanReport, ErrorCode, KeptFile, Writer, clean, recover
from faro_format._bytes.header import MAGIC
from faro_format._error import Place
from faro_format._storage.publishing_lock import PublishingLock

X = FILE_ID[:4].hex()
LEFT = [f"out.data.{X}.tmp", f"out.index.{X}.tmp"]
HOURS_AGO = time.time() - 3 * 3600


def age(folder: Path) -> None:
    """Make all files three hours old."""
    for path in folder.iterdir():
        os.utime(path, (HOURS_AGO, HOURS_AGO), follow_symlinks=False)


def cleaned(folder: Path, **more: Any) -> tuple[list[str], dict[str, str]]:
    """Clean, after a dry run that reports the same and changes nothing."""
    before = contents(folder)
    planned = clean(folder, dry_run=True, **more)
    assert contents(folder) == before
    report = clean(folder, **more)
    assert report == planned
    assert names(folder) == [name for name in sorted(before) if name not in report.removed]
    return list(report.removed), {file.name: file.reason for file in report.kept}


# What is left, by the rows of PUB-7.


def left_by_a_writer(folder: Path) -> list[str]:
    write_and_die(folder, file_id=FILE_ID)
    return LEFT


def left_by_a_writer_of_a_single_file(folder: Path) -> list[str]:
    write_and_die(folder, file_id=FILE_ID, layout="single")
    return [f"out.faro.{X}.tmp"]


def left_as_a_second_name(folder: Path) -> list[str]:
    write(folder, file_id=FILE_ID).finish()
    (folder / LEFT[0]).hardlink_to(folder / "out.data")
    return LEFT[:1]


def left_between_two_files(folder: Path) -> list[str]:
    finish_and_die(folder, ".index", file_id=FILE_ID)
    # The data file has its final name.
    return LEFT[1:]


def left_while_publishing(folder: Path) -> list[str]:
    write(folder).finish()
    finish_and_die(folder, ".data", file_id=FILE_ID, overwrite=True)
    return [*LEFT, "out.faro-lock"]


def left_by_a_rebuild(folder: Path) -> list[str]:
    write(folder, file_id=FILE_ID).finish()
    (folder / "out.index.rebuild.tmp").write_bytes((folder / "out.index").read_bytes()[:80])
    return ["out.index.rebuild.tmp"]


def left_by_a_followed_writer(folder: Path) -> list[str]:
    write_and_die(folder, file_id=FILE_ID, follow=True)
    return []


ROWS = [
    left_by_a_writer,
    left_by_a_writer_of_a_single_file,
    left_as_a_second_name,
    left_between_two_files,
    left_while_publishing,
    left_by_a_rebuild,
    left_by_a_followed_writer,
]


@pytest.mark.parametrize("leave", ROWS)
def test_what_dead_writers_left(tmp_path: Path, leave: Callable[[Path], list[str]]) -> None:
    left = leave(tmp_path)
    # Rule 3.
    assert cleaned(tmp_path) == ([], dict.fromkeys(sorted(left), "young"))
    assert cleaned(tmp_path, older_than=2 * 3600) == ([], dict.fromkeys(sorted(left), "young"))
    age(tmp_path)
    assert cleaned(tmp_path, older_than=4 * 3600) == ([], dict.fromkeys(sorted(left), "young"))
    assert cleaned(tmp_path) == (sorted(left), {})
    assert cleaned(tmp_path, older_than=0) == ([], {})


# Rules 1 and 2.


def test_other_files_are_kept(tmp_path: Path) -> None:
    header = MAGIC + bytes(32) + FILE_ID + bytes(8)
    wrong = MAGIC + bytes(32) + bytes(16) + bytes(8)
    others = {
        "out.data": header,
        "out.index": header,
        "out.faro": header,
        f"out.data.{X}": header,
        "out.data.0001020.tmp": header,
        "out.data.000102030.tmp": header,
        "out.data.0001020G.tmp": header,
        "out.data.0001020A.tmp": header,
        f"out.other.{X}.tmp": header,
        f"out.data.{X}.tmp.gz": header,
        f"out.data.{X}.tmp": wrong,
        f"out.index.{X}.tmp": bytes(64),
        f"out.faro.{X}.tmp": b"text that is longer than a header " * 2,
        "out.index.rebuild.tmp": b"text that is longer than a header " * 2,
        "out.data.rebuild.tmp": header,
        "out.faro-lock": b"x",
        "faro-lock": b"",
    }
    for name, content in others.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / f"out.data.{X}.tmp").write_bytes(header)
    (tmp_path / f"folder.data.{X}.tmp").mkdir()
    (tmp_path / f"link.data.{X}.tmp").symlink_to(tmp_path / "out.data")
    os.mkfifo(tmp_path / f"pipe.data.{X}.tmp")
    before = names(tmp_path)
    assert clean(tmp_path, older_than=0) == CleanReport((), ())
    assert names(tmp_path) == before
    assert names(tmp_path / "folder") == [f"out.data.{X}.tmp"]


def test_short_files_and_odd_names(tmp_path: Path) -> None:
    header = MAGIC + bytes(32) + FILE_ID + bytes(8)
    odd = os.fsdecode(b"\xff\n")
    for name in (f"{odd}.data.{X}.tmp", f".faro.{X}.tmp", f"a.index.{X}.tmp"):
        (tmp_path / name).write_bytes(header)
    for size in (0, 7, 63):
        (tmp_path / f"{size}.data.{X}.tmp").write_bytes(b"x" * size)
        (tmp_path / f"{size}.index.rebuild.tmp").write_bytes(b"x" * size)
    (tmp_path / ".faro-lock").touch()
    everything = names(tmp_path)
    assert clean(str(tmp_path), older_than=0).removed == tuple(everything)
    assert names(tmp_path) == []


# Rule 4.


@pytest.mark.parametrize("options", [{}, {"layout": "single"}])
def test_files_of_living_writers_are_kept(tmp_path: Path, options: dict[str, Any]) -> None:
    writer: Writer = write(tmp_path, file_id=FILE_ID, **options)
    left = names(tmp_path)
    for _ in range(2):
        # Twice: the first has not cost the files their locks.
        assert [(file.name, file.reason) for file in clean(tmp_path, older_than=0).kept] == [
            (name, "living") for name in left
        ]
    assert not killed(lambda: _all_living(tmp_path, left))
    writer.finish()
    with living(tmp_path, overwrite=True, file_id=FILE_ID, **options):
        assert cleaned(tmp_path, older_than=0) == ([], dict.fromkeys(left, "living"))
    assert len(names(tmp_path)) == len(left)


def _all_living(folder: Path, left: list[str]) -> None:
    assert clean(folder, older_than=0).kept == tuple(KeptFile(name, "living") for name in left)


def test_a_lock_that_is_held_is_kept(tmp_path: Path) -> None:
    lock = PublishingLock(str(tmp_path / "out"), Place("data", "out.data"))
    lock.take()
    kept = (KeptFile("out.faro-lock", "living"),)
    assert clean(tmp_path, older_than=0) == CleanReport((), kept)

    def work() -> None:
        assert clean(tmp_path, older_than=0) == CleanReport((), kept)

    assert not killed(work)
    lock.give_back()
    assert names(tmp_path) == []


def test_a_file_is_locked_until_it_is_removed(tmp_path: Path, monkeypatch: Any) -> None:
    write_and_die(tmp_path, file_id=FILE_ID)
    unlink = os.unlink
    faults: list[Any] = []

    def meanwhile(path: str) -> None:
        def work() -> None:
            fault = fault_of(recover, tmp_path / "out")
            assert fault is not None
            assert fault.code == ErrorCode.IO

        if path.endswith(LEFT[0]):
            assert not killed(work)
            faults.append(fault_of(recover, tmp_path / "out"))
        unlink(path)

    monkeypatch.setattr(os, "unlink", meanwhile)
    assert clean(tmp_path, older_than=0).removed == tuple(LEFT)
    assert [fault.code for fault in faults] == [ErrorCode.IO]


def test_without_record_locks_age_alone_counts(tmp_path: Path, monkeypatch: Any) -> None:
    write_and_die(tmp_path, file_id=FILE_ID)

    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "none")

    monkeypatch.setattr(fcntl, "lockf", refuse)
    assert cleaned(tmp_path) == ([], dict.fromkeys(LEFT, "young"))
    assert cleaned(tmp_path, older_than=0) == (LEFT, {})


# Errors.


@pytest.mark.parametrize("older_than", [-1, float("nan"), float("inf"), "1", True, None])
def test_a_bad_age(tmp_path: Path, older_than: Any) -> None:
    fault = fault_of(clean, tmp_path, older_than=older_than)
    assert fault is not None
    assert fault.code == ErrorCode.INVALID_ARGUMENT


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("nowhere", "file"):
        fault = fault_of(clean, tmp_path / name)
        assert fault is not None
        assert (fault.code, fault.file, fault.role) == (ErrorCode.IO, str(tmp_path / name), None)


def test_a_file_that_cannot_be_removed_does_not_keep_the_others(tmp_path: Path, monkeypatch: Any) -> None:
    write_and_die(tmp_path, file_id=FILE_ID)
    unlink = os.unlink

    def refuse(path: str) -> None:
        if path.endswith(LEFT[0]):
            raise PermissionError(errno.EPERM, "refused")
        unlink(path)

    monkeypatch.setattr(os, "unlink", refuse)
    fault = fault_of(clean, tmp_path, older_than=0)
    assert fault is not None
    assert (fault.code, fault.role, fault.file) == (ErrorCode.IO, "data", str(tmp_path / LEFT[0]))
    assert names(tmp_path) == LEFT[:1]
