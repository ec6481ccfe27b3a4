"""Calls that tell two readings of a clause apart: of a writer, of a follower, of the protocol."""

from __future__ import annotations

from typing import Any

from . import base
from .catalog import Catalog
from .codecs import zstd_run
from .output import Output, Region, build
from .raw import FILE_ID, OPAQUE, Header
from .scripts import FINISH, Call, block, put, region, write


def extents(cat: Catalog) -> None:
    """SRT-8, WRT-8: which extents count, which are one, which order is refused."""
    six: Call = {"partition_count": 6, "framing": "opaque", "layout": "single"}
    put(cat, "srt-8-empty-extent", "SRT-8 SRT-7", "an extent without blocks does not count: two of six are sparse", six,
        [write(0, "a"), write(3, "b"), write(5, ""), FINISH])  # fmt: skip
    put(
        cat,
        "srt-8-three-of-six",
        "SRT-8",
        "three of six are dense",
        six,
        [write(0, "a"), write(3, "b"), write(5, "c"), FINISH],
    )
    some = {"shared": [1, 2]}
    put(cat, "wrt-8-equal-members", "WRT-8", "two shared extents in a row with equal members stay two", six,
        [region(block(0, "a"), some, block(None, "b"), some, block(None, "c")), FINISH])  # fmt: skip
    put(cat, "wrt-8-partition-or-none", "WRT-8", "an own block after a shared extent, a shared block before one", six,
        [region(some, block(None, "b"), block(3, "own")), region(block(None, "whose")), region(block(1, "good")), FINISH])  # fmt: skip
    turned: Call = {"partition_count": 20, "framing": "opaque", "layout": "single", "rotation": 5}
    put(
        cat,
        "srt-8-wrapped-two",
        "SRT-8 WRT-8",
        "7, then 2 wraps around: dense",
        turned,
        [region(block(7, "a"), block(2, "b")), FINISH],
    )
    put(cat, "srt-8-against-slots", "SRT-8 WRT-8", "2, then 7 is out of slot order; by write the region is sparse", turned,
        [region(block(2, "a"), block(7, "b")), write(2, "a"), write(7, "b"), FINISH])  # fmt: skip


def texts(cat: Catalog) -> None:
    """CAN-3: an optional string that is given and empty."""
    put(cat, "can-3-created-by-empty", "CAN-3 SRT-9", "an empty created_by is written",
        {"partition_count": 1, "layout": "single", "created_by": ""}, [write(0, "a"), FINISH])  # fmt: skip


def windows(cat: Catalog) -> None:
    """COD-4: the window of a single segment is its content size."""
    big = zstd_run(b"w", 3000, None, width=1)
    output = Output(Header(partition_count=1, framing=OPAQUE), [Region({0: [big]})])
    built = build(output)
    told = {"error": {"code": "limit-exceeded", "file": "single", "offset": base.where(built, big) + 24}}
    cat.bad_block("cod-4-single-segment-window", "COD-4 LIM-1", "a single segment above max_window_size", built, big, told,
                  level="decode", request={"limits": {"max_window_size": 2999}}, check={})  # fmt: skip


def existing(cat: Catalog) -> None:
    """WRT-4, ERR-2: both final names exist."""
    files = build(base.small(paired=True)).files
    options = {"partition_count": 1, "layout": "paired", "file_id": FILE_ID.hex()}
    cat.add("wrt-4-exists-both", "WRT-4 ERR-2", "both final names exist: the data file is named", "write", folder="write",
            request={"options": options, "calls": [FINISH]}, existing=files,
            expect={"error": {"code": "io", "file": "data"}}, expect_files=files)  # fmt: skip


def handles(cat: Catalog) -> None:
    """The protocol's follow: handles, and what is read before the first poll."""
    built = build(base.small())
    invalid: dict[str, Any] = {"error": {"code": "invalid-argument", "file": None, "offset": None}}
    place = {"single": (built.files["single"], None)}
    steps: list[dict[str, Any]] = [
        {"action": "poll", "expect": invalid},
        {"action": "read", "request": {"partitions": [0]}, "expect": invalid},
        {"files": place, "action": "open", "expect": {"ok": {}}},
        {"action": "read", "request": {"partitions": [0]}, "expect": {"ok": {"regions": 0, "properties": {}}}},
        {"action": "poll", "expect": {"ok": {"regions": 2, "finished": True}}},
        {"files": place, "action": "open", "expect": {"ok": {}}},
        {"action": "read", "request": {"partitions": [0]}, "expect": {"ok": {"regions": 0, "properties": {}}}},
        {"action": "close", "expect": {"ok": {}}},
        {"action": "close", "expect": {"ok": {}}},
        {"action": "poll", "expect": invalid},
    ]
    cat.add("fol-handles", "FOL-1", "an unknown handle, a handle that is opened again, a read before the first poll", "follow",
            folder="follow", steps=steps)  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (extents, texts, windows, existing, handles):
        part(cat)
