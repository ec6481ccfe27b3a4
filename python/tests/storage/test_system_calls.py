"""What the writer asks of the system and in which order, and that it fails when any of it is refused."""

from __future__ import annotations

import gc
import io
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import FILE_ID, Output, fault_of, output

from faro_format import ErrorCode, FaroError, Follower, Writer, WriterOptions, check, rebuild, repair


class Recorder:
    """Notes calls; refuses one of them, counted from 0."""

    def __init__(self, patch: pytest.MonkeyPatch, folder: Path, refused: int = -1) -> None:
        self.calls: list[str] = []
        self._folder = folder
        self._refused = refused
        writev, replace, link, unlink = os.writev, os.replace, os.link, os.unlink
        # The device itself is not asked, which would take a while: this is about whether it would be.
        patch.setattr(os, "fsync", self.passed_on("sync", self.opened, lambda _: None))
        patch.setattr(os, "writev", self.passed_on("write", self.opened, writev))
        patch.setattr(os, "replace", self.passed_on("rename to", lambda _, to: Path(to), replace))
        patch.setattr(os, "link", self.passed_on("link to", lambda _, to: Path(to), link))
        patch.setattr(os, "unlink", self.passed_on("unlink", Path, unlink))

    def opened(self, descriptor: int, *_: Any) -> Path:
        """Return the file that a descriptor is open for."""
        status = os.fstat(descriptor)
        return next(path for path in (self._folder, *self._folder.iterdir()) if os.path.samestat(path.stat(), status))

    def passed_on(self, call: str, path: Callable[..., Path], do: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any) -> Any:
            file = path(*arguments)
            name = "the folder" if file == self._folder else file.name.partition(".")[2].replace(".00010203", "")
            self.calls.append(f"{call} {name}")
            if len(self.calls) - 1 == self._refused:
                raise OSError(5, "refused")
            return do(*arguments)

        return noted


LINKS = ["link to data", "unlink data.tmp", "link to index", "unlink index.tmp"]


def write_two_regions(writer: Writer) -> None:
    writer.write(0, b"one")
    writer.flush()
    writer.write(1, b"two")
    writer.finish()


def calls_of(folder: Path, options: WriterOptions) -> list[str]:
    """Return the calls of a whole output; how many pieces something is written in does not matter."""
    with pytest.MonkeyPatch.context() as patch:
        recorder = Recorder(patch, folder)
        write_two_regions(Writer(str(output(folder, options).base), options))
    return [call for call, _ in itertools.groupby(recorder.calls)]


def test_blocks_are_synced_before_their_message_and_files_before_their_names(tmp_path: Path) -> None:
    durable: dict[str, Any] = {"durability": "commit", "file_id": FILE_ID}
    region = ["write data.tmp", "sync data.tmp", "write index.tmp", "sync index.tmp"]
    end = ["write index.tmp", "sync data.tmp", "sync index.tmp", *LINKS]
    headers = ["write data.tmp", "write index.tmp"]
    found = calls_of(tmp_path, WriterOptions(2, **durable))
    assert found == [*headers, *region, *region, *end, "sync the folder"]
    region = ["write faro.tmp", "sync faro.tmp"] * 2
    end = ["write faro.tmp", "sync faro.tmp", "link to faro", "unlink faro.tmp"]
    found = calls_of(tmp_path, WriterOptions(2, layout="single", **durable))
    assert found == [*region, *region, *end, "sync the folder"]
    # Followed files have their names already.
    found = calls_of(tmp_path, WriterOptions(2, follow=True, **durable))
    assert not any(call.startswith(("rename", "link", "unlink")) for call in found)
    assert found[-3:] == ["sync data", "sync index", "sync the folder"]


def test_without_durability_nothing_is_synced_and_data_gets_its_name_first(tmp_path: Path) -> None:
    found = calls_of(tmp_path, WriterOptions(2, file_id=FILE_ID))
    assert not any(call.startswith("sync") for call in found)
    assert found[-4:] == LINKS
    for path in tmp_path.iterdir():
        path.unlink()
    # In one step each, between which no other writer publishes (PUB-4).
    found = calls_of(tmp_path, WriterOptions(2, file_id=FILE_ID, overwrite=True))
    assert found[-3:] == ["rename to data", "rename to index", "unlink faro-lock"]
    found = calls_of(tmp_path, WriterOptions(2, file_id=FILE_ID, overwrite=True, layout="single"))
    assert found[-1] == "rename to faro"
    assert not any("lock" in call for call in found)


