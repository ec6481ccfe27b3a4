"""Recovery of what a dead writer left (PUB-7, PUB-8)."""

from __future__ import annotations

import itertools
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from killed import contents, finish_and_die, killed, living, names, write, write_and_die
from support import FILE_ID, arrow_message, fault_of

import faro_format as faro
from faro_format import (
    ErrorCode,
    FaroError,
    Limits,
    Reader,
    RecoverReport,
    Writer,
    WriterOptions,
    check,
    clean,
    recover,
)
from faro_format._storage import publishing_lock as publishing
from faro_format._storage.names import paths_to_read

X = FILE_ID[:4].hex()
OTHER = bytes(range(16, 32))
Y = OTHER[:4].hex()
PAIR = ["out.data", "out.index"]
LAYOUTS = pytest.mark.parametrize("layout", ["paired", "single"])


def read(folder: Path) -> bytes:
    """What partition 0 reads of the output, which is whole."""
    paths = paths_to_read(folder / "out")
    files: dict[str, Any] = {"data": paths.data, "index": paths.index, "single": paths.single}
    check(**files)
    with Reader(**files) as reader:
        return b"".join(bytes(block.payload) for block in reader.partition(0))


def recovered(folder: Path, /, **more: Any) -> tuple[str, str | None, int]:
    """Recover, after a dry run that reports the same and changes nothing."""
    before = contents(folder)
    planned = recover(folder / "out", dry_run=True, **more)
    assert contents(folder) == before
    report = recover(folder / "out", **more)
    assert report == planned
    return report.action, report.file_id, report.regions


def refused(folder: Path, code: ErrorCode, /, **more: Any) -> FaroError:
    """A recovery that is refused, and leaves every file as it was."""
    before = contents(folder)
    found = FaroError(code, "")
    for dry_run in (True, False):
        fault = fault_of(recover, folder / "out", dry_run=dry_run, **more)
        assert fault is not None
        assert fault.code == code
        assert contents(folder) == before
        found = fault
    return found


# Every point at which a writer may be killed.

PUB_7 = re.compile(r"out\.((data|index|faro)(\.[0-9a-f]{8}\.tmp)?|faro-lock)")
WAYS: list[dict[str, Any]] = [
    {},
    {"layout": "single"},
    {"overwrite": True},
    {"follow": True},
    {"follow": True, "overwrite": True},
    {"follow": True, "layout": "single"},
    {"durability": "commit"},
]


# What recovery finds, by whether the writer is followed, and whether there is an older output.
ACTIONS = {
    (False, False): {"nothing-saved", "last-commit", "published"},
    (True, False): {"nothing-saved", "last-commit"},
    (False, True): {"nothing", "published"},
    (True, True): {"nothing", "nothing-saved", "last-commit"},
}


@pytest.mark.parametrize(
    ("options", "older"), [(way, False) for way in WAYS] + [(way, True) for way in WAYS if "overwrite" in way]
)
def test_a_writer_killed_before_any_of_its_system_calls(tmp_path: Path, options: dict[str, Any], older: bool) -> None:
    actions: set[str] = set()
    for before in itertools.count():
        folder = tmp_path / str(before)
        folder.mkdir()
        if older:
            with Writer(folder / "out", WriterOptions(2, framing="opaque", file_id=OTHER)) as writer:
                writer.write(0, b"older")
        if not killed(lambda here=folder: write(here, file_id=FILE_ID, **options).finish(), before):  # type: ignore[misc]
            break
        left = names(folder)
        assert all(PUB_7.fullmatch(name) for name in left)
        found: list[str] = []
        fault = fault_of(lambda here=folder, to=found: to.append(recovered(here)[0]))
        if fault is not None:
            # Nothing there, or a lock alone.
            assert fault.code == ErrorCode.IO
            assert left in ([], ["out.faro-lock"])
        elif found != ["nothing-saved"]:
            assert read(folder) in (b"older", b"", b"one", b"onetwo", b"onetwoend")
        actions.update(found)
        # What is left over is swept; final names stay.
        finals = [name for name in names(folder) if not name.endswith(("tmp", "lock"))]
        assert clean(folder, older_than=0).kept == ()
        assert names(folder) == finals
    assert before > 8
    assert read(folder) == b"onetwoend"
    assert actions >= ACTIONS[bool(options.get("follow")), older]


