"""Cases of fragments: FRG."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import base
from .catalog import Catalog, fault, features_of
from .codecs import lz4_block, zstd_run
from .fragment import Fragment, fragment_of
from .model import Dictionary, Output, Region, Shared
from .output import arrow_message, build
from .raw import FRAGMENT, MERGED, OPAQUE, Block, Header, patch, seal_block, u32, u64
from .trained import OTHERS, WORDS, another, with_dictionary

Make = Callable[[], Fragment]


def producer(number: int = 7, attempt: int = 3, **header: Any) -> Header:
    """The header of a producer's output, P = 4."""
    return Header(**{"partition_count": 4, "framing": OPAQUE, "producer": number, "attempt": attempt, **header})


def two_regions(**header: Any) -> Output:
    """An output of two regions with events, without shared extents."""
    first = Region({0: [Block(b"zero, first"), base.event(b"mark")], 2: [Block(b"two, first"), Block(b"two, second")]})
    second = Region({0: [Block(b"zero, third")], 2: [Block(b"two, third")], 3: [Block(b"three")]})
    return Output(producer(**header), [first, second], paired=True)


def broadcasting() -> Output:
    """An output whose partitions read shared blocks between their own."""
    first = Region({0: [Block(b"own of zero")], 1: [Block(b"own of one")]},
                   [Shared([Block(b"to all")]), Shared([Block(b"to 1 and 3")], [1, 3])])  # fmt: skip
    return Output(
        producer(), [first, Region({1: [Block(b"own of one again")]}, [Shared([base.event(kind=64)])])], paired=True
    )


def compressed(paired: bool = True) -> Output:
    """Blocks of all codecs."""
    own = {0: [lz4_block(b"compress ", 180, b"literals")], 1: [zstd_run(b"z", 900), Block(b"stored")]}
    return Output(producer(), [Region(own)], paired=paired)


def selective() -> Output:
    """Sequences with gaps: the numbers of the blocks have none."""
    own = {1: [Block(b"third", sequence=3), Block(b"ninth", sequence=9)], 2: [Block(b"first")]}
    return Output(producer(reader_features=1), [Region(own)], paired=True)


def with_dictionaries() -> Output:
    """Blocks that name dictionaries 2 and 1, and none; dictionary 3 is not named."""
    own = {0: [with_dictionary("deposits", 2), Block(b"none")], 1: [with_dictionary("words", 1)], 2: [Block(b"plain")]}
    contents = [Dictionary(WORDS), Dictionary(OTHERS), Dictionary(another(WORDS))]
    return Output(producer(reader_features=2), [Region(own, dictionaries=contents)], paired=True)