@pytest.mark.parametrize("layout", ["paired", "single"])
@pytest.mark.parametrize("durability", ["none", "commit"])
def test_every_refused_call_fails_the_writer_for_good_and_leaves_nothing(
    tmp_path: Path, layout: Any, durability: Any
) -> None:
    options = WriterOptions(2, layout=layout, durability=durability)
    for refused in itertools.count():
        made = output(tmp_path, options)
        writer = Writer(str(made.base), options)
        with pytest.MonkeyPatch.context() as patch:
            recorder = Recorder(patch, tmp_path, refused)
            first = fault_of(write_two_regions, writer)
        if first is None and refused < len(recorder.calls):
            # PUB-3: the output is there, and its temporary name a second one.
            assert recorder.calls[refused].startswith("unlink"), recorder.calls[refused]
            assert check(**made.files).regions == 2
            for path in tmp_path.iterdir():
                path.unlink()
            continue
        if first is None:
            assert len(recorder.calls) >= 4
            break
        assert first.code == ErrorCode.IO
        calls: list[Callable[[Writer], Any]] = [lambda w: w.write(0, b"x"), Writer.flush, Writer.finish, Writer.region]
        assert all(str(fault_of(call, writer)) == str(first) for call in calls)
        # Only when nothing but the folder's sync is missing have both files their names, and then they are whole.
        if all(path.exists() for path in made.files.values()):
            assert check(**made.files).regions == 2
        else:
            with pytest.raises(FaroError, match="io"):
                made.reader()
        if refused % 2 == 0:
            writer.abort()
            writer.abort()
        # The first error is the writer's, and its traceback leads back to the writer.
        del writer, first
        gc.collect()
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("layout", ["paired", "single"])
@pytest.mark.parametrize("refused", range(4))
def test_a_failed_writer_that_others_follow_looks_unfinished(tmp_path: Path, layout: Any, refused: int) -> None:
    options = WriterOptions(2, layout=layout, follow=True)
    made = output(tmp_path, options)
    writer = Writer(str(made.base), options)
    with pytest.MonkeyPatch.context() as patch:
        Recorder(patch, tmp_path, refused)
        with pytest.raises(FaroError, match="io"):
            write_two_regions(writer)
    opened = fault_of(made.reader)
    assert opened is not None
    assert opened.code == ErrorCode.UNFINISHED
    writer.abort()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("layout", ["paired", "single"])
