"""Checks the arguments of calls before anything is done: integers, flags, choices, text and paths (WRT-1, PRT-2).

Each function returns the value as Python's own type, so that NumPy's integers cannot overflow later, or
raises ``invalid-argument`` with the argument's name.
"""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from faro_format._error import invalid, shortened, told

_PATH = 1 << 15
"""The most characters of a path: no system accepts more."""
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(::.*)?://")
_SHOWN = 48
"""How many characters of a text or of bytes are shown."""


def shown(value: object) -> str:
    """Return a refused value as people write it, with its type if the value alone is misleading."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, (str, bytes)):
        more = f"... of {len(value)}" if len(value) > _SHOWN else ""
        return f"{value[:_SHOWN]!r}{more}, a {type(value).__name__}"
    if isinstance(value, int):
        return told(value)
    if isinstance(value, (float, np.generic)):
        return f"{value}, a {type(value).__name__}"
    return f"a {shortened(type(value).__name__, _SHOWN)}"


def integer(name: str, value: object, least: int, most: int) -> int:
    """Return an integer, also one of NumPy, from ``least`` to ``most``. A boolean is not an integer."""
    wanted = f"{name}: an integer from {least} to {most}"
    if isinstance(value, bool):
        raise invalid(wanted, shown(value))
    try:
        # index() refuses everything that is not an integer.
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError as fault:
        raise invalid(wanted, shown(value)) from fault
    if not least <= number <= most:
        raise invalid(wanted, told(number))
    return number


def flag(name: str, value: object) -> bool:
    """Return True or False; no other value is accepted."""
    if not isinstance(value, (bool, np.bool_)):
        raise invalid(f"{name}: True or False", shown(value))
    return bool(value)


def choice(name: str, value: object, allowed: Sequence[str | None]) -> None:
    """Refuse a value that is not one of some names."""
    if not (value is None or isinstance(value, str)) or value not in allowed:
        raise invalid(f"{name}: one of {', '.join(map(str, allowed))}", shown(value))


def text(name: str, value: object) -> str:
    """Return text that UTF-8 can hold."""
    if not isinstance(value, str):
        raise invalid(f"{name}: text", shown(value))
    try:
        value.encode()
    except UnicodeEncodeError as fault:
        raise invalid(f"{name}: text that UTF-8 can hold", shown(value)) from fault
    return value


def is_url(value: object) -> bool:
    """Whether a text is a URL: it begins with a protocol. No path object is, and no text that begins with ``./``."""
    return isinstance(value, str) and _URL.match(value) is not None


def path(name: str, value: object) -> str:
    """Return a path as text, from a str or os.PathLike. It is not empty, no URL, and the system can use it."""
    if is_url(value):
        raise invalid(f"{name}: a local path; only Writer, open, Reader and check take a URL", shown(value))
    wanted = f"{name}: a path, as str or os.PathLike"
    try:
        found = os.fspath(value)  # type: ignore[call-overload]
    except TypeError as fault:
        raise invalid(wanted, shown(value)) from fault
    if not isinstance(found, str) or not found:
        raise invalid(wanted, shown(found))
    if len(found) > _PATH:
        raise invalid(f"{name}: a path of at most {_PATH} characters", len(found))
    try:
        usable = b"\0" not in os.fsencode(found)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise invalid(f"{name}: a path without NUL and lone surrogates", shown(found))
    return found


def instance(name: str, value: object, kind: type[object], example: str) -> None:
    """Refuse a value that is not an object of a class of this package; ``example`` says how to make one."""
    if not isinstance(value, kind):
        raise invalid(f"{name}: a {kind.__name__}, for example {example}", shown(value))


def integers(name: str, value: object, least: int, most: int) -> npt.NDArray[np.int64]:
    """Return a sequence or an array of integers from ``least`` to ``most``, shape (n,)."""
    wanted = f"{name}: integers from {least} to {most}, in one dimension"
    try:
        numbers = np.asarray(value)
    except (TypeError, ValueError, OverflowError) as fault:
        raise invalid(wanted, shown(value)) from fault
    if numbers.ndim != 1:
        raise invalid(wanted, f"{numbers.ndim} dimensions" if numbers.ndim else shown(value))
    if not numbers.size:
        return np.zeros(0, np.int64)
    if numbers.dtype.kind not in "iu":
        raise invalid(wanted, f"values of type {numbers.dtype}")
    low, high = int(numbers.min()), int(numbers.max())
    if low < least or high > most:
        raise invalid(wanted, f"{low if low < least else high}")
    return numbers.astype(np.int64)


def items(name: str, value: object, what: str) -> list[Any]:
    """Return the items of an iterable. Text and bytes are refused, as callers hardly ever mean their items."""
    if not isinstance(value, (str, bytes, bytearray, memoryview, dict)):
        try:
            walk = iter(value)  # type: ignore[call-overload]
        except TypeError:
            pass
        else:
            return list(walk)
    raise invalid(f"{name}: {what}", shown(value))
