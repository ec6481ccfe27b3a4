"""Taking files apart and changing them."""

from __future__ import annotations

import random
import struct
from collections import Counter
from pathlib import Path

import pytest
from generate.raw import TAIL_MAGIC, crc

from differential.blocks import ROOT_OF_KIND, put_together, put_together_moved, take_apart
from differential.draw import Draw
from differential.messages import DecodeError, decode
from differential.mutate import CHANGES, again, mutate
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
        if (
            change.__name__ in ("unsealed", "cut", "torn")
            or ": 0 = " in text
            or "as it was" in text
            or "unsealed" in text
        ):
            continue
        if ": 40 = " in text or ("identity" in change.__name__ and not text.endswith("sealed for it")):
            continue
        for data in draw.files.values():
            checked += 1
            assert crc(data[:60]) == struct.unpack_from("<I", data, 60)[0], text
            taken = take_apart(data)
            for piece in taken.pieces:
                assert piece.encode(taken.file_id) == data[piece.offset : piece.offset + piece.size], text
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
            other = seeds.draw(rng)[1]
            changed, done = mutate(files, other, rng)
            assert all(made.text for made in done)
            assert again(files, other, done) == changed
            files = changed
    mutate({"data": b"", "index": b""}, {"single": b""}, rng)


def test_no_message_is_no_message() -> None:
    for data in (b"", b"\4", b"\xff" * 64, struct.pack("<Ii", 4, 100)):
        with pytest.raises(DecodeError):
            decode("Footer", data)
