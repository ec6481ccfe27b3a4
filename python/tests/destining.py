"""Destinations for tests: one that fails at a call, and those that break a promise."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from faro_format import storage


class Failing:
    """Counts the calls of a destination and its files; the one of a number fails before or after it was made."""

    def __init__(self, inner: storage.Destination, at: int = -1, *, after: bool = False, fault: Any = None) -> None:
        self.inner = inner
        self.calls: list[str] = []
        self._at = at
        self._after = after
        self._fault = fault or OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    @contextmanager
    def _call(self, what: str) -> Iterator[None]:
        self.calls.append(what)
        fails = len(self.calls) - 1 == self._at
        if fails and not self._after:
            raise self._fault
        yield
        if fails:
            raise self._fault

    def create(self, role: Any) -> storage.NewFile:
        with self._call("create"):
            made = self.inner.create(role)
        return FailingFile(self, made)

    def taken(self, role: Any) -> str | None:
        with self._call("taken"):
            return self.inner.taken(role)
        raise AssertionError("returned or raised")


class FailingFile(storage.NewFile):
    def __init__(self, owner: Failing, inner: storage.NewFile) -> None:
        self._owner = owner
        self._inner = inner

    @property
    def name(self) -> str:
        return self._inner.name

    def append(self, data: bytes | memoryview) -> None:
        with self._owner._call("append"):
            self._inner.append(data)

    def sync(self) -> None:
        with self._owner._call("sync"):
            self._inner.sync()

    def publish(self, replace: bool) -> None:
        with self._owner._call("publish"):
            self._inner.publish(replace)

    def remove(self) -> None:
        with self._owner._call("remove"):
            self._inner.remove()

    def open(self) -> storage.StoredFile:
        with self._owner._call("open"):
            return self._inner.open()
        raise AssertionError("returned or raised")

    def close(self) -> None:
        with self._owner._call("close"):
            self._inner.close()


class Place(storage.Destination):
    """Keeps files in a dict, and leaves names to publish. What breaks a promise overrides a part."""

    def __init__(self, files: dict[str, Any], number: int) -> None:
        self.files = files
        self.number = number

    def create(self, role: Any) -> Any:
        return self.File(self.files, f"{self.number}.{role}")

    class File(storage.NewFile):
        def __init__(self, files: dict[str, Any], name: str) -> None:
            self.files = files
            self.own = name
            self.parts: list[Any] = []
            self.whole: bytes | None = None

        @property
        def name(self) -> str:
            return self.own

        def append(self, data: Any) -> None:
            self.parts.append(bytes(data))

        def publish(self, replace: bool) -> None:
            whole = b"".join(bytes(part) for part in self.parts)
            if replace:
                self.files[self.own] = whole
            elif self.files.setdefault(self.own, whole) is not whole:
                raise FileExistsError(self.own)
            self.whole = whole

        def remove(self) -> None:
            if self.whole is not None and self.files.get(self.own) is self.whole:
                del self.files[self.own]
            self.whole = None

        def open(self) -> Any:
            assert self.whole is not None
            return storage.MemoryFile(self.whole, self.own)

        def close(self) -> None:
            pass


class KeepsReferences(Place):
    class File(Place.File):
        def append(self, data: Any) -> None:
            self.parts.append(data)


class LosesOrder(Place):
    class File(Place.File):
        def append(self, data: Any) -> None:
            self.parts.insert(0, bytes(data))


class LosesTheEnd(Place):
    class File(Place.File):
        def append(self, data: Any) -> None:
            self.parts.append(bytes(data)[:90_000])


class ShowsParts(Place):
    class File(Place.File):
        def append(self, data: Any) -> None:
            super().append(data)
            self.files[self.own] = b"".join(self.parts)

        def publish(self, replace: bool) -> None:
            self.files.pop(self.own, None)
            super().publish(replace)


class CreatesEmpty(Place):
    def create(self, role: Any) -> Any:
        made = super().create(role)
        self.files[made.own] = b""
        return made


class AlwaysReplaces(Place):
    class File(Place.File):
        def publish(self, replace: bool) -> None:
            super().publish(True)


class NeverReplaces(Place):
    class File(Place.File):
        def publish(self, replace: bool) -> None:
            super().publish(False)


class FailsSilently(Place):
    class File(Place.File):
        def publish(self, replace: bool) -> None:
            try:
                super().publish(replace)
            except FileExistsError:
                self.whole = b"".join(self.parts)


class OtherError(Place):
    class File(Place.File):
        def publish(self, replace: bool) -> None:
            try:
                super().publish(replace)
            except FileExistsError as fault:
                raise OSError("taken") from fault


class ChecksFirst(Place):
    """Of several that publish at once, more than one succeeds."""

    class File(Place.File):
        def publish(self, replace: bool) -> None:
            import time

            if not replace and self.own in self.files:
                raise FileExistsError(self.own)
            time.sleep(0.01)
            super().publish(True)


class PublishesNothing(Place):
    class File(Place.File):
        def publish(self, replace: bool) -> None:
            super().publish(replace)
            del self.files[self.own]


class ClosePublishes(Place):
    class File(Place.File):
        def close(self) -> None:
            if self.whole is None and self.parts:
                self.files.setdefault(self.own, b"".join(self.parts))


class RemovesNothing(Place):
    class File(Place.File):
        def remove(self) -> None:
            pass


class RemovesOthers(Place):
    class File(Place.File):
        def remove(self) -> None:
            self.files.pop(self.own, None)


class RemovesOnce(Place):
    class File(Place.File):
        gone = False

        def remove(self) -> None:
            assert not self.gone
            self.gone = True
            super().remove()


class ClosesOnce(Place):
    class File(Place.File):
        gone = False

        def close(self) -> None:
            assert not self.gone
            self.gone = True


class CloseRemoves(Place):
    class File(Place.File):
        def close(self) -> None:
            self.remove()


class OpensOthers(Place):
    class File(Place.File):
        def open(self) -> Any:
            return storage.MemoryFile(bytes(len(super().open().read(0, 10**6))), self.own)


class EndsWithClose(Place):
    """What was opened is closed with the file."""

    class File(Place.File):
        opened: Any = None

        def open(self) -> Any:
            self.opened = super().open()
            return self.opened

        def close(self) -> None:
            if self.opened is not None:
                self.opened.close()


class OneFile(Place):
    """The files of all roles have one name."""

    def create(self, role: Any) -> Any:
        return super().create("file")


class TakenBefore(Place):
    """Says that a name is taken as soon as it is asked for."""

    def taken(self, role: Any) -> str | None:
        return f"{self.number}.{role}"


class NameIsNotText(Place):
    class File(Place.File):
        @property
        def name(self) -> Any:
            return 7


class SyncFails(Place):
    class File(Place.File):
        def sync(self) -> None:
            raise NotImplementedError


WRONG = [
    *(KeepsReferences, LosesOrder, LosesTheEnd, ShowsParts, CreatesEmpty, AlwaysReplaces, NeverReplaces),
    *(FailsSilently, OtherError, ChecksFirst, PublishesNothing, ClosePublishes, RemovesNothing, RemovesOthers),
    *(RemovesOnce, ClosesOnce, CloseRemoves, OpensOthers, EndsWithClose, OneFile, TakenBefore, NameIsNotText),
    SyncFails,
]
NEEDS_FIND = {ShowsParts, CreatesEmpty, PublishesNothing, OneFile, RemovesOthers}
"""Those that only a look at the names may show."""
