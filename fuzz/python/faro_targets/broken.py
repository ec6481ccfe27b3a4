"""A property of a target that does not hold."""

from __future__ import annotations


class BrokenError(Exception):
    """Raised for a property that does not hold."""


def require(holds: bool, rule: str) -> None:
    """Raise `BrokenError` unless a property holds. It is not an `assert`, which -O removes."""
    if not holds:
        raise BrokenError(rule)
