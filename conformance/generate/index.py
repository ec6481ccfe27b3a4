"""Cases of the footer, region messages and the schema: FTR, REG, SCH."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from . import base
from .catalog import Catalog, fault
from .message import Fields, canonical
from .output import Built, Output, Region, Shared, arrow_message, build
from .raw import MERGED, NOBODY, OPAQUE, Block, Header, pad8, run, u32
from .tails import largest_message

Change = Callable[[Fields], None]


def setting(**values: Any) -> Change:
    """A change that sets fields."""
    return lambda fields: fields.update(values)


def footers(cat: Catalog) -> None:
    """FTR-2 to FTR-5, by structurally valid footers with wrong values."""

    def entry(number: int, **values: Any) -> Change:
        names = ("message_offset", "message_size", "flags", "data_offset", "data_length")

        def change(fields: Fields) -> None:
            regions = list(fields["regions"])
            old = dict(zip(names, regions[number], strict=True))
            new = {n: (v(old[n]) if callable(v) else v) for n, v in values.items()}
            regions[number] = tuple((old | new).values())
            fields["regions"] = regions

        return change

    def twice(fields: Fields) -> None:
        fields["regions"] = [fields["regions"][0], *fields["regions"]]

    def swapped(fields: Fields) -> None:
        fields["regions"] = fields["regions"][::-1]

    def keys(*names: str) -> Change:
        return setting(properties=[{"key": name, "value": "v"} for name in names])

    def numbers(name: str, count: int) -> Change:
        return setting(statistics={name: [24] * count})

    common: list[tuple[str, str, Change]] = [
        ("flags", "FTR-2", entry(0, flags=1)), ("flags-high", "FTR-2", entry(1, flags=1 << 31)),
        ("message-offset-4", "FTR-2", entry(1, message_offset=lambda v: v + 4)),
        ("message-offset-0", "FTR-2", entry(0, message_offset=0)),
        ("message-offset-most", "FTR-2 INT-4", entry(1, message_offset=(1 << 64) - 8)),
        ("message-size-past-footer", "FTR-2", entry(1, message_size=lambda v: v + 8)),
        ("message-size-most", "FTR-2 INT-4", entry(1, message_size=0xFFFFFFFF)),
        ("message-overlap", "FTR-2", entry(0, message_size=lambda v: pad8(v) + 256)),
        ("twice", "FTR-2 FTR-3", twice), ("swapped", "FTR-2 FTR-3", swapped),
        ("data-offset-less", "FTR-3 REG-3", entry(0, data_offset=lambda v: v - 8)),
        ("data-offset-more", "FTR-3 REG-3", entry(1, data_offset=lambda v: v + 8)),
        ("data-offset-wraps", "FTR-3 INT-4", entry(1, data_offset=(1 << 64) - 8)),
        ("data-length-less", "FTR-3 REG-3", entry(1, data_length=lambda v: v - 8)),
        ("data-length-more", "FTR-3 REG-3", entry(0, data_length=lambda v: v + 8)),
        ("data-length-odd", "FTR-3 REG-3", entry(1, data_length=lambda v: v - 4)),
        ("data-length-0", "FTR-3 REG-3", entry(0, data_length=0)),
        ("data-length-most", "FTR-3 INT-4", entry(1, data_length=(1 << 64) - 8)),
        ("data-size-less", "FTR-3", lambda f: f.update(data_size=f["data_size"] - 8)),
        ("data-size-more", "FTR-3", lambda f: f.update(data_size=f["data_size"] + 8)),
        ("data-size-0", "FTR-3", setting(data_size=0)),
        ("no-entries", "FTR-3", lambda f: f.pop("regions")),
        ("stored-3", "FTR-4", numbers("stored", 3)), ("stored-5", "FTR-4", numbers("stored", 5)),
        ("plain-3", "FTR-4", numbers("plain", 3)), ("records-0", "FTR-4", numbers("records", 0)),
        ("keys-descend", "FTR-5", keys("b", "a")), ("keys-equal", "FTR-5", keys("a", "a")),
        ("keys-utf-16-order", "FTR-5", keys("\U0001f600", "\uff5e")), ("keys-empty-last", "FTR-5", keys("a", "")),
        ("keys-prefix", "FTR-5", keys("ab", "a")),
    ]  # fmt: skip
    for name, clause, change in common:
        for paired in (False, True):
            if name in ("no-entries", "message-overlap") and not paired:
                continue  # in a single file, other checks of the same clause report it
            output = base.small(paired=paired)
            built = build(replace(output, change_footer=change))
            if name == "data-length-odd" and not paired:
                continue
            at = built.footer + 24
            cat.refused(f"{clause.split()[0].lower()}-{name}{'-paired' if paired else ''}", clause + " OPN-2",
                        f"a footer with a wrong value: {name}", built.files,
                        fault("inconsistent-index", built.index, at))  # fmt: skip
    cat.valid("ftr-5-keys", "FTR-5", "keys in the order of their UTF-8 bytes, not of UTF-16",
              replace(base.small(), properties={"": "empty", "a": "", "ab": "2", "\uff5e": "3", "\U0001f600": "4"}))  # fmt: skip
    control = {"\x1b[31m": "\x07\x00 controls \u202e", "line\nend": "\t"}
    cat.valid(
        "sec-4-control-characters",
        "SEC-4 FTR-5",
        "control characters are text",
        replace(base.small(), properties=control),
    )
    for paired in (False, True):
        more = "-paired" if paired else ""
        output = Output(Header(), [], paired=paired, change_footer=setting(data_size=72))
        built = build(output)
        cat.refused(f"ftr-3-no-regions-data-size{more}", "FTR-3", "a file without regions claims data", built.files,
                    fault("inconsistent-index", built.index, built.footer + 24))  # fmt: skip
    built = build(base.small(paired=True))
    data = built.files["data"]
    for cut in (1, 8, 100, len(data) - 64):
        cat.refused(f"opn-1-7-data-cut-{cut}", "OPN-1 FIL-1", f"the data file is {cut} bytes short",
                    {**built.files, "data": data[:-cut]}, fault("truncated", "data", len(data) - cut))  # fmt: skip
    for extra in (1, 8, 1000):
        cat.refused(f"opn-1-8-data-longer-{extra}", "OPN-1 FIL-1", f"the data file is {extra} bytes longer than it may be",
                    {**built.files, "data": data + bytes(extra)}, fault("inconsistent-index", "data", len(data)))  # fmt: skip
    shortened = build(replace(base.small(paired=True), change_footer=setting(data_size=64)))
    cat.refused("opn-1-order-6-8", "OPN-1 FTR-3", "the footer and the data file's size are both wrong",
                {"index": shortened.files["index"], "data": data + b"x"},
                fault("inconsistent-index", "index", shortened.footer + 24))  # fmt: skip


def regions(cat: Catalog) -> None:
    """REG-2 to REG-9, by structurally valid messages with wrong values."""

    def case(
        name: str, clause: str, change: Change, paired: bool = False, output: Output | None = None, number: int = 0
    ) -> None:
        output = output or base.small(paired=paired)
        output.regions[number].change = change
        built = build(output)
        # The directory is correct: only the message differs.
        right = [
            (f[0], f[1], f[2], d, n)
            for f, (d, n) in zip(built.footer_fields.get("regions", []), places_of_data(built), strict=True)
        ]
        output.change_footer = setting(regions=right)
        built = build(output)
        cat.bad_region(f"{clause.split()[0].lower()}-{name}", clause + " REG-10", f"a region message with a wrong value: {name}",
                       built, fault("inconsistent-index", built.index, built.messages[number] + 24))  # fmt: skip

    def add_to(name: str, at: int, by: int) -> Change:
        def change(fields: Fields) -> None:
            values = list(fields[name])
            values[at] += by
            fields[name] = values

        return change

    def lengths(*by: int) -> Change:
        def change(fields: Fields) -> None:
            for extent, more in zip(fields["shared"], by, strict=True):
                extent["length"] += more

        return change

    def wrapping(fields: Fields) -> None:
        total = sum(extent["length"] for extent in fields["shared"])
        fields["shared"][0]["length"] = 0xFFFFFFFD
        fields["shared"][1]["length"] = total + 3

    case("sequence", "REG-2", setting(sequence=1))
    case("sequence-most", "REG-2", setting(sequence=0xFFFFFFFF))
    case("sequence-again", "REG-2", setting(sequence=0), number=1)
    for paired in (False, True):
        more = "-paired" if paired else ""
        case(f"data-offset{more}", "REG-3", lambda f: f.update(data_offset=f["data_offset"] + 8), paired)
        case(f"data-offset-0{more}", "REG-3", setting(data_offset=0), paired)
        case(f"data-length{more}", "REG-3", lambda f: f.update(data_length=f["data_length"] - 8), paired)
        case(f"data-length-0{more}", "REG-3", setting(data_length=0), paired, number=1)
        case(f"data-length-most{more}", "REG-3 INT-4", setting(data_length=(1 << 64) - 8), paired)
    case("offsets-less", "REG-4", lambda f: f.update(offsets=f["offsets"][:-1]))
    case("offsets-more", "REG-4", lambda f: f.update(offsets=f["offsets"] + f["offsets"][-1:]))
    case("offsets-empty", "REG-4", setting(offsets=[]))
    case("offsets-first", "REG-4", add_to("offsets", 0, 1))
    case("offsets-descend", "REG-4", lambda f: f.update(offsets=[0, 20, 10, 15, f["offsets"][-1]]))
    case("offsets-most", "REG-4", lambda f: f.update(offsets=[0, 0xFFFFFFFF, 1, 2, f["offsets"][-1]]))
    case("offsets-sum-less", "REG-6", add_to("offsets", -1, -1))
    case("offsets-sum-more", "REG-6", add_to("offsets", -1, 1))
    case("shared-less", "REG-6", lengths(0, -1))
    case("shared-wraps", "REG-6 INT-4", wrapping)
    case(
        "shared-length-2",
        "REG-6",
        lambda f: f.update(
            shared=[
                {"length": f["shared"][0]["length"] - 2, "first_block": 0},
                {"length": 2, "first_block": 1},
                f["shared"][1],
            ]
        ),
    )
    case("shared-length-0", "REG-6", lambda f: f.update(shared=[*f["shared"], {"length": 0, "first_block": 9}]))
    some = Output(Header(partition_count=20), [Region(shared=[Shared([base.text("some")], [3, 19])])])
    case("members-short", "REG-7", lambda f: f["shared"][0].update(members=b"\x08\0"), output=some)
    case("members-long", "REG-7", lambda f: f["shared"][1].update(members=b"\x0a\x00"))
    case("members-bit-4", "REG-7", lambda f: f["shared"][1].update(members=b"\x1a"))
    case("members-bit-7", "REG-7", lambda f: f["shared"][1].update(members=b"\x8a"))
    case("rotation", "REG-5", setting(rotation=4))
    case("rotation-most", "REG-5", setting(rotation=0xFFFFFFFF))
    case("rotation-sparse", "REG-5", setting(rotation=1), number=1)
    case("partitions-short", "REG-4 REG-5", setting(partitions=[]), number=1)
    for name, numbers in (("outside", [4]), ("most", [NOBODY])):
        case(f"partitions-{name}", "REG-5", setting(partitions=numbers), number=1)
    sparse = {2: [base.text("two")], 5: [base.text("five")], 7: [base.text("seven")]}
    for name, numbers in (
        ("equal", [2, 5, 5]),
        ("descend", [5, 2, 7]),
        ("below", [0, 5, 7]),
        ("above", [2, 5, 21]),
        ("more", [2, 5, 7, 8]),
        ("less", [2, 5]),
    ):
        case(f"sparse-{name}", "REG-5 REG-4", setting(partitions=numbers),
             output=Output(Header(partition_count=20, first_partition=1), [Region(dict(sparse))]))  # fmt: skip
    empty = Output(Header(partition_count=20), [Region(dict(sparse))])
    case(
        "sparse-empty-slot",
        "REG-5",
        lambda f: f.update(partitions=[2, 3, 5, 7], offsets=[*f["offsets"][:2], *f["offsets"][1:]]),
        output=empty,
    )
    case("first-block-not-selective", "REG-9", setting(first_block=[0, 0, 0, 0]))
    for name, values in (("absent", None), ("short", [0, 0]), ("long", [0, 0, 0, 0, 0]), ("empty-slot", [0, 7, 0, 0])):
        case(f"first-block-{name}", "REG-9", setting(first_block=values), output=base.small(reader_features=1))
    runs_cases(case)


def places_of_data(built: Built) -> list[tuple[int, int]]:
    """The true offsets of the regions' data."""
    places = []
    for number, message in enumerate(built.messages):
        mine = [(offset, offset + block.size) for _, offset, block in built.region_blocks(number)]
        places.append((mine[0][0], mine[-1][1] - mine[0][0]))
        assert built.index == "index" or mine[-1][1] == message
    return places


