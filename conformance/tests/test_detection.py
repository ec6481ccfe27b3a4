"""The measurement of detection must notice what a reader does not detect."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from detection import damage as d
from detection.damage import Damage, flipped
from detection.judge import Seen, contents, explain, of_repair, whose
from detection.measure import Tally, measure
from detection.outputs import Subject
from faro_conformance.protocol import Outcome, SuiteError

FINISHED = Subject("small", "paired", "none", "finished")
SINGLE = Subject("small", "single", "lz4", "unfinished")
PAIR = Subject("small", "paired", "none", "unfinished")


class Reader:
    """A testee with a given answer for each operation."""

    def __init__(self, **answers: Outcome) -> None:
        self.answers = answers
        self.testee = self
        self.name = "reader"
        self.number = 0

    def next_id(self) -> int:
        self.number += 1
        return self.number

    def ask_lines(self, lines: Sequence[bytes], numbers: Sequence[int], keys: Sequence[str]) -> list[Outcome]:
        return [self.answers[json.loads(line)["op"]] for line in lines]


def with_part(subject: Subject, part: Any) -> dict[str, Any]:
    """What is read of a finished file, one partition of it otherwise."""
    return {**subject.reads, "partitions": {**subject.reads["partitions"], "0": part}}


class Starter(Reader):
    """A reader that is right about the undamaged files of both producers, and then gives the answers of the test."""

    def ask_lines(self, lines: Sequence[bytes], numbers: Sequence[int], keys: Sequence[str]) -> list[Outcome]:
        said = super().ask_lines(lines, numbers, keys)
        if self.number > 8:
            return said
        subject = FINISHED if self.number == 4 else FINISHED.twin
        return [Outcome("ok", subject.reads), *[Outcome("ok", {"regions": 3, "blocks": 9})] * 3]


def run(reader: Reader, folder: Path) -> dict[str, Tally]:
    tallies: dict[str, Tally] = {}
    differ: list[str] = []
    some = d.one_bit(FINISHED, random.Random(1), 40)
    measure(FINISHED, some, [reader], folder, tallies, differ)  # type: ignore[list-item]
    return tallies


def test_what_a_reader_delivers_wrongly_is_seen(tmp_path: Path) -> None:
    part = {**FINISHED.reads["partitions"]["0"], "sha256": "00" * 32}
    answers = {"read": Outcome("ok", with_part(FINISHED, part)), "check": Outcome("error", {"code": "checksum"})}
    tally = run(Starter(**answers), tmp_path)["1 bit"]
    assert tally.undetected == {"read": 40}
    assert tally.detected["check decode"] == {"checksum": 40}
    assert tally.examples


def test_a_check_that_finds_nothing_is_seen(tmp_path: Path) -> None:
    answers = {"read": Outcome("error", {"code": "checksum"}), "check": Outcome("ok", {"regions": 3, "blocks": 1})}
    tally = run(Starter(**answers), tmp_path)["1 bit"]
    assert tally.undetected["check decode"] == 40
    assert tally.undetected["check checksums"] == 40
    assert 0 < tally.explained["check structure"]["structure"] < 40


def test_an_error_of_one_partition_does_not_excuse_another() -> None:
    error = {"error": {"code": "checksum", "file": "data", "offset": 64}}
    answer = with_part(FINISHED, error)
    assert contents(answer, FINISHED.reads) == Seen("detected", "checksum")
    answer["partitions"]["2"] = {**answer["partitions"]["2"], "blocks": 9}
    assert contents(answer, FINISHED.reads).verdict == "different"
    del answer["partitions"]["2"]
    assert contents(answer, FINISHED.reads).verdict == "different"
    assert contents({**FINISHED.reads, "properties": {}}, FINISHED.reads).verdict == "different"
    assert contents(FINISHED.reads, FINISHED.reads).verdict == "unchanged"


def test_a_repair_that_refuses_must_not_write() -> None:
    error = Outcome("error", {"code": "checksum"})
    assert of_repair(error, error, {"index": b"a"}, {"index": b"a"}, PAIR).verdict == "detected"
    assert of_repair(error, error, {"index": b"a"}, {"index": b"b"}, PAIR).verdict == "different"


def lost(subject: Subject, after: bytes, regions: int, asked: str = "follow") -> str | None:
    damage = Damage("test", "test", {subject.built.index: after})
    return explain(damage, asked, Seen("lost", regions=regions), subject)


@pytest.mark.parametrize("subject", [PAIR, SINGLE])
def test_reasons_for_lost_regions(subject: Subject) -> None:
    whole = subject.files[subject.built.index]
    messages = subject.built.messages
    last, middle = messages[-1], messages[1]
    assert lost(subject, flipped(whole, 8 * last + 300), 2) == "last-message"
    assert lost(subject, whole[: last + 30], 2) == "earlier"
    assert lost(subject, whole[:middle], 1) == "earlier"
    assert lost(subject, whole[: middle + 8] + bytes(len(whole) - middle - 8), 1, "repair") == "zeros"
    assert lost(subject, flipped(whole, 8 * middle + 20, 8 * middle + 52), 1) == "both-sizes"


@pytest.mark.parametrize("subject", [PAIR, SINGLE])
def test_lost_regions_without_a_reason(subject: Subject) -> None:
    whole = subject.files[subject.built.index]
    last, middle = subject.built.messages[-1], subject.built.messages[1]
    for asked in ("follow", "repair"):
        assert lost(subject, flipped(whole, 8 * middle + 20), 1, asked) is None
        assert lost(subject, flipped(whole, 8 * middle + 300), 1, asked) is None
        assert lost(subject, flipped(whole, 8 * last + 300), 1, asked) is None
        assert lost(subject, whole[:last], 1, asked) is None
    assert lost(subject, whole[: middle + 8] + bytes(len(whole) - middle - 8), 1) is None


def test_a_grown_compressed_block_is_a_reason_and_a_plain_one_none() -> None:
    for codec, reason in (("lz4", "grown"), ("none", None)):
        subject = Subject("small", "single", codec, "unfinished")
        whole = subject.files["single"]
        begin = subject.extents[2][0]
        room = len(whole) - begin - 24
        grown = (
            whole[:begin] + (room + 8).to_bytes(4, "little") + (room + 99).to_bytes(4, "little") + whole[begin + 8 :]
        )
        # As if plain_size had been that large from the beginning.
        held = Subject("small", "single", codec, "unfinished")
        old = whole[: begin + 4] + grown[begin + 4 : begin + 8] + whole[begin + 8 :]
        held.built.files["single"] = old
        assert lost(held, grown, 2) == reason


def test_files_are_held_against_the_output_that_their_header_names() -> None:
    twin = FINISHED.twin.files
    assert whose(Damage("test", "test", dict(twin)), FINISHED) is FINISHED.twin
    assert whose(Damage("test", "test", {"data": twin["data"]}), FINISHED) is FINISHED
    assert whose(Damage("test", "test", {}), FINISHED) is FINISHED


def test_every_damage_changes_something_and_says_what() -> None:
    rng = random.Random(3)
    large = Subject("large", "paired", "zstd", "finished")
    for make in (d.zeroed_pages, d.swapped_pages, d.strange_pages, d.stale_pages, d.appends, d.other_outputs,
                 d.swapped_extents, d.as_before_blk_9, d.as_before_reg_11):  # fmt: skip
        made = list(make(large, rng))
        assert made, make.__name__
        changed = [item for item in made if any(large.files[role] != after for role, after in item.after.items())]
        assert 2 * len(changed) > len(made), make.__name__
        assert all(item.what for item in made)


def test_what_is_refused_undamaged_is_not_measured(tmp_path: Path) -> None:
    error = Outcome("error", {"code": "checksum"})
    with pytest.raises(SuiteError, match="undamaged"):
        run(Reader(read=error, check=error), tmp_path)