def making(cat: Catalog) -> None:
    """FRG-6: fragments of outputs."""

    def case(
        name: str,
        clause: str,
        title: str,
        output: Output,
        partitions: tuple[int, int],
        numbers: tuple[int, int] | None = None,
    ) -> None:
        made = fragment_of(output, *partitions, numbers)
        request: dict[str, Any] = {"partitions": list(partitions)}
        if numbers is not None:
            request["numbers"] = list(numbers)
        data = made.encode() if made.blocks else None
        ok = {
            "blocks": len(made.blocks),
            "length": made.places[-1] if made.blocks else 0,
            "last": made.last and bool(made.blocks),
        }
        cat.add(f"frg-6-{name}", clause, title, "fragment", folder="fragment", files=build(output).files, request=request,
                expect={"ok": ok}, expect_files={"fragment": data}, features=features_of(output))  # fmt: skip
        if data is not None:
            cat.add(f"frg-{name}-read", "FRG-4 FRG-2", f"read: {title}", "fragments", folder="fragment", files={"fragment": data},
                    expect={"ok": {"fragments": [made.answer()]}}, features=[f for f in features_of(output) if f != "selective"])  # fmt: skip

    plain = two_regions()
    case("one", "FRG-6 FRG-2 FRG-3", "one partition of two regions", plain, (2, 1))
    case("all", "FRG-6 FRG-2", "all partitions, one of them without blocks", plain, (0, 4))
    case("range", "FRG-6 FRG-2", "a range of partitions", plain, (2, 2))
    case("none", "FRG-6", "a partition without blocks has no fragment", plain, (1, 1))
    case("numbers-first", "FRG-6 FRG-3", "the first two blocks of a partition: not the last", plain, (2, 1), (0, 2))
    case("numbers-rest", "FRG-6 FRG-3", "the last block of a partition", plain, (2, 1), (2, 3))
    case("numbers-beyond", "FRG-6", "numbers that the partition does not have", plain, (2, 1), (3, 9))
    case("numbers-most", "FRG-6", "numbers up to the largest", plain, (2, 1), (1, 0xFFFFFFFF))
    case("single", "FRG-6", "of a single file", replace(plain, paired=False), (0, 4))
    case(
        "first-partition",
        "FRG-6",
        "of an output of a range",
        Output(producer(first_partition=10), [Region({12: [Block(b"twelve")]})], True),
        (12, 2),
    )
    shared = broadcasting()
    for partition in range(4):
        case(
            f"shared-{partition}",
            "FRG-1 FRG-2 FRG-6",
            f"shared blocks have numbers in partition {partition}",
            shared,
            (partition, 1),
        )
    case("shared-all", "FRG-1 FRG-2 FRG-6", "a shared block once for each partition", shared, (0, 4))
    case("shared-numbers", "FRG-1 FRG-6", "numbers count shared blocks too", shared, (1, 1), (1, 3))
    case("codecs", "FRG-2 FRG-6", "payloads as they are stored", compressed(), (0, 4))
    case("selective", "FRG-1 FRG-6", "gaps of sequences are not gaps of numbers", selective(), (1, 2))
    many = with_dictionaries()
    case("dictionary-2", "FRG-2 FRG-6", "only the dictionary that is named", many, (0, 1))
    case("dictionaries", "FRG-2 FRG-6", "the dictionaries that are named, ascending", many, (0, 4))
    case("dictionary-none", "FRG-2 FRG-6", "no dictionary is named: no feature", many, (2, 1))
    arrow = base.arrow([arrow_message(b"batch"), arrow_message(b"more")], base.SCHEMA, True)
    case(
        "arrow",
        "FRG-2 FRG-6",
        "framing arrow has the schema block",
        replace(arrow, header=replace(arrow.header, producer=7)),
        (1, 1),
    )
    merged = Output(Header(partition_count=1, framing=OPAQUE, producer=MERGED), [Region({0: [Block(b"merged")]})], True)
    bad = {"error": {"code": "invalid-argument"}}
    files = build(merged).files
    cat.add("frg-6-of-merged", "FRG-6", "there are no fragments of a merged file", "fragment", folder="fragment", files=files,
            request={"partitions": [0, 1]}, expect=bad, expect_files={"fragment": None})  # fmt: skip
    for name, partitions in (("outside", [3, 2]), ("none-asked", [1, 0])):
        cat.add(f"frg-6-{name}", "FRG-6 PRT-2", "a range that the output does not have", "fragment", folder="fragment",
                files=build(plain).files, request={"partitions": partitions}, expect=bad, expect_files={"fragment": None})  # fmt: skip
    damaged = build(plain)
    at = next(offset for _, _, offset, _, block in damaged.blocks if block.plain == b"two, second")
    cat.add("frg-6-damaged", "FRG-6 PRT-3", "a damaged block of the output is not pushed", "fragment", folder="fragment",
            files={**damaged.files, "data": patch(damaged.files["data"], at + 24, b"T")}, request={"partitions": [2, 1]},
            expect=fault("checksum", "data", at), expect_files={"fragment": None})  # fmt: skip
    part = {"partitions": [2, 1], "numbers": [0, 1]}
    cat.add("frg-6-damaged-end", "FRG-6 PRT-3", "the block at the end of the numbers is read", "fragment", folder="fragment",
            files={**damaged.files, "data": patch(damaged.files["data"], at + 24, b"T")}, request=part,
            expect=fault("checksum", "data", at), expect_files={"fragment": None})  # fmt: skip
    first = fragment_of(plain, 2, 1, (0, 1))
    data = first.encode()
    ok = {"ok": {"blocks": 1, "length": first.places[-1], "last": False}}
    after = next(offset for _, _, offset, _, block in damaged.blocks if block.plain == b"two, third")
    message = damaged.messages[1]
    for name, role, where in (("block", "data", after + 24), ("message", "index", message + 24)):
        files = {**damaged.files, role: patch(damaged.files[role], where, b"\xff")}
        cat.add(f"frg-6-damaged-{name}-after", "FRG-6 PRT-3", f"what comes after the numbers is not looked at: a {name}",
                "fragment", folder="fragment", files=files, request=part, expect=ok,
                expect_files={"fragment": data})  # fmt: skip


