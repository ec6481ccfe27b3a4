"""Inputs of the targets `fragments` and `merge` as merges for all testees. TARGETS.md describes the bytes."""

from __future__ import annotations

from typing import Any

from generate.raw import BLOCK_HEADER_SIZE, HEADER_SIZE, pad8, seal_block, seal_header

from differential.merges import FILE_ID, FRAMINGS, Merging

_SEAL = 8
_MOST_STEPS = 100
_KIND = 16
_END_BLOCK = 132
_OTHERS = {8: "commit", 9: "abort", 10: "flush", 11: "finalize", 12: "close", 13: "resume"}


def fragments_of(data: bytes, limits: dict[str, int]) -> Merging:
    """A stream of fragments that is only read."""
    flags = data[0] if data else 0
    return Merging([sealed_stream(data[1:]) if flags & _SEAL else data[1:]], None, [], limits)


def sealed_stream(stream: bytes) -> bytes:
    """The stream of fragments with all checksums recomputed."""
    if len(stream) < HEADER_SIZE:
        return stream
    stream = seal_header(stream)
    at = HEADER_SIZE
    while at + BLOCK_HEADER_SIZE <= len(stream):
        stored = int.from_bytes(stream[at : at + 4], "little")
        if at + BLOCK_HEADER_SIZE + stored > len(stream):
            break
        stream = seal_block(stream, at)
        is_end = stream[at + _KIND] == _END_BLOCK
        at += BLOCK_HEADER_SIZE + pad8(stored)
        if is_end:
            return stream[:at] + sealed_stream(stream[at:])
    return stream


class _Bytes:
    def __init__(self, data: bytes) -> None:
        self.rest = data

    def take(self, count: int) -> bytes:
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def number(self, size: int = 1) -> int:
        return int.from_bytes(self.take(size), "little")

    def sized(self) -> bytes:
        return self.take(self.number(2))


def merging_of(data: bytes, limits: dict[str, int]) -> Merging:
    """A program of pushes, up to its first resume, which the protocol has no step for."""
    given = _Bytes(data)
    flags, partitions, numbers, sizes = (given.number() for _ in range(4))
    framing = [*FRAMINGS, "records"][flags >> 4 & 3]
    options: dict[str, Any] = {
        "partition_count": partitions + 1, "first_partition": numbers & 15, "generation": str(numbers >> 4),
        "framing": framing, "file_id": FILE_ID, "chunk_size": 1 << (sizes & 15),
        "max_waiting": 16 << (sizes >> 4) if sizes >> 4 else 0, "dictionaries": bool(flags & 1),
    }  # fmt: skip
    if framing == "arrow":
        options["schema"] = {"hex": given.sized().hex()}
    fragments = [given.sized() for _ in range(given.number() % 9)]
    if flags & _SEAL:
        fragments = [sealed_stream(fragment) for fragment in fragments]
    return Merging(fragments or [b""], options, _Steps(fragments or [b""], numbers >> 4).of(given), limits)


class _Steps:
    """The steps, with a name for each push that is begun."""

    def __init__(self, fragments: list[bytes], generation: int) -> None:
        self.fragments = fragments
        self.generation = generation
        self.steps: list[dict[str, Any]] = []
        self.open: dict[int, tuple[str, int, int]] = {}
        """By *h*: name, fragment, and how much of it was written."""
        self.begun = 0

    def of(self, given: _Bytes) -> list[dict[str, Any]]:
        count = 0
        ended = False
        while given.rest and count < _MOST_STEPS:
            count += 1
            call, h = (byte := given.number()) & 15, byte >> 4
            if call <= 5:
                h = 16 if call <= 2 else h
                self._begin(call, h, given.number() % len(self.fragments))
            if call <= 2 or call == 7:
                self._write(h, 1 << 32)
                self._of_push("commit", h)
            elif call == 6:
                self._write(h, given.number(2))
            elif call in (8, 9):
                self._of_push(_OTHERS[call], h)
            elif call == 13:
                return [*self.steps, {"call": "close"}] if not ended else self.steps
            elif call in _OTHERS and not (call == 12 and ended):
                ended = ended or call in (11, 12)
                self.steps.append({"call": _OTHERS[call]})
        return self.steps if ended else [*self.steps, {"call": "finalize"}]

    def _begin(self, call: int, h: int, fragment: int) -> None:
        self._of_push("abort", h)
        self.begun += 1
        self.open[h] = (str(self.begun), fragment, 0)
        producer = int.from_bytes(self.fragments[fragment][24:32], "little") + (call == 4)
        generation = self.generation + (call == 5)
        self.steps.append(
            {"call": "begin", "push": str(self.begun), "producer": str(producer % 2**64), "generation": str(generation)}
        )

    def _write(self, h: int, count: int) -> None:
        if h in self.open:
            name, fragment, at = self.open[h]
            end = min(len(self.fragments[fragment]), at + count)
            self.open[h] = (name, fragment, end)
            self.steps.append({"call": "write", "push": name, "fragment": fragment, "from": at, "to": end})

    def _of_push(self, call: str, h: int) -> None:
        if h in self.open:
            self.steps.append({"call": call, "push": self.open[h][0]})