def test_a_program_that_is_killed_while_it_writes(tmp_path: Path) -> None:
    program = """
import sys, faro_format as faro
writer = faro.Writer(sys.argv[1], faro.WriterOptions(2, framing="opaque"))
for number in range(100):
    writer.write(0, b"record")
    writer.flush()
print("written", flush=True)
sys.stdin.read()
"""
    arguments = [sys.executable, "-c", program, str(tmp_path / "out")]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        fault = refused(tmp_path, ErrorCode.IO)
        assert "living" in fault.found
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert recovered(tmp_path)[::2] == ("last-commit", 100)
    assert names(tmp_path) == PAIR
    with faro.open(tmp_path / "out") as reader:
        assert reader.properties == {"faro.repair": "last-commit"}


# The steps.


@LAYOUTS
def test_an_output_that_opens_needs_nothing(tmp_path: Path, layout: Any) -> None:
    write(tmp_path, layout=layout).finish()
    # Also when there is more.
    write_and_die(tmp_path, layout=layout, overwrite=True)
    assert recovered(tmp_path) == ("nothing", None, 3)
    assert len(names(tmp_path)) == (4 if layout == "paired" else 2)


def test_nothing_there(tmp_path: Path) -> None:
    faults = [refused(tmp_path, ErrorCode.IO)]
    (tmp_path / "out.faro-lock").touch()
    faults.append(refused(tmp_path, ErrorCode.IO))
    write_and_die(tmp_path, file_id=FILE_ID)
    faults.append(refused(tmp_path, ErrorCode.IO, file_id=Y))
    for name in (tmp_path / "other", tmp_path / "nowhere" / "out"):
        faults += [fault for ask in (recover, Reader) if (fault := fault_of(ask, name)) is not None]
    assert len(faults) == 7
    # As a reader says it.
    assert all(isinstance(fault, FileNotFoundError) for fault in faults)


@LAYOUTS
@pytest.mark.parametrize("follow", [False, True])
def test_to_the_last_commit(tmp_path: Path, layout: Any, follow: bool) -> None:
    write_and_die(tmp_path, layout=layout, follow=follow, file_id=FILE_ID)
    assert recovered(tmp_path) == ("last-commit", X, 2)
    assert names(tmp_path) == (PAIR if layout == "paired" else ["out.faro"])
    assert read(tmp_path) == b"onetwo"
    assert recovered(tmp_path) == ("nothing", None, 2)


@pytest.mark.parametrize("overwrite", [False, True])
def test_between_the_two_files(tmp_path: Path, overwrite: bool) -> None:
    if overwrite:
        write(tmp_path, file_id=OTHER).finish()
    finish_and_die(tmp_path, ".index", file_id=FILE_ID, overwrite=overwrite)
    left = ["out.data", f"out.index.{X}.tmp"]
    assert set(names(tmp_path)) == {*left, *(["out.index", "out.faro-lock"] if overwrite else [])}
    # The data file has its final name, so the older index may be replaced.
    assert recovered(tmp_path) == ("published", X, 3)
    assert read(tmp_path) == b"onetwoend"
    assert names(tmp_path) == PAIR


@LAYOUTS
def test_before_the_first_name(tmp_path: Path, layout: Any) -> None:
    finish_and_die(tmp_path, ".data" if layout == "paired" else ".faro", layout=layout, file_id=FILE_ID)
    assert recovered(tmp_path) == ("published", X, 3)
    assert read(tmp_path) == b"onetwoend"


def test_a_second_name_is_removed(tmp_path: Path) -> None:
    """A writer that died between the link of its data file and the removal of the temporary name."""
    finish_and_die(tmp_path, ".index", file_id=FILE_ID)
    (tmp_path / f"out.data.{X}.tmp").hardlink_to(tmp_path / "out.data")
    assert recovered(tmp_path) == ("published", X, 3)
    assert names(tmp_path) == PAIR


@pytest.mark.parametrize("index", ["", "cut", "damaged"])
def test_an_index_without_a_header_is_rebuilt(tmp_path: Path, index: str) -> None:
    write_and_die(tmp_path, file_id=FILE_ID)
    path = tmp_path / f"out.index.{X}.tmp"
    if index == "cut":
        path.write_bytes(path.read_bytes()[:63])
    elif index == "damaged":
        path.write_bytes(path.read_bytes().replace(FILE_ID, OTHER))
    else:
        path.unlink()
    assert recovered(tmp_path) == ("rebuilt", X, 1)
    assert read(tmp_path) == b"onetwo"
    assert names(tmp_path) == PAIR


def test_an_index_that_was_lost_beside_a_final_data_file(tmp_path: Path) -> None:
    finish_and_die(tmp_path, ".index", file_id=FILE_ID)
    (tmp_path / f"out.index.{X}.tmp").write_bytes(b"")
    assert recovered(tmp_path) == ("rebuilt", X, 1)
    assert read(tmp_path) == b"onetwoend"
    # Without an index of any name, and with one of which nothing is left.
    for lost in (None, b""):
        (tmp_path / "out.index").unlink()
        if lost is not None:
            (tmp_path / "out.index").write_bytes(lost)
        assert recovered(tmp_path) == ("rebuilt", X, 1)
        assert names(tmp_path) == PAIR


