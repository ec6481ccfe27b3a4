from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path

import faro_format as faro
import faro_format.merge
import pytest
from faro_format import FaroError, Writer, WriterOptions

from faro_targets import program
from faro_targets.__main__ import main
from faro_targets.broken import BrokenError
from faro_targets.data_model import expected
from faro_targets.folder import Folder
from faro_targets.inputs import FilesInput, judged, limits_of
from faro_targets.seal import seal, seal_stream
from faro_targets.targets import TARGETS, run, run_twice


@pytest.fixture
def folder() -> Iterator[Folder]:
    with Folder() as made:
        yield made


@pytest.fixture(params=["paired", "single"])
def written(request: pytest.FixtureRequest, tmp_path: Path) -> list[bytes]:
    """The files of an output; in a pair, the data file first."""
    options = WriterOptions(partition_count=3, layout=request.param, file_id=b"F" * 16, codec="lz4", block_size=64)
    with Writer(str(tmp_path / "out"), options) as writer:
        for number in range(12):
            writer.write(number % 3, b"record " * number)
        writer.broadcast(b"to all")
        writer.flush()
        writer.write(1, b"the last")
        writer.finish()
    return [path.read_bytes() for path in sorted(tmp_path.iterdir())]


def as_input(files: list[bytes], flags: int = 0, mode: int = 0) -> bytes:
    first = len(files[0])
    head = struct.pack("<BBI", flags | (len(files) - 1), mode, first)[:5]
    growth = struct.pack("<4H", first // 2, len(files[-1]) // 2, first, len(files[-1]) - 20)
    return head + growth + b"".join(files)


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_every_cut_of_something(target: str, folder: Folder) -> None:
    """No input is too short to be one."""
    raw = bytes(range(7, 40))
    for size in range(len(raw)):
        run_twice(target, raw[:size], folder)


def test_a_sound_output(written: list[bytes], folder: Folder) -> None:
    raw = as_input(written)
    assert run("open", raw, folder).verdict().startswith("ok ")
    text = str(run("read_all", raw, folder))
    assert "check decode 2 " in text
    assert "partition 1 " in text
    text = str(run("follow", raw, folder))
    assert "poll 5 2 1\n" in text
    text = str(run("repair", raw, folder))
    assert text.startswith("dry nothing 2 0 0 0\nreal nothing 2 0 0 0\n")


def test_a_torn_output_is_mended(written: list[bytes], folder: Folder) -> None:
    torn = [*written[:-1], written[-1][:-24]]
    assert "last-commit 2" in str(run("repair", as_input(torn), folder))
    if len(written) == 2:
        assert "rebuilt 2" in str(run("repair", as_input(written, mode=1), folder))
    else:
        assert "!invalid-argument - -" in str(run("repair", as_input(written, mode=1), folder))


def test_seal(written: list[bytes]) -> None:
    for file in written:
        assert seal(file) == file
        broken = bytearray(file)
        for at in (60, 64 + 20, len(file) - 10 if file[8] != 1 else 60):
            broken[at] ^= 1
        assert seal(bytes(broken)) == file
        assert FilesInput.of(as_input([bytes(broken)], flags=8)).first == file
        assert FilesInput.of(as_input([bytes(broken)])).first == bytes(broken)
    assert seal(b"short") == b"short"


def test_the_model_of_rebuild(written: list[bytes]) -> None:
    file = written[0]
    if file[8] != 1:
        assert expected(file, limits_of(0)) == "mismatched-pair at 8"
        return
    assert expected(file, limits_of(0)).endswith(f" kept {len(file)} cut 0 orphaned 1")
    assert expected(file[:-1], limits_of(0)).startswith("regions 1 blocks 10 ")
    assert expected(file[:-1], limits_of(0)) != expected(file, limits_of(0))
    assert expected(b"\x89FAR", limits_of(0)) == "truncated at 4"
    assert expected(b"\x89FAX", limits_of(0)) == "not-faro at 0"


def test_bytes_mean_calls() -> None:
    raw = b"\x03\x04\x12\x00\x10\x01\x02ab\x08\xa9\x01\xff\x0a\x02\xfe\x00\x07\x01c"
    found = program.decode(raw)
    assert (found.options.partition_count, found.options.first_partition, found.options.rotation) == (5, 2, 1)
    assert found.calls[0] == program.Put(3, 0, b"abab")
    assert found.calls[1:3] == ["flush", program.Property("k10", "ff")]
    handed = [program.Item(0, 0, b"", 0, "all"), program.Item(9, 0, b"\x01\0\0\0c", 1)]
    assert found.calls[3:] == [program.Handed(handed), "finish"]


@pytest.fixture
def pushed(tmp_path: Path) -> list[bytes]:
    """Two fragments of an output: of partitions 0 and 1, and of partition 2."""
    options = WriterOptions(partition_count=3, file_id=b"F" * 16, block_size=16, producer=7)
    with Writer(str(tmp_path / "pushed"), options) as writer:
        for number in range(12):
            writer.write(number % 3, b"record " * number)
        writer.finish()
    with faro.Reader(data=str(tmp_path / "pushed.data"), index=str(tmp_path / "pushed.index")) as reader:
        made = []
        for low, high in ((0, 2), (2, 3)):
            fragment = io.BytesIO()
            faro.merge.fragment(reader, low, high, fragment)
            made.append(fragment.getvalue())
    return made


def as_program(pushed: list[bytes], steps: bytes, flags: int = 0x18) -> bytes:
    fragments = b"".join(struct.pack("<H", len(fragment)) + fragment for fragment in pushed)
    return bytes([flags, 2, 0, 0, len(pushed)]) + fragments + steps


def test_fragments_are_read(pushed: list[bytes], folder: Folder) -> None:
    text = str(run("fragments", b"\x08" + b"".join(pushed), folder))
    assert text.startswith("fragment 7 0 0 2\nblocks 8 ")
    assert "\nfragment 7 0 2 1\nblocks 4 " in text
    cut = str(run("fragments", b"\0" + pushed[0] + pushed[1][:-1], folder))
    assert cut.endswith(f"!truncated fragment {len(pushed[1]) - 1}\n")


def test_seal_of_a_stream(pushed: list[bytes]) -> None:
    stream = b"".join(pushed)
    spoilt = bytearray(stream)
    for at in (60, 84, len(pushed[0]) + 60, len(pushed[0]) + 84):
        spoilt[at] ^= 1
    assert seal_stream(bytes(spoilt)) == stream
    assert seal_stream(b"short") == b"short"


def test_fragments_are_merged(pushed: list[bytes], folder: Folder) -> None:
    text = str(run_twice("merge", as_program(pushed, b"\x00\x01\x00\x00\x00\x01\x05\x00"), folder))
    assert [line.split()[2] for line in text.splitlines() if line.startswith("step")] == [
        *("begun", "taken", "merged", "begun", "taken", "merged", "begun", "taken", "duplicate", "stale", "finalized")
    ]
    assert "have 0 7 0 4 1\nhave 1 7 0 4 1\nhave 2 7 0 4 1\n" in text
    # Regions that were ended are still there after the merge was closed.
    text = str(run_twice("merge", as_program(pushed, b"\x00\x01\x0d\x00\x01\x0c"), folder))
    assert "step 6 duplicate\nstep 7 done\nfile data " in text


def test_a_merge_unlike_its_model_is_found(
    pushed: list[bytes], folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = as_program(pushed, b"\x00\x01\x00\x01")
    monkeypatch.setattr("faro_targets.merge_model.MergeModel._appended", lambda *_: faro.merge.Outcome.MERGED)
    with pytest.raises(BrokenError, match="duplicate"):
        run("merge", program, folder)


@pytest.mark.parametrize(
    ("target", "name", "wrong"),
    [
        ("open", "Reader", lambda *_, **__: (_ for _ in ()).throw(ValueError("not the library's own"))),
        ("repair", "repair", lambda **_: faro.RepairReport("nothing", 7, 0, 0, 0, 0)),
    ],
)
def test_a_broken_library_is_found(
    target: str,
    name: str,
    wrong: Callable[..., object],
    written: list[bytes],
    folder: Folder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torn = [*written[:-1], written[-1][:-24]]
    module = "faro_targets.files" if target == "open" else "faro_format"
    monkeypatch.setattr(f"{module}.{name}", wrong)
    with pytest.raises((BrokenError, ValueError)):
        run(target, as_input(torn), folder)


def test_a_model_that_is_not_met_is_found(
    written: list[bytes], folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faro_targets.header_block.expected", lambda *_: "blocks 99 kept 0 cut 0")
    with pytest.raises(BrokenError, match="the model"):
        run("header_block", b"\0" + written[0], folder)


def test_a_payload_may_end_as_a_tail_does(folder: Folder) -> None:
    text = str(run("codec_zstd", b"z\x03\0" + bytes(16) + b"\x76\xb9\xbe\xad\xb0\xf2\xf5\xe5", folder))
    assert text == "!malformed-block block 24\n"


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "message.inputs").write_bytes(bytes(4) + b"\x01\0\0\0r")
    (tmp_path / "empty").write_bytes(b"")
    out = io.StringIO()
    with redirect_stdout(out):
        assert main(["verdicts", str(tmp_path)]) == 0
        assert main(["transcript", "message", str(tmp_path / "empty")]) == 0
    lines = out.getvalue().splitlines()
    assert [line.rsplit(" ", 1)[0] for line in lines[:2]] == [
        "message e3b0c44298fc1c14 malformed-message@-:-",
        "message 454349e422f05297 malformed-message@-:-",
    ]
    assert out.getvalue().endswith("\nrefused\n")
    assert main(["what"]) == 2
    (tmp_path / "message.inputs").write_bytes(b"\x02\0\0\0r")
    with pytest.raises(ValueError, match="ends inside an input"):
        main(["verdicts", str(tmp_path)])


def test_an_error_of_the_system_is_broken() -> None:
    with pytest.raises(BrokenError):
        judged(FaroError(faro.ErrorCode.IO, "a disk"))
