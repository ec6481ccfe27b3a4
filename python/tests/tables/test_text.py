"""CSV, TSV and JSON lines, as the command writes them, as tables; pyarrow's own reading is what they must be."""

from __future__ import annotations

import io
import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pytest
from support import fault_of

import faro_format as faro
from faro_format import Reader, Writer, WriterOptions
from faro_format._tables import selection

CSV = ['1,"a, b",7.50', '2,"two\nlines",', '3,"say ""x""",0.25', "4,größe,1e3"]
TSV = ['1\ta "b\t7', "2\t'c'\t8", "3\t\t9", "4\td\t10"]
JSON = ['{"id": 1, "a": {"b": [1, 2]}}', '{"id": 2, "a": null, "t": "x"}', '{"id": 3.5}', '{"id": 4}']


def packed(folder: Path, records: list[str], **properties: str) -> Reader:
    """An output as ``faro pack`` writes it; records go to its partitions in turn."""
    with Writer(folder / "out", WriterOptions(2, overwrite=True, block_size=64)) as writer:
        for number, record in enumerate(records):
            writer.write(number % 2, record.encode())
        for key, value in properties.items():
            writer.property(f"faro.pack.{key}", value)
    return faro.open(folder / "out")


def csv_of(folder: Path, records: list[str] = CSV, **more: str) -> Reader:
    return packed(folder, records, **{"format": "csv", "delimiter": ",", "header": "id,name,amount", **more})


def test_csv_becomes_a_table(tmp_path: Path) -> None:
    with csv_of(tmp_path) as reader:
        in_order = "\n".join(["id,name,amount", *CSV[0::2], *CSV[1::2]]).encode()
        options = pyarrow.csv.ParseOptions(newlines_in_values=True)
        expected = pyarrow.csv.read_csv(io.BytesIO(in_order), parse_options=options)
        assert reader.to_arrow().equals(expected)
        assert reader[1].to_arrow().to_pydict() == {
            "id": [2, 4],
            "name": ["two\nlines", "größe"],
            "amount": [None, 1000.0],
        }
        assert reader.to_arrow(columns=["amount", "id"]).equals(expected.select(["amount", "id"]))
        assert reader.to_batches().read_all().equals(expected)
        money = reader.to_arrow(0, types={"amount": pa.decimal128(12, 2), "id": pa.string()})
        assert [str(kind) for kind in money.schema.types] == ["string", "string", "decimal128(12, 2)"]
        assert reader.to_pandas(types=pa.schema([("id", pa.int8())]))["id"].dtype == "int8"


def test_only_an_empty_field_is_null(tmp_path: Path) -> None:
    """The partitions are read alone: in one, all other values of the column are numbers."""
    records = ["1,NA,", "2,x,3", '3,null,""', "4,y,4", "5,7,5"]
    with csv_of(tmp_path, records) as reader:
        assert reader[0].to_arrow().to_pydict()["name"] == ["NA", "null", "7"]
        assert reader.to_arrow().to_pydict()["amount"] == [None, None, 5, 3, 4]
        fault = fault_of(reader.to_arrow, types={"name": pa.int64()})
        assert fault is not None
        assert "NA" in fault.found
    with csv_of(tmp_path, ["1,NaN,", "1,nan,", "2,2.5,"]) as reader:
        assert str(reader[0].to_arrow()["name"].to_pylist()) == "[nan, 2.5]"


def test_tsv_has_no_quotes_and_other_delimiters_are_known(tmp_path: Path) -> None:
    with packed(tmp_path, TSV, format="tsv", delimiter="\t", header="id\tname\tn") as reader:
        assert reader.to_arrow([0, 1]).to_pydict()["name"] == ['a "b', "", "'c'", "d"]
    with packed(tmp_path, ["1;x", "2;y"], format="csv", delimiter=";") as reader:
        assert reader.to_arrow().to_pydict() == {"f0": [1, 2], "f1": ["x", "y"]}


def test_json_lines_become_a_table(tmp_path: Path) -> None:
    with packed(tmp_path, JSON, format="jsonl") as reader:
        expected = pyarrow.json.read_json(io.BytesIO("\n".join(JSON[0::2] + JSON[1::2]).encode()))
        assert reader.to_arrow().equals(expected)
        assert reader[0].to_arrow(columns=["id"]).to_pydict() == {"id": [1.0, 3.5]}
        typed = reader[0].to_arrow(types={"id": pa.float32(), "t": pa.string()})
        assert typed.to_pydict()["t"] == [None, None]
        fault = fault_of(reader.to_arrow, columns=["idd"])
        assert fault is not None
        assert fault.expected.startswith("columns: ")


