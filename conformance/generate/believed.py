"""Sizes in headers that a reader must not trust alone (FOL-2), and bytes that repair treats as not yet written (REP-1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from . import base
from .catalog import Catalog, fault
from .codecs import lz4_block
from .growing import Step, Story
from .mending import answer, mended
from .mending import put as put_repair
from .output import Built, Output, Region, Shared, arrow_message, build
from .raw import OPAQUE, Block, Header, pad8, patch, u16, u32

LIMIT = 67_108_864  # of sizes, LIM-1


def three(paired: bool) -> Output:
    """An unfinished output of three regions."""
    regions = [Region({0: [Block(b"first"), Block(b"region")], 2: [Block(b"and more")]}), Region({1: [Block(b"second region")]}),
               Region({0: [Block(b"third")]}, [Shared([Block(b"to all")])])]  # fmt: skip
    return Output(Header(framing=OPAQUE), regions, paired, finished=False)


@dataclass(frozen=True)
class Place:
    """A block of an unfinished output, and what a walk does when it is damaged."""

    name: str
    built: Built
    at: int
    regions: int  # committed before it

    @property
    def whole(self) -> bytes:
        """The role of the file that contains the block."""
        return self.built.files[self.built.index]

    @property
    def end(self) -> int:
        """The offset of the end of the block."""
        return self.at + 24 + pad8(int.from_bytes(self.whole[self.at : self.at + 4], "little"))

    def files(self, content: bytes) -> dict[str, bytes]:
        """All files; the damaged one has this content."""
        return {**self.built.files, self.built.index: content}

    def sizes(self, size: int | None = None) -> dict[str, int | None]:
        """Sizes of the files for a step."""
        return {"data": None, "index": size} if self.built.index == "index" else {"single": size}


def both(cat: Catalog, place: Place, name: str, title: str, content: bytes, bad: Step | None,
         clause: str = "FOL-2 BLK-7", mends: bool | None = None) -> None:  # fmt: skip
    """A follower and a repair meet the same bytes. `bad` None: the block is not yet there. *mends*: what repair does, where it differs."""
    role = place.built.index
    expect: Step | tuple[int, bool] = (place.regions, False) if bad is None else bad
    files, id = place.files(content), f"{name}-{place.name}"
    story = Story(place.built).open(None, files, **place.sizes(64)).poll(expect, files, **place.sizes())
    story.read(place.regions).poll(expect).end(cat, id, clause, title)
    if (bad is None) if mends is None else mends:
        output, data = place.built.output, place.built.data
        after = mended(output, place.regions)
        cut = len(content) - after.footer
        more = (
            {"data_cut": len(files[data]) - len(after.files[data]), "index_cut": cut}
            if role == "index"
            else {"index_cut": cut}
        )
        expected = answer("last-commit", place.regions, paired=role == "index", **more)
        put_repair(
            cat, id, title, files, after.files, expected, clause=f"REP-1 {clause}", check=cat.checks(after.output)
        )
    else:
        put_repair(cat, id, title, files, None, bad or {}, clause=f"REP-2 {clause}")


def flips(cat: Catalog) -> None:
    """One bit of the size of a message in the middle of an unfinished file."""
    for paired in (True, False):
        built = build(three(paired))
        place = Place("paired" if paired else "single", built, built.messages[1], 1)
        size = int.from_bytes(place.whole[place.at : place.at + 4], "little")
        for bit in range(32):
            other = size ^ (1 << bit)
            content = patch(place.whole, place.at, u32(other))
            if other > LIMIT:
                bad = fault("limit-exceeded", built.index, place.at)
            elif place.at + 24 + pad8(other) >= len(content):
                bad = fault("malformed-block", built.index, place.at + 4)
            else:
                bad = fault("checksum", built.index, place.at)
            both(
                cat,
                place,
                f"bit-{bit:02}",
                f"bit {bit} of a message's size is another, in the middle of the file",
                content,
                bad,
            )
        exact = len(place.whole) - place.at - 24
        both(cat, place, "size-to-end", "a message's size leads exactly to the end of the file", patch(place.whole, place.at, u32(exact)),
             fault("malformed-block", built.index, place.at + 4))  # fmt: skip
        for behind in (8, 24):
            both(cat, place, f"size-{behind}-before-end", f"a message's size leads to {behind} bytes before the end of the file",
                 patch(place.whole, place.at, u32(exact - behind)), fault("checksum", built.index, place.at))  # fmt: skip
        twice = patch(place.whole, place.at, u32(4096) + u32(4096))
        both(cat, place, "both-sizes", "both sizes of a message have the same wrong value, so it looks like one that is being written",
             twice, None)  # fmt: skip


# The check of BLK-7, the offset and the bytes in the block's header, the code and the offset of the fault; for a message of 40 bytes or more.
MESSAGE = [
    ("03", 0, u32(LIMIT + 8), "limit-exceeded", 0), ("05", 18, u16(1), "malformed-block", 18),
    ("06a", 16, b"\x83", "unsupported-feature", 16), ("06b", 16, b"\x02", "malformed-block", 16),
    ("07a", 17, b"\x07", "unsupported-codec", 17), ("07b", 17, b"\x01", "malformed-block", 17),
    ("08a", 4, u32(9), "malformed-block", 4), ("09", 8, u32(0), "inconsistent-index", 8),
    ("10", 12, u32(6), "inconsistent-index", 12),
]  # fmt: skip
PARTITION = [
    ("03", 0, u32(LIMIT + 8), "limit-exceeded", 0), ("05", 18, u16(0x100), "malformed-block", 18),
    ("06a", 16, b"\xa0", "unsupported-feature", 16), ("06b", 16, b"\x03", "malformed-block", 16),
    ("07a", 17, b"\x03", "unsupported-codec", 17), ("07b", 16, b"\x40\x02", "malformed-block", 17),
    ("08a", 4, u32(9), "malformed-block", 4), ("08a-codec", 17, b"\x01", "malformed-block", 4),
    ("08c", 4, u32(LIMIT + 1) + u32(0) + u32(0) + b"\x00\x01", "limit-exceeded", 4),
]  # fmt: skip


def headers(cat: Catalog) -> None:
    """Each check of a header, in a block that is torn and in one that ends with the file and does not verify."""
    pair, single = build(three(True)), build(three(False))
    block = single.region_blocks(1)[0][1]
    places = [(Place("paired", pair, pair.messages[1], 1), MESSAGE), (Place("single", single, single.messages[1], 1), MESSAGE),
              (Place("block", single, block, 1), PARTITION)]  # fmt: skip
    for place, rows in places:
        for row, at, new, code, offset in rows:
            changed = patch(place.whole, place.at + at, new)
            bad = fault(code, place.built.index, place.at + offset)
            both(
                cat,
                place,
                f"torn-{row}",
                f"a block that is not whole, and its header fails check {row}",
                changed[: place.end - 8],
                bad,
            )
            if row == "03":
                continue
            both(
                cat,
                place,
                f"last-{row}",
                f"the last block does not verify, and its header fails check {row}",
                changed[: place.end],
                bad,
            )
        for name, size in (("header", 24), ("less", 23), ("payload", 30)):
            both(cat, place, f"torn-{name}", "a block that is being written", place.whole[: place.at + size], None)
        damaged = patch(place.whole, place.at + 24, bytes([place.whole[place.at + 24] ^ 4]))
        both(
            cat,
            place,
            "last-payload",
            "the last block does not verify, and its header is valid there",
            damaged[: place.end],
            None,
        )
    empty = patch(single.files["single"], block, u32(0) + u32(0))[: block + 24]
    both(
        cat,
        places[2][0],
        "last-08b",
        "an empty data block that does not verify",
        empty,
        fault("malformed-block", "single", block + 4),
    )
    order = patch(pair.files["index"], pair.messages[1] + 4, u32(9) + u32(0) + u32(6) + b"\x83\x07\x01\x00")
    both(cat, places[0][0], "order", "everything is wrong in the header of a torn message: the first check is reported",
         order[: pair.messages[1] + 40], fault("malformed-block", "index", pair.messages[1] + 18))  # fmt: skip
    compressed(cat)
    schema(cat)


def compressed(cat: Catalog) -> None:
    """A compressed block has its size once, so a block with a wrong, larger size looks like one that is being written."""
    block = lz4_block(b"compress ", 180, b"literals")
    output = replace(three(False), regions=[Region({0: [Block(b"first")]}), Region({1: [block]})])
    built = build(output)
    place = Place("lz4", built, base.where(built, block), 1)
    size = len(block.payload)
    room = len(place.whole) - place.at - 24
    assert room < block.claimed_plain - 1
    both(cat, place, "grown", "the size of a compressed block grew beyond the end of the file, and is below plain_size",
         patch(place.whole, place.at, u32(room + 1)), None)  # fmt: skip
    for name, grown in (("plain", block.claimed_plain), ("above", block.claimed_plain + 8)):
        both(cat, place, f"grown-{name}", f"the size of a compressed block grew: {name}", patch(place.whole, place.at, u32(grown)),
             fault("malformed-block", "single", place.at + 4))  # fmt: skip
    both(cat, place, "grown-inside", "the size of a compressed block grew, and ends inside the file", patch(place.whole, place.at, u32(size + 8)),
         fault("checksum", "single", place.at))  # fmt: skip


def schema(cat: Catalog) -> None:
    """FOL-1: the header of a schema block that is only partly written."""
    arrow = build(base.arrow([arrow_message(b"batch")], base.SCHEMA))
    first = arrow.blocks[0][2]
    rows: list[tuple[str, int, bytes, str, int]] = [
        ("06b", 16, b"\x80", "malformed-block", 16), ("08a", 0, u32(4096), "malformed-block", 4), ("10", 12, u32(1), "inconsistent-index", 12),
        ("03", 0, u32(LIMIT + 1), "limit-exceeded", 0), ("09", 8, u32(0), "inconsistent-index", 8), ("05", 18, b"\1", "malformed-block", 18),
    ]  # fmt: skip
    for row, at, new, code, offset in rows:
        files = {"single": patch(arrow.files["single"], 64 + at, new)}
        for name, size in (("torn", 90), ("last", first)):
            story = Story(arrow).open(fault(code, "single", 64 + offset), files, single=size)
            cat.add(f"fol-schema-{name}-{row}", "FOL-1 FOL-2 SCH-1", f"a schema that is not there yet, and its header fails check {row}",
                    "follow", folder="follow", steps=story.steps, features=["arrow"])  # fmt: skip


def zeros(cat: Catalog) -> None:
    """REP-1: a file was extended, and its bytes were not written."""
    pair, single = build(three(True)), build(three(False))
    message, block = pair.messages[1], single.region_blocks(1)[0][1]
    places = [
        Place("paired", pair, message, 1),
        Place("single", single, single.messages[1], 1),
        Place("block", single, block, 1),
    ]
    for place in places:
        role = place.built.index
        plain_24 = fault("malformed-block", role, place.at + (16 if role == "index" else 4))
        behind = place.whole[place.at : place.at + 16]
        both(cat, place, "zeros-23", "23 zero bytes", place.whole[: place.at] + bytes(23), None, "FOL-2")
        if place.name != "single":
            both(cat, place, "zeros-24", "24 zero bytes where a block must be", place.whole[: place.at] + bytes(24), plain_24,
                 "FOL-2", mends=True)  # fmt: skip
            both(cat, place, "zeros-25", "25 zero bytes where a block must be", place.whole[: place.at] + bytes(25),
                 fault("checksum", role, place.at), "FOL-2", mends=True)  # fmt: skip
        for name, length in (("8", 8), ("16", 16)):
            torn = place.whole[: place.at] + behind[:length] + bytes(4096)
            bad: dict[str, Any] = fault("checksum", role, place.at)
            both(cat, place, f"{name}-then-zeros", f"{name} bytes of a block were written, followed by zeros", torn, bad, "FOL-2",
                 mends=True)  # fmt: skip
        torn = place.whole[: place.at] + u32(0xFFFFFFFF) + behind[4:] + bytes(100)
        both(cat, place, "before-limits", "zeros from the 17th byte on come before any other check", torn,
             fault("limit-exceeded", role, place.at), "FOL-2", mends=True)  # fmt: skip
        torn = place.whole[: place.at] + behind + b"\0" * 7 + b"\1" + bytes(4096)
        both(
            cat,
            place,
            "17-then-zeros",
            "a byte after the 16th is not zero",
            torn,
            fault("checksum", role, place.at),
            "FOL-2",
        )
        kept = place.whole[: place.at + 24] + bytes(place.end - place.at - 24)
        both(cat, place, "header-then-zeros", "the header was written, and zeros for the payload", kept, None, "FOL-2")
        for more, mends in ((24, True), (25, False)):
            both(cat, place, f"header-then-zeros-{more}", f"the header was written, zeros for the payload and {more} more", kept + bytes(more),
                 fault("checksum", role, place.at), "FOL-2", mends=mends)  # fmt: skip
        reserved = patch(kept, place.at + 18, b"\1")
        both(cat, place, "header-wrong", "a header that is invalid there, zeros for the payload and 24 more", reserved + bytes(24),
             fault("checksum", role, place.at), "FOL-2")  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (flips, headers, zeros):
        part(cat)
