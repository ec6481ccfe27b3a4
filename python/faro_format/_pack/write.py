"""Writing a table by key. Needs pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from faro_format import _arguments as arguments
from faro_format._error import invalid
from faro_format._fsspec import filesystem_of
from faro_format._storage.destination import Destination
from faro_format._storage.names import Path
from faro_format._writer.summary import Summary

_SEPARATORS = (os.sep, os.altsep or os.sep)
_ROWS = 1 << 20
"""Rows of which the partitions are computed at once."""


def write(
    data: Any,  # noqa: ANN401
    name: Path | None = None,
    *,
    by: str | Sequence[str],
    partitions: int | None = None,
    bounds: Iterable[Any] | None = None,
    destination: Destination | None = None,
    storage_options: Mapping[str, Any] | None = None,
    properties: Mapping[str, str] | None = None,
    **options: Any,  # noqa: ANN401
) -> Summary:
    """Write the rows of a table to an output, each to the partition of its key.

    Rows with equal keys are in one partition, the same as with ``faro pack`` and every other tool that follows KEY. A
    stream, such as a relation of DuckDB or a RecordBatchReader, is written as it is read; the sort buffer
    (``buffer_size``) bounds the memory. ::

        summary = faro_format.write(frame, "orders", by="customer", partitions=16, codec="zstd")

    Args:
        data: a DataFrame of pandas or Polars, a pyarrow Table, RecordBatch or RecordBatchReader, a relation of DuckDB,
            or whatever else has ``__arrow_c_stream__``, ``__arrow_c_array__`` or ``__dataframe__``. The index of a
            pandas DataFrame is left out, unless ``by`` names it.
        name: the output's NAME, as that of :class:`faro_format.Writer`. A folder with a separator at its end is
            refused.
        by: the column whose values are the keys, or several. Nulls are keys too.
        partitions: how many; by default 64, or one more than bounds.
        bounds: instead of by hash, rows are partitioned by range: the first key of each partition except the first, in
            ascending order. For several columns, each bound is a list of values.
        destination: where the files go, if ``name`` is None; as that of :class:`faro_format.Writer`.
        storage_options: with a URL as ``name``, as those of :class:`faro_format.Writer`.
        properties: more properties for the footer; how rows were partitioned is in ``faro.pack.*``.
        options: those of :class:`faro_format.WriterOptions`, such as ``codec``, ``producer``, ``overwrite``.

    Returns:
        What was written.

    Raises:
        FaroError: ``invalid-argument``; ``io``. No output is left then.
        ModuleNotFoundError: pyarrow is not installed.
    """
    from faro_format._pack.partitioning import Partitioner
    from faro_format._pyarrow import pa
    from faro_format.arrow import ArrowWriter
    from faro_format.arrow._input import as_stream

    more = _checked(properties)
    if name is not None:
        _check_not_folder(name, storage_options)
    keep = [by] if isinstance(by, str) else arguments.items("by", by, "the name of a column, or a list of names")
    stream, columns = as_stream(data, keep)
    schema = pa.schema([stream.schema.field(number) for number in columns], _metadata(stream.schema))
    first = arguments.integer("first_partition", options.get("first_partition", 0), 0, 2**28)
    partitioner = Partitioner(schema, keep, partitions, bounds, first)
    with ArrowWriter(
        name, schema, partitioner.count, destination=destination, storage_options=storage_options, **options
    ) as writer:
        for key, value in {"faro.pack.format": "arrow", **partitioner.properties()}.items():
            writer.property(key, value)
        for key, value in more.items():
            writer.property(key, value)
        try:
            for batch in stream:
                for begin in range(0, batch.num_rows, _ROWS):
                    rows = batch.select(columns).slice(begin, _ROWS)
                    writer.write(rows, partitioner.partitions(rows))
        except pa.ArrowException as fault:
            raise invalid("data: rows that can be read", fault) from fault
        return writer.finish()


def _check_not_folder(name: Path, storage_options: Mapping[str, Any] | None) -> None:
    """Refuse a NAME with a separator at its end that is a folder: its caller wants the files in it.

    The files would be beside it, as separators are not part of NAME (PUB-1).
    """
    if arguments.is_url(name):
        text = str(name)
        if not text.endswith("/"):
            return
        filesystem, path = filesystem_of(text, storage_options or {})
        try:
            is_folder = bool(path.strip("/")) and filesystem.isdir(path)
        except OSError:
            # Why the files cannot be written says more.
            return
    else:
        text = arguments.path("name", name)
        is_folder = text.endswith(_SEPARATORS) and os.path.isdir(text)
    if is_folder:
        raise invalid("name: the NAME of an output, for example one in the folder", f"the folder {text!r}")


def _checked(properties: Mapping[str, str] | None) -> dict[str, str]:
    if properties is None:
        return {}
    if not isinstance(properties, Mapping):
        raise invalid("properties: a dict of text", arguments.shown(properties))
    return {arguments.text("properties", key): arguments.text("properties", value) for key, value in properties.items()}


def _metadata(schema: Any) -> dict[bytes, bytes] | None:  # noqa: ANN401
    """Return a schema's metadata, without what pandas says of the index of the whole table."""
    kept = {key: value for key, value in (schema.metadata or {}).items() if key != b"pandas"}
    return kept or None
