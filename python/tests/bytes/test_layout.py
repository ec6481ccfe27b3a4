"""The size of each struct and the offset of each field, as the comments of ``schema/faro.fbs`` give them.

Byte i of each struct holds i, so the value of a field tells its offset. ``flatc --conform`` misses a struct that
grew; these tests, which the Rust and Java libraries have too, do not.
"""

from collections.abc import Callable
from typing import Any

import flatbuffers

from faro_format.generated.BlockHeader import BlockHeader, CreateBlockHeader
from faro_format.generated.FileHeader import CreateFileHeader, FileHeader
from faro_format.generated.FragmentEnd import CreateFragmentEnd, FragmentEnd
from faro_format.generated.RegionEntry import CreateRegionEntry, RegionEntry
from faro_format.generated.Run import CreateRun, Run
from faro_format.generated.Tail import CreateTail, Tail


def check(struct: type[Any], create: Callable[..., int], size: int, *fields: int | range) -> None:
    """What the builder wrote, from the struct to the end, must be 0, 1, 2, ..."""
    builder = flatbuffers.Builder()
    offset = create(builder, *fields)
    builder.Finish(offset)
    assert struct.SizeOf() == size
    assert builder.Output()[-offset:] == bytes(range(size))


def test_file_header() -> None:
    check(
        FileHeader, CreateFileHeader, 64,
        range(8), 8, 9, 10, 11, 0x0F0E0D0C, 0x13121110, 0x17161514, 0x1F1E1D1C1B1A1918,
        0x2726252423222120, range(40, 56), 0x3B3A3938, 0x3F3E3D3C,
    )  # fmt: skip


def test_block_header() -> None:
    check(
        BlockHeader, CreateBlockHeader, 24,
        0x03020100, 0x07060504, 0x0B0A0908, 0x0F0E0D0C, 16, 17, 0x1312, 0x17161514,
    )  # fmt: skip


def test_tail() -> None:
    check(Tail, CreateTail, 24, 0x0706050403020100, 0x0B0A0908, 0x0F0E0D0C, range(16, 24))


def test_run() -> None:
    check(
        Run, CreateRun, 32,
        0x0706050403020100, 0x0F0E0D0C0B0A0908, 0x13121110, 0x17161514, 0x1B1A1918, 0x1F1E1D1C,
    )  # fmt: skip


def test_fragment_end() -> None:
    check(FragmentEnd, CreateFragmentEnd, 16, 0x0706050403020100, 0x0B0A0908, 0x0F0E0D0C)


def test_region_entry() -> None:
    check(
        RegionEntry, CreateRegionEntry, 32,
        0x0706050403020100, 0x0B0A0908, 0x0F0E0D0C, 0x1716151413121110, 0x1F1E1D1C1B1A1918,
    )  # fmt: skip
