"""Cases of what a reader of a merged file answers: MRG-2, MRG-3, MRG-11 to MRG-13; and of names: NAM-1."""

from __future__ import annotations

import hashlib
import struct
import uuid
from dataclasses import replace

from .catalog import Catalog, fault, features_of
from .fragment import Merge, delivered, fragment_of, numbered, provenance_answer
from .fragments import broadcasting, two_regions
from .merging import HEAD, output_of
from .model import Output, Region
from .output import Answer, build
from .raw import MERGED, Block, patch, run

Expected = list[tuple[int, int]]


def named(expected: Expected) -> list[Answer]:
    """Producers and attempts, as requests name them."""
    return [{"producer": str(producer), "attempt": str(attempt)} for producer, attempt in expected]


def merged() -> tuple[Output, dict[int, Output]]:
    """A merged file, and its originals by producer.

    Producer 7 is whole, in runs of three regions; 3 has only the first two blocks of partition 0, and 5 has another
    attempt than its original; 9 is not there.
    """
    originals = {7: two_regions(), 3: output_of(3, blocks=4), 5: output_of(5, attempt=1), 9: output_of(9, attempt=2)}
    merge = Merge(HEAD)
    merge.push(fragment_of(originals[7], 0, 1, (0, 1)))
    merge.push(fragment_of(originals[3], 0, 1, (0, 2)))
    merge.end()
    merge.push(fragment_of(originals[7], 0, 1, (0, 3)))
    merge.end()
    merge.push(fragment_of(output_of(5), 0, 4))
    merge.push(fragment_of(originals[7], 2, 2))
    merge.end()
    return merge.output(), originals


def asked(cat: Catalog) -> None:
    """MRG-11: runs, have, missing."""
    output, _ = merged()
    built = build(output)

    def case(name: str, title: str, partitions: list[int], expected: Expected, clause: str = "MRG-11") -> None:
        ok = {"partitions": {str(p): provenance_answer(output, p, expected) for p in partitions}}
        cat.add(f"mrg-provenance-{name}", clause, title, "provenance", folder="merge", files=built.files,
                request={"partitions": partitions, "expected": named(expected)}, expect={"ok": ok})  # fmt: skip

    every = [0, 1, 2, 3]
    case("all", "all partitions, all producers", every, [(3, 0), (5, 1), (7, 3), (9, 2)])
    case("order", "the order in which producers are named makes no difference", [0], [(9, 2), (3, 0), (7, 3)])
    case("none-expected", "no producer is expected", every, [])
    case("attempts", "other attempts than those of the file", every, [(7, 2), (5, 0), (3, 1)])
    case("most", "producers and attempts of 64 bits", [0], [((1 << 64) - 2, (1 << 64) - 1), (0, 1 << 63)])
    request = {"partitions": [0], "expected": named([(7, 3), (3, 0), (7, 3)])}
    cat.add("mrg-provenance-twice", "MRG-11", "a producer is named twice", "provenance", folder="merge",
            files=built.files, request=request, expect=fault("invalid-argument"))  # fmt: skip
    request = {"partitions": [4], "expected": []}
    cat.add("mrg-provenance-outside", "MRG-11 PRT-2", "a partition outside", "provenance", folder="merge",
            files=built.files, request=request, expect=fault("invalid-argument"))  # fmt: skip
    alone = build(two_regions())
    cat.add("mrg-provenance-not-merged", "MRG-11", "a file of one producer has no runs", "provenance", folder="merge",
            files=alone.files, request={"partitions": [0], "expected": named([(7, 3)])},
            expect={"ok": {"partitions": {"0": {"runs": [], "have": [], "missing": [{**named([(7, 3)])[0], "from": 0}]}}}})  # fmt: skip


