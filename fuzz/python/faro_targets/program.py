"""The program of `script`, decoded from any bytes (TARGETS.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from faro_format import Framing, WriterOptions

_MOST_CALLS = 200
_FILE_ID = b"F" * 16
_CODECS: tuple[Literal["none", "lz4", "zstd"], ...] = ("none", "lz4", "zstd", "none")


@dataclass(frozen=True)
class Put:
    """A record or an event: for one partition, for all (None), or for some."""

    readers: int | list[int] | None
    kind: int
    payload: bytes


@dataclass(frozen=True)
class Item:
    """A block that is handed over; with `shared`, the beginning of a shared extent instead."""

    partition: int
    kind: int
    payload: bytes
    records: int
    shared: Literal["", "all", "first"] = ""


@dataclass(frozen=True)
class Property:
    """A property of the footer."""

    key: str
    value: str


@dataclass(frozen=True)
class Handed:
    """A region by the region writer."""

    items: list[Item]


Plain = Literal["flush", "finish", "abort"]
Call = Put | Property | Handed | Plain


@dataclass
class Program:
    """A writer's options and its calls."""

    options: WriterOptions
    calls: list[Call] = field(default_factory=list)


class _Decoder:
    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.at = 0

    def byte(self) -> int:
        if self.at >= len(self.raw):
            return 0
        self.at += 1
        return self.raw[self.at - 1]

    def payload(self, times: int) -> bytes:
        length = self.byte()
        once = self.raw[self.at : self.at + length]
        self.at += len(once)
        return once * times

    def options(self) -> WriterOptions:
        flags, count, numbers, sizes = (self.byte() for _ in range(4))
        count += 1
        return WriterOptions(
            partition_count=count,
            layout="single" if flags & 1 else "paired",
            framing="records" if flags & 2 else "opaque",
            codec=_CODECS[flags >> 3 & 3],
            ordered=not flags & 0x20,
            statistics=not flags & 0x40,
            follow=bool(flags & 0x80),
            file_id=_FILE_ID,
            first_partition=numbers & 15,
            rotation=(numbers >> 4) % count,
            block_size=16 << (sizes & 7),
            max_plain_size=256 if sizes & 8 else 64 << 20,
            buffer_size=64 << (sizes >> 4 & 7),
        )

    def partitions(self, options: WriterOptions) -> list[int]:
        return [options.first_partition + self.byte() for _ in range(self.byte() % 9)]

    def call(self, options: WriterOptions) -> Call | None:
        code = self.byte()
        code, high = code & 15, code >> 4
        event = {0: 1, 15: 2}.get(high, 64 + high)
        kind = event if code in (3, 5, 7) else 0
        if code <= 3:
            partition = options.first_partition + self.byte()
            return Put(partition, kind, self.payload(high + 1))
        if code <= 5:
            return Put(None, kind, self.payload(high + 1))
        if code <= 7:
            some = self.partitions(options)
            return Put(some, kind, self.payload(high + 1))
        if code == 9:
            return Property(f"k{high}", self.payload(1).hex())
        if code == 10:
            return Handed([self.item(options, high) for _ in range(self.byte() % 9)])
        plain: dict[int, Plain] = {8: "flush", 11: "finish", 12: "abort"}
        return plain.get(code)

    def item(self, options: WriterOptions, high: int) -> Item:
        which = self.byte()
        payload = self.payload(high + 1)
        if which >= 254:
            return Item(0, 0, b"", 0, "all" if which == 254 else "first")
        kind = 1 if which >= 250 else 0
        framed = kind == 0 and options.framing == Framing.RECORDS
        if framed:
            payload = len(payload).to_bytes(4, "little") + payload
        return Item(options.first_partition + which, kind, payload, 1 if framed else high)


def decode(raw: bytes) -> Program:
    """Decode a program."""
    decoder = _Decoder(raw)
    program = Program(decoder.options())
    for _ in range(_MOST_CALLS):
        if decoder.at >= len(raw):
            break
        call = decoder.call(program.options)
        if call is not None:
            program.calls.append(call)
    if "finish" not in program.calls and "abort" not in program.calls:
        program.calls.append("finish")
    return program
