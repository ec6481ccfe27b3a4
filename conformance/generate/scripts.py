"""Scripts of writer calls, and the canonical files that result: WRT, SRT, CAN."""

from __future__ import annotations

from typing import Any

from . import base, sorter
from .catalog import Catalog, fault
from .output import arrow_message, read_answer
from .raw import FILE_ID

Call = dict[str, Any]
FINISH: Call = {"call": "finish"}
FLUSH: Call = {"call": "flush"}
SCHEMA = {"hex": base.SCHEMA.hex()}


def write(partition: int, text: str | dict[str, Any], kind: int | None = None) -> Call:
    """A `write` call."""
    call: Call = {"call": "write", "partition": partition, "payload": {"text": text} if isinstance(text, str) else text}
    return call if kind is None else {**call, "kind": kind}


def to_all(text: str, kind: int | None = None) -> Call:
    """A `broadcast` call."""
    call: Call = {"call": "broadcast", "payload": {"text": text}}
    return call if kind is None else {**call, "kind": kind}


def to_some(members: list[int], text: str, kind: int | None = None) -> Call:
    """A `multicast` call."""
    call: Call = {"call": "multicast", "partitions": members, "payload": {"text": text}}
    return call if kind is None else {**call, "kind": kind}


def spread(count: int, low: int, high: int, seed: int = 1, most: int = 40) -> Call:
    """A `many` call."""
    return {
        "call": "many",
        "count": count,
        "seed": seed,
        "partitions": [low, high],
        "length": [0, most],
        "content": "words",
    }


def block(partition: int | None, text: str, **more: Any) -> Call:
    """A plain block of the region writer."""
    place = {} if partition is None else {"partition": partition}
    return {**place, "payload": {"text": text}, **more}


def region(*blocks: Call) -> Call:
    """A `region` call."""
    return {"call": "region", "blocks": list(blocks)}


def put(cat: Catalog, id: str, clause: str, title: str, options: Call, calls: list[Call], **more: Any) -> None:
    """A script, the files that result, and the calls that are refused."""
    codec = options.get("codec", "none")
    options = {"file_id": FILE_ID.hex(), **options}
    writer, errors = sorter.run(options, calls)
    output, finished = writer.output, writer.state == "finished"
    expect: Call = {"ok": {"errors": errors, "finished": finished}}
    if any(call["call"] == "dictionary" for call in calls):
        expect["ok"]["dictionaries"] = writer.returned
    files = None
    if finished and codec == "none":
        files = sorter.files(output)
    elif finished:
        answer = read_answer(output)
        for partition in answer["partitions"].values():
            del partition["stored_bytes"]
        expect["read"] = answer
    features = ([codec] if codec != "none" else []) + (["arrow"] if options.get("framing") == "arrow" else [])
    features += ["dictionaries"] if options.get("dictionaries") else []
    cat.add(id, clause, title, "write", folder="write", request={"options": options, "calls": calls}, expect=expect,
            expect_files=files, features=more.pop("features", features), **more)  # fmt: skip


