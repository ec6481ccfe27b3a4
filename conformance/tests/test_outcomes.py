"""The runner classifies everything that a testee can do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from conformance_fixtures import CHECKSUM, DESCRIPTION, SmallSuite

OutcomeOf = Callable[..., dict[str, Any]]
REFUSED = {"error": CHECKSUM}


def test_the_right_refusal_passes(outcome_of: OutcomeOf) -> None:
    result = outcome_of({"error": {**CHECKSUM, "expected": "stored 00000001", "found": "computed 00000002"}})
    assert result["status"] == "passed"
    assert result["exit"] == 0


@pytest.mark.parametrize(
    ("action", "got"),
    [
        ("crash", "crash"),
        ("abort", "crash"),
        ("garbage", "garbage"),
        ("wrong-id", "garbage"),
        ({"raw": "[]"}, "garbage"),
        ({"raw": '{"id": 1, "error": {"code": "checksum"}}'}, "garbage"),
        ({"raw": '{"id": 1, "error": {"code": "bad", "file": "single", "offset": 8}}'}, "garbage"),
        ({"raw": '{"id": 1, "ok": {}}'}, "garbage"),
        ({"raw": '{"id": true, "unsupported": "x"}'}, "garbage"),
        ({"ok": DESCRIPTION}, "ok"),
        ({"error": {**CHECKSUM, "code": "truncated"}}, "error truncated single@8"),
        ({"error": {**CHECKSUM, "offset": 9}}, "error checksum single@9"),
        ({"error": {**CHECKSUM, "offset": None}}, "error checksum single@null"),
        ({"error": {**CHECKSUM, "file": "data"}}, "error checksum data@8"),
    ],
)
def test_anything_else_fails_as_what_it_is(outcome_of: OutcomeOf, action: Any, got: str) -> None:
    result = outcome_of(action)
    assert result["status"] == "failed"
    assert result["failures"][0]["what"] == "read"
    assert result["failures"][0]["expected"] == "error checksum single@8"
    assert result["failures"][0]["got"] == got
    assert result["exit"] == 1


@pytest.mark.parametrize("action", ["hang", "close"])
def test_silence_is_no_refusal(outcome_of: OutcomeOf, action: str) -> None:
    result = outcome_of(action, "--timeout", "0.5")
    assert result["status"] == "failed"
    assert result["failures"][0]["got"] == {"hang": "timeout", "close": "crash"}[action]


def test_a_line_too_many_is_garbage(suite: SmallSuite) -> None:
    # When the second line is seen depends on the machine: with the first answer, or in place of the next.
    suite.add("first")
    suite.add("second")
    code, report = suite.run("--testee", suite.script({"op": "read", "do": "twice"}), "--jobs", "1")
    failures = [failure["got"] for result in report["results"] for failure in result["failures"]]
    assert code == 1
    assert set(failures) == {"garbage"}


def test_a_crash_shows_status_and_log(outcome_of: OutcomeOf) -> None:
    detail = outcome_of("crash")["failures"][0]["detail"]
    assert "exit status 7" in detail
    assert "about to crash" in detail


def test_a_signal_is_named(outcome_of: OutcomeOf) -> None:
    assert "SIGABRT" in outcome_of("abort")["failures"][0]["detail"]


def test_unsupported_is_skipped(outcome_of: OutcomeOf) -> None:
    result = outcome_of({"unsupported": "not yet"})
    assert result["status"] == "skipped"
    assert result["exit"] == 0


def test_after_a_crash_the_next_case_runs(suite: SmallSuite) -> None:
    for name in ("first", "second", "third"):
        suite.add(name, files={"single": f"{name}.faro"}, sha256={})
    command = suite.script(
        {"op": "read", "contains": "second", "do": "crash"}, {"op": "read", "do": {"error": CHECKSUM}}
    )
    code, report = suite.run("--testee", command, "--jobs", "1")
    status = {result["case"]: result["status"] for result in report["results"]}
    assert code == 1
    assert status["first"] == status["third"] == "passed"
    assert status["second"] == "failed"


def test_more_memory_than_the_limit_is_a_crash(suite: SmallSuite) -> None:
    suite.add("one-case")
    command = suite.script({"op": "read", "do": {"eat": 1 << 30}})
    suite.testee("fake", command, memory_limit=512 << 20)
    _, report = suite.run("--testee", "fake")
    assert "MemoryError" in report["results"][-1]["failures"][0]["detail"]
    suite.testee("fake", command)
    _, report = suite.run("--testee", "fake")
    assert report["results"][-1]["status"] == "skipped"


def entry(outcome: str, case: str = "one-case") -> str:
    return f'[[failure]]\nid = "{case}"\nreason = "known"\noutcome = "{outcome}"\n'


def test_an_expected_failure_is_none(outcome_of: OutcomeOf) -> None:
    result = outcome_of("crash", expected_failures=entry("read: crash"))
    assert (result["status"], result["reason"], result["exit"]) == ("expected-failure", "known", 0)


def test_an_unexpected_pass_fails(outcome_of: OutcomeOf) -> None:
    result = outcome_of(REFUSED, expected_failures=entry("read: crash"))
    assert (result["status"], result["exit"]) == ("failed", 1)
    assert result["failures"][0]["got"] == "unexpected pass"


def test_a_changed_outcome_fails(outcome_of: OutcomeOf) -> None:
    result = outcome_of({"ok": DESCRIPTION}, expected_failures=entry("read: crash"))
    assert (result["status"], result["exit"]) == ("failed", 1)
    assert result["failures"][0]["detail"] == "read: ok"


def test_an_expected_failure_of_no_case_is_an_error(suite: SmallSuite) -> None:
    suite.add("one-case")
    suite.testee("fake", suite.script({"op": "read", "do": REFUSED}), entry("read: crash", "no-such-case"))
    code, report = suite.run("--testee", "fake")
    assert code == 1
    assert report["errors"] == ["fake: expected failure no-such-case matches no case"]


def test_a_malformed_list_of_expected_failures_is_refused(suite: SmallSuite) -> None:
    suite.add("one-case")
    suite.testee("fake", suite.script(), '[[failure]]\nid = "one-case"\n')
    assert suite.run("--testee", "fake")[0] == 2


@pytest.mark.parametrize(
    ("expected", "found", "status"),
    [
        ("stored 0123abcd", "computed 4567ef89", "passed"),
        (None, None, "passed"),
        ("computed 4567ef89", "stored 0123abcd", "failed"),
        ("stored 123abcd", "computed 4567ef89", "failed"),
        ("checksum 0123abcd", "4567ef89", "failed"),
    ],
)
def test_a_checksum_fault_says_what_is_stored_and_what_was_computed(
    suite: SmallSuite, expected: str | None, found: str | None, status: str
) -> None:
    fault = {"code": "checksum", "file": "single", "offset": 0}
    suite.add("one-case", expect={"error": fault})
    answer = {"error": {**fault, "expected": expected, "found": found}}
    suite.testee("fake", suite.script({"op": "read", "do": answer}))
    _, report = suite.run("--testee", "fake")
    assert report["results"][-1]["status"] == status
