"""Scripts of the region writer and of codecs: WRT-8, WRT-9, COD-6."""

from __future__ import annotations

from .catalog import Catalog
from .codecs import lz4_repeat
from .scripts import FINISH, Call, block, put, region, to_all, write


def given(cat: Catalog) -> None:
    """The region writer: WRT-8 and WRT-9."""
    base: Call = {"partition_count": 4, "framing": "opaque"}
    shared = {"shared": "all"}
    rows: list[tuple[str, str, Call, list[Call]]] = [
        ("plain", "blocks in slot order", {}, [region(block(0, "a", records=2), block(0, "b"), block(2, "c", records=5), block(3, "e", kind=1))]),
        ("sparse", "one partition of many", {"partition_count": 10}, [region(block(7, "a", records=1)), region(block(0, "b"))]),
        ("shared", "own blocks, then shared extents", {}, [region(block(1, "a"), shared, block(None, "b", records=1), {"shared": [3, 0]}, block(None, "c"), shared, block(None, "d"))]),
        ("only-shared", "only shared extents", {}, [region({"shared": [0, 1, 2, 3]}, block(None, "all"))]),
        ("shared-empty", "a shared extent without blocks is not written", {}, [region(block(1, "a"), {"shared": [1]}, shared, block(None, "b"))]),
        ("empty", "a region without blocks is not written", {}, [region(), region(shared), region(block(0, "a"))]),
        ("after-records", "the sort buffer's region is closed first", {}, [write(1, "x"), region(block(1, "y")), write(1, "z")]),
        ("wrapped", "blocks that wrap around at the rotation make a dense region", {"rotation": 3, "partition_count": 9}, [region(block(8, "a"), block(0, "b"))]),
        ("not-wrapped", "blocks that do not wrap are sparse in spite of the rotation", {"rotation": 3, "partition_count": 9}, [region(block(3, "a"), block(8, "b")), region(block(1, "c"))]),
        ("rotated-dense", "a dense region by rotation", {"rotation": 1}, [region(*(block(p, f"{p}") for p in (1, 2, 3, 0)))]),
        ("events", "events in a region, one empty", {}, [region(block(0, "", kind=64), block(0, "d"), block(0, "e", kind=127))]),
        ("given-up", "a region with a refused block leaves no byte and no sequence number", {},
         [region(block(0, "a")), region(block(0, "b"), block(3, "c"), block(2, "out of order")), region(block(0, "d"))]),
        ("stored-none", "a block that is stored as it is", {}, [region({"partition": 1, "codec": 0, "plain_size": 3, "stored": {"text": "abc"}, "records": 3})]),
        ("large-block", "a block above block_size is accepted", {"block_size": 4}, [region(block(0, "longer than four"))]),
        ("refused", "blocks that a reader would refuse", {"max_plain_size": 50}, [
            region(block(4, "outside")), region(block(0, "")), region(block(0, "k", kind=2)), region(block(0, "k", kind=128)),
            region(block(1, "a"), block(0, "descends")), region({"shared": []}, block(None, "x")), region({"shared": [4]}, block(None, "x")),
            region(block(0, "x" * 51)), region({"partition": 0, "codec": 0, "plain_size": 4, "stored": {"text": "abc"}}),
            region({"partition": 0, "codec": 1, "plain_size": 3, "stored": {"text": "abc"}}),
            region({"partition": 0, "codec": 1, "plain_size": 51, "stored": {"text": "abc"}}),
            region({"partition": 0, "codec": 3, "plain_size": 9, "stored": {"text": "abc"}}),
            region({"partition": 0, "kind": 1, "codec": 1, "plain_size": 9, "stored": {"text": "abc"}}), region(block(0, "good"))]),
        ("stored-compressed", "stored payloads are not decoded", {}, [
            region({"partition": 1, "codec": 1, "plain_size": 45, "stored": {"hex": lz4_repeat(b"a", 40, b"tails")[1].hex()}, "records": 1})]),
    ]  # fmt: skip
    for name, title, more, calls in rows:
        for layout in ("paired", "single"):
            if layout == "single" and name in ("refused", "stored-none", "large-block"):
                continue
            clause = "WRT-9 WRT-8" if name in ("refused", "stored-compressed") else "WRT-8 SRT-8"
            put(cat, f"wrt-8-{name}-{layout}", clause, title, {**base, "layout": layout, **more}, [*calls, FINISH])


