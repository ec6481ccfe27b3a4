"""From a key to a partition: a convention for tools that partition by columns (KEY). Not part of the file."""

from __future__ import annotations

import bisect
import itertools
import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from faro.arguments import integer, items, shown
from faro.buffers import as_bytes
from faro.error import invalid
from faro.gather import Bytes, Ints, copy_spans
from faro.header import MAX_PARTITIONS
from faro.message import U64s
from faro.xxh64 import xxh64

KEY = "the values of a key, for example [1, 'text']"
COLUMN = "a NumPy or Arrow array, or a list of values"
NAN = b"\0\0\0\0\0\0\xf8\x7f"
"""The one NaN of KEY-1, little-endian."""


def encode_value(value: Any) -> bytes:  # noqa: ANN401 - a value of KEY-1's table, or a NumPy scalar
    """Return the encoding of one value of a key (KEY-1).

    Raises:
        FaroError: ``invalid-argument`` for a value that no tag is for.
    """
    value = _plain(value)
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


def _plain(value: Any) -> Any:  # noqa: ANN401
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


def hash_key(values: Iterable[Any]) -> int:
    """Return the hash of one key, of one value or more (KEY-2)."""
    return xxhash.xxh64_intdigest(b"".join(map(encode_value, items("values", values, KEY))))


@dataclass(frozen=True)
class Encoded:
    """A column's encoded values: row i is ``lengths[i]`` bytes of ``data`` from ``begins[i]`` on."""

    data: Bytes
    begins: Ints
    lengths: Ints


def encode_column(column: Any) -> Encoded:  # noqa: ANN401
    """Return the encodings of all values of a column (KEY-1), of NumPy and Arrow arrays without a step for each.

    Args:
        column: a one-dimensional NumPy array of booleans, numbers, dates or times; a pyarrow array; or a sequence
            of values, which costs a Python step for each.
    """
    if hasattr(column, "combine_chunks") or hasattr(column, "buffers"):
        from faro.key_arrow import encode_arrow

        return encode_arrow(column)
    if isinstance(column, np.ndarray) and column.dtype.kind in "biufmM":
        if column.ndim != 1:
            raise invalid("column: one dimension", f"{column.ndim} dimensions")
        return encode_numbers(column)
    return joined([encode_value(value) for value in items("column", column, COLUMN)])


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
    """Return the encodings of text or bytes that stand in ``data``: tag, length, bytes."""
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


def hash_columns(columns: Sequence[Any]) -> U64s:
    """Return the hashes of keys that stand in columns of one length, shape (rows,) (KEY-2).

    Args:
        columns: one or more; see :func:`encode_column`.
    """
    encoded = [encode_column(column) for column in items("columns", columns, "a list of columns")]
    if not encoded or any(column.lengths.size != encoded[0].lengths.size for column in encoded):
        lengths = ", ".join(str(column.lengths.size) for column in encoded[:8])
        raise invalid("columns: one or more, all of one length", f"lengths {lengths}" if encoded else "none")
    if len(encoded) == 1:
        return xxh64(encoded[0].data, encoded[0].begins, encoded[0].lengths)
    lengths = np.stack([column.lengths for column in encoded]).sum(axis=0, dtype=np.int64)
    begins = np.cumsum(lengths) - lengths
    data = np.empty(int(lengths.sum()), np.uint8)
    places = begins
    for column in encoded:
        copy_spans(column.data, column.begins, column.lengths, data, places)
        places = places + column.lengths
    return xxh64(data, begins, lengths)


def partition_columns(columns: Sequence[Any], partition_count: int, first_partition: int = 0) -> Ints:
    """Return the partition of each key by hash, shape (rows,): first_partition + hash mod P (KEY-2)."""
    partition_count = integer("partition_count", partition_count, 1, MAX_PARTITIONS)
    first_partition = integer("first_partition", first_partition, 0, MAX_PARTITIONS - partition_count)
    return first_partition + (hash_columns(columns) % np.uint64(partition_count)).astype(np.int64)


def order_key(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return what Python compares keys by as KEY-3 has it; a NaN is above every other float."""
    key: list[Any] = []
    for value in items("values", values, KEY):
        tag = encode_value(value)[0]
        item = _plain(value)
        if isinstance(item, float):
            item = (1, 0.0) if math.isnan(item) else (0, item)
        elif isinstance(item, str):
            item = item.encode()
        key.append((tag, 0 if item is None else bytes(item) if tag == 6 else item))
    return tuple(key)


def partition_by_range(
    keys: Iterable[Iterable[Any]], bounds: Sequence[Iterable[Any]], first_partition: int = 0
) -> Ints:
    """Return the partition of each key by range, shape (keys,) (KEY-3).

    Args:
        keys: each of one value or more.
        bounds: one fewer than partitions, ascending, each a key.
        first_partition: the partition of keys below the first bound.
    """
    sorted_bounds = [order_key(bound) for bound in items("bounds", bounds, "a list of keys")]
    if any(a > b for a, b in itertools.pairwise(sorted_bounds)):
        raise invalid("bounds: keys that ascend")
    first_partition = integer("first_partition", first_partition, 0, MAX_PARTITIONS - 1)
    wanted = items("keys", keys, "a list of keys")
    found = [first_partition + bisect.bisect_right(sorted_bounds, order_key(key)) for key in wanted]
    return np.array(found, np.int64)
