"""Cases of repair: REP."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from . import base
from .catalog import Catalog, fault
from .output import Built, Output, Region, Shared, arrow_message, build
from .raw import NOBODY, OPAQUE, Block, Header, patch, seal_header, tail

MARK = {"last-commit": {"faro.repair": "last-commit"}, "rebuild": {"faro.repair": "rebuilt"}}


def mended(output: Output, regions: int | None = None, mode: str = "last-commit") -> Built:
    """What repair makes of the first regions of an output."""
    kept = output.regions if regions is None else output.regions[:regions]
    return build(
        replace(
            output, regions=kept, statistics=False, streams=None, created_by=None, properties=MARK[mode], finished=True
        )
    )


def answer(
    action: str, regions: int, data_cut: int = 0, index_cut: int = 0, orphaned: int = 0, paired: bool = True
) -> dict[str, Any]:
    """What `repair` answers."""
    ok = {"action": action, "regions": regions, "index_cut": index_cut, "orphaned": orphaned}
    return {"ok": {**ok, "data_cut": data_cut} if paired else ok}


def put(cat: Catalog, name: str, title: str, files: dict[str, bytes], after: dict[str, bytes] | None, expect: dict[str, Any],
        clause: str = "REP-1 REP-3", **more: Any) -> None:  # fmt: skip
    """A case in the mode last-commit; `after` None: the files are left as they are."""
    cat.add(f"rep-{name}", clause, title, "repair", folder="repair", files=files, expect=expect,
            request={"mode": "last-commit", **more.pop("request", {})}, expect_files=after or files, **more)  # fmt: skip


def unfinished(paired: bool, **more: Any) -> tuple[Output, Built]:
    """An output whose writer died between two regions."""
    output = replace(base.small(paired=paired), finished=False, **more)
    return output, build(output)


def paired_files(cat: Catalog) -> None:
    """Pairs, to the last commit."""
    output, built = unfinished(True)
    data, index = built.files["data"], built.files["index"]
    both, one, none = mended(output), mended(output, 1), mended(output, 0)
    second, begin = built.messages[1], built.region_blocks(1)[0][1]
    put(cat, "clean", "no byte is lost: only footer and tail are missing", built.files, both.files, answer("last-commit", 2),
        check=cat.checks(both.output))  # fmt: skip
    for size in (1, 23, 24, len(index) - second - 1):
        put(cat, f"torn-message-{size}", f"{size} bytes of the last region message were written",
            {"data": data, "index": index[: second + size]}, one.files,
            answer("last-commit", 1, len(data) - begin, size), check=cat.checks(one.output))  # fmt: skip
    put(cat, "message-missing", "the last region's blocks were written, its message was not",
        {"data": data, "index": index[:second]}, one.files, answer("last-commit", 1, len(data) - begin, 0))  # fmt: skip
    flipped = patch(index, len(index) - 1, bytes([index[-1] ^ 1]))
    put(cat, "message-damaged-at-end", "the last message is as long as it must be, and does not verify",
        {"data": data, "index": flipped}, one.files, answer("last-commit", 1, len(data) - begin, len(index) - second))  # fmt: skip
    for more in (8, 24):
        put(cat, f"message-damaged-{more}-after", f"a message that does not verify, {more} bytes after it",
            {"data": data, "index": flipped + b"\x55" * more}, one.files,
            answer("last-commit", 1, len(data) - begin, len(index) - second + more), clause="REP-1")  # fmt: skip
    put(cat, "message-damaged-25-after", "a message that does not verify, 25 bytes after it: damage",
        {"data": data, "index": flipped + b"\x55" * 25}, None, fault("checksum", "index", second), clause="REP-1 REP-2")  # fmt: skip
    for count in (1, 24, 100, 4096):
        put(cat, f"zeros-{count}", f"{count} zero bytes where the next message would be",
            {"data": data, "index": index + bytes(count)}, both.files, answer("last-commit", 2, 0, count), clause="REP-1")  # fmt: skip
    put(cat, "zeros-then-one", "zeros and one other byte: damage", {"data": data, "index": index + bytes(99) + b"\x01"}, None,
        fault("checksum", "index", len(index)), clause="REP-1 REP-2")  # fmt: skip
    for size in (5, 1000):
        put(cat, f"data-after-{size}", "data after the last committed region", {"data": data + b"\x07" * size, "index": index},
            both.files, answer("last-commit", 2, size, 0), clause="REP-3 FIL-5")  # fmt: skip
    put(cat, "headers-only", "no region was committed", {"data": data, "index": index[:64]}, none.files,
        answer("last-commit", 0, len(data) - 64, 0), check=cat.checks(none.output))  # fmt: skip
    put(cat, "data-short", "some data of a committed region is missing", {"data": data[:-1], "index": index}, None,
        fault("truncated", "data", len(data) - 1), clause="REP-2 FOL-3")  # fmt: skip
    early = patch(index, built.messages[0] + 24 + 8, b"\xff")
    put(cat, "damaged-inside", "damage before the last message is not repaired", {"data": data, "index": early}, None,
        fault("checksum", "index", built.messages[0]), clause="REP-2")  # fmt: skip
    put(cat, "index-empty", "an index of no bytes is damage of the header", {"data": data, "index": b""}, None,
        fault("truncated", "index", 0), clause="REP-2 FOL-1")  # fmt: skip
    put(cat, "data-header", "a damaged header of the data file", {"data": patch(data, 20, b"\1"), "index": index}, None,
        fault("checksum", "data", 0), clause="REP-2 FOL-1")  # fmt: skip
    put(cat, "dry-run", "a dry run changes nothing", {"data": data + b"!", "index": index + b"!"}, None,
        answer("last-commit", 2, 1, 1), clause="REP-8", request={"dry_run": True})  # fmt: skip
    done = build(base.small(paired=True))
    put(cat, "finished", "a finished file is left as it is", done.files, None, answer("nothing", 2), clause="REP-4")
    kept = replace(base.small(paired=True), properties={"k": "v"}, created_by="kept", statistics=True)
    whole = build(kept)
    for cut in (1, 16, 24):
        put(cat, f"footer-without-tail-{cut}", f"the footer is there, {cut} bytes of the tail are not",
            {**whole.files, "index": whole.files["index"][:-cut]}, whole.files, answer("last-commit", 2, 0, 24 - cut),
            clause="REP-4", check=cat.checks(kept))  # fmt: skip
    put(cat, "footer-torn", "half of the footer is there", {**whole.files, "index": whole.files["index"][: whole.footer + 40]},
        mended(kept).files, answer("last-commit", 2, 0, 40))  # fmt: skip
    skipping = replace(base.small(paired=True), finished=False, after_regions=[(200, b"kept by repair")])
    put(cat, "skippable", "metadata that may be skipped is kept", build(skipping).files, mended(skipping).files,
        answer("last-commit", 2), check=cat.checks(mended(skipping).output))  # fmt: skip
    unknown = replace(base.small(paired=True), finished=False, after_regions=[(150, b"?")])
    built = build(unknown)
    put(cat, "unknown-metadata", "metadata that may not be skipped", built.files, None,
        fault("unsupported-feature", "index", built.metadata[-1] + 16), clause="REP-2 BLK-7")  # fmt: skip
    output, built = unfinished(True)
    known = {role: seal_header(patch(content, 23, b"\x80")) for role, content in built.files.items()}
    put(cat, "writer-feature", "an unknown writer feature", known, None, fault("unsupported-feature", "index", 20),
        clause="REP-9 HDR-4")  # fmt: skip


def single_files(cat: Catalog) -> None:
    """Single files, to the last commit."""
    output, built = unfinished(False)
    whole = built.files["single"]
    second, begin = built.messages[1], built.region_blocks(1)[0][1]
    both, one, none = mended(output), mended(output, 1), mended(output, 0)
    put(cat, "single-clean", "only footer and tail are missing", built.files, both.files, answer("last-commit", 2, paired=False),
        check=cat.checks(both.output))  # fmt: skip
    for name, size in (
        ("torn-message", second + 30),
        ("message-missing", second),
        ("torn-block", begin + 20),
        ("torn-payload", second - 3),
        ("between", begin),
    ):
        put(cat, f"single-{name}", f"the file ends early: {name}", {"single": whole[:size]}, one.files,
            answer("last-commit", 1, 0, size - begin, paired=False))  # fmt: skip
    put(
        cat,
        "single-header-only",
        "a header only",
        {"single": whole[:64]},
        none.files,
        answer("last-commit", 0, paired=False),
    )
    put(cat, "single-zeros", "zeros after the last region", {"single": whole + bytes(512)}, both.files,
        answer("last-commit", 2, 0, 512, paired=False), clause="REP-1")  # fmt: skip
    damaged = patch(whole, 64 + 24, bytes([whole[64 + 24] ^ 1]))
    put(cat, "single-damaged-block", "a damaged block of a committed region is damage", {"single": damaged}, None,
        fault("checksum", "single", 64), clause="REP-2 FOL-2")  # fmt: skip
    schema = base.SCHEMA
    arrow = replace(base.arrow([arrow_message(b"batch")], schema), finished=False)
    put(cat, "single-arrow", "framing arrow keeps its schema", build(arrow).files, mended(arrow).files,
        answer("last-commit", 1, paired=False), features=["arrow"])  # fmt: skip
    finished = build(base.small())
    put(
        cat,
        "single-finished",
        "nothing to do",
        finished.files,
        None,
        answer("nothing", 2, paired=False),
        clause="REP-4",
    )
    bad = finished.files["single"][:-24] + tail(finished.footer, 8)
    put(cat, "single-wrong-tail", "a tail that leads elsewhere is written anew", {"single": bad}, finished.files,
        answer("last-commit", 2, 0, 24, paired=False), clause="REP-4", check=cat.checks(finished.output))  # fmt: skip


def greedy(output: Output, everybody: bool) -> list[Region]:
    """The regions that a rebuild forms of an output's blocks, REP-6."""
    regions: list[Region] = []
    highest = -1
    for _, extent, _, _, block in build(output).blocks:
        shared = extent > NOBODY - 1000
        held = regions[-1] if regions else None
        if held is None or (not shared and (held.shared or extent < highest)):
            regions.append(Region())
            held, highest = regions[-1], -1
        if shared:
            if not held.shared:
                held.shared.append(Shared([], None if everybody else []))
            held.shared[0].blocks.append(block)
        else:
            held.own.setdefault(extent, []).append(block)
            highest = extent
    return regions


