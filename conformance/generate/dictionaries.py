"""Cases of files with dictionaries: DIC, and the checks of BLK-7, FTR and CHK-1 about them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from . import base
from .catalog import Catalog, fault
from .codecs import lz4_block, zstd_chunk, zstd_frame
from .output import Built, Dictionary, Output, Region, Shared, arrow_message, build
from .raw import ARROW, LZ4, OPAQUE, ZSTD, Block, Header
from .trained import CORRUPT, DICTIONARIES, HEAD, OTHERS, WORDS, another, run, with_dictionary

LAYOUTS = ((False, ""), (True, "-paired"))


def head(**more: Any) -> Header:
    """A header with the feature."""
    return Header(**{"framing": OPAQUE, "reader_features": DICTIONARIES, **more})


def one(blocks: list[Block], content: bytes = WORDS, *, paired: bool = False, **fields: Any) -> Output:
    """One dictionary, and one region: partition 0 has a plain block, partition 1 has those given."""
    region = Region({0: [Block(b"without one")], 1: blocks}, dictionaries=[Dictionary(content, fields)])
    return Output(head(), [region], paired)


def several(paired: bool = False) -> Output:
    """Three dictionaries before two regions, whose blocks name each of them."""
    first = Region({0: [with_dictionary("words", 1), with_dictionary("deposits", 2)], 1: [Block(b"without")]},
                   [Shared([with_dictionary("requests", 2)]), Shared([with_dictionary("extents", 1), Block(b"event", kind=1)], [1, 3])],
                   dictionaries=[Dictionary(WORDS), Dictionary(OTHERS)])  # fmt: skip
    second = Region(
        {0: [with_dictionary("extents", 3)], 3: [with_dictionary("words", 1)]},
        dictionaries=[Dictionary(another(WORDS))],
    )
    return Output(head(), [first, second], paired)


def valid(cat: Catalog) -> None:
    """Files that every reader must read."""
    schema = base.SCHEMA
    batch = arrow_message(bytes(800))
    chunks = zstd_chunk(0, batch[:8], last=False) + zstd_chunk(1, b"\0", 800)
    packed = Block(batch, codec=ZSTD, stored=zstd_frame(chunks), dictionary=1)
    beside = [Block(b"plain"), lz4_block(b"words and ", 300, b"the last literals"), with_dictionary("words", 1),
              replace(run(0), dictionary=0), base.event(b"mark"), with_dictionary("extents", 1)]  # fmt: skip
    gaps = [replace(with_dictionary("words", 1), sequence=4), replace(with_dictionary("extents", 1), sequence=9)]
    rows: list[tuple[str, str, str, Output]] = [
        ("one", "DIC-1 DIC-2 DIC-3", "one dictionary, named by two blocks", one([with_dictionary("words", 1), with_dictionary("extents", 1)])),
        ("several", "DIC-1 DIC-2 DIC-3", "three dictionaries, each named by another block", several()),
        ("beside", "DIC-2", "blocks with a dictionary among blocks of every other kind", one(beside)),
        ("feature-alone", "DIC-1 VER-3", "the feature without a dictionary", Output(head(), [Region({2: [Block(b"plain")]})])),
        ("feature-empty", "DIC-1 VER-3 WRT-7", "the feature without a region", Output(head(), [])),
        ("not-named", "DIC-2", "a dictionary that no block names", one([Block(b"plain")])),
        ("id-ignored", "DIC-1", "a dictionary id of zero", one([with_dictionary("words", 1)], another(WORDS))),
        ("none-needed", "DIC-2 DIC-6", "a frame that needs no dictionary names one", one([run(1)])),
        ("corrupt-not-named", "DIC-6", "a dictionary that no decoder accepts, and no block names", one([Block(b"plain")], CORRUPT)),
        ("head-not-named", "DIC-6 DIC-4", "a dictionary of eight bytes, which no block names", one([Block(b"plain")], HEAD)),
        ("selective", "DIC-2 PRT-4", "with the feature selective as well",
         Output(head(reader_features=3), [Region({1: gaps}, dictionaries=[Dictionary(WORDS)])])),
        ("arrow", "DIC-3 SCH-1", "after the schema of framing arrow",
         Output(head(framing=ARROW), [Region({1: [packed]}, dictionaries=[Dictionary(WORDS)])], schema=schema)),
        ("footer", "FTR-7 CAN-2", "a footer with everything",
         replace(several(), statistics=True, properties={"k": "v"}, created_by="conformance")),
    ]  # fmt: skip
    for name, clause, title, output in rows:
        for paired, more in LAYOUTS:
            cat.valid(f"dic-{name}{more}", clause, title, replace(output, paired=paired))
    mixed = several()
    mixed.regions[0].before = [(192, b"before")]
    mixed.regions[1].before = [(255, b"")]
    cat.valid("dic-skippable", "DIC-3 FIL-2 BLK-3", "dictionaries after other metadata that is allowed there", mixed)
    cat.valid("dic-trailing-single", "DIC-3 CHK-1 FTR-7", "a dictionary after the last region of a single file",
              replace(several(), trailing=[Dictionary(OTHERS)], after_regions=[(200, b"and more")]))  # fmt: skip
    for paired, more in LAYOUTS:
        for low, high in ((0, 4), (1, 2), (3, 4)):
            cat.valid(
                f"dic-range-{low}-{high}{more}",
                "DIC-2 PRT-5",
                "a range",
                several(paired),
                request={"range": [low, high]},
            )
        limits = {"max_dictionaries": 3, "max_dictionary_size": len(WORDS)}
        cat.valid(
            f"dic-limits-at{more}",
            "LIM-1 DIC-4 OPN-2",
            "the limits are exactly enough",
            several(paired),
            request={"limits": limits},
        )


def blocks(cat: Catalog) -> None:
    """Faults in a partition block: BLK-7, checks 5, 7c and 10b."""
    plain = Block(b"seventeen bytes!!")
    lz4 = Block(plain.plain, codec=LZ4, stored=b"\x10a", dictionary=1)
    rows: list[tuple[str, str, Block, str, int]] = [
        ("07c-none", "a block without a codec names a dictionary", replace(plain, dictionary=1), "malformed-block", 18),
        ("07c-none-absent", "a block without a codec names a dictionary that is not there", replace(plain, dictionary=9), "malformed-block", 18),
        ("07c-lz4", "an LZ4 block names a dictionary", lz4, "malformed-block", 18),
        ("07c-event", "an event names a dictionary", replace(plain, kind=1, dictionary=1), "malformed-block", 18),
        ("06b-07c", "a kind that is not allowed, with a dictionary", replace(plain, kind=2, dictionary=1), "malformed-block", 16),
        ("07a-07c", "an unknown codec, with a dictionary", replace(plain, codec=3, dictionary=1), "unsupported-codec", 17),
        ("07b-07c", "a compressed event with a dictionary", replace(run(1), kind=1), "malformed-block", 17),
        ("07c-08a", "a dictionary that is not allowed, and a wrong size", replace(plain, dictionary=1, plain_size=18), "malformed-block", 18),
        ("08a-10b", "a size that is too small, and a dictionary that is not there", replace(run(2), plain_size=5), "malformed-block", 4),
        ("10a-10b", "a wrong sequence, and a dictionary that is not there", replace(run(2), sequence=7), "inconsistent-index", 12),
        ("10b-more", "a dictionary that is not there", run(2), "inconsistent-index", 18),
        ("10b-most", "dictionary 65,535", run(0xFFFF), "inconsistent-index", 18),
        ("10b-high-byte", "the number's high byte counts", run(0x101), "inconsistent-index", 18),
        ("10b-11", "a dictionary that is not there, and padding", replace(run(2), padding=b"\1" * (-len(run(2).payload) % 8)),
         "inconsistent-index", 18),
        ("06b-dictionary", "a dictionary where a partition's block must be", Block(WORDS, kind=131, dictionary=2), "malformed-block", 16),
    ]  # fmt: skip
    for name, title, block, code, at in rows:
        for paired, more in LAYOUTS:
            built = build(one([block], paired=paired))
            clause = "DIC-3 BLK-7" if "10b" in name else "BLK-7 DIC-2"
            cat.bad_block(
                f"dic-{name}{more}", clause, title, built, block, fault(code, built.data, base.where(built, block) + at)
            )
    for paired, more in LAYOUTS:
        early = run(2, b"e")
        output = Output(
            head(),
            [
                Region({1: [early]}, dictionaries=[Dictionary(WORDS)]),
                Region({0: [run(2)]}, dictionaries=[Dictionary(OTHERS)]),
            ],
            paired,
        )
        built = build(output)
        cat.bad_block(f"dic-10b-after{more}", "DIC-3 BLK-7", "a block names a dictionary that is after it", built, early,
                      fault("inconsistent-index", built.data, base.where(built, early) + 18))  # fmt: skip
        none = run(1)
        built = build(Output(head(), [Region({1: [none]})], paired))
        cat.bad_block(f"dic-10b-none{more}", "DIC-3 BLK-7", "a block names a dictionary in a file without any", built, none,
                      fault("inconsistent-index", built.data, base.where(built, none) + 18))  # fmt: skip
        bare = replace(run(1), reserved=0)
        built = build(Output(replace(head(), reader_features=0), [Region({1: [bare]})], paired))
        cat.bad_block(f"dic-05-feature{more}", "BLK-7 DIC-1", "a block names a dictionary in a file without the feature", built, bare,
                      fault("malformed-block", built.data, base.where(built, bare) + 18))  # fmt: skip
        output = Output(head(), [Region({1: [Block(b"plain")]}, block={"dictionary": 1})], paired)
        built = build(output)
        cat.bad_region(f"dic-07c-region{more}", "BLK-7", "a region message's block names a dictionary", built,
                       fault("malformed-block", built.index, built.messages[0] + 18))  # fmt: skip
        built = build(Output(head(), [], paired, footer_block={"dictionary": 1}))
        cat.refused(f"dic-07c-footer{more}", "BLK-7", "the footer's block names a dictionary", built.files,
                    fault("malformed-block", built.index, built.footer + 18), features=["dictionaries"])  # fmt: skip


def stored(cat: Catalog) -> None:
    """Faults in a dictionary's block (DIC-4), which `check` and readers that need the dictionary report."""
    rows: list[tuple[str, str, bytes, dict[str, Any], str, int]] = [
        ("04-checksum", "its checksum", WORDS, {"checksum_xor": 1 << 31}, "checksum", 0),
        ("06a-kind", "a reserved kind of metadata", WORDS, {"kind": 140}, "unsupported-feature", 16),
        ("06b-data", "a data block in its place", WORDS, {"kind": 0}, "malformed-block", 16),
        ("06b-skippable", "skippable metadata in its place", WORDS, {"kind": 200, "dictionary": 0}, "malformed-block", 16),
        ("07b-codec", "it is compressed", WORDS, {"codec": ZSTD, "plain_size": 999}, "malformed-block", 17),
        ("07c-kind-without", "another kind with a number", WORDS, {"kind": 130}, "malformed-block", 16),
        ("08a-size", "plain_size is another", WORDS, {"plain_size": 321}, "malformed-block", 4),
        ("09-partition", "it has a partition number", WORDS, {"partition": 0}, "inconsistent-index", 8),
        ("10a-sequence", "its sequence", WORDS, {"sequence": 1}, "inconsistent-index", 12),
        ("10b-number-0", "it has no number", WORDS, {"dictionary": 0}, "inconsistent-index", 18),
        ("10b-number", "it has another number", WORDS, {"dictionary": 2}, "inconsistent-index", 18),
        ("10b-padding", "another number, and padding", WORDS[:-3], {"dictionary": 2, "padding": b"\0\1\0"}, "inconsistent-index", 18),
        ("11-padding", "its padding", WORDS[:-3], {"padding": b"\0\1\0"}, "malformed-block", 24 + len(WORDS) - 2),
        ("begin", "its first bytes are others", b"\x37\xa4\x30\xed" + WORDS[4:], {}, "malformed-block", 24),
        ("frame", "it is a Zstandard frame", b"\x28\xb5\x2f\xfd" + WORDS[4:], {}, "malformed-block", 24),
    ]  # fmt: skip
    for name, title, content, fields, code, at in rows:
        for paired, more in LAYOUTS:
            if name == "10a-sequence" and not paired:
                # For a dictionary that is found through the footer of a single file, no sequence is expected.
                continue
            if not paired and name.startswith("06"):
                continue
            needs = run(1)
            built = build(one([needs], content, paired=paired, **fields))
            bad = fault(code, built.data, built.dictionaries[0][1] + at)
            cat.bad_block(
                f"dic-4-{name}{more}",
                "DIC-4 BLK-7",
                f"a dictionary that is wrong: {title}",
                built,
                needs,
                bad,
                level="structure",
            )
    for paired, more in LAYOUTS:
        needs = run(1)
        built = build(one([needs], paired=paired))
        for name, limits in (
            ("size", {"max_dictionary_size": len(WORDS) - 1}),
            ("size-not-message", {"max_dictionary_size": 9}),
        ):
            bad = fault("limit-exceeded", built.data, built.dictionaries[0][1])
            cat.bad_block(f"dic-4-03-{name}{more}", "BLK-7 LIM-1 DIC-4", "a dictionary above the limit", built, needs, bad,
                          level="structure", request={"limits": limits})  # fmt: skip
        cat.bad_block(f"dic-6-corrupt{more}", "DIC-6 DIC-4", "entropy tables that no decoder accepts, in a dictionary that is needed",
                      *_used(CORRUPT, paired), level="decode")  # fmt: skip
        cat.bad_block(
            f"dic-6-head{more}",
            "DIC-6 DIC-4",
            "a dictionary of eight bytes that is needed",
            *_used(HEAD, paired),
            level="decode",
        )
        cat.bad_block(
            f"dic-6-cut{more}",
            "DIC-6",
            "a dictionary whose entropy tables are cut off",
            *_used(WORDS[:100], paired),
            level="decode",
        )
        wrong = Block(b"r" * 100, codec=ZSTD, stored=b"\x01\x00" + run(1).payload[2:], dictionary=1)
        cat.bad_block(f"dic-6-before-frame{more}", "DIC-6 COD-4", "the dictionary is reported first; the frame is wrong too",
                      *_used(CORRUPT, paired, wrong), level="decode")  # fmt: skip
        padded = replace(run(1), padding=b"\1" * (-len(run(1).payload) % 8))
        built = build(one([padded], CORRUPT, paired=paired))
        at = base.where(built, padded)
        cat.bad_block(f"dic-6-after-padding{more}", "DIC-6 BLK-7", "the block's own checks before it come first", built, padded,
                      fault("malformed-block", built.data, at + 24 + len(padded.payload)))  # fmt: skip
        for name, frame in (("flags", b"\x01\x00" + run(1).payload[2:]), ("id", b"\x01\x00\x07" + run(1).payload[2:])):
            block = Block(b"r" * 100, codec=ZSTD, stored=frame, dictionary=1)
            built = build(one([block], paired=paired))
            cat.bad_block(f"dic-2-frame-{name}{more}", "COD-4 DIC-2", "a frame with a dictionary id", built, block,
                          fault("malformed-block", built.data, base.where(built, block) + 24), level="decode")  # fmt: skip
        lost = replace(with_dictionary("words", 0))
        built = build(one([lost], paired=paired))
        cat.bad_block(f"dic-2-not-named{more}", "DIC-2 COD-1", "a frame that needs the dictionary does not name it", built, lost,
                      fault("malformed-block", built.data, base.where(built, lost) + 24), level="decode")  # fmt: skip


def _used(content: bytes, paired: bool, block: Block | None = None) -> tuple[Built, Block, dict[str, Any]]:
    needs = block or run(1)
    built = build(one([needs], content, paired=paired))
    return built, needs, fault("malformed-block", built.data, built.dictionaries[0][1] + 24)


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (valid, blocks, stored):
        part(cat)
