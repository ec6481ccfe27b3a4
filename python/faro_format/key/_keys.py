"""From a key to a partition: a convention for tools that partition by columns (KEY). Not part of the file."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import xxhash

from faro_format._arguments import integer, items
from faro_format._bytes.header import MAX_PARTITIONS
from faro_format._bytes.spans import Ints, U64s, copy_spans
from faro_format._error import invalid
from faro_format.key._encoding import Encoded, encode_numbers, encode_value, joined, plain
from faro_format.key._xxh64 import xxh64

KEY = "the values of a key, for example [1, 'text']"
COLUMN = "a NumPy or Arrow array, or a list of values"


def hash_key(values: Iterable[Any]) -> int:
    """Return the hash of one key, of one value or more (KEY-2)."""
    return xxhash.xxh64_intdigest(b"".join(map(encode_value, items("values", values, KEY))))


def encode_column(column: Any) -> Encoded:  # noqa: ANN401
    """Return the encodings of all values of a column (KEY-1), of NumPy and Arrow arrays without a step for each.

    Args:
        column: a one-dimensional NumPy array of booleans, numbers, dates or times; a pyarrow array; or a sequence
            of values, which costs a Python step for each.
    """
    if hasattr(column, "combine_chunks") or hasattr(column, "buffers"):
        from faro_format.key._arrow import encode_arrow

        return encode_arrow(column)
    if isinstance(column, np.ndarray) and column.dtype.kind in "biufmM":
        if column.ndim != 1:
            raise invalid("column: one dimension", f"{column.ndim} dimensions")
        return encode_numbers(column)
    return joined([encode_value(value) for value in items("column", column, COLUMN)])


def hash_columns(columns: Sequence[Any]) -> U64s:
    """Return the hashes of keys in columns of one length, shape (rows,) (KEY-2).

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
        item = plain(value)
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
