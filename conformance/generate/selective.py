"""Cases of selective files and of ranges that meet a fault: REG-9, PRT-4, PRT-5."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .catalog import Catalog, fault
from .message import Fields
from .output import Output, Region, Shared, build, read_answer
from .raw import OPAQUE, Block, Header

HEAD = Header(partition_count=3, framing=OPAQUE, reader_features=1)


def at(sequence: int, name: str) -> Block:
    """A block with a given sequence number."""
    return Block(name.encode(), sequence=sequence)


def gaps(cat: Catalog) -> None:
    """Sequences may have gaps, and must ascend."""

    def case(name: str, clause: str, title: str, regions: list[Region], bad: Block) -> None:
        built = build(Output(HEAD, regions))
        place = next(offset for _, _, offset, _, block in built.blocks if block is bad)
        cat.bad_block(f"prt-4-selective-{name}", clause, title, built, bad, fault("inconsistent-index", "single", place + 12))  # fmt: skip

    def saying(*first: int) -> Any:
        def change(fields: Fields) -> None:
            fields["first_block"] = list(first)

        return change

    for name, said in (("less", 4), ("more", 6), ("zero", 0)):
        bad = at(5, "first")
        regions = [Region({0: [bad], 1: [at(0, "other")]}, change=saying(said, 0, 0))]
        case(f"first-block-{name}", "PRT-4 REG-9", f"first_block says {said}, the block has 5", regions, bad)
    for name, second in (("again", 5), ("back", 2)):
        bad = at(second, "second")
        case(
            f"own-{name}",
            "PRT-4 BLK-3",
            f"sequence {second} after 5 in an extent",
            [Region({0: [at(5, "first"), bad]})],
            bad,
        )
        bad = at(second, "second")
        regions = [Region({0: [at(5, "first")]}), Region({0: [bad]})]
        case(f"region-{name}", "PRT-4 BLK-3", f"sequence {second} after 5 in the region before", regions, bad)
        bad = at(second, "second")
        shared = Region(shared=[Shared([at(5, "first"), bad])])
        case(f"shared-{name}", "PRT-4 BLK-3", f"shared sequence {second} after 5 in an extent", [shared], bad)
        bad = at(second, "second")
        regions = [Region(shared=[Shared([at(5, "first")])]), Region(shared=[Shared([bad])])]
        case(
            f"shared-region-{name}",
            "PRT-4 BLK-3",
            f"shared sequence {second} after 5 in the region before",
            regions,
            bad,
        )
    most = Region({0: [at(0, "first"), at(0xFFFFFFFF, "last that there can be")]})
    cat.valid("prt-4-selective-most", "PRT-4 BLK-3", "the largest sequence", Output(HEAD, [most]))
    apart = [Region(shared=[Shared([at(9, "for 0")], [0])]), Region(shared=[Shared([at(3, "for 1")], [1])])]
    built = build(Output(HEAD, apart))
    place = built.blocks[1][2]
    cat.bad_check("chk-1-selective-shared", "CHK-1 BLK-3", "shared sequences descend, which no single partition can notice", built,
                  fault("inconsistent-index", "single", place + 12), level="checksums")  # fmt: skip


def ranges(cat: Catalog) -> None:
    """A range reads what its partitions read, and reports the same faults."""
    head = replace(HEAD, reader_features=0, partition_count=4)

    def case(name: str, title: str, output: Output, low: int, high: int, bad: dict[str, Any]) -> None:
        built = build(output)
        ok = read_answer(output, [])
        del ok["partitions"]
        cat.add(f"prt-5-{name}", "PRT-5 BLK-7", title, "read", folder="invalid", files=built.files,
                request={"range": [low, high]}, expect={"ok": {**ok, "range": bad}})  # fmt: skip

    for name, low, high in (("bad-block", 0, 4), ("bad-block-only", 2, 3)):
        bad = Block(b"reserved", reserved=1)
        own = {p: [bad if p == 2 else Block(b"right")] for p in range(4)}
        output = Output(head, [Region(own)])
        place = next(offset for _, _, offset, _, block in build(output).blocks if block is bad)
        case(
            name,
            "a range with a block that is refused",
            output,
            low,
            high,
            fault("malformed-block", "single", place + 18),
        )
    output = Output(head, [Region({0: [Block(b"right")], 3: [Block(b"x", reserved=1)]})])
    cat.add("prt-5-beside-bad-block", "PRT-5 PRT-1", "a range beside a block that would be refused", "read", folder="invalid",
            files=build(output).files, request={"range": [0, 3]}, expect={"ok": {"range": {"blocks": 1}}})  # fmt: skip
    late = Block(b"for 1", sequence=0)
    output = Output(
        head, [Region(shared=[Shared([Block(b"for 0", sequence=4)], [0])]), Region(shared=[Shared([late], [1])])]
    )
    place = build(output).blocks[1][2]
    case("shared-sequence", "a range checks shared sequences that its partitions alone do not", output, 0, 2,
         fault("inconsistent-index", "single", place + 12))  # fmt: skip
    output = Output(head, [Region({1: [Block(b"own")]}, change=lambda fields: fields.update(sequence=9))])
    case("bad-region", "a range with a region message that is refused", output, 0, 1,
         fault("inconsistent-index", "single", build(output).messages[0] + 24))  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    gaps(cat)
    ranges(cat)
