"""Outputs in memory, with random short reads, against the same outputs in local files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from comparing import damaged, everything
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from storing import ShortReads, in_memory
from support import Call, Output, scripts, write

from faro_format import WriterOptions

SOME = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


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
    for number in damaged(made, seed):
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
