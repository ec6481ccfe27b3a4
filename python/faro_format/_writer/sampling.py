"""Estimates the data blocks of a region before it is written."""

from __future__ import annotations

import struct

import numpy as np

from faro_format._bytes.header import FRAMING_ARROW, FRAMING_RECORDS
from faro_format._bytes.spans import Bytes, Ints

_LENGTH = struct.Struct("<I")


class Sampled:
    """The data records of a region in the order of its blocks, cut approximately where blocks end.

    Approximately: blocks are cut after complete records, and events are ignored.
    """

    def __init__(self, pool: Bytes, streams: Ints, begins: Ints, lengths: Ints, framing: int, cut: int) -> None:
        """Take data records, one a row, in the order of their calls.

        Args:
            pool: the bytes in which they are.
            streams: shape (n,), the extent of each.
            begins: shape (n,), where each begins in ``pool``.
            lengths: shape (n,), their lengths in bytes.
            framing: the file's.
            cut: plain bytes at which blocks are cut.
        """
        order = np.argsort(streams, kind="stable")
        streams = streams[order]
        self._pool, self._begins, self._lengths = pool, begins[order], lengths[order]
        self._framed = framing == FRAMING_RECORDS
        framed = self._lengths + 4 if self._framed else self._lengths
        self.size = int(framed.sum())
        """Plain bytes of all blocks."""
        new = np.append(True, streams[1:] != streams[:-1])
        if framing != FRAMING_ARROW:
            places = np.cumsum(framed) - framed
            within = (places - np.maximum.accumulate(np.where(new, places, 0))) // cut
            new[1:] |= within[1:] != within[:-1]
        else:
            new[:] = True
        self._firsts = np.append(np.flatnonzero(new), streams.size)

    @property
    def blocks(self) -> int:
        """The approximate number of blocks."""
        return self._firsts.size - 1

    def block(self, number: int) -> bytes:
        """Return the plain payload of a block."""
        rows = slice(int(self._firsts[number]), int(self._firsts[number + 1]))
        parts: list[bytes] = []
        for begin, length in zip(self._begins[rows].tolist(), self._lengths[rows].tolist(), strict=True):
            if self._framed:
                parts.append(_LENGTH.pack(length))
            parts.append(self._pool[begin : begin + length].tobytes())
        return b"".join(parts)
