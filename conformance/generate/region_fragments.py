"""Cases of fragments of merged files: FRG-7; and of merges that know the names of their shuffle: MRG-7."""

from __future__ import annotations

import hashlib
import struct
import uuid
from dataclasses import replace

from . import base
from .catalog import Catalog, fault, features_of
from .fragment import Fragment, Merge, fragment_of
from .fragments import compressed, producer, two_regions, with_dictionaries
from .merging import HEAD, options, output_of, put, steps_of
from .model import Dictionary, Output, Region
from .output import Answer, arrow_message, build
from .provenance import merged
from .raw import FILE_ID, FRAGMENT, Block, patch, run
from .trained import WORDS, with_dictionary

APPLICATION, SHUFFLE = "application_1", "12"
NAMES = {"application": APPLICATION, "shuffle": SHUFFLE}


def output_id(whose: int, attempt: int, application: str = APPLICATION, shuffle: str = SHUFFLE) -> bytes:
    """NAM-1 for an output."""
    raw = b""
    for text in ("output", application, shuffle):
        raw += struct.pack("<I", len(text.encode())) + text.encode()
    digest = bytearray(hashlib.sha256(raw + struct.pack("<QQ", whose, attempt)).digest()[:16])
    digest[6] = 0x80 | digest[6] & 0x0F
    digest[8] = 0x80 | digest[8] & 0x3F
    made = uuid.UUID(bytes=bytes(digest))
    assert made.version == 8
    return made.bytes


def fragments_of(output: Output, number: int) -> list[Fragment]:
    """FRG-7 for a region."""
    region = output.regions[number]
    contents = [one.content for each in output.regions for one in each.dictionaries]
    left = list(region.runs or [])
    found = []
    for partition, extent in region.own.items():
        at = 0
        while at < len(extent):
            whose, attempt, first, count, _, flags = left.pop(0)
            mine = [replace(block, sequence=None, partition=None) for block in extent[at : at + count]]
            named = sorted({block.dictionary for block in mine} - {0})
            head = replace(output.header, kind=FRAGMENT, producer=whose, attempt=attempt, first_partition=partition,
                           partition_count=1, reader_features=2 if named else 0, writer_features=0,
                           file_id=output_id(whose, attempt))  # fmt: skip
            blocks = [(partition, first + n, block) for n, block in enumerate(mine)]
            found.append(Fragment(head, blocks, bool(flags & 1), [(n, contents[n - 1]) for n in named], output.schema))
            at += count
    assert not left
    return found


def regions(cat: Catalog) -> None:
    """FRG-7: what is made."""

    def case(name: str, title: str, output: Output, number: int, clause: str = "FRG-7", **more: list[str]) -> None:
        made = fragments_of(output, number)
        data = b"".join(one.encode() for one in made)
        features = more.get("features", features_of(output))
        cat.add(f"frg-7-{name}", clause, title, "region_fragments", folder="fragment", files=build(output).files,
                request={"region": number, "names": NAMES}, expect={"ok": {"length": len(data)}},
                expect_files={"fragment": data}, features=features)  # fmt: skip
        cat.add(f"frg-7-{name}-read", "FRG-5 FRG-7", f"read: {title}", "fragments", folder="fragment",
                files={"fragment": data}, expect={"ok": {"fragments": [one.answer() for one in made]}},
                features=features)  # fmt: skip

    output, _ = merged()
    case("first", "two producers in one partition, neither complete", output, 0)
    case("numbers", "numbers go on where the region before ended, as sequences do", output, 1)
    case("partitions", "several partitions, two producers", output, 2)
    merge = Merge(HEAD)
    merge.push(fragment_of(compressed(), 0, 2))
    merge.end()
    case("compressed", "payloads stay compressed", merge.output(), 0)
    one = Merge(HEAD)
    one.push(fragment_of(two_regions(), 0, 1, (0, 2)))
    one.push(fragment_of(two_regions(), 0, 1, (2, 9)))
    one.end()
    case("twice", "two runs of one producer in a partition are two fragments", one.output(), 0)
    most = Output(
        producer((1 << 64) - 2, (1 << 64) - 1, file_id=bytes(16)), [Region({3: [Block(b"most")]})], paired=True
    )
    merge = Merge(HEAD)
    merge.push(fragment_of(most, 3))
    merge.end()
    case("most", "a producer and an attempt of 64 bits", merge.output(), 0)
    with_feature = replace(HEAD, reader_features=2)
    other = Output(producer(9, reader_features=2, file_id=bytes([9]) * 16),
                   [Region({0: [with_dictionary("words", 1)], 3: [Block(b"none")]}, dictionaries=[Dictionary(WORDS)])],
                   paired=True)  # fmt: skip
    merge = Merge(with_feature)
    merge.push(fragment_of(with_dictionaries(), 0, 4))
    merge.push(fragment_of(other, 0, 4))
    merge.end()
    for number in range(len(merge.regions)):
        case(
            f"dictionaries-{number}",
            "the dictionaries that a run names, with their numbers in the merged file",
            merge.output(),
            number,
            "FRG-7 FRG-2",
            features=["zstd", "dictionaries"],
        )
    arrow = replace(HEAD, framing=2)
    batches = base.arrow([arrow_message(b"batch"), arrow_message(b"more")], base.SCHEMA, True)
    batches.header = replace(batches.header, producer=7, file_id=FILE_ID)
    merge = Merge(arrow, schema=base.SCHEMA)
    merge.push(fragment_of(batches, 1))
    merge.end()
    case("arrow", "the schema is in each fragment", merge.output(), 0, features=["arrow"])


