"""A run with fake programs: turns, failures, an interruption."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness import cli, machine, programs, store, work
from harness.plan import FULL, PARTS, QUICK, SHORT, Step, plan
from harness.programs import Call
from harness.tables import tables

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
    measured = work.measure([STEP], fakes, [], say=print)
    assert (measured.failures, measured.interrupted) == ([], False)
    assert {line.name: len(line.seconds) for line in measured.lines} == {("rust", "faro"): 4, ("java", "faro"): 6}


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
    measured = work.measure([STEP], fakes, [], say=lambda _: None)
    assert measured.lines == []
    assert len(measured.failures) == 4
    assert said in measured.failures[0]


def test_a_program_that_is_not_there_or_takes_too_long(
    fakes: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    call = STEP.calls[0]
    monkeypatch.setenv("FAKE", "hang")
    monkeypatch.setenv("FAKE_STARTED", str(tmp_path / "started"))
    with pytest.raises(programs.ProgramError, match="more than"):
        programs.run(replace(call, timeout=0.5), fakes / "lines", fakes, None, [])
    monkeypatch.setattr(programs, "RUST", tmp_path / "nothing")
    with pytest.raises(programs.ProgramError, match="No such file"):
        programs.run(call, fakes / "lines", fakes, None, [])


def test_a_prefix_goes_before_the_program(fakes: Path) -> None:
    measured = work.measure([STEP], fakes, ["env", "FAKE=nonsense"], say=lambda _: None)
    assert (measured.lines, len(measured.failures)) == ([], 4)


def ended(fakes: Path, tmp_path: Path, wait: str, *arguments: str) -> tuple[int, str]:
    """End a run when the fake program with the codec `wait` has begun; its exit code and what it said."""
    started = tmp_path / "started"
    script = (
        "import sys; from pathlib import Path; from harness import cli, programs\n"
        f"programs.RUST = programs.JAVA = Path({str(programs.RUST)!r})\n"
        "sys.exit(cli.main(sys.argv[1:]))"
    )
    environment = os.environ | {"PYTHONPATH": str(BENCH), "FAKE": wait, "FAKE_STARTED": str(started)}
    command = [sys.executable, "-c", script, *arguments, "--dir", str(fakes)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 20
        while not started.exists() and time.monotonic() < until:
            time.sleep(0.02)
        assert list(fakes.iterdir())
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=20)
    assert list(fakes.iterdir()) == []
    return process.returncode, said


def test_a_run_that_is_told_to_end_leaves_no_files(fakes: Path, tmp_path: Path) -> None:
    target = tmp_path / "results.json"
    code, said = ended(fakes, tmp_path, "hang", "index", "--json", str(target))
    assert code == cli.INTERRUPTED
    assert "0 of 1 turns are kept" in said
    assert "nothing changed" in said
    assert not target.exists()


def test_a_run_that_is_told_to_end_keeps_the_turns_that_ended(fakes: Path, tmp_path: Path) -> None:
    target = tmp_path / "results.json"
    arguments = ["read", "--quick", "--json", str(target)]
    assert cli.main([*arguments, "--dir", str(fakes)]) == 0
    before = json.loads(target.read_text())["results"]
    # The codecs are measured in the order none, lz4, zstd; the program hangs with lz4.
    code, said = ended(fakes, tmp_path, "hang-lz4", *arguments)
    assert code == cli.INTERRUPTED
    assert "6 of 18 turns are kept" in said
    after = json.loads(target.read_text())["results"]
    assert len(after) == len(before)
    new = [one for one in after if one not in before]
    assert {one["case"]["codec"] for one in new} == {"none"}
    assert {one["language"] for one in new} == {"rust", "java"}


def test_a_whole_run(fakes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = store.path_of(tmp_path, "m")
    arguments = ["read", "--quick", "--dir", str(fakes), "--machine", "m", "--into", str(tmp_path)]
    assert cli.main(arguments) == 0
    made = json.loads(target.read_text())
    assert made["quick"]
    assert {line["part"] for line in made["results"]} == {"read"}
    assert "these are small sizes" in (tmp_path / "BENCHMARKS.md").read_text()
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
    assert cli.main(["index", "--quick", "--dir", str(fakes), "--json", str(target)]) == 0
    made = json.loads(target.read_text())
    assert made["commit"] == "a" * 40
    assert {line["run"] for line in made["results"]} == {f"{'a' * 12}, {made['date']}, {made['machine']['cpu']}"}


def test_some_cells_again(fakes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "bench.json"
    arguments = ["read", "--quick", "--keep", "--dir", str(fakes), "--json", str(target)]
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
    full = tables(again, [], "m")
    assert all(f"| {run} | read (java), read (rust) |" in full for run in runs.values())
    assert cli.main([*arguments, "--case", "codec=none-such"]) == cli.USAGE
    for wrong in (["--case", "codec"], ["--turns", "0"]):
        with pytest.raises(SystemExit) as caught:
            cli.main([*arguments, *wrong])
        assert caught.value.code == cli.USAGE
    capsys.readouterr()


def test_what_was_measured_is_kept_when_nothing_can_be_made_of_it(
    fakes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = store.path_of(tmp_path, "m")
    monkeypatch.setattr(cli, "page", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cli.main(["read", "--quick", "--dir", str(fakes), "--machine", "m", "--into", str(tmp_path)])
    assert json.loads(target.read_text())["results"]
    capsys.readouterr()


def test_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["nothing"])
    assert caught.value.code == cli.USAGE
    there_are = capsys.readouterr().err.split("there are")[1]
    assert all(part in there_are for part in PARTS)
    for wrong in (["--page-only", "--json", "file"], ["--quick", "--short"], ["growth", "--short"]):
        with contextlib.suppress(SystemExit):
            assert cli.main([*wrong, "--dir", str(tmp_path)]) == cli.USAGE
    said = capsys.readouterr().err
    assert "--json makes no page" in said
    assert "--short and --quick are different sizes" in said
    assert "no cell of these parts has a place in a short run" in said


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


def test_a_short_run_has_main_cells_of_some_parts() -> None:
    steps = plan(list(PARTS), SHORT)
    assert {step.part for step in steps} == {"write", "read", "python"}
    assert {step.part for step in plan(["read"], SHORT)} == {"read"}
    cells = [call.cell for step in steps for call in step.calls]
    full = [call.cell for step in plan(list(PARTS), FULL) for call in step.calls]
    assert set(cells) < set(full)


def test_a_failure_is_told_without_warnings_and_paths() -> None:
    said = "WARNING: old call (file:/home/a/lib/x.jar)\nException: /home/a/out/x.data: gone\n\tat a.B(B.java:1)\n"
    assert programs.told(said) == "Exception: x.data: gone"
    assert programs.told("see https://example.org/a/b and n/a") == "see https://example.org/a/b and n/a"
