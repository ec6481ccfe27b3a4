"""Cases of files with dictionaries that grow or are repaired: DIC-5, FOL, REP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .catalog import Catalog, fault
from .dictionaries import head, several
from .dictionary_places import entry, lying
from .growing import Story
from .mending import answer, mended
from .mending import put as put_repair
from .output import Built, Dictionary, Output, Region, build
from .raw import Block, patch, seal_block, u32
from .trained import OTHERS, WORDS, run, with_dictionary

FEATURES = ["dictionaries", "zstd"]
SIZE = 24 + len(WORDS)


def grow(cat: Catalog) -> None:
    """Files that grow as they should."""
    built = build(several(True))
    second = built.messages[1]
    begin = built.dictionaries[2][1]
    story = (
        Story(built).open(data=64, index=64).poll((0, False)).poll((0, False), data=200).poll((0, False), data=begin)
    )
    story.poll((1, False), index=second).read(1).poll((1, False), data=begin + 30).poll((1, False), data=None)
    story.poll((2, False), index=built.footer).read(2).poll((2, True), index=None).read(2, True)
    story.end(
        cat,
        "dic-paired",
        "DIC-3 DIC-5 FOL-3 FOL-5",
        "a pair that grows, with dictionaries before both regions",
        FEATURES,
    )
    Story(built).open(data=None, index=None).poll((2, True)).read(2, True).end(
        cat, "dic-paired-finished", "DIC-5 FOL-5", "a finished pair is followed", FEATURES)  # fmt: skip
    single = build(several())
    at = [offset for _, offset, _ in single.dictionaries]
    story = Story(single).open(single=64)
    for size in (at[0] + 23, at[0] + 24, at[1] - 1, at[1], at[1] + 100, single.messages[0]):
        story.poll((0, False), single=size)
    story.poll((1, False), single=at[2]).poll((1, False), single=at[2] + SIZE - 8).poll(
        (1, False), single=at[2] + SIZE + 40
    )
    story.poll((2, False), single=single.footer).read(2).poll((2, True), single=None).read(2, True)
    story.end(
        cat,
        "dic-single",
        "DIC-3 FOL-4 FOL-5",
        "a single file that grows, with dictionaries before both regions",
        FEATURES,
    )
    trailing = build(replace(several(), trailing=[Dictionary(OTHERS)]))
    story = (
        Story(trailing)
        .open(single=trailing.dictionaries[3][1])
        .poll((2, False))
        .poll((2, False), single=trailing.footer)
    )
    story.poll((2, True), single=None).read(2, True)
    story.end(
        cat, "dic-single-trailing", "DIC-3 FOL-5", "a dictionary after the last region of a single file", FEATURES
    )
    for paired, name, where in ((True, "paired", built), (False, "single", single)):
        story = Story(where).open(**({"data": None, "index": None} if paired else {"single": None}))
        story.steps[-1]["request"] = {"limits": {"max_dictionaries": 3, "max_dictionary_size": len(WORDS)}}
        story.poll((2, True)).end(
            cat, f"dic-limits-at-{name}", "DIC-5 LIM-1", "the limits are exactly enough", FEATURES
        )


def bad_walk(
    cat: Catalog, name: str, clause: str, title: str, built: Built, bad: dict[str, Any], regions: int = 0,
    limits: dict[str, int] | None = None, files: dict[str, bytes] | None = None, met: int | None = None,
) -> None:  # fmt: skip
    """A follower and a repair report the same fault, with *regions* committed before it."""
    content = files or built.files
    single = "single" in content
    story = Story(built).open(None, content, **({"single": 64} if single else {"data": None, "index": 64}))
    if limits:
        story.steps[-1]["request"] = {"limits": limits}
    story.poll(bad, content, **({"single": None} if single else {"index": None}))
    if regions:
        story.read(regions, partitions=[0], met=met)
    story.poll(bad)
    story.end(cat, f"dic-{name}", clause, title, FEATURES)
    unfinished = {role: data if role == "data" else data[: built.tail or None] for role, data in content.items()}
    put_repair(cat, f"dic-{name}", title, unfinished, None, bad, clause=f"REP-2 {clause}", features=FEATURES,
               request={"limits": limits} if limits else {})  # fmt: skip


def faults(cat: Catalog) -> None:
    """Faults between two regions of a data file, and in dictionaries of a single file."""
    gap: Callable[[dict[str, Any]], Built] = lambda fields: build(_second(fields, paired=True))  # noqa: E731
    rows: list[tuple[str, str, dict[str, Any], str, int]] = [
        ("04-checksum", "its checksum", {"checksum_xor": 1}, "checksum", 0),
        ("06a-kind", "a reserved kind", {"kind": 140}, "unsupported-feature", 16),
        ("06b-data", "a data block", {"kind": 0}, "malformed-block", 16),
        ("06b-message", "a region message's kind", {"kind": 128}, "malformed-block", 16),
        ("06b-fragment-end", "the end of a fragment", {"kind": 132}, "malformed-block", 16),
        ("06b-skippable", "skippable metadata", {"kind": 192}, "malformed-block", 16),
        ("07b-codec", "a codec", {"codec": 1}, "malformed-block", 17),
        ("08a-size", "its plain size", {"plain_size": 5}, "malformed-block", 4),
        ("09-partition", "a partition", {"partition": 1}, "inconsistent-index", 8),
        ("10a-sequence", "its sequence", {"sequence": 0}, "inconsistent-index", 12),
        ("10b-number", "another number", {"dictionary": 1}, "inconsistent-index", 18),
        ("11-padding", "its padding", {"plain": OTHERS[:-3], "padding": b"\0\0\1"}, "malformed-block", 24 + len(OTHERS) - 1),
        ("begin", "its first bytes", {"plain": b"none" + OTHERS[4:]}, "malformed-block", 24),
        ("short", "seven bytes", {"plain": OTHERS[:7]}, "malformed-block", 24),
        ("empty", "no bytes", {"plain": b""}, "malformed-block", 24),
    ]  # fmt: skip
    for name, title, fields, code, at in rows:
        built = gap(fields)
        bad = fault(code, "data", built.dictionaries[1][1] + at)
        bad_walk(
            cat, f"gap-{name}", "DIC-5 DIC-4", f"a dictionary between two regions that is wrong: {title}", built, bad, 1
        )
    built = gap({})
    where, region = built.dictionaries[1][1], built.region_blocks(1)[0][1]
    for name, by in (("more", 8), ("more-32", 32), ("less", -8), ("less-all", -SIZE + 8)):
        # The offset in the region's message is changed; its length stays the same, and its blocks are there.
        moved = _second({}, paired=True)
        moved.regions[1].change = lambda fields, by=by: fields.update(data_offset=fields["data_offset"] + by)
        other = build(moved)
        at = region if by > 0 else where
        # Bytes after the end of its blocks: the fault is between the two regions.
        files = {**other.files, "data": other.files["data"] + bytes(64)}
        bad_walk(cat, f"gap-{name}", "DIC-5 REG-3", "the bytes between two regions are not whole dictionaries", other,
                 fault("malformed-block", "data", at) if name != "more-32" else fault("malformed-block", "data", at + 16), 1, files=files)  # fmt: skip
    offsets = (("before", lambda o: 64), ("inside", lambda o: where - 8), ("zero", lambda o: 0))
    for name, change in offsets:
        moved = _second({}, paired=True)
        moved.regions[1].change = lambda fields, change=change: fields.update(data_offset=change(fields["data_offset"]))
        other = build(moved)
        bad_walk(cat, f"gap-{name}", "DIC-5 REG-3", "a region that begins before the one before it ends", other,
                 fault("inconsistent-index", "index", other.messages[1] + 24), 1)  # fmt: skip
    for name, far in (("far", 1 << 40), ("most", (1 << 64) - 8), ("half", 1 << 63)):
        moved = _second({}, paired=True)
        moved.regions[1].change = lambda fields, far=far: fields.update(data_offset=far)
        other = build(moved)
        bad_walk(cat, f"gap-{name}", "DIC-5 FOL-3 INT-4", "a region that begins far after the end of the data file", other,
                 fault("truncated", "data", len(other.files["data"])), 1)  # fmt: skip
    bare = Output(
        replace(head(), reader_features=0), [Region({0: [Block(b"plain")]}), Region({1: [Block(b"more")]})], True
    )
    bare.regions[1].dictionaries = [Dictionary(WORDS, {"dictionary": 0}, listed=False)]
    other = build(bare)
    bad_walk(cat, "gap-feature", "DIC-5 REG-3", "bytes between two regions in a file without the feature", other,
             fault("inconsistent-index", "index", other.messages[1] + 24), 1)  # fmt: skip
    limited(cat)
    singles(cat)


def _second(fields: dict[str, Any], paired: bool) -> Output:
    """Two regions, a dictionary before each; the message of the second one has some fields changed."""
    first = Region({0: [with_dictionary("words", 1)]}, dictionaries=[Dictionary(WORDS)])
    second = Region(
        {1: [Block(b"plain")]},
        dictionaries=[Dictionary(fields.get("plain", OTHERS), {k: v for k, v in fields.items() if k != "plain"})],
    )
    return Output(head(), [first, second], paired)


def limited(cat: Catalog) -> None:
    """DIC-5: one dictionary too many is refused before its block is checked."""
    for paired, more in ((True, "paired"), (False, "single")):
        for name, fields in (("", {}), ("-damaged", {"checksum_xor": 1, "sequence": 9, "partition": 3})):
            built = build(_second(fields, paired))
            bad = fault("limit-exceeded", built.data, built.dictionaries[1][1])
            bad_walk(cat, f"limit{name}-{more}", "DIC-5 LIM-1", "more dictionaries than the caller allows", built, bad, 1,
                     {"max_dictionaries": 1})  # fmt: skip
        built = build(_second({}, paired))
        bad = fault("limit-exceeded", built.data, 64)
        bad_walk(
            cat, f"limit-0-{more}", "DIC-5 LIM-1", "no dictionary is allowed", built, bad, 0, {"max_dictionaries": 0}
        )
        bad_walk(
            cat,
            f"limit-size-{more}",
            "DIC-4 LIM-1",
            "a dictionary above the limit",
            built,
            bad,
            0,
            {"max_dictionary_size": len(WORDS) - 1},
        )
        for name, limits in (("message", {"max_message_size": 310}), ("block", {"max_block_size": 310})):
            story = Story(built).open(**({"data": None, "index": None} if paired else {"single": None}))
            story.steps[-1]["request"] = {"limits": limits}
            story.poll((2, True)).end(
                cat, f"dic-limit-{name}-{more}", "LIM-1 BLK-7", "another limit does not apply to dictionaries", FEATURES
            )


def singles(cat: Catalog) -> None:
    """FOL-4, and FOL-2 for a dictionary that is only partly written."""
    built = build(_second({}, False))
    whole, at = built.files["single"], built.dictionaries[1][1]
    rows: list[tuple[str, str, bytes, str, int]] = [
        ("05-number", "another number", patch(whole, at + 18, b"\3"), "inconsistent-index", 18),
        ("09-partition", "a partition", patch(whole, at + 8, u32(0)), "inconsistent-index", 8),
        ("10a-sequence", "another sequence", patch(whole, at + 12, u32(1)), "inconsistent-index", 12),
        ("08a-size", "plain_size is another", patch(whole, at + 4, u32(9)), "malformed-block", 4),
        ("07b-codec", "a codec", patch(whole, at + 17, b"\2"), "malformed-block", 17),
        ("begin", "its first bytes", patch(whole, at + 24, b"\0"), "malformed-block", 24),
    ]  # fmt: skip
    for name, title, content, code, offset in rows:
        files = {"single": seal_block(content, at)}
        bad = fault(code, "single", at + offset)
        bad_walk(
            cat,
            f"single-{name}",
            "FOL-4 DIC-4",
            f"a dictionary of a single file that is wrong: {title}",
            built,
            bad,
            1,
            files=files,
        )
        if name == "begin":
            continue
        story = (
            Story(built).open(None, {"single": content}, single=64).poll(bad, {"single": content}, single=at + SIZE - 8)
        )
        story.end(
            cat,
            f"dic-torn-{name}",
            "FOL-2 DIC-4",
            f"a dictionary that is only partly written, and its header is invalid there: {title}",
            FEATURES,
        )
    story = Story(built).open(None, {"single": patch(whole, at + 30, b"?")}, single=64)
    story.poll((1, False), {"single": patch(whole, at + 30, b"?")}, single=at + SIZE).poll(
        (2, True), {"single": whole}, single=None
    )
    story.end(
        cat, "dic-torn-last", "FOL-2", "the last dictionary does not verify, and its header is valid there", FEATURES
    )
    behind = built.region_blocks(1)[0][1]
    moved = Block(WORDS, kind=131, dictionary=3)
    inside = build(
        replace(
            built.output,
            regions=[built.output.regions[0], Region({1: [Block(b"plain"), moved]}, dictionaries=[Dictionary(OTHERS)])],
        )
    )
    stray = next(offset for _, _, offset, _, block in inside.blocks if block is moved)
    bad_walk(cat, "single-after-block", "DIC-3 FOL-4", "a dictionary after a partition block", inside,
             fault("malformed-block", "single", stray + 16), 1, met=2)  # fmt: skip
    for number in (3, 0xFFFF):
        wrong = build(
            replace(
                built.output,
                regions=[built.output.regions[0], Region({1: [run(number)]}, dictionaries=[Dictionary(OTHERS)])],
            )
        )
        bad_walk(cat, f"single-10b-{number}", "FOL-4 DIC-3", "a block names a dictionary that is not there yet", wrong,
                 fault("inconsistent-index", "single", behind + 18), 1, met=2)  # fmt: skip
    for paired, more in ((True, "paired"), (False, "single")):
        for name, change in (
            ("less", lambda e: e[:2]), ("none", lambda e: None), ("size", entry(3, size=len(WORDS) - 1)), ("offset", entry(2, by=8)),
        ):  # fmt: skip
            lies = build(lying(several(paired), change))
            story = Story(lies).open(**({"data": None, "index": 64} if paired else {"single": 64}))
            bad = fault("inconsistent-index", lies.index, lies.footer + 24)
            story.poll(bad, **({"index": None} if paired else {"single": None}))
            story.end(
                cat,
                f"dic-footer-{name}-{more}",
                "FOL-5 FTR-7",
                "the footer does not list the dictionaries that were seen",
                FEATURES,
            )


def repairs(cat: Catalog) -> None:
    """REP-3: the footer has the dictionaries that are kept."""
    for paired, more in ((True, "paired"), (False, "single")):
        output = replace(several(paired), finished=False)
        built = build(output)
        both, first = mended(output), mended(output, 1)
        put_repair(cat, f"dic-clean-{more}", "only footer and tail are missing", built.files, both.files,
                   answer("last-commit", 2, paired=paired), clause="REP-3 DIC-3", features=FEATURES, check=cat.checks(both.output))  # fmt: skip
        if paired:
            begin = first.files["data"]
            cut = len(built.files["data"]) - len(begin)
            put_repair(cat, "dic-message-missing-paired", "the last region's message is missing, and its dictionary is cut off with it",
                       {**built.files, "index": built.files["index"][: built.messages[1]]}, first.files, answer("last-commit", 1, cut, 0),
                       clause="REP-3 DIC-3", features=FEATURES, check=cat.checks(first.output))  # fmt: skip
            continue
        third = built.dictionaries[2][1]
        kept = mended(replace(output, trailing=[built.output.regions[1].dictionaries[0]]), 1)
        put_repair(cat, "dic-message-missing-single", "the last region's message is missing: its blocks are cut, its dictionary is kept",
                   {"single": built.files["single"][: built.messages[1]]}, kept.files,
                   answer("last-commit", 1, 0, built.messages[1] - third - SIZE, paired=False), clause="REP-3 DIC-3", features=FEATURES,
                   check=cat.checks(kept.output))  # fmt: skip
        put_repair(cat, "dic-torn-single", "a torn dictionary is cut off", {"single": built.files["single"][: third + 100]}, first.files,
                   answer("last-commit", 1, 0, 100, paired=False), clause="REP-1 REP-3", features=FEATURES)  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (grow, faults, repairs):
        part(cat)
