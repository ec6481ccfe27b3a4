"""Records that are lines of CSV, TSV or JSON, as ``faro pack`` writes them. Needs pyarrow."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from faro_format._arguments import shown
from faro_format._block.block import Block
from faro_format._block.framing import check_framing
from faro_format._bytes.header import Framing
from faro_format._bytes.spans import copy_spans
from faro_format._error import Place, invalid
from faro_format._pyarrow import pa
from faro_format._tables.json_lines import json_table

_DELIMITERS = {"csv": ",", "tsv": "\t", "jsonl": ""}
"""The formats, as the property ``faro.pack.format`` names them, with what separates fields unless a property says."""
_BLOCK = 1 << 20
"""The least bytes that a parser takes at once; a row must fit."""
_NEWLINE = 10


@dataclass(frozen=True)
class TextForm:
    """How lines of text become rows."""

    format: str
    delimiter: str
    header: str | None
    """The line with the names of the columns; without one they are f0, f1, and so on."""
    text_keys: tuple[str, ...] = ()
    """The columns of the key that are text: ``00123`` and ``123`` are different keys, and an empty one is not null."""


@dataclass(frozen=True)
class Lines:
    """Records, each with a line end."""

    text: bytes
    count: int
    longest: int
    """Bytes of the longest record."""


def text_form(properties: Mapping[str, str]) -> TextForm | None:
    """Return what text the records of an output are, None if it does not say.

    Raises:
        FaroError: ``invalid-argument`` for a delimiter that no text can have.
    """
    name = properties.get("faro.pack.format", "")
    if name not in _DELIMITERS:
        return None
    delimiter = properties.get("faro.pack.delimiter", _DELIMITERS[name])
    if name != "jsonl" and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '\r\n"'):
        raise invalid("an output whose property faro.pack.delimiter is one character", shown(delimiter))
    header = properties.get("faro.pack.header")
    # JSON values have types of their own.
    text_keys = [] if name == "jsonl" else _text_keys(properties.get("faro.pack.by", ""), delimiter, header)
    return TextForm(name, delimiter, header, tuple(text_keys))


def _text_keys(by: str, delimiter: str, header: str | None) -> Iterator[str]:
    """Yield the names of the key's columns that are text: those that ``faro pack --by`` named no other type for."""
    names = None if header is None else next(csv.reader([header], delimiter=delimiter), [])
    for key in by.split(","):
        name = key.removesuffix(":text")
        if ":" in name:
            continue
        if (names is None or name not in names) and name.isdecimal() and int(name) > 0:
            # A column can also be named by its number, from 1 on.
            at = int(name) - 1
            name = f"f{at}" if names is None else names[at] if at < len(names) else name
        yield name


def lines_of(blocks: Iterator[Block], framing: Framing, place: Place) -> Iterator[Lines]:
    """Yield the records of each data block."""
    for block in blocks:
        spans = check_framing(block, framing, place) if block.is_data else None
        if spans is None or not spans[0].size:
            continue
        begins, lengths = spans
        ends = np.cumsum(lengths + 1)
        text = np.full(int(ends[-1]), _NEWLINE, np.uint8)
        copy_spans(np.frombuffer(block.payload, np.uint8), begins, lengths, text, ends - lengths - 1)
        yield Lines(text.tobytes(), int(lengths.size), int(lengths.max()))


def joined(lines: Sequence[Lines]) -> Lines:
    """Return all of them as one."""
    longest = max((some.longest for some in lines), default=0)
    return Lines(b"".join(some.text for some in lines), sum(some.count for some in lines), longest)


def parse(
    form: TextForm,
    lines: Lines,
    columns: Sequence[str] | None,
    types: Mapping[str, Any],
    schema: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Return lines as a table.

    Args:
        form: what they are.
        lines: the lines.
        columns: those that are wanted, in this order; None: all.
        types: of some columns, as pyarrow has them; pyarrow finds those of the others.
        schema: what lines before these had, if there were any: these must have the same.

    Raises:
        FaroError: ``invalid-argument`` for lines that do not have these types or columns.
    """
    wanted = columns if schema is None else schema.names
    try:
        found = {} if schema is None else dict(zip(schema.names, schema.types, strict=True))
        if form.format == "jsonl":
            found_only = [name for name in found if name not in types]
            table = json_table(lines.text, lines.longest, {**types, **found}, found=found_only, wanted=wanted)
        else:
            table = _delimited(form, lines, wanted, found or types)
        if schema is not None:
            table = table.select(schema.names).cast(schema)
    except KeyError as fault:
        raise invalid(f"columns: names of columns, as in columns={list(wanted or ())!r}", fault.args[0]) from fault
    except (pa.ArrowException, ValueError) as fault:
        wanted_types = (
            'rows that have the types of their columns; types={"amount": pyarrow.float64()} names others, and '
            "pyarrow.string() takes JSON values of any type as their text"
        )
        raise invalid(wanted_types, fault) from fault
    if table.num_rows != lines.count:
        raise invalid(f"{lines.count} records that are each a row of {form.format}", f"{table.num_rows} rows")
    return table


def _delimited(form: TextForm, lines: Lines, columns: Sequence[str] | None, types: Mapping[str, Any]) -> Any:  # noqa: ANN401
    from pyarrow import csv as arrow_csv

    header = b"" if form.header is None else form.header.encode() + b"\n"
    if not header and not lines.count:
        return pa.schema(list(types.items())).empty_table()
    quoted = form.format == "csv"
    table = arrow_csv.read_csv(
        pa.BufferReader(header + lines.text),
        arrow_csv.ReadOptions(
            block_size=max(_BLOCK, 2 * (lines.longest + len(header)) + 2), autogenerate_column_names=not header
        ),
        arrow_csv.ParseOptions(
            delimiter=form.delimiter, quote_char='"' if quoted else False, newlines_in_values=quoted
        ),
        arrow_csv.ConvertOptions(
            column_types={**dict.fromkeys(form.text_keys, pa.string()), **types},
            include_columns=columns,
            # By default, NA, null and NaN are nulls too where all other values of a column are numbers.
            null_values=[""],
        ),
    )
    _check_known(types, table.schema, columns)
    # No value is there yet that says what type it has.
    plain = [field.with_type(pa.string()) if pa.types.is_null(field.type) else field for field in table.schema]
    return table if plain == list(table.schema) else table.cast(pa.schema(plain))


def _check_known(types: Mapping[str, Any], schema: Any, columns: Sequence[str] | None) -> None:  # noqa: ANN401
    unknown = [name for name in types if name not in schema.names and (columns is None or name in columns)]
    if unknown:
        raise invalid(f"types: of the columns {', '.join(schema.names)}", unknown[0])
