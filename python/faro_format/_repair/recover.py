"""Recovers the output of a dead writer (PUB-8)."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from faro_format._arguments import flag, shown
from faro_format._error import ErrorCode, FaroError, Place, invalid
from faro_format._limits import DEFAULT_LIMITS, Limits, check_limits
from faro_format._reader.opening import open_files, open_finished
from faro_format._repair.rebuild import TEMPORARY, make_index
from faro_format._repair.remains import Group, choose, collect
from faro_format._repair.repair import RepairReport, mend
from faro_format._storage.held_file import HeldFile, holding
from faro_format._storage.input_file import InputFile
from faro_format._storage.locks import file_claim
from faro_format._storage.names import Layout, OutputPaths, Path, paths_of, split_name
from faro_format._storage.output_file import NO_LINKS, sync_folder
from faro_format._storage.publishing_lock import PublishingLock, locked

Action = Literal["nothing", "nothing-saved", "last-commit", "rebuilt", "published"]


@dataclass(frozen=True)
class RecoverReport:
    """The result of :func:`recover`, or of a dry run."""

    action: Action
    """``nothing``: the output opens; ``nothing-saved``: no file begins with a header; ``last-commit``: mended to the
    last commit; ``rebuilt``: with an index made anew; ``published``: whole, it was given its final names."""
    file_id: str | None
    """The first 8 hexadecimal digits of the output's file_id; None with ``nothing`` and ``nothing-saved``."""
    regions: int
    repair: RepairReport | None = None
    """What the repair kept and cut; None if there was no repair."""


def recover(
    name: Path,
    *,
    file_id: str | None = None,
    overwrite: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    dry_run: bool = False,
) -> RecoverReport:
    """Make a finished output from the files of a dead writer, at the final names (PUB-8).

    Args:
        name: the output's NAME (PUB-1); without one of the three endings, files of both layouts are looked for.
        file_id: the first 8 hexadecimal digits of the file_id of the output to recover, if several are there.
        overwrite: whether another output that has the final names may be replaced.
        limits: the limits of the reader.
        dry_run: whether to only report.

    Raises:
        FaroError: ``io``: nothing is there (a FileNotFoundError), its writer lives, or another output has the final
            names; ``invalid-argument``: several are there, and the error names each; what :func:`faro_format.repair`
            and :func:`faro_format.rebuild` raise. The files stay as they were then.
    """
    if file_id is not None and not (isinstance(file_id, str) and re.fullmatch("[0-9a-f]{8}", file_id)):
        raise invalid("file_id: its first 8 hexadecimal digits, in lower case", shown(file_id))
    limits, overwrite, dry_run = check_limits(limits), flag("overwrite", overwrite), flag("dry_run", dry_run)
    given, layout = split_name(name)
    base = os.path.abspath(given)
    opened = _opens(base, layout, limits)
    if opened is not None:
        return RecoverReport("nothing", None, opened)
    taken: list[HeldFile] = []

    def work() -> RecoverReport:
        group = choose(collect(base, layout, taken), file_id, Place(None, os.fspath(name)))
        if group is None:
            return RecoverReport("nothing-saved", None, 0)
        return _Recovery(group, limits, overwrite=overwrite, dry_run=dry_run).report()

    return holding(taken, work)


def _opens(base: str, layout: Layout | None, limits: Limits) -> int | None:
    """Return how many regions the output of the final names has, if it opens (step 1)."""
    layouts: tuple[Layout, ...] = ("single", "paired") if layout is None else (layout,)
    for of in layouts:
        paths = paths_of(base, of)
        if any(_is_written_here(path) for path in (paths.data, paths.index, paths.single) if path is not None):
            continue
        with contextlib.suppress(FaroError):
            files, header = open_files(paths)
            try:
                return int(open_finished(files, header, limits).footer.regions.size)
            finally:
                files.close()
    return None


def _is_written_here(path: str) -> bool:
    """Whether a writer of this process has a file open. Opening and closing it would lose its lock (PUB-6)."""
    with contextlib.suppress(OSError):
        return file_claim(os.stat(path)).held
    return False


