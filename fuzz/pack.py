#!/usr/bin/env python3
"""Packs and unpacks the corpus: a pack per target, as README.md describes it."""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

FUZZ = Path(__file__).resolve().parent
CORPUS = FUZZ / "corpus"
ENDING = ".inputs"
_LENGTH = 4


def name_of(data: bytes) -> str:
    """The name of an input: the first 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(data).hexdigest()[:16]


def encode(inputs: Iterable[bytes]) -> bytes:
    """The pack of some inputs: each once, in the order of their SHA-256, after its length."""
    ordered = sorted(set(inputs), key=lambda data: hashlib.sha256(data).digest())
    return b"".join(len(data).to_bytes(_LENGTH, "little") + data for data in ordered)


def decode(pack: bytes) -> list[bytes]:
    """The inputs of a pack, in its order."""
    inputs, at = [], 0
    while at < len(pack):
        begin = at + _LENGTH
        at = begin + int.from_bytes(pack[at:begin], "little")
        if at > len(pack):
            raise ValueError("the pack ends inside an input")
        inputs.append(pack[begin:at])
    return inputs


def names() -> list[str]:
    """The names of the targets that TARGETS.md describes."""
    return re.findall(r"^\| `(\w+)` \|", (FUZZ / "TARGETS.md").read_text(encoding="utf-8"), re.MULTILINE)


def targets(corpus: Path) -> dict[str, Path]:
    """The packs in a folder, by target."""
    return {path.stem: path for path in sorted(corpus.glob(f"*{ENDING}"))}


def pack(folder: Path, corpus: Path, chosen: list[str]) -> None:
    """Write the pack of each folder FOLDER/TARGET."""
    for target in chosen or sorted(path.name for path in folder.iterdir() if path.is_dir()):
        inputs = [path.read_bytes() for path in (folder / target).iterdir() if path.is_file()]
        content = encode(inputs)
        (corpus / (target + ENDING)).write_bytes(content)
        print(f"{target}: {len(set(inputs))} inputs, {len(content)} bytes")


def unpack(folder: Path, corpus: Path, chosen: list[str]) -> None:
    """Write each input into a file FOLDER/TARGET/NAME. Other files of these folders are removed."""
    packs = targets(corpus)
    for target in chosen or packs:
        place = folder / target
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for data in decode(packs[target].read_bytes()) if target in packs else ():
            (place / name_of(data)).write_bytes(data)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("way", choices=("pack", "unpack"))
    parser.add_argument("folder", type=Path, help="the folder that has, or gets, a folder of inputs for each target")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="default: all")
    parser.add_argument("--corpus", type=Path, default=CORPUS, metavar="FOLDER", help="the packs; default fuzz/corpus")
    options = parser.parse_args()
    (pack if options.way == "pack" else unpack)(options.folder, options.corpus, options.targets)


if __name__ == "__main__":
    main()
