"""Cases of the header, of pairs and of versions: HDR, FIL, OPN 1 to 5, VER."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

from . import base
from .catalog import Catalog, fault
from .output import Output, build, read_answer
from .raw import MAGIC, Header

# The rows of HDR-1 that a header with a correct checksum can violate: row, fields, code, offset.
ROWS: list[tuple[int, str, dict[str, Any], str, int]] = [
    (4, "major", {"version_major": 2}, "unsupported-version", 9),
    (5, "feature", {"reader_features": 1 << 5}, "unsupported-feature", 16),
    (6, "manifest", {"kind": 4}, "unsupported-feature", 8),
    (8, "framing", {"framing": 3}, "malformed-header", 11),
    (9, "count", {"partition_count": 0}, "malformed-header", 12),
    (10, "range", {"first_partition": 1 << 28}, "malformed-header", 56),
]

MORE: list[tuple[str, str, dict[str, Any], str, int]] = [
    ("04-major-0", "HDR-1 VER-1", {"version_major": 0}, "unsupported-version", 9),
    ("04-major-255", "HDR-1 VER-1", {"version_major": 255}, "unsupported-version", 9),
    ("07-kind-0", "HDR-1", {"kind": 0}, "malformed-header", 8),
    ("07-kind-6", "HDR-1", {"kind": 6}, "malformed-header", 8),
    ("07-kind-fragment", "HDR-1 OPN-1", {"kind": 5}, "mismatched-pair", 8),
    ("07-kind-255", "HDR-1", {"kind": 255}, "malformed-header", 8),
    ("08-framing-255", "HDR-1", {"framing": 255}, "malformed-header", 11),
    ("09-count-above", "HDR-1", {"partition_count": (1 << 28) + 1}, "malformed-header", 12),
    ("09-count-most", "HDR-1", {"partition_count": 0xFFFFFFFF}, "malformed-header", 12),
    ("10-range-by-one", "HDR-1", {"partition_count": 4, "first_partition": (1 << 28) - 3}, "malformed-header", 56),
    ("10-range-wraps", "HDR-1 INT-4", {"partition_count": 4, "first_partition": 0xFFFFFFFD}, "malformed-header", 56),
]

# FIL-3, in its order: the field, another value, its offset.
PAIR: list[tuple[str, Any, int]] = [
    ("file_id", bytes(15) + b"\x01", 40),
    ("partition_count", 5, 12),
    ("first_partition", 1, 56),
    ("producer", 9, 24),
    ("attempt", 9, 32),
    ("framing", 0, 11),
    ("reader_features", 1, 16),
    ("writer_features", 1, 20),
    ("version_minor", 1, 10),
]


def with_header(files: dict[str, bytes], role: str, header: Header) -> dict[str, bytes]:
    """The files with another header in one of them."""
    return {**files, role: header.encode() + files[role][64:]}


def rows(cat: Catalog) -> None:
    """Every row of HDR-1, and which of two faults is reported."""
    built = build(base.tiny())
    head, files = built.output.header, built.files
    for row, name, fields, code, offset in ROWS:
        cat.refused(f"hdr-1-{row:02}-{name}", "HDR-1", f"check {row} of the header fails: {name}",
                    with_header(files, "single", replace(head, **fields)), fault(code, "single", offset))  # fmt: skip
    for name, clause, fields, code, offset in MORE:
        cat.refused(f"hdr-1-{name}", clause, f"a header with {fields}",
                    with_header(files, "single", replace(head, **fields)), fault(code, "single", offset))  # fmt: skip
    for first, second in combinations(ROWS, 2):
        fields = {**second[2], **first[2]}
        cat.refused(f"hdr-1-order-{first[0]:02}-{second[0]:02}", "HDR-1",
                    f"checks {first[0]} and {second[0]} of the header fail: the earlier is reported",
                    with_header(files, "single", replace(head, **fields)),
                    fault(first[3], "single", first[4]))  # fmt: skip
    for bit in range(2, 32):
        cat.refused(f"hdr-1-05-bit-{bit:02}", "HDR-1 VER-3", f"reader feature bit {bit} is not known",
                    with_header(files, "single", replace(head, reader_features=1 << bit)),
                    fault("unsupported-feature", "single", 16))  # fmt: skip
    cat.refused("hdr-1-03-checksum", "HDR-1", "a header whose checksum does not match",
                with_header(files, "single", replace(head, checksum=0)), fault("checksum", "single", 0))  # fmt: skip
    cat.refused("hdr-2-damaged-version", "HDR-2 HDR-1", "damage of the version byte is damage, not a version",
                {"single": files["single"][:9] + b"\x03" + files["single"][10:]},
                fault("checksum", "single", 0))  # fmt: skip
    for at in (8, 11, 12, 16, 20, 24, 39, 40, 55, 56, 60, 63):
        flipped = bytearray(files["single"])
        flipped[at] ^= 0x10
        cat.refused(f"hdr-1-03-flip-{at:02}", "HDR-1 HDR-2", f"one bit of header byte {at} is wrong",
                    {"single": bytes(flipped)}, fault("checksum", "single", 0))  # fmt: skip


def starts(cat: Catalog) -> None:
    """The first eight bytes and files that are too short."""
    built = build(base.tiny())
    whole = built.files["single"]
    for at in range(8):
        flipped = bytearray(whole)
        flipped[at] ^= 0x01
        cat.refused(f"hdr-1-01-magic-{at}", "HDR-1", f"byte {at} of the magic is wrong", {"single": bytes(flipped)},
                    fault("not-faro", "single", 0))  # fmt: skip
    cat.refused("hdr-1-01-line-ends", "HDR-1", "the file went through a text-mode transfer",
                {"single": whole.replace(b"\r\n", b"\n")}, fault("not-faro", "single", 0))  # fmt: skip
    cat.refused("hdr-1-01-short-other", "HDR-1", "three bytes that are not the magic's", {"single": b"PAR"},
                fault("not-faro", "single", 0))  # fmt: skip
    for size in (0, 1, 7, 8, 9, 63):
        cat.refused(f"hdr-1-02-truncated-{size:02}", "HDR-1", f"only {size} bytes of a header",
                    {"single": whole[:size]}, fault("truncated", "single", size))  # fmt: skip
    cat.refused("hdr-1-order-01-02", "HDR-1", "a short file that does not begin with the magic",
                {"single": MAGIC[:5] + b"\x0d\x0d\x0a"}, fault("not-faro", "single", 0))  # fmt: skip
    cat.refused("hdr-1-only-a-header", "OPN-2 OPN-3", "a header alone", {"single": whole[:64]},
                fault("unfinished", "single", 64))  # fmt: skip
    cat.refused("hdr-5-claims-partitions", "HDR-5 OPN-3", "a header alone, which claims 2^28 partitions",
                {"single": Header(partition_count=1 << 28).encode()}, fault("unfinished", "single", 64))  # fmt: skip


def pairs(cat: Catalog) -> None:
    """Both headers of a pair."""
    built = build(base.small(paired=True))
    head, files = built.output.header, built.files
    data, index = head.of_kind(1), head.of_kind(2)
    for role, header in (("index", index), ("data", data)):
        clause = "HDR-1 OPN-1"
        for row, name, fields, code, offset in ROWS:
            cat.refused(f"opn-1-{role}-header-{row:02}", clause, f"check {row} of the {role} file's header fails: {name}",
                        with_header(files, role, replace(header, **fields)), fault(code, role, offset))  # fmt: skip
        cat.refused(f"opn-1-{role}-header-01", clause, f"the {role} file does not begin with the magic",
                    {**files, role: b"x" + files[role][1:]}, fault("not-faro", role, 0))  # fmt: skip
        cat.refused(f"opn-1-{role}-header-02", clause, f"the {role} file is empty", {**files, role: b""},
                    fault("truncated", role, 0))  # fmt: skip
        cat.refused(f"opn-1-{role}-header-03", clause, f"the {role} file's header is damaged",
                    with_header(files, role, replace(header, checksum=7)), fault("checksum", role, 0))  # fmt: skip
        cat.add(f"opn-4-missing-{role}", "OPN-4 ERR-1", f"there is no {role} file", "read", folder="invalid",
                files={**files, role: None}, expect=fault("io", role))  # fmt: skip
    cat.add("opn-4-missing-single", "OPN-4 ERR-1", "there is no file", "read", folder="invalid", files={"single": None},
            expect=fault("io", "single"))  # fmt: skip
    for order, (name, value, offset) in enumerate(PAIR):
        cat.refused(f"fil-3-{name.replace('_', '-')}", "FIL-3 OPN-1", f"the files of a pair differ in {name}",
                    with_header(files, "data", replace(data, **{name: value})),
                    fault("mismatched-pair", "data", offset))  # fmt: skip
        if order:
            before, other, at = PAIR[order - 1]
            cat.refused(f"fil-3-order-{order}", "FIL-3 OPN-1", f"the files of a pair differ in {before} and {name}",
                        with_header(files, "data", replace(data, **{name: value, before: other})),
                        fault("mismatched-pair", "data", at))  # fmt: skip
    kinds = [
        ("swapped", {"data": files["index"], "index": files["data"]}, "index"),
        ("data-twice", {"data": files["data"], "index": files["data"]}, "index"),
        ("index-twice", {"data": files["index"], "index": files["index"]}, "data"),
        ("index-is-single", with_header(files, "index", index.of_kind(3)), "index"),
        ("data-is-single", with_header(files, "data", data.of_kind(3)), "data"),
        ("single-is-data", {"single": files["data"]}, "single"),
        ("single-is-index", {"single": files["index"]}, "single"),
    ]
    for name, given, role in kinds:
        cat.refused(f"opn-4-{name}", "OPN-4 OPN-1 FIL-4", f"a kind of file where another must be: {name}", given,
                    fault("mismatched-pair", role, 8))  # fmt: skip
    other = with_header(files, "data", replace(data, kind=2, version_minor=3))
    cat.refused("opn-1-order-4-5", "OPN-1", "the data file has another kind and another minor", other,
                fault("mismatched-pair", "data", 8))  # fmt: skip
    both = with_header(with_header(files, "data", replace(data, version_major=9)), "index", index.of_kind(1))
    cat.refused("opn-1-order-2-3", "OPN-1", "the index has another kind, the data file another major", both,
                fault("mismatched-pair", "index", 8))  # fmt: skip
    cut = {"data": with_header(files, "data", replace(data, attempt=1))["data"], "index": files["index"][:-1]}
    cat.refused("opn-1-order-5-6", "OPN-1", "the files do not match, and the index has no tail", cut,
                fault("mismatched-pair", "data", 32))  # fmt: skip


def accepted(cat: Catalog) -> None:
    """Headers that must be accepted."""
    heads: list[tuple[str, str, str, dict[str, Any]]] = [
        ("writer-features", "HDR-4 VER-4", "all bits of writer_features are set", {"writer_features": 0xFFFFFFFF}),
        ("producer", "HDR-3", "the largest producer and attempt",
         {"producer": (1 << 64) - 1, "attempt": (1 << 64) - 1}),
        ("file-id-zero", "HDR-3", "a file_id of zeros", {"file_id": bytes(16)}),
        ("minor-1", "VER-2", "a newer minor", {"version_minor": 1}),
        ("minor-255", "VER-2", "the newest minor", {"version_minor": 255}),
    ]  # fmt: skip
    for name, clause, title, fields in heads:
        cat.valid(f"hdr-accepts-{name}", clause, title, base.small(**fields))
        cat.valid(f"hdr-accepts-{name}-paired", clause, title, base.small(paired=True, **fields))
    most = Output(Header(partition_count=1 << 28))
    cat.valid("hdr-5-most-partitions", "HDR-5 HDR-1", "an empty file of 2^28 partitions", most)
    last = base.small(partition_count=4, first_partition=(1 << 28) - 4)
    cat.valid("hdr-1-last-partitions", "HDR-1", "the last four possible partitions", last)
    cat.add("prt-2-outside", "PRT-2", "partitions outside of the file are the caller's mistake", "read",
            folder="valid", files=build(base.small(first_partition=10)).files,
            request={"partitions": [9, 10, 14, 0xFFFFFFFF]}, expect=outside())  # fmt: skip


def outside() -> dict[str, Any]:
    """The answer for partitions below, in and above a file's range."""
    bad = fault("invalid-argument")
    answer = read_answer(base.small(first_partition=10), [10])
    answer["partitions"] |= {"9": bad, "14": bad, "4294967295": bad}
    return {"ok": answer}


def add(cat: Catalog) -> None:
    """All of them."""
    rows(cat)
    starts(cat)
    pairs(cat)
    accepted(cat)