class _Recovery:
    """The steps 6 to 8, for one group."""

    def __init__(self, group: Group, limits: Limits, *, overwrite: bool, dry_run: bool) -> None:
        self._group, self._limits = group, limits
        self._overwrite, self._dry_run = overwrite, dry_run
        self._opened: list[InputFile] = []

    def report(self) -> RecoverReport:
        group = self._group
        unnamed = [role for role in group.roles if self._needs_name(role)]
        for role in unnamed:
            self._check_free(role)
        try:
            repaired = self._repair()
            if not self._dry_run:
                if unnamed:
                    self._sync()
                    locked(PublishingLock(group.base, self._place(unnamed[0])), lambda: self._name(unnamed))
                self._remove_second_names()
                sync_folder(self._place(group.roles[-1]))
            # Not earlier: closing a descriptor of a file loses its lock.
            for file in self._opened:
                file.close()
        except BaseException:
            # They are closed when they are dropped, because an interruption may have come while a file was being read.
            self._opened.clear()
            raise
        action: Action = "published" if unnamed and repaired.action == "nothing" else repaired.action
        return RecoverReport(action, group.x, repaired.regions, repaired)

    def _place(self, role: str) -> Place:
        return Place(role, self._group.final_path(role))

    def _needs_name(self, role: str) -> bool:
        file = self._group.file(role)
        return file is None or file is not self._group.final.get(role)

    def _rebuilds(self) -> bool:
        """Whether the index is made anew (step 7)."""
        file = self._group.file("index")
        return self._group.layout == "paired" and (file is None or file.header() is None)

    def _may_replace(self, role: str) -> bool:
        """Whether the final name of a role may be given to another file than has it (step 6)."""
        data = self._group.file("data")
        return self._overwrite or (role == "index" and data is not None and data is self._group.final.get("data"))

    def _check_free(self, role: str) -> None:
        if not self._may_replace(role) and os.path.lexists(self._group.final_path(role)):
            raise self._place(role).error(ErrorCode.IO, None, "no other file of this name, or overwrite=True", "a file")

    def _repair(self) -> RepairReport:
        """Repair the files at their current names (step 7)."""
        group, limits, dry_run = self._group, self._limits, self._dry_run
        files = {role: file for role in group.roles if (file := group.file(role)) is not None}
        held = {file.path: file.descriptor for file in files.values()}
        if not self._rebuilds():
            paths = {role: file.path for role, file in files.items()}
            opened, header = open_files(OutputPaths(**paths))
            self._opened += [opened.data, opened.index] if opened.paired else [opened.index]
            return mend(opened, header, limits, dry_run=dry_run, held=held)
        data = InputFile(files["data"].path, "data")
        self._opened.append(data)
        path = group.temporary_path("index")
        return make_index(data, path, group.base + ".index" + TEMPORARY, limits, dry_run=dry_run, held=held)

    def _name(self, roles: list[str]) -> None:
        """Give files their final names. If one is refused, the others are taken back (step 8)."""
        undo: list[Callable[[], None]] = []
        try:
            for role in roles:
                self._name_file(role, undo)
        except BaseException:
            for step in reversed(undo):
                with contextlib.suppress(OSError):
                    step()
            raise

    def _name_file(self, role: str, undo: list[Callable[[], None]]) -> None:
        old, new = self._group.temporary_path(role), self._group.final_path(role)
        try:
            if self._may_replace(role):
                os.replace(old, new)
                return
            try:
                # The temporary name stays until all files have their final ones: no step loses a file.
                os.link(old, new)
                undo.append(lambda: os.unlink(new))
            except OSError as fault:
                if fault.errno not in NO_LINKS:
                    raise
                self._check_free(role)
                os.rename(old, new)
                undo.append(lambda: os.rename(new, old))
        except OSError as fault:
            raise self._place(role).io(fault, "to publish the file") from fault

    def _sync(self) -> None:
        """Sync files that do not need a repair, before they get their names."""
        try:
            for file in self._group.files():
                os.fsync(file.descriptor)
        except OSError as fault:
            raise self._place(self._group.roles[0]).io(fault, "to sync the file") from fault

    def _remove_second_names(self) -> None:
        """Remove the temporary names of files that have their final ones."""
        for role in self._group.roles:
            with contextlib.suppress(OSError):
                old, new = self._group.temporary_path(role), self._group.final_path(role)
                if os.path.samestat(os.lstat(old), os.lstat(new)):
                    os.unlink(old)
