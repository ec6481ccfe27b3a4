"""Tables from callers: any object that exports Arrow data. Needs pyarrow."""

from __future__ import annotations

import re
import sys
from typing import Any

from faro_format._arguments import shown
from faro_format._error import invalid, shortened
from faro_format._pyarrow import pa
from faro_format.arrow._dictionaries import unpacked_column

_TAKEN = "a pyarrow Table, a DataFrame of pandas or Polars, or another object with __arrow_c_stream__"
_NAMES = 72
"""How many characters of a list of columns are shown."""
_COLUMN = 24
"""How many characters of a column's name are shown beside a reason."""
_CONVERSION = re.compile("Conversion failed for column (.*) with type .*", re.DOTALL)


def as_schema(value: Any) -> Any:  # noqa: ANN401 - pyarrow ships no types
    """Return a pyarrow Schema from a Schema, or from an object with ``__arrow_c_schema__``."""
    if isinstance(value, pa.Schema):
        return value
    if not hasattr(value, "__arrow_c_schema__"):
        raise invalid("schema: a pyarrow Schema", shown(value))
    try:
        return pa.schema(value)
    except MemoryError:
        raise
    except Exception as fault:
        raise invalid("schema: a pyarrow Schema, or one that pyarrow can import", fault) from fault


def as_table(value: Any, schema: Any) -> Any:  # noqa: ANN401
    """Return rows as a pyarrow Table of the writer's schema.

    Args:
        value: a pyarrow Table or RecordBatch; an object with ``__arrow_c_stream__`` (pandas, Polars, relations of
            DuckDB, pyarrow's readers, which are read to their end), ``__arrow_c_array__`` or ``__dataframe__``. The
            index of a pandas DataFrame is left out unless the schema names it.
        schema: of the writer, as :func:`faro_format.arrow.unpacked` makes it.

    Raises:
        FaroError: ``invalid-argument`` for another object, or for columns that are not those of the schema.
    """
    if not any(hasattr(value, name) for name in ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__")):
        raise invalid(f"table: {_TAKEN}", shown(value))
    try:
        rows = _without_index(_imported(_with_index(value, schema.names)), schema)
        if rows.schema.equals(schema):
            return rows
        if rows.schema.names != schema.names:
            raise invalid(f"table: the writer's columns, {_listed(schema)}, in this order", _listed(rows.schema))
        return pa.Table.from_arrays([unpacked_column(column) for column in rows.columns], rows.schema.names).cast(
            schema
        )
    except MemoryError:
        raise
    except (pa.ArrowException, AttributeError, LookupError, OSError, TypeError, ValueError) as fault:
        raise invalid(f"table: rows of the writer's columns, {_listed(schema)}", _reason(fault)) from fault


def as_stream(value: Any, keep: list[Any]) -> tuple[Any, list[int]]:  # noqa: ANN401
    """Return rows as a pyarrow RecordBatchReader, and the numbers of the columns to take.

    Args:
        value: rows as :func:`as_table` takes them; what has ``__arrow_c_stream__`` is read as the result is read.
        keep: names of columns to take even if they are a level of the index of a pandas DataFrame.

    Raises:
        FaroError: ``invalid-argument`` for another object.
    """
    if not any(hasattr(value, name) for name in ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__")):
        raise invalid(f"data: {_TAKEN}", shown(value))
    try:
        value = _with_index(value, keep)
        if isinstance(value, pa.RecordBatchReader):
            stream = value
        elif hasattr(value, "__arrow_c_stream__"):
            stream = pa.RecordBatchReader.from_stream(value)
        else:
            stream = _imported(value).to_reader()
        index = _index_of(stream.schema)
    except MemoryError:
        raise
    except (pa.ArrowException, AttributeError, LookupError, OSError, TypeError, ValueError) as fault:
        wanted = "columns of which each has values of one type that Arrow has" if _is_pandas(value) else _TAKEN
        raise invalid(f"data: {wanted}", _reason(fault)) from fault
    names = stream.schema.names
    return stream, [number for number, name in enumerate(names) if name not in index or name in keep]


def _is_pandas(value: Any) -> bool:  # noqa: ANN401
    """Whether it is a DataFrame of pandas, which is not imported for the question."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def _with_index(value: Any, keep: list[Any]) -> Any:  # noqa: ANN401
    """Return a pandas DataFrame as a Table with the levels of its index as columns, if they are wanted.

    What pandas exports has no column of an index of consecutive integers: only the metadata describe it.
    """
    if not _is_pandas(value):
        return value
    columns = [str(name) for name in value.columns]
    if len(set(columns)) != len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise invalid("a DataFrame with a name of its own for each column", f"{shown(twice)}, more than once")
    levels = [str(name) for name in value.index.names]
    if any(name in levels and name not in columns for name in keep):
        return pa.Table.from_pandas(value, preserve_index=True)
    return value


def _reason(fault: Exception) -> str:
    """Return why Arrow refused rows, with the column: pyarrow says it in a second text."""
    texts = [str(text) for text in fault.args]
    found = _CONVERSION.fullmatch(texts[1]) if len(texts) == 2 else None
    if found is None:
        return str(fault)
    return f"column {shortened(found[1], _COLUMN)}: {texts[0]}"


def _imported(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, pa.Table):
        return value
    if isinstance(value, pa.RecordBatch):
        return pa.Table.from_batches([value])
    if isinstance(value, pa.RecordBatchReader):
        return value.read_all()
    if hasattr(value, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(value).read_all()
    if hasattr(value, "__arrow_c_array__"):
        return pa.Table.from_batches([pa.record_batch(value)])
    from pyarrow import interchange

    return interchange.from_dataframe(value)


def _without_index(rows: Any, schema: Any) -> Any:  # noqa: ANN401
    """Leave out columns with a DataFrame's index, such as that of a filtered one, unless the schema names them."""
    index = _index_of(rows.schema)
    return rows.drop_columns([name for name in rows.schema.names if name in index and name not in schema.names])


def _index_of(schema: Any) -> set[str]:  # noqa: ANN401
    """Return the columns that are the index of a pandas DataFrame."""
    described = schema.pandas_metadata or {}
    return {name for name in described.get("index_columns", ()) if isinstance(name, str)}


def _listed(schema: Any) -> str:  # noqa: ANN401
    return shortened(", ".join(schema.names) or "none", _NAMES)