def test_a_rebuild_that_is_killed_can_be_made_again(tmp_path: Path) -> None:
    for before in itertools.count():
        folder = tmp_path / str(before)
        folder.mkdir()
        write_and_die(folder, file_id=FILE_ID)
        (folder / f"out.index.{X}.tmp").write_bytes(b"")

        def work(name: Path = folder / "out") -> None:
            recover(name)

        ended = not killed(work, before)
        if not ended:
            assert recovered(folder)[0] in ("rebuilt", "published", "nothing", "last-commit")
        assert read(folder) == b"onetwo"
        assert clean(folder, older_than=0).kept == ()
        assert names(folder) == PAIR
        if ended:
            break
    assert before > 5


def test_framing_arrow_is_not_rebuilt_without_its_schema(tmp_path: Path) -> None:
    def work() -> None:
        writer = Writer(tmp_path / "out", WriterOptions(2, framing="arrow", schema=arrow_message(b""), file_id=FILE_ID))
        writer.write(0, arrow_message(b"body"))
        writer.flush()
        import killed as killer

        killer.die()

    assert killed(work)
    (tmp_path / f"out.index.{X}.tmp").write_bytes(b"")
    refused(tmp_path, ErrorCode.INVALID_ARGUMENT)


@LAYOUTS
@pytest.mark.parametrize("size", [0, 63])
def test_nothing_is_saved_without_a_header(tmp_path: Path, layout: Any, size: int) -> None:
    write_and_die(tmp_path, layout=layout, file_id=FILE_ID)
    path = tmp_path / (f"out.data.{X}.tmp" if layout == "paired" else f"out.faro.{X}.tmp")
    path.write_bytes(path.read_bytes()[:size])
    before = contents(tmp_path)
    assert recovered(tmp_path) == ("nothing-saved", None, 0)
    assert contents(tmp_path) == before
    # A group of which something can be saved counts alone.
    write_and_die(tmp_path, layout=layout, file_id=OTHER)
    assert recovered(tmp_path) == ("last-commit", Y, 2)


def test_an_empty_file_of_a_followed_writer(tmp_path: Path) -> None:
    (tmp_path / "out.data").touch()
    assert recovered(tmp_path) == ("nothing-saved", None, 0)
    refused(tmp_path, ErrorCode.IO, file_id=X)


def test_several_count(tmp_path: Path) -> None:
    write_and_die(tmp_path, file_id=FILE_ID)
    write_and_die(tmp_path, file_id=OTHER)
    fault = refused(tmp_path, ErrorCode.INVALID_ARGUMENT)
    assert X in str(fault)
    assert Y in str(fault)
    assert recovered(tmp_path, file_id=Y) == ("last-commit", Y, 2)
    assert names(tmp_path) == sorted([*PAIR, f"out.data.{X}.tmp", f"out.index.{X}.tmp"])
    assert recovered(tmp_path, file_id=X) == ("nothing", None, 2)


def test_layouts(tmp_path: Path) -> None:
    write_and_die(tmp_path, file_id=FILE_ID)
    write_and_die(tmp_path, file_id=OTHER, layout="single")
    refused(tmp_path, ErrorCode.INVALID_ARGUMENT)
    # The ending of NAME says which.
    assert recover(tmp_path / "out.faro").file_id == Y
    assert recover(tmp_path / "out.index").file_id == X
    assert names(tmp_path) == ["out.data", "out.faro", "out.index"]


@pytest.mark.parametrize("bad", ["0001020", "0001020g", "0001020A", 7])
def test_a_bad_file_id(tmp_path: Path, bad: Any) -> None:
    refused(tmp_path, ErrorCode.INVALID_ARGUMENT, file_id=bad)


@LAYOUTS
def test_another_output_is_not_replaced_unless_asked(tmp_path: Path, layout: Any) -> None:
    write_and_die(tmp_path, layout=layout, file_id=FILE_ID)
    final = tmp_path / ("out.index" if layout == "paired" else "out.faro")
    final.write_bytes(b"of another program")
    refused(tmp_path, ErrorCode.IO)
    assert recovered(tmp_path, overwrite=True) == ("last-commit", X, 2)
    assert read(tmp_path) == b"onetwo"


