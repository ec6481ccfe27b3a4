"""The operations of the Python testee about fragments and merged files."""

from __future__ import annotations

import hashlib
import io
import struct
from pathlib import Path
from typing import Any

from faro_format import FaroError, FileHeader, Limits, Reader
from faro_format import merge as faro
from faro_format._error import invalid
from faro_format.merge import Expected, Merge, MergeOptions, Names, Outcome, Push
from python_payloads import payload
from python_storage import files

Json = dict[str, Any]


def place_of(fault: FaroError) -> Json:
    """Return an error as the protocol has it."""
    place = {"code": str(fault.code), "file": fault.role, "offset": fault.offset}
    return {**place, "expected": fault.expected, "found": fault.found}


def limits(request: Json) -> Limits:
    """Return the limits of a request."""
    return Limits(**request.get("limits", {}))


def header_of(header: FileHeader) -> Json:
    """Return a header as the protocol has it."""
    return {
        "kind": header.kind,
        "version_minor": header.version_minor,
        "framing": header.framing,
        "partition_count": header.partition_count,
        "first_partition": header.first_partition,
        "reader_features": header.reader_features,
        "writer_features": header.writer_features,
        "producer": str(header.producer),
        "attempt": str(header.attempt),
        "file_id": header.file_id.hex(),
    }


def fragment(request: Json) -> Json:
    """Make a fragment of an output."""
    first, count = request["partitions"]
    made = io.BytesIO()
    numbers = request.get("numbers")
    with Reader(**files(request), limits=limits(request)) as reader:
        found = faro.fragment(reader, first, first + count, made, numbers=None if numbers is None else tuple(numbers))
    if found is None:
        return {"blocks": 0, "length": 0, "last": False}
    Path(request["path"]).write_bytes(made.getvalue())
    return {"blocks": found.blocks, "length": found.length, "last": found.last}


def region_fragments(request: Json) -> Json:
    """Make fragments of a region of a merged file."""
    made = io.BytesIO()
    with Reader(**files(request), limits=limits(request)) as reader:
        length = faro.region_fragments(reader, request["region"], Names(**request["names"]), made)
    Path(request["path"]).write_bytes(made.getvalue())
    return {"length": length}


def fragments(request: Json) -> Json:
    """Read a stream of fragments."""
    answers = []
    with open(request["fragment"], "rb") as stream:
        for one in faro.read_fragments(stream, limits=limits(request)):
            parts: dict[int, tuple[int, list[bytes]]] = {}
            for block in one.blocks():
                plain = one.decode(block)
                _, found = parts.setdefault(block.partition, (block.number, []))
                found.append(struct.pack("<BI", block.kind, block.plain_size) + bytes(plain))
            partitions = {
                str(partition): {
                    "first": first,
                    "blocks": len(found),
                    "sha256": hashlib.sha256(b"".join(found)).hexdigest(),
                }
                for partition, (first, found) in parts.items()
            }
            blocks = sum(len(found) for _, found in parts.values())
            answers.append(
                {"header": header_of(one.header), "blocks": blocks, "last": one.last, "partitions": partitions}
            )
    return {"fragments": answers}


def merge(request: Json) -> Json:
    """Make or resume a merge, and take its steps."""
    given = dict(request["options"])
    if "file_id" in given:
        given["file_id"] = bytes.fromhex(given["file_id"])
    if "generation" in given:
        given["generation"] = int(given["generation"])
    if "names" in given:
        given["names"] = Names(**given["names"])
    if "schema" in given:
        given["schema"] = payload(given["schema"])
    options = MergeOptions(**given, limits=limits(request))
    begin = Merge.resume if request["mode"] == "resume" else Merge.create
    content = [Path(path).read_bytes() for path in request["fragments"]]
    pushes: dict[str, Push] = {}
    answers = []
    with begin(request["path"], options) as made:
        for step in request["steps"]:
            try:
                answers.append(take(made, pushes, content, step))
            except FaroError as fault:
                answers.append({"error": place_of(fault)})
    return {"steps": answers}


