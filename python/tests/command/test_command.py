"""``python -m faro_format``: what it prints, and its exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import faro_format as faro
from faro_format._command.main import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = pa.table({"key": range(300)})
    for producer in range(3):
        faro.write(rows, tmp_path / f"map-{producer}", by="key", partitions=4, producer=producer)
    return tmp_path


def test_an_output_is_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder / "map-1")]) == 0
    lines = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    shown = {name: value.strip() for name, value in lines.items()}
    assert shown["records"] == "300"
    assert shown["producer"] == "1, attempt 0"
    assert shown["property faro.pack.by"] == "key"
    assert main([str(folder / "map-1.index"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    with faro.open(folder / "map-1") as reader:
        sizes = {partition.number: partition.stored_bytes for partition in reader}
        assert found["stored_bytes"] == sum(sizes.values())
        assert found["properties"] == reader.properties
    assert found["records"] == 300
    assert {row["partition"]: row["stored_bytes"] for row in found["largest"]} == sizes
    assert sum(row["records"] for row in found["largest"]) == 300


def test_a_folder_is_shown_with_its_faults(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["records"], [row["producer"] for row in found["outputs"]]) == (900, [0, 1, 2])
    os.remove(folder / "map-1.data")
    assert main([str(folder)]) == 3
    assert "fault       " + str(folder / "map-1") in capsys.readouterr().out
    (folder / "map-2.index").write_bytes(b"no file of Faro\x1b[31m" * 9)
    assert main([str(folder)]) == 4
    out = capsys.readouterr().out
    assert "not-faro" in out
    assert "\x1b" not in out


def test_a_folder_without_outputs_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As for `faro info`."""
    assert main([str(tmp_path)]) == 3
    expected = f"faro_format: io in {str(tmp_path)!r}: expected a folder with outputs, found no Faro output there"
    assert capsys.readouterr().err == expected + "\n"
    (tmp_path / "sales.data").write_text("id,amount")
    assert main([str(tmp_path), "--json"]) == 3
    assert capsys.readouterr() == ("", f"{expected}, but 1 other file\n")


def test_a_record_for_all_partitions_counts_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As for `faro info`. One for some partitions counts for each of them."""
    for producer in range(2):
        with faro.Writer(tmp_path / f"map-{producer}", faro.WriterOptions(3, producer=producer)) as writer:
            writer.write(0, b"own")
            writer.broadcast(b"for all")
            writer.multicast([0, 1], b"for two")
    assert main([str(tmp_path / "map-0"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["records"] == 4
    assert {row["partition"]: row["records"] for row in found["largest"]} == {0: 3, 1: 2}
    assert main([str(tmp_path / "map-0")]) == 0
    assert re.search(r"^records +4, 1 of them for all partitions$", capsys.readouterr().out, re.MULTILINE)
    assert main([str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["records"], [row["records"] for row in found["outputs"]]) == (8, [4, 4])
    assert main([str(tmp_path)]) == 0
    assert re.search(r"^records +8$", capsys.readouterr().out, re.MULTILINE)
    sums = faro.Shuffle(tmp_path).sum_up()
    assert sums.to_arrow()["records"].to_pylist() == [6, 4, 2]


def test_a_page_is_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder), "--html", str(folder / "page.html")]) == 0
    assert capsys.readouterr().out == ""
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<svg" in page
    assert main([str(folder), "--html", str(folder / "page.html")]) == 0
    kept = sorted(folder.glob("*.data"))[0]
    before = kept.read_bytes()
    assert main([str(folder), "--html", str(kept)]) == 3
    assert f"{kept}" in capsys.readouterr().err
    assert kept.read_bytes() == before
    assert main([str(folder), "--html", str(folder / "nosuch" / "page.html")]) == 3
    assert "page.html" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "code"), [("nosuch", 3), ("cut.faro", 4), ("", 2)])
def test_the_exit_code_says_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, code: int
) -> None:
    faro.write(pa.table({"key": range(9)}), tmp_path / "cut", by="key", layout="single")
    (tmp_path / "cut.faro").write_bytes((tmp_path / "cut.faro").read_bytes()[:-8])
    monkeypatch.chdir(tmp_path)
    assert main([name]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("faro_format: ")
    assert len(captured.err.splitlines()) == 1


def test_it_is_a_program(folder: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "faro_format", *arguments]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)

    shown = run("map-0")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "arrow" in shown.stdout
    assert run("--help").stdout.startswith("usage: python -m faro_format")
    assert run().returncode == run("--nosuch", "map-0").returncode == 2
    # A reader of the output that has ended.
    piped = f"{sys.executable} -m faro_format map-0 | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", piped], cwd=folder, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("0\n", "")