def runs_cases(case: Callable[..., None]) -> None:
    """REG-8."""

    def output(producer: int = MERGED, shared: Sequence[Shared] = ()) -> Output:
        own = {0: [Block(b"a" * 8), Block(b"b" * 8)], 1: [Block(b"c" * 8)]}
        return Output(Header(partition_count=2, framing=OPAQUE, producer=producer), [Region(own, list(shared))])

    right = [run(1, 4), run(2, 4), run(1, 4)]
    wrongs = [
        ("empty", []), ("missing-last", right[:-1]), ("one-more", [*right, run(5, 3)]),
        ("length-0", [*right[:2], run(9, 0), *right[2:]]), ("crosses", [run(1, 4), run(2, 8, 2)]), ("short", [run(1, 3), *right[1:]]),
        ("wraps", [run(1, 0xFFFFFFFF), run(2, 9), *right[2:]]), ("blocks-0", [run(1, 4, 0), *right[1:]]),
        ("blocks-more", [run(1, 4, 2), *right[1:]]), ("blocks-most", [run(1, 4, 0xFFFFFFFF), *right[1:]]),
        ("first-and-blocks", [run(1, 8, 2, first=0xFFFFFFFF), right[2]]),
        ("flag-1", [run(1, 4, last=2), *right[1:]]), ("flag-31", [*right[:2], run(1, 4, last=1 << 31 | 1)]),
    ]  # fmt: skip
    for name, runs in wrongs:
        case(f"runs-{name}", "REG-8", setting(runs=runs), output=output())
    case("runs-not-merged", "REG-8", setting(runs=right), output=output(MERGED - 1))
    shared = [Shared([Block(b"d" * 8)])]
    case("runs-shared", "REG-8", setting(runs=right), output=output(MERGED, shared))
    case("runs-over-shared", "REG-8", setting(runs=[*right, run(3, 4)]), output=output(MERGED, shared))


