from typing import Any

import pytest

from faro_site import conformance

CASES: dict[str, dict[str, Any]] = {
    "read-a": {"level": "required", "check": {"structure": {}, "decode": {}}, "features": ["lz4"]},
    "read-b": {"level": "recommended", "features": []},
    "new": {"level": "required"},
}
TESTEE = {"version": "1", "spec": "1.0", "features": ["lz4"]}
CHAPTERS = {"BLK": ("Blocks", "../spec/block.md#BLK-1"), "SEC": ("Security", "../spec/security.md#SEC-1")}


def result(
    case: str, testee: str, status: str = "passed", op: str = "read", writer: str | None = None
) -> dict[str, Any]:
    return {"case": case, "testee": testee, "status": status, "clauses": ["BLK-7"], "op": op, "writer": writer}


@pytest.fixture
def run() -> dict[str, Any]:
    results = [
        result("read-a", "rust"),
        result("read-a", "java", "failed"),
        result("read-b", "rust"),
        result("pairs/rust/read-a", "java", op="pairs", writer="rust"),
    ]
    testees = {"rust": {"language": "Rust", **TESTEE}, "java": {"language": "Java", **TESTEE}}
    return conformance.summary({"testees": testees, "results": results}, CASES, "2026-11-28", "abc")


def test_the_sums_of_a_report(run: dict[str, Any]) -> None:
    assert run["chapters"] == {"BLK": {"java": [1, 2], "rust": [2, 2]}}
    assert run["requirements"] == {
        "required": {"java": [0, 1], "rust": [1, 1]},
        "recommended": {"java": [0, 0], "rust": [1, 1]},
    }
    assert run["check_levels"]["decode"] == {"java": [0, 1], "rust": [1, 1]}
    assert run["features"] == {"lz4": {"java": [0, 1], "rust": [1, 1]}}
    assert run["pairs"] == {"rust": {"java": [1, 1], "rust": [0, 0]}}
    assert (run["cases"], run["not_run_count"]) == (3, 1)


def test_the_page_shows_what_failed_and_what_was_not_run(run: dict[str, Any]) -> None:
    page = conformance.page(run, "a test", CHAPTERS, 3)
    assert "| [BLK](../spec/block.md#BLK-1) Blocks | **1 of 2** | 2 |" in page
    assert "| `decode` | **0 of 1** | 1 |" in page
    assert "| Rust | 1 | – |" in page
    assert "Chapters without cases of their own: [SEC](../spec/security.md#SEC-1) Security." in page
    assert "1 of them were not in this run" in page


def test_a_page_older_than_the_suite_says_so(run: dict[str, Any]) -> None:
    run["not_run_count"] = 0
    assert "The suite has 5 now" in conformance.page(run, "a test", CHAPTERS, 5)
    assert "The suite has" not in conformance.page(run, "a test", CHAPTERS, 3)


def test_a_chapter_that_the_specification_lacks_is_a_fault(run: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="BLK"):
        conformance.page(run, "a test", {}, 3)
