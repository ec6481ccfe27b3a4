"""The command: choosing cases and testees, exit codes, reports."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conformance_fixtures import CHECKSUM, CONFORMANCE, DESCRIPTION, SmallSuite

from faro_conformance.cli import main

REFUSES = {"op": "read", "do": {"error": CHECKSUM}}


def names(report: dict[str, list[dict[str, str]]]) -> list[str]:
    return [result["case"] for result in report["results"] if not result["case"].startswith("protocol-")]


def test_exit_code_2_for_wrong_usage(suite: SmallSuite) -> None:
    suite.add("one-case")
    assert suite.run("--testee", "no-such.toml")[0] == 2
    assert suite.run("--testee", suite.script(REFUSES), "-k", "nothing-fits")[0] == 2
    assert suite.run("--testee", suite.script(REFUSES), "--jobs", "0")[0] == 2
    with pytest.raises(SystemExit, match="2"):
        suite.run("--no-such-option")


def test_exit_code_2_for_a_damaged_suite(suite: SmallSuite) -> None:
    suite.add("one-case")
    (suite.cases / "one.faro").write_bytes(b"damaged")
    assert suite.run("--testee", suite.script(REFUSES))[0] == 2


@pytest.mark.parametrize(
    "command", ["no-such-program-anywhere", "false", "sh -c 'echo nonsense; cat'", "sh -c 'echo log >&2'"]
)
def test_exit_code_3_for_a_testee_that_does_not_start(suite: SmallSuite, command: str) -> None:
    suite.add("one-case")
    code, report = suite.run("--testee", suite.script(REFUSES), "--testee", command)
    assert code == 3
    assert len(report["not_started"]) == 1
    # The others run nevertheless.
    assert names(report) == ["one-case"]


def test_all_leaves_out_what_says_so(suite: SmallSuite) -> None:
    suite.add("one-case")
    suite.testee("one", suite.script(REFUSES))
    suite.testee("other", suite.script(REFUSES), in_all=False)
    assert list(suite.run()[1]["testees"]) == ["one"]
    assert list(suite.run("--testee", "all", "--testee", "other")[1]["testees"]) == ["one", "other"]
    suite.testee("other", suite.script(REFUSES), in_all=0)
    assert suite.run()[0] == 2


def test_choosing(suite: SmallSuite, capsys: pytest.CaptureFixture[str]) -> None:
    suite.add("aa-first", clause=["HDR-1"])
    suite.add("bb-second", clause=["HDR-11", "BLK-7"], op="check")
    suite.add("cc-third", clause=["OPN-1"])
    command = suite.script(REFUSES, {"op": "check", "do": {"error": CHECKSUM}})

    def chosen(*words: str) -> list[str]:
        arguments = [part for word in words for part in ("-k", word)]
        return names(suite.run("--testee", command, *arguments)[1])

    assert chosen("HDR-1") == ["aa-first"]
    assert chosen("hdr") == ["aa-first", "bb-second"]
    assert chosen("BLK-7") == ["bb-second"]
    assert chosen("check") == ["bb-second"]
    assert chosen("first,third") == ["aa-first", "cc-third"]
    assert chosen("HDR", "second") == ["bb-second"]
    capsys.readouterr()
    assert main(["--suite", str(suite.folder), "--list", "-k", "OPN"]) == 0
    assert capsys.readouterr().out.splitlines() == ["cc-third  read  OPN-1  the case cc-third", "1 cases"]


def test_features_and_operations_that_are_not_announced_are_skipped(suite: SmallSuite) -> None:
    suite.add("with-zstd", features=["zstd"])
    suite.add("with-lz4", features=["lz4"])
    suite.add("checked", op="check")
    command = suite.script(REFUSES, hello={"operations": ["hello", "read", "stop"]})
    code, report = suite.run("--testee", command)
    results = {result["case"]: result for result in report["results"]}
    assert code == 0
    assert results["with-zstd"]["reason"] == "no feature zstd"
    assert results["checked"]["reason"] == "no operation check"
    assert results["with-lz4"]["status"] == "passed"


def test_a_recommendation_that_is_not_followed_is_no_failure(suite: SmallSuite) -> None:
    suite.add("one-case", level="recommended")
    code, report = suite.run("--testee", suite.script({"op": "read", "do": {"ok": DESCRIPTION}}))
    assert code == 0
    assert report["totals"]["fake"]["recommended"] == 1


def test_check_is_asked_at_each_level_that_is_named(suite: SmallSuite) -> None:
    good = {"ok": {"regions": 1, "blocks": None}}
    suite.add("one-case", check={"structure": good, "decode": {"error": CHECKSUM}})
    command = suite.script(
        REFUSES,
        {"op": "check", "contains": "structure", "do": good},
        {"op": "check", "contains": "decode", "do": {"error": {**CHECKSUM, "offset": 64}}},
    )
    _, report = suite.run("--testee", command)
    (failure,) = report["results"][-1]["failures"]
    assert (failure["what"], failure["got"]) == ("check decode", "error checksum single@64")


def test_shuffled_by_a_seed(suite: SmallSuite, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(20):
        suite.add(f"case-{number}")
    command = suite.script(REFUSES)
    first = names(suite.run("--testee", command, "--shuffle", "--seed", "5")[1])
    assert first == names(suite.run("--testee", command, "--shuffle", "--seed", "5")[1])
    assert first != sorted(first)
    assert "order: --seed 5" in capsys.readouterr().out


def test_reports(suite: SmallSuite, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite.add("passes")
    suite.add("fails", files={"single": "other.faro"}, sha256={}, title="a <script> & more")
    suite.add("skips", features=["zstd"])
    command = suite.script({"op": "read", "contains": "other", "do": {"ok": DESCRIPTION}}, REFUSES)
    page, xml = tmp_path / "deep" / "report.html", tmp_path / "report.xml"
    code, _ = suite.run("--testee", command, "--html", str(page), "--junit", str(xml), "--jobs", "1")
    assert code == 1
    assert re.search(r"^fake: 4 passed, 1 failed, 1 skipped$", capsys.readouterr().out, re.MULTILINE)

    (tests,) = ElementTree.parse(xml).getroot()
    assert (tests.get("tests"), tests.get("failures"), tests.get("skipped")) == ("6", "1", "1")
    assert [case.get("name") for case in tests if case.find("failure") is not None] == ["fails"]

    text = page.read_text(encoding="utf-8")
    assert "a &lt;script&gt; &amp; more" in text
    assert "File header" in text
    assert not re.search(r"(src|href)=", text), "the page must need nothing else"


def test_a_second_testee_of_the_same_name_is_told_apart(suite: SmallSuite) -> None:
    suite.add("one-case")
    (suite.folder.parent / "other").mkdir()
    other = suite.script({"op": "read", "do": "crash"}, name="other/fake")
    _, report = suite.run("--testee", suite.script(REFUSES), "--testee", other)
    assert {name: totals["failed"] for name, totals in report["totals"].items()} == {"fake": 0, "fake-2": 1}


def test_the_skeleton_is_right_as_far_as_it_goes(tmp_path: Path) -> None:
    import json
    import shlex
    import sys

    skeleton = CONFORMANCE / "skeleton_testee.py"
    assert len(skeleton.read_text(encoding="utf-8").splitlines()) < 150
    report = tmp_path / "report.json"
    command = shlex.join([sys.executable, str(skeleton)])
    assert main(["--testee", command, "--json", str(report)]) == 0
    totals = json.loads(report.read_text(encoding="utf-8"))["totals"]["skeleton_testee"]
    assert totals["passed"] > 100
    assert totals["failed"] == 0
