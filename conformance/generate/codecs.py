"""Compressed payloads: LZ4 sequences and Zstandard frames put together by hand, so that they do not depend on a compressor."""

from __future__ import annotations

from .raw import LZ4, ZSTD, Block, u16, u32, u64


def _length(n: int) -> bytes:
    """The further bytes of a length whose 4 bits are all set."""
    out = bytearray()
    while n >= 255:
        out.append(255)
        n -= 255
    return bytes(out) + bytes([n])


def lz4_sequence(literals: bytes, distance: int = 0, match: int = 0) -> bytes:
    """One LZ4 sequence. Without a match it is the last one."""
    high = min(len(literals), 15)
    low = min(match - 4, 15) if match else 0
    out = bytes([high << 4 | low]) + (_length(len(literals) - 15) if high == 15 else b"") + literals
    if match:
        out += u16(distance) + (_length(match - 19) if low == 15 else b"")
    return out


def lz4_repeat(unit: bytes, total: int, end: bytes) -> tuple[bytes, bytes]:
    """Plain bytes and their LZ4 block: *unit* repeated for *total* bytes, then the literals *end*."""
    plain = (unit * (total // len(unit) + 1))[:total] + end
    return plain, lz4_sequence(unit, len(unit), total - len(unit)) + lz4_sequence(end)


def lz4_block(unit: bytes, total: int, end: bytes, kind: int = 0) -> Block:
    """A block of codec 1."""
    plain, stored = lz4_repeat(unit, total, end)
    return Block(plain, kind=kind, codec=LZ4, stored=stored)


def zstd_chunk(kind: int, content: bytes, size: int | None = None, last: bool = True) -> bytes:
    """A block of a Zstandard frame: raw (0), run (1) or compressed (2)."""
    size = len(content) if size is None else size
    return (size << 3 | kind << 1 | int(last)).to_bytes(3, "little") + content


def zstd_frame(
    chunks: bytes, window: int | None = 0, content_size: int | None = None, width: int = 0, flags: int = 0
) -> bytes:
    """A frame without magic number; *window* is the descriptor byte; None makes it a single segment.

    *width* chooses the content size field by its code 0 to 3, *flags* are the low five bits of the descriptor.
    """
    descriptor = width << 6 | (0x20 if window is None else 0) | flags
    out = bytes([descriptor]) + (b"" if window is None else bytes([window]))
    if content_size is not None:
        sizes = {0: bytes([content_size & 0xFF]), 1: u16((content_size - 256) & 0xFFFF)}
        sizes |= {2: u32(content_size & 0xFFFFFFFF), 3: u64(content_size)}
        out += sizes[width]
    return out + chunks


def zstd_run(byte: bytes, count: int, window: int | None = 0, **frame: int) -> Block:
    """A block of codec 2 whose frame is one run."""
    chunk = zstd_chunk(1, byte, count)
    if window is None and "content_size" not in frame:
        frame["content_size"] = count
    return Block(byte * count, codec=ZSTD, stored=zstd_frame(chunk, window, **frame))
