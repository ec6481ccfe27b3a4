"""A run with fake programs: turns, failures, an interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from harness import cli, machine, programs, work
from harness.plan import FULL, PARTS, QUICK, Step, plan
from harness.programs import Call

FAKE = Path(__file__).with_name("fake_program.py")
BENCH = Path(__file__).resolve().parents[1]


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "fake"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setattr(programs, "RUST", program)
    monkeypatch.setattr(programs, "JAVA", program)
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


STEP = Step("write", (Call("rust", "write", (("partitions", 1),), 2, 1), Call("java", "write", (), 3, 1)), 2)


def test_programs_take_turns_and_their_repetitions_are_joined(fakes: Path) -> None:
    found, failures = work.measure([STEP], fakes, [], say=print)
    assert failures == []
    assert {line.name: len(line.seconds) for line in found} == {("rust", "faro"): 4, ("java", "faro"): 6}


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("fail", "exit code 1: it is broken"),
        ("trace", "exit code 1: Exception: this\nCaused by: that"),
        ("nonsense", "is a required property"),
    ],
)
def test_a_program_that_fails_is_named(fakes: Path, monkeypatch: pytest.MonkeyPatch, mode: str, said: str) -> None:
    monkeypatch.setenv("FAKE", mode)
    found, failures = work.measure([STEP], fakes, [], say=lambda _: None)
    assert found == []
    assert len(failures) == 4
    assert said in failures[0]


def test_a_program_that_is_not_there_or_takes_too_long(
    fakes: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    call = STEP.calls[0]
    monkeypatch.setenv("FAKE", "hang")
    monkeypatch.setenv("FAKE_STARTED", str(tmp_path / "started"))
    with pytest.raises(programs.ProgramError, match="more than"):
        programs.run(call, fakes / "lines", fakes, None, [], 0.5)
    monkeypatch.setattr(programs, "RUST", tmp_path / "nothing")
    with pytest.raises(programs.ProgramError, match="No such file"):
        programs.run(call, fakes / "lines", fakes, None, [], 5)


def test_a_prefix_goes_before_the_program(fakes: Path) -> None:
    found, failures = work.measure([STEP], fakes, ["env", "FAKE=nonsense"], say=lambda _: None)
    assert (found, len(failures)) == ([], 4)


def test_a_run_that_is_told_to_end_leaves_nothing(fakes: Path, tmp_path: Path) -> None:
    started = tmp_path / "started"
    script = (
        "import sys; from pathlib import Path; from harness import cli, programs\n"
        f"programs.RUST = programs.JAVA = Path({str(programs.RUST)!r})\n"
        "sys.exit(cli.main(sys.argv[1:]))"
    )
    environment = os.environ | {"PYTHONPATH": str(BENCH), "FAKE": "hang", "FAKE_STARTED": str(started)}
    command = [sys.executable, "-c", script, "index", "--dir", str(fakes), "--json", str(tmp_path / "bench.json")]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 20
    while not started.exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert list(fakes.iterdir())
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=20)
    assert process.returncode == cli.INTERRUPTED
    assert "nothing changed" in said
    assert list(fakes.iterdir()) == []
    assert not (tmp_path / "bench.json").exists()


def test_a_whole_run(fakes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "bench.json"
    arguments = ["read", "--quick", "--dir", str(fakes), "--json", str(target), "--into", str(tmp_path)]
    assert cli.main(arguments) == 0
    made = json.loads(target.read_text())
    assert made["quick"]
    assert {line["part"] for line in made["results"]} == {"read"}
    assert "These are small sizes" in (tmp_path / "BENCHMARKS.md").read_text()
    assert list(fakes.iterdir()) == []
    assert "1 of " in capsys.readouterr().err
    assert cli.main(["index", *arguments[1:], "--keep"]) == 0
    made = json.loads(target.read_text())
    assert {line["part"] for line in made["results"]} == {"read", "index"}
    capsys.readouterr()


def test_the_revision_is_that_of_the_beginning(fakes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure = work.measure
    state = ["a" * 40, "b" * 40]
    monkeypatch.setattr(machine, "commit", lambda: (state[0], False))

    def commits_meanwhile(*given: Any, **named: Any) -> Any:
        state.pop(0)
        return measure(*given, **named)

    monkeypatch.setattr(work, "measure", commits_meanwhile)
    target = tmp_path / "bench.json"
    assert cli.main(["index", "--quick", "--dir", str(fakes), "--json", str(target), "--into", str(tmp_path)]) == 0
    made = json.loads(target.read_text())
    assert made["commit"] == "a" * 40
    assert {line["run"] for line in made["results"]} == {f"{'a' * 12}, {made['date']}, {made['machine']['cpu']}"}


def test_some_cells_again(fakes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "bench.json"
    arguments = ["read", "--quick", "--keep", "--dir", str(fakes), "--json", str(target), "--into", str(tmp_path)]
    assert cli.main(arguments) == 0
    all_cells = json.loads(target.read_text())
    capsys.readouterr()
    assert cli.main([*arguments, "--case", "codec=lz4", "--case", "partitions=64"]) == 0
    assert "1 of 4" in capsys.readouterr().err
    cell = ["--case", "codec=lz4", "--case", "partitions=64"]
    assert cli.main([*arguments[1:], "read", *cell, "--turns", "3"]) == 0
    assert "1 of 12" in capsys.readouterr().err
    assert {line.get("turns") for line in json.loads(target.read_text())["results"]} == {6}
    made = json.loads(target.read_text())
    assert len(made["results"]) == len(all_cells["results"])
    # Each result names the run that measured it, however often others are measured again.
    runs = {"none": "a, first", "lz4": "b, second"}
    for line in made["results"]:
        line["run"] = runs.get(line["case"]["codec"], "a, first")
    target.write_text(json.dumps(made))
    assert cli.main([*arguments, "--case", "codec=zstd"]) == 0
    again = json.loads(target.read_text())
    newest = f"{again['commit'][:12]}, {again['date']}, {again['machine']['cpu']}"
    assert all(line["run"] == runs.get(line["case"]["codec"], newest) for line in again["results"])
    assert again["earlier"] == [f"read ({name}): {run}" for name in ("java", "rust") for run in runs.values()]
    assert cli.main([*arguments, "--case", "codec=none-such"]) == cli.USAGE
    for wrong in (["--case", "codec"], ["--turns", "0"]):
        with pytest.raises(SystemExit) as caught:
            cli.main([*arguments, *wrong])
        assert caught.value.code == cli.USAGE
    capsys.readouterr()


def test_what_was_measured_is_kept_when_nothing_can_be_made_of_it(
    fakes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "new" / "bench.json"
    monkeypatch.setattr(cli, "targets", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cli.main(["read", "--quick", "--dir", str(fakes), "--json", str(target), "--into", str(tmp_path / "page")])
    assert json.loads(target.read_text())["results"]
    capsys.readouterr()


def test_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["nothing"])
    assert caught.value.code == cli.USAGE
    there_are = capsys.readouterr().err.split("there are")[1]
    assert all(part in there_are for part in PARTS)
    assert cli.main(["--page-only", "--json", str(tmp_path / "none")]) == cli.USAGE
    capsys.readouterr()


def test_the_plan_has_each_part_and_starts_cells_in_turns() -> None:
    assert {step.part for step in plan(list(PARTS), FULL)} == set(PARTS)
    jobs = [step.calls[0] for step in plan(["flink-jobs"], QUICK)]
    assert {call.tables for call in jobs} == {True, False}
    command = jobs[4].command(Path("out"), Path("work"), Path("tables/lineitem.tbl"))
    assert command[0].endswith("java/faro-flink/bench")
    assert command[-2:] == ["--tables", "tables"]
    paired = [step for step in plan(["write"], FULL) if step.turns == FULL.turns]
    assert len(paired) == 6
    assert all(dict(call.cell)["codec"] == "none" for step in paired for call in step.calls)
    assert "--quick" in plan(["index"], QUICK)[0].calls[0].more
