"""What COD demands for a compressed payload: accept it, refuse it, or either. Written without the implementations.

The structure of LZ4 blocks and Zstandard frames is checked here. The entropy-coded streams of Zstandard are not.
"""

from __future__ import annotations

import struct
from enum import Enum

import lz4.block

DEFAULT_WINDOW = 8 << 20
_LARGEST_CHUNK = 131_072


class Verdict(Enum):
    """What a reader must do with a payload."""

    TAKE = "take"
    REFUSE = "refuse"
    MAY = "may refuse"


class _ShortError(Exception):
    """The payload ends too early."""


def judge(codec: int, stored: bytes, plain_size: int, max_window: int = DEFAULT_WINDOW) -> Verdict:
    """The verdict of COD-1 to COD-4 on a payload."""
    if codec == 1:
        return _judge_lz4(stored, plain_size)
    try:
        return _judge_zstd(stored, plain_size, max_window)
    except _ShortError:
        return Verdict.REFUSE


def _judge_lz4(stored: bytes, plain_size: int) -> Verdict:
    try:
        if _strict_lz4(stored, plain_size):
            return Verdict.TAKE
    except _ShortError:
        return Verdict.REFUSE
    try:
        # COD-2 names the C decoder. A reader may refuse what the C decoder accepts beyond the rules.
        taken = len(lz4.block.decompress(stored, uncompressed_size=plain_size)) == plain_size
    except (lz4.block.LZ4BlockError, ValueError, OverflowError, MemoryError):
        taken = False
    return Verdict.MAY if taken else Verdict.REFUSE


def _strict_lz4(stored: bytes, plain_size: int) -> bool:
    at = out = 0
    match_begin = match_end = None
    while True:
        token, at = _byte(stored, at)
        literals, at = _lz4_length(stored, at, token >> 4)
        at += literals
        out += literals
        if at > len(stored):
            raise _ShortError
        if at == len(stored):
            break
        low, at = _byte(stored, at)
        high, at = _byte(stored, at)
        distance = low | high << 8
        length, at = _lz4_length(stored, at, token & 15)
        if not 1 <= distance <= out:
            return False
        match_begin, match_end = out, out + length + 4
        out = match_end
    if out != plain_size:
        return False
    return match_begin is None or match_end is None or (match_end <= out - 5 and match_begin <= out - 12)


def _byte(stored: bytes, at: int) -> tuple[int, int]:
    if at >= len(stored):
        raise _ShortError
    return stored[at], at + 1


def _lz4_length(stored: bytes, at: int, length: int) -> tuple[int, int]:
    if length == 15:
        while True:
            more, at = _byte(stored, at)
            length += more
            if more != 255:
                break
    return length, at


def _judge_zstd(stored: bytes, plain_size: int, max_window: int) -> Verdict:
    descriptor, at = _byte(stored, 0)
    if descriptor & 0x1F:
        return Verdict.REFUSE
    single = bool(descriptor & 0x20)
    window = None
    if not single:
        byte, at = _byte(stored, at)
        window = (1 << 10 + (byte >> 3)) + ((byte & 7) << 7 + (byte >> 3))
    width = (1 if single else 0, 2, 4, 8)[descriptor >> 6]
    if at + width > len(stored):
        raise _ShortError
    if width:
        size = int.from_bytes(stored[at : at + width], "little") + (256 if width == 2 else 0)
        at += width
        if size != plain_size:
            return Verdict.REFUSE
        window = size if single else window
    assert window is not None
    if window > max_window:
        return Verdict.REFUSE
    return _judge_chunks(stored, at, plain_size, min(window, _LARGEST_CHUNK))


def _judge_chunks(stored: bytes, at: int, plain_size: int, most: int) -> Verdict:
    sizes = 0
    compressed = last = False
    while not last:
        if at + 3 > len(stored):
            raise _ShortError
        bits = struct.unpack("<I", stored[at : at + 3] + b"\0")[0]
        last, kind, size = bool(bits & 1), bits >> 1 & 3, bits >> 3
        if kind == 3 or size > most:
            return Verdict.REFUSE
        at += 3 + (1 if kind == 1 else size)
        if at > len(stored):
            raise _ShortError
        compressed |= kind == 2
        sizes += 0 if kind == 2 else size
    if at != len(stored) or sizes > plain_size:
        return Verdict.REFUSE
    if compressed:
        return Verdict.MAY
    return Verdict.TAKE if sizes == plain_size else Verdict.REFUSE
