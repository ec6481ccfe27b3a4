"""Makes seeds for the fuzz targets from the conformance cases and the gold files. They are always the same."""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from faro_conformance.manifest import entries

CONFORMANCE = Path(__file__).resolve().parent.parent / "conformance"
LARGEST = 8192
PAIR, SEAL = 1, 8
FILE_TARGETS = ("open", "read_all", "follow", "repair")
FRAMINGS = ("opaque", "records", "arrow")
TAIL_MAGIC = bytes.fromhex("76b9beadb0f2f5e5")


@dataclasses.dataclass(frozen=True)
class Output:
    """The files of an output, and two facts about the case."""

    data: bytes | None
    index: bytes
    small_limits: bool
    damaged: bool


def of_case(case: dict[str, Any]) -> Output | None:
    """The files that a case begins with, if any."""
    files = case.get("files") or {}

    def content(role: str) -> bytes | None:
        path = CONFORMANCE / "cases" / str(files.get(role))
        return path.read_bytes() if role in files and path.is_file() else None

    index = content("single") or content("index")
    if index is None:
        return None
    text = json.dumps(case)
    return Output(content("data"), index, '"limits"' in text, '"checksum"' in text)


def outputs() -> Iterator[Output]:
    """All small outputs."""
    for file in sorted((CONFORMANCE / "gold").rglob("*.faro")):
        yield Output(None, file.read_bytes(), False, False)
    for file in sorted((CONFORMANCE / "gold").rglob("*.index")):
        yield Output(file.with_suffix(".data").read_bytes(), file.read_bytes(), False, False)
    for case in entries(CONFORMANCE / "cases"):
        output = of_case(case)
        if output is not None and len(output.index) + len(output.data or b"") <= LARGEST:
            yield output