MIXED = [
    '{"a": 1, "n": 1}',
    '{"a": "x", "n": 2}',
    '{"n": 3.50, "a" : 1.50}',
    '{"n": 4, "a": {"b": [1, "}"]}}',
    '{"n": 5, "a":true, "é": "ü"}',
    '{"n": 6, "a": null}',
    '{"n": 7}',
    '{"a": "\\"1\\"", "n": 8}',
]


def test_json_values_of_several_types_are_text_if_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = ["1", "x", "1.50", '{"b": [1, "}"]}', "true", None, None, '"1"']
    with packed(tmp_path, [*MIXED, "{}"], format="jsonl") as reader:
        fault = fault_of(reader.to_arrow)
        assert fault is not None
        assert "pyarrow.string()" in fault.expected
        table = reader.to_arrow(types={"a": pa.string()})
        assert table["a"].to_pylist() == [*expected[0::2], None, *expected[1::2]]
        assert table["n"].to_pylist() == [1, 3.5, 5, 7, None, 2, 4, 6, 8]
        assert reader.to_arrow(columns=["a"], types={"a": pa.large_string()})["a"].to_pylist() == table["a"].to_pylist()
        monkeypatch.setattr(selection, "_CHUNK", 20)
        assert reader.to_batches(types={"a": pa.string(), "n": pa.float64()}, columns=["n", "a"]).read_all()[
            "a"
        ].to_pylist() == (table["a"].to_pylist())
        # Later lines know the types of columns that are not wanted, too.
        assert reader.to_batches(types={"a": pa.string()}, columns=["n"]).read_all()["n"].to_pylist()[-1] == 8
    for broken in ('{"a": NaN}', '{"a": 1', '{"a" 1}', '{"a": 1}}', '{"a"', "{", '{"a": 1 "n": 2}'):
        with packed(tmp_path, [*MIXED, "{}", broken], format="jsonl") as reader:
            assert fault_of(reader.to_arrow, types={"a": pa.string()}) is not None
    with packed(tmp_path, ['{"a": 1}', '{"a": "x"}', f'{{"a": 1{"0" * 4400}}}', "{}"], format="jsonl") as reader:
        assert reader.to_arrow(types={"a": pa.string()})["a"].to_pylist() == ["1", "1" + "0" * 4400, "x", None]
    # A type that was found is not one that was asked for.
    with packed(tmp_path, ['{"a": "x"}', '{"a": "y"}', '{"a": 17}', "{}"], format="jsonl") as reader:
        assert fault_of(lambda: reader.to_batches().read_all()) is not None


def test_json_times_with_offsets_are_in_utc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, offset = "2024-01-01T00:30:00", "2024-01-01T02:30:00+02:00"
    utc = datetime(2024, 1, 1, 0, 30, tzinfo=timezone.utc)

    def lines(*times: str | None) -> list[str]:
        return [json.dumps({"t": time, "day": "2024-01-01"}) for time in times]

    for times, expected in [
        ((plain, plain), [utc.replace(tzinfo=None)] * 2),
        ((offset, "2024-01-01T00:30:00Z"), [utc] * 2),
        ((offset, None), [utc, None]),
        (("2024-01-01 00:30Z", None), [utc, None]),
    ]:
        with packed(tmp_path, lines(*times), format="jsonl") as reader:
            table = reader.to_arrow()
            assert table["t"].to_pylist() == expected
            assert table["day"].to_pylist() == [datetime(2024, 1, 1)] * 2
    for time in plain, offset:
        with (
            packed(tmp_path, lines(*[time] * 40, *[None] * 40), format="jsonl") as reader,
            monkeypatch.context() as patch,
        ):
            patch.setattr(selection, "_CHUNK", 200)
            assert reader.to_batches().read_all().equals(reader.to_arrow())
    for both in ([plain] * 50 + [offset] * 50, [offset] * 50 + [plain] * 50):
        with packed(tmp_path, lines(*both), format="jsonl") as reader:
            fault = fault_of(reader.to_arrow)
            assert fault is not None
            assert "times in the column t" in fault.expected
            assert reader.to_arrow(columns=["day"]).num_rows == 100
            assert reader.to_arrow(types={"t": pa.string()}).num_rows == 100
            monkeypatch.setattr(selection, "_CHUNK", 200)
            assert fault_of(lambda: reader.to_batches().read_all()) is not None
            # A type that the caller names says what is wanted.
            named = reader.to_batches(types={"t": pa.timestamp("s", "UTC")}).read_all()
            assert named["t"].to_pylist() == [utc] * 100


