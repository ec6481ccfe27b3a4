"""The files that belong to the NAME of an output (PUB-1, FIL-1, FIL-2)."""

from __future__ import annotations

import errno
import os
import posixpath
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from faro_format import _arguments as arguments
from faro_format._error import ErrorCode, FaroError, invalid

Layout = Literal["paired", "single"]
Path = str | os.PathLike[str]

SINGLE = ".faro"
DATA = ".data"
INDEX = ".index"

_LAYOUTS: dict[str, Layout] = {SINGLE: "single", DATA: "paired", INDEX: "paired"}
_SEPARATORS = os.sep + (os.altsep or "")


@dataclass(frozen=True, slots=True)
class OutputPaths:
    """The paths of a pair, or of a single file; the others are None."""

    data: str | None = None
    index: str | None = None
    single: str | None = None


def split_name(name: Path) -> tuple[str, Layout | None]:
    """Return NAME without its ending, and the layout that the ending says, None if it has none of the three.

    Raises:
        FaroError: ``invalid-argument`` if ``name`` is not a path, or not a NAME, such as ``..``.
    """
    return _split(arguments.path("name", name).rstrip(_SEPARATORS), os.path.basename)


def split_remote(path: str) -> tuple[str, Layout | None]:
    """Return the path of a NAME in a store without its ending, and its layout; see :func:`split_name`."""
    return _split(path.rstrip("/"), posixpath.basename)


def _split(text: str, last: Callable[[str], str]) -> tuple[str, Layout | None]:
    base, layout = text, None
    for ending in _LAYOUTS:
        if text.endswith(ending):
            base, layout = text.removesuffix(ending), _LAYOUTS[ending]
    if last(base) in ("", ".", ".."):
        raise invalid("the NAME of an output", arguments.shown(text))
    return base, layout


def paths_of(base: str, layout: Layout) -> OutputPaths:
    """Return the final names of an output of a layout; ``base`` is NAME without its ending."""
    if layout == "single":
        return OutputPaths(single=base + SINGLE)
    return OutputPaths(data=base + DATA, index=base + INDEX)


def name_to_write(name: Path, layout: Layout | None, *, undecided: bool = False) -> tuple[str, Layout | None]:
    """Return NAME without its ending and the layout that a writer makes.

    Args:
        name: the output's NAME.
        layout: the option; None: by NAME, else paired.
        undecided: whether the writer chooses the layout later. NAME has no ending then, and the layout is None.

    Raises:
        FaroError: ``invalid-argument`` if the option contradicts the ending.
    """
    base, by_name = split_name(name)
    return base, layout_to_write(os.fspath(name), by_name, layout, undecided=undecided)


def layout_to_write(shown: str, by_name: Layout | None, layout: Layout | None, *, undecided: bool) -> Layout | None:
    """Return the layout that a writer makes, of which NAME says ``by_name``; see :func:`name_to_write`."""
    if undecided:
        if by_name is not None:
            raise invalid("a NAME without an ending, with the option single_below", arguments.shown(shown))
        return None
    if by_name is not None and layout not in (None, by_name):
        expected = f"layout {by_name} of a NAME that ends so, or another NAME"
        raise invalid(expected, f"layout {layout}, NAME {arguments.shown(shown)}")
    return by_name or layout or "paired"


def paths_to_open(base: str, layout: Layout | None) -> OutputPaths:
    """Return the files that a reader opens; those of a pair if none exists.

    Args:
        base: NAME without its ending.
        layout: what the ending says; None if it has none of the three.

    Raises:
        FaroError: ``invalid-argument`` if the layout is None, and files of both layouts exist.
    """
    if layout is not None:
        return paths_of(base, layout)
    single, pair = paths_of(base, "single"), paths_of(base, "paired")
    # A link that leads nowhere counts too; opening it reports the error.
    has_single = os.path.lexists(base + SINGLE)
    has_pair = os.path.lexists(base + DATA) or os.path.lexists(base + INDEX)
    if has_single and has_pair:
        raise invalid(f"one output of this NAME; say {base + SINGLE!r} or {base + DATA!r}", "both layouts")
    if has_single:
        return single
    if has_pair:
        return pair
    return OutputPaths(single=base) if os.path.isfile(base) else pair


def paths_to_read(
    name: Path | None, data: Path | None = None, index: Path | None = None, single: Path | None = None
) -> OutputPaths:
    """Return the files of an output that a caller names by NAME (PUB-1), or one by one.

    Raises:
        FaroError: ``invalid-argument`` unless it is NAME, or ``data`` and ``index``, or ``single``; as
            :func:`paths_to_open`; ``io`` if NAME is that of a pair without files.
    """
    check_given(name, data, index, single)
    if name is not None:
        base, layout = split_name(name)
        paths = paths_to_open(base, layout)
        _check_exists(paths, ended=layout is not None)
        return paths
    if single is not None:
        return OutputPaths(single=arguments.path("single", single))
    return OutputPaths(arguments.path("data", data), arguments.path("index", index))


def check_given(name: Path | None, data: Path | None, index: Path | None, single: Path | None) -> None:
    """Raise ``invalid-argument`` unless a caller names an output in one of three ways; see :func:`paths_to_read`."""
    given = tuple(argument is not None for argument in (name, data, index, single))
    if given in ((True, False, False, False), (False, True, True, False), (False, False, False, True)):
        return
    names = zip(("name", "data", "index", "single"), (name, data, index, single), strict=True)
    found = " and ".join(argument for argument, value in names if value is not None)
    raise invalid("name, or data and index, or single", found or "none of them")


def _check_exists(paths: OutputPaths, *, ended: bool) -> None:
    """Raise ``io`` if neither file of a pair exists; opening one would name only that one."""
    if paths.data is None or paths.index is None or os.path.lexists(paths.data) or os.path.lexists(paths.index):
        return
    base = paths.data.removesuffix(DATA)
    wanted = "NAME.data and NAME.index" if ended else "NAME.faro, or NAME.data and NAME.index"
    wanted = f"an output {os.path.basename(base)!r}: {wanted}"
    raise FaroError(ErrorCode.IO, wanted, "none of these files", file=paths.index, role="index", errno=errno.ENOENT)