def faults(cat: Catalog) -> None:
    """FRG-7: what is refused."""
    output, _ = merged()
    built = build(output)

    def case(name: str, clause: str, title: str, files: dict[str, bytes], number: int, bad: Answer) -> None:
        cat.add(f"frg-7-{name}", clause, title, "region_fragments", folder="fragment", files=files,
                request={"region": number, "names": NAMES}, expect=bad, expect_files={"fragment": None})  # fmt: skip

    case("outside", "FRG-7", "a region that the file does not have", built.files, 3, fault("invalid-argument"))
    case("not-merged", "FRG-7", "the output of one producer", build(two_regions()).files, 0, fault("invalid-argument"))
    first = 64
    data = patch(built.files["data"], first + 25, b"!")
    case(
        "damaged", "FRG-7 BLK-7", "a damaged block", {**built.files, "data": data}, 0, fault("checksum", "data", first)
    )
    own = output.regions[0].own[0]
    second = first + own[0].size
    data = patch(built.files["data"], second + 25, b"!")
    case("damaged-run", "FRG-7 BLK-7", "a damaged block of the second run", {**built.files, "data": data}, 0,
         fault("checksum", "data", second))  # fmt: skip
    runs = list(output.regions[0].runs or [])
    length = [one[4] for one in runs]
    rows = (
        ("moved", [run(7, length[0] + 1, 1, 0, 3), run(3, length[1] - 1, 2, 0, 0)], "a run that ends inside a block"),
        ("fewer", [runs[0], run(3, length[1], 1, 0, 0)], "a run of more blocks than it says"),
        ("more", [runs[0], run(3, length[1], 3, 0, 0)], "a run of fewer blocks than it says"),
    )
    for name, changed, title in rows:
        parts = [replace(output.regions[0], runs=changed), *output.regions[1:]]
        made = build(replace(output, regions=parts))
        bad = fault("inconsistent-index", "index", made.messages[0] + 24)
        case(name, "FRG-7 MRG-3", title, made.files, 0, bad)
    again = [run(7, (output.regions[1].runs or [])[0][4], 2, 0, 3, 1)]
    parts = [output.regions[0], replace(output.regions[1], runs=again), output.regions[2]]
    made = build(replace(output, regions=parts))
    bad = fault("inconsistent-index", "index", made.messages[1] + 24)
    case("contradiction", "FRG-7 MRG-2", "runs that contradict those of a region before", made.files, 1, bad)
    case("contradiction-before", "FRG-7 MRG-2", "the same, of a region before", made.files, 2, bad)
    first_again = [run(7, length[0], 1, 1, 3), *runs[1:]]
    made = build(replace(output, regions=[replace(output.regions[0], runs=first_again), *output.regions[1:]]))
    index = patch(made.files["index"], made.messages[1] + 24, b"?")
    bad = fault("inconsistent-index", "index", made.messages[0] + 24)
    case("two-faults", "FRG-7 MRG-2 REG-10", "runs that contradict each other, in front of a damaged region message",
         {**made.files, "index": index}, 1, bad)  # fmt: skip
    bad = fault("checksum", "index", built.messages[1])
    index = patch(built.files["index"], built.messages[1] + 24, b"?")
    case("message", "FRG-7 REG-10", "a damaged message of the region before", {**built.files, "index": index}, 2, bad)
    gap = list(output.regions[0].own[0])
    gap[2] = replace(gap[2], sequence=7)
    made = build(replace(output, regions=[replace(output.regions[0], own={0: gap}), *output.regions[1:]]))
    at = first + gap[0].size + gap[1].size
    case("gap", "FRG-7 BLK-7", "a sequence that is not one above that of the block before", made.files, 0,
         fault("inconsistent-index", "data", at + 12))  # fmt: skip


def names(cat: Catalog) -> None:
    """MRG-7: a merge that knows the names of its shuffle."""

    def of(whose: int, attempt: int, file_id: bytes) -> Fragment:
        output = output_of(whose, attempt=attempt)
        return fragment_of(replace(output, header=replace(output.header, file_id=file_id)), 0, 4)

    given = options(names=NAMES)
    bad = fault("mismatched-pair", "fragment", 40)
    s = steps_of()
    s.push(of(3, 1, output_id(3, 1)))
    s.refused(of(7, 1, output_id(7, 2)).encode(), bad)
    s.refused(of(7, 1, output_id(8, 1)).encode(), bad)
    s.refused(of(7, 1, output_id(7, 1, application="application_2")).encode(), bad)
    s.refused(of(7, 1, output_id(7, 1, shuffle="13")).encode(), bad)
    s.refused(of(7, 1, output_id(7, 1, application=SHUFFLE, shuffle=APPLICATION)).encode(), bad)
    s.push(of(7, 1, output_id(7, 1)))
    s.finalize()
    put(cat, "names", "MRG-7 NAM-1", "a fragment of another shuffle, producer or attempt is refused", s, opts=given)
    s = steps_of()
    s.push(of(3, 1, output_id(3, 1)))
    s.refused(of(3, 2, bytes(16)).encode(), bad, whose=3)
    s.push(of(3, 2, output_id(3, 2)))
    wrong = of(7, 1, bytes(16))
    far = replace(wrong, header=replace(wrong.header, reader_features=2))
    s.refused(far.encode(), fault("mismatched-pair", "fragment", 16))
    s.finalize()
    put(cat, "names-order", "MRG-7", "the file_id comes after the features and before the attempt", s, opts=given)


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (regions, faults, names):
        part(cat)