def refused(cat: Catalog) -> None:
    """FRG-4: fragments with a fault."""

    def case(name: str, clause: str, title: str, data: bytes, bad: dict[str, Any], **more: Any) -> None:
        cat.add(
            f"frg-4-{name}", clause, title, "fragments", folder="fragment", files={"fragment": data}, expect=bad, **more
        )

    def of(code: str, offset: int) -> dict[str, Any]:
        return fault(code, "fragment", offset)

    right = fragment_of(two_regions(), 0, 4)
    whole = right.encode()
    places = list(right.places)
    for size in (1, 8, 63):
        case(f"01-cut-{size}", "FRG-4 HDR-1", "a header that is cut", whole[:size], of("truncated", size))
    for kind in (1, 2, 3):
        case(f"02-kind-{kind}", "FRG-4", "the header of another kind of file", replace(right, header=replace(right.header, kind=kind)).encode(),
             of("mismatched-pair", 8))  # fmt: skip
    case(
        "01-kind-4",
        "FRG-4 HDR-1",
        "a manifest",
        replace(right, header=replace(right.header, kind=4)).encode(),
        of("unsupported-feature", 8),
    )
    case("03-selective", "FRG-4", "the reader feature selective", replace(right, header=replace(right.header, reader_features=1)).encode(),
         of("unsupported-feature", 16))  # fmt: skip
    case("04-writer-feature", "FRG-4 HDR-4", "an unknown writer feature", replace(right, header=replace(right.header, writer_features=4)).encode(),
         of("unsupported-feature", 20))  # fmt: skip
    for n, at in enumerate(places):
        for size, name in ((at, "before"), (at + 23, "in-header"), (at + 24, "in-payload")):
            if size > 64 or n:
                case(
                    f"cut-{n}-{name}",
                    "FRG-4",
                    "the bytes end before the fragment does",
                    whole[:size],
                    of("truncated", size),
                )
    case("cut-last", "FRG-4", "the last byte is not there", whole[:-1], of("truncated", len(whole) - 1))
    first, end = places[0], places[-1]
    size = int.from_bytes(whole[first : first + 4], "little")

    def block(
        name: str,
        title: str,
        fields: dict[str, Any],
        code: str,
        offset: int,
        at: int = 1,
        clause: str = "FRG-4 BLK-7 CTX-1",
    ) -> None:
        blocks = list(right.blocks)
        blocks[at] = (*blocks[at][:2], replace(blocks[at][2], **fields))
        case(
            f"05-{name}",
            clause,
            title,
            replace(right, blocks=blocks).encode(),
            of(code, places[at % len(blocks)] + offset),
        )

    block("checksum", "a block's checksum", {"checksum_xor": 1}, "checksum", 0)
    block("dictionary", "a dictionary without the feature", {"reserved": 1}, "malformed-block", 18)
    block("kind-140", "a reserved kind", {"kind": 140}, "unsupported-feature", 16)
    block("kind-2", "a reserved kind of block", {"kind": 2}, "malformed-block", 16)
    block("kind-128", "a region message", {"kind": 128}, "malformed-block", 16)
    block("kind-131", "a dictionary block without the feature", {"kind": 131}, "unsupported-feature", 16)
    block("kind-192", "a metadata block that a reader of files may skip", {"kind": 192}, "malformed-block", 16)
    block("codec", "an unknown codec", {"codec": 3}, "unsupported-codec", 17, at=0)
    block("event-codec", "a compressed event", {"codec": 1}, "malformed-block", 17)
    block("plain-size", "the sizes of a block without codec differ", {"plain_size": 3}, "malformed-block", 4)
    block("empty", "a data block without bytes", {"plain": b""}, "malformed-block", 4, at=0)
    block(
        "partition-outside",
        "a partition outside of the fragment's range",
        {"partition": 4},
        "inconsistent-index",
        8,
        at=-2,
    )
    block("partition-shared", "no shared blocks in a fragment", {"partition": 0xFFFFFFFF}, "inconsistent-index", 8)
    block("partition-below", "partitions ascend", {"partition": 1}, "inconsistent-index", 8, at=-2)
    block("number-gap", "the numbers of a partition are consecutive", {"sequence": 2}, "inconsistent-index", 12)
    block("number-again", "a number twice", {"sequence": 0}, "inconsistent-index", 12)
    block("padding", "padding that is not zero", {"padding": b"\0\0\1\0"}, "malformed-block", 30)
    head = replace(right.header, partition_count=2)
    case("05-range", "FRG-4 CTX-3", "a block of a partition above the header's range", replace(right, header=head).encode(),
         of("inconsistent-index", places[3] + 8))  # fmt: skip
    case("05-limit", "FRG-4 LIM-1", "a block that is larger than the reader allows", whole, of("limit-exceeded", first),
         request={"limits": {"max_block_size": size - 1}})  # fmt: skip
    case("05-limit-not-whole", "FRG-4 LIM-1", "a limit is reported, or that the block is not whole", whole, of("limit-exceeded", first + 4),
         request={"limits": {"max_plain_size": size - 1}})  # fmt: skip
    for name, title, change, offset in (
        ("length", "the end block's length", {"length": end - 8}, 24), ("length-0", "the end block's length is 0", {"length": 0}, 24),
        ("blocks", "the end block's count", {"count": len(right.blocks) + 1}, 24), ("flags", "an unknown flag", {"flags": 2}, 24),
        ("flags-most", "all flags", {"flags": 0xFFFFFFFF}, 24),
    ):  # fmt: skip
        case(
            f"09-{name}",
            "FRG-4 FRG-3",
            title,
            replace(right, **dict[str, Any](change)).encode(),
            of("inconsistent-index", end + offset),
        )
    for name, payload in (("short", bytes(8)), ("long", bytes(24)), ("empty", b"")):
        case(
            f"08-{name}",
            "FRG-4 FRG-3",
            "an end block of another size",
            replace(right, end={"plain": payload}).encode(),
            of("malformed-block", end),
        )
    for name, fields, code, offset in (
        ("checksum", {"checksum_xor": 4}, "checksum", 0), ("sequence", {"sequence": 1}, "inconsistent-index", 12),
        ("partition", {"partition": 0}, "inconsistent-index", 8), ("codec", {"codec": 1}, "malformed-block", 17),
        ("dictionary", {"reserved": 2}, "malformed-block", 18),
    ):  # fmt: skip
        case(
            f"end-{name}",
            "FRG-4 FRG-3 BLK-7",
            f"the end block: {name}",
            replace(right, end=fields).encode(),
            of(code, end + offset),
        )
    none = replace(right, blocks=[])
    case("no-blocks", "FRG-4 FRG-2", "a fragment without blocks", none.encode(), of("malformed-block", 64 + 16))
    after = whole + b"\0" * 24
    case("10-after", "FRG-4 FRG-5", "zeros where the next fragment of the stream would begin", after, of("not-faro", 0))
    torn = seal_block(patch(whole, end + 24, u64(end) + u32(len(right.blocks)) + u32(1)), end)
    assert torn == whole
    order = replace(
        right,
        blocks=[(*right.blocks[0][:2], replace(right.blocks[0][2], checksum_xor=1, reserved=1)), *right.blocks[1:]],
    )
    case("order-4-5", "FRG-4 BLK-7", "damage is reported as damage", order.encode(), of("checksum", first))
    dictionary_faults(cat, case, of)
    arrow_faults(case, of)


