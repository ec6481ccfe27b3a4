"""Valid files of every layout, and faults that only `check` finds: PRT, FIL, REG, CHK."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import base
from .catalog import Catalog, fault
from .message import Fields
from .output import Output, Region, Shared, arrow_message, build, framed, statistics
from .prng import word_bytes
from .raw import MERGED, OPAQUE, RECORDS, Block, Header, run

Regions = list[Region]


def variants() -> list[tuple[str, str, str, Callable[[], Output]]]:
    """Outputs of each layout; each is written as a pair and as a single file."""
    text, event = base.text, base.event

    def of(count: int, *regions: Region, first: int = 0, **more: Any) -> Callable[[], Output]:
        return lambda: Output(Header(partition_count=count, first_partition=first, **more), list(regions))

    def full(count: int, first: int = 0) -> dict[int, list[Block]]:
        return {first + p: [text(f"record of {p}")] for p in range(count)}

    def turned(count: int, by: int, first: int = 0) -> Region:
        return Region({first + (by + s) % count: [text(f"slot {s}")] for s in range(count)}, rotation=by, sparse=False)

    everybody = Region(shared=[Shared([text("for all"), text("and more")])])
    return [
        ("empty", "WRT-7 FIL-1 FIL-2", "a file without regions", of(4)),
        ("empty-1", "WRT-7", "a file of one partition without regions", of(1)),
        ("one-block", "PRT-1", "one partition with one block", of(1, Region({0: [text("one")]}))),
        ("dense", "REG-1 PRT-1", "a dense region", of(5, Region(full(5)))),
        ("dense-holes", "REG-4", "a dense region in which partitions have nothing",
         of(6, Region({1: [text("a")], 2: [text("b")], 4: [text("c")]}, sparse=False))),
        ("dense-first-partition", "REG-1", "a dense region of a range of partitions", of(3, Region(full(3, 70)), first=70)),
        ("sparse", "REG-5", "a sparse region", of(100, Region({7: [text("a")], 63: [text("b")], 99: [text("c")]}))),
        ("sparse-all", "REG-5 SRT-8", "a sparse region may name every partition", of(3, Region(full(3), sparse=True))),
        ("sparse-first-partition", "REG-5", "a sparse region of a range", of(50, Region({110: [text("a")]}), first=100)),
        ("dense-almost-empty", "SRT-8 REG-4", "a dense region of 100 slots, one with blocks",
         of(100, Region({50: [text("only")]}, sparse=False))),
        ("rotated", "REG-1 REG-5", "a dense region that begins at partition 3", of(5, turned(5, 3))),
        ("rotated-last", "REG-1 REG-5", "rotation by P - 1", of(4, turned(4, 3))),
        ("rotated-first-partition", "REG-1", "rotation in a range of partitions", of(4, turned(4, 1, 20), first=20)),
        ("broadcast", "PRT-1 REG-6", "one shared extent for all", of(9, everybody)),
        ("broadcast-1", "PRT-1", "a shared extent for all of one partition", of(1, everybody)),
        ("multicast", "PRT-1 REG-7", "shared extents with members",
         of(17, Region(shared=[Shared([text("a")], [0, 16]), Shared([text("b")], [8]), Shared([text("c")], [7, 8, 15])]))),
        ("multicast-all-named", "REG-7", "a members field with every bit", of(8, Region(shared=[Shared([text("a")], list(range(8)))]))),
        ("multicast-range", "REG-7", "members count from first_partition",
         of(9, Region(shared=[Shared([text("a")], [1000, 1008])]), first=1000)),
        ("members-no-bit", "REG-7", "a shared extent with a bit set of which no bit is set",
         of(12, Region({0: [text("own")]}, [Shared([text("orphan")], [], bits=bytes(2))]))),
        ("members-none", "REG-7", "a shared extent that no partition reads", of(4, Region({0: [text("own")]}, [Shared([text("orphan")], [])]))),
        ("own-then-shared", "PRT-1", "own and shared extents in one region", lambda: base.small()),
        ("events", "BLK-2 PRT-1", "events of all kinds, one empty, among data",
         of(2, Region({0: [event(), text("a"), event(b"64", 64), event(b"127", 127), text("b"), event(b"x" * 100)]}))),
        ("events-only", "BLK-2", "a partition that has only events", of(2, Region({1: [event(b"e"), event(kind=100)]}))),
        ("many-regions", "PRT-1 BLK-3", "twelve regions for three partitions",
         of(3, *(Region({p: [text(f"{r} {p}")] for p in range(3) if (r + p) % 2}) for r in range(12)))),
        ("shared-in-all-regions", "BLK-3 PRT-4", "shared sequences continue over regions",
         of(4, *(Region(shared=[Shared([text(f"all {r}")]), Shared([text(f"some {r}")], [r])]) for r in range(4)))),
        ("runs", "REG-8", "a merged file with runs",
         of(2, Region({0: [text("from 1"), text("from 2")], 1: [text("from 1")]},
                      runs=[run(1, 5, last=1), run(2, 5, attempt=1 << 40), run(1, 5, last=1)]), producer=MERGED)),
        ("runs-of-blocks", "REG-8", "a run may hold several blocks",
         of(1, Region({0: [text("first"), text("other"), text("third")]}, runs=[run(1, 10, 2), run(2, 5)]), producer=MERGED)),
        ("selective", "REG-9 BLK-3 PRT-4", "sequences with gaps and first_block",
         of(3, Region({0: [replace(text("a"), sequence=3), replace(text("b"), sequence=9)], 2: [replace(text("c"), sequence=0)]}, sparse=False),
            Region({0: [replace(text("d"), sequence=12)]}), reader_features=1)),
        ("selective-broadcast", "REG-9 CAN-3", "a region without slots, which has no first_block",
         of(9, Region(shared=[Shared([text("to all")])]), reader_features=1)),
        ("selective-broadcast-empty", "REG-9", "a region without slots, whose first_block is empty",
         of(9, Region(shared=[Shared([text("to all")])], change=lambda fields: fields.update(first_block=[])), reader_features=1)),
        ("selective-shared", "REG-9 PRT-4", "shared sequences with gaps",
         of(3, Region({1: [text("own")]}, [Shared([replace(text("a"), sequence=2), replace(text("b"), sequence=7)])]), reader_features=1)),
        ("empty-records", "FRM-2", "records without bytes", of(2, Region({0: [text("", "", ""), text("")]}))),
        ("opaque", "FRM-1", "opaque bytes", of(2, Region({0: [Block(b"\x01"), Block(bytes(9))]}), framing=OPAQUE)),
        ("64-kib", "PRT-1", "a block of 64 KiB", of(1, Region({0: [Block(b"ab" * 32768)]}), framing=OPAQUE)),
        ("padding", "BLK-1", "payloads of every length modulo 8", of(1, Region({0: [Block(b"p" * n) for n in range(1, 10)]}), framing=OPAQUE)),
    ]  # fmt: skip


def valid(cat: Catalog) -> None:
    """Each layout."""
    for name, clause, title, make in variants():
        cat.valid(f"read-{name}", clause, title, make())
        cat.valid(f"read-{name}-paired", clause, title + ", in a pair", replace(make(), paired=True))
        kept = replace(
            make(),
            statistics=True,
            properties={"made.by": "case", "zweites": "äöü €"},
            created_by="conformance \U0001f980",
        )
        if name in (
            "dense",
            "sparse",
            "rotated",
            "broadcast",
            "multicast",
            "events",
            "empty",
            "multicast-range",
            "members-none",
        ):
            cat.valid(f"read-{name}-footer", clause + " FTR-1 FTR-4", title + ", with statistics and properties", kept)
    schema = base.SCHEMA
    for paired in (False, True):
        more = "-paired" if paired else ""
        batches = [arrow_message(b"first batch", b"body bytes"), arrow_message(b"second")]
        cat.valid(
            f"read-arrow{more}",
            "FRM-3 FRM-4 SCH-1",
            "framing arrow, read as messages",
            base.arrow(batches, schema, paired),
        )
        cat.valid(f"read-arrow-empty{more}", "SCH-1 WRT-7", "framing arrow without regions",
                  replace(base.arrow([], schema, paired), regions=[]))  # fmt: skip
    for paired in (False, True):
        more = "-paired" if paired else ""
        output = base.small(paired=paired)
        output.regions[0].before = [(192, b"first"), (255, b"")]
        output.regions[1].before = [(200, b"between regions")]
        output.after_regions = [(193, b"behind all"), (193, b"and again, of one kind")]
        cat.valid(f"blk-skippable{more}", "FIL-2 CHK-1 BLK-5", "metadata of kinds that a reader may skip", output)
    for name, low, high in (("all", 0, 4), ("first", 0, 1), ("middle", 1, 3), ("last", 3, 4), ("empty", 2, 2)):
        cat.valid(f"prt-5-range-{name}", "PRT-5", f"the range of partitions {low} to {high}", base.small(),
                  request={"range": [low, high]})  # fmt: skip
    turned = Output(Header(partition_count=4, first_partition=8), [
        Region({p: [base.text(f"{p}")] for p in (10, 11, 8, 9)}, [Shared([base.text("s")], [9])], rotation=2, sparse=False)])  # fmt: skip
    for low, high in ((8, 12), (8, 10), (9, 11), (10, 12)):
        cat.valid(f"prt-5-range-rotated-{low}-{high}", "PRT-5", "a range of a rotated region, in slot order", turned,
                  request={"range": [low, high]})  # fmt: skip
    cat.valid("prt-6-stored-bytes", "PRT-6", "stored bytes with statistics, of partitions with and without blocks",
              replace(base.small(), statistics=True), request={"partitions": [0, 1, 2, 3]})  # fmt: skip
    cat.valid("prt-6-stored-bytes-without", "PRT-6", "stored bytes without statistics", base.small(),
              request={"partitions": [3, 1, 0, 2]})  # fmt: skip
    for paired, name in ((True, "sweep-paired"), (False, "sweep-single")):
        tiny = Output(Header(partition_count=2, framing=RECORDS), [Region({0: [base.text("a")]}, [Shared([base.text("b")], [1])])],
                      paired, statistics=True, properties={"k": "v"})  # fmt: skip
        cat.valid(name, "ERR-3 INT-1", "a small file, each byte and each length of which is damaged in turn", tiny)


def large(cat: Catalog) -> None:
    """Many partitions."""
    count = 100_000
    chosen = [0, 7, 4095, 4096, 65_535, 65_536, 99_999]
    own = [{p: [base.text(f"{r} {p}")] for p in chosen if (p + r) % 3} for r in range(10)]
    cat.valid("large-sparse", "PRT-1 REG-5 HDR-5", "100,000 partitions and ten sparse regions, one partition read",
              Output(Header(partition_count=count), [Region(o) for o in own], paired=True),
              request={"partitions": [65_536]})  # fmt: skip
    regions = [Region({p: [base.text(f"{r} {p}")] for p in chosen}, sparse=False, rotation=r * 9999) for r in range(10)]
    for region in regions:
        region.own = dict(sorted(region.own.items(), key=lambda item: (item[0] - region.rotation) % count))
    cat.valid("large-dense", "PRT-1 REG-4 LIM-2", "100,000 partitions and ten dense regions, one partition read",
              Output(Header(partition_count=count), regions, paired=True, statistics=True),
              request={"partitions": [99_999, 1]}, generated=True)  # fmt: skip
    cat.valid("large-broadcast", "PRT-1 FTR-4", "a broadcast to 2^20 partitions, whose index is small",
              Output(Header(partition_count=1 << 20), [Region(shared=[Shared([base.text("to all")])])], statistics=True),
              request={"partitions": [0, 1, 1 << 19, (1 << 20) - 1]})  # fmt: skip
    words = Block(framed(*(word_bytes(n, 900) for n in range(60))))
    cat.valid("large-blocks", "PRT-1", "blocks of 54 KB", Output(Header(partition_count=2), [Region({0: [words], 1: [words]})]),
              generated=True)  # fmt: skip


def checks(cat: Catalog) -> None:
    """Faults that `check` finds and reading a partition does not reach."""

    def lies(
        name: str,
        by: Callable[[Fields], None],
        level: str,
        output: Output | None = None,
        clause: str = "FTR-4 CHK-1 FTR-6",
    ) -> None:
        output = output or base.small()
        truth = statistics(output)
        by(truth)
        output.statistics = True
        output.change_footer = lambda fields: fields.update(statistics=truth)
        built = build(output)
        cat.bad_check(f"ftr-4-{name}", clause, f"wrong statistics: {name}", built,
                      fault("inconsistent-index", "single", built.footer + 24), level=level, read=False)  # fmt: skip

    def bump(name: str, at: int, by: int) -> Callable[[Fields], None]:
        def change(fields: Fields) -> None:
            fields[name][at] += by

        return change

    def scalar(name: str, by: int) -> Callable[[Fields], None]:
        return lambda fields: fields.update({name: fields[name] + by})

    for name in ("stored", "plain", "records"):
        level = "structure" if name == "stored" else "decode"
        lies(f"{name}-one", bump(name, 2, 1), level)
        lies(f"{name}-to-all", scalar(f"{name}_to_all", 1), level)
        lies(f"{name}-absent", lambda fields, name=name: fields.pop(name), level)  # type: ignore[misc]
        lies(f"{name}-most", bump(name, 0, (1 << 64) - 2000), level)
    spread = build(_spread(base.small()))
    cat.bad_check("ftr-4-spread", "FTR-4 CHK-1", "blocks that all partitions read are counted in each's share", spread,
                  fault("inconsistent-index", "single", spread.footer + 24), read=False)  # fmt: skip
    opaque = Output(
        Header(framing=OPAQUE, partition_count=1), [Region({0: [Block(b"ten bytes!", records=77)]})], statistics=True
    )
    cat.valid(
        "ftr-4-records-opaque",
        "FTR-4 CHK-1",
        "framing opaque: nothing in the file contradicts a count of 77 records",
        opaque,
    )
    lies("order-plain-block", bump("plain", 0, 1), "decode",
         Output(Header(partition_count=1), [Region({0: [base.text("fine")]})]))  # fmt: skip

    rows: list[tuple[str, str, str, list[tuple[int, bytes]], str, int]] = [
        ("reserved-131", "CHK-1 BLK-7", "before", [(131, b"a dictionary")], "unsupported-feature", 16),
        ("reserved-191", "CHK-1 BLK-7", "before", [(191, b"")], "unsupported-feature", 16),
        ("data-in-index", "CHK-1 BLK-7", "before", [(0, b"data")], "malformed-block", 16),
        ("event-in-index", "CHK-1 BLK-7", "before", [(64, b"event")], "malformed-block", 16),
        ("footer-early", "CHK-1 BLK-7", "before", [(129, b"footer")], "malformed-block", 16),
        ("schema-in-records", "SCH-2 CHK-1", "before", [(130, b"schema")], "malformed-block", 16),
        ("reserved-after", "CHK-1 BLK-7", "after_regions", [(160, b"?")], "unsupported-feature", 16),
        ("schema-after", "SCH-2 CHK-1", "after_regions", [(192, b""), (130, b"schema")], "malformed-block", 24 + 16),
    ]  # fmt: skip
    for name, clause, place, blocks, code, at in rows:
        for paired in (False, True):
            output = base.small(paired=paired)
            if place == "before":
                output.regions[0].before = blocks
            else:
                output.after_regions = blocks
            built = build(output)
            start = 64 if place == "before" else built.metadata[2]
            cat.bad_check(f"chk-1-{name}{'-paired' if paired else ''}", clause, f"metadata that is not allowed there: {name}",
                          built, fault(code, built.index, start + at))  # fmt: skip
    for paired in (False, True):
        more = "-paired" if paired else ""
        output = base.small(paired=paired)
        output.regions[1].block = {"sequence": 5}
        built = build(output)
        cat.bad_check(f"chk-1-sequence{more}", "CHK-1 BLK-3", "the metadata blocks have a gap", built,
                      fault("inconsistent-index", built.index, built.messages[1] + 12))  # fmt: skip
        built = build(replace(base.small(paired=paired), footer_block={"sequence": 0}))
        cat.bad_check(f"chk-1-footer-sequence{more}", "CHK-1 BLK-3 OPN-2", "the footer's sequence is not the next", built,
                      fault("inconsistent-index", built.index, built.footer + 12))  # fmt: skip
    # A region message that the directory does not list: a copy of the first one, between the two.
    first = build(base.small(paired=True))
    message = first.files["index"][first.messages[0] + 24 :][: first.footer_fields["regions"][0][1]]
    output = base.small(paired=True)
    output.regions[1].before = [(128, message)]
    built = build(output)
    cat.bad_check("chk-1-region-not-listed", "CHK-1 FTR-3", "a region message that the directory does not list", built,
                  fault("inconsistent-index", "index", built.metadata[1]))  # fmt: skip
    output = base.small(paired=True)
    output.after_regions = [(128, message)]
    built = build(output)
    cat.bad_check("chk-1-region-after", "CHK-1", "a region message after all those that the directory lists", built,
                  fault("inconsistent-index", "index", built.metadata[2]))  # fmt: skip
    schema = base.SCHEMA
    output = replace(base.arrow([arrow_message(b"batch")], schema), after_regions=[(130, b"again")])
    built = build(output)
    cat.bad_check("sch-2-again", "SCH-2 CHK-1", "a second schema block", built,
                  fault("malformed-block", "single", built.metadata[2] + 16))  # fmt: skip


def _spread(output: Output) -> Output:
    output.statistics = True
    truth = statistics(output)
    for name in ("stored", "plain", "records"):
        truth[name] = [n + truth[f"{name}_to_all"] for n in truth[name]]
        truth[f"{name}_to_all"] = 0
    output.change_footer = lambda fields: fields.update(statistics=truth)
    return output


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (valid, large, checks):
        part(cat)
