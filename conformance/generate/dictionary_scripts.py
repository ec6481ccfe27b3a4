"""Scripts of a writer with dictionaries: DIC-7, DIC-8, WRT-8, WRT-9."""

from __future__ import annotations

from .catalog import Catalog
from .scripts import FINISH, FLUSH, Call, block, put, region, to_all, to_some, write
from .trained import CORRUPT, HEAD, OTHERS, TEXTS, WORDS, another

BASE: Call = {"partition_count": 4, "framing": "opaque", "dictionaries": True}


def give(content: bytes) -> Call:
    """A `dictionary` call."""
    return {"call": "dictionary", "payload": {"hex": content.hex()}}


def packed(partition: int | None, name: str, dictionary: int, **more: object) -> Call:
    """A stored block that is compressed with a dictionary."""
    plain, stored = TEXTS[name]
    place = {} if partition is None else {"partition": partition}
    return {
        **place,
        "codec": 2,
        "plain_size": len(plain),
        "stored": {"hex": stored.hex()},
        "records": 1,
        "dictionary": dictionary,
        **more,
    }


def scripts(cat: Catalog) -> None:
    """Each with canonical files."""
    shared = {"shared": "all"}
    words, others, third = give(WORDS), give(OTHERS), give(another(WORDS))
    one, two = region(packed(0, "words", 1)), region(packed(1, "deposits", 2))
    refusals = [
        region(packed(0, "words", 3)), region(packed(0, "words", 0xFFFF)), region(packed(0, "words", 0x10000)), region(packed(0, "words", -1)),
        region(packed(0, "words", 1, codec=1)), region(packed(0, "words", 1, kind=1)),
        region({"partition": 0, "codec": 0, "plain_size": 3, "stored": {"text": "abc"}, "dictionary": 1}),
        region(block(0, "a"), packed(1, "words", 3)),
    ]  # fmt: skip
    rows: list[tuple[str, str, str, Call, list[Call]]] = [
        ("option", "DIC-7", "the option sets the feature", {}, [write(1, "x")]),
        ("option-empty", "DIC-7 WRT-7", "the feature without a region", {}, []),
        ("one", "DIC-8 WRT-8", "a dictionary, and blocks that name it", {}, [words, region(packed(0, "words", 1), packed(3, "extents", 1))]),
        ("two", "DIC-8 DIC-3", "a second dictionary for a second region", {}, [words, one, others, two, region(packed(2, "extents", 1))]),
        ("together", "DIC-8", "three dictionaries before one region", {}, [words, others, third, region(packed(0, "extents", 3), packed(1, "deposits", 2))]),
        ("shared", "DIC-8 WRT-8", "shared blocks that name dictionaries", {},
         [words, others, region(block(1, "own"), shared, packed(None, "words", 1), {"shared": [0, 2]}, packed(None, "requests", 2))]),
        ("equal", "DIC-8", "the same dictionary again, before and after it was written", {},
         [words, words, one, words, others, words, region(packed(2, "words", 1), packed(3, "deposits", 2))]),
        ("closes", "DIC-8 SRT-3", "the sort buffer's region is closed before a dictionary", {}, [write(1, "before"), words, write(1, "behind")]),
        ("equal-closes", "DIC-8 SRT-3", "a dictionary that the file has closes the region too", {}, [words, write(1, "a"), words, write(1, "b")]),
        ("never-written", "DIC-8", "no region follows the dictionary", {}, [write(0, "x"), words]),
        ("alone", "DIC-8 WRT-7", "nothing but dictionaries", {}, [words, others]),
        ("waits", "DIC-8", "regions without blocks do not write it", {}, [words, FLUSH, write(1, ""), region(), region(shared), write(2, "now")]),
        ("given-up", "DIC-8 WRT-8", "an abandoned region does not write it", {}, [words, region(packed(0, "words", 1), packed(0, "words", 9)), one]),
        ("unused", "DIC-8", "a dictionary that no block names", {}, [words, write(3, "plain")]),
        ("unlooked-at", "DIC-8", "a dictionary that no decoder accepts is stored all the same", {}, [give(CORRUPT), give(HEAD), write(0, "plain")]),
        ("refused", "DIC-8", "bytes that are not a dictionary", {},
         [write(1, "a"), give(b""), give(WORDS[:7]), give(b"\x28\xb5\x2f\xfd" + WORDS[4:]), give(bytes(300)), write(1, "b")]),
        ("without-option", "DIC-8 DIC-7", "a dictionary without the option", {"dictionaries": False}, [write(1, "a"), words, write(1, "b")]),
        ("block-without-option", "WRT-9 DIC-7", "a block that names a dictionary, without the option", {"dictionaries": False}, [one, region(block(1, "x"))]),
        ("block-refused", "WRT-9", "blocks that a reader would refuse", {}, [words, others, *refusals, region(packed(0, "deposits", 2))]),
        ("block-none", "WRT-9", "a block that names a dictionary before there is one", {}, [one, words, one]),
        ("codec-lz4", "DIC-7 DIC-8", "dictionaries with another codec", {"codec": "lz4"}, [words, to_all("all of it " * 30), others, write(2, "more of it " * 30)]),
        ("copied", "DIC-9 DIC-8", "blocks of two files that number the same two dictionaries in opposite order", {},
         [words, others, region(packed(0, "words", 1), packed(1, "deposits", 2)), others, words, region(packed(0, "requests", 2), packed(2, "extents", 1))]),
        ("everything", "DIC-8 SRT-9 FTR-7", "with statistics, properties and rotation", {"rotation": 2, "created_by": "a writer"},
         [words, write(3, "x"), to_some([1, 2], "some"), others, region(packed(2, "extents", 1), packed(0, "words", 1)), {"call": "property", "key": "k", "value": "v"}]),
    ]  # fmt: skip
    for name, clause, title, more, calls in rows:
        for layout in ("paired", "single"):
            put(cat, f"dic-write-{name}-{layout}", clause, title, {**BASE, "layout": layout, **more}, [*calls, FINISH])
    put(
        cat,
        "dic-write-after-finish",
        "DIC-8 WRT-1",
        "a dictionary after finish",
        BASE,
        [write(0, "x"), FINISH, words],
    )
    put(
        cat,
        "dic-write-aborted",
        "DIC-8 WRT-1",
        "a dictionary, and the writer is aborted",
        BASE,
        [words, write(0, "x"), {"call": "abort"}, words],
    )