def take(made: Merge, pushes: dict[str, Push], content: list[bytes], step: Json) -> Json:
    """Take one step; return its answer."""
    call = step["call"]
    if call == "begin":
        found = made.begin(int(step["producer"]), int(step["generation"]))
        if isinstance(found, Outcome):
            return {"outcome": found.value}
        pushes[step["push"]] = found
        return {"outcome": "open"}
    if call in ("flush", "release", "close", "remove"):
        {"flush": made.flush, "release": made.release, "close": made.close, "remove": made.remove}[call]()
        return {"outcome": "done"}
    if call == "finalize":
        return {"outcome": "finalized", "runs": made.finalize().runs}
    if step["push"] not in pushes:
        raise invalid("a push that was begun", step["push"])
    push = pushes[step["push"]]
    if call == "abort":
        push.abort()
        return {"outcome": "done"}
    if call == "commit":
        return {"outcome": push.commit().value}
    whole = content[step["fragment"]]
    refused = push.write(whole[step.get("from", 0) : step.get("to", len(whole))])
    return {"outcome": "taken" if refused is None else refused.value}


def expected(request: Json) -> list[Expected]:
    """Return the producers that a request expects."""
    return [Expected(int(one["producer"]), int(one["attempt"])) for one in request["expected"]]


def provenance(request: Json) -> Json:
    """Return what a merged file has."""
    partitions = {}
    with Reader(**files(request), limits=limits(request)) as reader:
        for partition in request["partitions"]:
            partitions[str(partition)] = {
                "runs": [
                    {
                        "region": region,
                        "producer": str(run.producer),
                        "attempt": str(run.attempt),
                        "first_block": run.first_block,
                        "blocks": run.blocks,
                        "length": run.length,
                        "last": run.last,
                    }
                    for region, _, run in faro.runs(reader, partition)
                ],
                "have": [
                    {"producer": str(producer), "attempt": str(attempt), "blocks": blocks, "last": complete}
                    for producer, attempt, blocks, complete in faro.have(reader, partition)
                ],
                "missing": [
                    {"producer": str(producer), "attempt": str(attempt), "from": first}
                    for producer, attempt, first in faro.missing(reader, partition, expected(request))
                ],
            }
    return {"partitions": partitions}


def read_merged(request: Json) -> Json:
    """Read a partition of a merged file with originals."""
    content = hashlib.sha256()
    blocks = originals = 0

    def opener(of: Expected) -> Reader:
        if str(of.producer) not in request["originals"]:
            raise invalid("the original of a producer", of.producer)
        return Reader(**files(request["originals"][str(of.producer)]))

    with Reader(**files(request), limits=limits(request)) as reader:
        reading = faro.with_originals(reader, request["partition"], expected(request), opener)
        for producer, number, original, block in reading:
            blocks += 1
            originals += original
            content.update(struct.pack("<QIBI", producer, number, block.kind, block.plain_size) + bytes(block.payload))
    faults = [place_of(fault) for fault in reading.faults]
    return {"blocks": blocks, "from_originals": originals, "faults": faults, "sha256": content.hexdigest()}


def file_id(request: Json) -> Json:
    """Make a file_id from names."""
    names = request["names"]
    first = names["application"], names["shuffle"]
    if "producer" in names:
        made = faro.output_file_id(*first, int(names["producer"]), int(names["attempt"]))
    else:
        made = faro.merged_file_id(*first, int(names["generation"]), names["first_partition"])
    return {"file_id": made.hex()}


def plan_pushes(request: Json) -> Json:
    """Plan the pushes of producers."""
    plan = faro.PushPlan(**request["options"])
    pushes = {}
    for one in request["producers"]:
        found = plan.pushes(int(one["producer"]), one["bytes"])
        pushes[one["producer"]] = [[push.merger, push.first, push.end - push.first, push.bytes] for push in found]
    mergers = []
    for merger in range(plan.mergers):
        partitions = plan.partitions(merger)
        mergers.append([partitions.start, len(partitions)])
        if any(plan.merger(partition) != merger for partition in partitions):
            raise AssertionError(f"the partitions of merger {merger}")
    return {"mergers": mergers, "pushes": pushes}


OPERATIONS = {
    "fragment": fragment,
    "region_fragments": region_fragments,
    "fragments": fragments,
    "merge": merge,
    "provenance": provenance,
    "read_merged": read_merged,
    "file_id": file_id,
    "plan_pushes": plan_pushes,
}
