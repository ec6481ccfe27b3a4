"""Cases of merges that are resumed: MRG-4."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from . import base
from .catalog import Catalog, fault
from .fragment import fragment_of
from .fragments import with_dictionaries
from .merging import HEAD, Steps, options, output_of, put, steps_of
from .output import Answer, arrow_message, build
from .raw import Header, run


def begun(header: Header = HEAD, numbers: tuple[int, ...] = (7, 3), **merge: Any) -> Steps:
    """A merge with a committed region for each of some producers. Its steps are forgotten."""
    s = steps_of(header, **merge)
    for number in numbers:
        s.merge.push(fragment_of(output_of(number), 0, 4))
        s.merge.end()
    return s


def resumed(cat: Catalog, name: str, clause: str, title: str, s: Steps, existing: Answer, **more: Any) -> None:
    """A case of going on with files that exist."""
    put(cat, f"resume-{name}", clause, title, s, mode="resume", existing=existing, **more)


def going_on(cat: Catalog) -> None:
    """Merges that go on."""
    for name, title, numbers, after in (
        ("new", "a new producer", (7, 3), (9,)), ("duplicate", "a producer that the file has", (7, 3), (3,)),
        ("below", "a producer between others", (7, 3), (5, 7)), ("created", "a file without a region", (), (7, 3)),
        ("nothing", "nothing is pushed", (7,), ()),
    ):  # fmt: skip
        s = begun(numbers=numbers)
        existing = build(s.merge.output(False)).files
        for number in after:
            s.push(fragment_of(output_of(number), 0, 4))
        s.finalize()
        resumed(cat, name, "MRG-4", title, s, existing)
    s = begun()
    existing = build(s.merge.output(False)).files
    s.push(fragment_of(output_of(7, attempt=1), 0))
    s.finalize()
    resumed(cat, "other-attempt", "MRG-4 MRG-7", "attempts are those of the file", s, existing)
    s = steps_of()
    whole = output_of(7, blocks=4, partitions=(1,))
    s.merge.push(fragment_of(whole, 1, 1, (0, 2)))
    s.merge.end()
    existing = build(s.merge.output(False)).files
    s.push(fragment_of(whole, 1, 1, (3, 4)))
    s.push(fragment_of(whole, 1, 1, (1, 4)))
    s.finalize()
    resumed(cat, "numbers", "MRG-4 MRG-7", "numbers are those of the file", s, existing)
    s = begun()
    existing = build(s.merge.output(False)).files
    s.push(fragment_of(output_of(9), 0, 4))
    s.call("done", "close")
    s.merge.open = []
    resumed(cat, "close", "MRG-4 MRG-10", "a file that is resumed and closed", s, existing, finished=False)
    for name, title, cut in (("data-more", "bytes after the last region", "data"), ("index-more", "a region that is cut", "index")):  # fmt: skip
        s = begun()
        longer = begun(numbers=(7, 3, 9))
        existing = build(s.merge.output(False)).files
        more = build(longer.merge.output(False)).files
        existing["data"] = more["data"]
        if cut == "index":
            existing["index"] = more["index"][:-8]
        s.push(fragment_of(output_of(5), 0, 4))
        s.finalize()
        resumed(cat, name, "MRG-4 REP-3", title, s, existing)
    s = begun()
    existing = build(s.merge.output(True)).files
    existing["index"] = existing["index"][:-1]
    s.push(fragment_of(output_of(9), 0, 4))
    s.finalize()
    resumed(cat, "footer", "MRG-4", "a footer without a tail is cut off", s, existing)
    s = steps_of(replace(HEAD, reader_features=2))
    many = with_dictionaries()
    s.merge.push(fragment_of(many, 0, 4))
    s.merge.end()
    existing = build(s.merge.output(False)).files
    again = replace(many, header=replace(many.header, producer=9))
    s.push(fragment_of(again, 0, 4))
    s.push(fragment_of(many, 1))
    s.finalize()
    resumed(cat, "dictionaries-known", "MRG-4 MRG-7 DIC-3", "dictionaries are those of the file", s, existing,
            features=["zstd", "dictionaries"])  # fmt: skip
    arrow = replace(HEAD, framing=2)
    schema = {"hex": base.SCHEMA.hex()}
    s = steps_of(arrow, schema=base.SCHEMA)
    s.merge.push(fragment_of(base_arrow(), 1))
    s.merge.end()
    existing = build(s.merge.output(False)).files
    s.push(fragment_of(base_arrow(), 1))
    s.finalize()
    resumed(
        cat,
        "arrow-again",
        "MRG-4",
        "framing arrow",
        s,
        existing,
        opts=options(arrow, schema=schema),
        features=["arrow"],
    )


def base_arrow() -> Any:
    """An output of producer 7 with framing arrow."""
    batches = base.arrow([arrow_message(b"batch"), arrow_message(b"more")], base.SCHEMA, True)
    batches.header = replace(batches.header, producer=7)
    return batches


def refused(cat: Catalog) -> None:
    """Files that are not resumed. They stay as they are."""

    def case(name: str, clause: str, title: str, existing: Answer, bad: Answer, **more: Any) -> None:
        request = {"mode": "resume", "options": more.pop("opts", options()), "steps": []}
        cat.add(f"mrg-resume-{name}", clause, title, "merge", folder="merge", request=request, existing=existing,
                expect=bad, expect_files=existing, **more)  # fmt: skip

    files = build(begun().merge.output(False)).files
    for name, opts, offset in (
        ("partition-count", {"partition_count": 5}, 12), ("first-partition", {"first_partition": 1}, 56),
        ("framing", {"framing": "records"}, 11), ("generation", {"generation": "6"}, 32),
        ("file-id", {"file_id": "ff" * 16}, 40), ("dictionaries", {"dictionaries": True}, 16),
        ("order", {"generation": "6", "file_id": "ff" * 16, "first_partition": 1}, 56),
    ):  # fmt: skip
        case(name, "MRG-4", f"another {name}", files, fault("mismatched-pair", "index", offset), opts=options(**opts))
    made = begun().merge.output(False)
    alone = replace(made, header=replace(HEAD, producer=7), regions=[replace(r, runs=None) for r in made.regions])
    bad = fault("mismatched-pair", "index", 24)
    case("not-merged", "MRG-4 MRG-1", "an output of one producer", build(alone).files, bad)
    finished = build(begun().merge.output(True)).files
    case("finished", "MRG-4", "a finished file", finished, fault("invalid-argument"))
    case("finished-other", "MRG-4", "a finished file, and another generation", finished,
         fault("mismatched-pair", "index", 32), opts=options(generation="6"))  # fmt: skip
    strange = replace(made, header=replace(HEAD, producer=made.header.producer, writer_features=4))
    bad = fault("unsupported-feature", "index", 20)
    case("writer-feature", "MRG-4 REP-9", "an unknown writer feature", build(strange).files, bad)
    damaged = bytearray(files["index"])
    damaged[70] ^= 1
    bad = fault("checksum", "index", 64)
    case("damaged", "MRG-4 REP-2", "a damaged region message", {**files, "index": bytes(damaged)}, bad)
    case("data-cut", "MRG-4", "a data file without its last bytes", {**files, "data": files["data"][:-8]},
         fault("truncated", "data", len(files["data"]) - 8))  # fmt: skip
    pair = {"data": files["data"], "index": finished["data"]}
    case("two-data", "MRG-4 OPN-1", "a data file as index", pair, fault("mismatched-pair", "index", 8))
    runless = replace(made, regions=[made.regions[0], replace(made.regions[1], runs=None)])
    built = build(runless)
    case("without-runs", "MRG-4 MRG-1", "a region without runs", built.files,
         fault("inconsistent-index", "index", built.messages[1] + 24))  # fmt: skip
    own = [list(r.runs or []) for r in made.regions]
    twice = replace(made, regions=[made.regions[0], replace(made.regions[1], runs=[run(7, one[4], one[3]) for one in own[1]])])  # fmt: skip
    built = build(twice)
    case("prefix", "MRG-4 MRG-2", "runs that break MRG-2", built.files,
         fault("inconsistent-index", "index", built.messages[1] + 24))  # fmt: skip
    s = steps_of(replace(HEAD, framing=2), schema=base.SCHEMA)
    s.merge.push(fragment_of(base_arrow(), 1))
    s.merge.end()
    other = {"hex": arrow_message(b"another").hex()}
    case("schema", "MRG-4", "another schema", build(s.merge.output(False)).files, fault("mismatched-pair", "index", 88),
         opts=options(replace(HEAD, framing=2), schema=other), features=["arrow"])  # fmt: skip
    request = {"mode": "resume", "options": options(), "steps": []}
    cat.add("mrg-resume-none", "MRG-4", "no file", "merge", folder="merge", request=request,
            expect=fault("io", "index"), expect_files={"data": None, "index": None})  # fmt: skip
    request = {"mode": "create", "options": options(), "steps": []}
    cat.add("mrg-create-exists", "MRG-4", "a file of the name exists", "merge", folder="merge", request=request,
            existing=files, expect={"error": {"code": "io"}}, expect_files=files)  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    going_on(cat)
    refused(cat)
