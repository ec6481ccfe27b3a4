"""How rows of tables become blocks: runs, groups of slots, and batches of about a size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from support import fault_of

import faro_format as faro
from faro_format import ErrorCode, FaroError, check
from faro_format.arrow import ArrowWriter, read_batches, read_table
from faro_format.arrow import _rows as arrow_rows

SCHEMA = pa.schema([("number", pa.int64()), ("text", pa.string()), ("maybe", pa.int16())])


def rows(count: int, seed: int) -> tuple[pa.Table, np.ndarray]:
    """Rows of uneven length, with nulls, and a number for each partition."""
    random = np.random.default_rng(seed)
    text = ["x" * int(length) for length in random.integers(0, 90, count)]
    maybe = [None if value < 0 else int(value) for value in random.integers(-5, 9, count)]
    table = pa.table([np.arange(count), text, maybe], SCHEMA)
    return table, random.integers(0, 300, count)


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("rotation", [0, 123])
@pytest.mark.parametrize("step", [333, 20_000])
def test_each_partition_gets_its_rows_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: bool, rotation: int, step: int
) -> None:
    """With the larger step, one call has more than the sort buffer may."""
    if small:
        monkeypatch.setattr(arrow_rows, "RUN", 3_000)
        monkeypatch.setattr(arrow_rows, "GROUP", 5_000)
    table, partitions = rows(20_000, 7)
    with ArrowWriter(
        str(tmp_path / "a"), SCHEMA, 300, rotation=rotation, buffer_size=300_000, block_size=2_000
    ) as writer:
        for begin in range(0, table.num_rows, step):
            writer.write(table.slice(begin, step), partitions[begin : begin + step])
    check(data=tmp_path / "a.data", index=tmp_path / "a.index")
    with faro.open(tmp_path / "a") as reader:
        assert (reader.region_count > 2) == (step < table.num_rows)
        for partition in reader.partitions:
            assert read_table(reader, partition).equals(table.filter(pa.array(partitions == partition)))


def test_batches_are_of_about_a_size(tmp_path: Path) -> None:
    table, _ = rows(20_000, 3)
    with ArrowWriter(str(tmp_path / "a"), SCHEMA, 1, block_size=20_000) as writer:
        for begin in range(0, table.num_rows, 37):
            part = table.slice(begin, 37)
            writer.write(part, np.zeros(part.num_rows, np.int64))
    with faro.open(tmp_path / "a") as reader:
        counts = [batch.num_rows for batch in read_batches(reader, 0)]
    per_block = 20_000 * table.num_rows / table.nbytes
    assert sum(counts) == table.num_rows
    assert max(counts) <= per_block
    assert min(counts) > per_block / 2


@pytest.mark.parametrize("present", [[5, 1], [5, 6, 7]])
def test_few_partitions_around_the_rotation(tmp_path: Path, present: list[int]) -> None:
    table, _ = rows(len(present), 1)
    with ArrowWriter(str(tmp_path / "a"), SCHEMA, 40, rotation=4) as writer:
        writer.write(table, np.array(present))
    check(data=tmp_path / "a.data", index=tmp_path / "a.index")
    with faro.open(tmp_path / "a") as reader:
        for row, partition in enumerate(present):
            assert read_table(reader, partition).equals(table.slice(row, 1))


def test_a_row_that_is_too_large_leaves_the_writer_as_it_was(tmp_path: Path) -> None:
    fine = pa.table([[1, 2], ["x" * 100, "y" * 100], [1, None]], SCHEMA)
    large = pa.table([[1, 2, 3], ["x", "y" * 9_000, "z"], [1, 2, 3]], SCHEMA)
    with ArrowWriter(str(tmp_path / "a"), SCHEMA, 4, max_plain_size=4_000) as writer:
        writer.write(fine, np.array([0, 3]))
        for fault in (fault_of(writer.write, large, np.array([1, 2, 3])), fault_of(writer.broadcast, large)):
            assert fault is not None
            assert fault.code == ErrorCode.LIMIT_EXCEEDED
        writer.write(fine, np.array([3, 3]))
    with faro.open(tmp_path / "a") as reader:
        assert [read_table(reader, p).num_rows for p in reader.partitions] == [1, 0, 0, 3]


def test_views_are_unpacked(tmp_path: Path) -> None:
    words = ["a", None, "a text that is too long to be kept in a view"]
    table = pa.table({"text": pa.array(words, pa.string_view()), "bytes": pa.array(words, pa.binary_view())})
    with ArrowWriter(str(tmp_path / "a"), table.schema, 2) as writer:
        writer.write(table, np.array([1, 1, 1]))
    with faro.open(tmp_path / "a") as reader:
        found = read_table(reader, 1)
    assert found.schema.types == [pa.string(), pa.binary()]
    assert found.column("text").to_pylist() == words


def test_types_whose_rows_pyarrow_cannot_take(tmp_path: Path) -> None:
    schema = pa.schema([("map", pa.map_(pa.string_view(), pa.int8()))])
    with pytest.raises(FaroError) as caught:
        ArrowWriter(str(tmp_path / "a"), schema, 2)
    assert caught.value.code == ErrorCode.INVALID_ARGUMENT
    assert not list(tmp_path.iterdir())
