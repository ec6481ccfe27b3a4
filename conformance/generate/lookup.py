"""Direct lookup: a partition is found without reading whole region messages (LKP-1 to LKP-3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import base
from .catalog import Catalog, fault, features_of
from .dictionaries import several
from .index import places_of_data
from .message import Fields
from .output import Built, Output, Region, Shared, build, read_answer
from .raw import Header

Change = Callable[[Fields], None]


def put(
    cat: Catalog, name: str, clause: str, title: str, built: Built, asked: list[int], bad: dict[int, Any] | None = None
) -> None:
    """A case: partitions that are read, and the faults of those that cannot be."""
    bad = bad or {}
    ok = read_answer(built.output, [p for p in asked if p not in bad])
    ok["partitions"] |= {str(p): answer for p, answer in bad.items()}
    cat.add(
        f"lkp-{name}",
        clause,
        title,
        "read",
        folder="invalid" if bad else "valid",
        files=built.files,
        request={"lookup": "direct", "partitions": asked},
        expect={"ok": ok},
        features=[*features_of(built.output), "direct-lookup"],
    )


def setting(**values: Any) -> Change:
    """A change that sets fields."""
    return lambda fields: fields.update(values)


def sparse(**more: Any) -> Output:
    """Two regions of 20 partitions from 5 on, sparse, with shared extents."""
    names = [5, 6, 9, 14, 20, 24]
    own = {name: [base.text(f"of {name}"), base.text("more")] for name in names}
    shared = [
        Shared([base.text("to some")], [6, 7, 24]),
        Shared([base.text("to all")]),
        Shared([base.text("nobody")], []),
    ]
    regions = [
        Region(own, shared),
        Region({name: [base.text("again")] for name in names[2:]}, [Shared([base.text("9")], [9])]),
    ]
    return Output(Header(partition_count=20, first_partition=5), regions, **more)


def found(cat: Catalog) -> None:
    """Direct lookup finds the same as any other reading."""
    for paired in (False, True):
        for statistics in (False, True):
            more = f"{'-paired' if paired else ''}{'-statistics' if statistics else ''}"
            small = build(replace(base.small(paired), statistics=statistics))
            put(cat, f"1-dense{more}", "LKP-1", "dense and sparse regions, shared extents", small, [0, 1, 2, 3])
            put(cat, f"1-sparse{more}", "LKP-1", "sparse regions: each slot, and partitions before, between and after them",
                build(sparse(paired=paired, statistics=statistics)), list(range(5, 25)))  # fmt: skip
    for rotation in range(1, 4):
        names = [8 + (rotation + slot) % 4 for slot in range(4)]
        turned = Region({name: [base.text(f"{name}")] for name in names}, rotation=rotation, sparse=False)
        output = Output(Header(partition_count=4, first_partition=8), [turned], statistics=True)
        put(cat, f"1-rotated-{rotation}", "LKP-1", "a rotated region", build(output), [8, 9, 10, 11])
    selective = replace(base.small(reader_features=1), statistics=True)
    put(cat, "1-selective", "LKP-1 LKP-2 REG-9", "a selective file", build(selective), [0, 1, 2, 3])
    for paired in (False, True):
        output = replace(several(paired), statistics=True)
        put(cat, f"1-dictionaries{'-paired' if paired else ''}", "LKP-1 DIC-6", "blocks that need dictionaries",
            build(output), list(range(output.header.partition_count)))  # fmt: skip
    put(cat, "1-no-regions", "LKP-1", "a file without regions", build(Output(Header(partition_count=3), [])), [0, 2])


def passed_over(cat: Catalog) -> None:
    """What is not read is not checked: the checksum of the message, and the offsets of other partitions."""
    for paired in (False, True):
        more = "-paired" if paired else ""
        output = replace(base.small(paired), statistics=True)
        output.regions[0].block = {"checksum_xor": 1}
        put(cat, f"1-checksum{more}", "LKP-1", "a region message whose checksum is not verified", build(output), [0, 3])

        def moved(fields: Fields) -> None:
            offsets = list(fields["offsets"])
            offsets[3] += 1
            fields["offsets"] = offsets

        output = replace(base.small(paired), statistics=True)
        output.regions[0].change = moved
        built = build(output)
        put(
            cat,
            f"1-others{more}",
            "LKP-1",
            "the offset of partition 3 is wrong; partition 0 does not need it",
            built,
            [0],
        )


def refused(cat: Catalog) -> None:
    """LKP-2: each rule, by structurally valid messages with wrong values."""

    def offsets(*places: tuple[int, int]) -> Change:
        def change(fields: Fields) -> None:
            values = list(fields["offsets"])
            for at, by in places:
                values[at] += by
            fields["offsets"] = values

        return change

    def shared(number: int, **by: int) -> Change:
        def change(fields: Fields) -> None:
            for name, more in by.items():
                fields["shared"][number][name] += more

        return change

    def members(content: bytes) -> Change:
        return lambda fields: fields["shared"][1].update(members=content)

    # The name, the region, the partitions that report it, what is changed.
    selective: list[tuple[str, int, list[int], Change]] = [
        ("first-block-absent", 0, [0, 2], lambda f: f.pop("first_block")),
        ("first-block-short", 0, [0, 2], lambda f: f.update(first_block=f["first_block"][:-1])),
        ("first-block-long", 0, [0, 2], lambda f: f.update(first_block=[*f["first_block"], 0])),
    ]
    rows: list[tuple[str, int, list[int], Change]] = [
        ("sequence", 0, [0, 1, 2, 3], setting(sequence=1)),
        ("sequence-again", 1, [0, 1, 2, 3], setting(sequence=0)),
        ("data-offset", 0, [0, 1, 2, 3], lambda f: f.update(data_offset=f["data_offset"] + 8)),
        ("data-length", 0, [0, 1, 2, 3], lambda f: f.update(data_length=f["data_length"] - 8)),
        ("rotation", 0, [0, 1, 2, 3], setting(rotation=4)),
        ("offsets-less", 0, [0, 1, 2, 3], lambda f: f.update(offsets=f["offsets"][:-1])),
        ("offsets-more", 0, [0, 1, 2, 3], lambda f: f.update(offsets=f["offsets"] + f["offsets"][-1:])),
        ("offsets-descend", 0, [0], lambda f: f.update(offsets=[9, 3, *f["offsets"][2:]])),
        ("offsets-most", 0, [3], offsets((3, 1 << 20))),
        ("offsets-last", 0, [0, 1, 2, 3], offsets((4, 1 << 20))),
        ("offsets-sum", 0, [0, 1, 2, 3], offsets((4, -1))),
        ("shared-length", 0, [0, 1, 2, 3], shared(1, length=1)),
        ("shared-order", 0, [0, 1, 2, 3], lambda f: f["shared"][1].update(first_block=0)),
        ("members-long", 0, [0, 1, 2, 3], members(b"\x0a\0")),
        ("partitions-most", 1, [0, 1, 2, 3], setting(partitions=[0, 1, 2, 3, 4], offsets=[0, 3, 4, 5, 6, 7])),
    ]  # fmt: skip
    for paired in (False, True):
        for features, name, number, asked, change in [(0, *row) for row in rows] + [(1, *row) for row in selective]:
            output = base.small(paired, reader_features=features)
            output.regions[number].change = change
            built = build(output)
            # The directory is correct: only the message differs.
            right = [
                (message, size, flags, offset, length)
                for (message, size, flags, *_), (offset, length) in zip(
                    built.footer_fields["regions"], places_of_data(built), strict=True
                )
            ]
            output.change_footer = setting(regions=right)
            built = build(output)
            told = fault("inconsistent-index", built.index, built.messages[number] + 24)
            put(cat, f"2-{name}{'-paired' if paired else ''}", "LKP-2", f"a region message with a wrong value: {name}",
                built, asked, dict.fromkeys(asked, told))  # fmt: skip
    identified = build(base.small())
    content = bytearray(identified.files["single"])
    content[identified.messages[1] + 24 + 4] ^= 1
    told = fault("inconsistent-index", "single", identified.messages[1] + 24)
    put(cat, "2-identifier", "LKP-2", "a message of another kind, by its identifier",
        replace(identified, files={"single": bytes(content)}), [0, 2], {0: told, 2: told})  # fmt: skip
    content = bytearray(identified.files["single"])
    content[identified.messages[1] + 24 + 3] ^= 0x80
    put(cat, "2-root", "LKP-2 MSG-1", "a root far after the message",
        replace(identified, files={"single": bytes(content)}), [0, 2], {0: told, 2: told})  # fmt: skip


def summed(cat: Catalog) -> None:
    """LKP-3: if the index hides an extent, the sum in the footer does not match, before any block is read."""
    for paired in (False, True):
        more = "-paired" if paired else ""

        def hidden(fields: Fields) -> None:
            values = list(fields["offsets"])
            values[3] = values[4]
            fields["offsets"] = values

        output = replace(base.small(paired), statistics=True)
        output.regions[0].change = hidden
        built = build(output)
        told = fault("inconsistent-index", built.index, built.footer + 24)
        put(cat, f"3-hidden{more}", "LKP-3", "partition 3's extent is hidden", built, [0, 3], {3: told})
        outsider = replace(base.small(paired), statistics=True)
        outsider.regions[0].change = lambda fields: fields["shared"][1].update(members=b"\x08")
        built = build(outsider)
        told = fault("inconsistent-index", built.index, built.footer + 24)
        put(cat, f"3-members{more}", "LKP-3", "partition 1 lost its part of a multicast", built, [0, 1], {1: told})


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (found, passed_over, refused, summed):
        part(cat)
