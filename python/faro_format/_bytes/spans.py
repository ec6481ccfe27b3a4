"""Copies many spans of bytes at once, in NumPy, without a Python step for each.

A span of length n with 2^k <= n < 2^(k+1) is copied as its first and its last 2^k bytes, which overlap; so spans
of all lengths take two indexed copies for each k, of items whose size NumPy knows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
U32s = npt.NDArray[np.uint32]
U64s = npt.NDArray[np.uint64]


def items(array: Bytes, size: int) -> npt.NDArray[np.void]:
    """Return a view of ``array`` whose element i is the ``size`` bytes from byte i on."""
    return np.ndarray((max(array.size - size + 1, 0),), np.dtype((np.void, size)), array, strides=(1,))


def copy_spans(source: Bytes, begins: Ints, lengths: Ints, target: Bytes, places: Ints) -> None:
    """Copy span i, ``lengths[i]`` bytes of ``source`` from ``begins[i]`` on, to ``target`` at ``places[i]``.

    Args:
        source: contiguous bytes.
        begins: shape (n,), bytes.
        lengths: shape (n,), bytes, zero allowed.
        target: contiguous bytes, not the source.
        places: shape (n,), bytes; the spans do not overlap in the target.
    """
    if not lengths.size:
        return
    if (lengths == lengths[0]).all():
        _copy(source, begins, target, places, int(lengths[0]))
        return
    # frexp gives the bit length of a length: exact, since lengths are far below 2^53.
    classes = np.frexp(lengths.astype(np.float64))[1]
    for bits in np.unique(classes).tolist():
        if not bits:
            continue
        size = 1 << (bits - 1)
        rows = np.flatnonzero(classes == bits)
        begin, place = begins[rows], places[rows]
        _copy(source, begin, target, place, size)
        rest = lengths[rows] - size
        _copy(source, begin + rest, target, place + rest, size)


def _copy(source: Bytes, begins: Ints, target: Bytes, places: Ints, size: int) -> None:
    if size >= 4096:
        for begin, place in zip(begins.tolist(), places.tolist(), strict=True):
            target[place : place + size] = source[begin : begin + size]
    elif size:
        items(target, size)[places] = items(source, size)[begins]
