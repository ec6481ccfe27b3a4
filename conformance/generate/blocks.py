"""Cases of partition blocks: BLK, FRM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from . import base
from .catalog import Catalog, fault
from .codecs import zstd_run
from .output import Built, Output, Region, Shared, arrow_message, build, framed, read_answer
from .raw import LZ4, NOBODY, OPAQUE, RECORDS, ZSTD, Block, Header, patch, u32

GOOD = Block(b"seventeen bytes!!")


@dataclass(frozen=True)
class Broken:
    """A way to violate one check of BLK-7."""

    row: str
    name: str
    fields: dict[str, Any]
    code: str
    at: int
    limits: dict[str, int] | None = None
    level: str = "checksums"


# One for each row whose fault is inside the block; `bounds` has the faults of bounds.
ROWS = [
    Broken("02", "stored-size", {"stored_size": 18 + 7}, "malformed-block", 0),
    Broken("03", "limit", {}, "limit-exceeded", 0, {"max_block_size": 16}),
    Broken("04", "checksum", {"checksum_xor": 0x01000000}, "checksum", 0),
    Broken("05", "reserved", {"reserved": 1}, "malformed-block", 18),
    Broken("06b", "kind", {"kind": 2}, "malformed-block", 16),
    Broken("07a", "codec", {"codec": 3}, "unsupported-codec", 17),
    Broken("08a", "plain-size", {"plain_size": 18}, "malformed-block", 4),
    Broken("08c", "plain-limit", {}, "limit-exceeded", 4, {"max_plain_size": 16}),
    Broken("09", "partition", {"partition": 2}, "inconsistent-index", 8),
    Broken("10", "sequence", {"sequence": 1}, "inconsistent-index", 12),
    Broken("11", "padding", {"padding": bytes(6) + b"\x01"}, "malformed-block", 24 + 17 + 6),
]

MORE = [
    Broken("05", "reserved-high", {"reserved": 0x8000}, "malformed-block", 18),
    *(Broken("06b", f"kind-{k}", {"kind": k}, "malformed-block", 16) for k in (3, 32, 63, 128, 129, 130, 192, 255)),
    *(Broken("06b", f"kind-{k}", {"kind": k}, "malformed-block", 16) for k in (131, 132, 160, 191)),
    Broken("07a", "codec-255", {"codec": 255}, "unsupported-codec", 17),
    Broken("07b", "event-lz4", {"kind": 1, "codec": LZ4, "plain_size": 40}, "malformed-block", 17),
    Broken("07b", "event-zstd", {"kind": 64, "codec": ZSTD, "plain_size": 40}, "malformed-block", 17),
    Broken("08a", "plain-size-less", {"plain_size": 16}, "malformed-block", 4),
    Broken("08a", "plain-size-zero", {"plain_size": 0}, "malformed-block", 4),
    Broken("08a", "event-plain-size", {"kind": 100, "plain_size": 18}, "malformed-block", 4),
    Broken("08a", "lz4-not-smaller", {"codec": LZ4, "plain_size": 17}, "malformed-block", 4),
    Broken("08a", "zstd-not-smaller", {"codec": ZSTD, "plain_size": 17}, "malformed-block", 4),
    Broken("08a", "zstd-larger", {"codec": ZSTD, "plain_size": 3}, "malformed-block", 4),
    Broken("08b", "data-empty", {"plain": b""}, "malformed-block", 4),
    Broken("09", "partition-none", {"partition": NOBODY}, "inconsistent-index", 8),
    Broken("09", "partition-outside", {"partition": 3}, "inconsistent-index", 8),
    Broken("10", "sequence-most", {"sequence": 0xFFFFFFFF}, "inconsistent-index", 12),
    Broken("11", "padding-first", {"padding": b"\x80" + bytes(6)}, "malformed-block", 24 + 17),
    Broken("11", "padding-two", {"padding": bytes(2) + b"\x01\x01" + bytes(3)}, "malformed-block", 24 + 17 + 2),
]
CLAUSE = {"02": "BLK-7 INT-3", "03": "BLK-7 LIM-1", "05": "BLK-7 INT-5", "06b": "BLK-7 BLK-2", "07a": "BLK-7",
          "07b": "BLK-7 BLK-2", "08a": "BLK-7 BLK-6", "08b": "BLK-7 BLK-2", "08c": "BLK-7 LIM-1 SEC-2",
          "09": "BLK-7 BLK-4", "10": "BLK-7 BLK-3", "11": "BLK-7 BLK-1"}  # fmt: skip


def needs(block: Block) -> list[str]:
    """The features that a block's codec needs; a codec that is refused needs none."""
    return {LZ4: ["lz4"], ZSTD: ["zstd"]}.get(block.codec, [])


