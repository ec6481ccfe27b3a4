"""Cases of merging: MRG-1 and MRG-4 to MRG-10."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from . import base
from .catalog import LEVELS, Catalog, fault
from .fragment import Fragment, Merge, fragment_of
from .fragments import broadcasting, compressed, producer, selective, two_regions, with_dictionaries
from .model import Output, Region
from .output import Answer, arrow_message, block_count, build
from .raw import FILE_ID, MERGED, OPAQUE, Block, Header, patch
from .trained import with_dictionary

ID = bytes.fromhex("00112233445566778899aabbccddeeff")
HEAD = Header(partition_count=4, framing=OPAQUE, file_id=ID, producer=MERGED, attempt=5)


def options(header: Header = HEAD, **more: Any) -> Answer:
    """The options for a header."""
    framing = ("opaque", "records", "arrow")[header.framing]
    found = {"partition_count": header.partition_count, "framing": framing, "file_id": header.file_id.hex()}
    found |= {"generation": str(header.attempt)}
    if header.first_partition:
        found["first_partition"] = header.first_partition
    if header.reader_features & 2:
        found["dictionaries"] = True
    return found | more


def output_of(
    number: int, *, attempt: int = 0, blocks: int = 2, partitions: tuple[int, ...] = (0, 2), size: int = 10
) -> Output:
    """A producer's output with some blocks in each of some partitions."""
    own = {
        p: [Block(f"{number}.{attempt}.{p}.{n} ".encode().ljust(size, b"-")) for n in range(blocks)] for p in partitions
    }
    return Output(producer(number, attempt, file_id=bytes([number]) * 16), [Region(own)], paired=True)


