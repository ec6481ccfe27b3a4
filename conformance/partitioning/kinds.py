"""Columns of every Arrow type that can be a key: their values, and the texts of their bounds."""

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from partitioning.model import Value

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
DAY = 86_400
# From the year 1 to 9999, the range of Python's calendar.
FIRST, LAST = -719_162 * DAY, 2_932_897 * DAY - 1


@dataclass(frozen=True)
class Kind:
    """A type of key."""

    name: str
    type: Any
    draw: Callable[[random.Random], Any]
    """A random stored value: the integer of a date or time, the unscaled value of a decimal."""
    edges: tuple[Any, ...]
    duck: str
    """The type that DuckDB reads bounds as."""
    write: Callable[[Any, random.Random], str]
    """A stored value as the text of a bound."""
    extreme: tuple[Any, ...] = ()
    """Values outside the range of DuckDB or of the calendar: they are only hashed."""
    oracle: Callable[[Any], Any] = lambda array: array
    """The column in a type that DuckDB supports, with the same order."""

    def values(self, rng: random.Random, rows: int, *, extreme: bool) -> list[Any]:
        """Stored values: random ones, some of them repeated, the extreme ones, and nulls."""
        known = [*self.edges, *(self.extreme if extreme else ())]
        drawn = [self.draw(rng) for _ in range(rows)]
        return [None if rng.random() < 0.05 else rng.choice(known) if rng.random() < 0.2 else value for value in drawn]


def build(values: Sequence[Any], kind: Any) -> Any:
    """Stored values as an array."""
    types = pa.types
    if types.is_dictionary(kind):
        return build(values, kind.value_type).dictionary_encode()
    if types.is_temporal(kind):
        return pa.array(values, pa.int32() if kind.bit_width == 32 else pa.int64()).view(kind)
    if types.is_decimal(kind):
        return pa.array([None if value is None else decimal(value, kind.scale) for value in values], kind)
    if types.is_float16(kind):
        return pa.array([None if value is None else np.float16(value) for value in values], kind)
    return pa.array(values, kind)


def stored(array: Any) -> list[Value]:
    """The values that :func:`build` made an array from, as values of a key."""
    types, kind = pa.types, array.type
    if types.is_dictionary(kind):
        return stored(array.cast(kind.value_type))
    if types.is_temporal(kind):
        return list(array.view(pa.int32() if kind.bit_width == 32 else pa.int64()).to_pylist())
    if types.is_decimal(kind):
        return [None if value is None else (unscaled(value), kind.scale) for value in array.to_pylist()]
    if types.is_float16(kind):
        return [None if value is None else float(value) for value in array.to_pylist()]
    return list(array.to_pylist())


def decimal(value: int, scale: int) -> Decimal:
    """Value / 10^scale, with all its digits."""
    return Decimal((int(value < 0), tuple(map(int, str(abs(value)))), -scale))


def unscaled(value: Decimal) -> int:
    """The digits of a decimal as an integer."""
    sign, digits, _ = value.as_tuple()
    return int("".join(map(str, digits))) * (-1 if sign else 1)


def _plain(value: Any, _: random.Random) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _float(value: float, _: random.Random) -> str:
    return "NaN" if math.isnan(value) else repr(value)


