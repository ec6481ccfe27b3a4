"""`pytest --faro-testee COMMAND`."""

from __future__ import annotations

import pytest
from conformance_fixtures import CHECKSUM, DESCRIPTION, SmallSuite


def run(suite: SmallSuite, pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    suite.add("right")
    suite.add("wrong", clause=["OPN-1"], files={"single": "other.faro"}, sha256={})
    suite.add("skips", features=["zstd"])
    suite.add("should", level="recommended", files={"single": "other.faro"}, sha256={})
    command = suite.script(
        {"op": "read", "contains": "other", "do": {"ok": DESCRIPTION}}, {"op": "read", "do": {"error": CHECKSUM}}
    )
    options = ["--rootdir", str(pytester.path), "--faro-suite", str(suite.folder), "--faro-testee", command]
    return pytester.runpytest_subprocess(*options, *arguments)


def test_each_case_is_a_test(suite: SmallSuite, pytester: pytest.Pytester) -> None:
    result = run(suite, pytester, "-v", "-rA")
    result.assert_outcomes(passed=1, failed=1, skipped=1, xfailed=1)
    result.stdout.fnmatch_lines(["PASSED right*", "*read: expected error checksum single@8, got ok*"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_choosing_by_id_and_clause(suite: SmallSuite, pytester: pytest.Pytester) -> None:
    run(suite, pytester, "-k", "right").assert_outcomes(passed=1, deselected=3)


def test_choosing_by_clause(suite: SmallSuite, pytester: pytest.Pytester) -> None:
    run(suite, pytester, "-k", "OPN-1").assert_outcomes(failed=1, deselected=3)


def test_a_testee_that_does_not_start_fails_every_case(suite: SmallSuite, pytester: pytest.Pytester) -> None:
    suite.add("one-case")
    result = pytester.runpytest_subprocess("--faro-suite", str(suite.folder), "--faro-testee", "no-such-program")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*no-such-program*"])
