"""Taking files apart and changing them."""

from __future__ import annotations

import random
import struct
from collections import Counter
from pathlib import Path

import pytest
from faro_conformance.protocol import Outcome
from generate.raw import HEADER_SIZE, TAIL_MAGIC, crc

from differential.blocks import ROOT_OF_KIND, put_together, put_together_moved, take_apart
from differential.judge import compressed_places, disagreement
from differential.messages import DecodeError, decode
from differential.mutate import CHANGES, Draw, mutate, unsealed
from differential.seeds import Seeds, load

CONFORMANCE = Path(__file__).resolve().parents[2] / "conformance"


@pytest.fixture(scope="module")
def seeds() -> Seeds:
    return load(CONFORMANCE)


@pytest.fixture(scope="module")
def gold(seeds: Seeds) -> Seeds:
    return Seeds([(name, files) for name, files in seeds.committed if name.startswith("gold/")])


def test_gold_files_are_whole_when_taken_apart(gold: Seeds) -> None:
    assert len(gold.committed) > 5
    for name, files in gold.committed:
        for role, data in files.items():
            taken = take_apart(data)
            assert taken.rest == b"", (name, role)
            assert bool(taken.tail) == (role != "data")
            assert put_together(taken) == data, (name, role)
            assert put_together_moved(take_apart(data)) == data, (name, role)


def test_messages_of_gold_files_decode(gold: Seeds) -> None:
    decoded = Counter(
        ROOT_OF_KIND[piece.kind]
        for _, files in gold.committed
        for data in files.values()
        for piece in take_apart(data).pieces
        if piece.kind in ROOT_OF_KIND and decode(ROOT_OF_KIND[piece.kind], piece.payload)
    )
    assert decoded["Region"] > 5
    assert decoded["Footer"] > 5
    assert decoded["Schema"]


def test_what_moves_is_followed(gold: Seeds) -> None:
    moved = 0
    for _, files in gold.committed:
        taken = take_apart(files.get("index", files.get("single", b"")))
        first = taken.pieces[0]
        if first.kind != 128:
            continue
        taken.pieces[0] = first.with_payload(first.payload + bytes(8))
        data = put_together_moved(taken)
        tail = len(data) - 24
        at, size = struct.unpack_from("<QI", data, tail)
        footer = decode("Footer", data[at + 24 : at + 24 + size])
        assert footer["regions"][0][1] == len(first.payload) + 8
        for place, size, *_ in footer["regions"]:
            assert struct.unpack_from("<I", data, place)[0] == size
            assert data[place + 16] == 128
        moved += 1
    assert moved


def test_every_change_is_made_and_leaves_right_checksums(gold: Seeds) -> None:
    rng = random.Random(5)
    made: Counter[str] = Counter()
    checked = 0
    for _ in range(1200):
        _, files = gold.draw(rng)
        _, other = gold.draw(rng)
        change = rng.choice(list(CHANGES))
        draw = Draw(dict(files), other, rng)
        text = change(draw)
        if text is None:
            continue
        made[change.__name__] += 1
        if change is unsealed or change.__name__ == "cut" or ": 0 = " in text:
            continue
        for data in draw.files.values():
            checked += 1
            assert crc(data[:60]) == struct.unpack_from("<I", data, 60)[0], text
            for piece in take_apart(data).pieces:
                assert piece.encode() == data[piece.offset : piece.offset + piece.size], text
            if data.endswith(TAIL_MAGIC):
                tail = data[-24:]
                assert crc(tail[:12] + tail[16:]) == struct.unpack_from("<I", tail, 12)[0], text
    assert made.keys() == {change.__name__ for change in CHANGES}
    assert checked > 800


def test_nothing_is_too_broken_to_be_changed(seeds: Seeds) -> None:
    rng = random.Random(6)
    for _ in range(600):
        _, files = seeds.draw(rng)
        for _ in range(3):
            files, done = mutate(files, seeds.draw(rng)[1], rng)
            assert all(done)
    mutate({"data": b"", "index": b""}, {"single": b""}, rng)


def test_no_message_is_no_message() -> None:
    for data in (b"", b"\4", b"\xff" * 64, struct.pack("<Ii", 4, 100)):
        with pytest.raises(DecodeError):
            decode("Footer", data)


def error(code: str, offset: int, found: str = "") -> Outcome:
    return Outcome("error", {"code": code, "file": "single", "offset": offset, "expected": "", "found": found})


def test_free_text_is_not_compared() -> None:
    said = {"one": error("checksum", 64, "a"), "two": error("checksum", 64, "b")}
    assert disagreement(said, set()) is None


@pytest.mark.parametrize("other", [error("checksum", 72), error("truncated", 64), Outcome("ok", {"regions": 1})])
def test_another_code_offset_or_verdict_is_a_disagreement(other: Outcome) -> None:
    assert disagreement({"one": error("checksum", 64), "two": other}, set()) is not None


@pytest.mark.parametrize("kind", ["crash", "timeout", "garbage"])
def test_all_that_crash_do_not_agree(kind: str) -> None:
    gone = Outcome(kind, "so it was")  # type: ignore[arg-type]
    assert disagreement({"one": gone, "two": gone}, set()) is not None


def test_what_a_testee_does_not_do_is_not_compared() -> None:
    assert disagreement({"one": error("checksum", 64), "two": Outcome("unsupported", "no")}, set()) is None


def test_decoders_may_differ_on_what_is_compressed_and_on_nothing_else(gold: Seeds) -> None:
    files = next(files for name, files in gold.committed if name == "gold/gold-single-codecs")
    places = compressed_places(files)
    assert places
    assert all(offset > HEADER_SIZE for _, offset in places)
    _, offset = min(places)
    good = {"blocks": 1, "sha256": "0"}
    bad = {"error": error("malformed-block", offset).value}
    here = Outcome("ok", {"partitions": {"0": good, "1": bad}})
    there = Outcome("ok", {"partitions": {"0": good, "1": good}})
    other = Outcome("ok", {"partitions": {"0": {**good, "sha256": "1"}, "1": good}})
    assert disagreement({"one": here, "two": there}, places) is None
    assert disagreement({"one": here, "two": other}, places) is not None
    assert disagreement({"one": here, "two": there}, set()) is not None
    assert disagreement({"one": error("malformed-block", offset), "two": Outcome("ok", {})}, places) is None
    assert disagreement({"one": error("malformed-block", offset - 8), "two": Outcome("ok", {})}, places) is not None
