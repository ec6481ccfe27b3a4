"""Cases of where dictionaries are located: footers (FTR-3, FTR-7, OPN-2) and `check` (CHK-1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import base
from .catalog import Catalog, fault
from .dictionaries import LAYOUTS, head, one, several
from .message import Fields
from .output import Dictionary, Output, Region, Shared, build
from .raw import Block
from .trained import OTHERS, WORDS, another, run, with_dictionary

Entries = list[tuple[int, int, int]]
SIZE = 24 + len(WORDS)  # of a dictionary's block


def lying(output: Output, change: Callable[[Entries], Entries | None]) -> Output:
    """The output with other entries of dictionaries in its footer."""

    def footer(fields: Fields) -> None:
        entries = change(list(fields.get("dictionaries", [])))
        fields.pop("dictionaries", None)
        if entries is not None:
            fields["dictionaries"] = entries

    return replace(output, change_footer=footer)


def entry(number: int, **fields: int) -> Callable[[Entries], Entries]:
    """Changes one entry: its offset (by), its size (by) or its reserved field."""

    def change(entries: Entries) -> Entries:
        offset, size, reserved = entries[number - 1]
        entries[number - 1] = (
            fields.get("at", offset + fields.get("by", 0)),
            fields.get("size", size),
            fields.get("reserved", reserved),
        )
        return entries

    return change


def footers(cat: Catalog) -> None:
    """FTR-7 and FTR-3."""
    rows: list[tuple[str, str, str, Callable[[Entries], Entries | None]]] = [
        ("offset-odd", "FTR-7", "an offset that is not a multiple of 8", entry(3, by=4)),
        ("offset-below", "FTR-7", "an offset inside the header", entry(1, at=56)),
        ("offset-0", "FTR-7", "an offset of zero", entry(1, at=0)),
        ("offset-most", "FTR-7 INT-4", "an offset of FFFFFFFFFFFFFFF8", entry(3, at=(1 << 64) - 8)),
        ("offset-half", "FTR-7 INT-4", "an offset of 2^63", entry(3, at=1 << 63)),
        ("overlap", "FTR-7", "a dictionary that begins inside the one before it", entry(2, by=-8)),
        ("same", "FTR-7", "two entries of one dictionary", lambda e: [e[0], e[0], e[2]]),
        ("order", "FTR-7", "entries that are not in order", lambda e: [e[1], e[0], e[2]]),
        ("size-7", "FTR-7", "a dictionary of seven bytes", entry(2, size=7)),
        ("size-0", "FTR-7", "a dictionary of no bytes", entry(2, size=0)),
        ("size-most", "FTR-7 INT-4", "a size of FFFFFFFF", entry(3, size=0xFFFFFFFF)),
        ("reserved", "FTR-7 INT-5", "a reserved field that is not zero", entry(2, reserved=1)),
        ("reserved-high", "FTR-7 INT-5", "a reserved field that is not zero", entry(3, reserved=1 << 31)),
    ]  # fmt: skip
    for name, clause, title, change in rows:
        for paired, more in LAYOUTS:
            built = build(lying(several(paired), change))
            cat.refused(f"dic-ftr-7-{name}{more}", clause, title, built.files, fault("inconsistent-index", built.index, built.footer + 24),
                        features=["dictionaries"])  # fmt: skip
    for paired, more in LAYOUTS:
        bad: Callable[..., dict[str, Any]] = lambda built: fault("inconsistent-index", built.index, built.footer + 24)  # noqa: E731
        bare = Output(replace(head(), reader_features=0), [Region({1: [Block(b"plain")]})], paired)
        built = build(lying(bare, lambda _: [(64, 320, 0)]))
        cat.refused(
            f"dic-ftr-7-feature{more}",
            "FTR-7",
            "a footer with dictionaries in a file without the feature",
            built.files,
            bad(built),
        )
        built = build(lying(bare, lambda _: []))
        cat.valid(f"dic-ftr-7-feature-empty{more}", "FTR-7", "an empty vector of dictionaries in a file without the feature",
                  built.output, built=built)  # fmt: skip
        built = build(lying(Output(head(), [Region({1: [Block(b"plain")]})], paired), lambda _: []))
        cat.valid(f"dic-ftr-7-empty{more}", "FTR-7", "an empty vector of dictionaries", built.output, built=built)
        many = Output(head(), [Region({1: [Block(b"plain")]})], paired)
        built = build(lying(many, lambda _: [(64 + 32 * n, 8, 0) for n in range(65_536)]))
        cat.refused(f"dic-ftr-7-too-many{more}", "FTR-7", "65,536 dictionaries", built.files, bad(built), features=["dictionaries"],
                    request={"limits": {"max_dictionaries": 70_000}}, generated=True)  # fmt: skip
        for name, most, code in (("limit", 2, "limit-exceeded"), ("limit-0", 0, "limit-exceeded")):
            built = build(several(paired))
            cat.refused(f"dic-opn-2-{name}{more}", "OPN-2 LIM-1", "more dictionaries than the caller allows", built.files,
                        fault(code, built.index, built.footer + 24), features=["dictionaries"],
                        request={"limits": {"max_dictionaries": most}})  # fmt: skip
        built = build(lying(several(paired), entry(2, reserved=1)))
        cat.refused(f"dic-opn-2-order{more}", "OPN-2", "too many dictionaries, of which one breaks a rule", built.files,
                    fault("limit-exceeded", built.index, built.footer + 24), features=["dictionaries"],
                    request={"limits": {"max_dictionaries": 2}})  # fmt: skip
    tiles(cat)
    apart(cat)


def tiles(cat: Catalog) -> None:
    """FTR-3 in a pair: regions and dictionaries leave no gap."""

    def case(name: str, title: str, output: Output) -> None:
        built = build(replace(output, paired=True))
        cat.refused(f"dic-ftr-3-{name}", "FTR-3 DIC-3", title, built.files, fault("inconsistent-index", "index", built.footer + 24),
                    features=["dictionaries"])  # fmt: skip

    def unlisted(number: int) -> Output:
        output = several()
        all_of = [one for region in output.regions for one in region.dictionaries]
        all_of[number - 1].listed = False
        return output

    for number in (1, 2, 3):
        case(f"missing-{number}", f"dictionary {number} is missing in the footer", unlisted(number))
    case("none", "no dictionary is in the footer", lying(several(), lambda _: None))
    case("moved", "a dictionary after its place", lying(several(), entry(3, by=8)))
    case("in-region", "a dictionary inside a region's blocks", lying(several(), entry(3, by=-SIZE)))
    case(
        "larger", "a dictionary that reaches into the region after it", lying(several(), entry(3, size=len(WORDS) + 8))
    )
    case("smaller", "a gap after a dictionary", lying(several(), entry(3, size=len(WORDS) - 8)))
    case("trailing", "a dictionary after the last region", replace(several(), trailing=[Dictionary(OTHERS)]))
    case("alone", "a dictionary without a region", replace(several(), regions=[], trailing=[Dictionary(OTHERS)]))
    case("beyond", "an entry at data_size", lying(several(), lambda e: [*e, (64 + 10_000, 320, 0)]))

    def wider(fields: Fields) -> None:
        fields["data_size"] += 8

    case("data-size", "data_size is larger", replace(several(), change_footer=wider))


def apart(cat: Catalog) -> None:
    """FTR-7 of a single file: dictionaries are not in regions."""
    built = build(several())
    first, second = built.footer_fields["regions"]
    rows = [
        ("in-blocks", "a dictionary where a region's blocks are", entry(3, at=first[3] + 8)),
        ("at-blocks", "a dictionary where a region's blocks begin", entry(3, at=first[3])),
        ("into-blocks", "a dictionary that reaches into a region's blocks", entry(2, size=len(OTHERS) + 8)),
        ("at-message", "a dictionary where a region message is", entry(3, at=first[0])),
        ("in-message", "a dictionary inside a region message", entry(3, at=first[0] + 8)),
        ("around-message", "a dictionary that reaches over a region message", entry(3, at=second[0] - 8)),
        ("beyond", "a dictionary after the footer", entry(3, at=built.footer + 8)),
        ("into-footer", "a dictionary that reaches into the footer", lambda e: [*e, (built.footer - 24, 320, 0)]),
    ]
    for name, title, change in rows:
        lies = build(lying(several(), change))
        cat.refused(f"dic-ftr-7-{name}", "FTR-7 DIC-3", title, lies.files, fault("inconsistent-index", "single", lies.footer + 24),
                    features=["dictionaries"])  # fmt: skip


def checks(cat: Catalog) -> None:
    """CHK-1: faults that reading does not reach."""
    plain = Output(head(), [Region({0: [Block(b"plain")]})])

    def case(
        name: str,
        title: str,
        output: Output,
        code: str,
        at: Callable[[Any], int],
        clause: str = "CHK-1 DIC-3",
        **more: Any,
    ) -> None:
        built = build(output)
        cat.bad_check(f"dic-chk-1-{name}", clause, title, built, fault(code, built.index, at(built)), **more)

    output = replace(plain, regions=[Region({0: [Block(b"plain")]}, dictionaries=[Dictionary(WORDS, listed=False)])])
    case(
        "not-listed",
        "a dictionary of a single file that the footer does not have",
        output,
        "inconsistent-index",
        lambda b: b.metadata[0],
    )
    output = replace(plain, trailing=[Dictionary(WORDS, listed=False)])
    case(
        "not-listed-trailing",
        "a trailing dictionary that the footer does not have",
        output,
        "inconsistent-index",
        lambda b: b.metadata[1],
    )
    output = several()
    output.regions[0].dictionaries[1].listed = False
    output.regions[0].own[0] = [with_dictionary("words", 1)]
    output.regions[0].shared = []
    output.regions[1].own = {3: [Block(b"plain")]}
    case("second-not-listed", "the footer has the first and the third of three dictionaries", output, "inconsistent-index",
         lambda b: b.dictionaries[1][1])  # fmt: skip
    output = lying(
        replace(plain, regions=[Region({0: [Block(b"plain")]}, before=[(200, WORDS)])]), lambda _: [(64, len(WORDS), 0)]
    )
    case(
        "skippable-listed",
        "the footer lists skippable metadata as a dictionary",
        output,
        "inconsistent-index",
        lambda b: b.footer + 24,
    )
    output = lying(one([Block(b"plain")]), entry(1, size=len(WORDS) - 3))
    case("size", "a dictionary of another size than the footer says", output, "inconsistent-index", lambda b: 64)
    output = one([Block(b"plain")], sequence=4)
    case(
        "sequence",
        "a dictionary of a single file has another sequence",
        output,
        "inconsistent-index",
        lambda b: 64 + 12,
        "CHK-1 DIC-4",
    )
    output = lying(one([Block(b"plain")], WORDS[:-3]), entry(1, size=len(WORDS)))
    case("size-more", "a dictionary that is smaller than the footer says", output, "inconsistent-index", lambda b: 64)
    for paired, more in LAYOUTS:
        for name, content, by in (("size-needed", WORDS, -3), ("size-more-needed", WORDS[:-3], 0)):
            needs = run(1)
            built = build(lying(one([needs], content, paired=paired), entry(1, size=len(WORDS) + by)))
            bad = fault("inconsistent-index", built.data, 64)
            cat.bad_block(
                f"dic-4-{name}{more}",
                "DIC-4",
                "the footer has another size for a dictionary",
                built,
                needs,
                bad,
                level="structure",
            )
        needs = run(1)
        lies = lying(one([needs], b"wrong beginning".ljust(len(WORDS))), entry(1, size=len(WORDS) - 3))
        built = build(replace(lies, paired=paired))
        cat.bad_block(f"dic-4-size-before-content{more}", "DIC-4", "its size is compared before its content is checked", built, needs,
                      fault("inconsistent-index", built.data, 64), level="structure")  # fmt: skip
    pair = replace(plain, paired=True)
    pair.regions[0].before = [(131, WORDS)]
    case(
        "in-index",
        "a dictionary in the index file of a pair",
        pair,
        "malformed-block",
        lambda b: 64 + 16,
        "CHK-1 BLK-7 DIC-3",
    )
    bare = replace(base.small(), header=replace(base.small().header, reader_features=0))
    bare.regions[0].before = [(131, WORDS)]
    case(
        "feature",
        "a dictionary in a file without the feature",
        bare,
        "unsupported-feature",
        lambda b: 64 + 16,
        "CHK-1 BLK-7",
    )
    for paired, more in LAYOUTS:
        for reserved in (133, 191):
            output = Output(head(), [Region({0: [Block(b"plain")]}, before=[(reserved, b"?")])], paired)
            case(
                f"kind-{reserved}{more}",
                "a kind that is still reserved",
                output,
                "unsupported-feature",
                lambda b: 64 + 16,
                "CHK-1 BLK-7",
            )
        output = Output(head(), [Region({0: [Block(b"plain")]}, block={"kind": 131, "dictionary": 1})], paired)
        built = build(output)
        cat.bad_region(f"dic-reg-10-kind{more}", "REG-10 BLK-7", "a dictionary where a region message must be", built,
                       fault("malformed-block", built.index, built.messages[0] + 16))  # fmt: skip
        built = build(Output(head(), [], paired, footer_block={"kind": 131, "dictionary": 1}))
        cat.refused(f"dic-opn-2-kind{more}", "OPN-2 BLK-7", "a dictionary where the footer must be", built.files,
                    fault("malformed-block", built.index, built.footer + 16), features=["dictionaries"])  # fmt: skip
    stray = Block(another(WORDS), kind=131, dictionary=1)
    output = Output(head(), [Region({0: [Block(b"plain")], 2: [Block(b"before"), stray]}, [Shared([Block(b"all")])])])
    built = build(output)
    bad = fault("malformed-block", "single", base.where(built, stray) + 16)
    cat.bad_block("dic-3-in-region", "DIC-3 BLK-7", "a dictionary inside a region's blocks", built, stray, bad)
    ends = Block(another(WORDS), kind=131, dictionary=1)
    built = build(Output(head(), [Region({0: [Block(b"plain")]}, [Shared([ends])])]))
    cat.bad_block("dic-3-before-message", "DIC-3 BLK-7", "a dictionary between a region's blocks and its message", built, ends,
                  fault("malformed-block", "single", base.where(built, ends) + 16))  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    footers(cat)
    checks(cat)
