"""An output as a collection of its partitions, and its rows as tables; pyarrow and DuckDB say what they must be."""

from __future__ import annotations

import datetime
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from support import asked, fault_of

import faro_format as faro
from faro_format import ErrorCode, FaroError, Reader, Writer, WriterOptions
from faro_format.arrow import ArrowWriter, unpacked

COUNT = 400
PARTITIONS = np.random.default_rng(5).integers(20, 27, COUNT)
"""27, the last, stays empty."""
ZONE = "Europe/Berlin"


def table() -> pa.Table:
    """Every kind of column, with nulls."""
    some = [i if i % 7 else None for i in range(COUNT)]
    day = datetime.date(2024, 2, 29)
    at = datetime.datetime(2024, 3, 31, 1, 30)
    columns: dict[str, Any] = {
        "id": pa.array(range(COUNT), pa.int64()),
        "small": pa.array([None if i is None else i % 100 for i in some], pa.int8()),
        "wide": pa.array([None if i is None else 2**63 + i for i in some], pa.uint64()),
        "real": pa.array([None if i is None else i / 3 for i in some], pa.float64()),
        "half": pa.array([None if i is None else np.float16(i) for i in some], pa.float16()),
        "yes": pa.array([None if i is None else i % 2 == 0 for i in some], pa.bool_()),
        "text": pa.array([None if i is None else f"größe {i}" for i in some], pa.string()),
        "large": pa.array([None if i is None else "x" * (i % 9) for i in some], pa.large_string()),
        "bytes": pa.array([None if i is None else bytes([i % 256]) for i in some], pa.binary()),
        "fixed": pa.array([None if i is None else bytes([i % 256, 1]) for i in some], pa.binary(2)),
        "money": pa.array([None if i is None else Decimal(i) / 100 for i in some], pa.decimal128(12, 2)),
        "huge": pa.array([None if i is None else Decimal(10) ** 40 + i for i in some], pa.decimal256(60, 0)),
        "day": pa.array([None if i is None else day + datetime.timedelta(i) for i in some], pa.date32()),
        "hour": pa.array([None if i is None else datetime.time(i % 24, 5) for i in some], pa.time64("us")),
        "at": pa.array([None if i is None else at + datetime.timedelta(hours=i) for i in some], pa.timestamp("ms")),
        "there": pa.array([None if i is None else at for i in some], pa.timestamp("us", ZONE)),
        "span": pa.array([None if i is None else datetime.timedelta(i) for i in some], pa.duration("s")),
        "tag": pa.array([None if i is None else "abc"[i % 3] for i in some]).dictionary_encode(),
        "list": pa.array([None if i is None else [i, None] * (i % 3) for i in some], pa.list_(pa.int32())),
        "struct": pa.array([None if i is None else {"a": i, "b": [str(i)]} for i in some]),
        "map": pa.array([None if i is None else [("k", i)] for i in some], pa.map_(pa.string(), pa.int64())),
        "nothing": pa.nulls(COUNT),
    }
    return pa.table(columns)


TABLE = table()
RARE = ("half", "huge")
"""Columns of types that Polars or DuckDB do not know."""
USUAL = [name for name in TABLE.column_names if name not in RARE]
PLAIN = TABLE.cast(unpacked(TABLE.schema))


@pytest.fixture(scope="module")
def name(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("tables") / "out", TABLE)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("tables") / "out", TABLE.select(USUAL))


def written(name: Path, rows: pa.Table) -> Path:
    with ArrowWriter(name, rows.schema, 8, first_partition=20, buffer_size=20_000, block_size=2_000) as writer:
        for first in range(0, COUNT, 50):
            writer.write(rows.slice(first, 50), PARTITIONS[first : first + 50])
    return name


def of(*partitions: int) -> pa.Table:
    """The rows of partitions, one after another."""
    return pa.concat_tables(PLAIN.filter(pa.array(number == PARTITIONS)) for number in partitions)


def test_a_reader_is_a_collection_of_partitions(name: Path) -> None:
    with faro.open(name) as reader:
        assert len(reader) == 8
        assert [partition.number for partition in reader] == list(range(20, 28))
        assert reader[np.int8(22)].number == 22
        statistics = reader.statistics
        assert statistics is not None
        assert statistics.records is not None
        for partition in reader:
            assert partition.stored_bytes == reader.stored_bytes(partition.number)
            assert partition.records == of(partition.number).num_rows == statistics.records[partition.number - 20]
            blocks = list(partition.blocks())
            assert [block.offset for block in blocks] == [b.offset for b in reader.partition(partition.number)]
        assert (reader[27].records, reader[27].stored_bytes, list(reader[27].blocks())) == (0, 0, [])


