"""The tutorial runs as it is written, and shows what it says; so do the examples of two pages of docs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from tutorial import code_cells, run

DOCS = Path(__file__).parents[2] / "docs"


def test_the_tutorial_shows_what_it_stores(tmp_path: Path) -> None:
    notebook = json.loads((DOCS / "tutorial.ipynb").read_text(encoding="utf-8"))
    found = run(notebook, tmp_path)
    assert len(found) > 6
    for cell, outputs in zip(code_cells(notebook), found, strict=True):
        assert cell["outputs"] == outputs, f"{''.join(cell['source'])}\nrun tests/tutorial.py ../docs/tutorial.ipynb"


def test_a_cell_that_fails_fails_the_run(tmp_path: Path) -> None:
    cell: dict[str, Any] = {"cell_type": "code", "source": ["x = 1\n", "x / 0"]}
    with pytest.raises(ZeroDivisionError):
        run({"cells": [cell]}, tmp_path)


def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (DOCS / "notebooks.md").read_text(encoding="utf-8")
    parts = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(parts) >= 4
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for part in parts:
        exec(part, names)
    frame = names["frame"]
    assert isinstance(names["one"], pd.DataFrame)
    assert isinstance(names["few"], pl.DataFrame)
    # The page's queries give what pandas computes from the same rows.
    expected = frame.groupby("customer")["amount"].sum()
    assert dict(names["sums"]) == expected.to_dict()
    assert names["one"]["customer"].isin(frame["customer"]).all()
    assert names["lines"].num_rows == 2
    outputs = names["shuffle"].sum_up().outputs
    assert [output.header.producer for output in outputs] == [0, 1]
    assert names["shuffle"].sum_up().records == len(frame)


def test_the_example_of_hybrid_stores_gets_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "hybrid.md").read_text(encoding="utf-8")
    (part,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    exec(part, {})
    assert capsys.readouterr().out == "[b'a record']\n"
