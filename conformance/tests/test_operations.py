"""The operations that change files: write, repair, follow; and the writer x reader matrix."""

from __future__ import annotations

from typing import Any

from conformance_fixtures import DESCRIPTION, SmallSuite

OPTIONS = {"layout": "single", "partition_count": 1, "file_id": "00" * 16, "codec": "none"}
FINISHED = {"errors": [], "finished": True}
WRITES = {"op": "write", "do": {"write": {".faro": b"0123456789".hex()}, "ok": FINISHED}}
READS = {"op": "read", "do": {"ok": DESCRIPTION}}
CHECKS = {"op": "check", "do": {"ok": {"regions": 0, "blocks": 0}}}


def add_write(suite: SmallSuite, **expect: Any) -> None:
    suite.add(
        "writes",
        op="write",
        files={},
        request={"options": OPTIONS, "calls": [{"call": "finish"}]},
        expect={"ok": FINISHED, "files": {"single": "one.faro"}, "read": {"regions": 0}, **expect},
    )


def failures(report: dict[str, Any], case: str, testee: str = "fake") -> list[tuple[str, str]]:
    (result,) = [r for r in report["results"] if r["case"] == case and r["testee"] == testee]
    return [(failure["what"], failure["got"]) for failure in result["failures"]]


def test_written_bytes_and_what_is_read_from_them(suite: SmallSuite) -> None:
    add_write(suite)
    _, report = suite.run("--testee", suite.script(WRITES, READS, CHECKS))
    assert failures(report, "writes") == []
    assert failures(report, "pairs/fake/writes") == []


def test_the_first_byte_that_differs(suite: SmallSuite) -> None:
    add_write(suite)
    other = {"op": "write", "do": {"write": {".faro": b"0123x56789".hex(), ".faro.tmp": ""}, "ok": FINISHED}}
    _, report = suite.run("--testee", suite.script(other, READS, CHECKS))
    assert failures(report, "writes") == [("single file", "differs at 4"), ("folder", "a file is left")]


def test_the_description_is_compared(suite: SmallSuite) -> None:
    add_write(suite, read={"regions": 3, "properties": {"k": "v"}})
    _, report = suite.run("--testee", suite.script(WRITES, READS, CHECKS))
    assert failures(report, "writes") == [("read", "regions = 0")]


def test_an_output_that_is_not_finished_leaves_nothing(suite: SmallSuite) -> None:
    suite.add(
        "aborts",
        op="write",
        files={},
        request={"options": OPTIONS, "calls": []},
        expect={"ok": {"errors": [], "finished": False}},
    )
    answer = {"errors": [], "finished": False}
    leaves = {"op": "write", "do": {"write": {".faro.00000000.tmp": "00"}, "ok": answer}}
    assert failures(suite.run("--testee", suite.script(leaves))[1], "aborts") == [("folder", "a file is left")]
    clean = {"op": "write", "do": {"ok": answer}}
    assert failures(suite.run("--testee", suite.script(clean))[1], "aborts") == []


def test_writer_by_reader(suite: SmallSuite) -> None:
    add_write(suite)
    other_bytes = {"op": "write", "do": {"write": {".faro": b"012345678X".hex()}, "ok": FINISHED}}
    other_view = {"op": "read", "do": {"ok": {**DESCRIPTION, "regions": 0, "created_by": "somebody"}}}
    one = suite.script(WRITES, READS, CHECKS, name="one")
    two = suite.script(other_bytes, other_view, CHECKS, name="two")
    code, report = suite.run("--testee", one, "--testee", two)
    assert code == 1
    assert failures(report, "canonical/one/writes", "two") == [("single file", "differs at 9")]
    assert failures(report, "pairs/one/writes", "one") == []
    assert failures(report, "pairs/two/writes", "two") == []
    assert failures(report, "pairs/one/writes", "two") == [("read as one reads it", 'created_by = "somebody"')]
    assert failures(report, "pairs/two/writes", "one") == [("read as two reads it", "created_by = null")]


REPAIRED = {"action": "last-commit", "regions": 0, "data_cut": 0, "index_cut": 1, "orphaned": 0, "fault": None}


def test_repair(suite: SmallSuite) -> None:
    (suite.cases / "torn.faro").write_bytes(b"0123456789A")
    suite.add(
        "mends",
        op="repair",
        files={"single": "torn.faro"},
        sha256={},
        request={"mode": "last-commit"},
        expect={"ok": REPAIRED, "files": {"single": "one.faro"}},
        check={"decode": {"ok": {"regions": 0}}},
    )
    mends = {"op": "repair", "do": {"overwrite": {"single": b"0123456789".hex()}, "ok": REPAIRED}}
    assert failures(suite.run("--testee", suite.script(mends, CHECKS))[1], "mends") == []
    forgets = {"op": "repair", "do": {"ok": REPAIRED}}
    found = failures(suite.run("--testee", suite.script(forgets, CHECKS))[1], "mends")
    assert found == [("single file", "differs at 10")]
    # The case's own file is never touched.
    assert (suite.cases / "torn.faro").read_bytes() == b"0123456789A"


def test_follow(suite: SmallSuite) -> None:
    polled = {"regions": 0, "finished": False}
    steps = [
        {"files": {"single": {"from": "one.faro", "bytes": 4}}, "action": "open", "expect": {"ok": {}}},
        {"files": {}, "action": "poll", "expect": {"ok": polled}},
        {"files": {"single": {"from": "one.faro"}}, "action": "poll", "expect": {"ok": {**polled, "finished": True}}},
        {"action": "read", "request": {"partitions": []}, "expect": {"ok": {"regions": 0}}},
        {"action": "close", "expect": {"ok": {}}},
    ]
    suite.add("follows", op="follow", files={}, steps=steps)
    command = suite.script(
        {"op": "follow", "contains": '"poll"', "do": {"ok": polled}},
        {"op": "follow", "contains": '"read"', "do": {"ok": DESCRIPTION}},
        {"op": "follow", "do": {"ok": {}}},
    )
    assert failures(suite.run("--testee", command)[1], "follows") == [("step 2 poll", "finished = false")]