def put(cat: Catalog, id: str, broken: Broken, fields: dict[str, Any], title: str, paired: bool = False) -> None:
    """A case with one broken block."""
    block = replace(GOOD, **fields)
    built = build(base.one(block, paired=paired))
    bad = fault(broken.code, built.data, base.where(built, block) + broken.at)
    request = {"limits": broken.limits} if broken.limits else {}
    cat.bad_block(id, CLAUSE.get(broken.row, "BLK-7"), title, built, block, bad, request=request,
                  features=needs(block))  # fmt: skip


def rows(cat: Catalog) -> None:
    """Every row, and each row with the one after it."""
    for broken in ROWS + MORE:
        title = f"check {broken.row} of a block fails: {broken.name}"
        put(cat, f"blk-7-{broken.row}-{broken.name}", broken, broken.fields, title)
        if broken in ROWS:
            put(cat, f"blk-7-{broken.row}-{broken.name}-paired", broken, broken.fields, title + ", in a pair", True)
    ordered = [b for b in ROWS if b.row not in ("02", "03", "08c")]
    wide = list(pairwise(ordered)) + list(zip(ordered, ordered[2:], strict=False))
    wide += [(ordered[0], other) for other in ordered[3:]]
    for first, second in wide:
        put(cat, f"blk-7-order-{first.row}-{second.row}", first, {**second.fields, **first.fields},
            f"checks {first.row} and {second.row} of a block fail: the earlier is reported")  # fmt: skip
    for name, fields in (("04", {"checksum_xor": 1}), ("05", {"reserved": 7}), ("06b", {"kind": 2})):
        put(cat, f"blk-7-order-03-{name}", ROWS[1], fields, "nothing else is checked of a block above the limit")
    event = Broken("07b", "event", {}, "malformed-block", 17)
    put(
        cat,
        "blk-7-order-07b-08a",
        event,
        {"kind": 1, "codec": LZ4, "plain_size": 2},
        "a compressed event that is larger",
    )
    limit = ROWS[7]
    put(cat, "blk-7-order-08c-09", limit, {"partition": 0}, "a block above the plain limit, with another partition")
    put(cat, "blk-7-order-08a-08c", replace(ROWS[6], limits={"max_plain_size": 16}), {"plain_size": 90},
        "plain_size is wrong and above the limit")  # fmt: skip


def limits(cat: Catalog) -> None:
    """Each limit of a block at its bound."""
    for name, bound in (("max_block_size", 17), ("max_plain_size", 17)):
        cat.valid(f"lim-1-{name.replace('_', '-')}-at", "LIM-1", f"{name} is exactly enough", base.one(GOOD),
                  request={"limits": {name: bound}})  # fmt: skip
    run = zstd_run(b"r", 1000)
    output = base.many_blocks([run])
    cat.valid("lim-1-plain-at-compressed", "LIM-1 SEC-2", "a compressed block of exactly max_plain_size", output,
              request={"limits": {"max_plain_size": 1000}})  # fmt: skip
    built = build(output)
    cat.bad_block("lim-1-plain-above-compressed", "LIM-1 SEC-2 BLK-7", "a small payload that claims more than the limit",
                  built, run, fault("limit-exceeded", "single", 64 + 4),
                  request={"limits": {"max_plain_size": 999}})  # fmt: skip
    huge = Block(b"small", codec=LZ4, plain_size=0xFFFFFFFF)
    cat.bad_block("sec-2-claims-4gib", "SEC-2 LIM-1 SEC-1", "a payload of five bytes that claims 4 GiB",
                  *_single(huge), fault("limit-exceeded", "single", 64 + 4), features=["lz4"])  # fmt: skip


def _single(block: Block) -> tuple[Built, Block]:
    return build(base.many_blocks([block])), block


