"""XXH64 with seed 0 of many short byte strings at once, in NumPy (KEY-2)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import xxhash

from faro_format._bytes.spans import Bytes, Ints, U64s

_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)

_LONG = 1024
"""From this many bytes on a string is hashed by the C library: a call for each is cheaper than its stripes."""


def xxh64(data: Bytes, begins: Ints, lengths: Ints) -> U64s:
    """Return the XXH64 of spans of bytes.

    Args:
        data: contiguous bytes.
        begins: shape (n,), where each span begins.
        lengths: shape (n,), bytes.

    Returns:
        Hashes, shape (n,).
    """
    # Items of 8 bytes may be loaded from the last byte on: what is loaded too much is not used.
    padded = np.concatenate((data, np.zeros(8, np.uint8)))
    hashes = np.full(begins.size, _P5)
    at = begins.astype(np.int64)
    long = np.flatnonzero(lengths >= _LONG)
    stripes = np.where(lengths < _LONG, lengths // 32, 0)
    striped = np.flatnonzero(stripes)
    if striped.size:
        # The rows with most stripes first: those that still have one are a prefix.
        order = striped[np.argsort(-stripes[striped], kind="stable")]
        hashes[order] = _stripes(padded, at[order], stripes[order])
    hashes += lengths.astype(np.uint64)
    at = at + 32 * stripes
    rest = lengths - 32 * stripes
    for step in range(3):
        rows = np.flatnonzero((rest >= 8 * (step + 1)) & (lengths < _LONG))
        if rows.size:
            mixed = hashes[rows] ^ _round(np.zeros(rows.size, np.uint64), _load(padded, at[rows] + 8 * step, "<u8"))
            hashes[rows] = _rotate(mixed, 27) * _P1 + _P4
    at = at + (rest & ~7)
    rows = np.flatnonzero((rest & 4) != 0)
    if rows.size:
        mixed = hashes[rows] ^ (_load(padded, at[rows], "<u4") * _P1)
        hashes[rows] = _rotate(mixed, 23) * _P2 + _P3
    at = at + (rest & 4)
    for step in range(3):
        rows = np.flatnonzero((rest & 3) > step)
        if rows.size:
            mixed = hashes[rows] ^ (padded[at[rows] + step].astype(np.uint64) * _P5)
            hashes[rows] = _rotate(mixed, 11) * _P1
    hashes = (hashes ^ (hashes >> np.uint64(33))) * _P2
    hashes = (hashes ^ (hashes >> np.uint64(29))) * _P3
    hashes ^= hashes >> np.uint64(32)
    for row in long.tolist():
        begin = int(begins[row])
        hashes[row] = xxhash.xxh64_intdigest(data[begin : begin + int(lengths[row])].tobytes())
    return hashes


def _stripes(padded: Bytes, at: Ints, stripes: Ints) -> U64s:
    """Return the state after all whole stripes of 32 bytes, of rows whose count of them falls."""
    zero = np.zeros(at.size, np.uint64)
    # Sums of arrays wrap; those of scalars would warn.
    lanes = [zero + _P1 + _P2, zero + _P2, zero.copy(), zero - _P1]
    for step in range(int(stripes[0])):
        active = int(np.searchsorted(-stripes, -step, side="left"))
        for lane, state in enumerate(lanes):
            state[:active] = _round(state[:active], _load(padded, at[:active] + 32 * step + 8 * lane, "<u8"))
    merged = sum((_rotate(state, turn) for state, turn in zip(lanes, (1, 7, 12, 18), strict=True)), zero)
    for state in lanes:
        merged = (merged ^ _round(zero, state)) * _P1 + _P4
    return merged


def _load(padded: Bytes, at: Ints, dtype: str) -> U64s:
    """Return the integers that begin at some bytes."""
    size = np.dtype(dtype).itemsize
    view: npt.NDArray[np.uint64] = np.ndarray((padded.size - size + 1,), dtype, padded, strides=(1,))
    return view[at].astype(np.uint64)


def _round(state: U64s, value: U64s) -> U64s:
    rounded: U64s = _rotate(state + value * _P2, 31) * _P1
    return rounded


def _rotate(value: U64s, bits: int) -> U64s:
    rotated: U64s = (value << np.uint64(bits)) | (value >> np.uint64(64 - bits))
    return rotated