def basics(cat: Catalog) -> None:
    """Whole files of each layout and framing."""
    for layout in ("paired", "single"):
        base: Call = {"partition_count": 4, "layout": layout}

        def case(
            name: str, clause: str, title: str, more: Call, calls: list[Call], base: Call = base, layout: str = layout
        ) -> None:
            put(cat, f"write-{name}-{layout}", clause, title, {**base, **more}, calls)

        case("empty", "WRT-7 CAN-1 SRT-3", "no records", {}, [FINISH])
        case(
            "empty-without-statistics",
            "WRT-7 SRT-9 CAN-3",
            "no records, no statistics",
            {"statistics": False},
            [FINISH],
        )
        case("one", "CAN-1 CAN-2 SRT-9", "one record", {}, [write(2, "hello"), FINISH])
        case(
            "header",
            "HDR-3",
            "all fields of the header",
            {"producer": "18446744073709551614", "attempt": "18446744073709551613", "first_partition": 100},
            [write(101, "x"), FINISH],
        )
        case(
            "mixed",
            "SRT-4 SRT-6 SRT-7 CAN-2",
            "records, events, broadcast and multicast",
            {},
            [
                write(3, "a"),
                write(0, "b"),
                write(3, "event", 1),
                write(3, "c"),
                to_some([1, 3], "m"),
                to_all("all"),
                write(1, "after"),
                to_all("end", 64),
                FINISH,
            ],
        )
        case(
            "properties",
            "SRT-9 FTR-5 CAN-2",
            "properties are sorted, created_by is kept",
            {"created_by": "conformance"},
            [
                {"call": "property", "key": key, "value": f"v {key}"}
                for key in ("b", "a", "ab", "", "\uff5e", "\U0001f600")
            ]
            + [FINISH],
        )
        case(
            "opaque",
            "SRT-6 FRM-1",
            "opaque bytes are cut at any byte",
            {"framing": "opaque", "block_size": 5},
            [write(0, "twelve bytes"), write(0, "!"), write(1, "12345"), write(2, "123456"), FINISH],
        )
        case(
            "arrow",
            "SRT-6 FRM-3 SCH-1",
            "each message is a block",
            {"framing": "arrow", "schema": SCHEMA, "block_size": 1},
            [
                write(1, {"hex": arrow_message(b"one", b"body").hex()}),
                write(1, {"hex": arrow_message(b"two").hex()}),
                write(3, "an event", 1),
                FINISH,
            ],
        )
        case(
            "arrow-empty",
            "WRT-7 SCH-1",
            "framing arrow without records",
            {"framing": "arrow", "schema": SCHEMA},
            [FINISH],
        )
        case(
            "many",
            "SRT-1 SRT-6 SRT-7",
            "several regions of many records",
            {"buffer_size": 3000, "block_size": 120},
            [spread(400, 0, 4), FINISH],
        )
        case(
            "regions",
            "SRT-3 WRT-1",
            "flush closes a region, but not twice",
            {},
            [FLUSH, write(0, "a"), FLUSH, FLUSH, write(0, "b"), FLUSH, FINISH],
        )
        case(
            "follow",
            "WRT-4",
            "a file that may be followed has the same bytes in the end",
            {"follow": True},
            [write(1, "x"), FLUSH, write(1, "y"), FINISH],
        )
        case(
            "durable",
            "WRT-5",
            "durability does not change any byte",
            {"durability": "commit"},
            [write(1, "x"), FLUSH, to_all("y"), FINISH],
        )
        case(
            "abort",
            "WRT-6 WRT-4",
            "an aborted output leaves nothing",
            {},
            [write(1, "x"), FLUSH, {"call": "abort"}, {"call": "abort"}],
        )
        case("never-finished", "WRT-6", "an abandoned output leaves nothing", {}, [write(1, "x"), FLUSH])


