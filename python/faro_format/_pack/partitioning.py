"""The partition of each row, by hash (KEY-2) or by range (KEY-3) of columns. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from faro_format import _arguments as arguments
from faro_format._bytes.header import MAX_PARTITIONS
from faro_format._bytes.spans import Ints
from faro_format._error import invalid, shortened
from faro_format._pack.bounds import Key, bounds_text, checked_bounds
from faro_format._pyarrow import decoded, pa
from faro_format.key import partition_by_range, partition_columns

PARTITIONS = 64
"""How many there are, if neither a number nor bounds are given."""

_NAMES = 72
"""How many characters of a list of columns are shown."""


class Partitioner:
    """Which partition a row belongs to."""

    def __init__(self, schema: Any, by: Any, partitions: Any, bounds: Any, first: int) -> None:  # noqa: ANN401
        """Choose how rows become partitions.

        Args:
            schema: of the rows, as pyarrow has it.
            by: the name of a column, or several.
            partitions: how many; None: 64, or one more than bounds.
            bounds: the first key of each partition except the first; None: by hash.
            first: the first partition.

        Raises:
            FaroError: ``invalid-argument`` for columns that are not there or cannot be keys, and for bounds that their
                types do not hold, or that do not ascend.
        """
        names = [by] if isinstance(by, str) else arguments.items("by", by, "the name of a column, or a list of names")
        self.by = [arguments.text("by", name) for name in names]
        if not self.by:
            raise invalid("by: the name of a column, or several", "none")
        if len(set(self.by)) != len(self.by):
            raise invalid("by: names of columns, each once", shortened(", ".join(self.by), _NAMES))
        self._columns = [_column_of(schema, name) for name in self.by]
        kinds = [_value_type(schema.field(number).type) for number in self._columns]
        for name, kind in zip(self.by, kinds, strict=True):
            _check_key(name, kind)
        self._first = first
        self._bounds: list[Key] | None = None
        self._kinds = kinds
        if bounds is not None:
            self._bounds = checked_bounds(bounds, kinds)
            partition_by_range([], self._bounds)
            self.count = len(self._bounds) + 1
            if partitions is not None and arguments.integer("partitions", partitions, 1, MAX_PARTITIONS) != self.count:
                raise invalid(f"partitions: {self.count}, one more than bounds, or None", partitions)
        else:
            wanted = PARTITIONS if partitions is None else partitions
            self.count = arguments.integer("partitions", wanted, 1, MAX_PARTITIONS)

    def properties(self) -> dict[str, str]:
        """Return what the file says of it, as ``faro pack`` does."""
        found = {"faro.pack.by": ",".join(self.by), "faro.pack.method": "hash" if self._bounds is None else "range"}
        if self._bounds is not None:
            found["faro.pack.bounds"] = bounds_text(self._bounds, self._kinds)
        return found

    def partitions(self, batch: Any) -> Ints:  # noqa: ANN401
        """Return the absolute partition of each row of a record batch."""
        columns = [batch.column(number) for number in self._columns]
        if self._bounds is None:
            return partition_columns(columns, self.count, self._first)
        if len(columns) > 1:
            return partition_by_range(zip(*map(_keys, columns), strict=True), self._bounds, self._first)
        # Each value once: most columns have the same ones many times.
        encoded = _plain(columns[0]).dictionary_encode()
        values = [(value,) for value in (*encoded.dictionary.to_pylist(), None)]
        found = partition_by_range(values, self._bounds, self._first)
        at: Ints = np.asarray(encoded.indices.fill_null(len(values) - 1))
        return found[at]


def _plain(column: Any) -> Any:  # noqa: ANN401
    """Return a column whose values are those of KEY-1: dates and times as integers, views as text or binary."""
    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        return _plain(decoded(column))
    if types.is_temporal(kind):
        return column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    if types.is_string_view(kind):
        return column.cast(pa.large_string())
    if types.is_binary_view(kind) or types.is_fixed_size_binary(kind):
        return column.cast(pa.large_binary())
    return column.cast(pa.float32()) if types.is_float16(kind) else column


def _keys(column: Any) -> list[Any]:  # noqa: ANN401
    values: list[Any] = _plain(column).to_pylist()
    return values


def _value_type(kind: Any) -> Any:  # noqa: ANN401
    return _value_type(kind.value_type) if pa.types.is_dictionary(kind) else kind


def _check_key(name: str, kind: Any) -> None:  # noqa: ANN401
    types = pa.types
    scalar = types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind)
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    decimal = types.is_decimal(kind) and kind.bit_width <= 128
    temporal = types.is_temporal(kind) and not types.is_interval(kind)
    if not (scalar or text or binary or types.is_binary_view(kind) or decimal or temporal):
        wanted = "by: columns of booleans, numbers, dates, times, text, binary, or decimals of up to 128 bits"
        raise invalid(wanted, f"{arguments.shown(name)} of type {kind}")


def _column_of(schema: Any, name: str) -> int:  # noqa: ANN401
    found: Sequence[int] = schema.get_all_field_indices(name)
    if len(found) != 1:
        shown = arguments.shown(name)
        raise invalid(f"by: one of the columns {', '.join(schema.names)}", shown if not found else f"{shown} twice")
    return found[0]
