"""Keys in CSV, TSV and JSON lines: fields of every type, and lines that contain them."""

from __future__ import annotations

import datetime
import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from partitioning.model import Value

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MICROSECOND = datetime.timedelta(microseconds=1)


@dataclass(frozen=True)
class Field:
    """A type of field."""

    name: str
    draw: Callable[[random.Random], str]
    edges: tuple[str, ...]
    duck: str
    key: Callable[[str], Value]
    """The value of a field, by KEY-1."""
    quoted: Callable[[str, random.Random], bool] = lambda _text, _rng: False
    """Whether it is a string in JSON."""
    untyped: bool = False
    """Whether JSON without a type gives the same type."""

    def texts(self, rng: random.Random, rows: int) -> list[str | None]:
        """Fields; None for a null."""
        drawn = [self.draw(rng) for _ in range(rows)]
        return [
            None if rng.random() < 0.05 else rng.choice(self.edges) if rng.random() < 0.2 else text for text in drawn
        ]


def _always(_text: str, _rng: random.Random) -> bool:
    return True


def _scaled(text: str) -> Value:
    return int(Decimal(text).scaleb(2)), 2


def _days(text: str) -> Value:
    return (datetime.date.fromisoformat(text) - EPOCH.date()).days


def _microseconds(text: str) -> Value:
    point = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return ((point if point.tzinfo else point.replace(tzinfo=EPOCH.tzinfo)) - EPOCH) // MICROSECOND


def _date(rng: random.Random) -> str:
    return (EPOCH.date() + datetime.timedelta(days=rng.randint(-400, 400))).isoformat()


def _timestamp(rng: random.Random) -> str:
    point = EPOCH + datetime.timedelta(seconds=rng.randint(-864_000, 864_000))
    return f"{point:%Y-%m-%d}{rng.choice('T ')}{point:%H:%M:%S}{rng.choice(('', '.500', '.123456'))}"


FIELDS: tuple[Field, ...] = (
    Field(
        "text", lambda rng: rng.choice("abcXYZäß0") * rng.randint(1, 4),
        ("", " ", "10", "9", "1.0", "null", "true", 'say "a"', "a,b", "ä", "\U0001f600", "\ue000", "a\\b", "z" * 300),
        "VARCHAR", str, _always, untyped=True,
    ),
    Field(
        "int", lambda rng: str(rng.randint(-300, 300)),
        ("0", "-1", str(2**63 - 1), str(-(2**63)), str(2**63), str(2**64 - 1)), "HUGEINT", int, untyped=True,
    ),
    Field(
        "float", lambda rng: repr(rng.gauss(0, 50)),
        ("0.0", "-0.0", "1e3", "1E-2", "0.1", "-2.5e0", "1.7976931348623157e308", "5e-324"), "DOUBLE", float,
        untyped=True,
    ),
    Field(
        "float", lambda rng: rng.choice((repr(rng.gauss(0, 50)), str(rng.randint(-9, 9)))),
        ("NaN", "inf", "-inf", "0", "7", "1e3", "-0.0"), "DOUBLE", float,
        lambda text, _: not math.isfinite(float(text)),
    ),
    Field("bool", lambda rng: rng.choice(("true", "false")), ("true", "false"), "BOOLEAN", "true".__eq__, untyped=True),
    Field(
        "decimal(2)", lambda rng: f"{rng.randint(-3000, 3000) / 100:.{rng.randint(0, 2)}f}",
        ("0", "0.00", "-0.01", "1.5", "1.50", "10", "99999999999999999999.99"), "DECIMAL(38,4)", _scaled,
        lambda _, rng: rng.random() < 0.5,
    ),
    Field("date", _date, ("1970-01-01", "2024-02-29", "9999-12-31", "0001-01-01"), "DATE", _days, _always),
    Field(
        "timestamp", _timestamp, ("1970-01-01", "1970-01-01T00:00:00", "9999-12-31T23:59:59.999999"), "TIMESTAMP",
        _microseconds, _always,
    ),
    Field(
        "timestamptz", lambda rng: _timestamp(rng) + rng.choice(("Z", "+02:00", "-05:30")),
        ("1970-01-01T00:00:00Z", "1970-01-01T01:00:00+01:00"), "TIMESTAMPTZ", _microseconds, _always,
    ),
)  # fmt: skip


def bound_text(field: Field, text: str, rng: random.Random) -> str:
    """A field as a bound: a decimal may be between two values of its column."""
    if field.name.startswith("decimal") and "." in text and rng.random() < 0.5:
        return text + "5"
    return text


def delimited(columns: Sequence[Sequence[str | None]], delimiter: str, rng: random.Random) -> list[str]:
    """Lines of CSV or TSV, with the number of each row at its beginning."""

    def field(text: str | None) -> str:
        if text is None:
            return ""
        if delimiter == "," and (any(c in text for c in ',"\n') or rng.random() < 0.1):
            return '"' + text.replace('"', '""') + '"'
        return text

    return [delimiter.join([str(row), *map(field, fields)]) for row, fields in enumerate(zip(*columns, strict=True))]


def raw_json(field: Field, text: str | None, rng: random.Random) -> str:
    """A field as JSON."""
    if text is None:
        return "null"
    return json.dumps(text, ensure_ascii=rng.random() < 0.5) if field.quoted(text, rng) else text


@dataclass(frozen=True)
class Shape:
    """Forms of the key in the lines of JSON, and the `--by` for each."""

    by: str
    line: Callable[[str], str]


SHAPES: tuple[Shape, ...] = (
    Shape("{}", lambda raw: raw),
    Shape("/{}", lambda raw: raw),
    Shape("/{}/id", lambda raw: f'{{"x": [], "id": {raw}}}'),
    Shape("/{}/1", lambda raw: f"[null, {raw}, 3]"),
    Shape("/{}/0/a~1b/~0", lambda raw: f'[{{"a/b": {{"~": {raw}}}}}]'),
)


def json_line(row: int, members: dict[str, str | None], rng: random.Random) -> str:
    """A record with these members, as JSON; None for a missing member. Blanks are added where JSON allows them."""
    blank = rng.choice(("", "", " ", "\t"))
    parts = [f'"row":{blank}{row}'] + [f'"{name}"{blank}:{raw}' for name, raw in members.items() if raw is not None]
    rng.shuffle(parts)
    return f"{blank}{{{blank}{(',' + blank).join(parts)}{blank}}}{blank}"


def mixed_values(rng: random.Random, rows: int) -> list[tuple[str | None, Any]]:
    """JSON values of all types in one column, which the hash accepts, with their keys."""
    table: list[tuple[str | None, Any]] = [
        (None, None), ("null", None), ("1", 1), ("1.0", 1.0), ("1e0", 1.0), ("-0", 0), ("-0.0", 0.0), ("true", True),
        ("false", False), ('"1"', "1"), ('""', ""), ('"\\u0041\\n"', "A\n"), ('"\\ud83d\\ude00"', "\U0001f600"),
        (str(2**63 - 1), 2**63 - 1), (str(2**63), 2**63), (str(2**64 - 1), 2**64 - 1), (str(2**64), float(2**64)),
        (str(-(2**63)), -(2**63)), (str(-(2**63) - 1), -float(2**63)),
        ("123456789012345678901234567890", 1.2345678901234568e29),
    ]  # fmt: skip
    return [rng.choice(table) for _ in range(rows)]
