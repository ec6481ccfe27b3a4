"""Tables as pandas, Polars, DuckDB and pyarrow have them, written as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support import fault_of

import faro_format as faro
from faro_format import ErrorCode
from faro_format.arrow import ArrowWriter, read_table

ROWS = {"id": [1, 2, 3, 4], "name": ["one", None, "three", "vier"]}
TABLE = pa.table(ROWS, pa.schema([("id", pa.int64()), ("name", pa.string())]))
PARTITIONS = [0, 1, 0, 1]


class OfStream:
    """What has only the stream of Arrow's C interface."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return TABLE.__arrow_c_stream__(requested_schema)


class OfArray:
    """What has only the array of Arrow's C interface."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return TABLE.combine_chunks().to_batches()[0].__arrow_c_array__(requested_schema)


class OfInterchange:
    """A DataFrame of a library that does not know Arrow."""

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        return TABLE.__dataframe__(nan_as_null, allow_copy)


FRAMES: dict[str, Any] = {
    "pandas": lambda: pd.DataFrame(ROWS),
    "pandas, filtered": lambda: pd.concat([pd.DataFrame(ROWS)] * 2).reset_index(drop=True).iloc[[0, 5, 2, 7]],
    "pandas, categories": lambda: pd.DataFrame(ROWS).astype({"name": "category"}),
    "polars": lambda: pl.DataFrame(ROWS),
    "duckdb": lambda: duckdb.from_arrow(TABLE),
    "table": lambda: TABLE,
    "batch": lambda: TABLE.combine_chunks().to_batches()[0],
    "reader": lambda: TABLE.to_reader(),
    "stream": OfStream,
    "array": OfArray,
    "interchange": OfInterchange,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_what_exports_arrow_is_written(tmp_path: Path, kind: str) -> None:
    with ArrowWriter(tmp_path / "out", TABLE.schema, 3) as writer:
        writer.write(FRAMES[kind](), PARTITIONS)
        writer.broadcast(FRAMES[kind]())
        writer.multicast([2], FRAMES[kind]())
    with faro.open(tmp_path / "out") as reader:
        for partition in range(3):
            own = TABLE.filter(pa.array(np.array(PARTITIONS) == partition))
            assert read_table(reader, partition).equals(pa.concat_tables([own, TABLE, *[TABLE] * (partition == 2)]))


@pytest.mark.parametrize("library", [pd, pl])
def test_series_are_partitions_too(tmp_path: Path, library: Any) -> None:
    for partitions in (library.Series(PARTITIONS), pa.chunked_array([PARTITIONS]), np.array(PARTITIONS, np.uint8)):
        with ArrowWriter(tmp_path / "out", TABLE.schema, 2, overwrite=True) as writer:
            writer.write(library.DataFrame(ROWS), partitions)
        with faro.open(tmp_path / "out") as reader:
            assert read_table(reader, 1)["id"].to_pylist() == [2, 4]


def test_the_index_is_written_if_the_schema_names_it(tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS).set_index("name")
    schema = pa.schema([("id", pa.int64()), ("name", pa.string())])
    with ArrowWriter(tmp_path / "out", schema, 2) as writer:
        writer.write(frame, PARTITIONS)
    with faro.open(tmp_path / "out") as reader:
        assert read_table(reader, 0).to_pydict() == {"id": [1, 3], "name": ["one", "three"]}


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "+02:00"])
def test_time_zones_come_back(tmp_path: Path, zone: str) -> None:
    schema = pa.schema([("at", pa.timestamp("us", tz=zone))])
    times = pd.DataFrame({"at": pd.to_datetime(["2026-03-29 00:59", "2026-03-29 01:01"], utc=True)})
    with ArrowWriter(tmp_path / "out", schema, 2) as writer:
        writer.write(times, [0, 1])
    with faro.open(tmp_path / "out") as reader:
        for partition in range(2):
            found = read_table(reader, partition)
            assert found.schema == schema
            assert found.to_pandas()["at"].dt.tz_convert("UTC").tolist() == [times["at"][partition]]


@pytest.mark.parametrize(
    "table",
    [
        *(None, 7, "rows", b"rows", [1, 2], {"id": [1]}, np.arange(3), pa.array([1])),
        *(pd.Series([1]), pd.DataFrame({"id": [1]}), pd.DataFrame()),
        *(pl.Series([1]), pl.DataFrame({"id": ["x"], "name": ["x"]}), pl.LazyFrame(ROWS)),
    ],
    ids=lambda table: type(table).__module__ + "." + type(table).__name__,
)
def test_what_is_not_a_table_of_the_schema_is_refused(tmp_path: Path, table: Any) -> None:
    with ArrowWriter(tmp_path / "out", TABLE.schema, 2) as writer:
        for call in (lambda: writer.write(table, [0]), lambda: writer.broadcast(table)):
            fault = fault_of(call)
            assert fault is not None
            assert fault.code == ErrorCode.INVALID_ARGUMENT
            assert fault.expected.startswith("table: ")
            assert len(str(fault)) < 300
        writer.write(TABLE, PARTITIONS)
    with faro.open(tmp_path / "out") as reader:
        assert read_table(reader, 0).num_rows == 2


def test_a_stream_that_breaks_is_refused_and_the_writer_goes_on(tmp_path: Path) -> None:
    def batches() -> Any:
        yield from TABLE.to_batches()
        raise OSError(5, "the source broke")

    with ArrowWriter(tmp_path / "out", TABLE.schema, 2) as writer:
        fault = fault_of(writer.write, pa.RecordBatchReader.from_batches(TABLE.schema, batches()), PARTITIONS)
        assert fault is not None
        assert (fault.code, "the source broke" in fault.found) == (ErrorCode.INVALID_ARGUMENT, True)
        writer.write(TABLE, PARTITIONS)
    with faro.open(tmp_path / "out") as reader:
        assert read_table(reader, 0).num_rows == 2


def test_a_writer_that_has_ended_takes_no_rows(tmp_path: Path) -> None:
    writer = ArrowWriter(tmp_path / "out", TABLE.schema, 2)
    writer.finish()
    for call in (lambda: writer.write(TABLE, PARTITIONS), lambda: writer.broadcast(TABLE), writer.flush):
        fault = fault_of(call)
        assert fault is not None
        assert fault.found == "one that was finished"


def test_a_writer_that_was_interrupted_takes_no_rows(tmp_path: Path, monkeypatch: Any) -> None:
    writer = ArrowWriter(tmp_path / "out", TABLE.schema, 2)
    with monkeypatch.context() as patch:
        patch.setattr("faro_format.arrow._tables.Rows.push", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            writer.write(TABLE, PARTITIONS)
    fault = fault_of(writer.write, TABLE, PARTITIONS)
    assert fault is not None
    assert fault.code == ErrorCode.IO
    writer.abort()
    assert list(tmp_path.iterdir()) == []
