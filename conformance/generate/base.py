"""The outputs that most cases are made from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .output import Built, Output, Region, Shared, arrow_message, build, framed
from .raw import KIND_EVENT, OPAQUE, Block, Header

# Offsets in the bytes that `small` makes come from `Built`; they are never counted by hand.

SCHEMA = arrow_message(b"an Arrow schema would stand here")  # prose: allow
"""A schema message: its text is in committed files."""


def text(*records: str) -> Block:
    """A data block of records."""
    return Block(framed(*records))


def event(payload: bytes = b"", kind: int = KIND_EVENT) -> Block:
    """An event block."""
    return Block(payload, kind=kind)


def small(paired: bool = False, **header: Any) -> Output:
    """Two regions, P = 4: a dense one with events, a broadcast and a multicast; then a sparse one."""
    first = header.get("first_partition", 0)
    own = {
        first + 0: [text("alpha", "beta"), text("gamma")],
        first + 2: [event(b"mark"), text("delta", "")],
        first + 3: [text("epsilon of three")],
    }
    shared = [Shared([text("to all"), event(kind=64)]), Shared([text("to some")], [first + 1, first + 3])]
    regions = [Region(own, shared), Region({first + 2: [text("last", "words")]})]
    return Output(Header(**header), regions, paired=paired)


def tiny(**header: Any) -> Output:
    """One region with one block, P = 1, single."""
    return Output(Header(**{"partition_count": 1, "framing": OPAQUE, **header}), [Region({0: [Block(b"payload")]})])


def one(block: Block, paired: bool = False, framing: int = OPAQUE, **header: Any) -> Output:
    """One block of partition 1 between two good ones, P = 3."""
    own = {0: [Block(b"before it")], 1: [block], 2: [Block(b"after it")]}
    return Output(Header(partition_count=3, framing=framing, **header), [Region(own)], paired=paired)


def many_blocks(blocks: list[Block], framing: int = OPAQUE, **header: Any) -> Output:
    """All blocks in partition 0 of 1."""
    return Output(Header(partition_count=1, framing=framing, **header), [Region({0: blocks})])


def arrow(payloads: list[bytes], schema: bytes, paired: bool = False) -> Output:
    """A file of framing arrow, P = 2, all in partition 1."""
    header = Header(partition_count=2, framing=2)
    return Output(header, [Region({1: [Block(payload, records=1) for payload in payloads]})], paired, schema)


def where(built: Built, block: Block) -> int:
    """The offset of a block."""
    return next(offset for _, _, offset, _, other in built.blocks if other is block)


def made(output: Output, **changes: Any) -> Built:
    """The files of a copy of the output with some of its members changed."""
    return build(replace(output, **changes))