def cutting(cat: Catalog) -> None:
    """Where blocks end: SRT-6."""
    one: Call = {"partition_count": 1, "layout": "single"}
    fits = {"block_size": 20}
    rows: list[tuple[str, str, Call, list[Call]]] = [
        ("records-exact", "two records fill a block to the byte", fits, [write(0, "123456"), write(0, "123456"), write(0, "x")]),
        ("records-one-above", "the second record is a byte too long", fits, [write(0, "123456"), write(0, "1234567"), write(0, "x")]),
        ("records-larger-alone", "a record above block_size is in a block alone", fits,
         [write(0, "a"), write(0, "seventeen bytes!!"), write(0, "b")]),
        ("records-larger-first", "the first record is above block_size", fits, [write(0, "seventeen bytes!!"), write(0, "b"), write(0, "c")]),
        ("records-just-block", "a record of exactly block_size", fits, [write(0, "a"), write(0, "sixteen bytes!!!"), write(0, "b")]),
        ("records-empty", "a record without bytes takes four", {"block_size": 8}, [write(0, ""), write(0, ""), write(0, "")]),
        ("records-block-size-1", "the smallest block_size", {"block_size": 1}, [write(0, ""), write(0, "ab"), write(0, "c")]),
        ("opaque-exact", "bytes that fill blocks exactly", {"framing": "opaque", "block_size": 4}, [write(0, "1234"), write(0, "5678")]),
        ("opaque-one-more", "one byte is left", {"framing": "opaque", "block_size": 4}, [write(0, "123"), write(0, "456789")]),
        ("opaque-long", "one record over many blocks", {"framing": "opaque", "block_size": 7}, [write(0, {"words": 5, "length": 50})]),
        ("opaque-event", "an event ends the block", {"framing": "opaque", "block_size": 4},
         [write(0, "123456"), write(0, "e", 1), write(0, "789"), write(0, "", 127), write(0, "", 64)]),
        ("opaque-empty", "records without bytes are counted", {"framing": "opaque"}, [write(0, ""), write(0, "a"), write(0, "")]),
        ("opaque-only-empty", "a region of records without bytes is not written", {"framing": "opaque"},
         [write(0, ""), FLUSH, write(0, "a"), FLUSH, to_all("")]),
        ("opaque-block-size-1", "blocks of one byte", {"framing": "opaque", "block_size": 1}, [write(0, "abc")]),
        ("event-between", "an event ends a block of records", fits, [write(0, "a"), write(0, "", 1), write(0, "b"), write(0, "c")]),
        ("event-large", "an event is a block whatever its size", fits, [write(0, {"repeat": "e", "length": 90}, 99)]),
        ("max-plain-size", "max_plain_size below block_size cuts blocks", {"max_plain_size": 12}, [write(0, "abc"), write(0, "def"), write(0, "12345678")]),
        ("max-plain-size-opaque", "max_plain_size cuts opaque bytes", {"max_plain_size": 3, "framing": "opaque"}, [write(0, "abcdefgh")]),
    ]  # fmt: skip
    for name, title, more, calls in rows:
        put(
            cat,
            f"srt-6-{name}",
            "SRT-6 WRT-2 CAN-1" if "opaque" in name else "SRT-6 CAN-1",
            title,
            {**one, **more},
            [*calls, FINISH],
        )
    two = {"partition_count": 3, "layout": "paired", "framing": "opaque"}
    put(cat, "srt-7-empty-extents", "SRT-7 SRT-8 SRT-4 WRT-2", "extents without blocks are left out, and end shared extents", two,
        [write(2, ""), to_all("x"), to_some([1], ""), to_all("y"), write(0, "z"), to_some([2], ""), FINISH])  # fmt: skip


