"""Cases that tell two readings of a clause apart: ranges, statistics, checks, following, repair and the writer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from . import base
from .catalog import Catalog, fault
from .growing import Story
from .handed import given_events
from .mending import put as put_repair
from .mending import unfinished
from .message import Fields
from .output import Built, Output, Region, arrow_message, build, framed, range_answer, read_answer, statistics
from .raw import FILE_ID, OPAQUE, Block, Header, patch, seal_block, seal_header, u32
from .scripts import FINISH, SCHEMA, Call, put, to_some, write
from .tails import largest_message

REFUSED = fault("invalid-argument")
MOST = (1 << 64) - 1


def ranges(cat: Catalog) -> None:
    """What a range checks: PRT-2, PRT-5, FRM-5."""

    def case(
        name: str,
        clause: str,
        title: str,
        built: Built,
        low: int,
        high: int,
        bad: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        ok = read_answer(built.output, [])
        del ok["partitions"]
        ok["range"] = range_answer(built.output, low, high) if bad is None else bad
        cat.add(f"prt-5-range-{name}", clause, title, "read", folder="invalid", files=built.files,
                request={"range": [low, high]}, expect={"ok": ok}, **more)  # fmt: skip

    late = Block(framed("good") + b"\x09\x00", records=1)
    broken = build(Output(Header(partition_count=2), [Region({0: [base.text("first"), late], 1: [base.text("last")]})]))
    bad = fault("malformed-block", "single", base.where(broken, late) + 24)
    case("framing-records", "FRM-5 PRT-5", "a range delivers blocks: records that do not end with their block are not noticed",
         broken, 0, 2, check=cat.checks(broken.output, bad, "decode"))  # fmt: skip
    message = Block(b"no encapsulated message", records=1)
    schema = base.SCHEMA
    arrow = build(replace(base.arrow([], schema), regions=[Region({0: [Block(arrow_message(b"one"))], 1: [message]})]))
    bad = fault("malformed-block", "single", base.where(arrow, message) + 24)
    case("framing-arrow", "FRM-5 PRT-5", "a range delivers blocks: a payload that is not an encapsulated message is not noticed",
         arrow, 0, 2, features=["arrow"], check=cat.checks(arrow.output, bad, "decode"))  # fmt: skip

    own = Region({11: [base.text("own")]}, change=lambda fields: fields.update(sequence=9))
    damaged = build(Output(Header(partition_count=4, first_partition=10), [own]))
    found = fault("inconsistent-index", "single", damaged.messages[0] + 24)
    for at in (10, 11, 14):
        case(f"nothing-{at}", "PRT-2 PRT-5", f"the range from {at} to {at} reads no region message", damaged, at, at)
    case("bad-message", "PRT-2 REG-10", "a range of one partition reads the region message", damaged, 13, 14, found)
    right = build(base.small(first_partition=10))
    for low, high in ((12, 11), (14, 13), (9, 11), (9, 9), (13, 15), (15, 15), (0, 0), (10, 0xFFFFFFFF), (15, 10)):
        case(
            f"refused-{low}-{high}",
            "PRT-2",
            f"the range from {low} to {high} is the caller's mistake",
            right,
            low,
            high,
            REFUSED,
        )
    case("refused-first", "PRT-2", "a range that is refused reads no region message", damaged, 12, 11, REFUSED)


def sums(cat: Catalog) -> None:
    """FTR-4: the statistics of one partition are at most 2^64 - 1."""
    for at, name in enumerate(("stored", "plain", "records")):

        def claim(value: int, to_all: int, at: int = at, name: str = name) -> Built:
            """A file whose statistics have these values for one partition and for all."""
            output = base.small()
            truth: Fields = statistics(output)
            truth[name][at] = value
            truth[f"{name}_to_all"] = to_all
            return build(replace(output, statistics=True, change_footer=lambda fields: fields.update(statistics=truth)))

        for more, value, to_all in (
            ("above", (1 << 64) - 20, 100),
            ("by-one", (1 << 64) - 100, 100),
            ("all-most", 1, MOST),
        ):
            built = claim(value, to_all)
            cat.refused(f"ftr-4-sum-{name}-{more}", "FTR-4 OPN-2 INT-4", f"the {name} of partition {at} are above 2^64 - 1",
                        built.files, fault("inconsistent-index", "single", built.footer + 24))  # fmt: skip
        built = claim((1 << 64) - 101, 100)
        bad = fault("inconsistent-index", "single", built.footer + 24)
        ok = read_answer(built.output, [at])
        if name == "stored":
            ok["partitions"][str(at)]["stored_bytes"] = MOST
        cat.add(f"ftr-4-sum-{name}-most", "FTR-4 OPN-2 PRT-6", f"the {name} of partition {at} are just 2^64 - 1: opened, and not so",
                "read", folder="invalid", files=built.files, request={"partitions": [at]}, expect={"ok": ok},
                check=cat.checks(built.output, bad, "structure" if name == "stored" else "decode"))  # fmt: skip
    output = base.small(paired=True)
    truth = statistics(output)
    truth["plain"][2], truth["plain_to_all"] = (1 << 64) - 20, 100
    built = build(replace(output, statistics=True, change_footer=lambda fields: fields.update(statistics=truth)))
    Story(built).open(data=None, index=64).poll(fault("inconsistent-index", "index", built.footer + 24), index=None).end(
        cat, "footer-sum", "FOL-5 FTR-4", "a footer whose statistics have a sum above 2^64 - 1")  # fmt: skip


def after_regions(cat: Catalog) -> None:
    """CHK-1, step 2: after the last region of a single file."""
    first = build(base.small())
    message = first.files["single"][first.messages[0] + 24 :][: first.footer_fields["regions"][0][1]]
    for name, blocks in (
        ("", [(128, message)]),
        ("-no-message", [(128, b"no message")]),
        ("-skippable", [(192, b"may be skipped"), (128, message)]),
    ):
        built = build(replace(base.small(), after_regions=blocks))
        cat.bad_check(f"chk-1-region-after-single{name}", "CHK-1", "a region message after all those that the directory lists, in a single file",
                      built, fault("inconsistent-index", "single", built.metadata[1 + len(blocks)]))  # fmt: skip


def missing(cat: Catalog) -> None:
    """OPN-4: a missing file is reported in the order of OPN-1."""
    built = build(base.small(paired=True))
    index = built.files["index"]
    for name, content, bad in (
        ("checksum", patch(index, 20, b"\1"), fault("checksum", "index", 0)),
        ("short", index[:40], fault("truncated", "index", 40)),
        ("kind", build(base.small()).files["single"], fault("mismatched-pair", "index", 8)),
    ):
        cat.refused(f"opn-4-missing-data-index-{name}", "OPN-4 OPN-1", f"there is no data file, and the index file's header is wrong: {name}",
                    {"data": None, "index": content}, bad)  # fmt: skip
    cat.refused("opn-4-missing-data-no-tail", "OPN-4 OPN-1", "there is no data file, and the index file has no tail",
                {"data": None, "index": index[:-1]}, fault("io", "data"))  # fmt: skip


def after_faults(cat: Catalog) -> None:
    """FOL-2: a fault changes nothing."""
    for paired in (True, False):
        built = build(base.small(paired=paired))
        role, more = built.index, "" if paired else "-single"
        whole, second = built.files[role], built.messages[1]
        damaged = {**built.files, role: patch(whole, second + 30, bytes([whole[second + 30] ^ 1]))}
        bad = fault("checksum", role, second)
        start: dict[str, int | None] = {"data": None, role: 64} if paired else {role: 64}
        story = Story(built).open(None, None, **start).poll(bad, damaged, **{role: None}).read(1).poll(bad).read(1)
        story.poll((2, True), **{role: None}).read(2, True).end(
            cat, f"fault-then-right{more}", "FOL-2 FOL-6", "a damaged message is corrected; the regions before it stay readable all the time")  # fmt: skip
        story = Story(built).open(None, None, **start).poll((0, False)).poll(bad, damaged, **{role: None})
        story.poll((1, False), None, **{role: second}).read(1).poll(bad, damaged, **{role: None}).poll((2, True), **{role: None}).end(
            cat, f"fault-cut-off{more}", "FOL-2", "a damaged message is cut off, and written again")  # fmt: skip
        torn = {**built.files, role: whole[:-1] + b"?"}
        bad = fault("checksum", role, built.tail)
        story = Story(built).open(None, None, **start).poll(bad, torn, **{role: None}).read(2).poll(bad)
        story.poll((2, False), None, **{role: built.tail + 3}).poll((2, True), **{role: None}).read(2, True).end(
            cat, f"fault-of-tail{more}", "FOL-2 FOL-5", "a damaged tail is corrected")  # fmt: skip
        longer = {**built.files, role: whole + b"behind"}
        Story(built).open(None, None, **start).poll((2, True), **{role: None}).poll((2, True), longer, **{role: None}).read(2, True).end(
            cat, f"finished-then-longer{more}", "FOL-5", "after a file was seen finished, it is not read again")  # fmt: skip
    built = build(base.small(paired=True))
    size = len(built.files["data"])
    Story(built).open(data=size - 8, index=64).poll(fault("truncated", "data", size - 8), index=None).read(1).poll(
        fault("truncated", "data", size - 8)).poll((2, True), data=None).read(2, True).end(
        cat, "fault-of-data", "FOL-2 FOL-3", "the data of a region comes after its message")  # fmt: skip
    longer = {**built.files, "data": built.files["data"] + b"more"}
    bad = fault("inconsistent-index", "data", size)
    Story(built).open(None, longer, data=None, index=64).poll(bad, index=None).poll(bad).poll((2, True), data=None).read(2, True).end(
        cat, "fault-of-data-size", "FOL-2 FOL-5", "a data file that was longer than it may be")  # fmt: skip
    story = Story(built).open(data=None, index=64)
    story.steps[-1]["request"] = {"limits": {"max_regions": 1}}
    bad = fault("limit-exceeded", "index", built.messages[1])
    story.poll(bad, index=None).read(1).poll(bad).read(1).end(
        cat, "fault-of-limit", "FOL-2 FOL-3", "a region above the limit, again and again")  # fmt: skip


def places(cat: Catalog) -> None:
    """BLK-7, check 3: an index file has only metadata, so the place decides which limit applies, not the kind."""
    pair = build(replace(base.small(), paired=True))
    wrong = seal_block(patch(pair.files["index"], 64 + 16, b"\0"), 64)
    story = Story(pair).open(data=None, index=64)
    story.steps[-1]["request"] = {"limits": {"max_block_size": 0, "max_plain_size": 0}}
    story.poll(fault("malformed-block", "index", 64 + 16), pair.files | {"index": wrong}, index=None)
    story.end(
        cat,
        "limit-by-place",
        "BLK-7 FOL-3",
        "a partition block in a followed index, above the limit of partition blocks",
    )


def mixed(cat: Catalog) -> None:
    """FOL-4: in a single file, a block's kind decides which checks a follower makes."""

    def case(name: str, clause: str, title: str, built: Built, bad: dict[str, Any] | None, limits: dict[str, int], part: int | None = None,
             file: bytes | None = None) -> None:  # fmt: skip
        story = Story(built).open(single=64)
        story.steps[-1]["request"] = {"limits": limits} if limits else {}
        files = {"single": built.files["single"] if file is None else file}
        if part is not None:
            story.poll(bad if bad is not None else (0, False), files, single=part)
        story.poll((len(built.output.regions), True) if bad is None else bad, files, single=None)
        story.end(cat, f"single-{name}", clause, title)

    output = base.small()
    output.regions[0].before = [(192, b"may be skipped " * 40)]
    long = build(output)
    most = largest_message(base.small())
    too_long, limits = fault("limit-exceeded", "single", 64), {"max_message_size": most}
    case("limit-metadata", "FOL-4 LIM-1", "metadata above max_message_size", long, too_long, limits)
    case(
        "limit-metadata-torn",
        "FOL-4 FOL-2",
        "metadata above max_message_size is not waited for in a single file either",
        long,
        too_long,
        limits,
        64 + 200,
    )
    wrong = patch(long.files["single"], 64 + 18, b"\1")
    case(
        "limit-before-checksum",
        "FOL-4 BLK-7",
        "metadata above max_message_size, with a wrong checksum",
        long,
        too_long,
        limits,
        None,
        wrong,
    )
    case("limit-of-blocks", "FOL-4 LIM-1", "metadata above the limits of partition blocks", long, None,
         {"max_block_size": 40, "max_plain_size": 40})  # fmt: skip
    large = Output(Header(framing=OPAQUE, partition_count=1), [Region({0: [Block(b"a large block " * 90)]})])
    case(
        "limit-of-messages",
        "FOL-4 LIM-1",
        "a partition block above max_message_size",
        build(large),
        None,
        {"max_message_size": 1000},
    )
    case(
        "limit-partition-block",
        "FOL-4 LIM-1",
        "a partition block above max_block_size",
        build(large),
        too_long,
        {"max_block_size": 1000},
    )

    built = build(base.small())
    whole, second = built.files["single"], built.region_blocks(0)[1][1]
    for kind, code in (
        (131, "unsupported-feature"),
        (191, "unsupported-feature"),
        (192, "malformed-block"),
        (130, "malformed-block"),
        (2, "malformed-block"),
        (63, "malformed-block"),
    ):
        for name, at in (("first", 64), ("after-block", second)):
            if name == "first" and kind in (192, 130):
                continue
            case(f"kind-{kind}-{name}", "FOL-4 BLK-7", f"kind {kind} in a single file", built, fault(code, "single", at + 16), {}, None,
                 seal_block(patch(whole, at + 16, bytes([kind])), at))  # fmt: skip
    packed = seal_block(patch(patch(long.files["single"], 64 + 17, b"\1"), 64 + 4, u32(9999)), 64)
    case(
        "codec-of-metadata",
        "FOL-4 BLK-7",
        "metadata that is compressed",
        long,
        fault("malformed-block", "single", 64 + 17),
        {},
        None,
        packed,
    )


