"""The check of partitions: its model is the specification's, and a wrong command is found."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pytest

from faro_conformance.cli import main
from partitioning.judge import Judge
from partitioning.model import by_hash
from partitioning.oracle import Oracle


def test_the_model_is_the_specifications() -> None:
    assert by_hash([(1,), ("1",), (None,), ("faro", -1)], 64) == [18, 2, 40, 15]


def test_the_oracle_orders_as_the_specification_does() -> None:
    oracle = Oracle()
    floats = pa.array([None, float("-inf"), -0.0, 0.0, float("inf"), float("nan")])
    bounds = [["-inf"], ["0"], ["inf"], ["NaN"]]
    assert oracle.partitions([floats], ["DOUBLE"], bounds) == [0, 1, 2, 2, 3, 4]
    assert oracle.ascending([floats], ["DOUBLE"], [["NaN"], ["1"], [None], ["1.0"]]) == [[None], ["1"], ["NaN"]]
    columns = [pa.array([1, 1, 1, 2]), pa.array(["a", "b", None, None])]
    assert oracle.partitions(columns, ["INTEGER", "VARCHAR"], [["1", None], ["1", "b"], ["2", ""]]) == [1, 2, 1, 2]


def test_the_judge_finds_what_differs(capsys: pytest.CaptureFixture[str]) -> None:
    judge = Judge()
    judge.compare("same", ["a", "b"], [1, 2], [1, 2])
    judge.balanced("even", [0, 0, 1, 1], 2)
    assert not judge.faults
    judge.compare("one", ["a", "b"], [1, 3], [1, 2])
    judge.compare("lost", ["a", "b"], [1], [1, 2])
    judge.balanced("late", [0, 0, 0, 1], 2)
    assert len(judge.faults) == 3
    assert "one: 1 of 2 rows: 'b' is 3, not 2" in capsys.readouterr().out


# Packs as the real command would, but takes every row for partition 0.
_LAZY = """\
import sys
import pyarrow as pa
from faro_format.arrow import ArrowWriter

table = pa.ipc.open_stream(sys.argv[2]).read_all()
with ArrowWriter(sys.argv[4], table.schema, 7, overwrite=True) as writer:
    for batch in table.to_batches():
        writer.write(batch, [0] * batch.num_rows)
"""


def command(folder: Path, program: str) -> Path:
    """An executable that is a program of Python."""
    (folder / "program.py").write_text(program)
    script = folder / "faro"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} {folder / "program.py"} "$@"\n')
    script.chmod(0o755)
    return script


@pytest.mark.parametrize(
    ("program", "word", "found"),
    [
        (_LAZY, "int8 as arrows", "FAULT int8 as arrows by hash"),
        ("", "map", "FAULT map --hash: packed"),
        ("import sys; sys.exit('wrong')", "int8", "FAULT int8 as arrow: exit code 1: wrong"),
    ],
)
def test_a_wrong_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], program: str, word: str, found: str
) -> None:
    script = command(tmp_path, program)
    assert main(["partitioning", "--faro", str(script), "--rows", "20", "--seed", "1", "-k", word]) == 1
    assert found in capsys.readouterr().out


def test_no_command_and_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["partitioning", "--faro", str(tmp_path / "nothing")]) == 2
    assert "make faro" in capsys.readouterr().err
    script = command(tmp_path, "")
    assert main(["partitioning", "--faro", str(script), "-k", "no such table"]) == 2
