from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from generate import coverage, everything, gold

ROOT = Path(__file__).resolve().parent.parent


def test_committed_cases_are_what_the_generator_makes() -> None:
    assert everything.cases().differences(ROOT / "cases") == []


def test_stale_missing_and_orphaned_files_are_found(tmp_path: Path) -> None:
    catalog = everything.cases()
    catalog.write(tmp_path)
    assert catalog.differences(tmp_path) == []
    manifest = tmp_path / "manifest" / "block.json"
    manifest.write_bytes(manifest.read_bytes().replace(b"required", b"recommended", 1))
    (tmp_path / "manifest" / "no-chapter.json").write_bytes(b"{}")
    (tmp_path / "valid" / "orphan.faro").write_bytes(b"")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "orphan.faro").write_bytes(b"")
    lost = next(path for path in catalog.files if path.startswith("invalid/"))
    (tmp_path / lost).unlink()
    assert catalog.differences(tmp_path) == [
        lost,
        "manifest/block.json",
        "manifest/no-chapter.json",
        "other/orphan.faro",
        "valid/orphan.faro",
    ]
    catalog.write(tmp_path)
    assert catalog.differences(tmp_path) == []


def test_the_generator_makes_the_same_twice() -> None:
    one, two = everything.cases(), everything.cases()
    assert one.tree() == two.tree()
    assert one.generated == two.generated


def test_there_are_enough_cases() -> None:
    cases = everything.cases().cases
    folders = [next(iter(case.get("sha256", {"": ""})), "").split("/")[0] for case in cases if case["op"] == "read"]
    assert folders.count("valid") >= 110
    assert folders.count("invalid") >= 300
    assert sum(case["op"] == "write" for case in cases) >= 40


def test_each_must_has_a_case() -> None:
    assert list(coverage.problems()) == []


def test_a_must_without_a_case_is_found(tmp_path: Path) -> None:
    (tmp_path / "new.md").write_text('<a id="NEW-1"></a>**NEW-1.** A file MUST be new.\n', encoding="utf-8")
    assert "NEW-1: says MUST and has no case" in list(coverage.problems(spec=tmp_path))


@pytest.mark.parametrize(
    ("language", "test", "exists"),
    [
        ("rust", "faro/src/key.rs::ranges", True),
        ("rust", "faro/src/key.rs::range", False),
        ("rust", "faro/src/key.rs::partition_by_range", False),
        ("rust", "faro/src/no_such.rs::ranges", False),
        ("java", "faro-format/src/test/java/dev/faro/key/KeyTest.java::ranges", True),
        ("java", "faro-format/src/test/java/dev/faro/key/KeyTest.java::encodes", False),
        ("python", "tests/key/test_key.py::test_ranges", True),
        ("python", "tests/key/test_key.py::test_range", False),
        ("python", "tests/key/test_key.py", False),
    ],
)
def test_a_named_test_must_exist(language: str, test: str, exists: bool) -> None:
    assert coverage.is_test(language, test) == exists


def test_a_wrong_name_in_elsewhere_is_found(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "cases" / "manifest", tmp_path / "cases" / "manifest")
    elsewhere = json.loads((ROOT / "cases" / "elsewhere.json").read_text(encoding="utf-8"))
    named = "faro-format/src/test/java/dev/faro/writer/WriterTest.java::wrong"
    elsewhere["clauses"]["WRT-5"]["tests"]["java"] = [named]
    elsewhere["clauses"]["WRT-5"]["tests"]["python"] = []
    (tmp_path / "cases" / "elsewhere.json").write_text(json.dumps(elsewhere), encoding="utf-8")
    assert [problem for problem in coverage.problems(tmp_path) if problem.startswith("WRT-5")] == [
        f"WRT-5: there is no test {named} for java",
        "WRT-5: elsewhere.json names no test for python",
    ]


@pytest.mark.parametrize("folder", [path.name for path in sorted((ROOT / "gold").iterdir()) if path.is_dir()])
def test_gold_files_did_not_change(folder: str) -> None:
    manifest = json.loads((ROOT / "gold" / folder / "manifest.json").read_text(encoding="utf-8"))
    listed = {path: digest for case in manifest["cases"] for path, digest in case["sha256"].items()}
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (ROOT / "gold" / folder).iterdir()}
    del found["manifest.json"]
    assert found == listed


def test_the_generator_makes_the_gold_files() -> None:
    for path, content in gold.tree().items():
        assert (ROOT / "gold" / gold.FOLDER / path).read_bytes() == content
