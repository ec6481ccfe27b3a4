"""Fragments and merged files as models: their content, their bytes, and what a merge does with whole pushes."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from .message import canonical
from .model import Dictionary, Output, Region
from .output import Answer, extents_of, header_answer
from .raw import FRAGMENT, KIND_DICTIONARY, KIND_SCHEMA, MERGED, NOBODY, Block, Header, run

KIND_END = 132


@dataclass
class Fragment:
    """A fragment, FRG-2. Blocks are (partition, number, block); fields that are not None replace the right ones."""

    header: Header
    blocks: list[tuple[int, int, Block]]
    last: bool = True
    dictionaries: list[tuple[int, bytes]] = field(default_factory=list)
    schema: bytes | None = None
    length: int | None = None
    count: int | None = None
    flags: int | None = None
    end: dict[str, Any] = field(default_factory=dict)  # fields of the end block that are wrong
    schema_block: dict[str, Any] = field(default_factory=dict)
    places: list[int] = field(default_factory=list)  # made by encode: the offset of each block, the end block's last

    def encode(self) -> bytes:
        """The bytes; `places` are then the offsets of its blocks, in order."""
        made = bytearray(self.header.encode())
        self.places = []

        def add(block: Block, partition: int, sequence: int) -> None:
            self.places.append(len(made))
            made.extend(block.encode(partition, sequence, self.header.file_id))

        if self.schema is not None:
            add(
                Block(
                    **{"plain": canonical("Schema", {"arrow": self.schema}), "kind": KIND_SCHEMA, **self.schema_block}
                ),
                NOBODY,
                0,
            )
        for number, content in self.dictionaries:
            add(Block(content, kind=KIND_DICTIONARY, dictionary=number), NOBODY, max(number - 1, 0))
        for partition, number, block in self.blocks:
            add(block, partition, number)
        end = struct.pack("<QII", len(made) if self.length is None else self.length,
                          len(self.blocks) if self.count is None else self.count,
                          int(self.last) if self.flags is None else self.flags)  # fmt: skip
        add(Block(**{"plain": end, "kind": KIND_END, **self.end}), NOBODY, 0)
        return bytes(made)

    def answer(self) -> Answer:
        """What `fragments` answers for it."""
        parts: dict[str, Answer] = {}
        for partition in dict.fromkeys(p for p, _, _ in self.blocks):
            mine = [(number, block) for p, number, block in self.blocks if p == partition]
            digest = hashlib.sha256()
            for _, block in mine:
                digest.update(bytes([block.kind]) + struct.pack("<I", len(block.plain)) + block.plain)
            parts[str(partition)] = {"first": mine[0][0], "blocks": len(mine), "sha256": digest.hexdigest()}
        return {"header": {**header_answer(self.header, False), "kind": FRAGMENT}, "blocks": len(self.blocks),
                "last": self.last, "partitions": parts}  # fmt: skip


def numbered(output: Output, partition: int) -> list[Block]:
    """The blocks that a partition reads, by their numbers, FRG-1."""
    return [
        block for region in output.regions for _, extent in extents_of(output, region, partition) for block in extent
    ]


def fragment_of(output: Output, first: int, count: int = 1, numbers: tuple[int, int] | None = None) -> Fragment:
    """FRG-6: the fragment of an output."""
    low, high = numbers if numbers is not None else (0, 1 << 32)
    blocks, last = [], True
    for partition in range(first, first + count):
        every = numbered(output, partition)
        mine = [
            (partition, n, replace(block, sequence=None, partition=None))
            for n, block in enumerate(every)
            if low <= n < high
        ]
        blocks += mine
        if mine and mine[-1][1] + 1 < len(every):
            last = False
    contents = [one.content for region in output.regions for one in region.dictionaries]
    named = sorted({block.dictionary for _, _, block in blocks} - {0})
    head = replace(output.header, kind=FRAGMENT, first_partition=first, partition_count=count,
                   reader_features=2 if named else 0)  # fmt: skip
    return Fragment(head, blocks, last, [(n, contents[n - 1]) for n in named], output.schema)


@dataclass
class _Run:
    partition: int
    producer: int
    attempt: int
    first: int
    blocks: list[Block]
    last: bool


@dataclass
class Merge:
    """What a merge makes of whole fragments, one after another: MRG-7, MRG-9, MRG-10."""

    header: Header
    chunk_size: int = 2 << 20
    schema: bytes | None = None
    regions: list[Region] = field(default_factory=list)
    open: list[_Run] = field(default_factory=list)
    have: dict[tuple[int, int], tuple[int, bool]] = field(default_factory=dict)
    attempts: dict[int, int] = field(default_factory=dict)
    known: list[bytes] = field(default_factory=list)
    fresh: list[bytes] = field(default_factory=list)

    def push(self, fragment: Fragment) -> str:
        """Merges a right fragment; the outcome."""
        producer, attempt = fragment.header.producer, fragment.header.attempt
        if self.attempts.get(producer, attempt) != attempt:
            return "other-attempt"
        new: list[_Run] = []
        here = dict(self.have)
        for partition, number, block in fragment.blocks:
            count, complete = here.get((producer, partition), (0, False))
            if number < count:
                continue
            assert not complete
            if number > count:
                return "gap"
            if not new or new[-1].partition != partition:
                new.append(_Run(partition, producer, attempt, number, [], fragment.last))
            new[-1].blocks.append(block)
            here[producer, partition] = (number + 1, False)
        if not new:
            return "duplicate"
        numbers = dict(fragment.dictionaries)
        if any(content not in self.known for content in numbers.values()):
            self.end()
        for content in numbers.values():
            if content not in self.known:
                self.known.append(content)
                self.fresh.append(content)
        if self.open and new[0].partition < self.open[-1].partition:
            self.end()
        for one in new:
            one.blocks = [
                replace(b, dictionary=self.known.index(numbers[b.dictionary]) + 1 if b.dictionary else 0)
                for b in one.blocks
            ]
            count, _ = here[producer, one.partition]
            here[producer, one.partition] = (count, fragment.last)
        self.open += new
        self.have, self.attempts[producer] = here, attempt
        if sum(block.size for one in self.open for block in one.blocks) >= self.chunk_size:
            self.end()
        return "merged"

    def end(self) -> None:
        """Ends the open region."""
        if not self.open:
            return
        own: dict[int, list[Block]] = {}
        for one in self.open:
            own.setdefault(one.partition, []).extend(one.blocks)
        runs = [
            run(r.producer, sum(b.size for b in r.blocks) // 8, len(r.blocks), r.first, r.attempt, int(r.last))
            for r in self.open
        ]
        self.regions.append(Region(own, runs=runs, dictionaries=[Dictionary(content) for content in self.fresh]))
        self.open, self.fresh = [], []

    def output(self, finished: bool = True, **more: Any) -> Output:
        """The merged file so far."""
        return Output(
            replace(self.header, producer=MERGED), list(self.regions), True, self.schema, finished=finished, **more
        )


def runs_answer(output: Output, partition: int) -> list[Answer]:
    """The `runs` of `provenance`."""
    found = []
    for number, region in enumerate(output.regions):
        at = 0
        for whose, extent in region.own.items():
            end = at + sum(block.size for block in extent) // 8
            for producer, attempt, first, blocks, length, flags in _inside(region.runs or [], at, end):
                if whose == partition:
                    found.append({"region": number, "producer": str(producer), "attempt": str(attempt), "first_block": first,
                                  "blocks": blocks, "length": 8 * length, "last": bool(flags)})  # fmt: skip
            at = end
    return found


def _inside(runs: Iterable[tuple[int, ...]], low: int, high: int) -> Iterable[tuple[int, ...]]:
    at = 0
    for one in runs:
        if low <= at < high:
            yield one
        at += one[4]


def provenance_answer(output: Output, partition: int, expected: list[tuple[int, int]]) -> Answer:
    """What `provenance` answers for a partition, MRG-11."""
    runs = runs_answer(output, partition)
    have: dict[int, Answer] = {}
    for one in runs:
        have[int(one["producer"])] = {"producer": one["producer"], "attempt": one["attempt"],
                                      "blocks": one["first_block"] + one["blocks"], "last": one["last"]}  # fmt: skip
    missing = []
    for producer, attempt in sorted(expected):
        found = have.get(producer)
        same = found is not None and found["attempt"] == str(attempt)
        if found is None or not same or not found["last"]:
            count = found["blocks"] if found is not None and same else 0
            missing.append({"producer": str(producer), "attempt": str(attempt), "from": count})
    return {"runs": runs, "have": [have[p] for p in sorted(have)], "missing": missing}


def delivered(blocks: Iterable[tuple[int, int, Block]]) -> str:
    """The digest of `read_merged`: producer, number and block of each."""
    digest = hashlib.sha256()
    for producer, number, block in blocks:
        digest.update(struct.pack("<QIBI", producer, number, block.kind, len(block.plain)) + block.plain)
    return digest.hexdigest()