def rebuild(cat: Catalog) -> None:
    """A lost index: REP-5 to REP-8."""

    def case(name: str, title: str, output: Output, data: bytes | None = None, *, index: bytes | None = None, everybody: bool = False,
             regions: list[Region] | None = None, clause: str = "REP-5 REP-6 REP-7", features: list[str] | None = None,
             request: dict[str, Any] | None = None, ends_at: tuple[str, int] | None = None) -> None:  # fmt: skip
        whole = build(output).files["data"]
        data = whole if data is None else data
        formed = greedy(output, everybody) if regions is None else regions
        after = mended(replace(output, regions=formed), mode="rebuild")
        orphaned = 0 if everybody else sum(len(s.blocks) for r in formed for s in r.shared)
        cat.add(f"rep-rebuild-{name}", clause, title, "repair", folder="repair", files={"data": data, "index": index},
                request={"mode": "rebuild", **({"shared": "all"} if everybody else {}), **(request or {})},
                expect={"ok": {**answer("rebuilt", len(formed), len(data) - len(after.files["data"]), 0, orphaned)["ok"],
                               "fault": fault(ends_at[0], "data", ends_at[1])["error"] if ends_at else None}},
                expect_files=after.files, check=cat.checks(after.output), features=features)  # fmt: skip

    small = base.small(paired=True)
    case("small", "shared blocks are found again, without members", small)
    case(
        "small-all",
        "shared blocks are given to all partitions when the caller asks for it",
        base.small(paired=True),
        everybody=True,
    )
    case("damaged-index", "a damaged index is replaced", base.small(paired=True), index=b"\x89FARO damaged")
    case("empty", "a data file of no blocks", replace(base.small(paired=True), regions=[]))
    head = Header(partition_count=6, framing=OPAQUE, producer=77, attempt=3)
    b = [Block(f"block {n}".encode()) for n in range(12)]
    case(
        "merged-regions",
        "regions with ascending partitions become one",
        Output(head, [Region({0: [b[0]], 1: [b[1]]}), Region({3: [b[2]]}), Region({3: [b[3]], 5: [b[4]]})], True),
    )
    case(
        "rotated",
        "a rotated region becomes two",
        Output(head, [Region({p: [b[p]] for p in (4, 5, 0, 1, 2, 3)}, rotation=4, sparse=False)], True),
    )
    case(
        "dense-and-sparse",
        "dense or sparse, as a writer would choose",
        Output(head, [Region({p: [b[p]] for p in range(3)}), Region({0: [b[5], b[6]]})], True),
    )
    case(
        "shared-between",
        "an own block after shared ones begins a region",
        Output(
            head,
            [
                Region({0: [b[0]]}, [Shared([b[1]]), Shared([b[2]], [1])]),
                Region({4: [b[3]]}),
                Region(shared=[Shared([b[4]])]),
            ],
            True,
        ),
    )
    case("selective", "first_block is written from the blocks",
         Output(replace(head, reader_features=1), [Region({1: [replace(b[0], sequence=4), replace(b[1], sequence=6)]}),
                                                   Region({1: [replace(b[2], sequence=9)], 2: [b[3]]})], True), features=["selective"])  # fmt: skip
    two = Output(head, [Region({0: [b[0]], 1: [b[1]]})], True)
    whole = build(two).files["data"]
    first = replace(two, regions=[Region({0: [b[0]]})])
    at = build(two).blocks[1][2]
    case("torn", "a torn block at the end is cut", first, whole[:-5], clause="REP-5 REP-7 REP-8",
         ends_at=("malformed-block", at))  # fmt: skip
    case("after", "bytes that are not a block are cut", two, whole + b"no block", clause="REP-5 REP-7 REP-8",
         ends_at=("malformed-block", len(whole)))  # fmt: skip
    case(
        "zeros",
        "zeros after the blocks are cut",
        two,
        whole + bytes(64),
        clause="REP-5 REP-7",
        ends_at=("checksum", len(whole)),
    )
    case(
        "damaged-block",
        "the rebuild ends before the first damaged block",
        first,
        patch(whole, at + 25, b"?"),
        clause="REP-5 REP-7",
        ends_at=("checksum", at),
    )
    gap = build(replace(two, regions=[Region({0: [b[0]], 1: [replace(b[1], sequence=1)]})])).files["data"]
    case("sequence", "the rebuild ends before a gap of a sequence", first, gap, clause="REP-5",
         ends_at=("inconsistent-index", at + 12))  # fmt: skip
    other = build(replace(two, regions=[Region({0: [b[0]], 1: [replace(b[1], partition=6)]})])).files["data"]
    case("partition", "the rebuild ends before a partition that is not the file's", first, other, clause="REP-5",
         ends_at=("inconsistent-index", at + 8))  # fmt: skip
    for name, harmed, distance in (("partition", other, 8), ("sequence", gap, 12)):
        case(f"{name}-before-padding", f"the {name} is checked before the padding", first, patch(harmed, len(harmed) - 1, b"!"),
             clause="REP-5 BLK-7", ends_at=("inconsistent-index", at + distance))  # fmt: skip
    done = {"data": whole, "index": None}
    after = mended(two, mode="rebuild")
    cat.add("rep-rebuild-dry-run", "REP-8", "a dry run makes no index", "repair", folder="repair", files=done,
            request={"mode": "rebuild", "dry_run": True}, expect=answer("rebuilt", 1, 0, 0, 0), expect_files={"data": whole})  # fmt: skip
    assert after.files["data"] == whole

    def refused(name: str, clause: str, title: str, data: bytes, bad: dict[str, Any], **more: Any) -> None:
        cat.add(f"rep-rebuild-{name}", clause, title, "repair", folder="repair", files={"data": data, "index": None},
                request={"mode": "rebuild", **more.pop("request", {})}, expect=bad, expect_files={"data": data}, **more)  # fmt: skip

    refused(
        "not-data",
        "REP-5",
        "an index where the data file must be",
        build(two).files["index"],
        fault("mismatched-pair", "data", 8),
    )
    refused("header", "REP-5 HDR-1", "a damaged header", patch(whole, 30, b"\x44"), fault("checksum", "data", 0))
    refused("writer-feature", "REP-9 HDR-4", "an unknown writer feature", seal_header(patch(whole, 20, b"\1")),
            fault("unsupported-feature", "data", 20))  # fmt: skip
    codec = build(replace(two, regions=[Region({0: [b[0]], 1: [replace(b[1], codec=9)]})])).files["data"]
    refused(
        "unsupported-codec",
        "REP-5",
        "a block of an unknown codec is not damage",
        codec,
        fault("unsupported-codec", "data", at + 17),
    )
    arrow = base.arrow([arrow_message(b"batch")], arrow_message(b"schema"), True)
    refused("arrow", "REP-7", "the schema was only in the lost index", build(arrow).files["data"], {"error": {"code": "invalid-argument"}},
            features=["arrow"])  # fmt: skip


