"""The framing of a block's plain payload (FRM)."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from faro_format._block.block import BLOCK_HEADER_SIZE, Block
from faro_format._block.encapsulation import encapsulation_fault
from faro_format._bytes.header import FRAMING_ARROW, FRAMING_RECORDS
from faro_format._bytes.spans import Bytes, Ints, copy_spans
from faro_format._error import ErrorCode, Place

_LENGTH = struct.Struct("<I")


class FramingError(Exception):
    """A payload that violates FRM-2 or FRM-4."""


def scan_records(payload: memoryview | bytes) -> tuple[Ints, Ints]:
    """Return where the records of a payload begin, and their lengths, both in bytes, shape (records,).

    Records of one length are found by NumPy. Others make a chain, each length saying where the next one is,
    and cost one Python step each; :func:`scan_chains` takes the steps of many payloads at once.

    Raises:
        FramingError: the payload is not whole records (FRM-2).
    """
    size = len(payload)
    found = scan_equal(payload)
    if found is not None:
        return found
    begins = []
    at, last = 0, size - 4
    unpack = _LENGTH.unpack_from
    while at <= last:
        at += 4
        begins.append(at)
        at += unpack(payload, at - 4)[0]
    if at != size:
        raise FramingError(f"a record or its length that reaches {at - size if at > size else size - at} bytes wrong")
    starts = np.array(begins, np.int64)
    return starts, np.append(starts[1:] - 4, size) - starts if begins else starts


def scan_equal(payload: memoryview | bytes) -> tuple[Ints, Ints] | None:
    """Do as :func:`scan_records` when all records have one length, else return None."""
    rows = equal_records(payload)
    if rows is None:
        return None
    count, length = rows.shape
    return 4 + (4 + length) * np.arange(count, dtype=np.int64), np.full(count, length, np.int64)


def equal_records(payload: memoryview | bytes) -> Bytes | None:
    """Return the records of a payload as a view of it, shape (records, bytes of each).

    Returns:
        None if they have several lengths, or violate FRM-2.
    """
    size = len(payload)
    if size < 4:
        return None
    stride = 4 + int(_LENGTH.unpack_from(payload, 0)[0])
    if size % stride:
        return None
    lengths = np.ndarray((size // stride,), "<u4", payload, strides=(stride,))
    if not (lengths == stride - 4).all():
        return None
    return np.frombuffer(payload, np.uint8).reshape(-1, stride)[:, 4:]


def scan_chains(data: Bytes, starts: Ints, ends: Ints) -> tuple[Ints, Ints] | None:
    """Return where the records of many payloads begin in ``data``, ascending, and their lengths, shape (records,).

    All payloads advance by one record in each step, so the number of steps is the largest number of records in a
    payload, and does not depend on the count of payloads.

    Args:
        data: the bytes that hold the payloads.
        starts: where each payload begins, ascending.
        ends: where each ends; none overlaps the next.

    Returns:
        None if a payload is not whole records (FRM-2).
    """
    # A length may be at any offset: a view of the four bytes at each.
    places = np.ndarray((max(data.size - 3, 0),), "<u4", data, strides=(1,))
    at, ends = starts[starts < ends], ends[starts < ends]
    begins: list[Ints] = []
    lengths: list[Ints] = []
    while at.size:
        if (at + 4 > ends).any():
            return None
        sizes = places[at].astype(np.int64)
        begins.append(at + 4)
        lengths.append(sizes)
        at = at + 4 + sizes
        if (at > ends).any():
            return None
        more = at < ends
        at, ends = at[more], ends[more]
    if not begins:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    found = np.concatenate(begins)
    order = np.argsort(found, kind="stable")
    return found[order], np.concatenate(lengths)[order]


def check_framing(block: Block, framing: int, place: Place) -> tuple[Ints, Ints] | None:
    """Check FRM-2 or FRM-4 of a decoded data block, by the file's framing (FRM-5).

    Returns:
        With framing records what :func:`scan_records` returns, else None.

    Raises:
        FaroError: ``malformed-block`` at the block's offset + 24.
    """
    fault: str | None = None
    found = None
    if framing == FRAMING_RECORDS:
        try:
            found = scan_records(block.payload)
        except FramingError as error:
            fault = str(error)
    elif framing == FRAMING_ARROW:
        fault = encapsulation_fault(block.payload)
    if fault is not None:
        offset = block.offset + BLOCK_HEADER_SIZE
        expected = "whole records" if framing == FRAMING_RECORDS else "an encapsulated Arrow message"
        raise place.error(ErrorCode.MALFORMED_BLOCK, offset, expected, fault)
    return found


def strip_lengths(payload: memoryview | bytes, begins: Ints, lengths: Ints) -> tuple[Bytes, Ints]:
    """Return the records of a payload one after another, and where each begins: shapes (bytes,), (records + 1,)."""
    offsets = np.zeros(lengths.size + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    data = np.empty(int(offsets[-1]), np.uint8)
    copy_spans(np.frombuffer(payload, np.uint8), begins, lengths, data, offsets[:-1])
    return data, offsets


def add_lengths(source: Bytes, begins: Ints, lengths: Ints, target: Bytes, places: Ints) -> None:
    """Write records with their lengths before them to ``places``; see :func:`faro_format._bytes.spans.copy_spans`."""
    prefixes: Any = lengths.astype("<u4").view(np.uint8)
    copy_spans(
        prefixes, 4 * np.arange(lengths.size, dtype=np.int64), np.full(lengths.size, 4, np.int64), target, places
    )
    copy_spans(source, begins, lengths, target, places + 4)
