"""What a writer asks of the place where its files go (docs/storage.md)."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from typing import Literal, Protocol

from faro_format import _arguments as arguments
from faro_format._error import invalid
from faro_format._storage.names import DATA, INDEX, SINGLE
from faro_format._storage.stored_file import StoredFile

Role = Literal["data", "index", "single"]
"""Which file of an output."""

ENDINGS: dict[Role, str] = {"data": DATA, "index": INDEX, "single": SINGLE}
"""How the names of the files end."""

_DESTINATION = ("create", "taken")
_NEW_FILE = ("name", "append", "sync", "publish", "remove", "open", "close")


class NewFile(Protocol):
    """A file that a writer makes. A class that inherits from this one need not define ``sync``.

    A failure is an OSError; the writer reports it as ``io``, with the role and the name of the file. One thread at a
    time uses a file, not always the same one.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The name that errors show. It need not be a path."""

    @abstractmethod
    def append(self, data: bytes | memoryview) -> None:
        """Add all of the bytes at the end, in the order of the calls. No reference to them is kept after the call.

        After a failure the writer appends no more.

        Raises:
            OSError: some of the bytes were not added.
        """

    def sync(self) -> None:
        """Make what was appended survive a crash, as far as the storage can. Called with durability ``commit`` only.

        This one does nothing.

        Raises:
            OSError: it may not survive.
        """
        return None  # noqa: RET501

    @abstractmethod
    def publish(self, replace: bool) -> None:
        """Give the complete file its name, in one step: no reader sees a part of it. Called once.

        Args:
            replace: whether a file of that name is replaced. If not, of several that publish one name, one succeeds.

        Raises:
            FileExistsError: without ``replace``, a file of that name exists; it is left as it is.
            OSError: the file may not have its name.
        """

    @abstractmethod
    def remove(self) -> None:
        """Give the file up. It may be called more than once, even after ``publish`` failed.

        Before ``publish`` nothing stays under the name. After it, the name is removed if it is still this file's. The
        writer ignores a failure (WRT-6).
        """

    @abstractmethod
    def open(self) -> StoredFile:
        """Return the published file for a reader, without reading anything. It stays valid after :meth:`close`.

        Raises:
            OSError: it cannot be opened.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the file; one that is not published is given up, as by :meth:`remove`. It may be called twice."""


class Destination(Protocol):
    """Where the files of one output go.

    A class that inherits from this one need not define ``taken``::

        class InCache(storage.Destination):
            def __init__(self, cache, key):
                self._cache, self._key = cache, key

            def create(self, role):
                return CachedFile(self._cache, f"{self._key}.{role}")

    A failure is an OSError; the writer reports it as ``io``, with the role of the file.
    """

    @abstractmethod
    def create(self, role: Role) -> NewFile:
        """Make the file of a role. The writer calls it when it needs the file; that of the data comes first.

        Args:
            role: ``data``, ``index`` or ``single``.

        Raises:
            FileExistsError: the name exists. It may also be left to :meth:`NewFile.publish`.
            OSError: the file cannot be made.
        """

    def taken(self, role: Role) -> str | None:
        """Return the name of the published file of a role, as people know it; None if there is none.

        Without the option ``overwrite``, the writer asks before it writes, so that it does not write in vain. This one
        leaves it to :meth:`NewFile.publish`.

        Raises:
            OSError: it cannot be known.
        """
        return None


def check_destination_methods(argument: str, destination: object) -> None:
    """Refuse an object that lacks a method of a destination; looked up without calling anything."""
    _check(argument, "a Destination, for example MemoryDestination()", destination, _DESTINATION)


def check_new_file_methods(file: object) -> None:
    """Refuse what a destination returned if it lacks a part of a new file."""
    _check("Destination.create", "a NewFile", file, _NEW_FILE)


def _check(argument: str, wanted: str, given: object, methods: tuple[str, ...]) -> None:
    for name in methods:
        if isinstance(given, type) or inspect.getattr_static(given, name, methods) is methods:
            raise invalid(f"{argument}: {wanted}", f"{arguments.shown(given)} without {name}")
