"""The packs of the corpus."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import pack


def test_each_target_has_a_pack_and_each_pack_a_target() -> None:
    assert sorted(pack.targets(pack.CORPUS)) == sorted(pack.names()) != []
    assert {path.suffix for path in pack.CORPUS.iterdir()} == {pack.ENDING}


@pytest.mark.parametrize("path", pack.targets(pack.CORPUS).values(), ids=lambda path: path.stem)
def test_packs_are_canonical(path: Path) -> None:
    content = path.read_bytes()
    inputs = pack.decode(content)
    assert pack.encode(inputs) == content
    assert len({pack.name_of(data) for data in inputs}) == len(inputs)


def test_the_same_inputs_make_the_same_pack() -> None:
    assert pack.encode([]) == b""
    assert pack.encode([b"", b"r", b""]) == pack.encode([b"r", b""]) == b"\x01\0\0\0r" + bytes(4)
    assert pack.decode(pack.encode([b"r", b""])) == [b"r", b""]


@pytest.mark.parametrize("content", [b"\x02\0\0\0r", b"\x02\0\0", b"\xff\xff\xff\xffr"])
def test_a_damaged_pack_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="ends inside an input"):
        pack.decode(content)


def command(*arguments: object) -> str:
    line = [sys.executable, str(pack.FUZZ / "pack.py"), *map(str, arguments)]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def test_the_command_unpacks_and_packs(tmp_path: Path) -> None:
    folder, corpus = tmp_path / "unpacked", tmp_path / "corpus"
    corpus.mkdir()
    (folder / "codec_lz4").mkdir(parents=True)
    (folder / "codec_lz4" / "old").write_bytes(b"removed")
    command("unpack", folder, "codec_lz4", "none_yet")
    assert sorted(path.name for path in folder.iterdir()) == ["codec_lz4", "none_yet"]
    (folder / "codec_lz4" / "another").write_bytes(b"a new input")
    said = command("pack", folder, "codec_lz4", "--corpus", corpus)
    before = pack.decode(pack.targets(pack.CORPUS)["codec_lz4"].read_bytes())
    after = pack.decode((corpus / "codec_lz4.inputs").read_bytes())
    assert set(after) == {*before, b"a new input"}
    assert said.startswith(f"codec_lz4: {len(before) + 1} inputs, ")


def test_verdicts_need_every_pack(tmp_path: Path) -> None:
    for name in pack.names()[2:]:
        (tmp_path / (name + pack.ENDING)).touch()
    line = [sys.executable, str(pack.FUZZ / "verdicts"), "--corpus", str(tmp_path)]
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"no pack in {tmp_path}: {', '.join(sorted(pack.names()[:2]))}\n"