def prefixes(cat: Catalog) -> None:
    """MRG-2 and MRG-3: runs that contradict each other, or their bytes."""
    output, _ = merged()
    first, second, third = (list(region.runs or []) for region in output.regions)
    length = [one[4] for one in (*first, *second)]
    rows = (
        ("first-number", 0, [run(7, length[0], 1, 1, 3), *first[1:]], "a first run that begins at number 1"),
        ("number-again", 1, [run(7, length[2], 2, 0, 3, 1)], "a run that begins at a number that is there"),
        ("number-gap", 1, [run(7, length[2], 2, 2, 3, 1)], "a run that leaves a number out"),
        ("attempt", 1, [run(7, length[2], 2, 1, 4, 1)], "two attempts of a producer in one partition"),
        ("attempt-partition", 2, [*third[:2], (7, 4, *third[2][2:]), *third[3:]], "two attempts in two partitions"),
        ("after-last", 0, [run(7, length[0], 1, 0, 3, 1), *first[1:]], "a run after the last"),
    )
    for name, number, runs, title in rows:
        regions = list(output.regions)
        regions[number] = replace(regions[number], runs=runs)
        built = build(replace(output, regions=regions))
        broken = 1 if name == "after-last" else number
        bad = fault("inconsistent-index", "index", built.messages[broken] + 24)
        cat.bad_check(f"mrg-2-{name}", "MRG-2 CHK-1", title, built, bad)
        partition = 2 if name == "attempt-partition" else 0
        cat.add(f"mrg-2-{name}-provenance", "MRG-2 MRG-11", title, "provenance", folder="merge", files=built.files,
                request={"partitions": [partition], "expected": []}, expect=bad)  # fmt: skip
    most = Region({0: [Block(b"first"), Block(b"other")]}, runs=[run(1, 8, 2, 0xFFFFFFFE, (1 << 64) - 1, 1)])
    built = build(Output(replace(HEAD, producer=MERGED), [most], True))
    bad = fault("inconsistent-index", "index", built.messages[0] + 24)
    cat.bad_check("mrg-2-most", "MRG-2 REG-8", "the last blocks that a run can number", built, bad)
    moved = [run(7, length[0] + 1, 1, 0, 3), run(3, length[1] - 1, 2, 0, 0)]
    fewer = [first[0], run(3, length[1], 1, 0, 0)]
    more = [first[0], run(3, length[1], 3, 0, 0)]
    rows3 = (
        ("moved", moved, "a run that ends inside a block"),
        ("fewer", fewer, "a run of more blocks than it says"),
        ("more", more, "a run of fewer blocks than it says"),
    )
    for name, runs, title in rows3:
        regions = [replace(output.regions[0], runs=runs), *output.regions[1:]]
        built = build(replace(output, regions=regions))
        bad = fault("inconsistent-index", "index", built.messages[0] + 24)
        cat.bad_check(f"mrg-3-{name}", "MRG-3 CHK-1", title, built, bad, level="checksums")