def regions(cat: Catalog) -> None:
    """Where regions end and what they look like: SRT-1 to SRT-5, SRT-7, SRT-8."""
    single: Call = {"layout": "single", "partition_count": 3}
    rows: list[tuple[str, str, str, Call, list[Call]]] = [
        ("srt-1-exact", "SRT-1", "records that fill the buffer to the byte", {"buffer_size": 32}, [write(0, "1234"), write(1, "5678"), write(2, "x")]),
        ("srt-1-one-above", "SRT-1", "one byte above the buffer", {"buffer_size": 31}, [write(0, "1234"), write(1, "5678"), write(2, "x")]),
        ("srt-1-broadcast", "SRT-1", "a broadcast is charged once", {"buffer_size": 32}, [to_all("1234"), to_all("5678"), to_all("x")]),
        ("srt-1-multicast", "SRT-1", "the set of a multicast is charged with the extent that it begins", {"buffer_size": 33, "partition_count": 8},
         [to_some([1], "1234"), to_some([1], "5678"), to_some([1], ""), to_some([1], "9")]),
        ("srt-1-multicast-changes", "SRT-1", "each new shared extent is charged", {"buffer_size": 60, "partition_count": 40},
         [to_some([1], ""), to_some([2], ""), to_some([1], ""), to_some([2], ""), to_some([2], "")]),
        ("srt-1-events", "SRT-1", "events are charged like records", {"buffer_size": 24}, [write(0, "", 1), write(0, "", 1), write(0, "", 1)]),
        ("srt-2-oversized", "SRT-2", "an oversized record is in a region alone", {"buffer_size": 20}, [write(0, "a"), write(1, "nine byte"), write(0, "b")]),
        ("srt-2-just-fits", "SRT-2", "a record that is one byte below oversized", {"buffer_size": 20}, [write(0, ""), write(1, "eight by"), write(0, "")]),
        ("srt-2-all-oversized", "SRT-2", "every record is oversized", {"buffer_size": 1}, [write(0, ""), to_all("b"), write(1, "c")]),
        ("srt-2-broadcast", "SRT-2", "an oversized broadcast", {"buffer_size": 20}, [to_all("a"), to_all("nine byte"), to_all("b")]),
        ("srt-2-multicast", "SRT-2 SRT-1", "the set of a multicast makes it oversized", {"buffer_size": 20, "partition_count": 64},
         [to_some([1], ""), to_some([1], "a"), to_some([1], "")]),
        ("srt-4-own-after-shared", "SRT-4", "a record for one partition after a broadcast closes the region", {}, [write(0, "a"), to_all("b"), write(0, "c")]),
        ("srt-4-alternate", "SRT-4", "alternating calls", {}, [to_all("1"), write(1, "2"), to_all("3"), write(1, "4"), to_all("5")]),
        ("srt-4-members-change", "SRT-4", "other members begin another extent; the first members again begin a third", {},
         [to_some([0, 1], "a"), to_some([1, 0, 1], "b"), to_some([2], "c"), to_some([0, 1], "d"), to_all("e")]),
        ("srt-4-unordered", "SRT-4", "unordered: nothing is closed, and extents are used again", {"ordered": False},
         [to_all("a"), write(1, "b"), to_some([0, 1], "c"), to_all("d"), write(0, "e"), to_some([1, 0], "f"), write(1, "g")]),
        ("srt-4-unordered-buffer", "SRT-4 SRT-1", "unordered, with a small buffer", {"ordered": False, "buffer_size": 50},
         [to_all("a"), write(1, "b"), to_some([2], "c"), to_all("d"), write(0, "e"), to_some([2], "f"), write(1, "g")]),
        ("srt-5-multicast-to-all", "SRT-5", "a set of all partitions is a broadcast", {}, [to_some([2, 0, 1], "a"), to_all("b"), to_some([0, 1, 2, 2], "c")]),
        ("srt-5-one-partition", "SRT-5 SRT-8", "with one partition, every set is a broadcast", {"partition_count": 1}, [to_some([0], "a"), to_all("b"), write(0, "c")]),
        ("srt-7-slots", "SRT-7", "extents are in the order of partitions, records in the order of calls", {}, [write(2, "a"), write(0, "b"), write(2, "c"), write(1, "d")]),
        ("srt-7-rotation", "SRT-7 SRT-8 REG-1", "a dense region begins at the rotation", {"rotation": 2}, [write(p, f"{p}") for p in (0, 1, 2)]),
        ("srt-7-rotation-range", "SRT-7 SRT-8", "rotation counts from first_partition", {"rotation": 1, "first_partition": 50}, [write(p, f"{p}") for p in (50, 51, 52)]),
        ("srt-7-rotation-sparse", "SRT-8 REG-5", "a sparse region has no rotation", {"rotation": 4, "partition_count": 9}, [write(p, f"{p}") for p in (8, 5, 0)]),
        ("srt-7-rotation-broadcast", "SRT-8", "a region without own extents is sparse", {"rotation": 2}, [to_all("a")]),
    ]  # fmt: skip
    for count, own in ((7, 2), (7, 3), (8, 3), (8, 4), (2, 1), (3, 1), (4, 1), (1, 1)):
        rows.append((f"srt-8-{own}-of-{count}", "SRT-8", f"{own} of {count} partitions have extents", {"partition_count": count},
                     [write(count - own + p, f"{p}") for p in range(own)]))  # fmt: skip
    for id, clause, title, more, calls in rows:
        put(cat, id, clause + " CAN-1", title, {**single, **more}, [*calls, FINISH])
    noise = {"call": "many", "count": 60, "seed": 0, "partitions": [2, 7], "length": [3, 17], "content": "random"}
    put(cat, "srt-6-random", "SRT-6 SRT-8 CAN-1", "records of random bytes by the protocol's generator",
        {"partition_count": 8, "first_partition": 1, "block_size": 64, "layout": "single"}, [noise, FINISH])  # fmt: skip
    put(cat, "srt-8-large", "SRT-8 CAN-2", "100,000 partitions, sparse and shared", {"partition_count": 100_000, "statistics": False},
        [spread(50, 40_000, 60_000, 3), to_all("x"), to_some([99_999], "y"), FINISH])  # fmt: skip
    put(cat, "srt-9-statistics-many", "SRT-9 FTR-4 CAN-3", "statistics of records of many kinds",
        {"partition_count": 20, "buffer_size": 2000, "first_partition": 5},
        [spread(200, 5, 25, 9), to_all("to all"), to_some([5, 24], "to two"), write(9, "event", 70), FINISH])  # fmt: skip
    put(cat, "can-3-statistics-zero", "CAN-3 SRT-9", "an output of events has no plain and no records vector",
        {"partition_count": 2}, [write(1, "e", 1), FINISH])  # fmt: skip


