"""What files the NAME of an output stands for (PUB-1)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from faro.error import invalid

Layout = Literal["paired", "single"]
Path = str | os.PathLike[str]

SINGLE = ".faro"
DATA = ".data"
INDEX = ".index"


@dataclass(frozen=True, slots=True)
class OutputPaths:
    """The paths of a pair, or of a single file; the others are None."""

    data: str | None = None
    index: str | None = None
    single: str | None = None


def split_name(name: Path) -> tuple[str, Layout | None]:
    """Return NAME without its ending, and the layout that the ending says, None if it has none of the three.

    Raises:
        FaroError: ``invalid-argument`` if ``name`` is no path.
    """
    try:
        text = os.fsdecode(name)
    except TypeError as fault:
        raise invalid("the name of an output: text or a path", type(name).__name__) from fault
    if text.endswith(SINGLE):
        return text.removesuffix(SINGLE), "single"
    for ending in (DATA, INDEX):
        if text.endswith(ending):
            return text.removesuffix(ending), "paired"
    return text, None


def paths_of(base: str, layout: Layout) -> OutputPaths:
    """Return the final names of an output of a layout; ``base`` is NAME without its ending."""
    if layout == "single":
        return OutputPaths(single=base + SINGLE)
    return OutputPaths(data=base + DATA, index=base + INDEX)


def name_to_write(name: Path, layout: Layout | None) -> tuple[str, Layout]:
    """Return NAME without its ending and the layout that a writer makes.

    Args:
        name: the output's NAME.
        layout: the option; None: by NAME, else paired.

    Raises:
        FaroError: ``invalid-argument`` if the option contradicts the ending.
    """
    base, by_name = split_name(name)
    if by_name is not None and layout not in (None, by_name):
        expected = f"layout {by_name} of a NAME that ends so, or another NAME"
        raise invalid(expected, f"layout {layout}, NAME {os.fsdecode(name)!r}")
    return base, by_name or layout or "paired"


def name_to_read(name: Path) -> OutputPaths:
    """Return the files that a reader of NAME opens; those of a pair if none exists, which are then missing.

    Raises:
        FaroError: ``invalid-argument`` if NAME has none of the three endings and files of both layouts exist.
    """
    base, layout = split_name(name)
    if layout is not None:
        return paths_of(base, layout)
    single, pair = paths_of(base, "single"), paths_of(base, "paired")
    # A link that leads nowhere has the name too; opening it says what is wrong.
    has_single = os.path.lexists(base + SINGLE)
    has_pair = os.path.lexists(base + DATA) or os.path.lexists(base + INDEX)
    if has_single and has_pair:
        raise invalid(f"one output of this NAME; say {base + SINGLE!r} or {base + DATA!r}", "both layouts")
    if has_single:
        return single
    if not has_pair and os.path.isfile(base):
        return OutputPaths(single=base)
    return pair