def lookups(cat: Catalog) -> None:
    """REG-10: the region message's block."""
    rows: list[tuple[str, dict[str, Any], str, int]] = [
        ("04-checksum", {"checksum_xor": 2}, "checksum", 0), ("05-reserved", {"reserved": 256}, "malformed-block", 18),
        ("06a-kind", {"kind": 131}, "unsupported-feature", 16), ("06a-kind-191", {"kind": 191}, "unsupported-feature", 16),
        ("06b-data", {"kind": 0}, "malformed-block", 16), ("06b-63", {"kind": 63}, "malformed-block", 16),
        ("06a-kind-133", {"kind": 133}, "unsupported-feature", 16), ("06b-fragment-end", {"kind": 132}, "malformed-block", 16),
        ("07a-codec", {"codec": 77}, "unsupported-codec", 17), ("07b-codec", {"codec": 2, "plain_size": 9999}, "malformed-block", 17),
        ("08a-plain", {"plain_size": 3}, "malformed-block", 4), ("09-partition", {"partition": 1}, "inconsistent-index", 8),
    ]  # fmt: skip
    for paired in (False, True):
        for name, fields, code, at in rows:
            output = base.small(paired=paired)
            output.regions[1].block = fields
            built = build(output)
            clause = "REG-10 BLK-7" + (" BLK-5" if "codec" in name else "")
            cat.bad_region(f"reg-10-{name}{'-paired' if paired else ''}", clause, f"a region message's block fails check {name[:2]}",
                           built, fault(code, built.index, built.messages[1] + at))  # fmt: skip
    for kind in (129, 130, 192):
        output = base.small()
        output.regions[1].block = {"kind": kind}
        built = build(output)
        cat.bad_region(f"reg-10-06b-{kind}", "REG-10 BLK-7", f"kind {kind} where the directory has a region message", built,
                       fault("malformed-block", "single", built.messages[1] + 16))  # fmt: skip
    built = build(base.small())
    largest = largest_message(base.small())
    footer = len(canonical("Footer", built.footer_fields))
    if footer >= largest:
        raise ValueError("the footer would be refused first")
    cat.bad_region("reg-10-03-limit", "REG-10 LIM-1", "a region message above max_message_size", built,
                       fault("limit-exceeded", "single", built.messages[0]), request={"limits": {"max_message_size": largest - 1}})  # fmt: skip


