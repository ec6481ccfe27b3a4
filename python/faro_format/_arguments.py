"""What callers hand over, checked before anything is done: integers, flags, choices, text and paths (WRT-1, PRT-2).

Each function returns the value as Python's own type, so that NumPy's integers cannot overflow in what follows, or
raises ``invalid-argument`` with the argument's name.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from faro_format._error import invalid, shortened, told

_PATH = 1 << 15
"""Characters of a path: no system takes more."""
_SHOWN = 48
"""Characters of a text or of bytes that are shown."""


def shown(value: object) -> str:
    """Return a value that was refused as people write it, with its type where the value alone misleads."""
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
    """Return an integer, NumPy's too, from ``least`` to ``most``; a boolean is refused."""
    wanted = f"{name}: an integer from {least} to {most}"
    if isinstance(value, bool):
        raise invalid(wanted, shown(value))
    try:
        # index() itself refuses what is not an integer.
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError as fault:
        raise invalid(wanted, shown(value)) from fault
    if not least <= number <= most:
        raise invalid(wanted, told(number))
    return number


def flag(name: str, value: object) -> bool:
    """Return True or False; nothing else is taken for one of them."""
    if not isinstance(value, (bool, np.bool_)):
        raise invalid(f"{name}: True or False", shown(value))
    return bool(value)


def choice(name: str, value: object, allowed: Sequence[str | None]) -> None:
    """Refuse what is not one of a few names."""
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


def path(name: str, value: object) -> str:
    """Return a path as text: that of a str or os.PathLike, not empty, and one that the system can take."""
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
    """Refuse what is not an object of a class of this package; ``example`` says how to make one."""
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
    """Return the items of an iterable; text and bytes, whose items are hardly ever meant, are refused."""
    if not isinstance(value, (str, bytes, bytearray, memoryview, dict)):
        try:
            walk = iter(value)  # type: ignore[call-overload]
        except TypeError:
            pass
        else:
            return list(walk)
    raise invalid(f"{name}: {what}", shown(value))
