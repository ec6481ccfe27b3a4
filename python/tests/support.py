"""What the tests share: scripts of calls, a model of what they must leave, and ways to look at files."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
from hypothesis import strategies as st

from faro_format import Block, FaroError, Framing, PartitionReader, Reader, Writer, WriterOptions

FILE_ID = bytes(range(16))
_names = itertools.count()


@dataclass
class Output:
    """The files of one output."""

    base: Path
    layout: str

    @property
    def files(self) -> dict[str, Any]:
        if self.layout == "single":
            return {"single": self.base.with_name(self.base.name + ".faro")}
        return {role: self.base.with_name(f"{self.base.name}.{role}") for role in ("data", "index")}

    def reader(self, **more: Any) -> Reader:
        return Reader(**self.files, **more)

    def contents(self) -> dict[str, bytes]:
        return {role: path.read_bytes() for role, path in self.files.items()}

    def put(self, contents: dict[str, bytes]) -> None:
        for role, path in self.files.items():
            path.write_bytes(contents[role])


def output(folder: Path, options: WriterOptions) -> Output:
    return Output(folder / f"out{next(_names)}", options.layout or "paired")


@dataclass
class Call:
    """One call of a writer."""

    name: str
    partitions: list[int] = field(default_factory=list)
    record: bytes = b""
    kind: int = 0

    def make(self, writer: Writer) -> None:
        if self.name == "flush":
            writer.flush()
        elif self.kind:
            self._event(writer)
        elif self.name == "write":
            writer.write(self.partitions[0], self.record)
        elif self.name == "broadcast":
            writer.broadcast(self.record)
        else:
            writer.multicast(self.partitions, self.record)

    def _event(self, writer: Writer) -> None:
        if self.name == "write":
            writer.write_event(self.partitions[0], self.kind, self.record)
        elif self.name == "broadcast":
            writer.broadcast_event(self.kind, self.record)
        else:
            writer.multicast_event(self.partitions, self.kind, self.record)

    def readers(self, options: WriterOptions) -> list[int]:
        if self.name == "broadcast":
            return list(range(options.first_partition, options._end_partition))
        if self.name == "multicast":
            return sorted(set(self.partitions))
        return self.partitions[:1] if self.name == "write" else []


def arrow_message(body: bytes) -> bytes:
    """An encapsulated message as far as FRM-4 looks."""
    return b"\xff\xff\xff\xff" + (8).to_bytes(4, "little") + bytes(8) + body


def events_of(blocks: Iterator[Block], framing: Framing) -> list[tuple[int, bytes]]:
    """What blocks deliver as (kind, bytes): records one by one, opaque bytes joined between events."""
    found: list[tuple[int, bytes]] = []
    for block in blocks:
        payload = bytes(block.payload)
        if block.kind or framing == Framing.ARROW:
            found.append((block.kind, payload))
        elif framing == Framing.RECORDS:
            at = 0
            while at < len(payload):
                size = int.from_bytes(payload[at : at + 4], "little")
                found.append((0, payload[at + 4 : at + 4 + size]))
                at += 4 + size
            assert at == len(payload)
        else:
            found.append((0, payload))
    return joined(found) if framing == Framing.OPAQUE else found


def joined(events: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """Data between events as one, without what is empty."""
    found: list[tuple[int, bytes]] = []
    for kind, record in events:
        if kind == 0 and found and found[-1][0] == 0:
            found[-1] = (0, found[-1][1] + record)
        elif kind or record:
            found.append((kind, record))
    return found


def model(calls: list[Call], options: WriterOptions, partition: int) -> list[tuple[int, bytes]]:
    """What a partition must read, in the order of calls."""
    events = [(call.kind, call.record) for call in calls if partition in call.readers(options)]
    return joined(events) if options.framing == Framing.OPAQUE else events


@st.composite
def scripts(draw: st.DrawFn, /, **fixed: Any) -> tuple[WriterOptions, list[Call]]:
    """Options and calls that are all accepted."""
    count = draw(st.integers(1, 12))
    framing = draw(st.sampled_from(("opaque", "records", "arrow")))
    chosen: dict[str, Any] = {
        "partition_count": count,
        "first_partition": draw(st.sampled_from((0, 5))),
        "framing": framing,
        "layout": draw(st.sampled_from(("paired", "single"))),
        "block_size": draw(st.sampled_from((1, 7, 40, 300, 65536))),
        "buffer_size": draw(st.sampled_from((1, 60, 200, 1000, 1 << 20))),
        "codec": draw(st.sampled_from(("none", "lz4", "zstd"))),
        "ordered": draw(st.booleans()),
        "rotation": draw(st.integers(0, count - 1)),
        "statistics": draw(st.booleans()),
        "file_id": FILE_ID,
        "schema": arrow_message(b"") if framing == "arrow" else None,
    } | fixed
    options = WriterOptions(**chosen)
    numbers = st.integers(options.first_partition, options._end_partition - 1)
    calls = []
    for _ in range(draw(st.integers(0, 25))):
        name = draw(st.sampled_from(("write", "write", "write", "broadcast", "multicast", "flush")))
        kind = draw(st.sampled_from((0, 0, 0, 0, 1, 64, 127)))
        size = draw(st.sampled_from((0, 1, 3, 8, 20, 90, 400)))
        record = bytes([draw(st.integers(0, 255))]) * size
        if options.framing == Framing.ARROW and kind == 0:
            record = arrow_message(record)
        partitions = draw(st.lists(numbers, min_size=1, max_size=4))
        calls.append(Call(name, partitions, record, kind))
    return options, calls


def write(folder: Path, options: WriterOptions, calls: list[Call]) -> Output:
    """Write a script."""
    made = output(folder, options)
    with Writer(str(made.base), options) as writer:
        for call in calls:
            call.make(writer)
    return made


def read_all(reader: PartitionReader) -> None:
    """Read every partition to its end."""
    for partition in reader.partitions:
        for _ in reader.partition(partition):
            pass


def descriptors(reader: PartitionReader) -> list[weakref.ref[Any]]:
    """What refers to the descriptors of a reader's files as long as they are open."""
    files: tuple[Any, Any] = (reader._files.data, reader._files.index)
    return [weakref.ref(file._stored._open) for file in files]


def fault_of(action: Any, *arguments: Any, **named: Any) -> FaroError | None:
    """The FaroError that an action ends in, or None; anything else is let through."""
    try:
        action(*arguments, **named)
    except FaroError as fault:
        return fault
    return None


def asked(query: str, rows: Any) -> list[Any]:
    """What DuckDB answers to a query from ``rows``."""
    # DuckDB finds the argument by its name.
    assert rows is not None
    found = duckdb.sql(query)
    assert found is not None
    return found.fetchall()


def delivered(reader: PartitionReader, framing: Framing) -> dict[int, list[tuple[int, bytes]]]:
    return {partition: events_of(reader.partition(partition), framing) for partition in reader.partitions}