def container(output: Output, mode: int) -> bytes:
    """The input of a target that takes files."""
    flags = 0 if output.data is None else PAIR
    flags |= 2 if output.small_limits else 0
    flags |= 0 if output.damaged else SEAL
    data, index = output.data or b"", output.index
    growth = (len(data) // 2, len(index) // 2, len(data), len(index) * 3 // 4)
    return bytes([flags, mode]) + struct.pack("<I", len(data))[:3] + struct.pack("<4H", *growth) + data + index


def blocks(file: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The header and the payload of each block, as long as sizes fit."""
    end = len(file) - (24 if file.endswith(TAIL_MAGIC) else 0)
    at = 64
    while at + 24 <= end:
        stored = int.from_bytes(file[at : at + 4], "little")
        if at + 24 + stored > end:
            return
        yield file[at : at + 24], file[at + 24 : at + 24 + stored]
        at += 24 + (stored + 7) // 8 * 8


def of_output(output: Output) -> Iterator[tuple[str, bytes]]:
    """The seeds of an output, each with its target."""
    for target in FILE_TARGETS:
        modes = (0,) if target != "repair" else (0, 1) if output.data is not None else ()
        for mode in modes:
            yield target, container(output, mode)
    if output.data is None:
        yield "repair", container(output, 0)
    else:
        seal = 0 if output.damaged else SEAL
        yield "header_block", bytes([seal | (2 if output.small_limits else 0)]) + output.data
    for file in (output.data or b"", output.index):
        for header, payload in blocks(file):
            kind, codec = header[16], header[17]
            if 128 <= kind <= 130:
                yield "message", bytes([kind - 128 | (0x80 if file[10] else 0)]) + payload
            elif codec in (1, 2):
                target = "codec_lz4" if codec == 1 else "codec_zstd"
                yield target, header[4:7] + payload


def fragments(case: dict[str, Any]) -> Iterator[bytes]:
    """The fragments of a case as inputs of `fragments`."""
    names = [*(case.get("fragments") or ()), *filter(None, [(case.get("files") or {}).get("fragment")])]
    text = json.dumps(case)
    flags = (2 if '"limits"' in text else 0) | (0 if '"checksum"' in text else SEAL)
    for name in names:
        yield bytes([flags]) + (CONFORMANCE / "cases" / name).read_bytes()


def merge(case: dict[str, Any]) -> bytes:
    """A case of `merge` as a program of pushes. What the program has no word for is left out."""
    options, steps = case["request"]["options"], case["request"]["steps"]
    pushed = [(CONFORMANCE / "cases" / name).read_bytes() for name in case.get("fragments", ())][:8]
    framing = options.get("framing", "records")
    flags = options.get("dictionaries", False) | SEAL | FRAMINGS.index(framing) << 4
    waiting = (options.get("max_waiting", 1 << 19) >> 4).bit_length()
    numbers = (
        options["partition_count"] - 1 & 255,
        options.get("first_partition", 0) & 15 | (int(options.get("generation", 0)) & 15) << 4,
        min(15, max(0, options.get("chunk_size", 1 << 15).bit_length() - 1)) | min(15, max(0, waiting - 1)) << 4,
    )
    program = bytes([flags, *numbers])
    if framing == "arrow":
        program += sized(bytes.fromhex((options.get("schema") or {}).get("hex", "")))
    program += bytes([len(pushed)]) + b"".join(sized(fragment) for fragment in pushed)
    return program + pushes(steps, pushed, int(options.get("generation", 0)))


def sized(part: bytes) -> bytes:
    """A part after its size."""
    return struct.pack("<H", len(part)) + part


def pushes(steps: list[dict[str, Any]], pushed: list[bytes], generation: int) -> bytes:
    """The steps of a merge. A push gets the fragment that is written to it first."""
    of_push = {step["push"]: step.get("fragment", 0) for step in reversed(steps) if step["call"] == "write"}
    names = list(dict.fromkeys(step["push"] for step in steps if "push" in step))
    calls = {"commit": 8, "abort": 9, "flush": 10, "finalize": 11, "close": 12, "remove": 12}
    program = bytearray()
    for step in steps:
        h = (names.index(step["push"]) & 15) << 4 if "push" in step else 0
        if step["call"] == "begin":
            fragment = of_push.get(step["push"], 0) % max(1, len(pushed))
            producer = int.from_bytes(pushed[fragment][24:32], "little") if pushed else 0
            call = 4 if int(step["producer"]) != producer else 5 if int(step["generation"]) != generation else 3
            program += bytes([call | h, fragment])
        elif step["call"] == "write":
            count = step["to"] - step["from"] if "to" in step else 0xFFFF
            program += bytes([6 | h]) + struct.pack("<H", min(0xFFFF, count))
        else:
            program.append(calls[step["call"]] | h)
    return bytes(program)


def scripts() -> Iterator[bytes]:
    """Programs for every option and call, by a fixed sequence of numbers."""
    state = 3
    for options in range(256):
        program = bytearray([options])
        for at in range(120):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            byte = state >> 56
            # Few partitions and short payloads, so that there are many calls and most are valid.
            program.append(byte % 6 if at == 0 or byte % 3 else byte)
        yield bytes(program)


def main() -> None:
    """Writes the seeds into a folder for each target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the targets' folders are put")
    folder: Path = parser.parse_args().folder
    seeds = [seed for output in outputs() for seed in of_output(output)]
    for case in entries(CONFORMANCE / "cases"):
        seeds += [("fragments", seed) for seed in fragments(case)]
        if case["op"] == "merge" and case["request"]["mode"] == "create":
            seeds.append(("merge", merge(case)))
    seeds += [("script", program) for program in scripts()]
    for target, seed in seeds:
        if len(seed) > LARGEST:
            continue
        place = folder / target
        place.mkdir(parents=True, exist_ok=True)
        (place / hashlib.sha1(seed, usedforsecurity=False).hexdigest()).write_bytes(seed)
    for place in sorted(folder.iterdir()):
        sizes = [file.stat().st_size for file in place.iterdir()]
        print(f"{place.name}: {len(sizes)} seeds, {sum(sizes)} bytes")


if __name__ == "__main__":
    main()
