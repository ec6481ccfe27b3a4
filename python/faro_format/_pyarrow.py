"""pyarrow, or an error that says how to get it; and what it cannot do with dictionaries of views."""

from __future__ import annotations

from typing import Any

try:
    import pyarrow as pa
except ModuleNotFoundError as fault:
    if fault.name != "pyarrow":
        raise
    message = (
        "Arrow tables need pyarrow, which is not installed. Install it with: pip install 'pyarrow>=20.0'. Or install "
        "this library from its source folder with the extra \"arrow\": pip install './python[arrow]'"
    )
    raise ModuleNotFoundError(message, name="pyarrow") from None

__all__ = ["decoded", "pa"]


def _without_views(kind: Any) -> Any:  # noqa: ANN401 - pyarrow ships no types
    """Return a type with the same values that all of pyarrow's functions take."""
    if pa.types.is_string_view(kind):
        return pa.large_string()
    return pa.large_binary() if pa.types.is_binary_view(kind) else kind


def decoded(column: Any) -> Any:  # noqa: ANN401
    """Return a dictionary-encoded Array or ChunkedArray as its values. Polars' categories are dictionaries of views."""
    kind = _without_views(column.type.value_type)
    if kind == column.type.value_type:
        return column.dictionary_decode() if isinstance(column, pa.Array) else column.cast(kind)
    chunks = [column] if isinstance(column, pa.Array) else column.chunks
    values = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in chunks]
    return values[0] if isinstance(column, pa.Array) else pa.chunked_array(values, kind)
