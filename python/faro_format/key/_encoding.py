"""The encodings of keys (KEY-1)."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from faro_format._arguments import shown
from faro_format._bytes.buffers import as_bytes
from faro_format._bytes.spans import Bytes, Ints, copy_spans
from faro_format._error import invalid

NAN = b"\0\0\0\0\0\0\xf8\x7f"
"""The one NaN of KEY-1, little-endian."""


def encode_value(value: Any) -> bytes:  # noqa: ANN401 - a value of KEY-1's table, or a NumPy scalar
    """Return the encoding of one value of a key (KEY-1).

    Raises:
        FaroError: ``invalid-argument`` for a value that no tag is for.
    """
    value = plain(value)
    if value is None:
        return b"\0"
    if isinstance(value, bool):
        return bytes((1, value))
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise invalid("value: an integer from -2^63 to 2^64 - 1", value)
        return bytes((3 if value >= 2**63 else 2,)) + (value % 2**64).to_bytes(8, "little")
    if isinstance(value, float):
        # Adding zero makes -0 a 0.
        return b"\x04" + (NAN if math.isnan(value) else struct.pack("<d", value + 0.0))
    if isinstance(value, str):
        try:
            raw = value.encode()
        except UnicodeEncodeError as fault:
            raise invalid("value: text that UTF-8 can hold", shown(value)) from fault
        return b"\x05" + _sized(raw)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return b"\x06" + _sized(bytes(as_bytes(value, "value")))
    if isinstance(value, Decimal):
        return b"\x07" + _decimal(value)
    raise invalid("value: None, a boolean, number, text, bytes or Decimal", shown(value))


def plain(value: Any) -> Any:  # noqa: ANN401
    """Return a NumPy scalar as Python's own; dates and times as the integer that stores them."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return int(value.view(np.int64))
    return value.item() if isinstance(value, np.generic) else value


def _sized(raw: bytes) -> bytes:
    if len(raw) >= 2**32:
        raise invalid("value: fewer than 2^32 bytes", len(raw))
    return len(raw).to_bytes(4, "little") + raw


def _decimal(value: Decimal) -> bytes:
    sign, digits, exponent = value.as_tuple()
    wanted = "value: a finite Decimal of up to 128 bits and a scale from -128 to 127"
    # No number of 128 bits has more than 39 digits.
    if not isinstance(exponent, int) or len(digits) > 39:
        raise invalid(wanted, f"{len(digits)} digits" if isinstance(exponent, int) else value)
    unscaled = int("".join(map(str, digits)) or "0") * (-1 if sign else 1)
    if not -128 <= -exponent <= 127 or not -(2**127) <= unscaled < 2**127:
        raise invalid(wanted, value)
    return unscaled.to_bytes(16, "little", signed=True) + (-exponent).to_bytes(1, "little", signed=True)


@dataclass(frozen=True)
class Encoded:
    """A column's encoded values: row i is ``lengths[i]`` bytes of ``data`` from ``begins[i]`` on."""

    data: Bytes
    begins: Ints
    lengths: Ints


def joined(rows: Sequence[bytes]) -> Encoded:
    """Return encoded values that are there one by one as a column."""
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    return Encoded(np.frombuffer(b"".join(rows), np.uint8), np.cumsum(lengths) - lengths, lengths)


def encode_numbers(column: npt.NDArray[Any]) -> Encoded:
    """Return the encodings of a NumPy array of booleans, numbers, dates or times."""
    count = column.size
    kind = column.dtype.kind
    if kind == "b":
        rows = np.column_stack((np.ones(count, np.uint8), column.astype(np.uint8)))
    else:
        rows = np.empty((count, 9), np.uint8)
        if kind == "f":
            values = column.astype(np.float64) + 0.0
            rows[:, 0] = 4
            rows[:, 1:] = values.astype("<f8").view(np.uint8).reshape(count, 8)
            rows[np.isnan(values), 1:] = np.frombuffer(NAN, np.uint8)
        else:
            if kind in "mM":
                column = column.view(np.int64)
            large = column >= np.uint64(2**63) if column.dtype == np.uint64 else np.zeros(count, np.bool_)
            words = column.astype(np.uint64 if kind == "u" else np.int64)
            rows[:, 0] = np.where(large, 3, 2)
            rows[:, 1:] = words.astype("<u8" if kind == "u" else "<i8").view(np.uint8).reshape(count, 8)
    width = rows.shape[1]
    return Encoded(rows.ravel(), width * np.arange(count, dtype=np.int64), np.full(count, width, np.int64))


def encode_sized(tag: int, data: Bytes, begins: Ints, lengths: Ints) -> Encoded:
    """Return the encodings of text or bytes in ``data``: tag, length, bytes."""
    sizes = lengths + 5
    places = np.cumsum(sizes) - sizes
    encoded = np.empty(int(sizes.sum()), np.uint8)
    heads = np.empty((lengths.size, 5), np.uint8)
    heads[:, 0] = tag
    heads[:, 1:] = lengths.astype("<u4").view(np.uint8).reshape(-1, 4)
    fives = np.full(lengths.size, 5, np.int64)
    copy_spans(heads.ravel(), 5 * np.arange(lengths.size, dtype=np.int64), fives, encoded, places)
    copy_spans(data, begins, lengths, encoded, places + 5)
    return Encoded(encoded, places, sizes)


def with_nulls(encoded: Encoded, null: npt.NDArray[np.bool_]) -> Encoded:
    """Return a column with nulls in some rows."""
    # One zero byte at the end of the data is the encoding of all of them.
    data = np.append(encoded.data, np.uint8(0))
    return Encoded(data, np.where(null, data.size - 1, encoded.begins), np.where(null, 1, encoded.lengths))