def bounds(cat: Catalog) -> None:
    """Extents that do not end where their blocks do."""

    def stretched(by: list[int]) -> Callable[[dict[str, Any]], None]:
        def change(fields: dict[str, Any]) -> None:
            fields["offsets"] = [o + b for o, b in zip(fields["offsets"], by, strict=True)]

        return change

    own = {0: [Block(b"8 bytes.")], 1: [Block(b"16 bytes, not 8.")], 2: [Block(b"after it")]}
    for name, by, row, code in (
        ("one-less", [0, 0, -1, 0], "2", "malformed-block"),
        ("no-header", [0, 0, -3, 0], "1", "malformed-block"),
    ):
        output = Output(Header(partition_count=3, framing=OPAQUE), [Region(own, change=stretched(by))])
        built = build(output)
        at = base.where(built, own[1][0])
        after = at + 16 if name == "no-header" else at + 32
        bad = fault(code, "single", at)
        later = fault("checksum" if name == "no-header" else "malformed-block", "single", after)
        ok = {"partitions": {"1": bad, "2": later}}
        cat.add(f"blk-7-bounds-{name}", "BLK-7 REG-4", f"an extent ends inside its block (check {row})", "read",
                folder="invalid", files=built.files, request={"partitions": [1, 2]}, expect={"ok": ok},
                check={"structure": {"ok": {"regions": 1, "blocks": None}}, "checksums": bad, "decode": bad})  # fmt: skip
    output = Output(Header(partition_count=3, framing=OPAQUE), [Region(own, change=stretched([0, 0, 3, 0]))])
    built = build(output)
    bad = fault("malformed-block", "single", base.where(built, own[2][0]))
    cat.add("blk-7-bounds-too-many", "BLK-7 BLK-4", "an extent reaches over the next partition's block header", "read",
            folder="invalid", files=built.files, request={"partitions": [1]}, expect={"ok": {"partitions": {"1": bad}}},
            check={"structure": {"ok": {"regions": 1, "blocks": None}}, "checksums": bad, "decode": bad})  # fmt: skip
    output = Output(Header(partition_count=3, framing=OPAQUE), [Region(own, change=stretched([0, 0, 4, 0]))])
    built = build(output)
    bad = fault("inconsistent-index", "single", base.where(built, own[2][0]) + 8)
    cat.add("blk-7-bounds-whole-next", "BLK-7 BLK-4", "an extent includes the next partition's block", "read",
            folder="invalid", files=built.files, request={"partitions": [0, 1, 2]},
            expect={"ok": _with_others(built, {1: bad}, empty=[2])},
            check={"structure": {"ok": {"regions": 1, "blocks": None}}, "checksums": bad, "decode": bad})  # fmt: skip
    for name, size in (("most", 0xFFFFFFFF), ("wraps", 0xFFFFFFF9), ("one-more", 9)):
        block = Block(b"8 bytes.", stored_size=size)
        built = build(base.one(block))
        bad = fault("malformed-block", "single", base.where(built, block))
        cat.bad_block(f"blk-7-02-stored-size-{name}", "BLK-7 INT-4 SEC-1", f"stored_size is {size:X}", built, block,
                      bad)  # fmt: skip
    block = Block(b"x" * 48)
    built = build(base.one(block))
    at = base.where(built, block)
    zeros = patch(built.files["single"], at, bytes(72))
    bad = fault("checksum", "single", at)
    cat.bad_block("blk-7-zeros", "BLK-7", "a stretch of zeros is never a block", built, block, bad,
                  files={"single": zeros})  # fmt: skip


def _with_others(built: Built, errors: dict[int, Any], empty: list[int]) -> dict[str, Any]:
    answer = read_answer(built.output, [0, 1, 2])
    for partition, bad in errors.items():
        answer["partitions"][str(partition)] = bad
    for partition in empty:
        answer["partitions"][str(partition)] = {"blocks": 0, "kinds": {}, "plain_bytes": 0, "stored_bytes": 0}
    return answer


def sequences(cat: Catalog) -> None:
    """Streams of blocks: BLK-3, PRT-4."""

    def case(id: str, title: str, output: Output, block: Block) -> None:
        built = build(output)
        bad = fault("inconsistent-index", "single", base.where(built, block) + 12)
        cat.bad_block(id, "BLK-3 PRT-4 BLK-7", title, built, block, bad)

    for name, sequence in (("gap", 2), ("again", 0)):
        late = Block(b"second", sequence=sequence)
        case(f"blk-3-own-{name}", f"the second block of a partition has sequence {sequence}",
             base.many_blocks([Block(b"first"), late]), late)  # fmt: skip
        late = Block(b"second", sequence=sequence)
        regions = [Region({0: [Block(b"first")]}), Region({0: [late]})]
        case(f"blk-3-own-{name}-region", f"a partition's block in the second region has sequence {sequence}",
             Output(Header(partition_count=1, framing=OPAQUE), regions), late)  # fmt: skip
        late = Block(b"second", sequence=sequence)
        shared = Region(shared=[Shared([Block(b"first"), late])])
        case(f"blk-3-shared-{name}", f"the second block of a shared extent has sequence {sequence}",
             Output(Header(framing=OPAQUE), [shared]), late)  # fmt: skip
    late = Block(b"second", sequence=0)
    regions = [Region(shared=[Shared([Block(b"first")])]), Region(shared=[Shared([late])])]
    case("blk-3-shared-back", "the shared sequence starts again in the next region",
         Output(Header(framing=OPAQUE), regions), late)  # fmt: skip
    for name, sequence in (("gap", 5), ("first", 1)):
        late = Block(b"to all", sequence=sequence)
        regions = [Region(shared=[Shared([late])])]
        if name == "gap":
            regions.insert(0, Region(shared=[Shared([Block(b"before")])]))
        built = build(Output(Header(framing=OPAQUE), regions))
        bad = fault("inconsistent-index", "single", base.where(built, late) + 12)
        cat.bad_check(f"chk-1-shared-{name}", "CHK-1 BLK-3 PRT-4", "shared blocks of the file have a gap, which no "
                      "partition can know of", built, bad, level="checksums")  # fmt: skip
    block = Block(b"to all", partition=0)
    built = build(Output(Header(framing=OPAQUE), [Region(shared=[Shared([block])])]))
    cat.bad_block("blk-4-shared-partition", "BLK-4 BLK-7", "a shared block has a partition number", built, block,
                  fault("inconsistent-index", "single", 64 + 8))  # fmt: skip
    nobody = Block(b"for nobody", reserved=1)
    built = build(Output(Header(framing=OPAQUE), [Region(shared=[Shared([nobody], [])])]))
    cat.bad_check("chk-1-block-without-reader", "CHK-1 BLK-7 REG-7", "no partition reads the broken block", built,
                  fault("malformed-block", "single", 64 + 18), level="checksums")  # fmt: skip