@pytest.mark.parametrize("wrong", [-1, 0, 19, 28, 2**40, -(2**80)])
def test_a_number_that_is_no_partition_is_an_index_error(name: Path, wrong: int) -> None:
    with faro.open(name) as reader:
        fault = fault_of(lambda: reader[wrong])
        assert fault is not None
        assert fault.code == ErrorCode.INVALID_ARGUMENT
        if abs(wrong) < 2**63:
            assert isinstance(fault, IndexError)
            again = pickle.loads(pickle.dumps(fault))
            assert (type(again), str(again)) == (type(fault), str(fault))


@pytest.mark.parametrize("wrong", ["7", 7.0, None, True, slice(20, 22)])
def test_what_is_no_number_is_refused(name: Path, wrong: Any) -> None:
    with faro.open(name) as reader:
        fault = fault_of(lambda: reader[wrong])
        assert fault is not None
        assert not isinstance(fault, IndexError)


def test_records_are_what_a_partition_yields(tmp_path: Path) -> None:
    with Writer(tmp_path / "out", WriterOptions(3, statistics=False)) as writer:
        writer.write(1, b"one")
        writer.write_event(1, 64, b"event")
        writer.broadcast(b"all")
    with faro.open(tmp_path / "out") as reader:
        assert [list(map(bytes, partition)) for partition in reader] == [[b"all"], [b"one", b"all"], [b"all"]]
        assert reader[1].records is None
        assert reader[1].to_arrow().to_pydict() == {"record": [b"one", b"all"]}
        assert reader.to_arrow([2, 1], columns=["record"]).num_rows == 3
        assert reader.to_arrow(0, columns=[]).num_columns == 0


def test_tables_are_those_that_were_written(name: Path) -> None:
    with faro.open(name) as reader:
        for partition in reader:
            expected = of(partition.number)
            assert partition.to_arrow().equals(expected)
            assert partition.to_batches().read_all().equals(expected)
            assert pa.table(partition).equals(expected)
        assert reader.to_arrow().equals(of(*range(20, 28)))
        assert reader.to_arrow(range(21, 23)).equals(of(21, 22))
        assert reader.to_arrow([25, 20, 25]).equals(of(25, 20, 25))
        assert reader.to_arrow(23).equals(of(23))
        assert reader.to_arrow([]).equals(PLAIN.slice(0, 0))
        assert reader.to_batches(range(20, 28)).read_all().equals(of(*range(20, 28)))
        assert pa.table(reader).equals(of(*range(20, 28)))


def test_columns_are_chosen(name: Path) -> None:
    columns = ["text", "id", "struct"]
    with faro.open(name) as reader:
        expected = of(*range(20, 28)).select(columns)
        assert reader.to_arrow(columns=columns).equals(expected)
        assert reader.to_batches(columns=columns).read_all().equals(expected)
        assert reader[24].to_arrow(columns=columns).equals(of(24).select(columns))
        # A column alone does not keep the bytes of the others.
        with_id = reader.to_arrow(columns=["id"])
        held = sum({b.address: b.size for c in with_id["id"].chunks for b in c.buffers() if b}.values())
        assert held < 40 * COUNT
        for wrong in (["nosuch"], ["id", "id"], "id", [7]):
            fault = fault_of(reader.to_arrow, columns=wrong)
            assert fault is not None
            assert fault.expected.startswith("columns: ")


def test_pandas_and_polars_have_the_same_rows(usual: Path) -> None:
    columns = USUAL
    with faro.open(usual) as reader:
        expected = of(23).select(columns)
        pd.testing.assert_frame_equal(reader[23].to_pandas(columns=columns), expected.to_pandas())
        whole = reader.to_pandas(columns=["id", "text"], types_mapper={pa.int64(): pd.Int64Dtype()}.get)
        assert whole["id"].dtype == pd.Int64Dtype()
        assert whole["id"].tolist() == of(*range(20, 28))["id"].to_pylist()
        assert reader[23].to_polars(columns=columns).equals(pl.from_arrow(expected))
        assert reader.to_polars([27]).height == 0
        polars: Any = pl.from_arrow(pa.table(reader[23]))
        assert polars["id"].to_list() == expected["id"].to_pylist()
        if int(pl.__version__.split(".")[0]) >= 2:
            assert pl.DataFrame(reader[23]).equals(polars)
        if hasattr(pd.DataFrame, "from_arrow"):
            assert pd.DataFrame.from_arrow(reader[23])["id"].tolist() == expected["id"].to_pylist()


