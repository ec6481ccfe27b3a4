"""A small suite of cases, and testees that do what a script says."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from faro_conformance.cli import main
from faro_conformance.protocol import Protocol

CONFORMANCE = Path(__file__).parents[1]
FAKE = Path(__file__).with_name("fake_testee.py")

HEADER = {
    "kind": 3,
    "version_minor": 0,
    "framing": 1,
    "partition_count": 1,
    "first_partition": 0,
    "reader_features": 0,
    "writer_features": 0,
    "producer": "7",
    "attempt": "0",
    "file_id": "00" * 16,
}
DESCRIPTION: dict[str, Any] = {
    "header": HEADER,
    "regions": 0,
    "properties": {},
    "created_by": None,
    "statistics": False,
    "partitions": {},
}
CHECKSUM = {"code": "checksum", "file": "single", "offset": 8}


class SmallSuite:
    """A folder like conformance/ with the cases that a test gives it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "conformance"
        self.cases = self.folder / "cases"
        (self.cases / "manifest").mkdir(parents=True)
        (self.folder / "testees").mkdir()
        shutil.copy(CONFORMANCE / "protocol.schema.json", self.folder)
        (self.cases / "one.faro").write_bytes(b"0123456789")
        self._entries: list[dict[str, Any]] = []

    def add(self, case: str, **fields: Any) -> None:
        """Add a case; by default it reads one.faro, which has to be refused."""
        entry = {
            "id": case,
            "clause": ["HDR-1"],
            "level": "required",
            "features": [],
            "title": f"the case {case}",
            "op": "read",
            "files": {"single": "one.faro"},
            "expect": {"error": CHECKSUM},
            **fields,
        }
        digest = hashlib.sha256((self.cases / "one.faro").read_bytes()).hexdigest()
        entry.setdefault("sha256", {"one.faro": digest})
        self._entries.append(entry)
        text = json.dumps({"version": 1, "cases": self._entries})
        (self.cases / "manifest" / "header.json").write_text(text, encoding="utf-8")

    def script(self, *rules: dict[str, Any], name: str = "fake", hello: dict[str, Any] | None = None) -> str:
        """The command line of a fake testee."""
        path = self.folder.parent / f"{name}.json"
        path.write_text(json.dumps({"rules": rules, "hello": hello or {}}), encoding="utf-8")
        return shlex.join([sys.executable, str(FAKE), str(path)])

    def testee(self, name: str, command: str, expected_failures: str | None = None, **fields: Any) -> None:
        """A testee of testees/."""
        lines = [f"command = {json.dumps(shlex.split(command))}"]
        lines += [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
        (self.folder / "testees" / f"{name}.toml").write_text("\n".join(lines), encoding="utf-8")
        if expected_failures is not None:
            path = self.folder / "testees" / f"{name}.expected-failures.toml"
            path.write_text(expected_failures, encoding="utf-8")

    def run(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """The exit code of `conformance/run`, and its JSON report."""
        report = self.folder.parent / "report.json"
        report.unlink(missing_ok=True)
        code = main(["--suite", str(self.folder), "--json", str(report), *arguments])
        return code, json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}


@pytest.fixture
def suite(tmp_path: Path) -> SmallSuite:
    return SmallSuite(tmp_path)


@pytest.fixture
def protocol() -> Protocol:
    return Protocol(CONFORMANCE / "protocol.schema.json")


@pytest.fixture
def outcome_of(suite: SmallSuite) -> Callable[..., dict[str, Any]]:
    """The result of the one case of the suite, with a testee that does this for `read`."""

    def run(action: Any, *arguments: str, expected_failures: str | None = None) -> dict[str, Any]:
        suite.add("one-case")
        suite.testee("fake", suite.script({"op": "read", "do": action}), expected_failures)
        code, report = suite.run("--testee", "fake", *arguments)
        (result,) = [result for result in report["results"] if result["case"] == "one-case"]
        return {"exit": code, **result}

    return run
