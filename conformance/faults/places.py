"""Files that are missing, unreadable, of another output, or not files: all implementations give the same answer."""

from __future__ import annotations

import errno
import os
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from faults import scripts
from faults.control import Fault
from faults.crew import Crew, Json
from faults.findings import Findings
from faults.judge import error_text
from faults.reference import Reference, make_reference, written
from faults.scripts import OLD_FILE_ID, Script, output_names

# A reader that waits for a pipe would wait forever.
_TIMEOUT = 8.0


@dataclass(frozen=True)
class Place:
    """Something in place of a file."""

    name: str
    make: Callable[[Path], None]


def _socket(path: Path) -> None:
    # The path of a socket has at most 108 bytes, so it is created from inside its folder.
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)


def _linked_pipe(path: Path) -> None:
    os.mkfifo(f"{path}.pipe")
    path.symlink_to(f"{path}.pipe")


PLACES = [
    Place("missing", lambda path: None),
    Place("a folder", lambda path: path.mkdir()),
    Place("a pipe", os.mkfifo),
    Place("a link to a pipe", _linked_pipe),
    Place("a socket", _socket),
    Place("a device", lambda path: path.symlink_to("/dev/zero")),
    Place("a link to nothing", lambda path: path.symlink_to("nowhere")),
    Place("a link to itself", lambda path: path.symlink_to(path.name)),
]


def requests(names: dict[str, str]) -> Iterator[tuple[str, str, Json]]:
    """The name, op and fields of each request that opens an output."""
    yield "read", "read", dict(names)
    yield "check", "check", {**names, "level": "decode"}
    yield "follow", "follow", {"action": "open", "handle": "places", **names}
    yield "repair", "repair", {**names, "mode": "last-commit"}


class Places:
    """All testees of a crew."""

    def __init__(self, crew: Crew, findings: Findings) -> None:
        self.crew = crew
        self.findings = findings

    def run(self) -> None:
        """Try every place of every role."""
        for layout in ("paired", "single"):
            script = scripts.small().variant(layout=layout)
            reference = make_reference(self.crew.members[0], self.crew, script)
            for role in script.roles:
                for place in PLACES:
                    with self._files(reference) as names:
                        path = Path(names[role])
                        path.unlink()
                        place.make(path)
                        self._ask(names, f"{place.name} for the {role} file", f"error io {role}@null")
                        if role == "data":
                            self._rebuild(names, place.name)
                self._refused(reference, role)
            if script.paired:
                self._mixed(reference, script)

    def _rebuild(self, names: dict[str, str], name: str) -> None:
        for member in self.crew:
            outcome = member.child.ask("repair", {**names, "mode": "rebuild"}, _TIMEOUT)
            what = f"{member.name}: rebuild: {name} for the data file"
            self.findings.expect(error_text(outcome) == "error io data@null", f"{what}: {outcome.detail}")
            self.findings.count(member.name, f"places: {name}", error_text(outcome))

    @contextmanager
    def _files(self, reference: Reference) -> Iterator[dict[str, str]]:
        folder = self.crew.new_folder()
        names = output_names(str(folder), reference.script)
        for role, name in names.items():
            Path(name).write_bytes(reference.files[role])
        yield names
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            else:
                path.unlink()

    def _ask(self, names: dict[str, str], what: str, wanted: str) -> None:
        before = {name: stat.S_IFMT(os.lstat(name).st_mode) for name in names.values() if os.path.lexists(name)}
        for member in self.crew:
            for name, op, fields in requests(names):
                outcome = member.child.ask(op, fields, _TIMEOUT)
                text = error_text(outcome)
                self.findings.expect(text == wanted, f"{member.name}: {name}: {what}: {outcome.detail}, not {wanted}")
                self.findings.count(member.name, f"places: {what.split(' for ')[0]}", text.split("@")[0])
        after = {name: stat.S_IFMT(os.lstat(name).st_mode) for name in names.values() if os.path.lexists(name)}
        self.findings.expect(before == after, f"{what}: files changed")

    def _refused(self, reference: Reference, role: str) -> None:
        """Opening is refused by the system, as for a user without the right to read (root always has it)."""
        order = ("index", "data") if reference.script.paired else ("single",)
        with self._files(reference) as names:
            for member in self.crew:
                for name, op, fields in requests(names):
                    fault = Fault("errno", "open", order.index(role), error=errno.EACCES)
                    outcome = member.ask(op, fields, fault)
                    # The order of opening is not fixed: the refused file is the one that counts.
                    struck = next(r for r, path in names.items() if path == member.control.fired_path)
                    wanted = f"error io {struck}@null"
                    what = f"{member.name}: {name}: {struck} is unreadable: {outcome.detail}"
                    self.findings.expect(error_text(outcome) == wanted, what)
                    self.findings.count(member.name, "places: unreadable", error_text(outcome).split("@")[0])

    def _mixed(self, reference: Reference, script: Script) -> None:
        """Data and index of two outputs that differ only in their file_id."""
        folder = self.crew.new_folder()
        other = written(self.crew.members[0], folder, script.variant(file_id=OLD_FILE_ID))
        with self._files(reference) as names:
            for role in script.roles:
                for both in script.roles:
                    Path(names[both]).write_bytes(other[both] if both == role else reference.files[both])
                what = f"of another output for the {role} file"
                self._ask(names, what, "error mismatched-pair data@40")
