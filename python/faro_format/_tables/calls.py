"""The calls that return rows: of one partition, and of many."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from faro_format._tables.selection import Columns, Selection, Types


class PartitionTables(ABC):
    """The rows of one partition. DuckDB, Polars, pyarrow and pandas 3 take such an object as a table.

    Each call needs pyarrow. Outputs with framing arrow have the columns that were written. CSV, TSV and JSON lines, as
    ``faro pack`` writes them, are parsed. Other records are one column of bytes, ``record``. Events are passed over.
    A call emits a :class:`faro_format.GapsWarning` if blocks are missing that were consumed before they were stored.
    """

    @abstractmethod
    def _select(self, columns: Columns, types: Types) -> Selection:
        """Return the rows that a caller asks for."""

    def to_arrow(self, *, columns: Columns = None, types: Types = None) -> Any:  # noqa: ANN401 - pyarrow ships no types
        """Return all rows as a pyarrow Table.

        Args:
            columns: the names of those that are wanted, in this order; None: all. Others are not kept in memory.
            types: of columns of text, as pyarrow has them, such as ``{"amount": pyarrow.decimal128(12, 2)}``. pyarrow
                finds the types of the others.

        Raises:
            FaroError: the first fault of the file; ``invalid-argument``.
            ModuleNotFoundError: pyarrow is not installed.
        """
        return self._select(columns, types).table()

    def to_pandas(self, *, columns: Columns = None, types: Types = None, **options: Any) -> Any:  # noqa: ANN401
        """Return all rows as a DataFrame of pandas; see :meth:`to_arrow`.

        Args:
            columns: as those of :meth:`to_arrow`.
            types: as those of :meth:`to_arrow`.
            options: of pyarrow's ``Table.to_pandas``, such as ``types_mapper``.
        """
        return self._select(columns, types).pandas(options)

    def to_polars(self, *, columns: Columns = None, types: Types = None) -> Any:  # noqa: ANN401
        """Return all rows as a DataFrame of Polars; see :meth:`to_arrow`."""
        return self._select(columns, types).polars()

    def to_batches(self, *, columns: Columns = None, types: Types = None) -> Any:  # noqa: ANN401
        """Return the rows as a pyarrow RecordBatchReader, which holds a few blocks at a time; see :meth:`to_arrow`.

        Columns of text have the types that the first 8 MiB show, unless ``types`` has them. A later line that does not
        have them is refused.
        """
        return self._select(columns, types).stream()

    def scanner(self, *, columns: Columns = None, filter: Any = None, types: Types = None) -> Any:  # noqa: ANN401
        """Return a pyarrow Scanner over :meth:`to_batches`, for one query.

        Args:
            columns: as those of :meth:`to_arrow`.
            filter: an expression of pyarrow.dataset, on the columns that are wanted.
            types: as those of :meth:`to_arrow`.
        """
        return self._select(columns, types).scanner(filter)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as a stream of Arrow's C interface; see :meth:`to_batches`."""
        return self._select(None, None).stream().__arrow_c_stream__(requested_schema)


Numbers = int | Iterable[int] | None
"""Partitions that a caller asks for: one, several, or all."""


class OutputTables(ABC):
    """The rows of partitions; see :class:`PartitionTables`.

    Rows that were written once for several partitions come once for each of them.
    """

    @abstractmethod
    def _select(self, partitions: Numbers, columns: Columns, types: Types) -> Selection:
        """Return the rows that a caller asks for."""

    def to_arrow(self, partitions: Numbers = None, *, columns: Columns = None, types: Types = None) -> Any:  # noqa: ANN401
        """Return the rows of partitions as a pyarrow Table.

        Args:
            partitions: a number, several in the order in which they are wanted, or None for all.
            columns: the names of those that are wanted, in this order; None: all. Others are not kept in memory.
            types: of columns of text, as pyarrow has them, such as ``{"amount": pyarrow.decimal128(12, 2)}``. pyarrow
                finds the types of the others.

        Raises:
            FaroError: the first fault of the file; ``invalid-argument``.
            ModuleNotFoundError: pyarrow is not installed.
        """
        return self._select(partitions, columns, types).table()

    def to_pandas(
        self,
        partitions: Numbers = None,
        *,
        columns: Columns = None,
        types: Types = None,
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Return rows as a DataFrame of pandas; see :meth:`to_arrow`, and for ``options`` pyarrow's Table.to_pandas."""
        return self._select(partitions, columns, types).pandas(options)

    def to_polars(self, partitions: Numbers = None, *, columns: Columns = None, types: Types = None) -> Any:  # noqa: ANN401
        """Return rows as a DataFrame of Polars; see :meth:`to_arrow`."""
        return self._select(partitions, columns, types).polars()

    def to_batches(self, partitions: Numbers = None, *, columns: Columns = None, types: Types = None) -> Any:  # noqa: ANN401
        """Return rows as a pyarrow RecordBatchReader, which holds a few blocks at a time; see :meth:`to_arrow`.

        Columns of text have the types that the first 8 MiB show, unless ``types`` has them. A later line that does not
        have them is refused.
        """
        return self._select(partitions, columns, types).stream()

    def scanner(
        self,
        partitions: Numbers = None,
        *,
        columns: Columns = None,
        filter: Any = None,  # noqa: ANN401
        types: Types = None,
    ) -> Any:  # noqa: ANN401
        """Return a pyarrow Scanner over :meth:`to_batches`, for one query.

        Args:
            partitions: as those of :meth:`to_arrow`.
            columns: as those of :meth:`to_arrow`.
            filter: an expression of pyarrow.dataset, on the columns that are wanted.
            types: as those of :meth:`to_arrow`.
        """
        return self._select(partitions, columns, types).scanner(filter)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return all rows as a stream of Arrow's C interface; see :meth:`to_batches`."""
        return self._select(None, None, None).stream().__arrow_c_stream__(requested_schema)
