"""The inputs of the coverage-guided targets as files and scripts."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from faro_conformance.protocol import SuiteError
from generate.output import build

import pack
from differential.blocks import take_apart
from differential.compose import random_output
from differential.corpus import entries, in_turn, probe_of, sealed
from differential.programs import script_of
from differential.push_programs import fragments_of, merging_of, sealed_stream

WORK = Path("work")
CASES = Path(__file__).parents[2] / "conformance" / "cases"
SINGLE, PAIR, SEAL = 0, 1, 8


def entry(
    flags: int, first: bytes, second: bytes = b"", mode: int = 0, growth: tuple[int, ...] = (0, 0, 0, 0)
) -> bytes:
    head = bytes([flags, mode]) + len(first).to_bytes(3, "little") + struct.pack("<4H", *growth)
    return head + first + second


def test_files_of_an_input() -> None:
    probe = probe_of("open", entry(PAIR, b"data", b"index"), WORK)
    assert probe is not None
    assert probe.files == {"data": b"data", "index": b"index"}
    probe = probe_of("read_all", entry(SINGLE, b"all of it"), WORK)
    assert probe is not None
    assert probe.files == {"single": b"all of it"}
    for target in ("open", "read_all", "follow", "repair", "header_block", "message", "codec_lz4", "codec_zstd"):
        for data in (b"", b"\x01", b"\xff" * 40):
            assert probe_of(target, data, WORK) is not None
    assert probe_of("another", b"", WORK) is None


def test_seal_makes_every_checksum_right() -> None:
    output = random_output(random.Random(3))
    for data in build(output).files.values():
        spoilt = bytearray(data)
        for piece in take_apart(data).pieces:
            spoilt[piece.offset + 20] ^= 1
        spoilt[60] ^= 1
        assert sealed(bytes(spoilt)) == data
    assert sealed(b"short") == b"short"


def test_files_grow_in_five_steps() -> None:
    probe = probe_of("follow", entry(PAIR, b"d" * 100, b"i" * 50, growth=(10, 20, 5, 400)), WORK)
    assert probe is not None
    sizes = [(step.sizes["data"], step.sizes["index"]) for step in probe.steps if step.sizes]
    assert sizes == [(10, 0), (10, 20), (10, 20), (10, 50), (100, 50)]


def test_repairs_are_of_the_mode() -> None:
    for mode, mend in ((0, {"mode": "last-commit"}), (3, {"mode": "rebuild", "shared": "all"})):
        probe = probe_of("repair", entry(PAIR, b"d", b"i", mode=mode), WORK)
        assert probe is not None
        assert probe.mend is not None
        assert {name: value for name, value in probe.mend.items() if name != "limits"} == mend
        assert probe.mend["limits"]["max_regions"] == 4096


def test_programs() -> None:
    calls = bytes([0x12, 3, 2]) + b"ab" + bytes([0x0B])
    script = script_of(bytes([0b1011, 4, 0x21, 0b1001001]) + calls)
    assert script["options"]["layout"] == "single"
    assert script["options"]["codec"] == "lz4"
    assert script["options"]["framing"] == "records"
    assert script["options"]["partition_count"] == 5
    assert script["options"]["first_partition"] == 1
    assert script["options"]["rotation"] == 2
    assert script["options"]["block_size"] == 32
    assert script["options"]["buffer_size"] == 1024
    assert script["options"]["max_plain_size"] == 256
    assert script["calls"] == [
        {"call": "write", "partition": 4, "payload": {"hex": "61626162"}, "kind": 0},
        {"call": "finish"},
    ]
    assert script_of(b"")["calls"] == [{"call": "finish"}]
    region = bytes([0, 9, 0, 0, 10, 3, 7, 1]) + b"x" + bytes([255, 0, 251, 0])
    assert script_of(region)["calls"][0]["blocks"] == [
        {"partition": 7, "kind": 0, "payload": {"hex": "78"}, "records": 0},
        {"shared": [0]},
        {"kind": 1, "payload": {"hex": ""}, "records": 0},
    ]


def test_all_targets_take_turns(tmp_path: Path) -> None:
    (tmp_path / "open.inputs").write_bytes(pack.encode([b"1", b"2", b"3"]))
    (tmp_path / "script.inputs").write_bytes(pack.encode([b"1"]))
    (tmp_path / "README.md").write_text("")
    turns = [target for target, _ in in_turn(entries(tmp_path), 1)]
    assert turns == ["open", "script", "open", "open"]


def test_a_corpus_without_packs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="no packs in"):
        entries(tmp_path)


def test_programs_of_pushes() -> None:
    head = bytes([0x18, 4, 0x52, 0x33])
    pushed = b"\x02\x01\0a\x02\0bc"
    merging = merging_of(head + pushed + b"\x01\x03\x14\x01\x16\x01\0\x17\x0a\x0d\x0b", {"max_regions": 2})
    assert merging.fragments == [b"a", b"bc"]
    assert merging.limits == {"max_regions": 2}
    assert merging.options is not None
    assert merging.options["framing"] == "records"
    assert merging.options["partition_count"] == 5
    assert merging.options["chunk_size"] == 8
    assert merging.options["max_waiting"] == 128
    begin = {"call": "begin", "producer": "0", "generation": "5"}
    assert merging.steps == [
        {**begin, "push": "1"},
        {"call": "write", "push": "1", "fragment": 1, "from": 0, "to": 2},
        {"call": "commit", "push": "1"},
        {**begin, "push": "2", "producer": "1"},
        {"call": "write", "push": "2", "fragment": 1, "from": 0, "to": 1},
        {"call": "write", "push": "2", "fragment": 1, "from": 1, "to": 2},
        {"call": "commit", "push": "2"},
        {"call": "flush"},
        {"call": "close"},
    ]
    assert merging_of(b"", {}).steps == [{"call": "finalize"}]


def test_seal_of_a_stream() -> None:
    stream = b"".join(path.read_bytes() for path in sorted((CASES / "fragment").glob("frg-6-*.fragment")))
    spoilt = bytearray(stream)
    for at in (60, 84, len(stream) - 20):
        spoilt[at] ^= 1
    assert sealed_stream(bytes(spoilt)) == stream
    assert fragments_of(b"\x08" + spoilt, {}).fragments == [stream]
    assert fragments_of(b"\x00" + spoilt, {}).fragments == [bytes(spoilt)]
    assert sealed_stream(b"short") == b"short"
