"""Cases of a watch, which reads a partition as its regions come: FOL-7."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from . import base
from .catalog import Catalog, features_of
from .catalog import fault as refusal
from .dictionaries import several
from .growing import Story
from .output import Built, Output, Region, Shared, build
from .raw import OPAQUE, Block, Header, patch

HEAD = Header(partition_count=3, framing=OPAQUE)


def at(sequence: int) -> Block:
    """A block with a given sequence number."""
    return Block(b"block %d" % sequence, sequence=sequence)


def region_by_region(built: Built, partitions: list[int], **more: Any) -> Story:
    """Each partition is watched from the start; each region is seen by a poll of its own."""
    index = built.index
    first: dict[str, Any] = {"single": 64} if index == "single" else {"data": None, "index": 64}
    story = Story(built).open(**first)
    for partition in partitions:
        story.watch(partition, 0, 0)
    count = len(built.output.regions)
    for number in range(count):
        # In a single file the next block, in a pair the next message, begins where this region's message ends.
        metadata = [*built.metadata, built.tail]
        end = metadata[metadata.index(built.messages[number]) + 1] if index == "index" else None
        if end is None:
            later = [offset for region, _, offset, _, _ in built.blocks if region == number + 1]
            end = min([*later, *(m for m in metadata if m > built.messages[number])])
        grown: dict[str, Any] = {index: end}
        story.poll((number + 1, False), **grown)
        for partition in partitions:
            story.watch(partition, number, number + 1).watch(partition, 0, 0)
    whole: dict[str, Any] = {index: None}
    story.poll((count, True), **whole)
    for partition in partitions:
        story.watch(partition, 0, 0)
    return story


def good(cat: Catalog) -> None:
    """What a watch delivers."""
    for paired in (True, False):
        more = "paired" if paired else "single"
        built = build(base.small(paired))
        story = region_by_region(built, [0, 1, 2, 3])
        story.end(cat, f"watch-{more}", "FOL-7 PRT-1", "each partition is watched, region by region")
        gaps = [Region({0: [at(3)], 2: [at(1)]}, [Shared([at(2)])]), Region({1: [at(9)]}),
                Region({0: [at(5), at(90)]}, [Shared([at(7)], [0])])]  # fmt: skip
        built = build(Output(replace(HEAD, reader_features=1), gaps, paired))
        story = region_by_region(built, [0, 1, 2])
        story.end(
            cat, f"watch-selective-{more}", "FOL-7 PRT-4", "sequences ascend over regions, with gaps", ["selective"]
        )
    built = build(base.small(True))
    story = Story(built).open(data=None, index=None).poll((2, True)).watch(2, 0, 2).watch(2, 0, 0).read(2, True)
    story.watch(0, 0, 2).end(cat, "watch-late", "FOL-7", "a watch that begins after the end, while others read")
    story = Story(built).open(data=None, index=64).poll((1, False), index=built.messages[1]).watch(2, 0, 1)
    story.poll((2, True), index=None).watch(3, 0, 2).watch(2, 1, 2)
    story.end(cat, "watch-two-at-a-time", "FOL-7", "watches that began at different times")
    output = several(True)
    built = build(output)
    story = Story(built).open(data=None, index=64)
    for number, end in enumerate([*built.messages[1:], built.footer]):
        story.poll((number + 1, False), index=end)
        for partition in range(output.header.partition_count):
            story.watch(partition, number, number + 1)
    story.end(cat, "watch-dictionaries", "FOL-7 DIC-2", "each region has a dictionary before it", features_of(output))
    story = Story(build(base.small(True))).open(data=None, index=None).watch(4, 0, 0, refusal("invalid-argument"))
    story.poll((2, True)).watch(4, 0, 0, refusal("invalid-argument")).watch(3, 0, 2)
    story.end(cat, "watch-no-partition", "FOL-7 PRT-2", "a partition that the file does not have")


def faults(cat: Catalog) -> None:
    """What a watch finds, and that it fails again and again."""
    rows: list[tuple[str, str, dict[str, Any], list[Region], Block]] = []
    bad = at(2)
    rows.append(("gap", "a block is missing between two regions", {}, [Region({0: [at(0)]}), Region({0: [bad]})], bad))
    bad = at(0)
    rows.append(
        ("again", "the first sequence again", {}, [Region({0: [at(0)]}), Region({1: [at(0)]}), Region({0: [bad]})], bad)
    )
    bad = at(5)
    rows.append(
        (
            "selective",
            "a sequence that does not ascend",
            {"reader_features": 1},
            [Region({0: [at(5)]}), Region({0: [bad]})],
            bad,
        )
    )
    bad = at(0)
    rows.append(
        (
            "shared",
            "a shared sequence that does not ascend",
            {},
            [Region(shared=[Shared([at(0)])]), Region(shared=[Shared([bad], [0])])],
            bad,
        )
    )
    for name, title, header, regions, wrong in rows:
        output = Output(replace(HEAD, **header), regions, True)
        built = build(output)
        told = refusal("inconsistent-index", "data", base.where(built, wrong) + 12)
        count = len(regions)
        last = built.messages[-1]
        story = Story(built).open(data=None, index=64).poll((count - 1, False), index=last).watch(0, 0, count - 1)
        story.poll((count, False), index=built.footer).watch(0, 0, 0, told).watch(0, 0, 0, told)
        story.poll((count, True), index=None).watch(0, 0, 0, told)
        story.end(cat, f"watch-{name}", "FOL-7 PRT-4", title, features_of(output))
    built = build(base.small(True))
    place = next(offset for _, extent, offset, _, _ in built.blocks if extent == 2)
    torn = {**built.files, "data": patch(built.files["data"], place + 25, bytes([built.files["data"][place + 25] ^ 8]))}
    told = refusal("checksum", "data", place)
    story = Story(built).open(files=torn, data=None, index=64).poll((1, False), files=torn, index=built.messages[1])
    story.watch(2, 0, 0, told).watch(0, 0, 1).poll((2, True), files=torn, index=None).watch(2, 0, 0, told).watch(
        3, 0, 2
    )
    story.watch(2, 0, 0, told).end(
        cat, "watch-damaged", "FOL-7 PRT-3 BLK-7", "a damaged block fails its watch, and no other"
    )


def add(cat: Catalog) -> None:
    """All of them."""
    good(cat)
    faults(cat)
