"""Payloads that decode, or claim to decode, to more than the limits allow."""

from __future__ import annotations

import struct
from pathlib import Path

import lz4.block

from generate.raw import LZ4, OPAQUE, ZSTD, Header

from .build import Output, block, u32s
from .kind import LARGER, MIB, Made, kind


def _one_extent(folder: Path, blocks: list[tuple[bytes, int, int]], check: str, limits: dict[str, int]) -> Made:
    """Blocks of partition 0, each of stored bytes, codec and plain size."""
    out = Output(Header(partition_count=4, framing=OPAQUE))
    content = b"".join(
        block(out.header, stored, sequence=number, codec=codec, plain_size=plain)
        for number, (stored, codec, plain) in enumerate(blocks)
    )
    out.region(content, parts={3: u32s([0] + [len(content) // 8] * 4)})
    out.finish()
    return Made(out.save(folder), check, limits=limits)


def _frame(blocks: list[tuple[int, int, bytes]], window: int = 0x68) -> bytes:
    """A Zstandard frame without magic number. Each block is its type, its size, and its bytes. The window is 8 MiB."""
    head = bytes([0, window])
    last = len(blocks) - 1
    return head + b"".join(
        struct.pack("<I", (number == last) | kind << 1 | size << 3)[:3] + content
        for number, (kind, size, content) in enumerate(blocks)
    )


def _runs(plain: int) -> bytes:
    """*plain* zero bytes as run blocks of at most 128 KiB."""
    whole, rest = divmod(plain, 131_072)
    return _frame([(1, 131_072, b"\0")] * whole + ([(1, rest, b"\0")] if rest else []))


@kind(20, 80)
def zstd_many(folder: Path, size: int) -> Made:
    """Zstandard blocks of 40 bytes that hold 1 MiB of zeros each."""
    return _one_extent(folder, [(_runs(MIB), ZSTD, MIB)] * size, "ok", {**LARGER, "max_plain_size": MIB})


@kind(4 * MIB, 16 * MIB)
def zstd_largest(folder: Path, size: int) -> Made:
    """Zstandard: 16 MiB of zeros, as the limit allows."""
    return _one_extent(folder, [(_runs(size), ZSTD, size)], "ok", LARGER)


@kind(1, 1)
def zstd_bomb(folder: Path, size: int) -> Made:
    """Zstandard: a frame of 64 GiB of zeros that claims 2 MiB."""
    return _one_extent(folder, [(_runs(64 << 30), ZSTD, 4 * MIB)], "malformed-block", LARGER)


@kind(1, 1)
def zstd_above_limit(folder: Path, size: int) -> Made:
    """Zstandard: 4 GiB of zeros in an honest header, above the limit."""
    return _one_extent(folder, [(_runs(0xFFFF0000), ZSTD, 0xFFFF0000)], "limit-exceeded", LARGER)


@kind(1, 1)
def zstd_window(folder: Path, size: int) -> Made:
    """Zstandard: a window of 3.75 TiB."""
    return _one_extent(folder, [(_frame([(0, 8, bytes(8))], 0xFF), ZSTD, 64)], "limit-exceeded", LARGER)


@kind(100_000, 400_000)
def zstd_empty_blocks(folder: Path, size: int) -> Made:
    """Zstandard: blocks without bytes, before some that hold zeros."""
    zeros = -(-3 * size // 131_072) + 1
    frame = _frame([(0, 0, b"")] * size + [(1, 131_072, b"\0")] * zeros)
    return _one_extent(folder, [(frame, ZSTD, zeros * 131_072)], "ok", LARGER)


@kind(20, 80)
def lz4_many(folder: Path, size: int) -> Made:
    """LZ4 blocks of 1 MiB of zeros."""
    stored = lz4.block.compress(bytes(MIB), store_size=False)
    return _one_extent(folder, [(stored, LZ4, MIB)] * size, "ok", {**LARGER, "max_plain_size": MIB})


@kind(4 * MIB, 16 * MIB)
def lz4_bomb(folder: Path, size: int) -> Made:
    """LZ4: 16 MiB of zeros that claim to be half of it."""
    stored = lz4.block.compress(bytes(size), store_size=False)
    return _one_extent(folder, [(stored, LZ4, size // 2)], "malformed-block", LARGER)


@kind(4 * MIB, 8 * MIB)
def lz4_short(folder: Path, size: int) -> Made:
    """LZ4: 16 MiB of zeros that claim to be twice that."""
    stored = lz4.block.compress(bytes(size), store_size=False)
    return _one_extent(folder, [(stored, LZ4, size * 2)], "malformed-block", LARGER)
