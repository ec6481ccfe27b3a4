"""Removes the files that dead writers left in a folder (PUB-9)."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from faro_format._arguments import flag, path, shown
from faro_format._bytes.header import HEADER_SIZE, MAGIC
from faro_format._error import FaroError, Place, invalid
from faro_format._repair.rebuild import TEMPORARY
from faro_format._storage.held_file import HeldFile, holding
from faro_format._storage.names import Path
from faro_format._storage.publishing_lock import LOCK, name_claim

HOUR = 3600.0
"""The default of the seconds since the last change of a file that is removed."""

_TEMPORARY = re.compile(r".*\.(data|index|faro)\.(?P<x>[0-9a-f]{8})\.tmp", re.DOTALL)
_REBUILT = ".index" + TEMPORARY
_FILE_ID = slice(40, 44)
"""Where a header has the bytes that a temporary name shows."""


@dataclass(frozen=True)
class KeptFile:
    """A file that looks like one of a dead writer, and was kept."""

    name: str
    reason: Literal["living", "young"]
    """``young``: it was changed a short time ago; ``living``: its writer lives."""


@dataclass(frozen=True)
class CleanReport:
    """The result of :func:`clean`, or of a dry run; both lists by name, ascending."""

    removed: tuple[str, ...]
    kept: tuple[KeptFile, ...]


def clean(folder: Path, *, older_than: float = HOUR, dry_run: bool = False) -> CleanReport:
    """Remove the temporary files and locks that dead writers left in one folder, not in those inside it (PUB-9).

    Files at final names are not removed: :func:`faro_format.recover` repairs them. If the system has no record locks,
    only ``older_than`` protects a living writer's files.

    Args:
        folder: where to look.
        older_than: seconds since a file was last changed; those that are younger are kept.
        dry_run: whether to only report.

    Raises:
        FaroError: ``invalid-argument``; ``io``: for the first file that cannot be examined or removed, after all others
            were processed.
    """
    if isinstance(older_than, bool) or not isinstance(older_than, (int, float)) or not 0 <= older_than < math.inf:
        raise invalid("older_than: seconds, 0 or more", shown(older_than))
    dry_run = flag("dry_run", dry_run)
    where = os.path.abspath(path("folder", folder))
    removed: list[str] = []
    kept: list[KeptFile] = []
    first: FaroError | None = None
    for name in _names(where):
        try:
            found = _clean_file(os.path.join(where, name), older_than, dry_run=dry_run)
        except FaroError as fault:
            first = first or fault
            continue
        if found == "removed":
            removed.append(name)
        elif found is not None:
            kept.append(KeptFile(name, found))
    if first is not None:
        raise first
    return CleanReport(tuple(removed), tuple(kept))


def _names(folder: str) -> Iterator[str]:
    """Yield the names in a folder that may be removed (rule 1)."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as fault:
        raise Place(None, folder).io(fault, "to list the folder") from fault
    return (name for name in names if _TEMPORARY.fullmatch(name) or name.endswith((_REBUILT, LOCK)))


def _role(name: str) -> str | None:
    """Return the role of a file that may be removed; None of a lock."""
    if name.endswith(LOCK):
        return None
    matched = _TEMPORARY.fullmatch(name)
    return {"data": "data", "faro": "single"}.get(matched[1], "index") if matched else "index"


def _clean_file(path: str, older_than: float, *, dry_run: bool) -> Literal["removed", "living", "young"] | None:
    """Remove a file if the rules 2 to 4 say so; None: its content is not a dead writer's, or it is gone."""
    file = HeldFile(path, _role(os.path.basename(path)))

    def work() -> Literal["removed", "living", "young"] | None:
        # A lock is claimed in the same way as by waiting writers.
        if not file.take(name_claim(path) if path.endswith(LOCK) else None) or not _fits(file):
            return None
        if time.time() - file.status.st_mtime < older_than:
            return "young"
        if file.living:
            return "living"
        if not dry_run:
            try:
                os.unlink(path)
            except OSError as fault:
                raise file.place.io(fault, "to remove the file") from fault
        return "removed"

    return holding([file], work)


def _fits(file: HeldFile) -> bool:
    """Whether the content is that of the name (rule 2)."""
    if file.path.endswith(LOCK):
        return file.status.st_size == 0
    if file.status.st_size < HEADER_SIZE or not file.opened:
        # A file that this process is writing is not opened, because closing it again would lose its lock.
        return True
    matched = _TEMPORARY.fullmatch(os.path.basename(file.path))
    return file.start.startswith(MAGIC) and (matched is None or file.start[_FILE_ID].hex() == matched["x"])
