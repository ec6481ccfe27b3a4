"""Fragments and merges: all testees make the same fragments of an output, and the same merged files of fragments.

A merge is data that can be kept and repeated: fragments, options and steps.
"""

from __future__ import annotations

import itertools
import random
import shutil
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faro_conformance.protocol import Outcome
from generate.raw import FRAGMENT, HEADER_SIZE, KIND_SCHEMA, patch, seal_header

from differential.asking import Disagreement, Panel, place, put_files
from differential.blocks import Files, take_apart
from differential.judge import Payloads, disagreement
from differential.mending import difference
from differential.messages import DecodeError, decode
from differential.mutate import mutate

GENERATION = 3
FILE_ID = "4661726f2d6d657267652d66757a7a21"
FRAMINGS = ("opaque", "records", "arrow")
_KIND, _FRAMING, _COUNT, _FEATURES, _PRODUCER, _FIRST = 8, 11, 12, 16, 24, 56
# Partitions near the first one: some files claim many.
_NEAR = 8


@dataclass
class Merging:
    """Fragments, and what is done with them."""

    fragments: list[bytes]
    options: dict[str, Any] | None
    """None: they are only read."""
    steps: list[dict[str, Any]] = field(default_factory=list)
    limits: dict[str, int] = field(default_factory=dict)
    """Those that are not the defaults."""

    def members(self) -> dict[str, Any]:
        """As JSON."""
        fragments = [data.hex() for data in self.fragments]
        return {"fragments": fragments, "options": self.options, "steps": self.steps, "limits": self.limits}

    @classmethod
    def of(cls, members: dict[str, Any]) -> Merging:
        """From JSON."""
        fragments = [bytes.fromhex(text) for text in members["fragments"]]
        return cls(fragments, members["options"], members["steps"], members.get("limits", {}))


def fragment_requests(files: Files, rng: random.Random) -> list[dict[str, Any]]:
    """Which fragments of an output are asked for; none if its header is not there."""
    header = next((data for role, data in files.items() if role != "data"), b"")
    if len(header) < HEADER_SIZE:
        return []
    count, first = (struct.unpack_from("<I", header, at)[0] for at in (_COUNT, _FIRST))
    near = min(count, _NEAR)
    asked: list[dict[str, Any]] = []
    for _ in range(rng.randrange(2, 6)):
        low = rng.randrange(near + 1)
        if rng.random() < 0.4:
            begin = rng.choice([0, 0, 1, rng.randrange(5)])
            asked.append({"partitions": [first + low, 1], "numbers": [begin, begin + rng.randrange(4)]})
        else:
            asked.append({"partitions": [first + low, rng.choice([1, 1, 2, near - low, min(count, 64)])]})
    return asked


def make_fragments(
    files: Files, asked: Sequence[dict[str, Any]], panel: Panel, folder: Path
) -> tuple[list[bytes], list[Disagreement]]:
    """The fragments of an output, which all testees make; and where they differ."""
    put_files(files, folder / "output")
    paths = {role: str(place(role, folder / "output")) for role in files}
    names = [child.testee.name for child in panel.children]
    for name in names:
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    requests: dict[str, Sequence[tuple[str, dict[str, Any]]]] = {
        name: [
            ("fragment", {**paths, **fields, "path": str(folder / name / str(at))}) for at, fields in enumerate(asked)
        ]
        for name in names
    }
    made, found = [], []
    payloads = Payloads(files)
    for at, row in enumerate(panel.ask_each(requests)):
        what = f"fragment partitions={asked[at]['partitions']} numbers={asked[at].get('numbers')}"
        why = disagreement(row, payloads.spared({}))
        able = [name for name in names if row[name].kind == "ok"]
        bytes_of = {name: _read(folder / name / str(at)) for name in able}
        if why is None and len(set(bytes_of.values())) > 1:
            why = "the fragments differ"
        if why is not None:
            found.append(Disagreement(what, why, row))
        elif able and bytes_of[able[0]]:
            made.append(bytes_of[able[0]])
    return made, found