@dataclass
class Steps:
    """The steps of a case, with the outcomes that they must have."""

    merge: Merge
    fragments: list[bytes] = field(default_factory=list)
    calls: list[Answer] = field(default_factory=list)
    outcomes: list[Answer] = field(default_factory=list)
    pushes: int = 0

    def call(self, outcome: str | Answer, call: str, **fields: Any) -> None:
        """Any step."""
        self.calls.append({"call": call, **fields})
        self.outcomes.append(outcome if isinstance(outcome, dict) else {"outcome": outcome})

    def number(self, data: bytes) -> int:
        """The index of a fragment's bytes among the fragments of the case."""
        if data not in self.fragments:
            self.fragments.append(data)
        return self.fragments.index(data)

    def begin(self, whose: int, generation: int = HEAD.attempt, outcome: str = "open") -> str:
        """Begins a push; its name."""
        self.pushes += 1
        name = f"push {self.pushes}"
        self.call(outcome, "begin", push=name, producer=str(whose), generation=str(generation))
        return name

    def write(
        self, push: str, data: bytes, outcome: str | Answer = "taken", start: int | None = None, to: int | None = None
    ) -> None:
        """Writes the bytes of a fragment, or a part of them."""
        part = {name: place for name, place in (("from", start), ("to", to)) if place is not None}
        self.call(outcome, "write", push=push, fragment=self.number(data), **part)

    def push(self, fragment: Fragment, pieces: int = 1) -> None:
        """A right fragment, pushed whole. The model says what comes of it."""
        outcome, data = self.merge.push(fragment), fragment.encode()
        push = self.begin(fragment.header.producer)
        early = outcome in ("gap", "other-attempt")
        step = -(-len(data) // pieces)
        for at in range(0, len(data), step):
            part = {} if pieces == 1 else {"start": at, "to": min(at + step, len(data))}
            self.write(push, data, outcome if early else "taken", **part)
        if not early:
            self.call(outcome, "commit", push=push)

    def refused(self, data: bytes, outcome: str | Answer, whose: int = 7, at: str = "write") -> None:
        """A push that is refused while it is written, or at its commit."""
        push = self.begin(whose)
        self.write(push, data, outcome if at == "write" else "taken")
        if at == "commit":
            self.call(outcome, "commit", push=push)

    def flush(self) -> None:
        """Ends the region."""
        self.merge.end()
        self.call("done", "flush")

    def finalize(self) -> None:
        """Ends the file."""
        self.merge.end()
        runs = sum(len(region.runs or []) for region in self.merge.regions)
        self.call({"outcome": "finalized", "runs": runs}, "finalize")


def put(
    cat: Catalog, name: str, clause: str, title: str, steps: Steps, *, finished: bool = True, mode: str = "create",
    opts: Answer | None = None, files: Answer | None = None, features: list[str] | None = None, **more: Any,
) -> None:  # fmt: skip
    """A case: the files are those of the model."""
    made = steps.merge.output(finished, **more.pop("footer", {}))
    request = {
        "mode": mode,
        "options": options(steps.merge.header) if opts is None else opts,
        "steps": steps.calls,
        **more.pop("request", {}),
    }
    check = {
        level: {"ok": {"regions": len(made.regions), "blocks": None if level == "structure" else block_count(made)}}
        for level in LEVELS
    }
    cat.add(f"mrg-{name}", clause, title, "merge", folder="merge", request=request, fragments=steps.fragments,
            expect={"ok": {"steps": steps.outcomes}}, expect_files=build(made).files if files is None else files,
            check=check if finished and files is None else None, features=features, **more)  # fmt: skip


def steps_of(header: Header = HEAD, **merge: Any) -> Steps:
    """No steps yet."""
    return Steps(Merge(header, **merge))


def merging(cat: Catalog) -> None:
    """MRG-7, MRG-9, MRG-10: what is appended, and where regions end."""
    s = steps_of()
    s.finalize()
    put(cat, "empty", "MRG-1 MRG-10 MRG-4", "a merge without pushes", s)
    s = steps_of()
    for number in (7, 3, 9):
        s.push(fragment_of(output_of(number), 0, 4))
    s.finalize()
    put(cat, "three", "MRG-7 MRG-9 MRG-1 REG-8", "three producers, partitions 0 and 2 of each", s)
    s = steps_of()
    for partition in (0, 2):
        for number in (7, 3, 9):
            s.push(fragment_of(output_of(number), partition))
    s.finalize()
    put(cat, "by-partition", "MRG-7 MRG-9", "partition by partition: one region", s)
    for size in (1, 64, 130, 1 << 31):
        s = steps_of(chunk_size=size)
        for number in (7, 3, 9):
            s.push(fragment_of(output_of(number, partitions=(1,)), 1))
        s.finalize()
        put(
            cat,
            f"chunk-{size}",
            "MRG-9 MRG-10",
            f"a region ends at {size} bytes or more",
            s,
            opts=options(chunk_size=size),
        )
    for pieces in (2, 7, 1000):
        s = steps_of()
        s.push(fragment_of(two_regions(), 0, 4), pieces)
        s.finalize()
        put(cat, f"pieces-{pieces}", "MRG-7", "the pieces of a fragment make no difference", s)
    for name, output, features in (
        ("shared", broadcasting(), []), ("codecs", compressed(), ["lz4", "zstd"]), ("selective", selective(), []),
    ):  # fmt: skip
        s = steps_of()
        for partition in range(4):
            fragment = fragment_of(output, partition)
            if fragment.blocks:
                s.push(fragment)
        s.push(fragment_of(output_of(3), 0, 4))
        s.finalize()
        put(cat, name, "MRG-7 FRG-1 BLK-9", f"blocks of an output that is {name}", s, features=features)
    wide = Header(partition_count=50, first_partition=1000, framing=OPAQUE, file_id=ID, attempt=5)
    s = steps_of(wide)
    s.push(
        fragment_of(
            Output(producer(4, first_partition=990, partition_count=100), [Region({1049: [Block(b"last")]})], True),
            1040,
            10,
        )
    )
    s.finalize()
    put(cat, "range", "MRG-7 MRG-10 SRT-8", "a file of a range of partitions, sparse", s)
    s = steps_of()
    s.push(fragment_of(output_of(7), 0, 4))
    s.flush()
    s.flush()
    s.push(fragment_of(output_of(8), 0, 4))
    s.finalize()
    put(cat, "flush", "MRG-10", "flush ends the region; a second one does nothing", s)
    s = steps_of()
    s.push(fragment_of(_far(), 0, 4))
    s.finalize()
    put(cat, "most", "MRG-7 REG-8", "the largest producer and attempt", s)
    s = steps_of()
    s.push(fragment_of(output_of(7), 0, 4))
    s.finalize()
    put(cat, "footer", "MRG-10 SRT-9", "created_by and properties", s, opts=options(created_by="a case", properties={"b": "2", "a": "1"}),
        footer={"created_by": "a case", "properties": {"a": "1", "b": "2"}})  # fmt: skip


def _far() -> Output:
    own = {0: [Block(b"far")]}
    return Output(producer((1 << 64) - 2, (1 << 64) - 1), [Region(own)], paired=True)


def repeated(cat: Catalog) -> None:
    """MRG-5 and MRG-7: blocks that the file has, gaps, attempts."""
    output = output_of(7, blocks=4, partitions=(1,))

    def part(low: int, high: int) -> Fragment:
        return fragment_of(output, 1, 1, (low, high))

    rows: list[tuple[str, str, list[Fragment]]] = [
        ("duplicate", "the same fragment twice", [part(0, 4), part(0, 4)]),
        ("pieces-in-order", "a partition in two fragments", [part(0, 2), part(2, 4)]),
        ("piece-again", "the first of two fragments twice", [part(0, 2), part(0, 2), part(2, 4)]),
        ("overlap", "a fragment that begins before the end of what is there", [part(0, 2), part(0, 4)]),
        ("overlap-inside", "a fragment that begins inside of what is there", [part(0, 3), part(1, 4)]),
        ("inside", "a fragment inside of what is there", [part(0, 4), part(1, 3)]),
        ("gap", "a fragment whose first blocks are not there", [part(1, 3)]),
        ("gap-later", "a gap after blocks that are there", [part(0, 2), part(3, 4), part(2, 4)]),
        ("other-attempt", "another attempt", [part(0, 2), fragment_of(output_of(7, attempt=1, partitions=(1,)), 1)]),
        (
            "other-attempt-below",
            "an earlier attempt",
            [fragment_of(output_of(7, attempt=1, partitions=(1,)), 1), part(0, 4)],
        ),
        (
            "other-attempt-partition",
            "another attempt for another partition",
            [part(0, 4), fragment_of(output_of(7, attempt=1), 0)],
        ),
        (
            "same-numbers",
            "other producers have numbers of their own",
            [part(0, 4), fragment_of(output_of(8, partitions=(1,)), 1)],
        ),
    ]
    for name, title, fragments in rows:
        for flush in (False, True):
            s = steps_of()
            for fragment in fragments:
                s.push(fragment)
                if flush:
                    s.flush()
            s.finalize()
            put(cat, f"{name}{'-committed' if flush else ''}", "MRG-5 MRG-7 MRG-8", title, s)
    s = steps_of()
    both = fragment_of(output_of(7), 0, 4)
    s.push(fragment_of(output_of(7), 0))
    s.push(both)
    s.finalize()
    put(cat, "half-there", "MRG-7 MRG-9", "one of two partitions is there", s)
    s = steps_of()
    s.push(replace(both, last=False))
    gap = Fragment(both.header, [*both.blocks[:2], (2, 3, Block(b"too far"))])
    s.push(gap)
    s.push(Fragment(replace(both.header, producer=8), [(0, 0, Block(b"fine")), (2, 1, Block(b"gap"))]))
    s.push(fragment_of(output_of(8), 0, 4))
    s.finalize()
    put(cat, "gap-after-blocks", "MRG-7 MRG-8 MRG-5", "blocks before a gap are taken back", s)
    s = steps_of()
    s.push(part(0, 4))
    longer = Fragment(part(0, 4).header, [(1, n, Block(b"more")) for n in range(3, 6)])
    data = longer.encode()
    s.refused(data, fault("inconsistent-index", "fragment", longer.places[1] + 12))
    s.finalize()
    put(cat, "after-last", "MRG-7 MRG-2", "a block after the last", s)


def turns(cat: Catalog) -> None:
    """MRG-5 and MRG-6: two pushes at once, late and stale ones."""
    one, two = fragment_of(output_of(7), 0, 4), fragment_of(output_of(8), 0, 4)
    first, second = one.encode(), two.encode()
    half = len(first) // 2
    s = steps_of()
    a, b = s.begin(7), s.begin(8)
    s.write(a, first, start=0, to=half)
    s.write(b, second)
    s.write(a, first, start=half, to=len(first))
    s.call(s.merge.push(one), "commit", push=a)
    s.call(s.merge.push(two), "commit", push=b)
    s.finalize()
    put(cat, "waits", "MRG-6", "the second push waits, and is appended at its commit", s)
    s = steps_of()
    a, b = s.begin(7), s.begin(8)
    s.write(b, second, start=0, to=10)
    s.write(a, first)
    s.call("collision", "commit", push=a)
    s.write(b, second, start=10, to=len(second))
    s.call(s.merge.push(two), "commit", push=b)
    s.finalize()
    put(cat, "collision-commit", "MRG-6 MRG-5", "a commit while another push has the turn", s)
    for room, outcome in ((len(second), "taken"), (len(second) - 1, "collision")):
        s = steps_of()
        a, b = s.begin(7), s.begin(8)
        s.write(a, first, start=0, to=half)
        s.write(b, second, outcome)
        s.call("done", "abort", push=a)
        if outcome == "taken":
            s.call(s.merge.push(two), "commit", push=b)
        s.finalize()
        put(cat, f"room-{outcome}", "MRG-6", "max_waiting is what may wait", s, opts=options(max_waiting=room))
    s = steps_of()
    a, b, c = s.begin(7), s.begin(8), s.begin(7)
    s.write(a, first, start=0, to=half)
    s.write(b, second)
    s.write(c, first)
    s.call("done", "abort", push=a)
    s.call(s.merge.push(two), "commit", push=b)
    s.call(s.merge.push(one), "commit", push=c)
    s.finalize()
    put(cat, "turn-after-abort", "MRG-6 MRG-8", "an aborted push leaves nothing and gives the turn back", s)
    s = steps_of()
    s.call("done", "release")
    s.push(one)
    s.call("done", "release")
    a = s.begin(8)
    s.write(a, second, start=0, to=half)
    s.call("done", "release")
    s.write(a, second, start=half)
    s.call(s.merge.push(two), "commit", push=a)
    s.call("done", "release")
    s.call("done", "release")
    s.finalize()
    s.call(fault("invalid-argument"), "release")
    put(cat, "release", "MRG-4 MRG-8", "released memory changes nothing in the file, also while a push appends", s)
    s = steps_of()
    a = s.begin(7)
    s.write(a, first, start=0, to=half)
    s.call("done", "release")
    s.call("done", "abort", push=a)
    s.call("done", "release")
    s.push(two)
    s.finalize()
    put(cat, "release-abort", "MRG-4 MRG-8", "an aborted push leaves nothing, whatever was released", s)
    s = steps_of()
    s.begin(7, 4, "stale")
    s.begin(7, 6, "stale")
    s.finalize()
    put(cat, "stale", "MRG-5", "another generation", s)
    s = steps_of()
    a, b = s.begin(7), s.begin(8)
    s.write(a, first)
    s.finalize()
    s.call("late", "commit", push=a)
    s.write(b, second, "late")
    s.begin(9, HEAD.attempt, "late")
    s.begin(9, 4, "late")
    s.call(fault("invalid-argument"), "finalize")
    s.call(fault("invalid-argument"), "flush")
    put(cat, "late", "MRG-5 MRG-10", "pushes of a finalized merge", s)
    s = steps_of()
    s.push(one)
    a = s.begin(8)
    s.write(a, second, start=0, to=64)
    s.call("done", "close")
    s.call("late", "commit", push=a)
    put(cat, "close", "MRG-10 MRG-5", "a merge that is closed has only its committed regions", s, finished=False)
    s = steps_of()
    s.push(one)
    s.flush()
    s.push(two)
    s.call("done", "close")
    s.merge.open = []
    put(cat, "close-after-flush", "MRG-10", "the open region is not committed", s, finished=False)
    s = steps_of()
    s.push(one)
    s.flush()
    s.call("done", "remove")
    put(
        cat,
        "remove",
        "MRG-4",
        "a merge that is removed leaves no file",
        s,
        finished=False,
        files={"data": None, "index": None},
    )
    s = steps_of()
    a = s.begin(7)
    s.call(fault("truncated", "fragment", 0), "commit", push=a)
    s.call(fault("invalid-argument"), "commit", push=a)
    s.write(a, first, fault("invalid-argument"))
    s.call("done", "abort", push=a)
    s.finalize()
    put(cat, "nothing-written", "MRG-9 MRG-5", "a push without bytes", s)


def refused(cat: Catalog) -> None:
    """MRG-7 and MRG-8: what is refused leaves nothing."""
    right = fragment_of(output_of(7), 0, 4)
    data = right.encode()
    places = list(right.places)

    def case(name: str, clause: str, title: str, bad: bytes, outcome: Answer, at: str = "write", **more: Any) -> None:
        s = steps_of(**more.pop("merge", {}))
        s.push(fragment_of(output_of(3), 0, 1, (0, 1)))
        s.refused(bad, outcome, at=at)
        s.push(fragment_of(output_of(3), 2))
        s.push(right)
        s.finalize()
        put(cat, f"refused-{name}", f"MRG-8 {clause}", title, s, **more)

    def of(code: str, offset: int) -> Answer:
        return fault(code, "fragment", offset)

    head = right.header
    for name, fields, code, offset in (
        ("producer", {"producer": 8}, "mismatched-pair", 24), ("framing", {"framing": 1}, "mismatched-pair", 11),
        ("range-below", {"first_partition": 0, "partition_count": 5}, "mismatched-pair", 56), ("range-above", {"first_partition": 4}, "mismatched-pair", 56),
        ("dictionaries", {"reader_features": 2}, "mismatched-pair", 16), ("selective", {"reader_features": 1}, "unsupported-feature", 16),
        ("kind", {"kind": 1}, "mismatched-pair", 8), ("header", {"checksum": 0}, "checksum", 0), ("magic", {"magic": b"\x89FARO\n\n\x1a"}, "not-faro", 0),
        ("producer-and-framing", {"producer": 8, "framing": 1}, "mismatched-pair", 24),
    ):  # fmt: skip
        case(
            name,
            "MRG-7 FRG-4",
            f"a fragment with another header: {name}",
            replace(right, header=replace(head, **fields)).encode(),
            of(code, offset),
        )
    for n, (at, end) in enumerate(zip(places, [*places[1:], len(data)], strict=True)):
        case(
            f"damaged-{n}",
            "FRG-4",
            "a damaged payload",
            patch(data, at + 25, bytes([data[at + 25] ^ 1])),
            of("checksum", at),
        )
        case(f"damaged-header-{n}", "FRG-4", "a damaged sequence", patch(data, at + 12, b"\x40"), of("checksum", at))
        case(
            f"cut-{n}", "FRG-4 MRG-9", "a fragment that is cut", data[: end - 1], of("truncated", end - 1), at="commit"
        )
        case(
            f"cut-before-{n}",
            "FRG-4 MRG-9",
            "a fragment that is cut before a block",
            data[:at],
            of("truncated", at),
            at="commit",
        )
    case("cut-header", "FRG-4 MRG-9", "a header that is cut", data[:40], of("truncated", 40), at="commit")
    case("after-end", "FRG-4", "bytes after the end block", data + bytes(8), of("malformed-block", len(data)))
    again = Fragment(head, [*right.blocks[:2], *[(p, n + 5, b) for p, n, b in right.blocks[2:]]])
    case("gap", "MRG-7", "the second partition has a gap", again.encode(), {"outcome": "gap"})
    bad = replace(right, blocks=[*right.blocks[:3], (*right.blocks[3][:2], replace(right.blocks[3][2], sequence=7))])
    case(
        "sequence",
        "FRG-4",
        "the numbers of a partition are not consecutive",
        bad.encode(),
        of("inconsistent-index", places[3] + 12),
    )
    bad = replace(
        right,
        blocks=[*right.blocks[:3], (*right.blocks[3][:2], replace(right.blocks[3][2], sequence=7, checksum_xor=1))],
    )
    case("sequence-damaged", "FRG-4", "damage is reported as damage", bad.encode(), of("checksum", places[3]))
    case(
        "length",
        "FRG-4 FRG-3",
        "the end block's length",
        replace(right, length=0).encode(),
        of("inconsistent-index", places[-1] + 24),
    )
    case("limit", "FRG-4 LIM-1", "a block above the limit", replace(right, blocks=[(0, 0, Block(bytes(65)))]).encode(), of("limit-exceeded", 64),
         request={"limits": {"max_block_size": 64}})  # fmt: skip
    s = steps_of()
    rows: tuple[tuple[str, Answer], ...] = (("range", {"partition_count": 0}), ("chunk", {"chunk_size": 0}), ("chunk-most", {"chunk_size": (1 << 31) + 1}),
                         ("file-range", {"first_partition": 1 << 28}), ("waiting", {"max_waiting": -1}), ("schema", {"schema": {"text": "none"}}))  # fmt: skip
    for name, fields in rows:
        cat.add(f"mrg-options-{name}", "MRG-4 WRT-1", "an option that is out of range", "merge", folder="merge", request={"mode": "create", "options": options(**fields), "steps": []},
                expect={"error": {"code": "invalid-argument"}}, expect_files={"data": None, "index": None})  # fmt: skip
    s.call(fault("invalid-argument"), "begin", push="a", producer=str(MERGED), generation="5")
    s.finalize()
    put(cat, "begin-merged", "MRG-5 FRG-6", "the producer of a merged file does not push", s)


def dictionaries_and_schemas(cat: Catalog) -> None:
    """MRG-7: dictionaries and schemas."""
    with_feature = replace(HEAD, reader_features=2)
    many = with_dictionaries()
    other = Output(producer(9, reader_features=2, file_id=bytes([9]) * 16),
                   [Region({0: [with_dictionary("words", 1)], 3: [Block(b"none")]}, dictionaries=[*many.regions[0].dictionaries[:1]])], paired=True)  # fmt: skip
    swapped = Output(producer(8, reader_features=2, file_id=bytes([8]) * 16),
                     [Region({0: [with_dictionary("deposits", 1), with_dictionary("words", 2)]}, dictionaries=many.regions[0].dictionaries[1::-1])], paired=True)  # fmt: skip
    needs = ["zstd", "dictionaries"]
    rows: list[tuple[str, str, list[Fragment]]] = [
        ("one", "a fragment with two dictionaries", [fragment_of(many, 0, 4)]),
        (
            "known",
            "a dictionary that the file has is not stored again",
            [fragment_of(many, 0, 4), fragment_of(other, 0, 4)],
        ),
        ("numbered", "numbers are those of the merged file", [fragment_of(swapped, 0, 4), fragment_of(many, 0, 4)]),
        (
            "ends-region",
            "a new dictionary ends the open region",
            [fragment_of(other, 0), fragment_of(many, 1), fragment_of(many, 0)],
        ),
        ("duplicate", "nothing is stored for a duplicate", [fragment_of(many, 1), fragment_of(many, 1)]),
        ("none", "a fragment without the feature", [fragment_of(output_of(3), 0, 4), fragment_of(many, 2)]),
    ]
    for name, title, fragments in rows:
        s = steps_of(with_feature)
        for fragment in fragments:
            s.push(fragment)
        s.finalize()
        put(cat, f"dic-{name}", "MRG-7 DIC-9 DIC-3", title, s, features=needs)
    s = steps_of(with_feature)
    s.push(fragment_of(output_of(3), 0, 4))
    bad = fragment_of(many, 0, 4)
    data = bad.encode()
    s.refused(patch(data, bad.places[3] + 25, b"?"), fault("checksum", "fragment", bad.places[3]))
    s.merge.end()
    s.push(fragment_of(other, 0))
    s.finalize()
    put(
        cat,
        "dic-taken-back",
        "MRG-8 MRG-7",
        "the dictionaries of a refused push are not in the file",
        s,
        features=needs,
    )
    s = steps_of(with_feature)
    s.push(fragment_of(output_of(3), 0, 4))
    s.refused(data[: bad.places[2]], fault("truncated", "fragment", bad.places[2]), at="commit")
    s.merge.end()
    s.finalize()
    put(cat, "dic-none-follows", "MRG-10 DIC-3", "no dictionary after the last region", s, features=needs)
    arrow = replace(HEAD, framing=2)
    batches = base.arrow([arrow_message(b"batch"), arrow_message(b"more")], base.SCHEMA, True)
    batches.header = replace(batches.header, producer=7, file_id=FILE_ID)
    s = steps_of(arrow, schema=base.SCHEMA)
    s.push(fragment_of(batches, 1))
    wrong = replace(
        fragment_of(replace(batches, schema=arrow_message(b"another")), 1), header=fragment_of(batches, 1).header
    )
    s.refused(wrong.encode(), fault("mismatched-pair", "fragment", 88))
    s.finalize()
    schema = {"hex": base.SCHEMA.hex()}
    put(
        cat,
        "arrow",
        "MRG-7 SCH-1",
        "framing arrow: the schemas are equal",
        s,
        opts=options(arrow, schema=schema),
        features=["arrow"],
    )
    for name, given in (("missing", {}), ("short", {"schema": {"text": "short"}})):
        cat.add(f"mrg-options-schema-{name}", "MRG-4 WRT-1", "framing arrow needs a schema", "merge", folder="merge", features=["arrow"],
                request={"mode": "create", "options": options(arrow, **given), "steps": []}, expect={"error": {"code": "invalid-argument"}},
                expect_files={"data": None, "index": None})  # fmt: skip


def swept(cat: Catalog) -> None:
    """A merged file for the sweep of damage."""
    head = Header(partition_count=2, framing=OPAQUE, file_id=ID, producer=MERGED, attempt=5)
    merge = Merge(head)
    for number in (1, 2):
        output = Output(producer(number, file_id=bytes([number]) * 16, partition_count=2), [Region({0: [Block(b"a")]})])
        merge.push(fragment_of(output, 0))
    merge.end()
    cat.valid("sweep-merged", "ERR-3 INT-1 MRG-1", "a small merged file, each byte and each length of which is damaged in turn",
              merge.output())  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (merging, repeated, turns, refused, dictionaries_and_schemas, swept):
        part(cat)
