"""Arrow tables in and out, and columns of bytes as records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from support import FILE_ID, Call, arrow_message, fault_of, write

import faro_format as faro
from faro_format import ErrorCode, FaroError, Writer, WriterOptions, check
from faro_format._storage.names import Layout
from faro_format.arrow import ArrowWriter, read_batches, read_records, read_schema, read_table, unpacked

ROWS = 5000


def table() -> pa.Table:
    numbers = np.arange(ROWS)
    text = pa.array([f"row {i}" if i % 7 else None for i in range(ROWS)])
    tags = pa.array([["a", "b", "c"][i % 3] for i in range(ROWS)]).dictionary_encode()
    lists = pa.array([[f"x{i % 5}"] for i in range(ROWS)], pa.list_(pa.dictionary(pa.int8(), pa.string())))
    return pa.table({"number": numbers, "text": text, "tag": tags, "list": lists})


@pytest.mark.parametrize("layout", ["paired", "single"])
@pytest.mark.parametrize("rotation", [0, 3])
def test_tables_by_partition(tmp_path: Path, layout: Layout, rotation: int) -> None:
    rows = table()
    partitions = np.random.default_rng(1).integers(2, 9, ROWS)
    some = rows.slice(0, 3)
    with ArrowWriter(
        str(tmp_path / "a"), rows.schema, 8, first_partition=2, layout=layout, rotation=rotation, buffer_size=100_000,
        block_size=4096, codec="zstd", max_plain_size=20_000,
    ) as writer:  # fmt: skip
        for first in range(0, ROWS, 1000):
            part = slice(first, first + 1000)
            writer.write(rows.slice(first, 1000), partitions[part])
        writer.broadcast(some)
        writer.multicast([2, 4], some.combine_chunks().to_batches()[0])
        writer.property("k", "v")
    names = ["faro"] if layout == "single" else ["data", "index"]
    files: dict[str, Any] = {name.replace("faro", "single"): tmp_path / f"a.{name}" for name in names}
    check(**files)
    plain = rows.cast(unpacked(rows.schema))
    with faro.open(tmp_path / "a") as reader:
        assert reader.region_count > 3
        assert read_schema(reader) == plain.schema
        for partition in reader.partitions:
            found = read_table(reader, partition)
            expected = [plain.filter(pa.array(partitions == partition)), plain.slice(0, 3)]
            expected += [plain.slice(0, 3)] if partition in (2, 4) else []
            assert found.equals(pa.concat_tables(expected))
            statistics = reader.statistics
            assert statistics is not None
            assert statistics.records is not None
            assert int(statistics.records[partition - 2]) + statistics.records_to_all == found.num_rows


def test_what_the_arrow_writer_refuses(tmp_path: Path) -> None:
    rows = pa.table({"a": [1, 2]})
    with ArrowWriter(str(tmp_path / "a"), rows.schema, 4, max_plain_size=300) as writer:
        for partitions in ([0], [0, 4], [0.5, 1]):
            with pytest.raises(FaroError, match="invalid-argument"):
                writer.write(rows, np.array(partitions))
        for other in (pa.table({"b": [1]}), 5):
            with pytest.raises(FaroError, match="invalid-argument"):
                writer.broadcast(other)
    with pytest.raises(RuntimeError), ArrowWriter(str(tmp_path / "b"), rows.schema, 4):
        raise RuntimeError
    large = pa.table({"a": ["x" * 1000]})
    wide = ArrowWriter(str(tmp_path / "c"), large.schema, 4, max_plain_size=300)
    fault = fault_of(wide.broadcast, large)
    assert fault is not None
    assert fault.code == ErrorCode.LIMIT_EXCEEDED
    wide.abort()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.data", "a.index"]


def test_what_pyarrow_refuses(tmp_path: Path) -> None:
    options = WriterOptions(2, framing="arrow", schema=arrow_message(b""), file_id=FILE_ID)
    made = write(tmp_path, options, [])
    with made.reader() as reader:
        fault = fault_of(read_schema, reader)
        assert fault is not None
        assert (fault.code, fault.role, fault.offset) == (ErrorCode.MALFORMED_MESSAGE, "index", 88)
    schema = pa.schema([("a", pa.int64())])
    options = WriterOptions(2, framing="arrow", schema=schema.serialize().to_pybytes(), file_id=FILE_ID)
    made = write(tmp_path, options, [Call("write", [1], arrow_message(b"no batch"))])
    with made.reader() as reader:
        fault = fault_of(lambda: list(read_batches(reader, 1)))
        assert fault is not None
        assert (fault.code, fault.role, fault.offset) == (ErrorCode.MALFORMED_BLOCK, "data", 88)
        assert list(read_batches(reader, 0)) == []
    made = write(tmp_path, WriterOptions(2, file_id=FILE_ID), [])
    with made.reader() as reader, pytest.raises(FaroError, match="invalid-argument"):
        read_schema(reader)


@pytest.mark.parametrize("kind", [pa.binary(), pa.string(), pa.large_binary(), pa.large_string()])
def test_columns_as_records(tmp_path: Path, kind: pa.DataType) -> None:
    values = [f"value {i}" * (i % 4) for i in range(300)]
    column = pa.chunked_array([pa.array(["cut", *values[:100]], kind)[1:], pa.array(values[100:], kind)])
    partitions = np.arange(300) % 3
    with Writer(str(tmp_path / "a"), WriterOptions(3)) as writer:
        writer.write_arrow_column(partitions, column)
        writer.write_arrow_column(np.zeros(0, np.int64), pa.array([], kind))
        for bad in (pa.array(["x", None], kind), pa.array([1]), ["x"]):
            with pytest.raises(FaroError, match="invalid-argument"):
                writer.write_arrow_column(np.zeros(2, np.int64), bad)
    with faro.open(tmp_path / "a") as reader:
        for partition in range(3):
            expected = [value.encode() for i, value in enumerate(values) if i % 3 == partition]
            assert read_records(reader, partition).to_pylist() == expected


def test_buffers_that_arrow_compressed_are_refused(tmp_path: Path) -> None:
    batch = pa.record_batch({"text": ["a" * 10_000]})
    schema = batch.schema.serialize().to_pybytes()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
        stream.write_batch(batch)
    compressed = list(pa.ipc.MessageReader.open_stream(sink.getvalue()))[1].serialize().to_pybytes()
    with Writer(str(tmp_path / "a"), WriterOptions(2, framing="arrow", schema=schema, layout="single")) as writer:
        writer.write(0, batch.serialize().to_pybytes())
        writer.write(1, compressed)
    with faro.open(tmp_path / "a") as reader:
        assert next(read_batches(reader, 0)).equals(batch)
        with pytest.raises(FaroError) as caught:
            list(read_batches(reader, 1))
        assert caught.value.code == ErrorCode.MALFORMED_BLOCK
        assert caught.value.offset == next(reader.partition(1)).offset + 24
