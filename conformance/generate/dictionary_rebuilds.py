"""Cases of data files with dictionaries whose index is rebuilt: REP-5 to REP-7."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .catalog import Catalog, fault
from .dictionaries import head, several
from .dictionary_walks import FEATURES, SIZE
from .mending import answer, mended
from .output import Dictionary, Output, Region, Shared, build
from .raw import NOBODY, Block
from .trained import OTHERS, WORDS, run


def add(cat: Catalog) -> None:
    """All of them."""

    def case(
        name: str,
        title: str,
        data: bytes,
        regions: list[Region],
        more: dict[str, Any] | None = None,
        clause: str = "REP-5 REP-6 REP-7",
    ) -> None:
        after = mended(Output(head(), regions, True), mode="rebuild")
        orphaned = sum(len(s.blocks) for r in regions for s in r.shared)
        cat.add(f"rep-rebuild-dic-{name}", clause, title, "repair", folder="repair", files={"data": data, "index": None},
                request={"mode": "rebuild", **(more or {})}, features=FEATURES, expect_files=after.files, check=cat.checks(after.output),
                expect=answer("rebuilt", len(regions), len(data) - len(after.files["data"]), 0, orphaned))  # fmt: skip

    def orphans(output: Output) -> list[Region]:
        return [
            replace(r, shared=[Shared([b for s in r.shared for b in s.blocks], [])] if r.shared else [])
            for r in output.regions
        ]

    output = several(True)
    built = build(output)
    data = built.files["data"]
    case("several", "dictionaries are found again, and shared blocks without members", data, orphans(output))
    w, o = Dictionary(WORDS), Dictionary(OTHERS)
    ends = [Region({0: [run(1, b"a")]}, dictionaries=[w]), Region({1: [run(2, b"b")]}, dictionaries=[o])]
    case(
        "ends-region",
        "a dictionary ends a region that would otherwise continue",
        build(Output(head(), ends, True)).files["data"],
        ends,
        clause="REP-6",
    )
    split = build(Output(head(), ends, True))
    case(
        "trailing",
        "dictionaries after the last block are cut",
        split.files["data"][: split.dictionaries[1][1] + SIZE],
        ends[:1],
        clause="REP-7 DIC-3",
    )
    case(
        "only",
        "a data file with nothing but dictionaries",
        data[: built.dictionaries[1][1] + SIZE - 1],
        [],
        clause="REP-7 DIC-3",
    )
    case("torn", "a torn dictionary is cut", split.files["data"][: split.dictionaries[1][1] + 99], ends[:1])
    rows: list[tuple[str, str, dict[str, Any]]] = [
        ("checksum", "a damaged dictionary", {"checksum_xor": 1}), ("number", "a dictionary that has another number", {"dictionary": 3}),
        ("sequence", "a dictionary with another sequence", {"sequence": 4}), ("begin", "a dictionary whose first bytes are others", {"stored": bytes(320)}),
        ("kind", "skippable metadata", {"kind": 192}),
    ]  # fmt: skip
    for name, title, fields in rows:
        harmed = build(Output(head(), [ends[0], replace(ends[1], dictionaries=[Dictionary(OTHERS, fields)])], True))
        case(name, f"the rebuild ends before {title}", harmed.files["data"], ends[:1], clause="REP-5 DIC-4")
    late = build(Output(head(), [ends[0], Region({1: [run(2)]})], True))
    case(
        "10b",
        "the rebuild ends before a block that names a dictionary that is not there",
        late.files["data"],
        ends[:1],
        clause="REP-5 DIC-3",
    )
    case("limits-at", "the limits are exactly enough", split.files["data"], ends, {"limits": {"max_dictionaries": 2, "max_dictionary_size": 320}},
         "REP-5 LIM-1")  # fmt: skip
    bare = build(
        Output(replace(head(), reader_features=0), [Region({0: [Block(b"plain")]}), Region({1: [Block(b"b")]})], True)
    )
    plain = replace(head(), reader_features=0)
    stray = bare.files["data"] + Block(WORDS, kind=131).encode(NOBODY, 0, plain.file_id)
    after = mended(Output(plain, [Region({0: [Block(b"plain")], 1: [Block(b"b")]})], True), mode="rebuild")
    cat.add("rep-rebuild-dic-feature", "REP-5", "a dictionary in a file without the feature does not count as a block", "repair", folder="repair",
            files={"data": stray, "index": None}, request={"mode": "rebuild"}, expect=answer("rebuilt", 1, 24 + len(WORDS), 0, 0),
            expect_files=after.files, features=["dictionaries"])  # fmt: skip
    second = split.dictionaries[1][1]
    for name, limits, at in (
        ("count", {"max_dictionaries": 1}, second),
        ("size", {"max_dictionary_size": 319}, 64),
        ("none", {"max_dictionaries": 0}, 64),
    ):
        cat.add(f"rep-rebuild-dic-limit-{name}", "REP-5 DIC-5 LIM-1", "a reader with these limits could not read the index", "repair", folder="repair",
                files={"data": split.files["data"], "index": None}, request={"mode": "rebuild", "limits": limits}, features=FEATURES,
                expect=fault("limit-exceeded", "data", at), expect_files={"data": split.files["data"]})  # fmt: skip
    for name, most, at in (("before", 1, second), ("after", 2, split.blocks[0][2])):
        cat.add(f"rep-rebuild-dic-limit-{name}-region", "REP-6 REP-5 DIC-5", "a dictionary that is refused does not end the open region, an accepted one does", "repair",
                folder="repair", files={"data": split.files["data"], "index": None}, features=FEATURES, expect_files={"data": split.files["data"]},
                request={"mode": "rebuild", "limits": {"max_regions": 0, "max_dictionaries": most}},
                expect=fault("limit-exceeded", "data", at))  # fmt: skip
