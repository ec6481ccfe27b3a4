"""Sends the corpus of the coverage-guided targets to all testees. TARGETS.md describes the bytes of an input."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from faro_conformance.protocol import SuiteError
from generate.message import Fields
from generate.output import Output, Region, build
from generate.raw import (
    BLOCK_HEADER_SIZE,
    HEADER_SIZE,
    LZ4,
    OPAQUE,
    TAIL_MAGIC,
    TAIL_SIZE,
    ZSTD,
    Block,
    Header,
    pad8,
    seal_block,
    seal_header,
    seal_tail,
)
from generate.structure import fixture

import pack
from differential.asking import Disagreement, Panel, Probe
from differential.blocks import Files
from differential.mending import mend
from differential.merges import run_merging
from differential.plan import LEVELS, Step
from differential.programs import script_of
from differential.push_programs import fragments_of, merging_of
from differential.writing import run_script

FILE_TARGETS = ("open", "read_all", "follow", "repair", "header_block")
_SMALL = {
    "max_block_size": 1 << 20, "max_plain_size": 1 << 17, "max_message_size": 1 << 20, "max_regions": 4096,
    "max_dictionary_size": 1 << 17, "max_dictionaries": 4, "max_window_size": 1 << 17,
}  # fmt: skip
_LIMITS: tuple[dict[str, int], ...] = (
    _SMALL,
    {
        "max_block_size": 256, "max_plain_size": 512, "max_message_size": 512, "max_regions": 2,
        "max_dictionary_size": 64, "max_dictionaries": 1, "max_window_size": 1024,
    },
    {"max_plain_size": 1 << 20},
    _SMALL,
)  # fmt: skip
_OF_MERGES = {"fragments": fragments_of, "merge": merging_of}
_ROOTS = ("Region", "Footer", "Schema")
_BEFORE_FILES = 13
_SEAL = 8


def entries(folder: Path) -> list[tuple[str, bytes]]:
    """The target and the bytes of each input of a corpus."""
    packs = pack.targets(folder)
    if not packs:
        raise SuiteError(f"no packs in {folder}")
    return [(target, data) for target, path in packs.items() for data in pack.decode(path.read_bytes())]


def ask_entries(inputs: Sequence[tuple[str, bytes]], panel: Panel, work: Path) -> list[list[Disagreement]]:
    """The disagreements about each of some inputs, which are sent together."""
    probes: dict[int, Probe] = {}
    found: list[list[Disagreement]] = [[] for _ in inputs]
    for number, (target, data) in enumerate(inputs):
        if target == "script":
            found[number] = run_script(script_of(data), panel, work / str(number)).disagreements
            continue
        if target in _OF_MERGES:
            limits = dict(_LIMITS[(data[0] if data else 0) >> 1 & 3])
            found[number] = run_merging(_OF_MERGES[target](data, limits), panel, work / str(number))
            continue
        probe = probe_of(target, data, work / str(number))
        if probe is not None:
            probes[number] = probe
    panel.run(list(probes.values()))
    mend(list(probes.values()), panel)
    for number, probe in probes.items():
        found[number] = probe.disagreements()
    return found


def probe_of(target: str, data: bytes, work: Path) -> Probe | None:
    """The files of an input and the requests about them; None for a target that is not known here."""
    if target in FILE_TARGETS:
        if target == "header_block":
            flags, one = (data[0] if data else 0), data[1:]
            return _rebuild({"data": sealed(one) if flags & _SEAL else one, "index": b""}, _limits(flags), work)
        files, limits = _files(data)
        if target == "repair":
            return _repair(files, data[1:2], limits, work)
        steps = _follow_steps(files, data, limits) if target == "follow" else _read_steps(files, data, limits)
        return Probe(files, steps, work)
    if target == "message":
        return _message(data, work)
    if target in ("codec_lz4", "codec_zstd"):
        return _codec(LZ4 if target == "codec_lz4" else ZSTD, data, work)
    return None


def _files(data: bytes) -> tuple[Files, dict[str, Any]]:
    head = data[:_BEFORE_FILES].ljust(_BEFORE_FILES, b"\0")
    flags, body = head[0], data[_BEFORE_FILES:]
    size = int.from_bytes(head[2:5], "little")
    files = {"data": body[:size], "index": body[size:]} if flags & 1 else {"single": body}
    if flags & _SEAL:
        files = {role: sealed(data) for role, data in files.items()}
    return files, _limits(flags)


def _limits(flags: int) -> dict[str, Any]:
    which = flags >> 1 & 3
    return {"limits": _LIMITS[which], **({"verify": False} if which == 3 else {})}


def sealed(data: bytes) -> bytes:
    """The file with all checksums recomputed."""
    if len(data) < HEADER_SIZE:
        return data
    data = seal_header(data)
    whole = len(data) >= HEADER_SIZE + TAIL_SIZE and data.endswith(TAIL_MAGIC)
    end = len(data) - (TAIL_SIZE if whole else 0)
    at = HEADER_SIZE
    while at + BLOCK_HEADER_SIZE <= end:
        stored = struct.unpack_from("<I", data, at)[0]
        if at + BLOCK_HEADER_SIZE + stored > end:
            break
        data = seal_block(data, at)
        at += BLOCK_HEADER_SIZE + pad8(stored)
    return seal_tail(data) if whole else data


def _every_partition(files: Files) -> list[int]:
    header = files.get("index", files.get("single", b""))
    if len(header) < HEADER_SIZE:
        return [0]
    count, first = struct.unpack_from("<I", header, 12)[0], struct.unpack_from("<I", header, 56)[0]
    places = range(count) if count <= 16 else [*range(8), *range(count - 8, count)]
    return [min(first + place, (1 << 32) - 2) for place in places]


def _read_steps(files: Files, data: bytes, limits: dict[str, Any]) -> list[Step]:
    checked = {name: value for name, value in limits.items() if name == "limits"}
    every = _every_partition(files)
    steps = [Step("check", {"level": level, **checked}) for level in LEVELS]
    steps.append(Step("read", {"partitions": sorted(set(every)), **limits}))
    if every:
        steps.append(Step("read", {"range": [every[0], every[-1] + 1], **limits}))
    return steps


def _follow_steps(files: Files, data: bytes, limits: dict[str, Any]) -> list[Step]:
    growth = struct.unpack("<4H", data[5:_BEFORE_FILES].ljust(8, b"\0"))
    first, second = ("data", "index") if "data" in files else ("single", "single")
    sizes = dict.fromkeys(files, 0)
    stages = []
    for role, wanted in zip((first, second, first, second), growth, strict=True):
        sizes = {**sizes, role: max(sizes[role], min(wanted, len(files[role])))}
        stages.append(sizes)
    stages.append({role: len(data) for role, data in files.items()})
    some = {"partitions": sorted(set(_every_partition(files)))}
    opening = {name: value for name, value in limits.items() if name == "limits"}
    steps: list[Step] = []
    open_now: list[str] = []
    for number, stage in enumerate(stages):
        # The target opens a refused follower again. Here it is another follower.
        name = f"stage-{number}"
        steps.append(Step("follow", {"action": "open", "handle": name, **opening}, stage))
        open_now.append(name)
        for handle in open_now:
            steps.append(Step("follow", {"action": "poll", "handle": handle}))
            steps.append(Step("follow", {"action": "read", "handle": handle, **some}))
    return steps + [Step("follow", {"action": "close", "handle": name}) for name in open_now]


def _repair(files: Files, mode: bytes, limits: dict[str, Any], work: Path) -> Probe:
    bits = mode[0] if mode else 0
    if bits & 1 and "data" in files:
        return _rebuild(files, limits, work, "all" if bits & 2 else "none")
    fields = {"mode": "last-commit", "limits": limits["limits"]}
    return Probe(files, [Step("repair", {**fields, "dry_run": True})], work, fields)


def _rebuild(files: Files, limits: dict[str, Any], work: Path, shared: str = "none") -> Probe:
    fields = {"mode": "rebuild", "shared": shared, "limits": limits["limits"]}
    return Probe(files, [Step("repair", {**fields, "dry_run": True})], work, fields, lost=True)


def _message(data: bytes, work: Path) -> Probe:
    head, message = (data[0] if data else 0), data[1:]

    def encode(_: Fields) -> bytes:
        return message

    built = build(fixture(_ROOTS[(head & 0x7F) % 3], encode, head >> 7))
    return Probe(built.files, _read_steps(built.files, b"", {}), work)


def _codec(codec: int, data: bytes, work: Path) -> Probe:
    plain = int.from_bytes(data[:3].ljust(3, b"\0"), "little") & 0x1FFFF
    block = Block(b"?", codec=codec, stored=data[3:], plain_size=plain)
    files = build(Output(Header(partition_count=1, framing=OPAQUE), [Region({0: [block]})])).files
    return Probe(files, _read_steps(files, b"", {"limits": {"max_window_size": 1 << 20}}), work)


def in_turn(found: list[tuple[str, bytes]], seed: int) -> Iterator[tuple[str, bytes]]:
    """All inputs once, from all targets in turn, so that a run that ends early has some of each."""
    rng = random.Random(seed)
    by_target: dict[str, list[bytes]] = {}
    for target, data in found:
        by_target.setdefault(target, []).append(data)
    for inputs in by_target.values():
        rng.shuffle(inputs)
    while by_target:
        for target in list(by_target):
            yield target, by_target[target].pop()
            if not by_target[target]:
                del by_target[target]