def dictionary_faults(cat: Catalog, case: Callable[..., None], of: Callable[[str, int], Any]) -> None:
    """Dictionaries in fragments."""
    many = fragment_of(with_dictionaries(), 0, 4)
    many.encode()
    place, words = list(many.places), many.dictionaries[0][1]
    feature = {"features": ["zstd", "dictionaries"]}
    case("dic-not-ascending", "FRG-4 CTX-3", "dictionaries ascend", replace(many, dictionaries=many.dictionaries[::-1]).encode(),
         of("inconsistent-index", place[1] + 18), **feature)  # fmt: skip
    case("dic-zero", "FRG-4 CTX-3", "a dictionary without a number", replace(many, dictionaries=[(0, words), *many.dictionaries]).encode(),
         of("inconsistent-index", place[0] + 18), **feature)  # fmt: skip
    case("dic-missing", "FRG-4 BLK-7", "a block names a dictionary that the fragment does not have", replace(many, dictionaries=many.dictionaries[:1]).encode(),
         of("inconsistent-index", place[1] + 18), **feature)  # fmt: skip
    case("dic-not-one", "FRG-4 DIC-4", "no Zstandard dictionary", replace(many, dictionaries=[(1, b"no dictionary"), many.dictionaries[1]]).encode(),
         of("malformed-block", place[0] + 24), **feature)  # fmt: skip
    late = replace(many, blocks=[many.blocks[0], (0, 1, Block(words, kind=131, dictionary=3)), *many.blocks[1:]])
    case("dic-after-block", "FRG-4 CTX-1", "a dictionary after a partition block", late.encode(),
         of("malformed-block", place[3] + 16), **feature)  # fmt: skip
    case("dic-limit", "FRG-4 LIM-1", "more dictionaries than the reader allows", many.encode(), of("limit-exceeded", place[1]),
         request={"limits": {"max_dictionaries": 1}}, **feature)  # fmt: skip