def given_sequences(cat: Catalog) -> None:
    """WRT-8: sequences of the caller, with the option selective."""
    shared = {"shared": "all"}
    last = (1 << 32) - 2

    def at(number: int) -> Call:
        return {"sequence": number}

    rows: list[tuple[str, str, Call, list[Call]]] = [
        ("own", "gaps between own blocks: at first, inside an extent, between regions", {}, [
            region(at(7), block(2, "seven", records=1), block(2, "eight", records=1), at(20), block(2, "twenty"), block(3, "zero")),
            region(block(1, "zero"), block(2, "twenty-one"), at(3), block(3, "three"))]),
        ("shared", "gaps between shared blocks", {}, [
            region(block(0, "own"), shared, at(2), block(None, "two"), block(None, "three"), {"shared": [1, 2]}, at(9), block(None, "nine")),
            region({"shared": [0, 3]}, block(None, "ten"))]),
        ("before-shared", "a number that was wanted before shared is for the block after it", {}, [region(block(0, "own"), at(5), shared, block(None, "five"))]),
        ("sparse", "gaps in sparse regions", {"partition_count": 10}, [region(at(1), block(7, "one")), region(at(4), block(7, "four"))]),
        ("records", "records go on after the last block", {}, [write(1, "zero"), region(at(5), block(1, "five")), write(1, "six"), to_all("zero")]),
        ("no-gap", "a wanted sequence that is the next one", {}, [region(at(0), block(0, "zero"), at(1), block(0, "one"))]),
        ("again", "the number that was wanted last counts", {}, [region(at(9), at(4), block(0, "four"))]),
        ("forgotten", "a number without a block after it is forgotten", {}, [region(block(0, "zero"), at(9)), region(block(0, "one"))]),
        ("given-up", "a region that is given up takes its sequences with it", {}, [
            region(at(5), block(2, "five"), block(0, "out of order")),
            region(shared, at(5), block(None, "five"), block(1, "after shared")), region(block(2, "zero"), shared, block(None, "zero"))]),
        ("empty", "records only: nothing has a gap", {}, [write(2, "a record"), to_all("another")]),
        ("descends", "sequences that do not ascend are refused", {}, [
            region(at(5), block(2, "five")), region(at(5), block(2, "five again")), region(at(0), block(2, "before")),
            region(block(2, "six"), at(6), block(2, "six again")), region(shared, at(3), block(None, "three"), shared, at(3), block(None, "again")),
            region(block(2, "six"), shared, block(None, "zero"))]),
        ("largest", "the largest sequence, and those that are refused", {}, [
            region(at(last + 1), block(0, "above")), region(at(-1), block(0, "below")), region(at(last), block(0, "largest"), block(1, "zero"))]),
    ]  # fmt: skip
    for name, title, more, calls in rows:
        for layout in ("paired", "single"):
            options: Call = {"partition_count": 4, "framing": "opaque", "selective": True, "layout": layout, **more}
            put(cat, f"wrt-8-sequence-{name}-{layout}", "WRT-8 BLK-3 REG-9", title, options, [*calls, FINISH])
    plain: Call = {"partition_count": 4, "framing": "opaque"}
    put(cat, "wrt-8-sequence-not-selective", "WRT-8", "without the option, sequence is refused", plain,
        [region(at(0), block(0, "zero")), region(block(0, "zero")), FINISH])  # fmt: skip
    put(cat, "wrt-8-sequence-none-left", "WRT-8 WRT-6", "no sequence is left for a block", {**plain, "selective": True},
        [region(at(last), block(0, "largest")), region(block(0, "one more")), write(1, "after a failure"), FINISH])  # fmt: skip
    put(cat, "wrt-8-sequence-none-left-for-records", "WRT-8 WRT-6", "no sequence is left for a record",
        {**plain, "selective": True}, [region(at(last), block(0, "largest")), write(0, "one more"), {"call": "flush"}, FINISH])  # fmt: skip


def given_events(cat: Catalog) -> None:
    """WRT-8: the `records` of an event's block are not counted."""
    shared = {"shared": "all"}
    stored: Call = {"partition": 2, "kind": 127, "codec": 0, "plain_size": 3, "stored": {"text": "abc"}, "records": 50}
    own = [block(0, "", kind=64, records=9), block(0, "data", records=2), block(1, "event", kind=1, records=7), stored]
    calls = [region(*own, shared, block(None, "to all", kind=1, records=30), block(None, "data", records=4))]
    only = [
        region(
            block(3, "event", kind=1, records=(1 << 32) - 1), {"shared": [1, 2]}, block(None, "e", kind=70, records=1)
        )
    ]
    for layout in ("paired", "single"):
        options: Call = {"partition_count": 4, "framing": "opaque", "layout": layout}
        put(
            cat,
            f"wrt-8-records-of-events-{layout}",
            "WRT-8 FTR-4",
            "only the records of data blocks are counted",
            options,
            [*calls, FINISH],
        )
        put(
            cat,
            f"wrt-8-records-of-events-only-{layout}",
            "WRT-8 CAN-3",
            "events alone count no records",
            options,
            [*only, FINISH],
        )


def compressed(cat: Catalog) -> None:
    """Codecs: the content is the same, the stored bytes may differ (COD-6)."""
    for codec in ("lz4", "zstd"):
        options: Call = {"partition_count": 4, "codec": codec, "block_size": 2000, "buffer_size": 20_000}
        words = {"call": "many", "count": 300, "seed": 4, "partitions": [0, 4], "length": [0, 300], "content": "words"}
        noise = {"call": "many", "count": 40, "seed": 5, "partitions": [0, 4], "length": [1, 90], "content": "random"}
        for layout in ("paired", "single"):
            put(cat, f"cod-6-{codec}-{layout}", "COD-6 COD-5 BLK-6", f"records written with codec {codec} come back",
                {**options, "layout": layout}, [words, noise, to_all("to all " * 50), write(1, "event " * 30, 1), FINISH])  # fmt: skip
        put(cat, f"blk-6-{codec}-noise", "BLK-6", "bytes that cannot be compressed are stored as they are",
            {**options, "framing": "opaque"}, [write(2, {"random": 6, "length": 1500}), write(1, "x"), FINISH])  # fmt: skip
        put(cat, f"cod-6-{codec}-region", "COD-6 WRT-8", "the region writer compresses plain blocks",
            {**options, "framing": "opaque"}, [region(block(0, "again and " * 90), {"shared": "all"}, block(None, "once more " * 60)), FINISH])  # fmt: skip
    put(cat, "cod-5-zstd-level-19", "COD-5 COD-6", "the highest level", {"partition_count": 1, "codec": "zstd", "level": 19, "framing": "opaque"},
        [write(0, {"words": 3, "length": 60_000}), FINISH])  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    given(cat)
    given_sequences(cat)
    compressed(cat)
