"""Every argument of every public call, with wrong types and values: refused at once, in a short message that names it.

A row of the table is a call with one argument left open, and what that argument takes; whatever else is tried, from
None to an integer of 5,000 digits, must end in ``invalid-argument`` or TypeError.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from argument_rows import (
    Row,
    Takes,
    World,
    among,
    anything,
    buffer,
    flag,
    integer,
    integers,
    nothing,
    or_none,
    path,
    text,
)
from fsspec.implementations.memory import MemoryFileSystem
from support import arrow_message

import faro_format as faro
import faro_format.arrow
import faro_format.key
import faro_format.plan
from faro_format import (
    ErrorCode,
    FaroError,
    FaroIOError,
    Follower,
    Limits,
    Partition,
    PartitionReader,
    Reader,
    RegionWriter,
    Shuffle,
    Watch,
    Writer,
    WriterOptions,
    storage,
)
from faro_format.arrow import ArrowWriter

LONGEST = 300
"""Characters of a message."""
HUGE = 10**5000
VALUES: list[Any] = [
    *(None, True, False, 0, 1, 7, -1, 2**31, 2**32, 2**63, 2**64, 2**70, -(2**70), HUGE, -HUGE),
    *(0.0, 1.0, 7.0, 1.5, float("nan"), float("inf"), 1j, Decimal(1), Decimal("NaN"), Decimal("1e99999")),
    *("", "7", "x", "paired", "none", "\0", "\ud800", "x" * 2_000_000, b"", b"7", b"\0" * 2_000_000, bytearray(b"x")),
    *([], [0], [1, 2], [-1], [2**70], ["a"], [None], [[1], [2, 3]], (), (1,), {}, {1: 2}, {1}, set(), range(3)),
    *(object(), object, len, slice(1), NotImplemented, Ellipsis, Path("x" * 300), WriterOptions, Limits),
    *(np.int8(1), np.int16(-1), np.uint32(1), np.int64(2**40), np.uint64(2**64 - 1), np.float64(1), np.bool_(True)),
    *(np.datetime64("2026-01-01"), np.str_("7"), np.bytes_(b"7"), np.array(1), np.array([1]), np.array([[1]])),
    *(np.array([1.0]), np.array(["a"]), np.array([None]), np.zeros((2, 2))[:, 0], memoryview(b"abcd")[::2]),
    *(pa.array([1]), pa.array(["x"]), pa.table({"x": [1]}), pa.array([[1]]), pa.scalar(1)),
]


def drained(found: Any) -> Any:
    """What a call returned, its iterators taken to their ends."""
    if isinstance(found, Iterator):
        for item in found:
            if isinstance(item, tuple):
                for part in item:
                    drained(part)
    return found


def options_rows() -> Iterator[Row]:
    act: Any
    takes: dict[str, Takes] = {
        "partition_count": integer(1, 2**28),
        "layout": among(None, "paired", "single"),
        "first_partition": integer(0, 2**28 - 3),
        "framing": among("opaque", "records"),
        "producer": integer(0, 2**64 - 1),
        "attempt": integer(0, 2**64 - 1),
        "file_id": lambda value: isinstance(value, bytes) and len(value) == 16,
        "block_size": integer(1, 2**26),
        "buffer_size": integer(1, 2**33),
        "codec": among("none", "lz4", "zstd"),
        "level": integer(1, 19),
        "rotation": integer(0, 2),
        "single_below": integer(0, 2**33),
        "created_by": or_none(text),
        "durability": among("none", "commit"),
        "max_plain_size": integer(1, 2**32 - 1),
        "schema": lambda value: value is None,
        "listener": nothing,
    }
    for field in fields(WriterOptions):
        name = field.name
        act = lambda _, value, name=name: WriterOptions(**{"partition_count": 3, name: value})  # noqa: E731
        yield Row(WriterOptions, name, takes.get(name, flag), act)
    for field in fields(Limits):
        act = lambda _, value, name=field.name: Limits(**{name: value})  # noqa: E731
        yield Row(Limits, field.name, integer(0, 2**64 - 1), act)


COUNT = 2**63 - 1
EVENT_KIND: Takes = lambda value: integer(1, 127)(value) and value.__index__() in (1, *range(64, 128))  # noqa: E731
KIND: Takes = lambda value: integer(0, 127)(value) and value.__index__() in (0, 1, *range(64, 128))  # noqa: E731
PARTITION = integer(0, 2)
SOME = integers(0, 2, range(1, 100), sets=True)
READS: dict[str, Callable[..., Any]] = {
    "Reader": Reader,
    "Follower": Follower,
    "check": faro.check,
    "repair": faro.repair,
    "rebuild": faro.rebuild,
    "recover": faro.recover,
}


def opening_rows() -> Iterator[Row]:
    act: Any
    named: dict[str, Takes] = {
        "limits": nothing,
        "verify": flag,
        "dry_run": flag,
        "overwrite": flag,
        "cache": integer(0, COUNT),
        "lookup": among("full", "direct"),
        "level": among("structure", "checksums", "decode"),
        "stored": nothing,
        "storage_options": nothing,
        "shared": among("none", "all"),
        "schema": lambda value: value is None,
        "file_id": lambda value: value is None,
    }
    for call in READS.values():
        for name in inspect.signature(call).parameters:
            if name in named:
                # A pair that has just been written: a rebuild too finds it whole.
                act = lambda w, v, call=call, name=name: call(  # noqa: E731
                    Path(w.pair()["data"]).with_suffix(""), **{name: v}
                )
                yield Row(call, name, named[name], act)
            elif name == "name":
                yield Row(call, name, path, lambda world, value, call=call: call(_inside(world, value)))
            elif name == "single":
                yield Row(call, name, path, lambda world, value, call=call: call(single=_inside(world, value)))
            else:
                other = {"data": "index", "index": "data"}[name]
                act = lambda w, v, call=call, name=name, other=other: call(  # noqa: E731
                    **{name: _inside(w, v), other: w.pair()[other]}
                )
                yield Row(call, name, path, act)
    yield Row(faro.clean, "folder", path, lambda world, value: faro.clean(_inside(world, value)))
    seconds: Takes = lambda value: (  # noqa: E731
        isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < float("inf")
    )
    yield Row(faro.clean, "older_than", seconds, lambda world, value: faro.clean(world.folder, older_than=value))
    yield Row(faro.clean, "dry_run", flag, lambda world, value: faro.clean(world.folder, dry_run=value))


def _inside(world: World, value: Any) -> Any:
    """A path that is relative, in the folder of the test."""
    return os.path.join(world.folder, value) if path(value) else value


def writer_rows() -> Iterator[Row]:
    act: Any
    yield Row(Writer, "name", path, lambda world, value: Writer(_inside(world, value), WriterOptions(1)).abort())
    yield Row(Writer, "options", nothing, lambda world, value: Writer(world.name(), value))
    for argument in ("destination", "storage_options"):
        act = lambda w, v, argument=argument: Writer(w.name(), WriterOptions(1), **{argument: v}).abort()  # noqa: E731
        yield Row(Writer, argument, nothing, act)
    for argument, allowed in (
        ("limits", nothing),
        ("verify", flag),
        ("cache", integer(0, COUNT)),
        ("lookup", among("full", "direct")),
    ):
        act = lambda w, v, argument=argument: w.writer().finish_and_open(**{argument: v})[1].close()  # noqa: E731
        yield Row(Writer.finish_and_open, argument, allowed, act)
    one = b"one"
    rows: Callable[[World], Writer] = lambda world: world.writer(framing="arrow", schema=arrow_message(b""))  # noqa: E731
    for call, act in (
        (Writer.write, lambda writer, more: writer.write(**{"partition": 1, "record": one, **more})),
        (Writer.broadcast, lambda writer, more: writer.broadcast(**{"record": one, **more})),
        (Writer.multicast, lambda writer, more: writer.multicast(**{"partitions": [1], "record": one, **more})),
    ):
        takes = {"partition": PARTITION, "partitions": SOME, "record": buffer}
        for name in inspect.signature(call).parameters:
            if name in takes:
                yield Row(call, name, takes[name], lambda w, v, act=act, name=name: act(w.writer(), {name: v}))
        with_rows = lambda w, v, act=act: act(rows(w), {"record": arrow_message(b""), "rows": v})  # noqa: E731
        yield Row(call, "rows", integer(0, COUNT), with_rows)
    event = {"kind": 1, "event": one}
    for event_call, act in (
        (Writer.write_event, lambda writer, more: writer.write_event(**{"partition": 1, **event, **more})),
        (Writer.broadcast_event, lambda writer, more: writer.broadcast_event(**{**event, **more})),
        (Writer.multicast_event, lambda writer, more: writer.multicast_event(**{"partitions": [1], **event, **more})),
    ):
        takes = {"partition": PARTITION, "partitions": SOME, "kind": EVENT_KIND, "event": buffer}
        for name in inspect.signature(event_call).parameters:
            if name in takes:
                yield Row(event_call, name, takes[name], lambda w, v, act=act, name=name: act(w.writer(), {name: v}))
    batch = {"partitions": [0, 1], "offsets": [0, 1, 2], "data": b"ab"}
    offsets: Takes = lambda value: integers(0, 2, range(3, 4))(value) and list(value) == sorted(value)  # noqa: E731
    two: Takes = lambda value: buffer(value) and memoryview(value).nbytes >= 2  # noqa: E731
    for name, takes_it in (("partitions", integers(0, 2, range(2, 3))), ("offsets", offsets), ("data", two)):
        act = lambda w, v, name=name: w.writer().write_batch(**{**batch, name: v})  # noqa: E731
        yield Row(Writer.write_batch, name, takes_it, act, also=("offsets",))
    column: Takes = lambda value: isinstance(value, pa.Array) and value.type == pa.string()  # noqa: E731
    yield Row(Writer.write_arrow_column, "column", column, lambda w, v: w.writer().write_arrow_column([0], v))
    act = lambda w, v: w.writer().write_arrow_column(v, pa.array(["x"]))  # noqa: E731
    yield Row(Writer.write_arrow_column, "partitions", integers(0, 2, range(1, 2)), act, also=("offsets",))
    yield Row(Writer.dictionary, "content", nothing, lambda w, v: w.writer(dictionaries=True).dictionary(v))
    sequence = integer(0, 2**32 - 1)
    act = lambda w, v: w.writer(selective=True).skip_to(v, 3)  # noqa: E731
    yield Row(Writer.skip_to, "partition", PARTITION, act)
    act = lambda w, v: w.writer(selective=True).skip_to(1, v)  # noqa: E731
    yield Row(Writer.skip_to, "sequence", sequence, act)
    act = lambda w, v: w.writer(selective=True).skip_shared_to(v)  # noqa: E731
    yield Row(Writer.skip_shared_to, "sequence", sequence, act)
    yield Row(Writer.property, "key", text, lambda w, v: w.writer().property(v, "value"))
    yield Row(Writer.property, "value", text, lambda w, v: w.writer().property("key", v))
    yield Row(RegionWriter.shared, "partitions", or_none(SOME), lambda w, v: w.writer().region().shared(v))
    act = lambda w, v: w.writer(selective=True).region().sequence(v)  # noqa: E731
    yield Row(RegionWriter.sequence, "number", integer(0, 2**32 - 2), act)
    block: dict[str, Any] = {"partition": 1, "kind": 0, "payload": b"one"}
    filled: Takes = lambda value: buffer(value) and memoryview(value).nbytes > 0  # noqa: E731
    for name, takes_it in (
        ("partition", PARTITION),
        ("kind", KIND),
        ("payload", filled),
        ("records", integer(0, COUNT)),
    ):
        act = lambda w, v, name=name: w.writer().region().block(**{**block, name: v})  # noqa: E731
        yield Row(RegionWriter.block, name, takes_it, act)
    stored: dict[str, Any] = {"partition": 1, "kind": 0, "codec": 2, "plain_size": 100, "stored": b"one"}
    for name, takes_it in (
        ("partition", PARTITION),
        ("kind", integer(0, 0)),
        ("codec", integer(1, 2)),
        ("plain_size", integer(4, 64 << 20)),
        ("stored", lambda value: buffer(value) and memoryview(value).nbytes < 100),
        ("records", integer(0, COUNT)),
        ("dictionary", integer(0, 0)),
    ):
        act = lambda w, v, name=name: w.writer().region().stored_block(**{**stored, name: v})  # noqa: E731
        yield Row(RegionWriter.stored_block, name, takes_it, act, also=("codec", "stored", "plain_size"))


def reader_rows() -> Iterator[Row]:
    act: Any
    for kind in (Reader, Follower, lambda name: Reader(name, lookup="direct")):
        for name in ("partition", "record_spans", "records", "record_arrays", "payload", "stored_bytes"):
            call = getattr(PartitionReader, name)
            act = lambda w, v, kind=kind, name=name: drained(getattr(w.records(kind), name)(v))  # noqa: E731
            yield Row(call, "partition", PARTITION, act)
        act = lambda w, v, kind=kind: drained(w.records(kind).partition(1, from_region=v))  # noqa: E731
        yield Row(PartitionReader.partition, "from_region", integer(0, 2**32 - 1), act)
        for name in ("by_partition", "record_arrays_by_partition", "range"):
            call = getattr(PartitionReader, name)
            low = lambda w, v, kind=kind, name=name: drained(getattr(w.records(kind), name)(v, 3))  # noqa: E731
            high = lambda w, v, kind=kind, name=name: drained(getattr(w.records(kind), name)(1, v))  # noqa: E731
            yield Row(call, "low", integer(0, 3), low)
            yield Row(call, "high", integer(1, 3), high)
    act = lambda w, v: drained(w.records(Follower).watch(v).blocks())  # noqa: E731
    yield Row(Follower.watch, "partition", PARTITION, act)


def arrow_rows() -> Iterator[Row]:
    act: Any
    schema = pa.schema([("x", pa.int64())])
    has_schema: Takes = lambda value: isinstance(value, pa.Schema)  # noqa: E731
    act = lambda w, v: ArrowWriter(_inside(w, v), schema, 3).abort()  # noqa: E731
    for argument in ("destination", "storage_options"):
        given: Any = lambda w, v, argument=argument: ArrowWriter(w.name(), pa.schema([]), 1, **{argument: v})  # noqa: E731
        yield Row(ArrowWriter, argument, nothing, given)
    yield Row(ArrowWriter, "name", path, act)
    yield Row(ArrowWriter, "schema", has_schema, lambda w, v: ArrowWriter(w.name(), v, 3))
    yield Row(ArrowWriter, "partition_count", integer(1, 2**28), lambda w, v: ArrowWriter(w.name(), schema, v))
    act = lambda w, v: ArrowWriter(w.name(), schema, 3, block_size=v)  # noqa: E731
    yield Row(ArrowWriter, "block_size", integer(1, 2**26), act)
    yield Row(faro.arrow.unpacked, "schema", has_schema, lambda _, v: faro.arrow.unpacked(v))
    rows = pa.table({"x": [1, 2]})
    table: Takes = lambda value: isinstance(value, pa.Table) and value.num_rows == 1  # noqa: E731
    yield Row(ArrowWriter.write, "table", table, lambda w, v: w.arrow_writer().write(v, [1]))
    act = lambda w, v: w.arrow_writer().write(rows, v)  # noqa: E731
    yield Row(ArrowWriter.write, "partitions", integers(0, 2, range(2, 3)), act)
    yield Row(ArrowWriter.broadcast, "table", table, lambda w, v: w.arrow_writer().broadcast(v))
    yield Row(ArrowWriter.multicast, "table", table, lambda w, v: w.arrow_writer().multicast([1], v))
    yield Row(ArrowWriter.multicast, "partitions", or_none(SOME), lambda w, v: w.arrow_writer().multicast(v, rows))
    yield Row(ArrowWriter.property, "key", text, lambda w, v: w.arrow_writer().property(v, "value"))
    yield Row(ArrowWriter.property, "value", text, lambda w, v: w.arrow_writer().property("key", v))
    found = faro.arrow
    yield Row(found.read_schema, "reader", nothing, lambda _, v: found.read_schema(v))
    yield Row(found.read_batches, "reader", nothing, lambda _, v: drained(found.read_batches(v, 1)))
    yield Row(found.read_batches, "partition", PARTITION, lambda w, v: drained(found.read_batches(w.tables(), v)))
    act = lambda w, v: drained(found.read_batches(w.tables(), 1, validate=v))  # noqa: E731
    yield Row(found.read_batches, "validate", flag, act)
    yield Row(found.read_partitions, "reader", nothing, lambda _, v: drained(found.read_partitions(v, 0, 3)))
    act = lambda w, v: drained(found.read_partitions(w.tables(), v, 3))  # noqa: E731
    yield Row(found.read_partitions, "low", integer(0, 3), act)
    act = lambda w, v: drained(found.read_partitions(w.tables(), 1, v))  # noqa: E731
    yield Row(found.read_partitions, "high", integer(1, 3), act)
    act = lambda w, v: drained(found.read_partitions(w.tables(), 1, 2, validate=v))  # noqa: E731
    yield Row(found.read_partitions, "validate", flag, act)
    yield Row(found.read_table, "reader", nothing, lambda _, v: found.read_table(v, 1))
    yield Row(found.read_table, "partition", PARTITION, lambda w, v: found.read_table(w.tables(), v))
    yield Row(found.read_records, "reader", nothing, lambda _, v: found.read_records(v, 1))
    yield Row(found.read_records, "partition", PARTITION, lambda w, v: found.read_records(w.records(), v))


def key_rows() -> Iterator[Row]:
    act: Any
    # What keys hold is wide; here is what they do not: no wrong value may end in another error.
    key = faro.key
    for call, argument in (
        (key.encode_value, "value"),
        (key.hash_key, "values"),
        (key.encode_column, "column"),
        (key.hash_columns, "columns"),
        (key.order_key, "values"),
    ):
        yield Row(call, argument, anything, lambda _, v, call=call: call(v))
    yield Row(key.partition_columns, "columns", anything, lambda _, v: key.partition_columns(v, 3))
    act = lambda _, v: key.partition_columns([[1]], v)  # noqa: E731
    yield Row(key.partition_columns, "partition_count", integer(1, 2**28), act)
    act = lambda _, v: key.partition_columns([[1]], 3, v)  # noqa: E731
    yield Row(key.partition_columns, "first_partition", integer(0, 2**28 - 3), act)
    yield Row(key.partition_by_range, "keys", anything, lambda _, v: key.partition_by_range(v, [[1]]))
    yield Row(key.partition_by_range, "bounds", anything, lambda _, v: key.partition_by_range([[1]], v))
    act = lambda _, v: key.partition_by_range([[1]], [[1]], v)  # noqa: E731
    yield Row(key.partition_by_range, "first_partition", integer(0, 2**28 - 1), act)
    sizes = np.array([1, 2])
    plan, windows = faro_format.plan.plan, faro_format.plan.windows
    yield Row(plan, "gap_bytes", integer(0, COUNT), lambda _, v: plan(sizes, sizes + 1, gap_bytes=v))
    yield Row(plan, "read_bytes", integer(1, COUNT), lambda _, v: plan(sizes, sizes + 1, read_bytes=v))
    yield Row(windows, "window_bytes", integer(1, COUNT), lambda _, v: list(windows(sizes, v)))


def storage_rows() -> Iterator[Row]:
    one = storage.MemoryFile(b"x")
    calls: tuple[tuple[Any, str, Takes, Callable[[Any], Any]], ...] = (
        (storage.MemoryFile, "data", buffer, storage.MemoryFile),
        (storage.MemoryFile, "name", text, lambda v: storage.MemoryFile(b"", v)),
        (storage.SeekableFile, "file", nothing, storage.SeekableFile),
        (storage.StoredOutput.single, "file", nothing, storage.StoredOutput.single),
        (storage.StoredOutput.paired, "data", nothing, lambda v: storage.StoredOutput.paired(v, one)),
        (storage.StoredOutput.paired, "index", nothing, lambda v: storage.StoredOutput.paired(one, v)),
        (storage.check_stored_file, "file", nothing, lambda v: storage.check_stored_file(v, b"")),
        (storage.MemoryDestination, "name", text, storage.MemoryDestination),
        (storage.MemoryDestination, "files", or_none(is_dict), lambda v: storage.MemoryDestination("x", v)),
        (storage.RemoteDestination, "filesystem", nothing, lambda v: storage.RemoteDestination(v, "x")),
        (storage.RemoteDestination, "base", text, lambda v: storage.RemoteDestination(MemoryFileSystem(), v)),
        (storage.RemoteDestination, "part_bytes", integer(5 << 20, 5 << 30), _parts),
        (storage.check_destination, "factory", callable, _factory),
        (storage.check_destination, "find", or_none(callable), lambda v: _kit(find=v)),
        (storage.check_destination, "size", integer(1, 2**40), lambda v: _kit(size=v)),
    )
    for call, argument, takes, act in calls:
        yield Row(call, argument, takes, lambda _, v, act=act: act(v))
    MemoryFileSystem().pipe_file("/arguments", b"x")
    fetched = integer(64, 2**31)
    for argument, takes in (("filesystem", nothing), ("path", text), ("name", text), ("fetch_bytes", fetched)):
        remote: Any = lambda _, v, argument=argument: _remote(**{argument: v})  # noqa: E731
        yield Row(storage.RemoteFile, argument, takes, remote)
    yield Row(storage.RemoteFile, "fetch", among("end", "start"), lambda _, v: _remote(fetch=v))
    named: Any = lambda _, v: storage.SeekableFile(io.BytesIO(), v)  # noqa: E731
    yield Row(storage.SeekableFile, "name", text, named)
    yield Row(storage.LocalFile, "path", path, lambda w, v: _local(_inside(w, v)))
    # Bytes that are not those of the file are what it is for.
    compared: Any = lambda _, v: _compared(v)  # noqa: E731
    yield Row(storage.check_stored_file, "expected", buffer, compared)


def notebook_rows() -> Iterator[Row]:
    act: Any
    for call in (faro.open, Shuffle):
        yield Row(call, "source", path, lambda w, v, call=call: call(_source(w, v)), also=("data",))
        takes: dict[str, Takes] = {"limits": nothing, "verify": flag, "recursive": flag, "storage_options": nothing}
        for argument, taken in {**takes, "progress": or_none(callable)}.items():
            act = lambda w, v, call=call, argument=argument: call(w.folder, **{argument: v})  # noqa: E731
            yield Row(call, argument, taken, act)
    lookup = among("full", "direct")
    yield Row(faro.open, "lookup", lookup, lambda w, v: faro.open(w.pair()["index"], lookup=v).close())
    none_or_some = integers(0, 2, range(100), sets=True)
    some: Takes = lambda v: (  # noqa: E731
        v is None or PARTITION(v) or (not isinstance(v, (str, bytes, bytearray, memoryview)) and none_or_some(v))
    )
    for name in ("to_arrow", "to_pandas", "to_polars", "to_batches", "scanner"):
        for kind in (Reader, Shuffle):
            rows: Any = lambda w, v, name=name, kind=kind, **more: _rows(w, kind, name, v, more)  # noqa: E731
            found = getattr(kind, name)
            yield Row(found, "partitions", some, lambda w, v, rows=rows: rows(w, v))
            # What these hold is wide.
            yield Row(found, "columns", anything, lambda w, v, rows=rows: rows(w, 1, columns=v))
            yield Row(found, "types", lambda v: v is None, lambda w, v, rows=rows: rows(w, 1, types=v))
            if name == "scanner":
                yield Row(found, "filter", lambda v: v is None, lambda w, v, rows=rows: rows(w, 1, filter=v))
    good: dict[str, Any] = {"data": pa.table({"x": [1]}), "by": "x"}
    for argument, taken in {
        "data": lambda v: isinstance(v, pa.Table),
        "by": lambda v: isinstance(v, str) and v == "x",
        "partitions": or_none(integer(1, 2**28)),
        "bounds": anything,
        "destination": nothing,
        "storage_options": nothing,
        "properties": or_none(lambda v: isinstance(v, dict) and not v),
    }.items():
        act = lambda w, v, argument=argument: faro.write(**{"name": w.name(), **good, argument: v})  # noqa: E731
        yield Row(faro.write, argument, taken, act)
    yield Row(faro.write, "name", path, lambda w, v: faro.write(good["data"], _inside(w, v), by="x", overwrite=True))


def _source(world: World, value: Any) -> Any:
    """A source that is neither bytes, which are a file, nor a list of names, which is a shuffle."""
    if buffer(value) and not isinstance(value, (str, np.ndarray)):
        raise TypeError("source")
    several = isinstance(value, (list, tuple, set)) or (isinstance(value, np.ndarray) and value.ndim > 0)
    if several and all(map(path, value)):
        # Names of outputs, or none.
        raise TypeError("source")
    return _inside(world, value)


def _rows(world: World, kind: Any, name: str, partitions: Any, more: dict[str, Any]) -> Any:
    if world.tabled is None:
        world.tables().close()
        # Once for all values: these calls leave it as it is.
        world.tabled = kind(world.folder / "out1") if kind is Reader else kind([world.folder / "out1"])
    return getattr(world.tabled, name)(partitions, **more)


def is_dict(value: Any) -> bool:
    return isinstance(value, dict)


def _parts(value: Any) -> None:
    storage.RemoteDestination(MemoryFileSystem(), "x", part_bytes=value)


def _factory(value: Any) -> None:
    # What can be called is called with a number, and fails as it likes.
    if not callable(value):
        storage.check_destination(value)


class _BegunError(Exception):
    pass


def _kit(**more: Any) -> None:
    """The kit, up to the first destination that it asks for."""

    def begin(_: int) -> storage.Destination:
        raise _BegunError

    with contextlib.suppress(_BegunError):
        storage.check_destination(begin, **more)


def _remote(**more: Any) -> None:
    # A path that is well formed, of no file.
    with contextlib.suppress(FileNotFoundError, FaroIOError):
        storage.RemoteFile(**{"filesystem": MemoryFileSystem(), "path": "/arguments", **more})


def _local(path: Any) -> None:
    try:
        storage.LocalFile(path)
    except OSError as fault:
        # A path that is well formed, of no regular file.
        raise FaroError(ErrorCode.IO, str(fault)) from fault


def _compared(expected: Any) -> None:
    with contextlib.suppress(AssertionError):
        storage.check_stored_file(storage.MemoryFile(b"x"), expected)


TABLE = [
    *options_rows(),
    *opening_rows(),
    *writer_rows(),
    *reader_rows(),
    *arrow_rows(),
    *key_rows(),
    *storage_rows(),
    *notebook_rows(),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.call.__qualname__}-{row.argument}")
def test_wrong_arguments_are_refused_in_few_words(tmp_path: Path, row: Row) -> None:
    world = World(tmp_path)
    refused = 0
    for value in VALUES:
        said = f"{type(value).__name__} {str(value)[:50] if not isinstance(value, int) else value.bit_length()}"
        try:
            row.act(world, value)
        except (FaroError, TypeError) as fault:
            refused += 1
            _check_refusal(row, value, fault, said)
        else:
            assert row.takes(value) or _is_absent(row, value), f"{said} was taken"
    assert refused > 5


def _check_refusal(row: Row, value: Any, fault: Exception, said: str) -> None:
    message = str(fault)
    if isinstance(fault, FaroError) and fault.code != ErrorCode.INVALID_ARGUMENT:
        # A path that is well formed, of no output.
        assert row.takes is path, f"{said}: {message}"
        assert row.takes(value), f"{said}: {message}"
        return
    assert len(message) < LONGEST, f"{said}: {message[:400]}"
    assert row.takes is anything or not row.takes(value), f"{said} must be taken: {message}"
    names = (row.argument, *row.also, *(("value", "values", "column", "columns") if row.takes is anything else ()))
    assert any(re.search(rf"\b{name}\b", message) for name in names), f"{said}: {message}"


def _is_absent(row: Row, value: Any) -> bool:
    """Whether None was given for an optional argument."""
    parameters = inspect.signature(row.call).parameters
    return value is None and row.argument in parameters and parameters[row.argument].default is None


def test_the_table_has_every_argument_of_every_public_call() -> None:
    tested = {(row.call, row.argument) for row in TABLE}
    missing = []
    for call in _public():
        for name, parameter in inspect.signature(call).parameters.items():
            if name == "self" or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                continue
            inherited = getattr(PartitionReader, call.__name__, call)
            if not {(call, name), (inherited, name)} & tested:
                missing.append(f"{call.__qualname__}({name})")
    assert missing == []


MADE_BY_THE_LIBRARY = {
    *("Block", "CheckLevel", "CheckReport", "CleanReport", "Codec", "DictionaryEntry", "Encoded", "ErrorCode"),
    *("ErrorFamily", "FaroError", "FaroIOError", "FileHeader", "FileKind", "Framing", "KeptFile", "PartitionReader"),
    *("RecoverReport", "RepairReport", "Statistics", "StoredFile", "Streams", "Summary", "VERSION_MAJOR"),
    *("Partition", "ShuffleOutput", "ShuffleSums", "GapsWarning", "PartitionsWarning"),
    *("Destination", "NewFile", "ReaderFigures", "VERSION_MINOR", "WriterFigures", "Listener"),
}
"""What callers get and do not make, and what they define and the library calls."""


def _public() -> Iterator[Callable[..., Any]]:
    modules = [getattr(faro, name) for name in faro.__all__ if name not in MADE_BY_THE_LIBRARY]
    for module in (faro.arrow, faro.key, storage):
        modules += [getattr(module, name) for name in module.__all__ if name not in MADE_BY_THE_LIBRARY]
    for thing in modules:
        yield thing
        if inspect.isclass(thing):
            for name, method in inspect.getmembers(thing, inspect.isfunction):
                # What the reader calls is not checked again: LocalFile.read and so on.
                given = hasattr(storage.StoredFile, name) or hasattr(storage.Destination, name)
                if not name.startswith("_") and not given:
                    yield method


@pytest.mark.parametrize("kind", [Partition, PartitionReader, RegionWriter, Watch, storage.StoredOutput])
def test_what_callers_do_not_construct(kind: Any) -> None:
    with pytest.raises(TypeError, match=r"not constructed|abstract"):
        kind()


@pytest.mark.parametrize("number", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64])
def test_integers_of_numpy_are_integers(tmp_path: Path, number: Any) -> None:
    options = WriterOptions(number(100), first_partition=number(20), block_size=number(100), rotation=number(99))
    with Writer(tmp_path / "out", options) as writer:
        # Sums that overflow 8 bits.
        writer.write(number(119), b"x" * 100)
        writer.multicast_event(np.array([20, 119], np.uint64), number(64), b"two")
        with writer.region() as region:
            region.block(number(119), number(0), b"\1\0\0\0x", number(1))
    with faro.open(tmp_path / "out") as reader:
        assert [bytes(record) for record in reader.records(number(119))] == [b"x" * 100, b"x"]
        assert [block.partition for block in reader.range(number(119), number(120))][:1] == [119]
        assert reader.stored_bytes(number(119)) > 100
