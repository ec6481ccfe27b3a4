"""The program of Python hands over what the harness takes: a smoke run with little data."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import lines, programs
from harness.programs import Call

SUBJECTS = {
    "write": {"faro", "arrow-ipc", "arrow-ipc-buffered", "parquet", "arrow-dataset-ipc", "raw-write"},
    "read": {"faro", "faro-alone", "raw-pread"},
}


@pytest.mark.parametrize("part", ["write", "read"])
def test_lines_that_fit_the_schema(tmp_path: Path, part: str) -> None:
    out, folder = tmp_path / "lines", tmp_path / "work"
    folder.mkdir()
    programs.run(Call("python", part, (("data", "text-table"), ("partitions", 64)), 1, 8), out, folder, None, [], 60)
    found = lines.read(out)
    assert {line.subject for line in found} == SUBJECTS[part]
    assert {(line.part, line.language, len(line.seconds)) for line in found} == {(part, "python", 1)}
    assert list(folder.iterdir()) == []
    if part == "write":
        files = {line.subject: line.files for line in found}
        assert files["faro"] == 2
        assert files["arrow-ipc"] == files["parquet"] == files["arrow-dataset-ipc"] == 64
