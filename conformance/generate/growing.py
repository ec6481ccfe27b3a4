"""Cases of files that are followed while they grow: FOL."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import replace
from typing import Any

from . import base
from .catalog import Catalog, fault
from .output import Built, Output, arrow_message, build, dictionaries_answer, extents_of, read_answer
from .raw import Header, patch, seal_block, seal_header, tail, u32

Step = dict[str, Any]


class Story:
    """The steps of one case, in the order in which its methods are called."""

    def __init__(self, built: Built) -> None:
        self.built = built
        self.steps: list[Step] = []

    def _places(self, sizes: dict[str, int | None], files: dict[str, bytes] | None) -> dict[str, Any]:
        source = files or self.built.files
        return {role: (source[role], size) for role, size in sizes.items()}

    def open(self, expect: Step | None = None, files: dict[str, bytes] | None = None, **sizes: int | None) -> Story:
        """Writes the first bytes of each file, and opens."""
        self.steps.append({"files": self._places(sizes, files), "action": "open", "expect": expect or {"ok": {}}})
        return self

    def poll(
        self, expect: Step | tuple[int, bool], files: dict[str, bytes] | None = None, **sizes: int | None
    ) -> Story:
        """Lets the files grow and polls: the number of regions and whether the output is finished, or an error."""
        if isinstance(expect, tuple):
            expect = {"ok": {"regions": expect[0], "finished": expect[1]}}
        self.steps.append({"files": self._places(sizes, files), "action": "poll", "expect": expect})
        return self

    def read(
        self, regions: int, finished: bool = False, partitions: list[int] | None = None, met: int | None = None
    ) -> Story:
        """Reads what is committed; in a single file, *met* dictionaries were seen, if not just those before the regions."""
        output = self.built.output
        seen = replace(output, regions=output.regions[:regions], finished=finished)
        asked = partitions or list(
            range(output.header.first_partition, output.header.first_partition + output.header.partition_count)
        )
        answer = read_answer(seen, asked)
        if output.header.reader_features & 2:
            # After the last region of a single file there may be another dictionary.
            found = dictionaries_answer(self.built, regions if regions < len(output.regions) else None)
            answer["dictionaries"] = found if met is None else dictionaries_answer(self.built)[:met]
        self.steps.append({"action": "read", "request": {"partitions": asked}, "expect": {"ok": answer}})
        return self

    def watch(self, partition: int, since: int, upto: int, bad: Step | None = None) -> Story:
        """The watch of a partition delivers its blocks of these regions, or fails."""
        output = self.built.output
        digest, blocks = hashlib.sha256(), 0
        for region in output.regions[since:upto]:
            for _, extent in extents_of(output, region, partition):
                for block in extent:
                    digest.update(bytes([block.kind]) + struct.pack("<I", len(block.plain)) + block.plain)
                    blocks += 1
        expect = bad or {"ok": {"blocks": blocks, "sha256": digest.hexdigest()}}
        self.steps.append({"action": "watch", "request": {"partition": partition}, "expect": expect})
        return self

    def end(self, cat: Catalog, id: str, clause: str, title: str, features: list[str] | None = None) -> None:
        """The case."""
        self.steps.append({"action": "close", "expect": {"ok": {}}})
        cat.add(f"fol-{id}", clause, title, "follow", folder="follow", steps=self.steps, features=features)


def stories(cat: Catalog) -> None:
    """Files that grow as they should."""
    output = replace(base.small(paired=True), properties={"k": "v"}, created_by="a writer", statistics=True)
    built = build(output)
    size = len(built.files["index"])
    first, second, footer = (*built.messages, built.footer)
    story = Story(built).open(data=None, index=64).poll((0, False)).read(0)
    for at in (first + 1, first + 23, first + 24, second - 1):
        story.poll((0, False), index=at)
    story.poll((1, False), index=second).read(1).poll((1, False)).poll((1, False), index=second + 30)
    story.poll((2, False), index=footer).read(2).poll((2, False), index=footer + 50).poll((2, False), index=built.tail)
    for at in (built.tail + 1, size - 1):
        story.poll((2, False), index=at)
    story.poll((2, True), index=size).read(2, True).poll((2, True))
    story.end(cat, "paired", "FOL-1 FOL-2 FOL-3 FOL-5 FOL-6", "a pair that grows byte by byte, region by region")
    Story(built).open(data=None, index=None).poll((2, True)).read(2, True).end(
        cat, "paired-finished", "FOL-1 FOL-5", "a finished pair is followed")  # fmt: skip
    Story(built).open(data=64, index=64).poll((0, False)).poll((0, False), data=100).poll((0, False), data=None).poll((2, True), index=None).end(
        cat, "data-first", "FOL-3 FIL-5", "data that is not committed is not seen")  # fmt: skip
    single = build(replace(output, paired=False))
    size = len(single.files["single"])
    begin = single.region_blocks(1)[0][1]
    story = (
        Story(single).open(single=64).poll((0, False)).poll((0, False), single=64 + 24).poll((0, False), single=64 + 60)
    )
    story.poll((0, False), single=single.messages[0]).read(0).poll((0, False), single=begin - 1).poll(
        (1, False), single=begin
    ).read(1)
    story.poll((1, False), single=single.messages[1]).poll((2, False), single=single.footer).read(2).poll(
        (2, False), single=single.tail
    )
    story.poll((2, False), single=size - 1).poll((2, True), single=size).read(2, True)
    story.end(cat, "single", "FOL-4 FOL-2 FOL-5 FOL-6", "a single file that grows")
    torn = patch(single.files["single"], begin - 1, bytes([single.files["single"][begin - 1] ^ 0x40]))
    Story(single).open(single=64).poll((0, False), files={"single": torn}, single=begin).poll((2, True), single=size).read(2, True).end(
        cat, "torn-at-end", "FOL-2", "a block that ends at the end of the file and does not verify is not yet there")  # fmt: skip
    index = built.files["index"]
    torn = patch(index, second - 1, bytes([index[second - 1] ^ 0x40]))
    Story(built).open(data=None, index=64).poll((0, False), files={"index": torn}, index=second).poll((2, True), index=None).end(
        cat, "torn-at-end-paired", "FOL-2", "a message that ends at the end of the file and does not verify is not yet there")  # fmt: skip
    skipping = base.small(paired=True)
    skipping.regions[0].before = [(192, b"one")]
    skipping.regions[1].before = [(255, b"two")]
    grown = build(skipping)
    Story(grown).open(data=None, index=grown.metadata[1]).poll((0, False)).poll((1, False), index=grown.metadata[3]).poll((2, True), index=None).end(
        cat, "skippable", "FOL-3", "metadata that may be skipped is skipped")  # fmt: skip
    mixed = replace(skipping, paired=False)
    alone = build(mixed)
    Story(alone).open(single=64).poll((0, False), single=alone.messages[0]).poll((2, True), single=None).read(2, True).end(
        cat, "skippable-single", "FOL-4", "metadata before a region's blocks")  # fmt: skip
    empty = build(Output(Header(), []))
    Story(empty).open(single=64).poll((0, False)).poll((0, True), single=None).read(0, True).end(
        cat, "empty", "FOL-5 WRT-7", "an output without regions")  # fmt: skip
    schema = base.SCHEMA
    arrow = build(base.arrow([arrow_message(b"batch")], schema))
    first_block = arrow.blocks[0][2]
    for at in (64, 80, first_block - 1):
        Story(arrow).open(fault("unfinished", "single", at), single=at).open(single=first_block).poll((0, False)).poll((1, True), single=None).read(1, True).end(
            cat, f"arrow-{at}", "FOL-1 SCH-1", "a file cannot be opened before its schema is there", ["arrow"])  # fmt: skip


def faults(cat: Catalog) -> None:
    """Faults that a follower must not mistake for a file that still grows."""
    output = base.small(paired=True)
    built = build(output)
    index, data = built.files["index"], built.files["data"]
    first, second, footer = (*built.messages, built.footer)

    def case(id: str, clause: str, title: str, bad: Step, files: dict[str, bytes], **sizes: int | None) -> None:
        story = Story(built)
        role = "index" if "index" in files else "single"
        first_sizes: dict[str, int | None] = {"data": None, "index": 64} if role == "index" else {"single": 64}
        story.open(None, files, **first_sizes)
        story.poll(bad, files=files, **(sizes or {role: None}))
        story.end(cat, id, clause, title)

    both = {"data": data, "index": index}
    damaged = patch(index, first + 30, bytes([index[first + 30] ^ 1]))
    case("damaged-inside", "FOL-2", "a message that does not verify, with more bytes after it", fault("checksum", "index", first),
         {**both, "index": damaged})  # fmt: skip
    case("zeros", "FOL-2", "zeros where a message must be, more than a block's header", fault("checksum", "index", first),
         {**both, "index": index[:64] + bytes(64)})  # fmt: skip
    reserved = seal_block(patch(index, first + 18, b"\1"), first)
    case(
        "reserved",
        "FOL-2 BLK-7",
        "a message's block breaks another rule",
        fault("malformed-block", "index", first + 18),
        {**both, "index": reserved},
    )
    case("reserved-at-end", "FOL-2 BLK-7", "the last block verifies and breaks another rule", fault("malformed-block", "index", first + 18),
         {**both, "index": reserved}, index=second)  # fmt: skip
    huge = patch(index, first, u32(0x7FFFFFFF))
    case(
        "limit-first",
        "FOL-2 LIM-1",
        "the limit is checked before the block is waited for",
        fault("limit-exceeded", "index", first),
        {**both, "index": huge},
    )
    sequence = seal_block(patch(index, second + 12, u32(7)), second)
    case(
        "sequence",
        "FOL-2 BLK-3",
        "the metadata have a gap",
        fault("inconsistent-index", "index", second + 12),
        {**both, "index": sequence},
    )
    case("data-short", "FOL-3", "a message whose data is not there", fault("truncated", "data", len(data) - 8),
         {**both, "data": data[:-8]}, index=None, data=None)  # fmt: skip
    for kind, code in ((0, "malformed-block"), (130, "malformed-block"), (140, "unsupported-feature")):
        wrong = seal_block(patch(index, first + 16, bytes([kind])), first)
        case(
            f"kind-{kind}",
            "FOL-3 BLK-7",
            f"kind {kind} in an index file",
            fault(code, "index", first + 16),
            {**both, "index": wrong},
        )
    changed = base.small(paired=True)
    changed.regions[1].change = lambda fields: fields.update(data_offset=fields["data_offset"] + 8)
    moved = build(changed)
    case("does-not-tile", "FOL-3 REG-3", "a region that does not begin where the last one ended",
         fault("inconsistent-index", "index", moved.messages[1] + 24), moved.files)  # fmt: skip
    lies = build(replace(base.small(paired=True), change_footer=lambda f: f.update(data_size=f["data_size"] + 8)))
    case(
        "footer-rules",
        "FOL-5 FTR-3",
        "the footer breaks a rule",
        fault("inconsistent-index", "index", lies.footer + 24),
        lies.files,
    )
    shorter = build(replace(base.small(paired=True), change_footer=lambda f: f.update(
        regions=f["regions"][:1], data_size=f["regions"][0][3] + f["regions"][0][4])))  # fmt: skip
    case(
        "footer-directory",
        "FOL-5",
        "the directory does not list the regions that were seen",
        fault("inconsistent-index", "index", shorter.footer + 24),
        shorter.files,
    )
    head = index[: built.tail]
    length = int.from_bytes(index[footer : footer + 4], "little")
    tails = [("magic", index[:-1] + b"?", "checksum"), ("checksum", patch(index, built.tail + 12, u32(9)), "checksum"),
             ("leads-elsewhere", head + tail(second, length), "inconsistent-index"), ("size", head + tail(footer, length - 8), "inconsistent-index"),
             ("bytes-after", index + b"\0", "inconsistent-index"), ("page-after", index + bytes(4096), "inconsistent-index")]  # fmt: skip
    for name, wrong, code in tails:
        case(
            f"tail-{name}",
            "FOL-5",
            f"a wrong tail: {name}",
            fault(code, "index", built.tail),
            {**both, "index": wrong},
        )
    case("data-longer", "FOL-5 OPN-1", "the finished data file is longer than it may be", fault("inconsistent-index", "data", len(data)),
         {**both, "data": data + b"more"}, index=None, data=None)  # fmt: skip
    single = build(base.small())
    whole = single.files["single"]
    uncovered = base.small()
    uncovered.regions[1].change = lambda fields: fields.update(data_length=fields["data_length"] - 8)
    bare = build(uncovered)
    case("single-not-covered", "FOL-4 REG-3", "a region message that does not cover the blocks before it",
         fault("inconsistent-index", "single", bare.messages[1] + 24), bare.files)  # fmt: skip
    case("single-footer-after-blocks", "FOL-4", "a footer directly after partition blocks",
         fault("malformed-block", "single", single.messages[1] + 16),
         {"single": seal_block(patch(whole, single.messages[1] + 16, b"\x81"), single.messages[1])})  # fmt: skip
    case("single-region-without-blocks", "FOL-4", "a region message directly after the header",
         fault("malformed-block", "single", 64 + 16), {"single": whole[:64] + whole[single.messages[0] :]})  # fmt: skip
    case("single-block-reserved", "FOL-4 BLK-7", "a partition block breaks a rule", fault("malformed-block", "single", 64 + 18),
         {"single": seal_block(patch(whole, 64 + 18, b"\1"), 64)})  # fmt: skip
    story = Story(built)
    story.open(fault("unsupported-version", "index", 9), files={**both, "index": _major(index)}, data=None, index=None)
    cat.add(
        "fol-header",
        "FOL-1 HDR-1",
        "the headers are checked as at any opening",
        "follow",
        folder="follow",
        steps=story.steps,
    )
    story = Story(built)
    story.open(fault("truncated", "index", 20), data=None, index=20)
    cat.add(
        "fol-header-short", "FOL-1 HDR-1", "a header that is not whole", "follow", folder="follow", steps=story.steps
    )
    story = Story(built)
    story.open(data=None, index=64)
    story.steps[-1]["request"] = {"limits": {"max_regions": 1}}
    story.poll(fault("limit-exceeded", "index", second), index=None)
    story.end(cat, "max-regions", "FOL-3 LIM-1", "more regions than the caller allows")


def _major(index: bytes) -> bytes:
    return seal_header(patch(index, 9, b"\x02"))


def add(cat: Catalog) -> None:
    """All of them."""
    stories(cat)
    faults(cat)