def random_merging(made: list[bytes], rng: random.Random) -> Merging:
    """A merge of these fragments, also as other producers and attempts, some of them changed."""
    fragments = []
    for _ in range(rng.randrange(1, 9)):
        data = rng.choice(made)
        if rng.random() < 0.6:
            whose = struct.pack("<QQ", rng.randrange(3), rng.choice([0, 0, 0, 1]))
            data = seal_header(patch(data, _PRODUCER, whose))
        if rng.random() < 0.25:
            changed, _ = mutate({"data": data}, {"data": rng.choice(made)}, rng)
            data = changed["data"]
        fragments.append(data)
    options = _options(fragments[0], rng) if rng.random() < 0.85 else None
    return Merging(fragments, options, _steps(fragments, rng) if options is not None else [])


def _options(fragment: bytes, rng: random.Random) -> dict[str, Any] | None:
    """Options that fit a fragment, mostly."""
    if len(fragment) < HEADER_SIZE or fragment[_KIND] != FRAGMENT or fragment[_FRAMING] >= len(FRAMINGS):
        return None
    count, first = (struct.unpack_from("<I", fragment, at)[0] for at in (_COUNT, _FIRST))
    before = min(first, rng.choice([0, 0, 1, _NEAR]))
    options: dict[str, Any] = {
        "partition_count": before + count + rng.choice([0, 0, 1, _NEAR]), "first_partition": first - before,
        "framing": FRAMINGS[fragment[_FRAMING]], "file_id": FILE_ID, "generation": str(GENERATION),
        "chunk_size": rng.choice([1, 100, 1000, 2 << 20]), "max_waiting": rng.choice([0, 100, 1 << 20]),
        "dictionaries": bool(fragment[_FEATURES] & 2) or rng.random() < 0.2,
    }  # fmt: skip
    if options["framing"] == "arrow":
        schema = _schema(fragment)
        if schema is None:
            return None
        options["schema"] = {"hex": schema.hex()}
    return options


def _schema(fragment: bytes) -> bytes | None:
    for piece in take_apart(fragment).pieces[:1]:
        if piece.kind == KIND_SCHEMA:
            try:
                arrow = decode("Schema", piece.payload).get("arrow")
            except (DecodeError, struct.error, ValueError):
                return None
            return bytes(arrow) if isinstance(arrow, bytes | bytearray) else None
    return None


def _steps(fragments: list[bytes], rng: random.Random) -> list[dict[str, Any]]:
    """Each fragment is pushed, some twice, some at the same time; most are committed."""
    order = [*range(len(fragments)), *rng.choices(range(len(fragments)), k=rng.randrange(3))]
    rng.shuffle(order)
    steps: list[dict[str, Any]] = []
    open_pushes: list[list[dict[str, Any]]] = []
    for at, number in enumerate(order):
        open_pushes.append(_push(f"{at}", number, fragments[number], rng))
        if rng.random() < 0.7:
            steps += _interleaved(open_pushes, rng)
            open_pushes = []
        if rng.random() < 0.1:
            steps.append({"call": "flush"})
    steps += _interleaved(open_pushes, rng)
    steps.append({"call": "finalize" if rng.random() < 0.9 else "close"})
    return steps


def _push(name: str, number: int, data: bytes, rng: random.Random) -> list[dict[str, Any]]:
    producer = struct.unpack_from("<Q", data, _PRODUCER)[0] if len(data) >= HEADER_SIZE else 0
    if rng.random() < 0.03:
        producer += 1
    generation = GENERATION if rng.random() < 0.97 else GENERATION - 1
    steps: list[dict[str, Any]] = [
        {"call": "begin", "push": name, "producer": str(producer % 2**64), "generation": str(generation)}
    ]
    cuts = sorted({0, len(data), *(rng.randrange(len(data) + 1) for _ in range(rng.randrange(4)))})
    pieces = itertools.pairwise(cuts)
    steps += [{"call": "write", "push": name, "fragment": number, "from": a, "to": b} for a, b in pieces]
    if rng.random() < 0.05:
        steps.pop()
    end = rng.choices(["commit", "abort", "nothing"], [18, 1, 1])[0]
    return steps if end == "nothing" else [*steps, {"call": end, "push": name}]


