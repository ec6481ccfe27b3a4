"""Keys in Arrow arrays (KEY-1). Needs pyarrow."""

from __future__ import annotations

from typing import Any

import numpy as np

from faro_format._arguments import shown
from faro_format._bytes.arrow_arrays import binary_buffers
from faro_format._error import invalid
from faro_format._pyarrow import decoded, pa
from faro_format.key._encoding import Encoded, encode_numbers, encode_sized, encode_value, joined, with_nulls


def encode_arrow(column: Any) -> Encoded:  # noqa: ANN401 - pyarrow ships no types
    """Return the encodings of the values of an Arrow array.

    Args:
        column: a pyarrow Array or ChunkedArray of booleans, numbers, dates, times, text, bytes or decimals.

    Raises:
        FaroError: ``invalid-argument`` for another type.
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not isinstance(column, pa.Array):
        raise invalid("column: an Arrow array", shown(column))
    try:
        return _encode(column)
    except pa.ArrowNotImplementedError as fault:
        raise invalid("column: a type that keys may have", f"type {column.type}") from fault


def _encode(column: Any) -> Encoded:  # noqa: ANN401
    kind = column.type
    types = pa.types
    if types.is_dictionary(kind):
        return encode_arrow(decoded(column))
    if types.is_null(kind):
        return joined([b"\0"] * len(column))
    if types.is_decimal(kind):
        return joined([encode_value(value) for value in column.to_pylist()])
    null = np.asarray(column.is_null())
    if types.is_temporal(kind) and not types.is_interval(kind):
        column = column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
        kind = column.type
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        filled = column.fill_null(False if types.is_boolean(kind) else 0) if null.any() else column
        encoded = encode_numbers(filled.to_numpy(zero_copy_only=False))
    else:
        text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
        large = column.cast(pa.large_string() if text else pa.large_binary())
        offsets, data = binary_buffers(large.fill_null("" if text else b"") if null.any() else large)
        encoded = encode_sized(5 if text else 6, data, offsets[:-1], offsets[1:] - offsets[:-1])
    return with_nulls(encoded, null) if null.any() else encoded