def with_originals(cat: Catalog) -> None:
    """MRG-12 and MRG-13: each block once."""
    output, originals = merged()
    built = build(output)
    files = {str(number): build(one).files for number, one in originals.items()}

    def case(
        name: str, title: str, expected: Expected, runs: list[tuple[int, int, list[Block]]], faults: list[Answer], *,
        clause: str = "MRG-12", partition: int = 0, data: bytes | None = None, index: bytes | None = None,
        merged_files: Answer | None = None,
    ) -> None:  # fmt: skip
        """`runs`: what step 1 delivers."""
        blocks = [(producer, first + n, block) for producer, first, found in runs for n, block in enumerate(found)]
        counts = {producer: sum(whose == producer for whose, _, _ in blocks) for producer, _ in expected}
        rest = [
            (producer, n, block)
            for producer, _ in sorted(expected)
            for n, block in enumerate(numbered(originals[producer], partition))
            if n >= counts[producer]
        ]
        ok = {"blocks": len(blocks) + len(rest), "from_originals": len(rest), "faults": faults,
              "sha256": delivered(blocks + rest)}  # fmt: skip
        given = dict(merged_files or built.files)
        given |= {role: content for role, content in (("data", data), ("index", index)) if content is not None}
        # A producer without blocks is never complete.
        every = {producer: len(numbered(originals[producer], partition)) for producer, _ in expected}
        wanted = {producer for producer, count in every.items() if count == 0 or counts[producer] < count}
        cat.add(f"mrg-read-{name}", clause, title, "read_merged", folder="merge", files=given,
                originals={whose: one for whose, one in files.items() if int(whose) in wanted},
                request={"partition": partition, "expected": named(expected)}, expect={"ok": ok},
                features=features_of(output))  # fmt: skip

    def of(producer: int, low: int, high: int, partition: int = 0) -> tuple[int, int, list[Block]]:
        return producer, low, numbered(originals[producer], partition)[low:high]

    def bad(block: int) -> Answer:
        return {"code": "checksum", "file": "data", "offset": place[block]}

    every: Expected = [(7, 3), (3, 0), (5, 1), (9, 2)]
    case("all", "all producers", every, [of(7, 0, 1), of(3, 0, 2), of(7, 1, 3)], [])
    case("one", "one producer", [(7, 3)], [of(7, 0, 1), of(7, 1, 3)], [])
    case("none-expected", "no producer is expected", [], [], [])
    case("part", "a producer of which the file has a part", [(3, 0)], [of(3, 0, 2)], [])
    case("attempt", "another attempt: all of its original", [(5, 1)], [], [])
    case("partition-2", "another partition", every, [of(7, 0, 3, 2)], [], partition=2)
    case("partition-1", "a partition without blocks", every, [], [], partition=1)
    place = [at for region, _, at, _, _ in built.blocks if region < 2]
    data = built.files["data"]

    def harm(block: int) -> bytes:
        return patch(data, place[block] + 26, bytes([data[place[block] + 26] ^ 1]))

    case("damaged-first", "a damaged run: the original has it", every, [of(3, 0, 2)], [bad(0)],
         clause="MRG-13 MRG-12", data=harm(0))  # fmt: skip
    case("damaged-run", "a damaged block ends its run", every, [of(7, 0, 1), of(3, 0, 1), of(7, 1, 3)], [bad(2)],
         clause="MRG-13 MRG-12", data=harm(2))  # fmt: skip
    case("damaged-later", "a damaged block in a later run", every, [of(7, 0, 1), of(3, 0, 2), of(7, 1, 2)], [bad(4)],
         clause="MRG-13 MRG-12", data=harm(4))  # fmt: skip
    case("damaged-passed-over", "damage in a run that is passed over", [(7, 3)], [of(7, 0, 1), of(7, 1, 3)], [],
         clause="MRG-13 MRG-12", data=harm(1))  # fmt: skip
    index = built.files["index"]
    at = built.messages[1] + 30
    case("damaged-region", "a damaged region message", every, [of(7, 0, 1), of(3, 0, 2)],
         [{"code": "checksum", "file": "index", "offset": built.messages[1]}], clause="MRG-13 MRG-12",
         index=patch(index, at, bytes([index[at] ^ 1])))  # fmt: skip
    first = list(output.regions[0].runs or [])
    cat.add("mrg-read-original-missing", "MRG-12", "an original that is not given", "read_merged", folder="merge",
            files=built.files, originals={}, request={"partition": 0, "expected": named([(9, 2)])},
            expect=fault("invalid-argument"))  # fmt: skip
    moved = [run(7, first[0][4] + 1, 1, 0, 3), run(3, first[1][4] - 1, 2, 0, 0)]
    strange = build(replace(output, regions=[replace(output.regions[0], runs=moved), *output.regions[1:]]))
    message = {"code": "inconsistent-index", "file": "index", "offset": strange.messages[0] + 24}
    case("inside", "a run that ends inside a block", [(7, 3)], [of(7, 0, 1)], [message],
         clause="MRG-13 MRG-3", merged_files=strange.files)  # fmt: skip
    more = [first[0], run(3, first[1][4], 3, 0, 0)]
    strange = build(replace(output, regions=[replace(output.regions[0], runs=more), *output.regions[1:]]))
    message = {"code": "inconsistent-index", "file": "index", "offset": strange.messages[0] + 24}
    case("fewer-blocks", "a run of fewer blocks than it says", every, [of(7, 0, 1), of(3, 0, 2), of(7, 1, 3)],
         [message], clause="MRG-13 MRG-3", merged_files=strange.files)  # fmt: skip
    broken = dict(files)
    original = bytearray(broken["9"]["data"])
    original[64 + 26] ^= 1
    cat.add("mrg-read-original-damaged", "MRG-13", "a damaged original", "read_merged", folder="merge",
            files=built.files, originals={"9": {**broken["9"], "data": bytes(original)}},
            request={"partition": 0, "expected": named([(9, 2)])}, expect=fault("checksum", "data", 64))  # fmt: skip
    shared = broadcasting()
    merge = Merge(HEAD)
    merge.push(fragment_of(shared, 1, 1, (0, 3)))
    merge.end()
    half = merge.output()
    blocks = [(7, n, block) for n, block in enumerate(numbered(shared, 1))]
    ok = {"blocks": len(blocks), "from_originals": len(blocks) - 3, "faults": [], "sha256": delivered(blocks)}
    cat.add("mrg-read-shared", "MRG-12 FRG-1", "numbers count shared blocks", "read_merged", folder="merge",
            files=build(half).files, originals={"7": build(shared).files},
            request={"partition": 1, "expected": named([(7, 3)])}, expect={"ok": ok})  # fmt: skip


def names(cat: Catalog) -> None:
    """NAM-1: a file_id from names."""

    def text(value: str) -> bytes:
        raw = value.encode()
        return struct.pack("<I", len(raw)) + raw

    for number, (application, shuffle, producer, attempt) in enumerate(
        (("app-1", "shuffle-0", 0, 0), ("", "", 0, 0), ("\u00e9\U0001f600", "0", (1 << 64) - 2, (1 << 64) - 1))
    ):
        raw = text("output") + text(application) + text(shuffle) + struct.pack("<QQ", producer, attempt)
        request: Answer = {"names": {"application": application, "shuffle": shuffle, "producer": str(producer), "attempt": str(attempt)}}  # fmt: skip
        _name(cat, f"output-{number}", raw, request)
        raw = text("merged") + text(application) + text(shuffle) + struct.pack("<QI", attempt, number << 20)
        request = {"names": {"application": application, "shuffle": shuffle, "generation": str(attempt), "first_partition": number << 20}}  # fmt: skip
        _name(cat, f"merged-{number}", raw, request)


def _name(cat: Catalog, name: str, raw: bytes, request: Answer) -> None:
    made = bytearray(hashlib.sha256(raw).digest()[:16])
    made[6], made[8] = made[6] & 0x0F | 0x80, made[8] & 0x3F | 0x80
    assert uuid.UUID(bytes=bytes(made)).version == 8
    cat.add(f"nam-1-{name}", "NAM-1", "a file_id from names", "file_id", folder="merge", request=request,
            expect={"ok": {"file_id": made.hex()}})  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (asked, prefixes, with_originals, names):
        part(cat)
