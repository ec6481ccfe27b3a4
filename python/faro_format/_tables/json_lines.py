"""JSON lines as tables: what pyarrow's reader does not do with values of several types and with times. Needs it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from faro_format._error import invalid
from faro_format._pyarrow import pa

_BLOCK = 1 << 20
"""The least bytes that the parser takes at once; a row must fit."""
_SPACE = re.compile(r"[ \t\r\n]*")
_WITH_OFFSET = r"[ T]\d\d.*(Z|[+-]\d\d(:?\d\d)?)$"
"""A time that says how far it is from UTC. A date alone also ends with a minus and two digits."""


def json_table(
    text: bytes,
    longest: int,
    types: Mapping[str, Any],
    *,
    found: Collection[str],
    wanted: Sequence[str] | None,
) -> Any:  # noqa: ANN401 - pyarrow ships no types
    """Return the rows of JSON lines.

    Columns whose type the caller says is text take values of all types, as their JSON. Times that all have an offset
    from UTC become times in UTC.

    Args:
        text: the lines.
        longest: the bytes of the longest.
        types: of some columns, as pyarrow has them; pyarrow finds those of the others.
        found: those of them whose types were found in lines before, and not named by the caller.
        wanted: the columns of the result, in this order; None: all.

    Raises:
        pyarrow.ArrowInvalid: these lines do not have these types.
        KeyError: a column is not there.
        FaroError: ``invalid-argument`` for times with and without an offset in one column.
    """
    if not text:
        table = pa.schema(list(types.items())).empty_table()
        return table if wanted is None else table.select(wanted)
    is_text = {name for name, kind in types.items() if pa.types.is_string(kind) or pa.types.is_large_string(kind)}
    try:
        table = _read(text, longest, types)
    except pa.ArrowInvalid:
        if is_text <= set(found):
            raise
        text = _with_text(text, is_text.difference(found))
        longest = max(map(len, text.split(b"\n")))
        table = _read(text, longest, types)
    if wanted is not None:
        table = table.select(wanted)
    times = [
        field.name
        for field in table.schema
        if pa.types.is_timestamp(field.type) and (field.name not in types or field.name in found)
    ]
    if not times:
        return table
    as_text = _read(text, longest, dict.fromkeys(times, pa.string()), others="ignore")
    for name in times:
        kind = table.schema.field(name).type
        has_offsets = _has_offsets(name, as_text[name])
        if has_offsets is None or has_offsets == (kind.tz is not None):
            continue
        if name in types:
            raise _mixed(name)
        at = table.schema.get_field_index(name)
        # pyarrow has moved them to UTC, and does not say so.
        table = table.set_column(at, name, table[name].cast(pa.timestamp(kind.unit, "UTC")))
    return table


def _read(text: bytes, longest: int, types: Mapping[str, Any], others: str = "infer") -> Any:  # noqa: ANN401
    from pyarrow import json as arrow_json

    explicit = pa.schema(list(types.items())) if types else None
    return arrow_json.read_json(
        pa.BufferReader(text),
        arrow_json.ReadOptions(block_size=max(_BLOCK, 2 * longest + 2)),
        arrow_json.ParseOptions(explicit_schema=explicit, unexpected_field_behavior=others),
    )


def _has_offsets(name: str, texts: Any) -> bool | None:  # noqa: ANN401
    """Whether the times have offsets from UTC; None if there are no times."""
    from pyarrow import compute

    with_offset = compute.match_substring_regex(texts, _WITH_OFFSET)
    some, all_have = compute.any(with_offset).as_py(), compute.all(with_offset).as_py()
    if some and not all_have:
        raise _mixed(name)
    return None if some is None else bool(some)


def _mixed(name: str) -> Exception:
    return invalid(
        f"times in the column {name} that all have an offset from UTC, or none; types={{{name!r}: pyarrow.string()}} "
        "takes them as text",
        "both",
    )


def _with_text(text: bytes, names: Collection[str]) -> bytes:
    """Return JSON lines with the values of some members as text: of 1.50 that is "1.50".

    Text and null stay as they are. What is not JSON is returned as it is, so that the parser refuses it.
    """
    try:
        source = text.decode()
        pieces: list[str] = []
        copied = 0
        for begin, end in _values(source, names):
            pieces += source[copied:begin], json.dumps(source[begin:end], ensure_ascii=False)
            copied = end
    except (IndexError, ValueError, RecursionError):
        return text
    return "".join([*pieces, source[copied:]]).encode()


def _refuse(name: str) -> None:
    """Python takes NaN and Infinity, which are not JSON."""
    raise ValueError(name)


def _values(text: str, names: Collection[str]) -> list[tuple[int, int]]:
    """Return where values of members are that are neither text nor null."""
    # Only where a value ends matters: large integers need not be read exactly.
    decode = json.JSONDecoder(parse_int=float, parse_constant=_refuse).raw_decode

    def after_space(at: int) -> int:
        space = _SPACE.match(text, at)
        return at if space is None else space.end()

    found = []
    at = after_space(0)
    while at < len(text):
        # The members of an object.
        at = after_space(at + 1)
        while text[at] != "}":
            name, at = decode(text, at)
            begin = after_space(after_space(at) + 1)
            value, at = decode(text, begin)
            if name in names and value is not None and not isinstance(value, str):
                found.append((begin, at))
            at = after_space(at)
            if text[at] == ",":
                at = after_space(at + 1)
        at = after_space(at + 1)
    return found