def test_streams_have_one_type_for_each_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "_CHUNK", 100)
    numbers = [f"{i},x,{i}.5" for i in range(200)]
    with csv_of(tmp_path, numbers) as reader:
        stream = reader.to_batches(columns=["amount"])
        batches = list(stream)
        assert len(batches) > 10
        assert sum(batch.num_rows for batch in batches) == 200
        assert stream.schema == pa.schema([("amount", pa.float64())])
    with csv_of(tmp_path, [*numbers, "text,x,1"]) as reader:
        fault = fault_of(lambda: reader.to_batches().read_all())
        assert fault is not None
        assert "types=" in fault.expected
        assert reader.to_batches(types={"id": pa.string()}).read_all().num_rows == 201
    with packed(tmp_path, [json.dumps({"a": i}) for i in range(99)], format="jsonl") as reader:
        assert reader.to_batches().read_all()["a"].to_pylist() == [*range(0, 99, 2), *range(1, 99, 2)]


def test_no_lines_are_tables_too(tmp_path: Path) -> None:
    with csv_of(tmp_path, []) as reader:
        assert reader.to_arrow().to_pydict() == {"id": [], "name": [], "amount": []}
        assert reader.to_arrow(types={"id": pa.int64()}).schema.field("id").type == pa.int64()
        assert reader.to_batches().read_all().num_rows == 0
        assert len(reader.to_pandas()) == 0
    for properties in ({"format": "csv", "delimiter": ","}, {"format": "jsonl"}):
        with packed(tmp_path, [], **properties) as reader:
            assert reader.to_arrow().num_columns == 0
            assert reader.to_batches().read_all().num_rows == 0


def test_records_longer_than_a_parsers_block(tmp_path: Path) -> None:
    long = "y" * (3 << 20)
    with csv_of(tmp_path, [f"1,{long},2", "2,x,3"]) as reader:
        assert reader.to_arrow(0)["name"].to_pylist() == [long]
    with packed(tmp_path, [json.dumps({"a": long}), '{"a": "x"}'], format="jsonl") as reader:
        assert reader.to_arrow()["a"].to_pylist() == [long, "x"]


@pytest.mark.parametrize(
    ("records", "properties"),
    [
        (["1,2,3", "4,5"], {}),
        (["1,a\rb,3"], {}),
        ([""], {}),
        (["1,2,3"], {"delimiter": "ab"}),
        (["1,2,3"], {"delimiter": "\n"}),
        (["1,2,3"], {"delimiter": ""}),
        (["{}{}"], {"format": "jsonl"}),
        (["[1]"], {"format": "jsonl"}),
        (['{"a": 1}', '{"a": "x"}'], {"format": "jsonl"}),
    ],
)
def test_text_that_is_not_its_format_is_refused(tmp_path: Path, records: list[str], properties: dict[str, str]) -> None:
    with csv_of(tmp_path, records, **properties) as reader:
        for read in (reader.to_arrow, lambda: reader.to_batches().read_all()):
            assert fault_of(read) is not None


@pytest.mark.parametrize("types", [{"nosuch": pa.int64()}, {"id": "int"}, {"id": pa.list_(pa.int8())}, [1], "x"])
def test_wrong_types_are_refused(tmp_path: Path, types: Any) -> None:
    with csv_of(tmp_path) as reader:
        assert fault_of(reader.to_arrow, types=types) is not None


@pytest.mark.parametrize(
    ("by", "header", "expected"),
    [
        ("zip", "zip,n,name", ["00123", "", "123"]),
        ("zip:text,n:int", "zip,n,name", ["00123", "", "123"]),
        ("1", "zip,n,name", ["00123", "", "123"]),
        ("1", None, ["00123", "", "123"]),
        ("n:int", "zip,n,name", [123, None, 123]),
    ],
)
def test_text_keys_stay_text(tmp_path: Path, by: str, header: str | None, expected: list[Any]) -> None:
    """``00123`` and ``123`` are different keys, and the command puts them into different partitions."""
    properties = {"format": "csv", "delimiter": ",", "by": by} | ({} if header is None else {"header": header})
    name = "f0" if header is None else "zip"
    with packed(tmp_path, ["00123,1,a", "123,2,b", ",3,c"], **properties) as reader:
        assert reader.to_arrow()[name].to_pylist() == expected
        assert reader[0].to_arrow(types={name: pa.int64()})[name].to_pylist() == [123, None]
