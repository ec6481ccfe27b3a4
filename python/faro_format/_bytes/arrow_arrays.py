"""Arrow arrays of bytes and text as NumPy offsets and bytes. Needs pyarrow."""

from __future__ import annotations

from typing import Any

import numpy as np

from faro_format._arguments import shown
from faro_format._bytes.spans import Bytes, Ints
from faro_format._error import invalid
from faro_format._pyarrow import pa


def binary_buffers(column: Any) -> tuple[Ints, Bytes]:  # noqa: ANN401 - pyarrow ships no types
    """Return the offsets and the bytes of an Arrow array of binary or text, without copying the bytes.

    Args:
        column: a pyarrow Array or ChunkedArray of (large_)binary or (large_)string, without nulls.

    Returns:
        Offsets of shape (values + 1,) into the bytes, and the bytes.

    Raises:
        FaroError: ``invalid-argument`` for another type or for nulls.
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not isinstance(column, pa.Array):
        raise invalid("column: an Arrow array", shown(column))
    kind = column.type
    if pa.types.is_binary(kind) or pa.types.is_string(kind):
        dtype = "<i4"
    elif pa.types.is_large_binary(kind) or pa.types.is_large_string(kind):
        dtype = "<i8"
    else:
        raise invalid("column: an Arrow array of binary or text", f"type {kind}")
    if column.null_count:
        raise invalid("column: an Arrow array without nulls", f"{column.null_count} nulls")
    _, offsets, data = column.buffers()
    raw = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    if not len(column):
        return np.zeros(1, np.int64), raw
    bounds = np.frombuffer(offsets, dtype)[column.offset : column.offset + len(column) + 1]
    return bounds.astype(np.int64), raw


def binary_array(data: Bytes, offsets: Ints) -> Any:  # noqa: ANN401
    """Return records, one after another in ``data``, as an Arrow large_binary array without copying them."""
    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets, np.int64)), pa.py_buffer(data)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), offsets.size - 1, buffers)
