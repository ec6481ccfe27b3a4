"""The partition of a row by range, computed by DuckDB, which shares no code with Faro."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa

Bound = Sequence[str | None]
"""A bound: a text for each column of the key; None for a null."""


class Oracle:
    """A connection."""

    def __init__(self) -> None:
        self._duck = duckdb.connect(":memory:", config={"threads": 2})
        self._duck.execute("SET TimeZone = 'UTC'")

    def partitions(self, columns: Sequence[Any], types: Sequence[str], bounds: Sequence[Bound]) -> list[int]:
        """The partition of each row: the number of bounds that are not above its key (KEY-3), nulls first.

        Args:
            columns: of the key; text is cast to its type.
            types: DuckDB's type of each column.
            bounds: ascending or not.

        """
        self._tables(columns, types, bounds)
        if not bounds:
            return [0] * len(columns[0])
        counted = f"SELECT count(*) FILTER (WHERE {_not_above(types)}) FROM rows, bounds GROUP BY row ORDER BY row"
        return [count for (count,) in self._duck.execute(counted).fetchall()]

    def ascending(self, columns: Sequence[Any], types: Sequence[str], bounds: Sequence[Bound]) -> list[Bound]:
        """The bounds in order, without duplicates."""
        self._tables(columns, types, bounds)
        casts = [_cast(f"b{n}", kind) for n, kind in enumerate(types)]
        order = ", ".join(f"{cast} NULLS FIRST" for cast in casts)
        query = f"SELECT min(bound) AS first FROM bounds GROUP BY {', '.join(casts)} ORDER BY {order}"
        return [bounds[first] for (first,) in self._duck.execute(query).fetchall()]

    def _tables(self, columns: Sequence[Any], types: Sequence[str], bounds: Sequence[Bound]) -> None:
        rows = pa.table({"row": range(len(columns[0])), **{f"k{n}": column for n, column in enumerate(columns)}})
        values = {f"b{n}": pa.array([bound[n] for bound in bounds], pa.string()) for n in range(len(types))}
        self._duck.register("given_rows", rows)
        self._duck.register("given_bounds", pa.table({"bound": range(len(bounds)), **values}))
        cast = [
            f"{_cast(f'k{n}', kind) if pa.types.is_string(column.type) else f'k{n}'} AS k{n}"
            for n, (kind, column) in enumerate(zip(types, columns, strict=True))
        ]
        self._duck.execute(f"CREATE OR REPLACE TEMP TABLE rows AS SELECT row, {', '.join(cast)} FROM given_rows")
        self._duck.execute("CREATE OR REPLACE TEMP TABLE bounds AS SELECT * FROM given_bounds")


def _cast(name: str, kind: str) -> str:
    return f"from_hex({name})" if kind == "BLOB" else f"CAST({name} AS {kind})"


def _not_above(types: Sequence[str]) -> str:
    """The condition that the bound is not above the key: the first column that differs decides."""
    condition = "TRUE"
    for n, kind in reversed(list(enumerate(types))):
        key, bound = f"k{n}", _cast(f"b{n}", kind)
        less = f"(CASE WHEN b{n} IS NULL THEN {key} IS NOT NULL ELSE coalesce({bound} < {key}, FALSE) END)"
        condition = f"({less} OR ({bound} IS NOT DISTINCT FROM {key} AND {condition}))"
    return condition