def schemas(cat: Catalog) -> None:
    """SCH-1 to SCH-3."""
    good = base.SCHEMA
    batch = arrow_message(b"a batch")
    rows: list[tuple[str, dict[str, Any], str, int]] = [
        ("04-checksum", {"checksum_xor": 1}, "checksum", 0), ("05-reserved", {"reserved": 1}, "malformed-block", 18),
        ("06a-131", {"kind": 131}, "unsupported-feature", 16), ("06b-region", {"kind": 128}, "malformed-block", 16),
        ("06b-skippable", {"kind": 192}, "malformed-block", 16), ("07b-codec", {"codec": 2, "plain_size": 999}, "malformed-block", 17),
        ("09-partition", {"partition": 0}, "inconsistent-index", 8), ("10-sequence", {"sequence": 1}, "inconsistent-index", 12),
    ]  # fmt: skip
    for paired in (False, True):
        for name, fields, code, at in rows:
            built = build(replace(base.arrow([batch], good, paired), schema_block=fields))
            cat.refused(f"sch-1-{name}{'-paired' if paired else ''}", "SCH-1 BLK-7", f"the schema's block fails check {name[:3]}",
                        built.files, fault(code, built.index, 64 + at), features=["arrow"])  # fmt: skip
    for name, arrow in (("empty", b""), ("short", good[:7]), ("no-marker", b"\0" + good[1:]), ("length", good[:4] + u32(1 << 20) + good[8:]),
                        ("length-odd", good[:4] + u32(12) + good[8:]), ("length-0", good[:4] + u32(0) + good[8:])):  # fmt: skip
        built = build(base.arrow([batch], arrow))
        cat.refused(f"sch-1-arrow-{name}", "SCH-1 FRM-4", f"the schema is not an encapsulated message: {name}", built.files,
                    fault("malformed-message", "single", 88), features=["arrow"])  # fmt: skip
    built = build(replace(base.arrow([batch], good), schema=None))
    at = built.blocks[0][2]
    assert at == 64
    cat.refused("sch-1-absent", "SCH-1 BLK-7", "framing arrow, and a partition block where the schema must be", built.files,
                fault("malformed-block", "single", 64 + 16), features=["arrow"])  # fmt: skip
    built = build(replace(base.arrow([], good), schema=None, regions=[]))
    cat.refused("sch-1-absent-empty", "SCH-1 BLK-7", "framing arrow, without regions and schema", built.files,
                fault("malformed-block", "single", 64 + 16), features=["arrow"])  # fmt: skip
    cat.refused("opn-1-order-7-9", "OPN-1 SCH-1", "the data file is short and the schema is damaged",
                _short_data(build(replace(base.arrow([batch], good, True), schema_block={"reserved": 1}))),
                fault("truncated", "data", 64), features=["arrow"])  # fmt: skip


def _short_data(built: Built) -> dict[str, bytes]:
    return {**built.files, "data": built.files["data"][:64]}


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (footers, regions, lookups, schemas):
        part(cat)
