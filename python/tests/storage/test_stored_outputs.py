"""Outputs in memory, with random short reads, against the same outputs in local files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from storing import ShortReads, in_memory
from support import Call, Output, scripts, write
from test_damage import reseal

from faro_format import CheckLevel, FaroError, Reader, WriterOptions, check

SOME = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


def compare(made: Output, seed: int) -> dict[str, Any]:
    """Read the files where they are, and in memory; what both said."""
    local = everything(**made.files)
    assert everything(stored=lambda: in_memory(made, ShortReads, seed=seed)) == local
    assert everything(stored=lambda: in_memory(made)) == local
    return local


@SOME
@given(script=scripts(), seed=st.integers(0, 2**32))
def test_the_same_blocks_and_faults(tmp_path: Path, script: tuple[WriterOptions, list[Call]], seed: int) -> None:
    made = write(tmp_path, *script)
    assert not any(name.startswith("open") for name in compare(made, seed))
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
        compare(made, seed + number)


@pytest.mark.parametrize("layout", ["paired", "single"])
def test_large_partitions(tmp_path: Path, layout: Any) -> None:
    # Above the sizes of windows, with several regions in each window of partitions.
    rng = np.random.default_rng(1)
    calls = [Call("write", [number % 7], rng.bytes(300_000)) for number in range(60)]
    made = write(tmp_path, WriterOptions(7, layout=layout, buffer_size=4 << 20, codec="lz4"), calls)
    told = compare(made, 5)
    assert len(told["all full"]) >= 60
    whole = made.contents()
    role = "data" if layout == "paired" else "single"
    damaged = bytearray(whole[role])
    damaged[len(damaged) // 2] ^= 1
    made.put(whole | {role: bytes(damaged)})
    told = compare(made, 6)
    assert told["check decode"][1][0] == "checksum"
