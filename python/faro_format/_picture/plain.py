"""Numbers and text for people. Text from files may hold anything: what does not print is escaped (SEC-4)."""

from __future__ import annotations

import html

from faro_format._error import shortened

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_LONGEST = 200
"""Characters of a text from a file that are shown."""


def size(count: float) -> str:
    """Return a count of bytes with three digits and its unit, as the command does: ``345 KiB``."""
    value, unit = float(count), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value /= 1024
        unit += 1
    if not unit:
        return f"{value:.0f} B"
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f} {_UNITS[unit]}"


def thousands(count: int) -> str:
    """Return a count with commas: ``50,000``."""
    return f"{count:,}"


def counted(count: int, thing: str) -> str:
    """Return a count of things: ``1 region``, ``2 regions``."""
    return f"{thousands(count)} {thing}" + ("" if count == 1 else "s")


def printable(text: str, most: int = _LONGEST) -> str:
    """Return text from a file that is safe to print: what does not print is escaped, the middle of a long one cut."""
    head = text[: 8 * most]
    shown = "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in head)
    return shortened(shown, most)


def escaped(text: str) -> str:
    """Return text from a file for HTML, between tags and in quoted attributes."""
    return html.escape(printable(text), quote=True)
