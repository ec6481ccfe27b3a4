"""The sweeps: each way in which a testee can be wrong about a damaged file is found."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from conformance_fixtures import CHECKSUM, DESCRIPTION, SmallSuite

from faro_conformance.cli import main

WHOLE = {"single": hashlib.sha256(b"0123456789").hexdigest()}
# 10 bytes with 255 other values each, cut at 10 lengths, and grown thrice.
MUTATIONS = 10 * 255 + 13


def careful(name: str, suite: SmallSuite, **other: Any) -> str:
    """A testee that accepts the whole file only."""
    judge = {"sha256": WHOLE, "error": CHECKSUM, **other}
    return suite.script(
        {"op": "check", "do": {**judge, "ok": {"regions": 0, "blocks": 0}}},
        {"op": "read", "do": {**judge, "ok": DESCRIPTION}},
        name=name,
    )


def run(suite: SmallSuite, *commands: str, arguments: tuple[str, ...] = ("--all",)) -> int:
    suite.add("small", expect={"ok": {}})
    testees = [part for command in commands for part in ("--testee", command)]
    return main(["sweep", "--suite", str(suite.folder), "--case", "small", *testees, *arguments])


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_all_refuse(suite: SmallSuite, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(suite, careful("one", suite), careful("two", suite)) == 0
    out = capsys.readouterr().out
    assert f"small: {MUTATIONS} mutations, {MUTATIONS * 4} requests" in out
    assert "0 faults" in out


@pytest.mark.parametrize(
    ("other", "kind"),
    [
        ({"accept": digest(b"0123456780")}, "accepted"),
        ({"accept": digest(b"01234")}, "accepted"),
        ({"crash_on": digest(b"01234567\x009")}, "crash"),
        ({"error": {**CHECKSUM, "offset": 9}}, "disagreement"),
    ],
)
def test_one_is_wrong(suite: SmallSuite, capsys: pytest.CaptureFixture[str], other: Any, kind: str) -> None:
    assert run(suite, careful("one", suite), careful("two", suite, **other)) == 1
    out = capsys.readouterr().out
    number = 2 * MUTATIONS if "error" in other else 2
    assert f"{number} x {kind}" in out


def test_a_sample_is_repeatable(suite: SmallSuite, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(suite, careful("one", suite), arguments=("--values", "3", "--seed", "4")) == 0
    out = capsys.readouterr().out
    assert "--values 3 --seed 4" in out
    assert f"small: {10 * 3 + 13} mutations" in out


def test_what_is_not_valid_to_begin_with_is_not_swept(suite: SmallSuite) -> None:
    refuses = suite.script({"op": "check", "do": {"error": CHECKSUM}}, {"op": "read", "do": {"error": CHECKSUM}})
    assert run(suite, refuses) == 2
