"""The files of writers of a NAME that did not finish, grouped by writer (PUB-8, steps 2 to 4)."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from dataclasses import dataclass, field

from faro_format._error import ErrorCode, Place, invalid
from faro_format._storage.held_file import HeldFile
from faro_format._storage.names import DATA, INDEX, SINGLE, Layout

ENDINGS = {"data": DATA, "index": INDEX, "single": SINGLE}
_ROLES: tuple[tuple[str, Layout], ...] = (("data", "paired"), ("index", "paired"), ("single", "single"))


@dataclass
class Group:
    """The files that one writer left: by role, at temporary or final names."""

    x: str | None
    """The first 8 hexadecimal digits of its file_id; None if no file says."""
    base: str
    layout: Layout
    temporary: dict[str, HeldFile] = field(default_factory=dict)
    final: dict[str, HeldFile] = field(default_factory=dict)

    def files(self) -> list[HeldFile]:
        """Return the files."""
        return [*self.temporary.values(), *self.final.values()]

    def file(self, role: str) -> HeldFile | None:
        """Return the file of a role: by its temporary name, unless that is a second name of the final one."""
        temporary, final = self.temporary.get(role), self.final.get(role)
        if temporary is not None and final is not None and os.path.samestat(temporary.status, final.status):
            return final
        return temporary or final

    @property
    def can_be_saved(self) -> bool:
        """Whether its data or single file begins with a header, without which nothing can be saved (step 3)."""
        file = self.file("data" if self.layout == "paired" else "single")
        return file is not None and (not file.opened or file.header() is not None)

    @property
    def living(self) -> bool:
        """Whether a living writer has a file."""
        return any(file.living for file in self.files())

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of its files, in the order in which they get their final names."""
        return ("data", "index") if self.layout == "paired" else ("single",)

    def final_path(self, role: str) -> str:
        """Return the final name of a role."""
        return self.base + ENDINGS[role]

    def temporary_path(self, role: str) -> str:
        """Return the temporary name of a role (PUB-2)."""
        return f"{self.final_path(role)}.{self.x}.tmp"


def collect(base: str, layout: Layout | None, taken: list[HeldFile]) -> list[Group]:
    """Return the files of a NAME, in groups.

    Args:
        base: the NAME without its ending, absolute.
        layout: which layouts to look for; None: both.
        taken: gets each file before it is opened, for the caller to give back.

    Raises:
        FaroError: ``io``.
    """
    folder, name = os.path.split(base)
    try:
        names = sorted(os.listdir(folder))
    except OSError as fault:
        raise Place(None, folder).io(fault, "to list the folder") from fault
    groups: dict[tuple[str | None, Layout], Group] = {}
    finals: list[tuple[str, Layout, HeldFile]] = []

    def take(path: str, role: str) -> HeldFile | None:
        file = HeldFile(path, role)
        for other in taken:
            # A second name of it (PUB-7), which cannot be claimed again.
            if _same(other, path):
                file.share(other)
                return file
        taken.append(file)
        return file if file.take() else None

    for role, of in _ROLES:
        if layout not in (None, of):
            continue
        ending = ENDINGS[role]
        pattern = re.compile(re.escape(name + ending) + r"\.([0-9a-f]{8})\.tmp")
        for other in names:
            matched = pattern.fullmatch(other)
            file = take(os.path.join(folder, other), role) if matched else None
            if matched and file is not None:
                group = groups.setdefault((matched[1], of), Group(matched[1], base, of))
                group.temporary[role] = file
        file = take(base + ending, role) if name + ending in names else None
        if file is not None:
            finals.append((role, of, file))
    for role, of, file in finals:
        header = file.header()
        x = header.file_id[:4].hex() if header is not None else None
        groups.setdefault((x, of), Group(x, base, of)).final[role] = file
    return list(groups.values())


def _same(file: HeldFile, path: str) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samestat(file.status, os.lstat(path))
    return False


def choose(groups: list[Group], x: str | None, place: Place) -> Group | None:
    """Return the group to mend (steps 3 to 5), None if nothing can be saved.

    Args:
        groups: what there is.
        x: the group that the caller named, or None.
        place: for errors.

    Raises:
        FaroError: ``io``: no group, as a FileNotFoundError, or a living writer's; ``invalid-argument``: several.
    """
    if x is not None:
        groups = [group for group in groups if group.x == x]
    if not groups:
        named = f" of file_id {x}" if x is not None else ""
        expected = f"files{named} that a writer left unfinished"
        raise place.error(ErrorCode.IO, None, expected, "none", errno=errno.ENOENT)
    savable = [group for group in groups if group.can_be_saved]
    if not savable:
        return None
    dead = [group for group in savable if not group.living]
    if not dead:
        shown = ", ".join(str(group.x) for group in savable)
        raise place.error(ErrorCode.IO, None, "files of a writer that has ended", f"a living writer's, file_id {shown}")
    if len(dead) > 1:
        shown = ", ".join(f"{group.x} ({group.layout})" for group in dead)
        raise invalid("what one writer left; name one by file_id, or by the ending of NAME", shown)
    return dead[0]
