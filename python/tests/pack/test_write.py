"""Tables written by key: each row's partition is what KEY says, and what the command and DuckDB say."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from support import asked, fault_of

import faro_format as faro
from faro_format import ErrorCode, storage
from faro_format.arrow import ArrowWriter
from faro_format.arrow._dictionaries import unpacked_column
from faro_format.key import hash_key

COUNT = 300
NUMBERS = [None if i % 11 == 0 else (i * i) % 37 - 5 for i in range(COUNT)]
DAY, AT = datetime.date(2023, 12, 25), datetime.datetime(2023, 12, 25, 6, 30)
BERLIN = pa.timestamp("us", "Europe/Berlin")
KEYS: dict[str, pa.Array] = {
    "int": pa.array(NUMBERS, pa.int32()),
    "unsigned": pa.array([None if n is None else 2**63 + n for n in NUMBERS], pa.uint64()),
    "float": pa.array([None if n is None else n / 4 for n in NUMBERS], pa.float32()),
    "text": pa.array([None if n is None else f"größe-{n}" for n in NUMBERS]),
    "bytes": pa.array([None if n is None else bytes([n + 9]) for n in NUMBERS]),
    "yes": pa.array([None if n is None else n > 3 for n in NUMBERS]),
    "money": pa.array([None if n is None else Decimal(n) / 100 for n in NUMBERS], pa.decimal128(12, 2)),
    "day": pa.array([None if n is None else DAY + datetime.timedelta(n) for n in NUMBERS]),
    "hour": pa.array([None if n is None else datetime.time(abs(n) % 24, 1) for n in NUMBERS], pa.time32("s")),
    "at": pa.array([None if n is None else AT + datetime.timedelta(seconds=n) for n in NUMBERS], pa.timestamp("ms")),
    "there": pa.array([None if n is None else AT + datetime.timedelta(seconds=n) for n in NUMBERS], BERLIN),
    "tag": pa.array([None if n is None else f"tag{n % 5}" for n in NUMBERS]).dictionary_encode(),
}
TABLE = pa.table({"row": range(COUNT), **KEYS})


def partitions_of(name: Path) -> dict[int, int]:
    """The partition of each row."""
    with faro.open(name) as reader:
        return {row: p.number for p in reader for row in p.to_arrow(columns=["row"])["row"].to_pylist()}


def key_values(column: pa.Array) -> list[Any]:
    """Values as KEY-1 has them, by Python."""
    kind = column.type
    if pa.types.is_temporal(kind):
        column = column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    values: list[Any] = column.to_pylist()
    return values


@pytest.mark.parametrize("by", [*([name] for name in KEYS), ["tag", "int"], ["text", "money", "there"]])
def test_rows_go_to_the_partition_of_their_key(tmp_path: Path, by: list[str]) -> None:
    summary = faro.write(TABLE, tmp_path / "out", by=by, partitions=13, first_partition=4, codec="zstd")
    found = partitions_of(tmp_path / "out")
    keys = zip(*(key_values(KEYS[name]) for name in by), strict=True)
    assert found == {row: 4 + hash_key(key) % 13 for row, key in enumerate(keys)}
    assert summary.statistics is not None
    assert summary.files == (str(tmp_path / "out.data"), str(tmp_path / "out.index"))
    with faro.open(tmp_path / "out") as reader:
        assert reader.properties == {
            "faro.pack.by": ",".join(by),
            "faro.pack.format": "arrow",
            "faro.pack.method": "hash",
        }
        rows = reader.to_arrow().sort_by("row")
        assert rows.equals(TABLE.cast(rows.schema))


def test_the_hashes_are_those_of_the_specification(tmp_path: Path) -> None:
    for value, partition in ((1, 18), ("1", 2), (None, 40)):
        faro.write(pa.table({"k": [value]}), tmp_path / "out", by="k", overwrite=True)
        with faro.open(tmp_path / "out") as reader:
            assert [p.number for p in reader if p.records] == [partition]


def program() -> Path | None:
    """The command, if it is built."""
    folder = Path(__file__).parents[3] / "rust" / "target"
    found = [folder / kind / "faro" for kind in ("release", "debug")]
    return next((path for path in found if os.access(path, os.X_OK)), None)


def ran(*arguments: str, folder: Path) -> str:
    command = program()
    if command is None:
        pytest.skip("the command is not built: make faro")
    done = subprocess.run([command, *arguments], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("by", [["int"], ["text"], ["money"], ["there"], ["tag", "float"]])
def test_the_command_has_the_same_partitions(tmp_path: Path, by: list[str]) -> None:
    pyarrow.parquet.write_table(TABLE, tmp_path / "in.parquet")
    ran("pack", "in.parquet", "-o", "theirs", "--by", ",".join(by), "--partitions", "9", folder=tmp_path)
    faro.write(TABLE, tmp_path / "mine", by=by, partitions=9)
    assert partitions_of(tmp_path / "mine") == partitions_of(tmp_path / "theirs")
    shown = ran("cat", "mine", "--all", "--format", "csv", folder=tmp_path)
    assert len(shown.splitlines()) == COUNT + 1


BOUNDS: list[tuple[str, list[Any], list[Any], str]] = [
    ("int", [0, 7], [0, 7], "[0,7]"),
    ("unsigned", [2**63 + 2], [2**63 + 2], "[9223372036854775810]"),
    ("float", [0.5, float("inf")], [0.5, float("inf")], '[0.5,"inf"]'),
    ("text", ["größe-1", "größe-5"], ["größe-1", "größe-5"], '["gr\\u00f6\\u00dfe-1","gr\\u00f6\\u00dfe-5"]'),
    ("bytes", [b"\x07"], [b"\x07"], '["07"]'),
    ("yes", [None, True], [None, True], "[null,true]"),
    ("money", [Decimal("0.005"), 1], [Decimal("0.005"), Decimal(1)], '["0.005","1"]'),
    ("day", [DAY], [DAY], '["2023-12-25"]'),
    ("hour", [datetime.time(3, 0, 5)], [datetime.time(3, 0, 5)], '["03:00:05"]'),
    ("at", [AT + datetime.timedelta(milliseconds=500)], [], '["2023-12-25T06:30:00.500"]'),
    ("there", [AT.replace(tzinfo=datetime.timezone.utc)], [], '["2023-12-25T06:30:00Z"]'),
    ("tag", ["tag2"], ["tag2"], '["tag2"]'),
]


@pytest.mark.parametrize(("name", "bounds", "_", "text"), BOUNDS, ids=[row[0] for row in BOUNDS])
def test_rows_go_to_the_range_of_their_key(tmp_path: Path, name: str, bounds: list[Any], _: Any, text: str) -> None:
    faro.write(TABLE, tmp_path / "out", by=name, bounds=bounds)
    found = partitions_of(tmp_path / "out")
    column = TABLE[name].cast(TABLE[name].type.value_type) if name == "tag" else TABLE[name]
    values = column.to_pylist()

    def partition(value: Any) -> int:
        """How many bounds are not above a value; a null is below every other one."""
        return sum(bound is None or (value is not None and bound <= value) for bound in bounds)

    assert found == {row: partition(value) for row, value in enumerate(values)}
    assert len(set(found.values())) > 1
    with faro.open(tmp_path / "out") as reader:
        assert (len(reader), reader.properties["faro.pack.method"]) == (len(bounds) + 1, "range")
        assert reader.properties["faro.pack.bounds"] == text
    # DuckDB's own comparison, where its order is that of KEY-3.
    if name in ("int", "float", "money", "day"):
        rows = pa.table({"row": range(COUNT), "value": column, "found": [found[row] for row in range(COUNT)]})
        sums = " + ".join(f"coalesce(value >= {literal(bound)}, false)::INT" for bound in bounds)
        assert asked(f"SELECT count(*) FROM rows WHERE found != {sums}", rows) == [(0,)]


def literal(bound: Any) -> str:
    if isinstance(bound, datetime.date):
        return f"DATE '{bound}'"
    return "'inf'::FLOAT" if bound == float("inf") else str(bound)


@pytest.mark.parametrize(("name", "bounds", "_", "__"), BOUNDS, ids=[row[0] for row in BOUNDS])
def test_the_command_reads_the_bounds_that_are_recorded(
    tmp_path: Path, name: str, bounds: list[Any], _: Any, __: Any
) -> None:
    pyarrow.parquet.write_table(TABLE, tmp_path / "in.parquet")
    faro.write(TABLE, tmp_path / "mine", by=name, bounds=bounds)
    with faro.open(tmp_path / "mine") as reader:
        shown = json.loads(reader.properties["faro.pack.bounds"])
    (tmp_path / "bounds").write_text("".join(json.dumps(bound) + "\n" for bound in shown))
    ran("pack", "in.parquet", "-o", "theirs", "--by", name, "--bounds", "@bounds", folder=tmp_path)
    assert partitions_of(tmp_path / "mine") == partitions_of(tmp_path / "theirs")


def test_bounds_of_several_columns(tmp_path: Path) -> None:
    faro.write(TABLE, tmp_path / "out", by=["tag", "int"], bounds=[["tag1", 3], ("tag3", None)])
    rows = zip(TABLE["tag"].cast(pa.string()).to_pylist(), NUMBERS, strict=True)

    def above(tag: str | None, number: int | None, bound: tuple[str, int | None]) -> bool:
        if tag is None or tag != bound[0]:
            return tag is not None and tag > bound[0]
        return bound[1] is None or (number is not None and number >= bound[1])

    expected = [above(*row, ("tag1", 3)) + above(*row, ("tag3", None)) for row in rows]
    assert partitions_of(tmp_path / "out") == dict(enumerate(expected))


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        *(("int", [1.5]), ("int", ["1"]), ("int", [True]), ("int", [2**64]), ("int", [2, 1]), ("int", [[1, 2]])),
        *(("money", [1.5]), ("text", [1]), ("text", [b"x"]), ("bytes", ["x"]), ("yes", [1]), ("float", [10**40])),
        *(("day", [AT]), ("day", ["2023-12-25"]), ("at", [AT.replace(tzinfo=datetime.timezone.utc)])),
        *(("at", [AT + datetime.timedelta(microseconds=1)]), ("there", [AT]), ("there", [DAY])),
        *(("hour", [datetime.time(1, 1, 1, 5)]), ("hour", [AT]), ("nosuch", [1])),
    ],
)
def test_bounds_that_a_column_does_not_hold_are_refused(tmp_path: Path, name: str, bounds: list[Any]) -> None:
    fault = fault_of(faro.write, TABLE, tmp_path / "out", by=name, bounds=bounds)
    assert fault is not None
    assert fault.code == ErrorCode.INVALID_ARGUMENT
    assert list(tmp_path.iterdir()) == []


def frames() -> dict[str, Any]:
    plain = TABLE.select(["row", "int", "text"])
    return {
        "table": plain,
        "batch": plain.combine_chunks().to_batches()[0],
        "reader": plain.to_reader(max_chunksize=7),
        "pandas": plain.to_pandas(types_mapper={pa.int32(): pd.Int32Dtype(), pa.int64(): pd.Int64Dtype()}.get),
        "polars": pl.from_arrow(plain),
        "duckdb": duckdb.from_arrow(plain),
        "stream": plain.to_batches(max_chunksize=50)[0].schema and pa.chunked_array([plain.to_struct_array().chunk(0)]),
    }


@pytest.mark.parametrize("kind", ["table", "batch", "reader", "pandas", "polars", "duckdb", "stream"])
def test_whatever_exports_arrow_data_is_written(tmp_path: Path, kind: str) -> None:
    faro.write(frames()[kind], tmp_path / "out", by="int", partitions=5)
    faro.write(TABLE.select(["row", "int", "text"]), tmp_path / "expected", by="int", partitions=5)
    assert partitions_of(tmp_path / "out") == partitions_of(tmp_path / "expected")
    with faro.open(tmp_path / "out") as reader:
        assert reader.to_arrow().sort_by("row")["text"].to_pylist() == TABLE["text"].to_pylist()


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["a", "b", "c"])])
def test_categories_of_polars_are_written_as_their_text(tmp_path: Path, kind: Any) -> None:
    texts = [None if row % 7 == 0 else "abc"[row % 3] for row in range(300)]
    plain = pa.table({"row": range(300), "kind": pa.array(texts, pa.string())})
    frame = pl.DataFrame(plain).with_columns(pl.col("kind").cast(kind))
    for by, bounds in ("kind", None), ("row", None), ("kind", ["b", "c"]):
        faro.write(frame, tmp_path / "out", by=by, bounds=bounds, overwrite=True)
        faro.write(plain, tmp_path / "expected", by=by, bounds=bounds, overwrite=True)
        assert partitions_of(tmp_path / "out") == partitions_of(tmp_path / "expected")
        with faro.open(tmp_path / "out") as reader:
            assert reader.to_arrow().sort_by("row")["kind"].to_pylist() == texts


@pytest.mark.parametrize("inner", [pl.Categorical, pl.Enum(["a", "b", "c"])])
def test_categories_inside_other_types_are_written_as_their_text(tmp_path: Path, inner: Any) -> None:
    rows = [None if row % 7 == 0 else [None, "abc"[row % 3]][: row % 3] for row in range(300)]
    pairs = [None if row % 5 == 0 else ["abc"[row % 3], None] for row in range(300)]
    deep = [None if row % 4 == 0 else [{"kind": "abc"[row % 3], "row": row}, None] for row in range(300)]
    frame = pl.DataFrame(
        {"row": range(300), "lists": rows, "pairs": pairs, "deep": deep},
        schema={
            "row": pl.Int64,
            "lists": pl.List(inner),
            "pairs": pl.Array(inner, 2),
            "deep": pl.List(pl.Struct({"kind": inner, "row": pl.Int64})),
        },
    )
    # Parts of a frame have offsets.
    for part in frame, frame[3:290], frame[:0]:
        faro.write(part, tmp_path / "out", by="row", partitions=4, overwrite=True)
        with faro.open(tmp_path / "out") as reader:
            assert reader.to_arrow().sort_by("row").to_pylist() == part.to_dicts()


def test_dictionaries_of_pyarrow_inside_other_types_are_written_as_their_values(tmp_path: Path) -> None:
    codes = pa.array([None if row % 3 == 0 else row % 5 for row in range(60)], pa.int64()).dictionary_encode()
    offsets = pa.array([None if row % 4 == 0 else 2 * row for row in range(30)] + [60], pa.int32())
    lists = pa.ListArray.from_arrays(offsets, codes)
    structs = pa.StructArray.from_arrays([codes[10:40]], ["code"], mask=pa.array([row % 2 == 0 for row in range(30)]))
    table = pa.table({"row": range(30), "lists": lists, "structs": structs})
    for part in table, table.slice(5, 20), pa.concat_tables([table.slice(20), table.slice(0, 7)]):
        faro.write(part, tmp_path / "out", by="row", partitions=3, overwrite=True)
        with faro.open(tmp_path / "out") as reader:
            assert reader.to_arrow().sort_by("row").to_pylist() == part.sort_by("row").to_pylist()


def test_dictionaries_in_types_of_all_shapes(tmp_path: Path) -> None:
    empty = pl.DataFrame({"row": [1, 2], "a": [[], None]}, schema={"row": pl.Int64, "a": pl.Array(pl.Categorical, 0)})
    faro.write(empty, tmp_path / "out", by="row", partitions=2)
    with faro.open(tmp_path / "out") as reader:
        assert reader.to_arrow().sort_by("row")["a"].to_pylist() == [[], None]
    codes = pa.array(["a", "b"]).dictionary_encode()
    maps = pa.MapArray.from_arrays([0, 1, 2], codes, pa.array([1, 2]))
    fault = fault_of(faro.write, pa.table({"row": [1, 2], "maps": maps}), tmp_path / "map", by="row")
    assert fault is not None
    assert "the column maps without dictionaries" in fault.expected
    # A part of a column takes only its own values.
    lists = pa.ListArray.from_arrays(list(range(0, 2001)), pa.array(["x" * 1000] * 2000).dictionary_encode())
    assert unpacked_column(lists.slice(1000, 3)).values.nbytes < 4000
    # A table without chunks.
    schema = pa.schema([("row", pa.int64()), ("a", pa.dictionary(pa.uint32(), pa.string_view()))])
    nothing = pa.Table.from_batches([], schema)
    assert unpacked_column(nothing["a"]).type == pa.string()
    faro.write(nothing, tmp_path / "none", by="row", partitions=2)


def test_an_output_is_written_by_another_key(tmp_path: Path) -> None:
    faro.write(TABLE, tmp_path / "first", by="int", partitions=5)
    with faro.open(tmp_path / "first") as reader:
        faro.write(reader, tmp_path / "second", by="text", partitions=3)
    faro.write(TABLE, tmp_path / "expected", by="text", partitions=3)
    assert partitions_of(tmp_path / "second") == partitions_of(tmp_path / "expected")


def test_the_index_of_pandas_is_left_out_unless_it_is_the_key(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [3, 1, 2], "x": ["c", "a", "b"]}).set_index("id")
    faro.write(frame, tmp_path / "a", by="x", partitions=2)
    faro.write(frame, tmp_path / "b", by="id", partitions=2)
    faro.write(frame.reset_index().iloc[[2, 0]], tmp_path / "c", by="x", partitions=2)
    with faro.open(tmp_path / "a") as a, faro.open(tmp_path / "b") as b, faro.open(tmp_path / "c") as c:
        assert a.to_arrow().column_names == ["x"]
        assert sorted(b.to_pandas()["id"]) == [1, 2, 3]
        assert sorted(c.to_pandas()["id"]) == [2, 3]
        assert b.to_pandas().index.tolist() == [0, 1, 2]


def test_by_finds_each_named_level_of_an_index(tmp_path: Path) -> None:
    rows = pd.DataFrame({"k": range(9), "m": range(9, 0, -1), "x": list("abcdefghi")})
    frames = {
        # Consecutive integers are in no column of what pandas exports: a RangeIndex, which pandas 3 makes of them.
        "range": rows.set_index(pd.RangeIndex(9, name="k"))[["m", "x"]],
        "set": rows.set_index("k"),
        "levels": rows.set_index(["k", "m"]),
        "steps": rows.set_index(pd.RangeIndex(0, 18, 2, name="k"))[["m", "x"]],
    }
    for name, frame in frames.items():
        faro.write(frame, tmp_path / name, by=["k"], partitions=3)
        with faro.open(tmp_path / name) as reader:
            found = reader.to_pandas(columns=["k", "x"]).sort_values("x")
        step = 2 if name == "steps" else 1
        assert found["k"].tolist() == list(range(0, 9 * step, step))
    faro.write(frames["levels"], tmp_path / "both", by=["m", "k"], partitions=3)
    with ArrowWriter(tmp_path / "schema", pa.schema([("x", pa.string()), ("k", pa.int64())]), 1) as writer:
        writer.write(frames["range"][["x"]], [0] * 9)
    with faro.open(tmp_path / "schema") as reader:
        assert reader.to_arrow()["k"].to_pylist() == list(range(9))


def test_a_column_is_named_once(tmp_path: Path) -> None:
    fault = fault_of(faro.write, TABLE, tmp_path / "out", by=["int", "row", "int"])
    assert fault is not None
    assert str(fault) == "invalid-argument: expected by: names of columns, each once, found int, row, int"
    assert not list(tmp_path.iterdir())


def test_a_refused_dataframe_is_told_why(tmp_path: Path) -> None:
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    mixed = pd.DataFrame({"amount": [1, "x"], "k": [1, 2]})
    other = pd.DataFrame({"amount": ["x", 1], "k": [1, 2]})
    schema = pa.schema([("amount", pa.int64()), ("k", pa.int64())])
    with ArrowWriter(tmp_path / "rows", schema, 1) as writer:
        found = [
            str(fault_of(faro.write, twice, tmp_path / "out", by="a")),
            str(fault_of(faro.write, mixed, tmp_path / "out", by="k")),
            str(fault_of(faro.write, other, tmp_path / "out", by="k")),
            str(fault_of(writer.write, mixed, [0, 0])),
        ]
    begin = "invalid-argument: expected "
    assert found[0] == f"{begin}a DataFrame with a name of its own for each column, found 'a', a str, more than once"
    wanted = f"{begin}data: columns of which each has values of one type that Arrow has"
    assert found[1].startswith(f"{wanted}, found column amount: Could not convert 'x' with type str")
    assert found[2] == f"{wanted}, found column amount: Expected bytes, got a 'int' object"
    assert found[3].startswith(f"{begin}table: rows of the writer's columns, amount, k, found column amount: Could not")
    assert not any(" ... " in text for text in found)


def test_a_folder_is_no_name(tmp_path: Path) -> None:
    """A separator without a folder means nothing (PUB-1)."""
    MemoryFileSystem.store.clear()
    (tmp_path / "folder").mkdir()
    MemoryFileSystem().pipe("/bucket/folder/x", b"")
    for place in (str(tmp_path), "memory://bucket"):
        fault = fault_of(faro.write, TABLE, f"{place}/folder/", by="int")
        assert fault is not None
        assert fault.code == ErrorCode.INVALID_ARGUMENT
        assert "folder/" in fault.found
        faro.write(TABLE, f"{place}/new/", by="int")
        faro.write(TABLE, f"{place}/folder", by="int")
        faro.write(TABLE, f"{place}/folder/inner", by="int")
    names = ["folder", "folder.data", "folder.index", "new.data", "new.index"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    MemoryFileSystem.store.clear()


def test_streams_become_regions_and_failures_leave_nothing(tmp_path: Path) -> None:
    def batches(most: int) -> Iterator[pa.RecordBatch]:
        for number in range(40):
            if number == most:
                raise OSError(5, "the source broke")
            yield pa.record_batch({"x": np.arange(10_000)})

    schema = pa.schema([("x", pa.int64())])
    stream = pa.RecordBatchReader.from_batches(schema, batches(99))
    summary = faro.write(stream, tmp_path / "out", by="x", partitions=4, buffer_size=200_000)
    assert summary.regions > 10
    stream = pa.RecordBatchReader.from_batches(schema, batches(7))
    with pytest.raises(OSError, match="the source broke"):
        faro.write(stream, tmp_path / "broken", by="x", partitions=4)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["out.data", "out.index"]


def test_where_and_how_is_chosen(tmp_path: Path) -> None:
    destination = storage.MemoryDestination("out")
    faro.write(TABLE, destination=destination, by="int", properties={"job": "7"}, layout="single", producer=3)
    with faro.open(destination.files["out.faro"]) as reader:
        assert (reader.header.producer, reader.properties["job"], len(reader)) == (3, "7", 64)
    faro.write(TABLE.slice(0, 0), tmp_path / "empty", by="int", partitions=2)
    with faro.open(tmp_path / "empty") as reader:
        assert reader.to_arrow().num_rows == 0
        assert reader.to_arrow().column_names == TABLE.column_names


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"by": "nosuch"}, "by: "),
        ({"by": []}, "by: "),
        ({"by": "list"}, "by: "),
        ({"by": "huge"}, "by: "),
        ({"by": "x", "bounds": [1], "partitions": 3}, "partitions: "),
        ({"by": "x", "properties": {"faro.pack.by": "y"}}, "key: "),
        ({"by": "x", "partition_count": 3}, ""),
        ({"by": "x", "colour": "red"}, ""),
    ],
)
def test_wrong_calls_leave_nothing(tmp_path: Path, wrong: dict[str, Any], named: str) -> None:
    rows = pa.table({"x": [1], "list": [[1]], "huge": pa.array([Decimal(1)], pa.decimal256(50, 0))})
    if named:
        fault = fault_of(faro.write, rows, tmp_path / "out", **wrong)
        assert fault is not None
        assert fault.expected.startswith(named)
    else:
        with pytest.raises(TypeError):
            faro.write(rows, tmp_path / "out", **wrong)
    assert list(tmp_path.iterdir()) == []
