"""Cases of the streams of a selective file's footer: FTR-8, PRT-8, CHK-1, WRT-15, REP-3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .catalog import Catalog, fault
from .growing import Story
from .mending import answer, mended
from .mending import put as mend
from .message import Fields, assemble, edit, layout
from .output import Output, Region, Shared, build, streams
from .parts import uoffset
from .raw import OPAQUE, Block, Header, u16, u32
from .scripts import FINISH, block, put, region, to_all, write
from .structure import Make, Parts, at_part

HEAD = Header(partition_count=3, framing=OPAQUE, reader_features=1)
Change = Callable[[Fields], None]


def with_gaps(paired: bool = False) -> Output:
    """Partition 0: blocks 3 and 5, partition 2: block 1, shared blocks 4 and 5; more of partitions 0 and 1 were consumed."""
    regions = [
        Region({0: [Block(b"three", sequence=3)], 2: [Block(b"one", sequence=1)]}),
        Region({0: [Block(b"five", sequence=5)]},
               [Shared([Block(b"four", sequence=4), Block(b"five", sequence=5)])]),
    ]  # fmt: skip
    output = Output(HEAD, regions, paired)
    ends = {0: 9, 1: 7, 2: 2, None: 6}
    told = {"next": [9, 7, 2], "missing": [7, 7, 1], "shared_next": 6, "shared_missing": 4}
    assert streams(Output(HEAD, regions), ends) == told
    return replace(output, streams=told)


def readings(cat: Catalog) -> None:
    """What a reader tells."""
    for paired in (False, True):
        name = "paired" if paired else "single"
        cat.valid(f"prt-8-gaps-{name}", "PRT-8 FTR-8 CHK-1", "streams with gaps, at their ends too", with_gaps(paired))
    none = replace(with_gaps(), streams=None)
    cat.valid("prt-8-absent", "PRT-8 FTR-8", "a selective file whose footer has no streams", none)
    complete = Output(HEAD, [Region({1: [Block(b"a", sequence=0)]}, [Shared([Block(b"b", sequence=0)], [2])])])
    cat.valid("prt-8-complete", "PRT-8 FTR-8", "nothing is missing", replace(complete, streams=streams(complete, {})))
    zeros = {"next": [0, 1, 0], "missing": [0, 0, 0], "shared_next": 1}
    cat.valid(
        "ftr-8-zeros", "FTR-8 CAN-1", "a vector of zeros, which is not canonical", replace(complete, streams=zeros)
    )
    nothing = Output(HEAD, streams={})
    cat.valid("ftr-8-empty-table", "FTR-8", "a table without fields: no stream had a block", nothing)
    only = Output(HEAD, streams={"next": [0, 5, 0], "missing": [0, 5, 0], "shared_next": 3, "shared_missing": 3})
    cat.valid("ftr-8-all-missing", "FTR-8 PRT-8", "every block was consumed", only)
    most = 0xFFFFFFFF
    only = Output(
        HEAD, streams={"next": [most] * 3, "missing": [most] * 3, "shared_next": most, "shared_missing": most}
    )
    cat.valid("ftr-8-most", "FTR-8 PRT-8", "the largest numbers", only)
    offset = Output(replace(HEAD, first_partition=7), streams={"next": [0, 0, 4], "missing": [0, 0, 4]})
    cat.valid("ftr-8-first-partition", "FTR-8 PRT-8", "partitions count from the first of the file", offset)


def refused(cat: Catalog) -> None:
    """Footers that FTR-8 refuses."""
    rows: list[tuple[str, str, Change]] = [
        ("next-short", "next has a value less than P", lambda f: f.update(next=f["next"][:2])),
        ("next-long", "next has a value more than P", lambda f: f.update(next=[*f["next"], 0])),
        ("next-empty", "next is present and empty", lambda f: f.update(next=[], missing=None)),
        ("missing-short", "missing has a value less than P", lambda f: f.update(missing=f["missing"][:2])),
        ("missing-long", "missing has a value more than P", lambda f: f.update(missing=[*f["missing"], 0])),
        ("missing-empty", "missing is present and empty", lambda f: f.update(missing=[])),
        ("missing-first", "more is missing of the first partition than it had", lambda f: f.update(missing=[10, 7, 1])),
        ("missing-last", "more is missing of the last partition than it had", lambda f: f.update(missing=[7, 7, 3])),
        ("missing-without-next", "blocks are missing, and no partition had any", lambda f: f.update(next=None)),
        ("shared-missing", "more shared blocks are missing than there were", lambda f: f.update(shared_missing=7)),
    ]
    for name, title, change in rows:
        output = with_gaps()
        told = dict(output.streams or {})
        change(told)
        built = build(replace(output, streams={key: value for key, value in told.items() if value is not None}))
        cat.refused(f"ftr-8-{name}", "FTR-8 OPN-2", title, built.files,
                    fault("inconsistent-index", "single", built.footer + 24), features=["selective"])  # fmt: skip
    for name, told in (("some", {"shared_next": 1}), ("none", {})):
        plain = Output(replace(HEAD, reader_features=0), [Region(shared=[Shared([Block(b"zero")])])], streams=told)
        built = build(plain)
        cat.refused(f"ftr-8-not-selective-{name}", "FTR-8 OPN-2", "streams in a file that is not selective", built.files,
                    fault("inconsistent-index", "single", built.footer + 24))  # fmt: skip


def checks(cat: Catalog) -> None:
    """Streams that the blocks contradict: only `check` finds it."""
    rows: list[tuple[str, str, dict[str, Any]]] = [
        ("missing-less", "a block less is missing than is", {"missing": [6, 7, 1]}),
        ("missing-more", "a block more is missing than is", {"missing": [8, 7, 1]}),
        ("missing-absent", "nothing is missing", {"missing": None}),
        ("next-below", "a stream ends at its last block", {"next": [5, 7, 2], "missing": [3, 7, 1]}),
        ("next-absent", "no partition had a block", {"next": None, "missing": None}),
        ("next-more", "a stream had a block that is neither in the file nor missing", {"next": [9, 8, 2]}),
        ("one-for-another", "a block of one partition, in place of one of another", {"missing": [8, 6, 1]}),
        ("shared-missing", "a shared block less is missing", {"shared_missing": 3}),
        ("shared-next", "the shared stream ends at its last block", {"shared_next": 5, "shared_missing": 3}),
        ("shared-absent", "no shared blocks", {"shared_next": 0, "shared_missing": 0}),
    ]
    for paired in (False, True):
        for name, title, wrong in rows:
            output = with_gaps(paired)
            told = {**(output.streams or {}), **wrong}
            built = build(replace(output, streams={key: value for key, value in told.items() if value is not None}))
            place = fault("inconsistent-index", built.index, built.footer + 24)
            cat.bad_check(f"chk-1-streams-{name}{'-paired' * paired}", "CHK-1 FTR-8 FTR-6", title, built, place, level="checksums")  # fmt: skip


def message(cat: Catalog) -> None:
    """The structure of the table."""

    def case(name: str, clause: str, title: str, make: Make) -> None:
        def encode(fields: Fields) -> bytes:
            return make(layout("Footer", fields))

        built = build(replace(with_gaps(), encode_footer=encode))
        cat.refused(f"{clause.split()[0].lower()}-streams-{name}", f"{clause} MSG-13", title, built.files,
                    fault("malformed-message", "single", built.footer + 24), features=["selective"])  # fmt: skip

    for path in ("root.streams", "root.streams.next", "root.streams.missing"):
        short = path.rpartition(".")[2]
        case(f"{short}-offset-0", "MSG-1", f"the uoffset to {path} is 0", uoffset(path, lambda at, to, size: 0))
        case(f"{short}-offset-2", "MSG-1", f"the uoffset to {path} leads to no multiple of 4",
             uoffset(path, lambda at, to, size: to - at + 2))  # fmt: skip
        case(f"{short}-offset-past-end", "MSG-1 INT-4", f"the uoffset to {path} leads outside of the message",
             uoffset(path, lambda at, to, size: size - at + (-size % 4)))  # fmt: skip
    for path in ("root.streams.next", "root.streams.missing"):
        short = path.rpartition(".")[2]
        case(f"{short}-count", "MSG-8 INT-4", f"{path} reaches beyond the message", at_part(path, 0, u32(0x40000000)))
    case("next-is-missing", "MSG-10", "two fields lead to one vector",
         lambda parts: _led_to(parts, "root.streams.missing", "root.streams.next"))  # fmt: skip
    for number in range(4):
        case(f"field-{number}-past-table", "MSG-6", f"field {number} of the table is outside of it",
             at_part("root.streams:vtable", 4 + 2 * number, u16(20)))  # fmt: skip
    case("more-fields", "MSG-4 VER-2", "a fifth field, which minor 0 does not have", _fifth_field)
    # The same bytes, unchanged: the layout itself is valid.
    good = replace(with_gaps(), encode_footer=lambda fields: assemble(layout("Footer", fields)))
    cat.valid("can-1-streams-not-canonical", "CAN-1 MSG-13", "a footer whose parts are in another order", good)


def _led_to(parts: Parts, path: str, other: str) -> bytes:
    """The message with the uoffset to *path* leading to *other*, without *path*."""
    owner = next(part for part in parts if any(target == path for _, target, _ in part.refs))
    refs = tuple((at, other if target == path else target, wrong) for at, target, wrong in owner.refs)
    kept = [part for part in parts if part.name != path]
    return assemble(edit(kept, owner.name, lambda part: replace(part, refs=refs)))


def _fifth_field(parts: Parts) -> bytes:
    """The message whose table of streams has an entry more in its vtable."""
    vtable = next(part for part in parts if part.name == "root.streams:vtable")
    body = u16(len(vtable.body) + 2) + vtable.body[2:] + u16(0)
    return assemble(edit(parts, vtable.name, lambda part: replace(part, body=body)))


def written(cat: Catalog) -> None:
    """WRT-15, SRT-9: what a writer states."""

    def skip(partition: int, sequence: int) -> dict[str, Any]:
        return {"call": "skip_to", "partition": partition, "sequence": sequence}

    def skip_shared(sequence: int) -> dict[str, Any]:
        return {"call": "skip_shared_to", "sequence": sequence}

    def at(sequence: int) -> dict[str, Any]:
        return {"sequence": sequence}

    flush, shared = {"call": "flush"}, {"shared": "all"}
    most = (1 << 32) - 1
    rows: list[tuple[str, str, list[dict[str, Any]]]] = [
        ("after", "blocks that were consumed after the last stored one", [region(block(0, "zero"), shared, block(None, "zero")), skip(0, 4), skip_shared(9)]),
        ("before", "blocks that were consumed before the first stored one", [skip(1, 3), skip_shared(2), region(block(1, "three"), shared, block(None, "two"))]),
        ("between", "gaps by both calls", [skip(1, 3), region(block(1, "three"), at(8), block(1, "eight")), skip(1, 20), region(at(25), block(1, "25"))]),
        ("records", "records go on after it", [write(0, "zero"), flush, skip(0, 5), write(0, "five"), to_all("zero"), flush, skip_shared(7), to_all("seven")]),
        ("nothing-stored", "no block is stored", [skip(3, 6), skip_shared(5)]),
        ("nothing", "it changes nothing", [skip(0, 0), skip_shared(0), write(0, "zero"), flush, skip(0, 1)]),
        ("twice", "the last one counts", [skip(2, 4), skip(2, 9), skip_shared(1), skip_shared(3)]),
        ("most", "up to the largest number", [skip(0, most), skip_shared(most), skip(0, most), skip(1, most - 1), region(block(1, "the largest"))]),
        ("lower", "a lower sequence of the region writer is refused", [
            skip(1, 9), skip_shared(4), region(at(8), block(1, "eight")), region(shared, at(3), block(None, "three")),
            region(at(9), block(1, "nine"), shared, at(4), block(None, "four"))]),
        ("given-up", "a region that is given up leaves no gap", [
            skip(0, 2), region(at(9), block(0, "nine"), at(3), block(0, "three")), region(shared, at(5), block(None, "five"), block(0, "late"))]),
        ("refused", "numbers, partitions and moments that are refused", [
            write(1, "zero"), skip(1, 3), skip_shared(3), flush, skip(1, 0), skip(1, most + 1), skip(1, -1), skip(4, 1), skip(-1, 1),
            skip_shared(-1), skip_shared(most + 1), skip(1, 4), skip(1, 3), write(1, "four"), to_all("zero"), skip_shared(4)]),
        ("empty-record", "a record without bytes is held too", [write(1, ""), skip(1, 3), flush, skip(1, 3)]),
    ]  # fmt: skip
    for name, title, calls in rows:
        for layout_name in ("paired", "single"):
            options = {"partition_count": 4, "framing": "opaque", "selective": True, "layout": layout_name}
            put(cat, f"wrt-15-{name}-{layout_name}", "WRT-15 SRT-9 FTR-8", title, options, [*calls, FINISH])
    plain = {"partition_count": 4, "framing": "opaque"}
    put(
        cat,
        "wrt-15-not-selective",
        "WRT-15",
        "without the option",
        plain,
        [skip(0, 1), skip_shared(1), write(0, "zero"), FINISH],
    )
    put(
        cat,
        "wrt-15-ended",
        "WRT-15 WRT-1",
        "after the end",
        {**plain, "selective": True},
        [FINISH, skip(0, 1), skip_shared(1)],
    )
    put(cat, "wrt-15-none-left", "WRT-15 WRT-8 WRT-6", "no sequence is left for a block", {**plain, "selective": True},
        [skip(0, most), region(block(0, "one more")), skip(1, 4), FINISH])  # fmt: skip
    rotated = {**plain, "selective": True, "first_partition": 5, "rotation": 2, "partition_count": 9}
    put(cat, "wrt-15-first-partition", "WRT-15 FTR-8", "partitions do not begin at 0", rotated,
        [skip(5, 4), region(block(7, "zero"), block(5, "four")), skip(13, 2), skip(4, 1), FINISH])  # fmt: skip
    for charge, name in ((0, "nothing"), (20, "a-record")):
        small = {**plain, "selective": True, "single_below": 1000}
        calls = [skip(2, 7), *([write(2, "x" * charge)] if charge else []), FINISH]
        put(cat, f"wrt-15-single-below-{name}", "WRT-15 WRT-13", "it does not decide the layout", small, calls)


def repaired(cat: Catalog) -> None:
    """REP-3: a repaired footer has no streams; one that was kept has them."""
    whole = build(with_gaps(paired=True))
    after = mended(with_gaps(paired=True))
    torn = {**whole.files, "index": whole.files["index"][: whole.footer]}
    mend(cat, "streams", "a repaired file does not say what its streams had", torn, after.files, answer("last-commit", 2),
         clause="REP-3 FTR-8", check=cat.checks(after.output), features=["selective"])  # fmt: skip
    kept = {**whole.files, "index": whole.files["index"][:-1]}
    mend(cat, "streams-kept", "a footer that is kept has its streams", kept, whole.files, answer("last-commit", 2, 0, 23),
         clause="REP-4 FTR-8", check=cat.checks(whole.output), features=["selective"])  # fmt: skip


def followed(cat: Catalog) -> None:
    """FOL-5: a follower tells the streams once it has accepted the footer."""
    built = build(with_gaps(paired=True))
    story = Story(built).open(data=None, index=64).poll((2, False), index=built.footer).read(2)
    story.poll((2, False), index=built.tail).read(2, True).poll((2, True), index=None).read(2, True)
    story.end(cat, "streams", "FOL-5 PRT-8", "streams are known once the footer is accepted", ["selective"])
    wrong = build(replace(with_gaps(paired=True), streams={"shared_next": 3, "shared_missing": 4}))
    story = Story(wrong).open(data=None, index=64).poll((2, False), index=wrong.footer)
    story.poll(fault("inconsistent-index", "index", wrong.footer + 24), index=wrong.tail)
    story.end(cat, "streams-refused", "FOL-5 FTR-8", "a footer whose streams are refused", ["selective"])


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (readings, refused, checks, message, written, repaired, followed):
        part(cat)