def refused(cat: Catalog) -> None:
    """Calls and options that are refused and leave the writer as it was: WRT-1 to WRT-3."""
    base: Call = {"partition_count": 4, "first_partition": 10, "layout": "single"}
    calls = [
        write(10, "kept"), write(9, "below"), write(14, "above"), write(0xFFFFFFFF, "nobody"), to_some([], "empty"),
        to_some([10, 14], "outside"), write(10, "kind", 2), write(10, "kind", 63), write(10, "kind", 128), write(10, "kind", 192),
        to_all("kind", 3), to_some([11], "kind", 130), write(11, "kept too"), {"call": "property", "key": "k", "value": "1"},
        {"call": "property", "key": "k", "value": "2"}, FINISH, write(10, "late"), FLUSH, to_all("late"), FINISH,
        {"call": "property", "key": "late", "value": ""}, region(block(10, "late")), {"call": "abort"},
    ]  # fmt: skip
    put(cat, "wrt-1-refused", "WRT-1", "calls that are the caller's mistake change nothing", base, calls)
    put(cat, "wrt-1-after-abort", "WRT-1 WRT-6", "after abort every call but abort is refused", base,
        [write(10, "x"), {"call": "abort"}, write(10, "y"), FINISH, FLUSH, {"call": "abort"}])  # fmt: skip
    put(cat, "wrt-1-refused-keeps-order", "WRT-1 SRT-4", "a refused broadcast closes nothing and begins nothing", base,
        [write(10, "a"), to_all("bad", 5), write(10, "b"), to_some([9], "bad"), write(10, "c"), FINISH])  # fmt: skip
    limit: Call = {"partition_count": 2, "layout": "single", "max_plain_size": 30, "block_size": 30}
    put(cat, "wrt-3-records", "WRT-3", "a record that would need a block above max_plain_size", limit,
        [write(0, {"repeat": "x", "length": 26}), write(0, {"repeat": "x", "length": 27}), to_all("27 bytes, as long as this!!"),
         write(1, {"repeat": "e", "length": 31}, 1), write(1, {"repeat": "e", "length": 30}, 1), FINISH])  # fmt: skip
    put(cat, "wrt-3-opaque", "WRT-3 SRT-6", "opaque records are cut, events are not", {**limit, "framing": "opaque"},
        [write(0, {"repeat": "x", "length": 100}), write(0, {"repeat": "e", "length": 31}, 1), FINISH])  # fmt: skip
    message, large = arrow_message(b"x" * 14), arrow_message(b"x" * 14, b"body of mine!")
    put(cat, "wrt-2-arrow", "WRT-2 FRM-4 WRT-3", "framing arrow takes encapsulated messages only",
        {**limit, "framing": "arrow", "schema": SCHEMA},
        [write(0, "no message"), write(0, {"hex": message.hex()}), write(0, {"hex": large.hex()}), write(0, ""),
         write(0, {"hex": message[:16].hex()}), write(1, "any event", 1), FINISH])  # fmt: skip
    bad: list[tuple[str, Call]] = [
        ("partition-count-0", {"partition_count": 0}), ("partition-count-above", {"partition_count": (1 << 28) + 1}),
        ("range", {"partition_count": 2, "first_partition": (1 << 28) - 1}), ("block-size-0", {"block_size": 0}),
        ("block-size-above", {"block_size": (1 << 26) + 1}), ("buffer-size-0", {"buffer_size": 0}),
        ("buffer-size-above", {"buffer_size": (1 << 33) + 1}), ("rotation", {"rotation": 4}),
        ("level-0", {"codec": "zstd", "level": 0}), ("level-20", {"codec": "zstd", "level": 20}),
        ("arrow-without-schema", {"framing": "arrow"}),
    ]  # fmt: skip
    for name, more in bad:
        features = ["zstd"] if "codec" in more else ["arrow"] if "framing" in more else []
        options = {"file_id": FILE_ID.hex(), "partition_count": 4, "layout": "single", **more}
        cat.add(f"wrt-1-option-{name}", "WRT-1", f"an option out of range: {more}", "write", folder="write",
                request={"options": options, "calls": [FINISH]}, expect=fault("invalid-argument"), features=features)  # fmt: skip


