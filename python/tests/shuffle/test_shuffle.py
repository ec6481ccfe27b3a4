"""A whole shuffle: outputs of many producers. DuckDB and pyarrow say what sums and partitions must be."""

from __future__ import annotations

import io
import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from support import asked, fault_of

import faro_format as faro
from faro_format import ErrorCode, FaroError, Reader, Shuffle, Writer, WriterOptions
from faro_format.arrow import ArrowWriter
from faro_format.key import partition_columns
from faro_format.merge import Merge, MergeOptions, Push, fragment

PRODUCERS, PARTITIONS, ROWS = 12, 7, 200
SCHEMA = pa.schema([("producer", pa.int64()), ("key", pa.int64()), ("text", pa.string())])


def rows_of(producer: int) -> pa.Table:
    keys = (np.arange(ROWS) * (producer + 3)) ** 2 % 31
    return pa.table({"producer": [producer] * ROWS, "key": keys, "text": [f"row {key}" for key in keys]}, SCHEMA)


def all_rows() -> pa.Table:
    """All rows with their partitions."""
    rows = pa.concat_tables(map(rows_of, range(PRODUCERS)))
    return rows.append_column("partition", pa.array(partition_columns([rows["key"]], PARTITIONS)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for producer in range(PRODUCERS):
        inner = tmp_path / f"host-{producer % 3}"
        inner.mkdir(exist_ok=True)
        layout = "single" if producer % 2 else "paired"
        faro.write(
            rows_of(producer), inner / f"map-{producer}", by="key", partitions=PARTITIONS, producer=producer,
            layout=layout, statistics=producer != 5,
        )  # fmt: skip
    (tmp_path / "notes.txt").write_text("not an output")
    (tmp_path / "host-0" / "map-0.data.1a2b.tmp").write_bytes(b"")
    return tmp_path


def sorted_rows(found: pa.Table) -> pa.Table:
    return found.sort_by([("producer", "ascending"), ("key", "ascending")])


def test_a_folder_is_a_shuffle(folder: Path) -> None:
    shuffle = faro.open(folder)
    assert isinstance(shuffle, Shuffle)
    assert (len(shuffle), len(list(shuffle))) == (PRODUCERS, PRODUCERS)
    assert [output.header.producer for output in shuffle if output.header] == [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]
    assert shuffle.partitions == range(PARTITIONS)
    assert repr(shuffle) == f"<Shuffle {folder}: 12 outputs>"
    assert len(faro.open(folder, recursive=False)) == 0
    with next(iter(shuffle)).open() as reader:
        assert reader.header.producer == 0


def test_a_partition_has_the_rows_of_all_producers(folder: Path) -> None:
    shuffle, expected = faro.open(folder), all_rows()
    for number in range(PARTITIONS):
        mine = expected.filter(pa.array(np.equal(expected["partition"], number))).drop_columns("partition")
        partition = shuffle[number]
        assert sorted_rows(partition.to_arrow()).equals(sorted_rows(mine))
        assert sorted_rows(pa.table(partition)).equals(sorted_rows(mine))
        assert (sum(block.is_data for block in partition.blocks()) > 0) == (mine.num_rows > 0)
    assert (
        sorted_rows(shuffle.to_arrow([2, 4])).num_rows
        == shuffle[2].to_arrow().num_rows + shuffle[4].to_arrow().num_rows
    )
    assert sorted(shuffle[3].to_pandas(columns=["key"])["key"]) == sorted(shuffle[3].to_polars()["key"])
    fault = fault_of(lambda: shuffle[PARTITIONS])
    assert isinstance(fault, IndexError)


def test_duckdb_queries_the_whole(folder: Path) -> None:
    shuffle, expected = faro.open(folder), all_rows()
    query = "SELECT producer, count(*), sum(key), max(text) FROM rows GROUP BY producer ORDER BY producer"
    assert asked(query, shuffle) == asked(query, expected)


def test_the_sums_are_those_of_the_footers(folder: Path) -> None:
    expected = all_rows()
    # Without the output that has no statistics, all numbers are known.
    os.remove(folder / "host-2" / "map-5.faro")
    expected = expected.filter(pa.array(np.not_equal(expected["producer"], 5)))
    sums = Shuffle(folder).sum_up()
    mine = sums.to_arrow()
    counted = asked("SELECT partition, count(*) AS records FROM rows GROUP BY ALL ORDER BY ALL", expected)
    assert asked("SELECT partition, records FROM rows WHERE records > 0 ORDER BY ALL", mine) == counted
    assert (mine.num_rows, sums.records) == (PARTITIONS, expected.num_rows)
    by_output = sums.to_arrow("output")
    found = asked("SELECT producer, records FROM rows ORDER BY ALL", by_output)
    assert found == asked("SELECT producer, count(*) FROM rows GROUP BY ALL ORDER BY ALL", expected)
    stored = dict.fromkeys(range(PARTITIONS), 0)
    for output in Shuffle(folder):
        with output.open() as reader:
            for partition in reader:
                stored[partition.number] += partition.stored_bytes
    assert dict(zip(mine["partition"].to_pylist(), mine["stored_bytes"].to_pylist(), strict=True)) == stored
    for name in ("stored_bytes", "plain_bytes", "records"):
        assert sum(mine[name].to_pylist()) == sum(by_output[name].to_pylist())
    assert sums.largest(1) == [max(stored.items(), key=lambda item: item[1])]
    assert sums.skew == pytest.approx(max(stored.values()) / np.mean(list(stored.values())))
    assert pd.DataFrame(pl.DataFrame(sums).to_dict(as_series=False))["records"].sum() == sums.records
    assert faro.open(folder)[2].records == dict(counted)[2]


def test_an_output_without_statistics_is_summed_from_its_regions(folder: Path) -> None:
    sums = Shuffle(folder).sum_up()
    assert sums.records is None
    assert sums.to_arrow()["records"].to_pylist() == [None] * PARTITIONS
    (output,) = (output for output in sums.outputs if output.header and output.header.producer == 5)
    with output.open() as reader:
        assert output.stored_bytes == sum(map(reader.stored_bytes, reader.partitions))
    assert output.records is None
    assert faro.open(folder)[2].records is None


def test_regions_are_not_read_if_there_are_statistics(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.remove(folder / "host-2" / "map-5.faro")
    monkeypatch.setattr(Reader, "_region", None)
    sums = Shuffle(folder).sum_up()
    assert (len(sums.outputs), sums.faults) == (PRODUCERS - 1, ())


def damage(folder: Path) -> dict[str, ErrorCode]:
    """Break four outputs in different ways."""
    index = folder / "host-0" / "map-0.index"
    index.write_bytes(index.read_bytes()[:-24])
    single = folder / "host-1" / "map-1.faro"
    raw = bytearray(single.read_bytes())
    raw[-1 - 24 - 40] ^= 1
    single.write_bytes(raw)
    os.remove(folder / "host-2" / "map-2.data")
    (folder / "host-2" / "other.faro").write_bytes(b"not Faro" * 20)
    return {
        "map-0": ErrorCode.UNFINISHED,
        "map-1": ErrorCode.CHECKSUM,
        "map-2": ErrorCode.IO,
        "other": ErrorCode.NOT_FARO,
    }


def test_files_of_other_programs_are_passed_over(folder: Path) -> None:
    before = Shuffle(folder).sum_up()
    # notes.txt and the temporary file of the fixture.
    assert before.other_files == 2
    host = folder / "host-0"
    (host / "sales.data").write_bytes(b"id,amount\n1,2\n")
    (host / "book.index").write_bytes(b"a book")
    (host / "empty.data").write_bytes(b"")
    (host / "empty.index").write_bytes(b"")
    (host / ".data").write_bytes(b"hidden")
    # The data file begins as an index does: not a pair either.
    (host / "turned.data").write_bytes((host / "map-0.index").read_bytes())
    os.mkfifo(host / "pipe.data")
    # What looks like Faro is an output, however little of it there is.
    (host / "cut.data").write_bytes((host / "map-0.data").read_bytes()[:7])
    (host / "half.index").write_bytes(b"not Faro")
    (host / "half.data").write_bytes((host / "map-0.data").read_bytes())
    (host / "again").symlink_to(folder)
    (host / "gone.index").symlink_to(host / "nosuch")
    sums = Shuffle(folder).sum_up()
    assert {Path(output.name).name for output in sums.faults} == {"cut", "half"}
    assert (len(sums.outputs), sums.other_files) == (PRODUCERS + 2, 2 + 8)
    assert "; 10 other files" in repr(sums)
    assert Shuffle(folder).without_faults().to_arrow().num_rows == PRODUCERS * ROWS


def test_outputs_with_different_partitions_are_doubted(tmp_path: Path) -> None:
    for producer, count in enumerate([2, 2, 3, 4]):
        with Writer(tmp_path / f"map-{producer}", WriterOptions(count, producer=producer)) as writer:
            writer.write(1, b"a record")
    shuffle = Shuffle(tmp_path)
    names = [tmp_path / f"map-{producer}" for producer in (0, 2)]
    message = f"{names[1]} has 3 partitions, but {names[0]} has 2: are they of one shuffle?"
    reads: list[Any] = [
        shuffle.to_arrow, shuffle[1].to_pandas, lambda: list(shuffle[1]), lambda: list(shuffle[1].blocks()),
    ]  # fmt: skip
    for read in reads:
        with pytest.warns(faro.PartitionsWarning) as found:
            read()
        assert [(str(one.message), one.filename) for one in found] == [(message, __file__)]
    alike = Shuffle([tmp_path / "map-0", tmp_path / "map-1"])
    assert alike.to_arrow().num_rows == 2


def test_outputs_that_are_partitioned_in_another_way_are_doubted(tmp_path: Path) -> None:
    table = pa.table({"key": [1, 2], "value": [1, 2]})
    for name in "ab":
        faro.write(table, tmp_path / name, by="key", partitions=2)
    faro.write(table, tmp_path / "c", by="key", bounds=[3])
    faro.write(table, tmp_path / "d", by="value", partitions=2)
    assert Shuffle([tmp_path / "a", tmp_path / "b"]).to_arrow().num_rows == 4
    told = r"/[cd] is partitioned in another way than .*/a: are they of one shuffle"
    for other in "cd":
        with pytest.warns(faro.PartitionsWarning, match=told):
            Shuffle([tmp_path / "a", tmp_path / other])[1].to_arrow()


def test_an_error_names_calls_that_there_are(tmp_path: Path) -> None:
    faro.write(rows_of(0), tmp_path / "arrow", by="key", partitions=2)
    with Writer(tmp_path / "opaque", WriterOptions(2, framing=faro.Framing.OPAQUE)) as writer:
        writer.write(1, b"bytes")
    for name, calls in (("arrow", [list]), ("opaque", [list, lambda partition: partition.to_arrow()])):
        with faro.open(tmp_path / name) as reader:
            for partition in (reader[1], Shuffle([tmp_path / name])[1]):
                for call in calls:
                    fault = fault_of(call, partition)
                    assert fault is not None
                    named = re.findall(r"(\w+)\(\)", fault.expected)
                    assert named
                    assert all(hasattr(partition, name) for name in named)
                    assert " ... " not in str(fault)


def test_a_closed_file_is_an_error_of_the_system() -> None:
    closed = io.BytesIO(b"bytes")
    closed.close()
    fault = fault_of(faro.open, closed)
    assert isinstance(fault, faro.FaroIOError)
    assert (fault.code.family, "closed file" in fault.found) == (faro.ErrorFamily.ENVIRONMENT, True)


def test_folders_are_searched_by_links_too_and_once(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    faro.write(rows_of(99), outside / "map-99", by="key", producer=99, partitions=PARTITIONS)
    for name in ("one", "two"):
        (folder / name).symlink_to(outside)
    assert len(Shuffle(folder)) == PRODUCERS + 1
    assert len(Shuffle(folder, recursive=False)) == 0


def test_damaged_outputs_are_told_and_never_left_out_silently(folder: Path) -> None:
    expected = damage(folder)
    shuffle = Shuffle(folder)
    sums = shuffle.sum_up()
    assert {Path(output.name).name: output.error.code for output in sums.faults if output.error} == expected
    table = sums.to_arrow("output")
    assert {code for code in table["fault"].to_pylist() if code} == set(map(str, expected.values()))
    reads: list[Any] = [shuffle.to_arrow, shuffle[1].to_arrow, lambda: list(shuffle[1].blocks()), shuffle.to_batches]
    for read in reads:
        fault = fault_of(read)
        assert fault is not None
        assert fault.code == ErrorCode.UNFINISHED
    good = shuffle.without_faults()
    assert (len(good), good.sum_up().faults) == (PRODUCERS - 3, ())
    rows = all_rows().filter(pa.array([producer > 2 for producer in all_rows()["producer"].to_pylist()]))
    assert sorted_rows(good.to_arrow()).equals(sorted_rows(rows.drop_columns("partition")))
    assert "4 with faults" in sums._repr_html_()
    assert "not-faro" in sums._repr_html_()


def test_a_damaged_block_among_good_outputs_is_found(folder: Path) -> None:
    data = folder / "host-0" / "map-6.data"
    raw = bytearray(data.read_bytes())
    raw[len(raw) // 2] ^= 1
    data.write_bytes(raw)
    fault = fault_of(faro.open(folder).to_arrow)
    assert fault is not None
    assert (fault.code, fault.file) == (ErrorCode.CHECKSUM, str(data))


def test_copies_of_an_output_are_not_read_together(tmp_path: Path) -> None:
    for name in ("map-0", "map-1"):
        faro.write(rows_of(0), tmp_path / name, by="key", partitions=3)
    assert faro.open(tmp_path).to_arrow().num_rows == 2 * ROWS
    for ending in ("data", "index"):
        shutil.copy(tmp_path / f"map-0.{ending}", tmp_path / f"copy.{ending}")
    fault = fault_of(faro.open(tmp_path).to_arrow)
    assert fault is not None
    assert fault.code == ErrorCode.INVALID_ARGUMENT
    assert "each output once" in fault.expected


def test_two_attempts_of_a_producer_are_not_read_together(tmp_path: Path) -> None:
    for attempt in range(2):
        faro.write(rows_of(0), tmp_path / f"attempt-{attempt}", by="key", partitions=3, producer=7, attempt=attempt)
    shuffle = Shuffle(tmp_path)
    fault = fault_of(shuffle.to_arrow)
    assert fault is not None
    assert fault.code == ErrorCode.INVALID_ARGUMENT
    assert "producer 7" in fault.expected
    assert len(shuffle.sum_up().outputs) == 2
    assert faro.open([tmp_path / "attempt-1"]).to_arrow().num_rows == ROWS


def test_a_merged_file_is_not_read_with_its_originals(tmp_path: Path) -> None:
    for producer in range(2):
        faro.write(rows_of(producer), tmp_path / f"map-{producer}", by="key", partitions=3, producer=producer)
    with faro.open(tmp_path / "map-0") as reader:
        schema = reader.schema_message
    with Merge.create(tmp_path / "merged", MergeOptions(partition_count=3, framing="arrow", schema=schema)) as merge:
        for producer in range(2):
            sent = io.BytesIO()
            with faro.open(tmp_path / f"map-{producer}") as reader:
                fragment(reader, 0, 3, sent)
            push = merge.begin(producer, 0)
            assert isinstance(push, Push)
            push.write(sent.getvalue())
            push.commit()
        merge.finalize()
    fault = fault_of(faro.open(tmp_path).to_arrow)
    assert fault is not None
    assert "merged" in fault.expected
    assert faro.open([tmp_path / "merged"]).to_arrow().num_rows == 2 * ROWS


def test_outputs_with_other_columns_are_refused(tmp_path: Path) -> None:
    faro.write(rows_of(0), tmp_path / "a", by="key")
    faro.write(rows_of(1).drop_columns("text"), tmp_path / "b", by="key", producer=1)
    fault = fault_of(faro.open(tmp_path).to_arrow)
    assert fault is not None
    assert fault.expected.startswith("outputs with the same columns")


def test_outputs_may_have_different_partitions(tmp_path: Path) -> None:
    for number in range(3):
        with Writer(tmp_path / f"{number}", WriterOptions(4, first_partition=2 * number, producer=number)) as writer:
            writer.write(2 * number + 2, f"{number}".encode())
            writer.broadcast(b"all")
    shuffle = Shuffle(tmp_path)
    assert shuffle.partitions == range(8)
    assert [list(map(bytes, shuffle[n])) for n in (1, 2, 4, 7)] == [
        [b"all"],
        [b"0", b"all", b"all"],
        [b"1", b"all", b"all"],
        [b"all"],
    ]
    assert shuffle.to_arrow([4])["record"].to_pylist() == [b"1", b"all", b"all"]
    found = shuffle.sum_up().to_arrow()
    assert found["records"].to_pylist() == [1, 1, 3, 2, 3, 2, 2, 1]
    assert [shuffle[n].records for n in range(8)] == found["records"].to_pylist()
    assert "<svg" in shuffle._repr_html_()


def test_memory_does_not_grow_with_claimed_partitions(tmp_path: Path) -> None:
    import tracemalloc

    schema = pa.schema([("x", pa.int64())])
    for producer in range(3):
        with ArrowWriter(tmp_path / f"{producer}", schema, 2**28, producer=producer, statistics=False) as writer:
            writer.write(pa.table({"x": [1, 2, 3]}), [5, 2**27, 2**28 - 1])
    with Writer(tmp_path / "empty", WriterOptions(2**28, framing="records", producer=9, statistics=False)):
        pass
    tracemalloc.start()
    try:
        shuffle = faro.open([tmp_path / f"{producer}" for producer in range(3)])
        sums = shuffle.sum_up()
        assert sums.to_arrow()["partition"].to_pylist() == [5, 2**27, 2**28 - 1]
        assert shuffle.to_arrow().num_rows == 9
        assert len(faro.open(tmp_path)._repr_html_()) < 100_000
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_names_are_in_the_order_of_their_numbers_and_progress_is_told(tmp_path: Path) -> None:
    for number in (10, 9, 1, 100):
        Writer(tmp_path / f"map-{number}", WriterOptions(1)).finish()
    told: list[tuple[int, int]] = []
    shuffle = Shuffle(tmp_path, progress=lambda done, count: told.append((done, count)))
    assert [Path(output.name).name for output in shuffle] == ["map-1", "map-9", "map-10", "map-100"]
    assert shuffle.sum_up() is shuffle.sum_up()
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_an_empty_folder_is_an_empty_shuffle(tmp_path: Path) -> None:
    shuffle = Shuffle(tmp_path)
    assert (len(shuffle), shuffle.partitions, shuffle.sum_up().stored_bytes) == (0, range(0), 0)
    assert shuffle.sum_up().to_arrow().num_rows == 0
    assert "Shuffle" in shuffle._repr_html_()
    assert fault_of(shuffle.to_arrow) is not None


def test_what_source_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Writer(tmp_path / "single.faro", WriterOptions(1)) as writer:
        writer.write(0, b"one")
    faro.write(rows_of(0), tmp_path / "pair", by="key")
    raw = (tmp_path / "single.faro").read_bytes()
    monkeypatch.chdir(tmp_path)
    for source in (
        *("single", "single.faro", "./single.faro", Path("single"), raw, bytearray(raw), memoryview(raw)),
        *(io.BytesIO(raw), (tmp_path / "single.faro").open("rb")),
    ):
        with faro.open(source) as reader:
            assert [bytes(record) for record in reader[0]] == [b"one"]
    for name in ("pair", "pair.data", "pair.index"):
        with faro.open(name) as reader:
            assert len(reader) == 64
    # A folder, and an output of the same name.
    (tmp_path / "pair").mkdir()
    shutil.copy("single.faro", "pair")
    with faro.open("pair") as reader:
        assert isinstance(reader, Reader)
    assert len(faro.open("pair/")) == len(faro.open(["single"])) == len(faro.open(("pair/single.faro",))) == 1
    assert len(faro.open(".")) == 3
    with pytest.raises(FileNotFoundError):
        faro.open("nosuch")
    with pytest.raises(FileNotFoundError):
        Shuffle("nosuch")
    index = (tmp_path / "pair.index").read_bytes()
    for wrong, code in ((index, ErrorCode.MISMATCHED_PAIR), (b"not Faro" * 9, ErrorCode.NOT_FARO)):
        fault = fault_of(faro.open, wrong)
        assert fault is not None
        assert fault.code == code
    refused: list[Any] = [7, None, b"", io.StringIO("text"), {"a": 1}, [7], ""]
    for wrong in refused:
        fault = fault_of(faro.open, wrong)
        assert fault is not None
        assert fault.code == ErrorCode.INVALID_ARGUMENT, wrong


def test_a_folder_of_an_object_store_is_a_shuffle() -> None:
    MemoryFileSystem.store.clear()
    for producer in range(20):
        url = f"memory://bucket/shuffle/{producer % 2}/map-{producer}"
        faro.write(rows_of(producer), url, by="key", partitions=PARTITIONS, producer=producer)
    for url in ("memory://bucket/shuffle", "memory://bucket/shuffle/"):
        shuffle = faro.open(url)
        assert isinstance(shuffle, Shuffle)
        assert (len(shuffle), shuffle.sum_up().records) == (20, 20 * ROWS)
        assert shuffle[1].to_arrow().num_rows == shuffle[1].records
    # Files of other programs are passed over in a store too.
    other = MemoryFileSystem()
    other.pipe("/bucket/shuffle/0/sales.data", b"id,amount")
    other.pipe("/bucket/shuffle/0/empty.index", b"")
    other.pipe("/bucket/shuffle/0/half.index", b"not Faro")
    other.pipe("/bucket/shuffle/0/half.data", other.cat_file("/bucket/shuffle/0/map-0.data"))
    sums = Shuffle("memory://bucket/shuffle").sum_up()
    assert [Path(output.name).name for output in sums.faults] == ["half"]
    assert (len(sums.outputs), sums.other_files) == (21, 2)
    with faro.open("memory://bucket/shuffle/0/map-0") as reader:
        assert isinstance(reader, Reader)
    assert len(faro.open(["memory://bucket/shuffle/0/map-0", "memory://bucket/shuffle/1/map-1"])) == 2
    for missing in ("memory://bucket/nosuch", "memory://bucket/nosuch/"):
        with pytest.raises(FaroError):
            faro.open(missing)
    MemoryFileSystem.store.clear()


def test_a_folder_is_used_as_a_name_is(tmp_path: Path) -> None:
    with faro.Writer(tmp_path / "one", faro.WriterOptions(2)) as writer:
        writer.write(1, b"a record")
    with faro.open(tmp_path) as shuffle:
        assert len(shuffle) == 1
        assert list(shuffle[1]) == [b"a record"]
