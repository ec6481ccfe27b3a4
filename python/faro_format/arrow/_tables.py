"""Arrow tables in and out. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from faro_format._arguments import flag, integers, shown
from faro_format._block.block import KIND_DATA
from faro_format._bytes.arrow_arrays import binary_array
from faro_format._error import invalid
from faro_format._pyarrow import pa
from faro_format._reader.delivery import PartitionReader
from faro_format._reader.gaps import warn_of_gaps
from faro_format._reader.shown import name_of
from faro_format._reader.windows import by_partition
from faro_format._storage.destination import Destination
from faro_format._storage.names import Path
from faro_format._tables.batches import Outline, batches, schema_of
from faro_format._writer.calls import Calls, CallsOfArrow
from faro_format._writer.options import WriterOptions
from faro_format._writer.region_builder import RegionBuilder, member_bits
from faro_format._writer.summary import Summary
from faro_format._writer.writer import Writer
from faro_format.arrow._dictionaries import has_dictionary, unpacked_field
from faro_format.arrow._input import as_schema, as_table
from faro_format.arrow._rows import Rows, check_rows, cut, messages, one_batch

Self = TypeVar("Self", bound="ArrowWriter")

_OUTLINES: WeakKeyDictionary[PartitionReader, Outline] = WeakKeyDictionary()

BLOCK = 256 << 10
"""The block_size of tables, in bytes, if none is given."""


def unpacked(schema: Any) -> Any:  # noqa: ANN401 - pyarrow ships no types
    """Return a schema without dictionary-encoded columns (FRM-3), and without views, of which pyarrow takes no rows."""
    schema = as_schema(schema)
    fields = [unpacked_field(field) for field in schema]
    for field in fields:
        if has_dictionary(field.type):
            raise invalid(
                f"schema: the column {field.name} without dictionaries inside maps, unions or views of lists",
                field.type,
            )
    return pa.schema(fields, schema.metadata)


class ArrowWriter:
    """Writes rows of tables by partition. Use it in a ``with`` statement, as :class:`faro_format.Writer`.

    Rows are kept until they reach the option buffer_size, grouped by partition, stably, and then written as a
    region whose blocks are record batches of about block_size bytes. Where batches are cut is not canonical
    (SRT-10). The block_size is 256 KiB unless another is given: a batch costs the same whatever its size, and each
    of its columns again.
    """

    def __init__(
        self,
        name: Path | None,
        schema: Any,  # noqa: ANN401
        partition_count: int,
        *,
        destination: Destination | None = None,
        storage_options: Mapping[str, Any] | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        """Create an output for tables of a schema.

        Args:
            name: the output's NAME, as that of :class:`faro_format.Writer`.
            schema: a pyarrow Schema, or what has ``__arrow_c_schema__``; dictionary-encoded columns are unpacked,
                views become text or binary.
            partition_count: how many partitions there are.
            destination: where the files go, if ``name`` is None; as that of :class:`faro_format.Writer`.
            storage_options: with a URL as ``name``, as those of :class:`faro_format.Writer`.
            options: those of :class:`faro_format.WriterOptions`. With ``single_below``, an output with rows is a pair,
                because they are written as regions.

        Raises:
            FaroError: ``invalid-argument`` for a column of a type that pyarrow takes no rows of, or an option.
        """
        self.schema = unpacked(schema)
        """What tables are cast to."""
        try:
            self.schema.empty_table().take(pa.array([], pa.uint32()))
        except pa.ArrowException as fault:
            raise invalid("schema: columns of types that pyarrow takes rows of", fault) from fault
        message = self.schema.serialize().to_pybytes()
        options.setdefault("block_size", BLOCK)
        chosen = WriterOptions(partition_count, framing="arrow", schema=message, **options)
        self._writer = Writer(name, chosen, destination=destination, storage_options=storage_options)
        self._rows = Rows(chosen)
        self._calls = CallsOfArrow(self._writer._news)

    def _call(self) -> Calls:
        """Begin a call, in a ``with`` statement: the rows that are kept are part of what WRT-6 guards."""
        self._writer._check_open()
        return self._calls

    def write(self, table: Any, partitions: npt.ArrayLike) -> None:  # noqa: ANN401
        """Write rows.

        Args:
            table: rows of the schema: a pyarrow Table or RecordBatch, a DataFrame of pandas or Polars, a relation of
                DuckDB, or whatever else has ``__arrow_c_stream__``, ``__arrow_c_array__`` or ``__dataframe__``.
                The index of a pandas DataFrame is left out unless the schema names it.
            partitions: shape (rows,), the absolute partition of each; any sequence or array of integers.

        Raises:
            FaroError: ``invalid-argument`` if they do not fit; whatever writing a region raises.
        """
        self._writer._check_open()
        rows = as_table(table, self.schema)
        options = self._writer.options
        numbers = integers("partitions", partitions, options.first_partition, options._end_partition - 1)
        if numbers.size != rows.num_rows:
            raise invalid(f"partitions: {rows.num_rows} of them, one for each row", numbers.size)
        if not numbers.size:
            return
        check_rows(rows, options.max_plain_size)
        slots = numbers - (options.first_partition + options.rotation)
        if options.rotation:
            slots %= options.partition_count
        with self._call():
            self._rows.push(rows, slots)
            if self._rows.bytes >= options.buffer_size:
                self._flush()

    def broadcast(self, table: Any) -> None:  # noqa: ANN401
        """Write rows once for every partition; see :meth:`write`."""
        self._share(table, None)

    def multicast(self, partitions: Sequence[int] | npt.NDArray[Any], table: Any) -> None:  # noqa: ANN401
        """Write rows once for a set of partitions; see :meth:`write`."""
        self._share(table, partitions)

    def _share(self, table: Any, partitions: Sequence[int] | npt.NDArray[Any] | None) -> None:  # noqa: ANN401
        self._writer._check_open()
        options = self._writer.options
        rows = as_table(table, self.schema)
        members = None if partitions is None else member_bits(partitions, options)
        check_rows(rows, options.max_plain_size)
        per_block = max(1, rows.num_rows * options._cut_size // max(rows.nbytes, 1))

        def fill(region: RegionBuilder) -> None:
            region.shared(members)
            self._blocks(region, [one_batch(rows)], per_block)

        with self._call():
            self._flush()
            if rows.num_rows:
                self._writer._stream(fill)

    def flush(self) -> None:
        """Write the rows that are kept as a region."""
        with self._call():
            self._flush()

    def _flush(self) -> None:
        rows, options = self._rows, self._writer.options
        rows.sort()
        slots = rows.present()
        if not slots.size:
            return
        indices = (slots + options.rotation) % options.partition_count

        def fill(region: RegionBuilder) -> None:
            per_block = rows.rows_per_block
            for index, slices in zip(indices.tolist(), rows.extents(slots), strict=True):
                region.own(options.first_partition + index)
                self._blocks(region, slices, per_block)

        self._writer._stream(fill, wrapped=bool((indices[1:] < indices[:-1]).any()))
        rows.clear()

    def _blocks(self, region: RegionBuilder, slices: list[Any], rows_per_block: int) -> None:
        """Add the rows of the extent that was begun last."""
        most = self._writer.options.max_plain_size
        for batch in cut(slices, rows_per_block):
            for message, count in messages(batch, most):
                region.plain(KIND_DATA, np.frombuffer(message, np.uint8), count)

    def property(self, key: str, value: str) -> None:
        """Add a property to the footer; each key once."""
        self._writer.property(key, value)

    def finish(self) -> Summary:
        """Write what is kept, footer and tail, and publish the files. Return what was written."""
        with self._call():
            self._flush()
            return self._writer.finish()

    def abort(self) -> None:
        """Give up and leave nothing."""
        self._writer.abort()
        self._rows.clear()

    def __enter__(self: Self) -> Self:
        """Return the writer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finish, unless that was done; abort on an exception."""
        if kind is not None:
            self.abort()
        elif not self._writer._ended:
            try:
                self.finish()
            except BaseException:
                self.abort()
                raise


def _check_reader(reader: object) -> None:
    if not isinstance(reader, PartitionReader):
        raise invalid("reader: a Reader or a Follower, for example Reader(name)", shown(reader))


def read_schema(reader: PartitionReader) -> Any:  # noqa: ANN401
    """Return the Arrow schema of an output with framing arrow.

    Raises:
        FaroError: ``invalid-argument`` for another framing; ``malformed-message`` at 88 if pyarrow refuses the
            schema (SCH-3).
    """
    _check_reader(reader)
    return schema_of(reader.header.framing, reader.schema_message, reader._files.index.place)


def _outline(reader: PartitionReader) -> Outline:
    """Return what is known of the messages of a reader's file; partitions that are read alone share it."""
    return _OUTLINES.setdefault(reader, Outline())


