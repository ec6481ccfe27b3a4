"""Cases of blocks that belong elsewhere: BLK-9 by the file_id, REG-11 and PRT-4 by first_block of shared extents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import base
from .catalog import Catalog, fault
from .growing import Story
from .mending import answer, mended
from .mending import put as put_repair
from .message import Fields
from .output import Output, Region, Shared, arrow_message, build, read_answer
from .raw import FILE_ID, OPAQUE, Block, Header, block_crc, patch, seal_header, u32

OTHER = bytes(reversed(FILE_ID))
# The file_id that a block's checksum begins with: another file's, or none, as before BLK-9.
STRANGERS = (("other", OTHER), ("none", b""), ("zeros", bytes(16)))


def seal_as(data: bytes, offset: int, file_id: bytes) -> bytes:
    """The file, with the block at *offset* as a file with that file_id would have it."""
    size = int.from_bytes(data[offset : offset + 4], "little")
    checksum = block_crc(file_id, data[offset : offset + 20], data[offset + 24 : offset + 24 + size])
    return patch(data, offset + 20, u32(checksum))


def strangers(cat: Catalog) -> None:
    """A block of another file in each place."""
    for paired in (False, True):
        more = "-paired" if paired else ""
        for name, file_id in STRANGERS:
            block = Block(b"of another file", file_id=file_id)
            built = build(base.one(block, paired=paired))
            cat.bad_block(f"blk-9-own-{name}{more}", "BLK-9 BLK-7", f"an own block with the checksum of another file: {name}",
                          built, block, fault("checksum", built.data, base.where(built, block)))  # fmt: skip
        block = Block(b"of another file", file_id=OTHER)
        own = Region({0: [Block(b"own")]}, [Shared([Block(b"to all")]), Shared([block], [1, 2])])
        built = build(Output(Header(framing=OPAQUE), [own], paired))
        cat.bad_block(f"blk-9-shared{more}", "BLK-9 BLK-7", "a shared block of another file", built, block,
                      fault("checksum", built.data, base.where(built, block)))  # fmt: skip
        output = base.small(paired=paired)
        output.regions[1].block = {"file_id": OTHER}
        built = build(output)
        cat.bad_region(f"blk-9-region{more}", "BLK-9 REG-10", "a region message of another file", built,
                       fault("checksum", built.index, built.messages[1]))  # fmt: skip
        built = build(replace(base.small(paired=paired), footer_block={"file_id": OTHER}))
        cat.refused(f"blk-9-footer{more}", "BLK-9 OPN-2", "a footer of another file", built.files,
                    fault("checksum", built.index, built.footer))  # fmt: skip
        schema = base.SCHEMA
        arrow = replace(base.arrow([arrow_message(b"batch")], schema, paired), schema_block={"file_id": OTHER})
        built = build(arrow)
        cat.refused(f"blk-9-schema{more}", "BLK-9 SCH-1", "a schema of another file", built.files,
                    fault("checksum", built.index, 64), features=["arrow"])  # fmt: skip
        output = base.small(paired=paired)
        output.regions[1].before = [(192, b"may be skipped")]
        built = build(output)
        at = built.metadata[1]
        files = {**built.files, built.index: seal_as(built.files[built.index], at, OTHER)}
        cat.bad_check(f"blk-9-skippable{more}", "BLK-9 CHK-1", "metadata of another file that may be skipped", built,
                      fault("checksum", built.index, at), files=files)  # fmt: skip
        built = build(base.small(paired=paired))
        files = {role: seal_header(patch(data, 40, OTHER)) for role, data in built.files.items()}
        cat.refused(f"blk-9-header{more}", "BLK-9 OPN-2", "the header has another file_id than the blocks were made for", files,
                    fault("checksum", built.index, built.footer))  # fmt: skip
        for name, file_id in (("zeros", bytes(16)), ("ones", b"\xff" * 16), ("last", bytes(15) + b"\1")):
            cat.valid(
                f"blk-9-file-id-{name}{more}",
                "BLK-9",
                f"a file_id of {name}",
                base.small(paired=paired, file_id=file_id),
            )
    block = Block(b"of another file", file_id=OTHER)
    built = build(base.one(block))
    cat.bad_check("blk-9-unverified", "BLK-9 INT-7", "without checksums, a block of another file is not noticed", built,
                  fault("checksum", "single", base.where(built, block)), level="checksums", request={"verify": False})  # fmt: skip


def growing(cat: Catalog) -> None:
    """Blocks of another file, read by a follower, a repair and a rebuild."""
    for paired in (True, False):
        more = "" if paired else "-single"
        output = replace(base.small(paired=paired), finished=False)
        built = build(output)
        role, first, second = built.index, built.messages[0], built.messages[1]
        whole = built.files[role]
        start: dict[str, int | None] = {"data": None, role: 64} if paired else {role: 64}
        inside = {**built.files, role: seal_as(whole, first, OTHER)}
        bad = fault("checksum", role, first)
        Story(built).open(None, None, **start).poll(bad, inside, **{role: None}).end(
            cat, f"blk-9-inside{more}", "BLK-9 FOL-2", "a region message of another file, with more bytes after it")  # fmt: skip
        put_repair(cat, f"blk-9-inside{more}", "a region message of another file is not a torn write", inside, None, bad,
                   clause="BLK-9 REP-2")  # fmt: skip
        last = {**built.files, role: seal_as(whole, second, OTHER)}
        Story(built).open(None, None, **start).poll((1, False), last, **{role: None}).end(
            cat, f"blk-9-last{more}", "BLK-9 FOL-2", "a region message of another file at the end looks like one that is being written")  # fmt: skip
        one = mended(output, 1)
        cut = len(whole) - second, len(built.files[built.data]) - built.region_blocks(1)[0][1]
        put_repair(cat, f"blk-9-last{more}", "a region message of another file at the end is cut off", last, one.files,
                   answer("last-commit", 1, cut[1], cut[0] if paired else cut[1], paired=paired), clause="BLK-9 REP-1")  # fmt: skip


Case = Callable[..., None]


def saying(*first: int) -> Callable[[Fields], None]:
    """A change that sets first_block of the shared extents."""

    def change(fields: Fields) -> None:
        for extent, value in zip(fields["shared"], first, strict=True):
            extent["first_block"] = value

    return change


def three(paired: bool = False, **header: Any) -> Output:
    """A region with an own block and three shared extents of one block each."""
    shared = [Shared([Block(b"for all")]), Shared([Block(b"for 1+2")], [1, 2]), Shared([Block(b"for 3..")], [3])]
    return Output(Header(framing=OPAQUE, **header), [Region({0: [Block(b"own")]}, shared)], paired)


def rules(cat: Catalog) -> None:
    """REG-11."""
    wrongs = [("equal", (0, 0, 2)), ("equal-last", (0, 1, 1)), ("descends", (1, 0, 2)), ("descends-last", (0, 2, 1)),
              ("zeros", (0, 0, 0)), ("most", (0xFFFFFFFF, 1, 2)), ("wraps", (0, 0xFFFFFFFF, 0))]  # fmt: skip
    for name, first in wrongs:
        for more, paired, features in (("", False, 0), ("-paired", True, 0), ("-selective", False, 1)):
            output = three(paired, reader_features=features)
            output.regions[0].change = saying(*first)
            built = build(output)
            cat.bad_region(f"reg-11-{name}{more}", "REG-11 REG-10", f"first_block of shared extents is {first}", built,
                           fault("inconsistent-index", built.index, built.messages[0] + 24))  # fmt: skip
    output = replace(three(True), finished=False)
    output.regions[0].change = saying(0, 2, 1)
    built = build(output)
    bad = fault("inconsistent-index", "index", built.messages[0] + 24)
    Story(built).open(data=None, index=64).poll(bad, index=None).end(
        cat, "reg-11", "REG-11 FOL-3", "first_block of shared extents descends")  # fmt: skip
    put_repair(cat, "reg-11", "first_block of shared extents descends", built.files, None, bad, clause="REG-11 REP-2")


def sequences(cat: Catalog) -> None:
    """PRT-4: the first block of a shared extent has the sequence number first_block."""

    def case(name: str, title: str, output: Output, at: int, first: tuple[int, ...]) -> None:
        output.regions[0].change = saying(*first)
        built = build(output)
        block = output.regions[0].shared[at].blocks[0]
        cat.bad_block(f"prt-4-shared-first-{name}", "PRT-4 CHK-1 REG-11", title, built, block,
                      fault("inconsistent-index", built.data, base.where(built, block) + 12))  # fmt: skip

    for more, features in (("", 0), ("-selective", 1)):
        for paired in (False, True):
            end = more + ("-paired" if paired else "")
            for name, at, first in (("more", 2, (0, 1, 3)), ("most", 2, (0, 1, 0xFFFFFFFF))):
                case(f"{name}{end}", "first_block of a shared extent is above its block's sequence",
                     three(paired, reader_features=features), at, first)  # fmt: skip
        gapped = three(reader_features=features)
        gapped.regions[0].shared[2].blocks[0] = Block(b"for 3..", sequence=4)
        case(f"less{more}", "first_block of a shared extent is below its block's sequence", gapped, 2, (0, 1, 3))
    late = three()
    late.regions[0].change = saying(1, 2, 3)
    built = build(late)
    blocks = [built.blocks[n][2] + 12 for n in (1, 2, 3)]
    bad = [fault("inconsistent-index", "single", at) for at in blocks]
    ok = read_answer(late, [])
    # Every partition reads the first shared extent and stops there.
    ok["partitions"] = {str(p): bad[0] for p in range(4)}
    cat.add("prt-4-shared-first-all", "PRT-4 CHK-1", "every first_block is one too high", "read", folder="invalid", files=built.files,
            expect={"ok": ok}, check=cat.checks(late, bad[0], "checksums"))  # fmt: skip
    swapped(cat)
    over_regions(cat)


def swapped(cat: Catalog) -> None:
    """Two shared extents of the same size changed places: each one's members would get the other's blocks."""
    for more, features in (("", 0), ("-selective", 1)):
        for paired in (False, True):
            extents = [Shared([Block(b"for 0", sequence=1)], [0]), Shared([Block(b"for 1", sequence=0)], [1])]
            header = Header(partition_count=3, framing=OPAQUE, reader_features=features)
            region = Region({2: [Block(b"own")]}, extents, change=saying(0, 1))
            output = Output(header, [region], paired)
            built = build(output)
            bad = [fault("inconsistent-index", built.data, built.blocks[n][2] + 12) for n in (1, 2)]
            ok = read_answer(output, [2])
            ok["partitions"] |= {"0": bad[0], "1": bad[1]}
            name = f"{more}{'-paired' if paired else ''}"
            needs = ["selective"] if features else []
            cat.add(f"prt-4-shared-swapped{name}", "PRT-4 CHK-1", "two multicasts of the same size changed places", "read",
                    folder="invalid", files=built.files, expect={"ok": ok}, features=needs,
                    check=cat.checks(output, bad[0], "checksums"))  # fmt: skip
            ok = read_answer(output, [])
            del ok["partitions"]
            cat.add(f"prt-5-shared-swapped{name}", "PRT-4 PRT-5", "a range that reads the second of two swapped multicasts", "read",
                    folder="invalid", files=built.files, request={"range": [1, 3]}, expect={"ok": {**ok, "range": bad[1]}},
                    features=needs)  # fmt: skip
            if features:
                continue
            story = Story(built)
            start: dict[str, int | None] = {"data": None, "index": None} if paired else {"single": None}
            story.open(None, None, **start).poll((1, True))
            expect = {
                "ok": {"partitions": {"0": bad[0], "1": bad[1], "2": read_answer(output, [2])["partitions"]["2"]}}
            }
            story.steps.append({"action": "read", "request": {"partitions": [0, 1, 2]}, "expect": expect})
            story.end(
                cat, f"shared-swapped{name}", "PRT-4 FOL-6", "a follower reads two multicasts that changed places"
            )


def over_regions(cat: Catalog) -> None:
    """first_block continues over the regions."""

    def regions(*first: int) -> list[Region]:
        made = []
        for number, value in enumerate(first):
            extent = Shared([Block(f"of region {number}".encode(), sequence=value)], [number % 2])
            made.append(Region(shared=[extent, Shared([Block(b"to all", sequence=value + 1)])]))
        return made

    header = Header(partition_count=2, framing=OPAQUE)
    for paired in (False, True):
        cat.valid(f"reg-11-regions{'-paired' if paired else ''}", "REG-11 PRT-4", "shared extents in four regions, of others and of all",
                  Output(header, regions(0, 2, 4, 6), paired))  # fmt: skip
    for name, first in (("again", (0, 0)), ("equal", (0, 1))):
        output = Output(header, regions(*first))
        built = build(output)
        # In region 1, partition 0 reads only the extent for all, and partition 1 reads both.
        meets = {0: 3 if name == "again" else None, 1: 2}
        late = {
            p: None if n is None else fault("inconsistent-index", "single", built.blocks[n][2] + 12)
            for p, n in meets.items()
        }
        ok = read_answer(output, [p for p, bad in late.items() if bad is None])
        ok["partitions"] |= {str(p): bad for p, bad in late.items() if bad is not None}
        first_bad = fault("inconsistent-index", "single", built.blocks[2][2] + 12)
        cat.add(f"prt-4-shared-region-{name}", "PRT-4 CHK-1 BLK-3", f"the second region's first_block is {first[1]}, as its blocks are",
                "read", folder="invalid", files=built.files, expect={"ok": ok}, check=cat.checks(output, first_bad, "checksums"))  # fmt: skip


def rebuilt(cat: Catalog) -> None:
    """REP-7: a rebuild writes first_block, and stops before a block of another file."""

    def case(
        name: str, clause: str, title: str, output: Output, formed: list[Region], data: bytes | None = None
    ) -> None:
        whole = build(output).files["data"] if data is None else data
        after = mended(replace(output, regions=formed), mode="rebuild")
        orphaned = sum(len(extent.blocks) for region in formed for extent in region.shared)
        cat.add(f"rep-rebuild-{name}", clause, title, "repair", folder="repair", files={"data": whole, "index": None},
                request={"mode": "rebuild"}, expect=answer("rebuilt", len(formed), len(whole) - len(after.files["data"]), 0, orphaned),
                expect_files=after.files, check=cat.checks(after.output),
                features=["selective"] if output.header.reader_features else [])  # fmt: skip

    blocks = [Block(f"block {n}".encode()) for n in range(6)]
    for name, features, gap in (("first-block", 0, 0), ("first-block-selective", 1, 3)):
        shared = [replace(blocks[n], sequence=n * (1 + gap) + gap) for n in range(3)]
        header = Header(framing=OPAQUE, reader_features=features)
        given = [Region({0: [blocks[4]]}, [Shared([shared[0]], [0, 1]), Shared([shared[1]], [2])]),
                 Region({3: [blocks[5]]}, [Shared([shared[2]])])]  # fmt: skip
        formed = [
            Region({0: [blocks[4]]}, [Shared(shared[:2], [])]),
            Region({3: [blocks[5]]}, [Shared(shared[2:], [])]),
        ]
        case(name, "REP-7 REP-6 REG-11", "first_block of shared extents is written from the blocks",
             Output(header, given, True), formed)  # fmt: skip
    two = Output(Header(framing=OPAQUE), [Region({0: [blocks[0]], 1: [blocks[1]]})], True)
    stranger = replace(two, regions=[Region({0: [blocks[0]], 1: [replace(blocks[1], file_id=OTHER)]})])
    case("blk-9", "BLK-9 REP-5 REP-7", "the rebuild ends before a block of another file", two, [Region({0: [blocks[0]]})],
         build(stranger).files["data"])  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (strangers, growing, rules, sequences, rebuilt):
        part(cat)
