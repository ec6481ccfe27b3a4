"""The gold files: a few files of this version. They never change, and every later reader must read them."""

from __future__ import annotations

import copy
import json
from typing import Any

from . import base
from .catalog import Catalog, manifest
from .codecs import lz4_block, zstd_run
from .output import Output, Region, Shared, arrow_message
from .raw import MERGED, OPAQUE, Block, Header, run

FOLDER = "1.0-draft"


def outputs() -> list[tuple[str, str, Output]]:
    """Name, title and content of each."""
    schema = arrow_message(b"a schema message of Arrow would stand here")  # prose: allow
    batches = [arrow_message(b"a record batch", b"its body of bytes"), arrow_message(b"another")]
    mixed = Region({0: [lz4_block(b"compress ", 180, b"literals")], 2: [zstd_run(b"z", 900), Block(b"stored")]})
    wide = {17: [base.text("seventeen")], 4000: [base.text("four", "thousand"), base.event(b"barrier")]}
    turned = {p: [Block(f"slot of {p}".encode())] for p in (6, 7, 5)}
    merged = Region({0: [Block(b"of one: "), Block(b"of two: "), Block(b"as well: ")]},
                    runs=[run(1, 4, last=1), run(2, 9, 2, attempt=5, last=1)])  # fmt: skip
    seen = {"made.by": "the conformance suite", "ünïcode": "✓"}
    return [
        ("paired-records", "a pair of records, two regions, broadcast and multicast", base.small(paired=True)),
        ("single-records", "the same as a single file, with statistics and properties",
         Output(Header(), base.small().regions, statistics=True, properties=seen, created_by="gold")),
        ("paired-codecs", "LZ4 and Zstandard blocks in a pair", Output(Header(partition_count=3, framing=OPAQUE), [mixed], True, statistics=True)),
        ("single-codecs", "LZ4 and Zstandard blocks in a single file", Output(Header(partition_count=3, framing=OPAQUE), [mixed])),
        ("single-sparse", "a sparse region of 5,000 partitions", Output(Header(partition_count=5000), [Region(wide)])),
        ("paired-rotated", "a dense region that begins at its second partition",
         Output(Header(partition_count=3, first_partition=5, framing=OPAQUE), [Region(turned, rotation=1)], True)),
        ("paired-arrow", "framing arrow", base.arrow(batches, schema, True)),
        ("single-merged", "a merged file with runs",
         Output(Header(partition_count=1, framing=OPAQUE, producer=MERGED, attempt=2), [merged])),
        ("paired-selective", "sequences with gaps",
         Output(Header(partition_count=2, framing=OPAQUE, reader_features=1),
                [Region({0: [Block(b"third", sequence=3)], 1: [Block(b"first"), Block(b"sixth", sequence=6)]})], True)),
        ("single-streams", "sequences with gaps, at their ends too, as the footer says",
         Output(Header(partition_count=2, framing=OPAQUE, reader_features=1),
                [Region({0: [Block(b"third", sequence=3)]}, [Shared([Block(b"first", sequence=1)])])],
                streams={"next": [9, 5], "missing": [8, 5], "shared_next": 4, "shared_missing": 3})),
        ("single-empty", "no records", Output(Header(partition_count=1000), [], statistics=True)),
    ]  # fmt: skip


def catalog() -> Catalog:
    """The gold files as cases; their manifest has the same format."""
    made = Catalog()
    for name, title, output in outputs():
        made.valid(f"gold-{name}", "VER-6", title, output)
    return made


def tree() -> dict[str, bytes]:
    """The content of each file in the folder, by path."""
    made = catalog()
    moved: list[dict[str, Any]] = copy.deepcopy(made.cases)
    for case in moved:
        case["files"] = {role: path.removeprefix("valid/") for role, path in case["files"].items()}
        case["sha256"] = {path.removeprefix("valid/"): digest for path, digest in case["sha256"].items()}
    files = {path.removeprefix("valid/"): content for path, content in made.files.items()}
    return files | {"manifest.json": manifest(moved)}


def add(cat: Catalog) -> None:
    """Adds the gold files to the cases: their files are in the folder beside the one of the cases."""
    for case in json.loads(tree()["manifest.json"])["cases"]:
        beside = f"../gold/{FOLDER}/"
        case["files"] = {role: beside + path for role, path in case["files"].items()}
        case["sha256"] = {beside + path: digest for path, digest in case["sha256"].items()}
        cat.cases.append(case)
