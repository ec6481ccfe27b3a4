"""A property of a target that does not hold."""

from __future__ import annotations


class BrokenError(Exception):
    """What a fuzzer looks for, beside crashes."""


def require(holds: bool, rule: str) -> None:
    """Raise `BrokenError` unless a property holds. Not `assert`, which -O leaves out."""
    if not holds:
        raise BrokenError(rule)
