"""The bounds: each way in which a testee can be wrong about a hostile file is found."""

from __future__ import annotations

import pytest
from conformance_fixtures import SmallSuite

from faro_conformance.cli import main

REFUSED = {"op": "check", "do": {"error": {"code": "inconsistent-index", "file": "single", "offset": 240}}}
KIND = "tail-circles"


def run(suite: SmallSuite, *commands: str, kind: str = KIND, whole: bool = False) -> int:
    testees = [part for command in commands for part in ("--testee", command)]
    return main(["bounds", "--suite", str(suite.folder), "-k", kind, *testees, *(["--all"] if whole else [])])


def test_all_refuse(suite: SmallSuite, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(suite, suite.script(REFUSED, name="one"), suite.script(REFUSED, name="two")) == 0
    assert " 0 faults" in capsys.readouterr().out


def test_memory_beyond_the_limits(suite: SmallSuite, capsys: pytest.CaptureFixture[str]) -> None:
    greedy = suite.script(REFUSED, {"op": "read", "contains": "range", "do": {"eat": 1 << 30}}, name="greedy")
    assert run(suite, greedy) == 1
    assert "FAULT greedy: range 1: crash" in capsys.readouterr().out


def test_another_code(suite: SmallSuite, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = suite.script({"op": "check", "do": {"ok": {"regions": 1, "blocks": 1}}}, name="wrong")
    assert run(suite, wrong) == 1
    assert "not inconsistent-index" in capsys.readouterr().out


def test_disagreement(suite: SmallSuite, capsys: pytest.CaptureFixture[str]) -> None:
    other = {"op": "check", "do": {"error": {"code": "inconsistent-index", "file": "single", "offset": 64}}}
    assert run(suite, suite.script(REFUSED, name="one"), suite.script(other, name="two")) == 1
    assert "one" in (out := capsys.readouterr().out)
    assert "and two" not in out


def test_time_that_grows_faster_than_the_file(suite: SmallSuite, capsys: pytest.CaptureFixture[str]) -> None:
    read = {"op": "check", "do": {"ok": {"regions": 1, "blocks": 1}}}
    slow = suite.script(
        read, {"op": "repair", "contains": '"rebuild", "dry_run"', "do": {"spin": 400_000}}, name="slow"
    )
    assert run(suite, slow, kind="records-empty", whole=True) == 1
    out = capsys.readouterr().out
    assert "FAULT slow: repair rebuild, dry" in out
    assert "check" not in out


def test_no_such_kind(suite: SmallSuite) -> None:
    assert run(suite, suite.script(REFUSED, name="one"), kind="unheard-of") == 2
