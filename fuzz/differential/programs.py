"""The program of the target `script` (TARGETS.md) as a script of the conformance protocol."""

from __future__ import annotations

from typing import Any

_FILE_ID = "46" * 16
_CODECS = ("none", "lz4", "zstd", "none")
_MOST_CALLS = 200
_TO_ALL, _TO_FIRST = 254, 255


class _Bytes:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def __bool__(self) -> bool:
        return self.at < len(self.data)

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def take(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def payload(self, times: int) -> bytes:
        return self.take(self.byte()) * times


def script_of(data: bytes) -> dict[str, Any]:
    """Options and calls, as `write` takes them."""
    program = _Bytes(data)
    flags, partitions, numbers, sizes = (program.byte() for _ in range(4))
    count, first = partitions + 1, numbers & 15
    records = (flags >> 1 & 3) in (1, 3)
    options = {
        "layout": "single" if flags & 1 else "paired",
        "framing": "records" if records else "opaque",
        "codec": _CODECS[flags >> 3 & 3],
        "ordered": not flags & 32,
        "statistics": not flags & 64,
        "follow": bool(flags & 128),
        "partition_count": count,
        "first_partition": first,
        "rotation": (numbers >> 4) % count,
        "block_size": 16 << (sizes & 7),
        "buffer_size": 64 << (sizes >> 4 & 7),
        "file_id": _FILE_ID,
    }
    if sizes & 8:
        options["max_plain_size"] = 256
    calls: list[dict[str, Any]] = []
    made = 0
    while program and made < _MOST_CALLS:
        made += 1
        calls += _call(program, first, records)
    if not any(call["call"] in ("finish", "abort") for call in calls):
        calls.append({"call": "finish"})
    return {"options": options, "calls": calls}


def _call(program: _Bytes, first: int, records: bool) -> list[dict[str, Any]]:
    byte = program.byte()
    call, high = byte & 15, byte >> 4
    kind = {0: 1, 15: 2}.get(high, 64 + high)

    def payload() -> dict[str, str]:
        return {"hex": program.payload(high + 1).hex()}

    if call < 4:
        partition = first + program.byte()
        return [{"call": "write", "partition": partition, "payload": payload(), "kind": kind if call == 3 else 0}]
    if call in (4, 5):
        return [{"call": "broadcast", "payload": payload(), "kind": kind if call == 5 else 0}]
    if call in (6, 7):
        members = [first + program.byte() for _ in range(program.byte() % 9)]
        found = {"partitions": members, "payload": payload(), "kind": kind if call == 7 else 0}
        return [{"call": "multicast", **found}]
    if call == 9:
        return [{"call": "property", "key": f"k{high}", "value": program.payload(1).hex()}]
    if call == 10:
        return [{"call": "region", "blocks": _region(program, first, high, records)}]
    named = {8: "flush", 11: "finish", 12: "abort"}
    return [{"call": named[call]}] if call in named else []


def _region(program: _Bytes, first: int, high: int, records: bool) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    shared = False
    for _ in range(program.byte() % 9):
        q = program.byte()
        content = program.payload(high + 1)
        if q >= _TO_ALL:
            shared = True
            blocks.append({"shared": "all" if q == _TO_ALL else [first]})
            continue
        if records and q < 250:
            content = len(content).to_bytes(4, "little") + content
        block: dict[str, Any] = {"kind": int(q >= 250), "payload": {"hex": content.hex()}, "records": high}
        blocks.append(block if shared else {"partition": first + q, **block})
    return blocks