def _integers(name: str, kind: Any, duck: str, low: int, high: int) -> Kind:
    edges = tuple({low, low + 1, max(low, -1), 0, 1, high // 2 + 1, high - 1, high})
    return Kind(name, kind, lambda rng: rng.randint(max(low, -300), min(high, 300)), edges, duck, _plain)


def _floats(name: str, kind: Any, narrow: Callable[[float], Any], duck: str, **more: Any) -> Kind:
    edges = (math.nan, -math.nan, math.inf, -math.inf, 0.0, -0.0, 0.1, 0.7, 1.5, -2.25)
    return Kind(
        name,
        kind,
        lambda rng: float(narrow(rng.gauss(0, 50))),
        tuple(float(narrow(v)) for v in edges),
        duck,
        _float,
        **more,
    )


def _text_of(value: str, _: random.Random) -> str:
    return value


def _texts(name: str, kind: Any, **more: Any) -> Kind:
    edges = ("", "a", "A", "ä", "a\u0301", "\U0001f600", "\ue000", "z" * 300, "a b", "10", "9", "'", '"', "\\", "\n")
    return Kind(name, kind, lambda rng: rng.choice("abcXYZäß0") * rng.randint(1, 4), edges, "VARCHAR", _text_of, **more)


def _binaries(name: str, kind: Any, width: int | None = None) -> Kind:
    edges: tuple[bytes, ...] = (b"", b"\0", b"\0\0", b"\x7f", b"\x80", b"\xff", b"\xff\xff", b"ab")
    if width is not None:
        edges = tuple(edge.ljust(width, b"\0")[:width] for edge in edges)
    return Kind(
        name, kind, lambda rng: rng.randbytes(rng.randint(0, 3) if width is None else width), edges, "BLOB",
        lambda value, _: value.hex(),
    )  # fmt: skip


def _decimals(name: str, kind: Any, **more: Any) -> Kind:
    scale, most = kind.scale, 10**kind.precision - 1

    def write(value: int, rng: random.Random) -> str:
        """The number itself, or a number between it and the next, with more digits than the scale."""
        digits = decimal(value, scale)
        room = min(38 - kind.precision, 37 - max(scale, 0))
        if scale >= 0 and room > 0 and rng.random() < 0.5:
            return f"{digits:f}{'' if scale else '.'}{rng.choice('15')}"
        return f"{digits:f}"

    edges = tuple({0, 1, -1, 10, most, -most})
    wide = f"DECIMAL(38,{min(max(scale, 0) + 1, 38 - (kind.precision - scale))})" if scale >= 0 else "DECIMAL(38,0)"
    return Kind(name, kind, lambda rng: rng.randint(max(-most, -3000), min(most, 3000)), edges, wide, write, **more)


def _whole(array: Any) -> Any:
    """Decimals with a negative scale as integers, as DuckDB does not have them."""
    return array.cast(pa.decimal128(38, 0))


def _dates(name: str, kind: Any, per_day: int) -> Kind:
    def write(value: int, _: random.Random) -> str:
        return (datetime.date(1970, 1, 1) + datetime.timedelta(days=value // per_day)).isoformat()

    edges = tuple(day * per_day for day in (0, -1, 1, 19_782, FIRST // DAY, LAST // DAY))
    extreme = ((2**31 - 1) * per_day, -(2**31) * per_day)
    return Kind(name, kind, lambda rng: rng.randint(-400, 400) * per_day, edges, "DATE", write, extreme)


def _clock(seconds: int, fraction: int, unit: str) -> str:
    digits = len(str(PER_SECOND[unit])) - 1
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{clock}.{fraction:0{digits}}" if fraction else clock


def _times(unit: str) -> Kind:
    kind = pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
    end = DAY * PER_SECOND[unit]

    def write(value: int, _: random.Random) -> str:
        return _clock(*divmod(value, PER_SECOND[unit]), unit)

    duck = "TIME_NS" if unit == "ns" else "TIME"
    return Kind(f"time-{unit}", kind, lambda rng: rng.randrange(end), (0, 1, end - 1), duck, write)


def _timestamps(unit: str, zone: str | None) -> Kind:
    size = PER_SECOND[unit]
    low, high = max(FIRST, -(2**63) // size + 2), min(LAST, 2**63 // size - 2)
    duck = {"s": "TIMESTAMP_S", "ms": "TIMESTAMP_MS", "us": "TIMESTAMP", "ns": "TIMESTAMP_NS"}[unit]
    # DuckDB's only type with a time zone has microseconds.
    in_utc = zone is not None and unit == "ns"

    def write(value: int, rng: random.Random) -> str:
        seconds, fraction = divmod(value, size)
        minutes = rng.choice((0, 60, -330, 345)) if zone and not in_utc and low + DAY < seconds < high - DAY else 0
        point = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds + minutes * 60)
        text = f"{point:%H:%M:%S}"
        clock = _clock(point.hour * 3600 + point.minute * 60 + point.second, fraction, unit)
        date = point.date().isoformat()
        if text == "00:00:00" and not fraction and not zone:
            return date
        sign, offset = "-" if minutes < 0 else "+", abs(minutes)
        suffix = "" if not zone else "Z" if not minutes else f"{sign}{offset // 60:02}:{offset % 60:02}"
        return f"{date}{rng.choice('T ')}{clock}{suffix}"

    return Kind(
        f"timestamp-{unit}" + ("" if zone is None else f"-{zone.replace('/', '-')}"),
        pa.timestamp(unit, zone),
        lambda rng: rng.randint(-10, 10) * DAY * size + rng.randrange(DAY * size),
        (0, -1, 1, size - 1, -size, low * size, high * size + size - 1, 19_782 * DAY * size),
        duck if zone is None or in_utc else "TIMESTAMPTZ",
        write,
        (2**63 - 1, -(2**63)),
        (lambda array: array.view(pa.int64()).view(pa.timestamp("ns"))) if in_utc else (lambda array: array),
    )


def _durations(unit: str) -> Kind:
    return Kind(
        f"duration-{unit}", pa.duration(unit), lambda rng: rng.randint(-500, 500), (0, 1, -1, 2**63 - 1, 1 - 2**63),
        "BIGINT", _plain, oracle=lambda array: array.view(pa.int64()),
    )  # fmt: skip


def decoded(array: Any) -> Any:
    """The values of an array with a dictionary."""
    return array.cast(array.type.value_type)


def _same(value: float) -> float:
    return value


ZONES = (None, "UTC", "Europe/Berlin", "+05:30")

KINDS: tuple[Kind, ...] = (
    *(_integers(f"int{n}", getattr(pa, f"int{n}")(), duck, -(1 << n - 1), (1 << n - 1) - 1)
      for n, duck in ((8, "TINYINT"), (16, "SMALLINT"), (32, "INTEGER"), (64, "BIGINT"))),
    *(_integers(f"uint{n}", getattr(pa, f"uint{n}")(), duck, 0, (1 << n) - 1)
      for n, duck in ((8, "UTINYINT"), (16, "USMALLINT"), (32, "UINTEGER"), (64, "UBIGINT"))),
    _floats("float16", pa.float16(), np.float16, "FLOAT", oracle=lambda array: array.cast(pa.float32())),
    _floats("float32", pa.float32(), np.float32, "FLOAT"),
    _floats("float64", pa.float64(), _same, "DOUBLE"),
    Kind("bool", pa.bool_(), lambda rng: rng.random() < 0.5, (True, False), "BOOLEAN", _plain),
    _texts("text", pa.string()),
    _texts("large-text", pa.large_string()),
    _texts("text-view", pa.string_view()),
    _binaries("binary", pa.binary()),
    _binaries("large-binary", pa.large_binary()),
    _binaries("binary-view", pa.binary_view()),
    _binaries("fixed-binary", pa.binary(2), 2),
    _decimals("decimal32", pa.decimal32(7, 2)),
    _decimals("decimal64", pa.decimal64(15, 4)),
    _decimals("decimal128", pa.decimal128(12, 2)),
    _decimals("decimal128-whole", pa.decimal128(20, 0)),
    _decimals("decimal128-wide", pa.decimal128(38, 10)),
    _decimals("decimal128-fraction", pa.decimal128(38, 38)),
    _decimals("decimal128-negative", pa.decimal128(9, -3), oracle=_whole),
    _dates("date32", pa.date32(), 1),
    _dates("date64", pa.date64(), DAY * 1000),
    *map(_times, PER_SECOND),
    *(_timestamps(unit, zone) for unit in PER_SECOND for zone in ZONES),
    *map(_durations, PER_SECOND),
    *(replace(kind, name=f"dictionary-{kind.name}", type=pa.dictionary(pa.int16(), kind.type), oracle=decoded)
      for kind in (_texts("text", pa.string()), _decimals("decimal", pa.decimal128(12, 2)), _timestamps("us", None),
                   _integers("int32", pa.int32(), "INTEGER", -(1 << 31), (1 << 31) - 1))),
)  # fmt: skip

NOT_PARQUET = {"decimal128-negative", "dictionary-decimal"}
"""Kinds that Parquet has no type for, or that the command refuses to read from it."""

REFUSED: dict[str, Any] = {
    "list": pa.array([[1], [2]]),
    "struct": pa.array([{"a": 1}, {"a": 2}]),
    "map": pa.array([[("a", 1)], [("b", 2)]], pa.map_(pa.string(), pa.int64())),
    "decimal256": pa.array([Decimal(1), Decimal(2)], pa.decimal256(60, 2)),
}
"""Columns that cannot be keys."""
