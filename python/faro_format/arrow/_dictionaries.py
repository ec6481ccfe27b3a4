"""Columns without dictionary encoding, also inside lists and structs (FRM-3). Needs pyarrow.

pyarrow's casts do not take dictionaries inside other types, nor dictionaries of views, as Polars' categories are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from faro_format._pyarrow import decoded, pa


def unpacked_field(field: Any) -> Any:  # noqa: ANN401 - pyarrow ships no types
    """Return a field whose values are not dictionary-encoded, and without views, also inside lists and structs."""
    kind, types = field.type, pa.types
    if types.is_dictionary(kind):
        kind = unpacked_field(field.with_type(kind.value_type)).type
    elif types.is_string_view(kind):
        kind = pa.string()
    elif types.is_binary_view(kind):
        kind = pa.binary()
    elif types.is_struct(kind):
        kind = pa.struct([unpacked_field(kind.field(i)) for i in range(kind.num_fields)])
    elif types.is_list(kind):
        kind = pa.list_(unpacked_field(kind.value_field))
    elif types.is_large_list(kind):
        kind = pa.large_list(unpacked_field(kind.value_field))
    elif types.is_fixed_size_list(kind):
        kind = pa.list_(unpacked_field(kind.value_field), kind.list_size)
    return field.with_type(kind)


def has_dictionary(kind: Any) -> bool:  # noqa: ANN401
    """Whether a type, or a type inside it, is dictionary-encoded."""
    if pa.types.is_dictionary(kind):
        return True
    return any(has_dictionary(kind.field(number).type) for number in range(kind.num_fields))


def unpacked_column(column: Any) -> Any:  # noqa: ANN401
    """Return an Array or ChunkedArray with each dictionary-encoded value as that value; nulls stay nulls.

    Its type has no dictionaries, except inside what :func:`unpacked_field` does not change.
    """
    if not has_dictionary(column.type):
        return column
    if isinstance(column, pa.ChunkedArray):
        chunks = [unpacked_column(chunk) for chunk in column.chunks]
        return pa.chunked_array(chunks, None if chunks else unpacked_field(pa.field("", column.type)).type)
    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        return unpacked_column(decoded(column))
    if types.is_struct(kind):
        children = [unpacked_column(column.field(number)) for number in range(kind.num_fields)]
        fields = [kind.field(number).with_type(child.type) for number, child in enumerate(children)]
        return pa.StructArray.from_arrays(children, fields=fields, mask=column.is_null())
    if types.is_fixed_size_list(kind):
        return _fixed_size_lists(column)
    if types.is_list(kind) or types.is_large_list(kind):
        return _lists(column)
    return column


def _fixed_size_lists(column: Any) -> Any:  # noqa: ANN401
    size = column.type.list_size
    values = unpacked_column(column.values.slice(column.offset * size, len(column) * size))
    kind = pa.list_(column.type.value_field.with_type(values.type), size)
    if size == 0:
        # pyarrow divides by the size.
        return pa.array([[] if valid else None for valid in column.is_valid().to_pylist()], kind)
    return pa.FixedSizeListArray.from_arrays(values, type=kind, mask=column.is_null())


def _lists(column: Any) -> Any:  # noqa: ANN401
    # The values of a part of a column are those of the whole; and with a mask, offsets must not be a part.
    offsets = np.array(column.offsets) if len(column) else np.zeros(1, np.int64)
    first, last = int(offsets[0]), int(offsets[-1])
    values = unpacked_column(column.values.slice(first, last - first))
    field = column.type.value_field.with_type(values.type)
    is_large = pa.types.is_large_list(column.type)
    lists, kind = (pa.LargeListArray, pa.large_list(field)) if is_large else (pa.ListArray, pa.list_(field))
    at = pa.array(offsets - first, pa.int64() if is_large else pa.int32())
    return lists.from_arrays(at, values, type=kind, mask=column.is_null())
