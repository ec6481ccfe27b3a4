"""The harness accepts the output of Python's program: a smoke run with little data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness import lines, programs
from harness.machine import REPOSITORY
from harness.programs import Call

SUBJECTS = {
    "write": {"faro", "arrow-ipc", "arrow-ipc-buffered", "parquet", "arrow-dataset-ipc", "raw-write"},
    "read": {"faro", "faro-alone", "pread-crc-arrow", "raw-pread"},
}


@pytest.mark.parametrize("part", ["write", "read"])
def test_lines_that_fit_the_schema(tmp_path: Path, part: str) -> None:
    out, folder = tmp_path / "lines", tmp_path / "work"
    folder.mkdir()
    programs.run(Call("python", part, (("data", "text-table"), ("partitions", 64)), 1, 8), out, folder, None, [])
    found = lines.read(out)
    assert {line.subject for line in found} == SUBJECTS[part]
    assert {(line.part, line.language, len(line.seconds)) for line in found} == {(part, "python", 1)}
    assert list(folder.iterdir()) == []
    if part == "write":
        files = {line.subject: line.files for line in found}
        assert files["faro"] == 2
        assert files["arrow-ipc"] == files["parquet"] == files["arrow-dataset-ipc"] == 64


def test_of_three_passes_of_who_writes_the_fastest_counts(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from benchmarks.turns import Pass, Subject, measure; done = []\n"
        "def work(name): done.append(name); return Pass(1.0 + -len(done) % 4)\n"
        "subjects = [Subject('a', lambda: work('a')), Subject('b', lambda: work('b'), writes=True)]\n"
        "measure('write', {}, 1, subjects, 2, Path(sys.argv[1])); print(''.join(done))"
    )
    out = tmp_path / "lines"
    command = [sys.executable, "-c", script, str(out)]
    told = subprocess.run(command, cwd=REPOSITORY / "python", capture_output=True, text=True, check=True)
    assert told.stdout == "abbbbaabbb\n"
    # The passes take 4, 3, 2, 1, 4, 3, 2, 1, 4, 3.
    assert [line.seconds for line in lines.read(out)] == [(3.0, 2.0), (1.0, 1.0)]
