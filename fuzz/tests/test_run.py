"""The command, with testees that disagree in a known way: the disagreement must be found, kept and found again."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from differential.cli import FOUND, NOT_STARTED, OK, USAGE, main

FAKE = Path(__file__).with_name("fake_testee.py")


def fake(fault: str = "good") -> str:
    return shlex.join([sys.executable, "-S", str(FAKE), fault])


def run(folder: Path, *faults: str, rounds: int = 2, seed: int = 7, minimise: float = 60) -> int:
    testees = [argument for fault in faults for argument in ("--testee", fake(fault))]
    return main(
        [*testees, "--rounds", str(rounds), "--seed", str(seed), "--minimise", str(minimise), "--findings", str(folder)]
    )


def test_two_that_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "good", "none") == OK
    said = capsys.readouterr().out
    assert "--seed 7" in said
    assert "48 mutated outputs (" in said
    assert "8 scripts (8 finished)" in said
    assert "0 disagreements" in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("fault", "rounds"), [("minor", 3), ("offset", 2), ("crash", 2), ("mend", 2)])
def test_one_that_disagrees_is_found_and_found_again(tmp_path: Path, fault: str, rounds: int) -> None:
    # A testee that crashes is restarted each time, so there is no time to make this finding smaller.
    assert run(tmp_path, "good", fault, rounds=rounds, minimise=0.01 if fault == "crash" else 60) == FOUND
    finding, members = next(
        (path.parent, members)
        for path in sorted(tmp_path.glob("7/*/finding.json"))
        if (members := json.loads(path.read_text(encoding="utf-8")))["type"] == "files"
    )
    assert members["seed"] == 7
    assert any(fault in item["why"] for item in members["found"])
    # It was made smaller: one request is left, or the repair.
    assert fault == "crash" or len(members["steps"]) + (members["mend"] is not None) == 1
    assert (finding / "files").is_dir()
    again = ["--replay", str(finding)]
    assert main(["--testee", fake(), "--testee", fake(fault), *again]) == FOUND
    assert main(["--testee", fake(), "--testee", fake("none"), *again]) == OK


def test_other_bytes_written_are_found_and_found_again(tmp_path: Path) -> None:
    assert run(tmp_path, "good", "write") == FOUND
    found = [json.loads(path.read_text(encoding="utf-8")) for path in (tmp_path / "7").glob("*/finding.json")]
    assert {members["type"] for members in found} == {"script"}
    assert any("differs at 99" in item["why"] for members in found for item in members["found"])
    assert main(["--testee", fake(), "--testee", fake("write"), "--replay", str(tmp_path / "7")]) == FOUND


@pytest.mark.parametrize(("fault", "kind"), [("fragment", "fragments"), ("merge", "merge")])
def test_other_fragments_and_merges_are_found_and_found_again(tmp_path: Path, fault: str, kind: str) -> None:
    assert run(tmp_path, "good", fault) == FOUND
    found = [json.loads(path.read_text(encoding="utf-8")) for path in (tmp_path / "7").glob("*/finding.json")]
    assert {members["type"] for members in found} == {kind}
    again = ["--replay", str(tmp_path / "7")]
    assert main(["--testee", fake(), "--testee", fake(fault), *again]) == FOUND
    assert main(["--testee", fake(), "--testee", fake("none"), *again]) == OK


def test_the_same_seed_draws_the_same(tmp_path: Path) -> None:
    runs = []
    for name in ("one", "two"):
        run(tmp_path / name, "good", "offset", rounds=1)
        paths = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        runs.append([(path.relative_to(tmp_path / name), path.read_bytes()) for path in paths])
    assert runs[0]
    assert runs[0] == runs[1]


def test_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--testee", fake()]) == USAGE
    assert main(["--minutes", "0"]) == USAGE
    assert main(["--testee", fake(), "--testee", fake("none"), "--replay", str(tmp_path)]) == USAGE
    assert "no finding in" in capsys.readouterr().err


def test_a_testee_that_does_not_start(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    assert main(["--testee", fake(), "--testee", missing, "--rounds", "1"]) == NOT_STARTED
