"""Rows of some partitions and columns: as a table, a stream of batches, or a DataFrame. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from faro_format import _arguments as arguments
from faro_format._block.framing import check_framing, strip_lengths
from faro_format._bytes.arrow_arrays import binary_array
from faro_format._error import invalid
from faro_format._extras import extra
from faro_format._pyarrow import pa
from faro_format._tables.batches import batches
from faro_format._tables.source import Part, Source, check_alike
from faro_format._tables.text import Lines, joined, lines_of, parse

_CHUNK = 8 << 20
"""About how many bytes of text become one batch or more of a stream."""
_RECORD = "record"
"""The column of records that are not text."""
_SPARSE = 2
"""Columns are copied if they are less than one part of this many of their block: a table would keep all of it."""

Columns = Sequence[str] | None
Types = Mapping[str, Any] | Any | None
"""The types of columns by their names, or a pyarrow Schema."""


class Selection:
    """Rows that a caller asks for. Nothing is read before one of the methods is called."""

    def __init__(self, first: Source, parts: Callable[[], Iterator[Part]], columns: Columns, types: Types) -> None:
        """Choose rows.

        Args:
            first: what the payloads are; those of other outputs must be alike.
            parts: returns the blocks of the partitions, one after another.
            columns: the names of the columns that are wanted, in this order; None: all.
            types: of columns of text, as pyarrow has them; pyarrow finds those of the others.

        Raises:
            FaroError: ``invalid-argument`` for columns that are not there, and for types without text.
        """
        self._first = first
        self._parts = parts
        self._columns = checked_columns(columns)
        self._types = _checked_types(types, first)
        self._numbers: list[int] | None = None
        self._schema = pa.schema([(_RECORD, pa.large_binary())]) if first.schema is None else first.schema
        if self._columns is not None and first.text is None:
            self._numbers = [_number_of(self._schema, name) for name in self._columns]
            self._schema = pa.schema([self._schema.field(number) for number in self._numbers], self._schema.metadata)

    def table(self) -> Any:  # noqa: ANN401
        """Return all rows as a pyarrow Table."""
        form = self._first.text
        if form is None:
            return pa.Table.from_batches(self._batches(keep=True), self._schema)
        return parse(form, joined(list(self._lines())), self._columns, self._types, None)

    def stream(self) -> Any:  # noqa: ANN401
        """Return a pyarrow RecordBatchReader, which reads as it is read from.

        Columns of text have the types that the first 8 MiB show, unless ``types`` names them; a later line that does
        not have them is refused.
        """
        if self._first.text is None:
            return pa.RecordBatchReader.from_batches(self._schema, self._batches(keep=False))
        tables = self._text_tables()
        table = next(tables)
        return pa.RecordBatchReader.from_batches(table.schema, _batches_of(table, tables))

    def pandas(self, options: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return all rows as a DataFrame of pandas."""
        extra("pandas")
        return self.table().to_pandas(**options)

    def polars(self) -> Any:  # noqa: ANN401
        """Return all rows as a DataFrame of Polars."""
        return extra("polars").from_arrow(self.table())

    def scanner(self, condition: Any) -> Any:  # noqa: ANN401
        """Return a pyarrow Scanner over :meth:`stream`, which can be used once."""
        from pyarrow import dataset

        if condition is not None and not isinstance(condition, dataset.Expression):
            wanted = 'filter: an expression of pyarrow.dataset, such as pyarrow.dataset.field("id") > 7'
            raise invalid(wanted, arguments.shown(condition))
        return dataset.Scanner.from_batches(self.stream(), filter=condition)

    def _alike(self) -> Iterator[Part]:
        for source, blocks in self._parts():
            if source is not self._first:
                check_alike(self._first, source)
            yield source, blocks

    def _batches(self, *, keep: bool) -> Iterator[Any]:
        for source, blocks in self._alike():
            if source.schema is None:
                for block in blocks:
                    spans = check_framing(block, source.framing, source.place) if block.is_data else None
                    if spans is not None:
                        records = binary_array(*strip_lengths(block.payload, *spans))
                        batch = pa.record_batch([records], [_RECORD])
                        yield batch if self._numbers is None else batch.select(self._numbers)
                continue
            rows = batches(blocks, source.schema, source.place, source.outline, validate=True, columns=self._numbers)
            for batch in rows:
                yield _apart(batch) if keep and self._numbers is not None else batch

    def _lines(self) -> Iterator[Lines]:
        for source, blocks in self._alike():
            yield from lines_of(blocks, source.framing, source.place)

    def _text_tables(self) -> Iterator[Any]:
        """Yield tables of one schema; one at least."""
        form, schema = self._first.text, None
        assert form is not None
        waiting: list[Lines] = []
        size = 0
        for lines in self._lines():
            waiting.append(lines)
            size += len(lines.text)
            if size >= _CHUNK:
                table = parse(form, joined(waiting), self._columns, self._types, schema)
                schema = table.schema
                yield table
                waiting, size = [], 0
        if waiting or schema is None:
            yield parse(form, joined(waiting), self._columns, self._types, schema)


def _batches_of(table: Any, tables: Iterator[Any]) -> Iterator[Any]:  # noqa: ANN401
    yield from table.to_batches()
    for later in tables:
        yield from later.to_batches()


def _apart(batch: Any) -> Any:  # noqa: ANN401
    """Return a batch that keeps no bytes of columns that it lacks, if they are most of the bytes."""
    held = sum({buffer.address: buffer.size for buffer in _parents(batch)}.values())
    if batch.nbytes * _SPARSE >= held:
        return batch
    return pa.ipc.read_record_batch(batch.serialize(), batch.schema)


def _parents(batch: Any) -> Iterator[Any]:  # noqa: ANN401
    for column in batch.columns:
        for buffer in column.buffers():
            while buffer is not None and buffer.parent is not None:
                buffer = buffer.parent
            if buffer is not None:
                yield buffer


def checked_columns(columns: Any) -> list[str] | None:  # noqa: ANN401
    """Return the argument ``columns`` of a caller, checked."""
    if columns is None:
        return None
    names = [arguments.text("columns", name) for name in arguments.items("columns", columns, "a list of names")]
    if len(set(names)) != len(names):
        raise invalid("columns: names, each once", ", ".join(names))
    return names


def _checked_types(types: Any, source: Source) -> dict[str, Any]:  # noqa: ANN401
    if types is None:
        return {}
    if isinstance(types, pa.Schema):
        types = dict(zip(types.names, types.types, strict=True))
    if not isinstance(types, Mapping):
        wanted = 'types: pyarrow types by names of columns, such as {"id": pyarrow.int64()}'
        raise invalid(wanted, arguments.shown(types))
    if source.text is None:
        raise invalid("types: only of an output of CSV, TSV or JSON lines; others have types of their own", len(types))
    for name, kind in types.items():
        arguments.text("types", name)
        if not isinstance(kind, pa.DataType):
            raise invalid("types: pyarrow types, such as pyarrow.int64()", arguments.shown(kind))
    return dict(types)


def _number_of(schema: Any, name: str) -> int:  # noqa: ANN401
    found: list[int] = schema.get_all_field_indices(name)
    if len(found) != 1:
        wanted = arguments.shown(name)
        known = ", ".join(schema.names)
        raise invalid(f"columns: names of {known}", wanted if not found else f"{wanted} more than once")
    return found[0]