def _interleaved(pushes: list[list[dict[str, Any]]], rng: random.Random) -> list[dict[str, Any]]:
    left = [list(push) for push in pushes if push]
    steps = []
    while left:
        push = rng.choice(left)
        steps.append(push.pop(0))
        left = [one for one in left if one]
    return steps


def run_merging(merging: Merging, panel: Panel, folder: Path) -> list[Disagreement]:
    """Let all testees read the fragments and merge them. The merged files must be the same, and read the same."""
    names = [child.testee.name for child in panel.children]
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "fragments").mkdir(parents=True)
    paths = []
    for number, data in enumerate(merging.fragments):
        paths.append(str(folder / "fragments" / str(number)))
        Path(paths[-1]).write_bytes(data)
    found = []
    limits = {"limits": merging.limits} if merging.limits else {}
    rows = panel.ask([("fragments", {"fragment": path, **limits}) for path in paths])
    for data, row in zip(merging.fragments, rows, strict=True):
        why = disagreement(row, Payloads({"fragment": data}).spared({}))
        if why is not None:
            found.append(Disagreement("fragments", why, row))
    if merging.options is not None:
        found += _merge(merging, paths, names, panel, folder)
    return found


def _merge(merging: Merging, paths: list[str], names: list[str], panel: Panel, folder: Path) -> list[Disagreement]:
    requests: dict[str, Sequence[tuple[str, dict[str, Any]]]] = {}
    for name in names:
        (folder / name).mkdir()
        fields = {"mode": "create", "options": merging.options, "fragments": paths, "steps": merging.steps}
        if merging.limits:
            fields["limits"] = merging.limits
        requests[name] = [("merge", {"path": str(folder / name / "x"), **fields})]
    row = panel.ask_each(requests)[0]
    why = disagreement({name: _outcomes(outcome) for name, outcome in row.items()})
    if why is not None:
        return [Disagreement("merge", why, row)]
    outputs = {name: {role: _read(place(role, folder / name)) for role in ("data", "index")} for name in names}
    for name in names[1:]:
        why = difference(outputs[names[0]], outputs[name])
        if why is not None:
            return [Disagreement("merge: files", f"{names[0]} and {name}: {why}", row)]
    if row[names[0]].kind != "ok" or not outputs[names[0]]["index"]:
        return []
    return _read_merged(merging, names[0], outputs[names[0]], panel, folder)


def _outcomes(outcome: Outcome) -> Outcome:
    """An answer to `merge` without free text: the outcome of each step, or its code, file and offset."""
    if outcome.kind != "ok":
        return outcome
    steps = []
    for answer in outcome.value["steps"]:
        error = answer.get("error")
        steps.append(answer if error is None else [error["code"], error["file"], error["offset"]])
    return Outcome("ok", {"steps": steps})


def _read_merged(merging: Merging, name: str, files: Files, panel: Panel, folder: Path) -> list[Disagreement]:
    """All testees check and read what one of them has merged, if it was finished."""
    ends = [step["call"] for step in merging.steps if step["call"] in ("finalize", "close")]
    if ends[:1] != ["finalize"] or merging.options is None:
        return []
    where = {role: str(place(role, folder / name)) for role in files}
    first, count = merging.options["first_partition"], merging.options["partition_count"]
    partitions = list(range(first, first + min(count, 2 * _NEAR)))
    expected = [{"producer": str(producer), "attempt": "0"} for producer in range(3)]
    requests: list[tuple[str, dict[str, Any]]] = [
        ("check", {**where, "level": "checksums"}),
        ("read", {**where, "partitions": partitions}),
        ("provenance", {**where, "partitions": partitions, "expected": expected}),
    ]
    found = []
    spared = Payloads(files).spared({})
    for (op, _), row in zip(requests, panel.ask(requests), strict=True):
        why = disagreement(row, spared)
        # What a merge has made is right, whatever was pushed.
        if why is None and op != "read" and row[name].kind != "ok":
            why = f"all: {op} of what was merged: {row[name]}"
        if why is not None:
            found.append(Disagreement(f"{op} what was merged", why, row))
    return found


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""