def existing(cat: Catalog) -> None:
    """Files at the final names: WRT-4."""
    old = {"single": b"what was there"}
    options: Call = {"partition_count": 1, "layout": "single", "file_id": FILE_ID.hex()}
    cat.add("wrt-4-exists", "WRT-4", "a file of the final name is not replaced", "write", folder="write", existing=old,
            request={"options": options, "calls": [FINISH]}, expect={"error": {"code": "io"}}, expect_files=old)  # fmt: skip
    pair = {"index": b"what was there"}
    cat.add("wrt-4-exists-index", "WRT-4", "an index file of the final name is not replaced", "write", folder="write", existing=pair,
            request={"options": {**options, "layout": "paired"}, "calls": [FINISH]}, expect={"error": {"code": "io"}},
            expect_files=pair)  # fmt: skip
    put(cat, "wrt-4-overwrite", "WRT-4", "a file of the final name is replaced when the caller says so",
        {"partition_count": 1, "layout": "single", "overwrite": True}, [write(0, "new"), FINISH], existing=old)  # fmt: skip
    put(cat, "wrt-4-overwrite-aborted", "WRT-4 WRT-6", "an aborted output leaves what was there",
        {"partition_count": 1, "layout": "single", "overwrite": True}, [write(0, "new"), {"call": "abort"}], existing=old)  # fmt: skip
    cat.cases[-1]["expect"]["files"] = {"single": cat.cases[-1]["existing"]["single"]}


def names(cat: Catalog) -> None:
    """Separators at the end of NAME, and paths that are not a NAME."""
    calls = [write(0, "a"), FINISH]
    for layout, name in (("paired", "output//"), ("single", "output/"), ("single", "output.faro/")):
        put(cat, f"pub-1-{layout}-{'ending' if '.' in name else 'separator'}", "PUB-1", "separators at the end are not part of NAME",
            {"partition_count": 1, "layout": layout}, calls, name=name)  # fmt: skip
    options: Call = {"partition_count": 1, "file_id": FILE_ID.hex()}
    for what, name in (
        ("dot", "."),
        ("dots", ".."),
        ("dot-separator", "./"),
        ("empty-single", ".faro"),
        ("empty-data", ".data"),
        ("empty-index", ".index"),
        ("dot-single", "..faro"),
        ("dots-data", "...data"),
    ):
        cat.add(f"pub-1-refused-{what}", "PUB-1", f"a path that is not a NAME: {name}", "write", folder="write", name=name,
                request={"options": options, "calls": calls}, expect={"error": {"code": "invalid-argument"}})  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (basics, cutting, regions, refused, existing, names):
        part(cat)
