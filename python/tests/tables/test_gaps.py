"""Files of selective stores: they tell what is missing, and their rows come with a warning."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import faro_format as faro
from faro_format import GapsWarning, Reader, Shuffle, WriterOptions
from faro_format._command.main import main
from faro_format.arrow import read_records

LINE = "with gaps: 4 of 6 blocks consumed before they were stored (of 1 partition, 1 shared)"


def gappy(name: Path, *, shared: bool = True, producer: int = 0) -> Path:
    """Write an output: partition 1 has 1 block of its 4; partition 0 has one, and misses a shared one if there are."""
    with faro.Writer(name, WriterOptions(3, selective=True, producer=producer)) as writer:
        writer.write(0, b"all")
        writer.write(1, b"some")
        writer.flush()
        writer.skip_to(1, 4)
        if shared:
            writer.skip_shared_to(1)
    return name


def complete(name: Path, producer: int) -> None:
    with faro.Writer(name, WriterOptions(3, selective=True, producer=producer)) as writer:
        writer.write(2, b"whole")


def warnings_of(call: Callable[[], Any]) -> list[str]:
    """The warnings that a call emits; each names a line of this file."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    assert all(one.category is GapsWarning for one in found)
    assert {one.filename for one in found} <= {__file__}
    return [str(one.message) for one in found]


def test_a_reader_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = gappy(tmp_path / "x")
    with Reader(name) as reader:
        assert LINE in repr(reader)
        assert LINE in reader._repr_html_()
        assert "3 blocks missing" in repr(reader[1])
        assert "missing" not in repr(reader[0])
    assert main([str(name)]) == 0
    assert re.search(rf"^streams +{re.escape(LINE)}$", capsys.readouterr().out, re.MULTILINE)
    assert main([str(name), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["streams"] == {
        "known": True, "blocks": 6, "missing": 4, "partitions_with_gaps": 1, "shared_missing": 1,
    }  # fmt: skip


def test_what_is_not_there_is_not_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    complete(tmp_path / "x", 0)
    assert main([str(tmp_path / "x")]) == 0
    assert re.search(r"^streams +complete$", capsys.readouterr().out, re.MULTILINE)
    faro.write(pa.table({"k": [1]}), tmp_path / "y", by="k")
    assert main([str(tmp_path / "y")]) == 0
    assert "streams" not in capsys.readouterr().out
    with Reader(tmp_path / "x") as one, Reader(tmp_path / "y") as other:
        assert warnings_of(one.to_arrow) == warnings_of(other.to_arrow) == []


def test_each_call_that_reads_rows_warns_once(tmp_path: Path) -> None:
    name = gappy(tmp_path / "x", shared=False)
    with Reader(name) as reader:
        calls: list[Callable[[], Any]] = [
            reader.to_arrow, reader.to_pandas, reader.to_polars, reader[1].to_arrow, lambda: reader.to_arrow([2, 1]),
            lambda: list(reader.to_batches()), lambda: reader.scanner().to_table(), lambda: pa.table(reader),
            lambda: read_records(reader, 1), lambda: reader.to_arrow(range(1, 3)),
        ]  # fmt: skip
        for call in calls:
            line = "with gaps: 3 of 5 blocks consumed before they were stored (of 1 partition)"
            assert warnings_of(call) == [f"{name}: {line}; rows may be missing"]
        # These partitions are whole.
        whole: list[Callable[[], Any]] = [
            reader[0].to_arrow, lambda: reader.to_arrow([0, 2]), lambda: reader.to_arrow(range(1)),
            lambda: read_records(reader, 0),
        ]  # fmt: skip
        for call in whole:
            assert warnings_of(call) == []
    with Reader(gappy(tmp_path / "shared")) as reader:
        assert len(warnings_of(reader[0].to_arrow)) == 1


def test_a_file_that_does_not_say_it_may_lack_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = gappy(tmp_path / "x")
    monkeypatch.setattr(Reader, "streams", None)
    with Reader(name) as reader:
        assert "not known whether blocks are missing" in repr(reader)
        assert warnings_of(reader[0].to_arrow) == [f"{name}: not known whether blocks are missing; rows may be missing"]
    sums = Shuffle(tmp_path).sum_up()
    assert [output.missing_blocks for output in sums.with_gaps] == [None]
    assert "not known whether blocks are missing of 1 output" in repr(sums)
    assert len(warnings_of(Shuffle(tmp_path).to_arrow)) == 1


def test_a_shuffle_counts_outputs_with_gaps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gappy(tmp_path / "map-0", shared=False)
    complete(tmp_path / "map-1", 1)
    gappy(tmp_path / "map-2", shared=False, producer=2)
    shuffle = Shuffle(tmp_path)
    sums = shuffle.sum_up()
    found = {Path(output.name).name: output.missing_blocks for output in sums.with_gaps}
    assert found == {"map-0": 3, "map-2": 3}
    line = "2 outputs with gaps: 6 of 11 blocks consumed before they were stored"
    assert line in repr(sums)
    assert line in shuffle._repr_html_()
    assert sums.to_arrow("output")["missing_blocks"].to_pylist() == [3, 0, 3]
    assert "6 blocks missing" in repr(shuffle[1])
    assert warnings_of(shuffle.to_pandas) == [f"{tmp_path}: {line}; rows may be missing"]
    assert len(warnings_of(shuffle[1].to_arrow)) == 1
    assert warnings_of(shuffle[0].to_arrow) == []
    assert main([str(tmp_path)]) == 0
    assert line in capsys.readouterr().out
    assert main([str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["streams"] == {"outputs": 3, "with_gaps": 2, "not_known": 0, "blocks": 11, "missing": 6}
    assert [row["missing_blocks"] for row in found["outputs"]] == [3, 0, 3]
