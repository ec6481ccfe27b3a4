"""A file that is written: appended to under a temporary name and then published (WRT-4, WRT-5)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import Any

from faro.error import Code, Place

_VECTORS = 1000
"""Pieces to a system call; POSIX systems take 1024."""


class OutputFile:
    """One file of an output that is being written."""

    def __init__(self, path: str, role: str, temporary: str | None, *, overwrite: bool) -> None:
        """Create the file exclusively.

        Args:
            path: its final name.
            role: for errors.
            temporary: what is put behind the name until it is published; None to use the final name at once.
            overwrite: whether a file of the final name may be replaced.

        Raises:
            FaroError: ``io``.
        """
        self.place = Place(role, path)
        self.position = 0
        """Bytes written so far."""
        self._overwrite = overwrite
        self._published = temporary is None
        self._name = path if temporary is None else path + temporary
        self._descriptor = -1
        self.check_free()
        try:
            if self._published and overwrite:
                # Not truncated: who reads the old file keeps it.
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
            self._descriptor = os.open(self._name, flags, 0o666)
        except OSError as fault:
            raise self.place.io(fault, f"to create {self._name!r}") from fault

    def check_free(self) -> None:
        """Raise ``io`` if there is a file of the final name that must not be replaced."""
        if not self._overwrite and os.path.lexists(self.place.path):
            raise self.place.error(Code.IO, None, "no file of this name, or overwrite", "a file")

    def append(self, parts: Sequence[Any]) -> None:
        """Write pieces, each of them bytes or a contiguous array of bytes, one behind the other."""
        try:
            for i in range(0, len(parts), _VECTORS):
                chosen = parts[i : i + _VECTORS]
                wanted = sum(map(len, chosen))
                written = os.writev(self._descriptor, chosen)
                self.position += written
                if written < wanted:
                    # A full disk or a signal: the system says which when it is asked again.
                    rest = memoryview(b"".join(chosen))[written:]
                    while rest:
                        written = os.write(self._descriptor, rest)
                        self.position += written
                        rest = rest[written:]
        except OSError as fault:
            raise self.place.io(fault, f"to write at {self.position}") from fault

    def sync(self) -> None:
        """Bring what was written to the device."""
        try:
            os.fsync(self._descriptor)
        except OSError as fault:
            raise self.place.io(fault, "to sync the file") from fault

    def close(self) -> None:
        """Close the descriptor, the file staying under the name that it has."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def publish(self) -> None:
        """Close the file and give it its final name."""
        try:
            self.close()
            if not self._published:
                self.check_free()
                os.rename(self._name, self.place.path)
                self._name = self.place.path
                self._published = True
        except OSError as fault:
            raise self.place.io(fault, "to publish the file") from fault

    def discard(self) -> None:
        """Close and remove the file; what cannot be removed stays."""
        with contextlib.suppress(OSError):
            self.close()
        if self._name:
            with contextlib.suppress(OSError):
                os.unlink(self._name)
            self._name = ""


def sync_folder(place: Place) -> None:
    """Bring the names in a file's folder to the device."""
    try:
        descriptor = os.open(os.path.dirname(place.path) or ".", os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as fault:
        raise place.io(fault, "to sync the folder") from fault
