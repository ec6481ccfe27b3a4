"""Outputs whose size decides the layout: WRT-13."""

from __future__ import annotations

from .catalog import Catalog, fault
from .raw import FILE_ID
from .scripts import FINISH, FLUSH, Call, block, put, region, spread, to_all, to_some, write
from .trained import WORDS

ABORT: Call = {"call": "abort"}


def decided(cat: Catalog) -> None:
    """What decides, and which files result."""
    # Three records of 3, 0 and 5 bytes are charged 44 (SRT-1); a multicast to some of 9 partitions 2 more.
    three = [write(0, "abc"), write(3, ""), write(1, "three")]
    opaque: Call = {"framing": "opaque"}
    rows: list[tuple[str, str, int, Call, list[Call]]] = [
        ("equal", "a sum that is equal is single", 44, {}, [*three, FINISH]),
        ("above", "a sum that is one more is paired", 43, {}, [*three, FINISH]),
        ("least", "one byte more than nothing is enough for no records", 1, {}, [FINISH]),
        ("most", "the largest value", 1 << 33, {}, [*three, FINISH]),
        ("members", "the set of a shared extent is charged", 30, {"partition_count": 9}, [to_some([0, 8], "a"), to_some([8, 0], "b"), FINISH]),
        ("members-equal", "the set of a shared extent is charged once", 28, {"partition_count": 9}, [to_some([0, 8], "a"), to_some([8, 0], "b"), FINISH]),
        ("broadcast", "a broadcast is charged once", 40, {"partition_count": 1000}, [to_all("for each of a thousand"), FINISH]),
        ("events", "events are charged as records", 34, {}, [write(0, "0123456789", 64), write(1, "", 1), FINISH]),
        ("flush", "a flush decides", 1000, {}, [write(0, "a"), FLUSH, FINISH]),
        ("flush-empty", "a flush of nothing does not decide", 1000, {}, [FLUSH, FLUSH, write(0, "a"), FINISH]),
        ("flush-no-bytes", "a flush of records that leave no bytes decides", 1000, opaque, [write(0, ""), FLUSH, FINISH]),
        ("no-bytes", "records that leave no bytes", 24, opaque, [write(0, ""), to_all(""), FINISH]),
        ("full", "a full buffer decides", 1 << 20, {"buffer_size": 100}, [spread(20, 0, 4), FINISH]),
        ("order", "a region that the order closes decides", 1000, {}, [to_all("a"), write(1, "b"), FINISH]),
        ("no-order", "without order, no region is closed", 1000, {"ordered": False}, [to_all("a"), write(1, "b"), FINISH]),
        ("oversized", "an oversized record has a region of its own, which decides", 1 << 20, {"buffer_size": 20}, [write(0, "longer than the buffer"), FINISH]),
        ("region", "a region writer decides", 1000, opaque, [region(block(0, "a")), FINISH]),
        ("region-nothing", "a region writer that leaves nothing decides", 1000, {}, [region(), write(0, "a"), FINISH]),
        ("region-given-up", "a region writer that is given up decides", 1000, opaque, [region(block(0, "a"), block(0, "no kind", kind=2)), FINISH]),
        ("property", "a property does not decide", 1000, {}, [{"call": "property", "key": "k", "value": "v" * 2000}, write(0, "a"), FINISH]),
        ("refused", "refused calls do not decide", 100, {"max_plain_size": 50}, [write(9, "a"), write(0, "x" * 60), write(0, "a", 2), write(0, "a"), FINISH]),
        ("after-finish", "after finish, every call is refused", 100, {}, [write(0, "a"), FINISH, write(0, "b"), FLUSH, FINISH]),
    ]  # fmt: skip
    for name, title, below, more, calls in rows:
        put(cat, f"wrt-13-{name}", "WRT-13", title, {"partition_count": 4, "single_below": below, **more}, calls)
    for name, calls in (
        ("aborted", [*three, ABORT]),
        ("aborted-decided", [*three, FLUSH, ABORT]),
        ("not-finished", three),
    ):
        put(cat, f"wrt-13-{name}", "WRT-13 WRT-6", "nothing is left of an output that is not finished",
            {"partition_count": 4, "single_below": 1000}, calls)  # fmt: skip


def dictionaries(cat: Catalog) -> None:
    """A dictionary of the caller's."""
    base: Call = {"partition_count": 4, "single_below": 1000, "dictionaries": True}
    good, bad = ({"call": "dictionary", "payload": {"hex": content.hex()}} for content in (WORDS, b"none"))
    put(cat, "wrt-13-dictionary", "WRT-13 DIC-8", "a dictionary decides", base, [good, write(0, "a"), FINISH])
    put(cat, "wrt-13-dictionary-refused", "WRT-13 DIC-8", "a refused dictionary does not decide", base, [bad, write(0, "a"), FINISH])  # fmt: skip


def names(cat: Catalog) -> None:
    """What is there already, and options that contradict."""
    options: Call = {"partition_count": 1, "file_id": FILE_ID.hex(), "single_below": 100}
    calls = [write(0, "a"), FINISH]
    for role in ("single", "data", "index"):
        old = {role: b"what was there"}
        cat.add(f"wrt-13-exists-{role}", "WRT-13 WRT-4", f"a {role} file of either layout is not replaced", "write", folder="write",
                existing=old, request={"options": options, "calls": calls}, expect={"error": {"code": "io"}}, expect_files=old)  # fmt: skip
    refused: list[tuple[str, Call, str | None]] = [
        ("layout-single", {"layout": "single"}, None), ("layout-paired", {"layout": "paired"}, None),
        ("follow", {"follow": True}, None), ("overwrite", {"overwrite": True}, None),
        ("name-single", {}, "output.faro"), ("name-data", {}, "output.data"), ("name-index", {}, "output.index/"),
        ("negative", {"single_below": -1}, None), ("too-large", {"single_below": (1 << 33) + 1}, None),
    ]  # fmt: skip
    for what, more, name in refused:
        cat.add(f"wrt-13-refused-{what}", "WRT-1 WRT-13", f"single_below is refused: {what}", "write", folder="write", name=name,
                request={"options": {**options, **more}, "calls": calls}, expect=fault("invalid-argument"))  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (decided, dictionaries, names):
        part(cat)
