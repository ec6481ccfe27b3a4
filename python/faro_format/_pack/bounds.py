"""Bounds of ranges of keys, in the types of the key's columns (KEY-3), and as the property ``faro.pack.bounds``."""

from __future__ import annotations

import datetime
import json
import operator
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from faro_format import _arguments as arguments
from faro_format._error import invalid
from faro_format._pyarrow import pa

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_EPOCH = datetime.datetime(1970, 1, 1)
_FLOATS: dict[int, Callable[[Any], np.floating[Any]]] = {16: np.float16, 32: np.float32, 64: np.float64}

Key = tuple[Any, ...]
"""A value for each column of the key; dates and times as the integers that store them."""


def checked_bounds(bounds: Any, kinds: Sequence[Any]) -> list[Key]:  # noqa: ANN401
    """Return bounds as keys.

    Args:
        bounds: a value for each, or, if the key has several columns, a list of values.
        kinds: the types of the key's columns.

    Raises:
        FaroError: ``invalid-argument`` for a value that its column's type does not hold exactly; for a float, the
            nearest one is taken.
    """
    keys = []
    for bound in arguments.items("bounds", bounds, "a list of keys, in ascending order"):
        values = tuple(bound) if isinstance(bound, (tuple, list)) else (bound,)
        if len(values) != len(kinds):
            raise invalid(f"bounds: keys of {len(kinds)} values, one for each column", f"{len(values)} values")
        keys.append(tuple(map(_value, values, kinds)))
    return keys


def _value(value: Any, kind: Any) -> Any:  # noqa: ANN401
    if value is None:
        return None
    try:
        found = _converted(value, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as fault:
        raise _refused(value, kind) from fault
    if found is None:
        raise _refused(value, kind)
    return found


def _refused(value: Any, kind: Any) -> Exception:  # noqa: ANN401
    return invalid(f"bounds: values that the column's type {kind} holds exactly", arguments.shown(value))


def _converted(value: Any, kind: Any) -> Any:  # noqa: ANN401
    """Return a bound's value, None if it is of another type."""
    types = pa.types
    if types.is_boolean(kind):
        return bool(value) if isinstance(value, (bool, np.bool_)) else None
    if isinstance(value, (bool, np.bool_)):
        return None
    if types.is_integer(kind):
        number = operator.index(value)
        return number if -(2**63) <= number < 2**64 else None
    if types.is_floating(kind):
        if not isinstance(value, (int, float, np.integer, np.floating)):
            return None
        with np.errstate(over="ignore"):
            nearest = float(_FLOATS[kind.bit_width](value))
        # A number is not infinite because the type is narrow.
        return None if np.isinf(nearest) and not np.isinf(float(value)) else nearest
    if types.is_decimal(kind):
        return Decimal(value) if isinstance(value, (int, Decimal)) else None
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return value if isinstance(value, str) else None
    if types.is_temporal(kind):
        return _stored(value, kind)
    return bytes(value) if isinstance(value, (bytes, bytearray, memoryview)) else None


def _stored(value: Any, kind: Any) -> int | None:  # noqa: ANN401
    """Return the integer that stores a date, a time or a duration, None if the value is something else."""
    types = pa.types
    given = pa.scalar(value)
    if not types.is_temporal(given.type):
        return None
    if types.is_timestamp(given.type):
        zoned = given.type.tz is not None
        if not types.is_timestamp(kind) or zoned != (kind.tz is not None):
            return None
    elif types.is_date(given.type) and types.is_timestamp(kind) and kind.tz is not None:
        return None
    found = given.cast(kind, safe=True)
    # Some casts cut what does not fit.
    if not types.is_date(given.type) and found.cast(given.type).value != given.value:
        return None
    return int(pa.array([found], kind).view(pa.int32() if kind.bit_width == 32 else pa.int64())[0].as_py())


def bounds_text(bounds: Sequence[Key], kinds: Sequence[Any]) -> str:
    """Return bounds as JSON, in the form that ``faro pack --bounds`` reads: a list of values, or of lists of them."""
    shown = [[_shown(value, kind) for value, kind in zip(bound, kinds, strict=True)] for bound in bounds]
    return json.dumps([values[0] if len(kinds) == 1 else values for values in shown], separators=(",", ":"))


def _shown(value: Any, kind: Any) -> Any:  # noqa: ANN401
    types = pa.types
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float) and not np.isfinite(value):
        return "NaN" if np.isnan(value) else "inf" if value > 0 else "-inf"
    if not isinstance(value, int) or not types.is_temporal(kind) or types.is_duration(kind):
        return value
    if types.is_date32(kind):
        return (_EPOCH + datetime.timedelta(days=value)).date().isoformat()
    if types.is_time(kind):
        return _instant(value, kind.unit).partition("T")[2]
    if types.is_date64(kind):
        return _instant(value, "ms").removesuffix("T00:00:00")
    return _instant(value, kind.unit) + ("Z" if kind.tz is not None else "")


def _instant(value: int, unit: str) -> str:
    """Return a point in time, with as many groups of three digits of a second as it needs."""
    seconds, rest = divmod(value, _PER_SECOND[unit])
    text = (_EPOCH + datetime.timedelta(seconds=seconds)).isoformat()
    digits = f"{rest * (10**9 // _PER_SECOND[unit]):09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return text + (f".{digits}" if digits else "")
