"""Ranges that are read partition by partition: PRT-7."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from . import base
from .catalog import Catalog, fault, features_of
from .output import Built, Output, Region, Shared, build, by_partition_answer, read_answer
from .raw import Block, Header

REFUSED = fault("invalid-argument")


def put(
    cat: Catalog,
    name: str,
    title: str,
    built: Built,
    low: int,
    high: int,
    bad: dict[str, Any] | None = None,
    clause: str = "PRT-7",
) -> None:
    """A case: what is delivered, or the fault that ends it."""
    ok = read_answer(built.output, [])
    del ok["partitions"]
    ok["by_partition"] = by_partition_answer(built.output, low, high) if bad is None else bad
    cat.add(
        f"prt-7-{name}",
        clause,
        title,
        "read",
        folder="valid" if bad is None else "invalid",
        files=built.files,
        request={"by_partition": [low, high]},
        expect={"ok": ok},
        features=[*features_of(built.output), "by-partition"],
    )


def delivered(cat: Catalog) -> None:
    """What a reading without faults delivers."""
    for paired in (False, True):
        more = "-paired" if paired else ""
        small = build(base.small(paired))
        for name, low, high in (("all", 0, 4), ("first", 0, 1), ("middle", 1, 3), ("last", 3, 4), ("empty", 2, 2)):
            put(cat, f"{name}{more}", f"partitions {low} to {high}, shared blocks once for each", small, low, high)
    for rotation in range(4):
        names = [8 + (rotation + slot) % 4 for slot in range(4)]
        own = {name: [base.text(f"{name}"), base.text("more")] for name in names}
        turned = build(
            Output(
                Header(partition_count=4, first_partition=8),
                [
                    Region(own, [Shared([base.text("s")], [9])], rotation=rotation, sparse=False),
                    Region({9: [base.text("sparse")], 11: [base.text("and more")]}, [Shared([base.text("all")])]),
                ],
            )
        )
        for low, high in ((8, 12), (9, 11)):
            put(cat, f"rotated-{rotation}-{low}-{high}", "a rotated region, and a sparse one", turned, low, high)
    swapped = [base.text("one"), base.text("two")]
    empty = build(Output(Header(partition_count=3), []))
    put(cat, "no-regions", "a file without regions", empty, 0, 3)
    again = [Region({0: [swapped[0]], 2: [swapped[1]]}), Region(), Region({0: [base.text("again")]})]
    again[1].shared = [Shared([base.text("nobody")], []), Shared([base.text("two only")], [2])]
    put(
        cat,
        "gaps",
        "partitions that have nothing in some regions",
        build(Output(Header(partition_count=3), again)),
        0,
        3,
    )


def refused(cat: Catalog) -> None:
    """PRT-2."""
    right = build(base.small(first_partition=10))
    for low, high in ((12, 11), (14, 13), (9, 11), (13, 15), (15, 15), (0, 0), (10, 0xFFFFFFFF)):
        put(
            cat,
            f"refused-{low}-{high}",
            "a range that is the caller's mistake",
            right,
            low,
            high,
            REFUSED,
            "PRT-2 PRT-7",
        )


def faults(cat: Catalog) -> None:
    """The first fault is the one of the first partition, wherever the others are in the file."""
    late, early = base.text("late in the file"), base.text("early in the file")
    regions = [Region({0: [base.text("a")], 1: [base.text("b")], 2: [early]}), Region({0: [base.text("c")], 1: [late]})]
    for paired in (False, True):
        more = "-paired" if paired else ""
        output = Output(Header(partition_count=3), regions, paired=paired)
        built = build(output)
        content = bytearray(built.files[built.data])
        for block in (late, early):
            content[base.where(built, block) + 30] ^= 1
        damaged = replace(built, files={**built.files, built.data: bytes(content)})
        of_late, of_early = (fault("checksum", built.data, base.where(built, block)) for block in (late, early))
        put(
            cat,
            f"fault-first{more}",
            "of two damaged blocks, the one of the lower partition is reported",
            damaged,
            0,
            3,
            of_late,
        )
        put(cat, f"fault-second{more}", "partition 2 alone", damaged, 2, 3, of_early)
        put(cat, f"fault-none{more}", "damage that no partition of the range reads", damaged, 0, 1)
        wrong = [regions[0], replace(regions[1], change=lambda fields: fields.update(sequence=9))]
        bad_message = build(replace(output, regions=wrong))
        told = fault("inconsistent-index", bad_message.index, bad_message.messages[1] + 24)
        put(cat, f"message{more}", "a bad region message is reached after the partition's blocks in the previous region",
            bad_message, 2, 3, told, "PRT-7 REG-10")  # fmt: skip
        content = bytearray(bad_message.files[bad_message.data])
        content[base.where(bad_message, early) + 30] ^= 1
        both = replace(bad_message, files={**bad_message.files, bad_message.data: bytes(content)})
        of_early = fault("checksum", built.data, base.where(bad_message, early))
        put(
            cat,
            f"block-then-message{more}",
            "a damaged block is in the region before a bad message",
            both,
            2,
            3,
            of_early,
        )
        put(cat, f"message-then-block{more}", "a lower partition meets the bad message first", both, 0, 3, told)
    swapped = build(
        Output(Header(partition_count=2), [Region({0: [base.text("0")], 1: [Block(b"\x01\0\0\0x", sequence=4)]})])
    )
    put(cat, "sequences", "each partition has its own sequence numbers", swapped, 0, 2,
        fault("inconsistent-index", "single", swapped.blocks[1][2] + 12), "PRT-7 PRT-4")  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (delivered, refused, faults):
        part(cat)