def read_batches(reader: PartitionReader, partition: int, *, validate: bool = True) -> Iterator[Any]:
    """Yield the record batches of a partition; events are passed over.

    Args:
        reader: a reader or a follower.
        partition: its absolute number.
        validate: whether to look at all values for what pyarrow trusts, such as offsets and UTF-8.

    Raises:
        FaroError: ``malformed-block`` at the block's offset + 24 for what pyarrow refuses (FRM-5).
    """
    schema, validate = read_schema(reader), flag("validate", validate)
    place = reader._files.data.place
    blocks = reader.partition(partition)
    warn_of_gaps(reader, name_of(reader), [reader._check_partition(partition)])
    return batches(blocks, schema, place, _outline(reader), validate=validate)


def read_partitions(
    reader: PartitionReader, low: int, high: int, *, validate: bool = True
) -> Iterator[tuple[int, Iterator[Any]]]:
    """Yield each partition from ``low`` to ``high`` - 1 with its record batches; see :func:`read_batches`.

    Small partitions are read together (PRT-7). The batches of one are taken before the next partition is asked for.
    """
    schema, validate = read_schema(reader), flag("validate", validate)
    low, high = reader._check_range(low, high)
    found = by_partition(reader, low, high)
    warn_of_gaps(reader, name_of(reader), range(low, high))
    place, outline = reader._files.data.place, _outline(reader)
    return ((number, batches(blocks, schema, place, outline, validate=validate)) for number, blocks in found)


def read_table(reader: PartitionReader, partition: int) -> Any:  # noqa: ANN401
    """Return all rows of a partition as a pyarrow Table; see :func:`read_batches`."""
    return pa.Table.from_batches(read_batches(reader, partition), read_schema(reader))


def read_records(reader: PartitionReader, partition: int) -> Any:  # noqa: ANN401
    """Return all records of a partition, with framing records, as a pyarrow LargeBinaryArray."""
    _check_reader(reader)
    found = binary_array(*reader.record_arrays(partition))
    warn_of_gaps(reader, name_of(reader), [reader._check_partition(partition)])
    return found