def repairs(cat: Catalog) -> None:
    """REP-9 and REP-7: which fault is reported first."""

    def marked(files: dict[str, bytes]) -> dict[str, bytes]:
        return {role: seal_header(patch(content, 20, b"\x01")) for role, content in files.items()}

    _, built = unfinished(True)
    index, second = built.files["index"], built.messages[1]
    bit = {role: fault("unsupported-feature", role, 20) for role in ("index", "data", "single")}
    rows: list[tuple[str, str, dict[str, bytes], dict[str, Any]]] = [
        ("finished", "of a finished file", marked(build(base.small(paired=True)).files), bit["index"]),
        ("finished-single", "of a finished single file", marked(build(base.small()).files), bit["single"]),
        ("damaged", "before damage", marked({**built.files, "index": patch(index, built.messages[0] + 30, b"\xff")}), bit["index"]),
        ("torn", "before a torn message", marked({**built.files, "index": index[: second + 9]}), bit["index"]),
        ("data-short", "before a data file that is short", marked({**built.files, "data": built.files["data"][:80]}), bit["index"]),
        ("data-header", "after the data file's header", {"index": marked(built.files)["index"], "data": patch(built.files["data"], 30, b"\x44")},
         fault("checksum", "data", 0)),
        ("unequal", "after the fields that must be equal", {**built.files, "index": marked(built.files)["index"]},
         fault("mismatched-pair", "data", 20)),
        ("kind", "after the data file's kind", {"index": marked(built.files)["index"], "data": marked(built.files)["index"]},
         fault("mismatched-pair", "data", 8)),
    ]  # fmt: skip
    for name, title, files, bad in rows:
        put_repair(
            cat,
            f"writer-feature-{name}",
            f"an unknown writer feature, {title}",
            files,
            None,
            bad,
            clause="REP-9 HDR-4 OPN-1",
        )
    schema = replace(
        base.arrow([arrow_message(b"batch")], arrow_message(b"schema")),
        schema_block={"checksum_xor": 1},
        finished=False,
    )
    put_repair(cat, "writer-feature-schema", "an unknown writer feature, before a damaged schema", marked(build(schema).files), None,
               bit["single"], clause="REP-9 HDR-4 SCH-1", features=["arrow"])  # fmt: skip

    batch = base.arrow([arrow_message(b"batch")], arrow_message(b"schema"), True)
    batch.regions[0].own[1][0] = replace(batch.regions[0].own[1][0], codec=9)
    data = build(batch).files["data"]
    small = build(base.small(paired=True)).files
    for name, clause, title, content, bad in (
        ("arrow-before-blocks", "REP-7", "framing arrow without a schema, before a codec that no reader knows", data, REFUSED),
        ("writer-feature-arrow", "REP-9 REP-7", "an unknown writer feature, before framing arrow without a schema",
         seal_header(patch(data, 20, b"\1")), bit["data"]),
        ("writer-feature-kind", "REP-9 REP-5", "an unknown writer feature, after the file's kind", marked(small)["index"],
         fault("mismatched-pair", "data", 8)),
    ):  # fmt: skip
        cat.add(f"rep-rebuild-{name}", clause, title, "repair", folder="repair", files={"data": content, "index": None},
                request={"mode": "rebuild"}, expect=bad, expect_files={"data": content},
                features=["arrow"] if content[11] == 2 else [])  # fmt: skip


