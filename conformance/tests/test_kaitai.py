"""schema/faro.ksy describes the files of the cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conformance_fixtures import CONFORMANCE
from kaitaistruct import KaitaiStructError

from faro_conformance.manifest import entries
from kaitai.faro import Faro

CASES = CONFORMANCE / "cases"


def valid_cases() -> list[dict[str, Any]]:
    """The read cases whose blocks are all valid."""
    return [
        case
        for case in entries(CASES)
        if case["op"] == "read"
        and not case.get("generated")
        and "header" in case["expect"].get("ok", {})
        and "ok" in case.get("check", {}).get("decode", {})
    ]


def chain(path: Path) -> tuple[Any, list[Any]]:
    """The parsed file and its blocks, which have to fill it."""
    file = Faro.from_bytes(path.read_bytes())
    blocks = list(file.body.block)
    size = 64 + sum(block.size_in_file for block in blocks) + (24 if file.has_tail else 0)
    assert size == path.stat().st_size
    return file, blocks


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in valid_cases()])
def test_header_and_blocks_are_what_the_manifest_says(case: dict[str, Any]) -> None:
    files = {role: chain(CASES / name) for role, name in case["files"].items()}
    expect = case["expect"]["ok"]
    role = "single" if "single" in files else "index"
    index, blocks = files[role]
    for name, value in expect["header"].items():
        found = getattr(index.header, name)
        found = found.hex() if name == "file_id" else str(found) if name in ("producer", "attempt") else int(found)
        assert found == value, name
    metadata = [block for block in blocks if block.is_metadata]
    dictionaries = [b for _, blocks in files.values() for b in blocks if b.kind == Faro.BlockKind.dictionary]
    assert [block.dictionary for block in dictionaries] == list(range(1, len(dictionaries) + 1))
    if "dictionaries" in expect:
        assert [block.stored_size for block in dictionaries] == [one["size"] for one in expect["dictionaries"]]
    assert [block.sequence for block in metadata] == list(range(len(metadata)))
    footer = metadata[-1]
    assert footer.kind == Faro.BlockKind.footer
    assert footer.payload.identifier == "FRFT"
    assert index.tail.footer_size == footer.stored_size
    size = (CASES / case["files"][role]).stat().st_size
    assert index.tail.footer_offset == size - 24 - footer.size_in_file
    regions = [block for block in metadata if block.kind == Faro.BlockKind.region]
    assert all(block.payload.identifier == "FRRG" for block in regions)
    if "regions" in expect:
        assert len(regions) == expect["regions"]
    partition_blocks = [block for _, blocks in files.values() for block in blocks if not block.is_metadata]
    counts = case["check"]["decode"]["ok"]
    if counts.get("blocks") is not None:
        assert len(partition_blocks) == counts["blocks"]
    found_kinds = {int(block.kind) for block in partition_blocks}
    for part in expect.get("partitions", {}).values():
        assert {int(kind) for kind in part.get("kinds", {})} <= found_kinds


def test_there_are_such_cases() -> None:
    assert len(valid_cases()) >= 10


@pytest.mark.parametrize(("offset", "value"), [(0, 0), (9, 2), (12, 0)])
def test_a_wrong_header_is_refused(offset: int, value: int) -> None:
    name = next(name for case in valid_cases() for name in case["files"].values())
    data = bytearray((CASES / name).read_bytes())
    data[offset : offset + (4 if offset == 12 else 1)] = bytes([value]) * (4 if offset == 12 else 1)
    with pytest.raises((KaitaiStructError, EOFError)):
        Faro.from_bytes(bytes(data))