def test_a_name_that_is_taken_meanwhile(tmp_path: Path, monkeypatch: Any) -> None:
    """The data file is taken back, and nothing is lost."""
    import os

    finish_and_die(tmp_path, ".data", file_id=FILE_ID)
    before = contents(tmp_path)
    link = os.link

    def occupy(old: str, new: str) -> None:
        if new.endswith(".index"):
            Path(new).write_bytes(b"another's")
        link(old, new)

    monkeypatch.setattr(os, "link", occupy)
    fault = fault_of(recover, tmp_path / "out")
    assert fault is not None
    assert (fault.code, fault.role) == (ErrorCode.IO, "index")
    assert contents(tmp_path) == before | {"out.index": b"another's"}


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("follow", [False, True])
def test_living_writers_are_left_alone(tmp_path: Path, named: bool, follow: bool) -> None:
    more = {"file_id": X} if named and not follow else {}
    # In this process, whose locks opening the files would lose.
    writer = write(tmp_path, file_id=FILE_ID, follow=follow)
    assert "living" in refused(tmp_path, ErrorCode.IO, **more).found
    write_and_die(tmp_path, file_id=OTHER, overwrite=True)
    if named:
        refused(tmp_path, ErrorCode.IO, **({"file_id": X} if not follow else {"file_id": "0" * 8}))
    writer.finish()
    assert read(tmp_path) == b"onetwoend"


@pytest.mark.parametrize("follow", [False, True])
def test_living_writers_of_other_processes_are_left_alone(tmp_path: Path, follow: bool) -> None:
    with living(tmp_path, file_id=FILE_ID, follow=follow):
        assert "living" in refused(tmp_path, ErrorCode.IO).found
        assert "living" in refused(tmp_path, ErrorCode.IO, file_id=X).found
        if not follow:
            # One that is dead is taken without asking.
            write_and_die(tmp_path, file_id=OTHER)
            assert recovered(tmp_path) == ("last-commit", Y, 2)
            assert read(tmp_path) == b"onetwo"
    assert names(tmp_path) == ([] if follow else PAIR)


def test_a_fork_knows_that_its_parent_lives(tmp_path: Path) -> None:
    writer = write(tmp_path, file_id=FILE_ID)

    def work() -> None:
        fault = fault_of(recover, tmp_path / "out")
        assert fault is not None
        assert "living" in fault.found
        assert [file.reason for file in clean(tmp_path, older_than=0).kept] == ["living"] * 2

    assert not killed(work)
    writer.finish()
    assert read(tmp_path) == b"onetwoend"


def test_looking_at_a_living_writer_does_not_lose_its_lock(tmp_path: Path) -> None:
    """To close a file of one's own process gives up its record lock."""
    writer = write(tmp_path, file_id=FILE_ID, follow=True)
    for dry_run in (True, False):
        # Not by refused(), which reads the files itself.
        assert fault_of(recover, tmp_path / "out", dry_run=dry_run) is not None
    clean(tmp_path, older_than=0)

    def work() -> None:
        fault = fault_of(recover, tmp_path / "out")
        assert fault is not None
        assert "living" in fault.found

    assert not killed(work)
    writer.abort()


def test_two_that_recover_at_once(tmp_path: Path, monkeypatch: Any) -> None:
    """The first has the files locked until they have their names."""
    write_and_die(tmp_path, file_id=FILE_ID)
    locked = publishing.locked
    seen: list[FaroError | None] = []

    def meanwhile(*arguments: Any) -> None:
        def work() -> None:
            fault = fault_of(recover, tmp_path / "out")
            assert fault is not None
            assert fault.code == ErrorCode.IO
            assert "living" in fault.found

        assert not killed(work)
        seen.append(fault_of(recover, tmp_path / "out"))
        locked(*arguments)

    monkeypatch.setattr("faro_format._repair.recover.locked", meanwhile)
    assert recover(tmp_path / "out").action == "last-commit"
    assert [fault.code for fault in seen if fault is not None] == [ErrorCode.IO]
    assert read(tmp_path) == b"onetwo"


def test_a_fault_of_the_repair_changes_nothing(tmp_path: Path) -> None:
    write_and_die(tmp_path, file_id=FILE_ID)
    path = tmp_path / f"out.index.{X}.tmp"
    raw = bytearray(path.read_bytes())
    raw[64 + 20] ^= 1
    path.write_bytes(raw)
    refused(tmp_path, ErrorCode.CHECKSUM)


def test_limits(tmp_path: Path) -> None:
    write_and_die(tmp_path, file_id=FILE_ID)
    refused(tmp_path, ErrorCode.LIMIT_EXCEEDED, limits=Limits(max_regions=1))


def test_the_report(tmp_path: Path) -> None:
    write_and_die(tmp_path, file_id=FILE_ID)
    report = recover(tmp_path / "out")
    assert isinstance(report, RecoverReport)
    assert report.repair is not None
    assert (report.repair.action, report.repair.data_cut) == ("last-commit", 0)
