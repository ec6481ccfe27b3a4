"""Files that tell two readings of a clause apart: where blocks may be located, in which order checks go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from . import base
from .catalog import Catalog, fault
from .dictionaries import head, several
from .dictionary_walks import FEATURES, bad_walk
from .growing import Story
from .lookup import put as put_lookup
from .lookup import sparse
from .mending import answer, mended
from .mending import put as put_repair
from .message import Fields, canonical
from .output import Dictionary, Output, Region, Shared, arrow_message, build
from .raw import OPAQUE, Block, Header, patch, seal_block, seal_header, u32
from .trained import OTHERS, WORDS, with_dictionary


def after_the_last_region(cat: Catalog) -> None:
    """FIL-2, CTX-1: metadata between the last region message and the footer of a single file."""
    skipping = replace(base.small(), after_regions=[(200, b"after the regions")])
    cat.valid("fil-2-skippable-after-regions", "FIL-2 CTX-1", "skippable metadata after the last region", skipping)
    put_repair(cat, "single-skippable-after-regions", "skippable metadata after the last region is kept",
               build(replace(skipping, finished=False)).files, mended(replace(skipping, finished=False)).files,
               answer("last-commit", 2, paired=False), clause="FIL-2 REP-3")  # fmt: skip
    plain = build(base.small())
    stray = build(replace(base.small(), after_regions=[(128, canonical("Region", plain.fields[1]))]))
    at = stray.metadata[-2]
    cat.bad_check("ctx-1-region-after-regions", "CTX-1 CHK-1", "a region block that the directory does not have", stray,
                  fault("inconsistent-index", "single", at))  # fmt: skip
    story = Story(stray).open(single=64).poll(fault("malformed-block", "single", at + 16), single=None)
    story.end(cat, "region-after-metadata", "CTX-1 FOL-4", "to a follower that region block is not allowed there")


def by_context(cat: Catalog) -> None:
    """CTX-1: the context decides which checks of BLK-7 a block gets, not its kind."""
    foreign = Block(b"skippable where a partition block must be", kind=192, checksum_xor=1)
    built = build(base.one(foreign))
    cat.bad_block("int-7-unverified-by-context", "INT-7 CTX-1", "the checksum of a metadata kind in an extent is not verified",
                  built, foreign, fault("malformed-block", "single", base.where(built, foreign) + 16),
                  request={"verify": False}, check={})  # fmt: skip
    output = Output(Header(partition_count=6, framing=OPAQUE), [Region({0: [Block(b"one")], 5: [Block(b"two")]})], True)
    whole = build(output)
    data = whole.files["data"]
    large = data + Block(b"m" * 200, kind=192).encode(0xFFFFFFFF, 0, output.header.file_id)
    after = mended(output, mode="rebuild")
    cat.add("rep-rebuild-metadata-limits", "REP-5 CTX-1", "a metadata kind where a partition block must be: max_message_size does not apply",
            "repair", folder="repair", files={"data": large, "index": None}, expect_files=after.files,
            request={"mode": "rebuild", "limits": {"max_message_size": 150}}, expect=answer("rebuilt", 1, 224, 0, 0))  # fmt: skip
    garbage = data + u32(101) + bytes(200)
    cat.add("rep-rebuild-garbage-above-limit", "REP-5 BLK-7", "bytes after the last block that claim a size above the limit, within the file",
            "repair", folder="repair", files={"data": garbage, "index": None}, request={"mode": "rebuild", "limits": {"max_block_size": 100}},
            expect=fault("limit-exceeded", "data", len(data)), expect_files={"data": garbage})  # fmt: skip
    cat.add("rep-rebuild-garbage-below-limit", "REP-5 BLK-7", "the same bytes with a limit above their size are cut", "repair",
            folder="repair", files={"data": garbage, "index": None}, request={"mode": "rebuild", "limits": {"max_block_size": 101}},
            expect=answer("rebuilt", 1, 204, 0, 0), expect_files=after.files)  # fmt: skip
    index = whole.files["index"]
    cat.add("rep-rebuild-kind-before-features", "REP-9 REP-5", "a file of kind 2 with an unknown writer feature: the kind is checked first",
            "repair", folder="repair", files={"data": _feature(index), "index": None}, request={"mode": "rebuild"},
            expect=fault("mismatched-pair", "data", 8), expect_files={"data": _feature(index)})  # fmt: skip
    single = build(base.small()).files["single"]
    cat.add("rep-rebuild-single", "REP-5", "a single file has no index to rebuild", "repair", folder="repair", files={"single": single},
            request={"mode": "rebuild"}, expect=fault("invalid-argument"), expect_files={"single": single})  # fmt: skip
    two = Output(
        Header(partition_count=6, framing=OPAQUE), [Region({3: [Block(b"one")]}), Region({1: [Block(b"n" * 90)]})], True
    )
    built = build(two)
    second = built.blocks[1][2]
    for name, most, at in (("own-fault", 80, second), ("region", 90, 64)):
        cat.add(f"rep-rebuild-limit-{name}-first", "REP-6 REP-5", "a region too many ends with the next accepted block, not with a refused one",
                "repair", folder="repair", files={"data": built.files["data"], "index": None}, expect_files={"data": built.files["data"]},
                request={"mode": "rebuild", "limits": {"max_regions": 0, "max_block_size": most}},
                expect=fault("limit-exceeded", "data", at))  # fmt: skip

    torn = patch(built.files["data"], second + 30, b"?")
    cat.add("rep-rebuild-limit-then-damage", "REP-6 REP-5", "a region too many ends with the walk, which damage ends", "repair", folder="repair",
            files={"data": torn, "index": None}, expect_files={"data": torn}, request={"mode": "rebuild", "limits": {"max_regions": 0}},
            expect=fault("limit-exceeded", "data", 64))  # fmt: skip


def limits_by_context(cat: Catalog) -> None:
    """CTX-2, CTX-3: which limit check 3 takes."""
    large = Block(b"m" * 200, kind=192)
    built = build(base.one(large))
    at = base.where(built, large)
    cat.bad_block("ctx-2-extent-message-size", "CTX-2 CTX-1 BLK-7", "a metadata kind in an extent: max_message_size does not apply", built, large,
                  fault("malformed-block", "single", at + 16), request={"limits": {"max_message_size": 150}}, check={})  # fmt: skip
    story = Story(built).open(single=64)
    story.steps[-1]["request"] = {"limits": {"max_message_size": 150}}
    story.poll(fault("limit-exceeded", "single", at), single=None)
    story.end(
        cat, "ctx-3-message-size", "CTX-3 CTX-2 FOL-4", "the same block to a follower, for which the kind decides"
    )
    first = Region({0: [with_dictionary("words", 1)]}, dictionaries=[Dictionary(WORDS)])
    moved = Block(OTHERS, kind=131, dictionary=2)
    inside = build(Output(head(), [first, Region({1: [Block(b"plain"), moved]})]))
    at = base.where(inside, moved)
    for name, limits, bad in (
        ("message", {"max_message_size": 310}, fault("limit-exceeded", "single", at)),
        ("dictionary", {"max_dictionary_size": 320}, fault("malformed-block", "single", at + 16)),
    ):
        story = Story(inside).open(single=64)
        story.steps[-1]["request"] = {"limits": limits}
        story.poll(bad, single=None)
        story.end(
            cat,
            f"ctx-2-stray-dictionary-{name}",
            "CTX-2 FOL-4",
            f"a dictionary where none is allowed, with a limit of its {name} size",
            FEATURES,
        )


def _feature(data: bytes) -> bytes:
    return seal_header(patch(data, 23, b"\x80"))


def dictionary_limits(cat: Catalog) -> None:
    """DIC-5: the limit counts where kind 131 is allowed, and goes before everything else about the block."""
    first = Region({0: [with_dictionary("words", 1)]}, dictionaries=[Dictionary(WORDS)])
    moved = Block(OTHERS, kind=131, dictionary=2)
    inside = build(Output(head(), [first, Region({1: [Block(b"plain"), moved]})]))
    stray = base.where(inside, moved)
    bad_walk(cat, "limit-where-not-allowed", "DIC-5 CTX-1", "a dictionary one too many where none is allowed", inside,
             fault("malformed-block", "single", stray + 16), 1, {"max_dictionaries": 1}, met=1)  # fmt: skip
    built = build(several())
    at = built.dictionaries[0][1]
    story = Story(built).open(single=64)
    story.steps[-1]["request"] = {"limits": {"max_dictionaries": 0}}
    story.poll((0, False), single=at + 23).poll(fault("limit-exceeded", "single", at), single=at + 24)
    story.end(
        cat, "dic-limit-before-whole", "DIC-5 FOL-2", "the limit is checked before the block is waited for", FEATURES
    )


def _moved(by: int) -> Callable[[Fields], None]:
    """A region message whose data_offset is another."""
    return lambda fields: fields.update(data_offset=fields["data_offset"] + by)


def _emptied(name: str) -> Callable[[Fields], None]:
    """A footer with a statistics vector without elements."""
    return lambda fields: fields["statistics"].update({name: []})


def gaps(cat: Catalog) -> None:
    """DIC-5, FOL-3: a data_offset that is not a multiple of 8, and what goes before a short data file."""
    second = Region({1: [Block(b"plain")]}, dictionaries=[Dictionary(OTHERS)])
    for by in (4, -4):
        output = Output(
            head(), [Region({0: [with_dictionary("words", 1)]}, dictionaries=[Dictionary(WORDS)]), second], True
        )
        output.regions[1] = replace(second, change=_moved(by))
        other = build(output)
        end = other.region_blocks(1)[0][1]
        files = {**other.files, "data": other.files["data"] + bytes(64)}
        bad_walk(cat, f"gap-by-{'more' if by > 0 else 'less'}-4", "DIC-5 REG-3", "a region that begins at an odd multiple of 4", other,
                 fault("malformed-block", "data", end if by > 0 else other.dictionaries[1][1]), 1, files=files)  # fmt: skip
    overlapping = [Region({0: [Block(b"plain")]}), Region({1: [Block(b"more")]}, change=_moved(-8))]
    other = build(Output(head(), overlapping, True))
    short = {**other.files, "data": other.files["data"][:-16]}
    bad_walk(cat, "gap-below-before-truncated", "FOL-3 REG-3", "a region that begins before the end of the one before it: before a short data file", other,
             fault("inconsistent-index", "index", other.messages[1] + 24), 1, files=short)  # fmt: skip
    bare = Output(
        replace(head(), reader_features=0), [Region({0: [Block(b"plain")]}), Region({1: [Block(b"more")]})], True
    )
    bare.regions[1].change = lambda fields: fields.update(data_offset=fields["data_offset"] + 8)
    other = build(bare)
    short = {**other.files, "data": other.files["data"][:-8]}
    bad_walk(cat, "gap-before-truncated", "FOL-3 REG-3", "a region that does not tile is reported before a data file that is too short", other,
             fault("inconsistent-index", "index", other.messages[1] + 24), 1, files=short)  # fmt: skip


def region_limit(cat: Catalog) -> None:
    """FOL-3: max_regions is checked after the block and before its message."""
    built = build(base.small(paired=True))
    index, second = built.files["index"], built.messages[1]
    damaged = patch(index, second + 30, b"\xee")
    for name, content, code in (
        ("block", damaged, "checksum"),
        ("message", seal_block(patch(index, second + 24 + 4, b"?"), second), "limit-exceeded"),
    ):
        story = Story(built).open(data=None, index=64)
        story.steps[-1]["request"] = {"limits": {"max_regions": 1}}
        story.poll(fault(code, "index", second), files={**built.files, "index": content}, index=None)
        story.end(cat, f"max-regions-{name}", "FOL-3 LIM-1", f"one region too many, and its {name} is damaged")


def torn(cat: Catalog) -> None:
    """FOL-1, REP-1, REP-4: the end of an unfinished file."""
    output = replace(base.small(paired=True), finished=False)
    built = build(output)
    index, second = built.files["index"], built.messages[1]
    wrong = patch(index, second + 16, b"\x05") + b"\x55" * 8
    put_repair(cat, "header-wrong-8-after", "a block that does not verify, 8 bytes after it, and its header cannot be there",
               {**built.files, "index": wrong}, None, fault("checksum", "index", second), clause="REP-1 REP-2")  # fmt: skip
    story = Story(built).open(fault("truncated", "index", 0), data=None, index=0)
    cat.add(
        "fol-header-none",
        "FOL-1 HDR-1",
        "a file of no bytes is truncated, not unfinished",
        "follow",
        folder="follow",
        steps=story.steps,
    )
    schema = arrow_message(b"an Arrow schema would be here")
    arrow = build(replace(base.arrow([arrow_message(b"batch")], schema), finished=False))
    begin = arrow.blocks[0][2]
    whole = arrow.files["single"][:begin]
    flipped = patch(whole, 64 + 60, b"?")
    for name, content in (("zeros", whole[:64] + bytes(100)), ("damaged-8-after", flipped + b"\x55" * 8)):
        put_repair(cat, f"schema-{name}", "the schema block is not yet there: nothing can be repaired", {"single": content}, None,
                   fault("unfinished", "single", len(content)), clause="REP-1 FOL-1", features=["arrow"])  # fmt: skip
    bad = build(
        replace(
            base.arrow([arrow_message(b"batch")], schema),
            encode_schema=lambda it: canonical("Schema", it)[:4] + b"FRXX" + bytes(8),
        )
    )
    first = bad.blocks[0][2]
    both = patch(bad.files["single"], first + 30, b"?")[:-1]
    put_repair(cat, "schema-before-walk", "an invalid schema message is reported before a damaged block", {"single": both}, None,
               fault("malformed-message", "single", 88), clause="REP-4 FOL-1", features=["arrow"])  # fmt: skip
    rebuilt = build(
        replace(
            mended(
                replace(base.small(), regions=[Region({0: [base.text("a")]}, [Shared([base.text("nobody")], [])])])
            ).output
        )
    )
    put_repair(cat, "single-orphans-not-counted", "last-commit does not count shared blocks that had no members before",
               {"single": rebuilt.files["single"][:-1]}, rebuilt.files,
               {"ok": {**answer("last-commit", 1, 0, 23)["ok"]}}, clause="REP-4 REP-8")  # fmt: skip


def empty_vectors(cat: Catalog) -> None:
    """FTR-4, REG-8, REG-9: a vector that is present and has no elements."""
    output = base.small()
    output.regions[0].change = lambda fields: fields.update(first_block=[])
    built = build(output)
    cat.bad_region("reg-9-empty-not-selective", "REG-9", "first_block is present and empty in a file that is not selective", built,
                   fault("inconsistent-index", "single", built.messages[0] + 24))  # fmt: skip
    for name in ("stored", "plain", "records"):
        lies = build(replace(base.small(), statistics=True, change_footer=_emptied(name)))
        cat.refused(f"ftr-4-{name}-empty", "FTR-4 OPN-2", "a statistics vector that is present and empty", lies.files,
                    fault("inconsistent-index", "single", lies.footer + 24))  # fmt: skip


def looked_up(cat: Catalog) -> None:
    """LKP-2: what direct lookup checks and what it does not."""
    output = sparse(statistics=True)
    output.regions[0].change = lambda fields: fields.update(rotation=3)
    put_lookup(
        cat, "2-sparse-rotation", "LKP-2 REG-5", "a sparse region with a rotation below P", build(output), [5, 6, 24]
    )
    built = build(replace(base.small(), statistics=True))
    at = built.messages[0]
    content = patch(patch(built.files["single"], at, u32(9)), at + 16, b"\x07")
    put_lookup(cat, "2-block-header", "LKP-2", "the header of a region message's block is not checked",
               replace(built, files={"single": content}), [0, 3])  # fmt: skip
    absent = base.small()
    absent.regions[1].change = lambda fields: fields.pop("offsets")
    built = build(absent)
    told = fault("inconsistent-index", "single", built.messages[1] + 24)
    put_lookup(cat, "2-offsets-absent", "LKP-2 MSG-7", "offsets is absent", built, [0, 2], {0: told, 2: told})
    moved = replace(base.small(), statistics=True)
    moved.regions[0].change = lambda fields: fields.update(offsets=[1, *fields["offsets"][1:]])
    put_lookup(
        cat, "2-first-offset", "LKP-2", "a first offset that is not 0 is a fault of slot 0 alone", build(moved), [3]
    )


def finishing(cat: Catalog) -> None:
    """FOL-5, PRT-6: a footer whose tail is not there yet; a data file that was cut."""
    output = replace(base.small(paired=True), properties={"k": "v"}, created_by="a writer", statistics=True)
    built = build(output)
    story = Story(built).open(data=None, index=64).poll((2, False), index=built.tail).read(2, True)
    story.poll((2, True), index=None).read(2, True)
    story.end(
        cat, "footer-without-tail", "FOL-5 PRT-6", "properties and statistics are the footer's before the tail is there"
    )
    size = len(built.files["data"])
    story = Story(built).open(data=None, index=64).poll((2, False), index=built.footer)
    story.poll((2, True), index=None, data=size - 8)
    story.end(cat, "data-cut-before-footer", "FOL-5 OPN-1", "a data file that was cut after its regions were seen")


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (
        after_the_last_region, by_context, limits_by_context, dictionary_limits, gaps, region_limit, torn, empty_vectors, looked_up, finishing,
    ):  # fmt: skip
        part(cat)