def test_duckdb_queries_a_partition_and_the_whole(usual: Path) -> None:
    sums = "SELECT tag, count(*), sum(money), min(epoch_us(there)), max(wide) FROM rows GROUP BY tag ORDER BY tag"
    few = "SELECT count(*), sum(small) FROM rows"
    with faro.open(usual) as reader:
        # Twice: a reader is read anew for each query.
        for _ in range(2):
            assert asked(sums, reader) == asked(sums, of(*range(20, 28)).select(USUAL))
        assert asked(sums, reader[22]) == asked(sums, of(22).select(USUAL))
        scanner = reader.scanner([22, 23], columns=["id", "small"], filter=ds.field("id") > 100)
        assert asked(few, scanner) == asked(few + " WHERE id > 100", of(22, 23).select(USUAL))


def test_damage_stops_every_way_to_read(usual: Path, tmp_path: Path) -> None:
    data = bytearray(usual.with_suffix(".data").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "out.data").write_bytes(data)
    (tmp_path / "out.index").write_bytes(usual.with_suffix(".index").read_bytes())
    with faro.open(tmp_path / "out") as reader:
        for read in (reader.to_arrow, reader.to_pandas, reader.to_polars, lambda: reader.to_batches().read_all()):
            fault = fault_of(read)
            assert fault is not None
            assert fault.code == ErrorCode.CHECKSUM
        with pytest.raises(Exception, match="checksum in data file"):
            asked("SELECT sum(id) FROM rows", reader)
        counts = [fault_of(partition.to_arrow) is None for partition in reader]
    assert counts.count(False) == 1


def test_a_stream_reads_as_it_is_read_from(tmp_path: Path) -> None:
    rows = pa.table({"x": range(100_000)})
    with ArrowWriter(tmp_path / "out", rows.schema, 2, block_size=10_000) as writer:
        writer.write(rows, np.arange(100_000) // 50_000)
    data = bytearray((tmp_path / "out.data").read_bytes())
    data[-100] ^= 1
    (tmp_path / "out.data").write_bytes(data)
    with faro.open(tmp_path / "out") as reader:
        for stream in (reader.to_batches(), reader.to_batches(columns=["x"])):
            counts: list[int] = []
            with pytest.raises(FaroError, match="checksum"):
                counts.extend(batch.num_rows for batch in stream)
            # All that is before the damaged block was delivered.
            assert 90_000 < sum(counts) < 100_000


def test_a_file_that_claims_many_partitions_is_read_at_once(tmp_path: Path) -> None:
    with ArrowWriter(tmp_path / "out", pa.schema([("x", pa.int64())]), 2**28, statistics=False) as writer:
        writer.write(pa.table({"x": [1, 2]}), [5, 2**28 - 1])
    with faro.open(tmp_path / "out") as reader:
        assert reader.to_arrow().to_pydict() == {"x": [1, 2]}
        assert len(reader._repr_html_()) < 50_000


def test_rows_come_from_framing_arrow_or_records(tmp_path: Path) -> None:
    with Writer(tmp_path / "out", WriterOptions(1, framing="opaque")) as writer:
        writer.write(0, b"bytes")
    with faro.open(tmp_path / "out") as reader:
        fault = fault_of(reader.to_arrow)
        assert fault is not None
        assert fault.found == "framing opaque"


def test_a_reader_and_a_partition_say_what_they_are(name: Path) -> None:
    reader = Reader(name)
    assert repr(reader) == f"<Reader {name}: 8 partitions from 20 on, {reader.region_count} regions, framing arrow>"
    assert repr(reader[27]) == f"<Partition 27 of {name}: 0 B stored, 0 records>"
    assert "<table" in reader[27]._repr_html_()
    reader.close()
    assert repr(reader).startswith("<Reader ")
    with pytest.raises(FaroError):
        reader[20].to_arrow()
