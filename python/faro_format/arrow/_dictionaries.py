"""Columns without dictionary encoding, also inside lists and structs (FRM-3). Needs pyarrow.

pyarrow's casts do not take dictionaries inside other types, nor dictionaries of views, as Polars' categories are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from faro_format._pyarrow import decoded, pa


def without_dictionaries(column: Any) -> Any:  # noqa: ANN401 - pyarrow ships no types
    """Return an Array or ChunkedArray with each dictionary-encoded value as that value; nulls stay nulls."""
    if not _has_dictionary(column.type):
        return column
    if isinstance(column, pa.ChunkedArray):
        chunks = [without_dictionaries(chunk) for chunk in column.chunks]
        return pa.chunked_array(chunks or [without_dictionaries(pa.array([], column.type))])
    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        return without_dictionaries(decoded(column))
    if types.is_struct(kind):
        children = [without_dictionaries(column.field(number)) for number in range(kind.num_fields)]
        fields = [kind.field(number).with_type(child.type) for number, child in enumerate(children)]
        return pa.StructArray.from_arrays(children, fields=fields, mask=column.is_null())
    if types.is_fixed_size_list(kind):
        size = kind.list_size
        values = without_dictionaries(column.values.slice(column.offset * size, len(column) * size))
        list_type = pa.list_(kind.value_field.with_type(values.type), size)
        return pa.FixedSizeListArray.from_arrays(values, type=list_type, mask=column.is_null())
    values = without_dictionaries(column.values)
    field = kind.value_field.with_type(values.type)
    # The offsets of a part of a column are taken with the whole column's values; with a mask they must be a copy.
    offsets = pa.array(np.array(column.offsets), column.offsets.type)
    lists, list_type = (pa.LargeListArray, pa.large_list) if types.is_large_list(kind) else (pa.ListArray, pa.list_)
    return lists.from_arrays(offsets, values, type=list_type(field), mask=column.is_null())


def _has_dictionary(kind: Any) -> bool:  # noqa: ANN401
    """Whether dictionaries are in a type, in what this module can take apart."""
    types = pa.types
    if types.is_struct(kind):
        return any(_has_dictionary(kind.field(number).type) for number in range(kind.num_fields))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _has_dictionary(kind.value_type)
    return bool(types.is_dictionary(kind))