def arrow_faults(case: Callable[..., None], of: Callable[[str, int], Any]) -> None:
    """The schema block of fragments."""
    output = base.arrow([arrow_message(b"batch")], base.SCHEMA, True)
    right = fragment_of(replace(output, header=replace(output.header, producer=7)), 1)
    right.encode()
    feature = {"features": ["arrow"]}
    case("schema-missing", "FRG-4 CTX-1", "framing arrow without a schema block", replace(right, schema=None).encode(),
         of("malformed-block", 64 + 16), **feature)  # fmt: skip
    case("schema-not-arrow", "FRG-4 CTX-1", "a schema block in another framing",
         replace(right, header=replace(right.header, framing=OPAQUE)).encode(), of("malformed-block", 64 + 16), **feature)  # fmt: skip
    case(
        "schema-short",
        "FRG-4 SCH-1",
        "a schema that is not encapsulated",
        replace(right, schema=b"short").encode(),
        of("malformed-message", 88),
        **feature,
    )
    case("schema-message", "FRG-4 MSG-13", "a schema message that is not one", replace(right, schema_block={"plain": bytes(16)}).encode(),
         of("malformed-message", 88), **feature)  # fmt: skip
    case("schema-sequence", "FRG-4 CTX-3", "the sequence of a schema block", replace(right, schema_block={"sequence": 1}).encode(),
         of("inconsistent-index", 64 + 12), **feature)  # fmt: skip


def streams(cat: Catalog) -> None:
    """FRG-5."""
    one, two = fragment_of(two_regions(), 2, 1, (0, 2)), fragment_of(two_regions(), 2, 1, (2, 3))
    other = fragment_of(compressed(), 0, 4)
    other.header = replace(other.header, file_id=bytes(range(16)), producer=8)
    all_of_them = [one, two, other]
    cat.add("frg-5-stream", "FRG-5", "fragments of two outputs, one after another", "fragments", folder="fragment", features=["lz4", "zstd"],
            files={"fragment": b"".join(f.encode() for f in all_of_them)}, expect={"ok": {"fragments": [f.answer() for f in all_of_them]}})  # fmt: skip
    cat.add(
        "frg-5-empty",
        "FRG-5",
        "a stream of no fragments",
        "fragments",
        folder="fragment",
        files={"fragment": b""},
        expect={"ok": {"fragments": []}},
    )
    first = one.encode()
    cat.add("frg-5-damaged", "FRG-5 FRG-4", "offsets count in the fragment", "fragments", folder="fragment",
            files={"fragment": first + patch(two.encode(), 70, b"\xff")}, expect=fault("checksum", "fragment", 64))  # fmt: skip
    cat.add("frg-5-cut", "FRG-5 FRG-4", "the second fragment is cut", "fragments", folder="fragment",
            files={"fragment": first + two.encode()[:100]}, expect=fault("truncated", "fragment", 100))  # fmt: skip
    assert one.header.kind == FRAGMENT


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (making, refused, streams):
        part(cat)
