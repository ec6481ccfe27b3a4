"""All that readers say of an output, to be compared with what they say of the same files elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from support import Output
from test_damage import reseal

from faro_format import CheckLevel, FaroError, Reader, check

CHANGES = 8
"""How many ways each output is damaged in."""


def ended(action: Callable[[], Any]) -> Any:
    """What an action returns, or the error that it ends in: code, file, role, offset and texts."""
    try:
        return action()
    except FaroError as fault:
        return type(fault), fault.args


def blocks(found: Callable[[], Iterator[Any]]) -> list[Any]:
    """The blocks up to the first fault, and that."""
    told: list[Any] = []
    try:
        for item in found():
            number, block = item if len(item) == 2 else (None, item)
            members = None if block.members is None else block.members.tolist()
            told.append((number, *block._replace(members=members)))
    except FaroError as fault:
        told.append((type(fault), fault.args))
    return told


def everything(**output: Any) -> dict[str, Any]:
    """What all ways to read say; ``output`` makes the arguments of each opening."""
    told: dict[str, Any] = {}
    levels: tuple[CheckLevel, ...] = ("structure", "checksums", "decode")
    for level in levels:
        told[f"check {level}"] = ended(partial(check, **opened(output), level=level))
    for lookup in ("full", "direct"):
        try:
            reader = Reader(**opened(output), lookup=lookup)
        except FaroError as fault:
            told[f"open {lookup}"] = type(fault), fault.args
            continue
        with reader:
            told[f"properties {lookup}"] = reader.header, reader.region_count, reader.properties, reader.dictionaries
            low, high = reader.partitions.start, reader.partitions.stop
            for partition in reader.partitions:
                told[f"{lookup} {partition}"] = blocks(partial(reader.partition, partition))
                told[f"bytes {lookup} {partition}"] = ended(partial(reader.stored_bytes, partition))
            told[f"all {lookup}"] = blocks(reader.all)
            told[f"by partition {lookup}"] = blocks(partial(reader.by_partition, low, high))
    return told


def opened(output: dict[str, Any]) -> dict[str, Any]:
    """The arguments of an opening, which takes a stored output over."""
    return {name: value() if callable(value) else value for name, value in output.items()}


def damaged(made: Output, seed: int) -> Iterator[int]:
    """Damage or truncate one of the files, in one way after another."""
    whole = made.contents()
    rng = np.random.default_rng(seed)
    for number in range(CHANGES):
        role = str(rng.choice(list(whole)))
        changed = bytearray(whole[role])
        if number % 3 == 0:
            del changed[int(rng.integers(len(changed))) :]
        elif number % 3 == 1 or len(changed) <= 64:
            changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
        else:
            reseal(changed, rng)
        made.put(whole | {role: bytes(changed)})
        yield number