def trained(cat: Catalog) -> None:
    """DIC-7: whichever dictionary a writer trains, the records can be read back."""
    many = {"call": "many", "count": 3000, "seed": 8, "partitions": [0, 100], "length": [20, 90], "content": "words"}
    noise = {"call": "many", "count": 2500, "seed": 9, "partitions": [0, 100], "length": [20, 60], "content": "random"}
    for layout in ("paired", "single"):
        base: Call = {"partition_count": 100, "dictionaries": True, "codec": "zstd", "layout": layout}
        for name, title, more, calls in (
            ("words", "small blocks of words", {}, [many, to_all("to all " * 40)]),
            ("regions", "several regions", {"buffer_size": 120_000}, [many, write(3, "event", 1), many]),
            ("noise", "small blocks that do not shrink", {}, [noise]),
            ("few", "too few bytes to train on", {}, [write(p, "words and words") for p in range(100)]),
            ("large", "one block that is large", {"framing": "opaque"}, [write(7, {"words": 3, "length": 90_000})]),
            ("opaque", "framing opaque", {"framing": "opaque", "block_size": 700}, [many]),
        ):
            put(cat, f"dic-7-{name}-{layout}", "DIC-7 COD-6", f"records written with the option dictionaries are read back: {title}",
                {**base, **more}, [*calls, FINISH])  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    scripts(cat)
    trained(cat)