def framing(cat: Catalog) -> None:
    """FRM-2 and FRM-4."""
    good = framed("good")
    records = [
        ("short-length", good + b"\x01\x00\x00"), ("past-end", good + u32(5) + b"four"),
        ("length-most", u32(0xFFFFFFFF) + b"12345678"), ("length-wraps", u32(0xFFFFFFFC) + b"12345678"),
        ("one-byte", b"\x00"), ("byte-after", good + b"\x00"),
    ]  # fmt: skip
    for name, payload in records:
        block = Block(payload, records=1)
        built = build(base.one(block, framing=RECORDS))
        start = Block(framed("before it"))
        output = replace(built.output, regions=[Region({0: [start], 1: [block], 2: [Block(framed("after"))]})])
        built = build(output)
        cat.bad_block(f"frm-2-{name}", "FRM-2 FRM-5", f"records that do not end with their block: {name}", built, block,
                      fault("malformed-block", "single", base.where(built, block) + 24), level="decode")  # fmt: skip
    schema = base.SCHEMA
    arrows = [
        ("short", b"\xff\xff\xff\xff\x08\x00\x00"), ("no-marker", b"\xff\xff\xff\xfe" + u32(8) + bytes(8)),
        ("old-format", u32(16) + bytes(16)), ("length-0", b"\xff" * 4 + u32(0) + bytes(8)),
        ("length-4", b"\xff" * 4 + u32(4) + bytes(8)), ("length-12", b"\xff" * 4 + u32(12) + bytes(16)),
        ("length-negative", b"\xff" * 4 + u32(0xFFFFFFF8) + bytes(16)), ("past-end", b"\xff" * 4 + u32(16) + bytes(8)),
    ]  # fmt: skip
    for name, payload in arrows:
        block = Block(payload, records=1)
        built = build(base.arrow([], schema))
        output = replace(built.output, regions=[Region({0: [Block(arrow_message(b"first"))], 1: [block]})])
        built = build(output)
        cat.bad_block(f"frm-4-{name}", "FRM-4 FRM-3 FRM-5", f"not an encapsulated message: {name}", built, block,
                      fault("malformed-block", "single", base.where(built, block) + 24), level="decode")  # fmt: skip
    late = Block(b"\x09", records=0)
    built = build(Output(Header(partition_count=1), [Region({0: [Block(good), late]})]))
    cat.bad_block("frm-5-second-block", "FRM-5 PRT-3", "the second block of a partition breaks its framing", built, late,
                  fault("malformed-block", "single", base.where(built, late) + 24), level="decode")  # fmt: skip


def unverified(cat: Catalog) -> None:
    """INT-7: reading without checksums."""
    block = Block(b"not what was written", checksum_xor=1)
    built = build(base.one(block))
    bad = fault("checksum", "single", base.where(built, block))
    cat.bad_check("int-7-unverified-block", "INT-7", "without checksums, a block with a wrong checksum is read",
                  built, bad, level="checksums", request={"verify": False})  # fmt: skip
    block = Block(b"not what was written", checksum_xor=1, reserved=3)
    built = build(base.one(block))
    cat.bad_block("int-7-unverified-other-checks", "INT-7 BLK-7", "without checksums, all other checks are still made", built, block,
                  fault("malformed-block", "single", base.where(built, block) + 18),
                  request={"verify": False},
                  check=cat.checks(built.output, fault("checksum", "single", base.where(built, block)),
                                   "checksums"))  # fmt: skip
    built = build(base.one(GOOD))
    output = built.output
    broken = build(replace(output, regions=[replace(output.regions[0], block={"checksum_xor": 1})]))
    at = broken.messages[0]
    cat.bad_region("int-7-unverified-message", "INT-7", "the checksums of messages are always verified", broken,
                   fault("checksum", "single", at), request={"verify": False})  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (rows, limits, bounds, sequences, framing, unverified):
        part(cat)