def options(cat: Catalog) -> None:
    """Options that are refused, and the order of WRT-3."""
    good = base.SCHEMA
    refused: list[tuple[str, str, Call, list[str]]] = [
        (f"schema-{name}", "WRT-1 FRM-4", {"framing": "arrow", "schema": {"hex": content.hex()}}, ["arrow"])
        for name, content in (
            ("empty", b""), ("short", good[:7]), ("no-marker", b"\0" + good[1:]), ("length-0", good[:4] + u32(0) + good[8:]),
            ("length-12", good[:4] + u32(12) + good[8:]), ("length-past-end", good[:4] + u32(1 << 20) + good[8:]),
            ("length-negative", good[:4] + u32(0xFFFFFFF8) + good[8:]), ("one-byte-short", good[:-1]),
        )
    ]  # fmt: skip
    refused += [
        (f"schema-in-{framing}", "WRT-1 SCH-1", {"framing": framing, "schema": SCHEMA}, ["arrow"])
        for framing in ("records", "opaque")
    ]
    refused += [(f"level-{level}-{codec}", "WRT-1 COD-5", {"codec": codec, "level": level}, [] if codec == "none" else [codec])
                for codec in ("none", "lz4") for level in (0, 20)]  # fmt: skip
    refused += [
        ("max-plain-size-0", "WRT-1", {"max_plain_size": 0}, []),
        ("max-plain-size-above", "WRT-1", {"max_plain_size": 1 << 32}, []),
    ]
    for name, clause, more, features in refused:
        given = put_options(partition_count=4, **more)
        cat.add(f"wrt-1-option-{name}", clause, f"an option out of range: {name}", "write", folder="write",
                request={"options": given, "calls": [FINISH]}, expect=REFUSED, features=features)  # fmt: skip
    put(cat, "wrt-1-option-max-plain-size-most", "WRT-1", "the largest max_plain_size",
        {"partition_count": 1, "layout": "single", "max_plain_size": (1 << 32) - 1}, [write(0, "x"), FINISH])  # fmt: skip

    limit: Call = {"partition_count": 2, "layout": "single", "max_plain_size": 30, "block_size": 30}
    large = {"repeat": "x", "length": 99}
    put(cat, "wrt-3-order", "WRT-3 WRT-1", "a call that is refused anyway, and is also too large, is the caller's mistake", limit,
        [write(2, large), write(0, large, 2), write(0, large, 128), {**to_some([], ""), "payload": large}, {**to_some([0, 2], ""), "payload": large},
         write(1, large), write(1, large, 64), write(1, "kept"), FINISH, write(1, large)])  # fmt: skip
    put(cat, "wrt-3-order-arrow", "WRT-3 WRT-2 FRM-4", "a payload that is not an encapsulated message, and is also too large, is the caller's mistake",
        {**limit, "framing": "arrow", "schema": SCHEMA},
        [write(0, large), write(0, {"hex": arrow_message(b"x" * 40).hex()}), write(0, {"hex": arrow_message(b"x" * 16).hex()}), FINISH])  # fmt: skip


def put_options(**more: Any) -> Call:
    """Options of a single file."""
    return {"file_id": FILE_ID.hex(), "layout": "single", **more}


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (ranges, sums, after_regions, missing, after_faults, places, mixed, repairs, options, given_events):
        part(cat)