@pytest.mark.parametrize("cut", ["granted", "refused"])
def test_a_finish_that_fails_behind_the_tail_takes_it_back(
    tmp_path: Path, layout: Any, cut: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A followed output, of which the last syncs are refused one after the other (WRT-4, WRT-6)."""
    options = WriterOptions(2, layout=layout, follow=True, durability="commit")
    calls = calls_of(tmp_path, options)
    for path in tmp_path.iterdir():
        path.unlink()
    behind = len(calls) - max(i for i, call in enumerate(calls) if call.startswith("write")) - 1
    assert behind == (3 if layout == "paired" else 2)
    if cut == "refused":
        monkeypatch.setattr(os, "ftruncate", refuse)
    for back in range(1, behind + 1):
        made = output(tmp_path, options)
        writer = Writer(str(made.base), options)
        with pytest.MonkeyPatch.context() as patch:
            recorder = Recorder(patch, tmp_path)
            write_two_regions(writer)
            count = len(recorder.calls)
        for path in tmp_path.iterdir():
            path.unlink()
        writer = Writer(str(made.base), options)
        with pytest.MonkeyPatch.context() as patch:
            Recorder(patch, tmp_path, count - back)
            fault = fault_of(write_two_regions, writer)
        assert fault is not None
        assert fault.code == ErrorCode.IO
        assert str(fault_of(writer.flush)) == str(fault)
        assert_unfinished(made, gone=cut == "refused")
        # Dropped, and not aborted: followers keep what they have.
        del writer, fault
        assert_unfinished(made, gone=cut == "refused")
        for path in tmp_path.iterdir():
            path.unlink()


def assert_unfinished(made: Output, *, gone: bool) -> None:
    opened = fault_of(made.reader)
    assert opened is not None
    assert opened.code == (ErrorCode.IO if gone else ErrorCode.UNFINISHED)
    if not gone:
        with Follower(**made.files) as follower:
            assert not follower.poll()
            assert follower.region_count == 2


def refuse(*_: Any) -> Any:
    raise OSError(5, "refused")


def unfinished(folder: Path, layout: Any) -> Output:
    """An output of two regions whose writer died, and a torn end."""
    options = WriterOptions(2, layout=layout, follow=True)
    made = output(folder, options)
    writer = Writer(str(made.base), options)
    for _ in range(2):
        writer.write(0, b"one")
        writer.flush()
    for path in made.files.values():
        with path.open("ab") as file:
            file.write(b"torn")
    return made


class Mending:
    """Notes what a repair asks of the system, and refuses one of it, counted from 0."""

    def __init__(self, patch: pytest.MonkeyPatch, refused: int = -1) -> None:
        self.calls: list[str] = []
        self._refused = refused
        fsync, replace = os.fsync, os.replace
        patch.setattr(os, "fsync", lambda fd: self.note("sync", self.name(fd), lambda: fsync(fd)))
        patch.setattr(os, "replace", lambda a, b: self.note("rename", Path(b).suffix, lambda: replace(a, b)))

    def name(self, descriptor: int) -> str:
        return Path(os.readlink(f"/proc/self/fd/{descriptor}")).name.partition(".")[2] or "the folder"

    def note(self, call: str, name: str, do: Callable[[], None]) -> None:
        self.calls.append(f"{call} {name}")
        if len(self.calls) - 1 == self._refused:
            refuse()
        do()


@pytest.mark.parametrize("layout", ["paired", "single"])
def test_repair_syncs_what_it_did_data_first(tmp_path: Path, layout: Any) -> None:
    made = unfinished(tmp_path, layout)
    whole = made.contents()
    expected = ["sync data", "sync index"] if layout == "paired" else ["sync faro"]
    for refused in range(len(expected)):
        made.put(whole)
        with pytest.MonkeyPatch.context() as patch:
            Mending(patch, refused)
            fault = fault_of(repair, **made.files)
        assert fault is not None
        assert (fault.code, fault.role) == (ErrorCode.IO, list(made.files)[refused])
        # It can be run again.
        with pytest.MonkeyPatch.context() as patch:
            mending = Mending(patch)
            repair(**made.files)
        assert mending.calls in (expected, [])
        assert check(**made.files).regions == 2
    made.put(whole)
    with pytest.MonkeyPatch.context() as patch:
        mending = Mending(patch)
        repair(**made.files, dry_run=True)
        assert mending.calls == []
        assert made.contents() == whole
        repair(**made.files)
        assert mending.calls == expected


def test_rebuild_syncs_what_it_did_and_renames_last(tmp_path: Path) -> None:
    made = unfinished(tmp_path, "paired")
    whole = made.contents()
    expected = ["sync index.rebuild.tmp", "sync data", "rename .index", "sync the folder"]
    for refused in range(len(expected) + 1):
        made.put(whole)
        # What a rebuild left that was killed.
        made.files["index"].with_suffix(".index.rebuild.tmp").write_bytes(b"older")
        with pytest.MonkeyPatch.context() as patch:
            mending = Mending(patch, refused)
            fault = fault_of(rebuild, **made.files)
        assert len(list(tmp_path.iterdir())) <= 2
        if fault is None:
            assert (refused, mending.calls) == (len(expected), expected)
        else:
            assert fault.code == ErrorCode.IO
            assert mending.calls == expected[: refused + 1]
            rebuild(**made.files)
        assert check(**made.files).blocks == 2


def test_a_repair_goes_on_after_a_short_write(tmp_path: Path) -> None:
    made = unfinished(tmp_path, "paired")

    class Short(io.FileIO):
        def write(self, data: Any) -> int:
            return super().write(memoryview(data)[:7])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.open", lambda path, mode, buffering: Short(path, mode.replace("b", "")))
        repair(**made.files)
    assert check(**made.files).regions == 2


def test_a_repair_that_a_file_takes_nothing_of(tmp_path: Path) -> None:
    made = unfinished(tmp_path, "paired")

    class Full(io.FileIO):
        def write(self, data: Any) -> int:
            return 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.open", lambda path, mode, buffering: Full(path, mode.replace("b", "")))
        fault = fault_of(repair, **made.files)
    assert fault is not None
    assert fault.code == ErrorCode.IO
    repair(**made.files)
    assert check(**made.files).regions == 2