def limited(cat: Catalog) -> None:
    """Repairs under limits: a result that a reader with these limits could not read is refused, and nothing is changed."""
    output, built = unfinished(True)
    index = built.files["index"]
    first, second = (int.from_bytes(index[at : at + 4], "little") for at in built.messages)
    for name, limits, place in (
        ("max-regions", {"max_regions": 1}, built.messages[1]),
        ("max-message-size", {"max_message_size": first - 1}, built.messages[0]),
    ):
        put(cat, f"limit-{name}", f"{name.replace('-', '_')} is below what the index has", built.files, None,
            fault("limit-exceeded", "index", place), clause="REP-2 LIM-1", request={"limits": limits})  # fmt: skip
    enough = {"max_regions": 2, "max_message_size": max(first, second)}
    put(cat, "limits-kept", "the limits are exactly what the index needs", built.files, mended(output).files, answer("last-commit", 2),
        clause="REP-1 LIM-1", request={"limits": enough})  # fmt: skip
    head = Header(partition_count=6, framing=OPAQUE)
    two = Output(head, [Region({0: [Block(b"one")], 5: [Block(b"two")]}), Region({3: [Block(b"three")]})], True)
    after = mended(two, mode="rebuild")
    files, blocks = build(two).files, [offset for _, _, offset, _, _ in build(two).blocks]
    sizes = [int.from_bytes(after.files["index"][at : at + 4], "little") for at in after.messages]
    largest = max(sizes)
    for name, limits, at in (
        ("max-regions", {"max_regions": 1}, blocks[2]),
        ("no-regions", {"max_regions": 0}, blocks[0]),
        ("max-message-size", {"max_message_size": largest - 1}, (blocks[0], blocks[2])[sizes.index(largest)]),
        ("max-block-size", {"max_block_size": 4}, blocks[2]),
        ("max-plain-size", {"max_plain_size": 4}, blocks[2] + 4),
    ):
        cat.add(f"rep-rebuild-limit-{name}", "REP-5 REP-6 LIM-1", "a reader with these limits could not read the index", "repair",
                folder="repair", files={"data": files["data"], "index": None}, request={"mode": "rebuild", "limits": limits},
                expect=fault("limit-exceeded", "data", at), expect_files={"data": files["data"]})  # fmt: skip
    cat.add("rep-rebuild-limits-kept", "REP-6 LIM-1", "the limits are exactly what the regions need", "repair", folder="repair",
            files={"data": files["data"], "index": None}, expect=answer("rebuilt", 2, 0, 0, 0), expect_files=after.files,
            request={"mode": "rebuild", "limits": {"max_regions": 2, "max_message_size": largest}})  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (paired_files, single_files, rebuild, limited):
        part(cat)
