"""The test kit for destinations: writes files in many ways, and looks at what readers find."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from faro_format import _arguments as arguments
from faro_format._error import invalid
from faro_format._storage.destination import (
    Destination,
    NewFile,
    Role,
    check_destination_methods,
    check_new_file_methods,
)
from faro_format._storage.stored_file import StoredFile, check_methods
from faro_format._storage.stored_file_check import check_stored_file

_SIZES = (0, 1, 3, 8, 24, 1000, 65_536, 100_000)
_ROLES: tuple[Role, ...] = ("data", "index", "single")
_THREADS = 6

Result = TypeVar("Result")
Find = Callable[[Any, Role], Any]


def check_destination(factory: Callable[[int], Destination], find: Find | None = None, *, size: int = 300_000) -> None:
    """Check what a :class:`Destination` and its files promise (docs/storage.md).

    For tests of an implementation::

        cache = Cache()
        check_destination(lambda number: InCache(cache, f"out{number}"), lambda place, role: cache.get(place.key(role)))

    Args:
        factory: returns a new destination for the output of a number. The names of a number that was not asked for
            before are free; destinations of one number have the same names.
        find: returns the bytes that readers find under the name of a role, or None. Without it the kit sees only what
            the files themselves tell.
        size: bytes of a file, 1 or more. Use more than the implementation collects before it writes.

    Raises:
        AssertionError: a promise is broken; it says which.
        FaroError: ``invalid-argument`` if an argument or what ``factory`` returns lacks a method.
    """
    if not callable(factory) or not (find is None or callable(find)):
        wrong = arguments.shown(find if callable(factory) else factory)
        raise invalid("factory and find: functions", wrong)
    kit = _Kit(factory, find, arguments.integer("size", size, 1, 2**40))
    for role in _ROLES:
        kit.whole(role)
        kit.given_up(role)
        kit.refused(role)
        kit.replaced(role)
    kit.apart()
    kit.race()


class _Kit:
    def __init__(self, factory: Callable[[int], Destination], find: Find | None, size: int) -> None:
        self._factory = factory
        self._find = find
        self._size = size
        self._number = 0
        self._draw = random.Random(1)

    def whole(self, role: Role) -> None:
        """Append in pieces, from memory that is used again; publish; read."""
        place = self._next()
        file = self._create(place, role)
        expected = self._fill(file)
        _called("sync()", file.sync)
        self._sees(place, role, None, "before publish")
        _called("publish(replace=False)", lambda: file.publish(False))
        self._sees(place, role, expected, "after publish")
        opened = self._open(file)
        _called("close()", file.close)
        _called("close() again", file.close)
        self._sees(place, role, expected, "after close()")
        check_stored_file(opened, expected)
        opened.close()
        other = self._another(role)
        if other is None:
            return
        expected = self._fill(other)
        _called("publish(replace=True)", lambda: other.publish(True))
        self._sees(place, role, expected, "after publish(replace=True) of another file")
        self._reads(other, expected)
        # Its name is no longer its own.
        _called("remove()", file.remove)
        self._sees(place, role, expected, "after remove() of a file that was replaced")
        _called("remove()", other.remove)
        self._sees(place, role, None, "after remove()")
        _called("remove() again", other.remove)
        self._is_free(role, "after remove()")

    def given_up(self, role: Role) -> None:
        """Give files up before they are published, in each way."""
        for what in ("remove()", "close()"):
            for size in (0, self._size):
                place = self._next()
                file = self._create(place, role)
                self._fill(file, size)
                calls = [file.remove, file.remove, file.close]
                for call in calls if what == "remove()" else reversed(calls):
                    _called(f"{what} before publish, and what follows", call)
                self._sees(place, role, None, f"after {what} before publish")
                self._is_free(role, f"after {what} before publish")

    def refused(self, role: Role) -> None:
        """Publish a name that exists."""
        place = self._next()
        first, expected = self._published(place, role)
        second = self._another(role)
        if second is None:
            return
        self._fill(second)
        fault = _fault(lambda: second.publish(False))
        what = "publish(replace=False) of a name that exists"
        _require(isinstance(fault, FileExistsError), what, "a FileExistsError", _kind(fault))
        self._sees(place, role, expected, f"after {what}")
        self._reads(first, expected)
        _called("remove()", second.remove)
        _called("close()", second.close)
        self._sees(place, role, expected, "after remove() of a file that was refused")
        self._is_taken(role, "after remove() of a file that was refused")
        _called("remove()", first.remove)

    def replaced(self, role: Role) -> None:
        """A destination says whether a name is taken, if it knows; one with ``replace`` need not find an older file."""
        place = self._next()
        self._asks(place, role, taken=False)
        file = self._create(place, role)
        expected = self._fill(file)
        self._asks(place, role, taken=False)
        _called("publish(replace=True)", lambda: file.publish(True))
        self._sees(place, role, expected, "after publish(replace=True)")
        self._asks(self._same(), role, taken=True)
        self._reads(file, expected)
        _called("close()", file.close)

    def apart(self) -> None:
        """The files of the roles are different ones."""
        place = self._next()
        made = {role: self._published(place, role) for role in _ROLES[:2]}
        for role, (file, expected) in made.items():
            self._sees(place, role, expected, "after publish of the other file of a pair")
            self._reads(file, expected)
        _called("remove()", made["index"][0].remove)
        self._sees(place, "index", None, "after remove()")
        self._sees(place, "data", made["data"][1], "after remove() of the index file")

    def race(self) -> None:
        """Publish one name from several threads."""
        place = self._next()
        made = [self._create(self._same(), _ROLES[0]) for _ in range(_THREADS)]
        contents = [self._fill(file) for file in made]
        faults: dict[int, BaseException | None] = {}
        begin = threading.Barrier(len(made))

        def publish(number: int) -> None:
            begin.wait()
            faults[number] = _fault(lambda: made[number].publish(False))

        threads = [threading.Thread(target=publish, args=(number,), daemon=True) for number in range(len(made))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        won = [number for number, fault in faults.items() if fault is None]
        what = f"publish(replace=False) of {len(made)} files of one name at once"
        _require(len(won) == 1, what, "one that succeeds", len(won))
        for number, fault in faults.items():
            _require(number in won or isinstance(fault, FileExistsError), what, "a FileExistsError", _kind(fault))
        for number, file in enumerate(made):
            if number not in won:
                _called("remove()", file.remove)
                _called("close()", file.close)
        self._sees(place, _ROLES[0], contents[won[0]], f"after {what}")
        self._reads(made[won[0]], contents[won[0]])

    def _next(self) -> Destination:
        self._number += 1
        return self._same()

    def _same(self) -> Destination:
        place = self._factory(self._number)
        check_destination_methods("factory", place)
        return place

    def _create(self, place: Destination, role: Role) -> NewFile:
        file: NewFile = _called(f"create({role!r})", lambda: place.create(role))
        check_new_file_methods(file)
        name = _called("name", lambda: file.name)
        _require(isinstance(name, str), "name", "text", type(name).__name__)
        return file

    def _another(self, role: Role) -> NewFile | None:
        """Make a file of a name that exists; None if create refuses that."""
        place = self._same()
        try:
            file = place.create(role)
        except FileExistsError:
            return None
        check_new_file_methods(file)
        return file

    def _published(self, place: Destination, role: Role) -> tuple[NewFile, bytes]:
        file = self._create(place, role)
        expected = self._fill(file)
        _called("publish(replace=False)", lambda: file.publish(False))
        return file, expected

    def _fill(self, file: NewFile, size: int | None = None) -> bytes:
        whole = self._draw.randbytes(self._size if size is None else size)
        at = 0
        while at < len(whole):
            piece = whole[at : at + self._draw.choice(_SIZES)]
            at += len(piece)
            if at % 2:
                self._append(file, piece)
                continue
            memory = bytearray(piece)
            self._append(file, memoryview(memory).toreadonly())
            # The writer uses its memory again.
            memory[:] = bytes(len(memory))
        return whole

    def _append(self, file: NewFile, data: bytes | memoryview) -> None:
        _called(f"append({len(data)} bytes)", lambda: file.append(data))

    def _open(self, file: NewFile) -> StoredFile:
        opened: StoredFile = _called("open()", file.open)
        check_methods("open()", opened)
        return opened

    def _reads(self, file: NewFile, expected: bytes) -> None:
        opened = self._open(file)
        (found,) = _called("read of open()", lambda: opened.read_ranges([(0, len(expected) + 1)]))
        _require(bytes(found) == expected, "open()", "the bytes that were appended", "others")
        opened.close()

    def _sees(self, place: Destination, role: Role, expected: bytes | None, when: str) -> None:
        if self._find is None:
            return
        find = self._find
        found = _called("find", lambda: find(place, role))
        if expected is None:
            _require(found is None, f"the name {when}", "no file", "one")
        else:
            _require(found is not None, f"the name {when}", "a file", "none")
            _require(bytes(found) == expected, f"the name {when}", "the bytes that were appended", "others")

    def _asks(self, place: Destination, role: Role, *, taken: bool) -> None:
        name = _called(f"taken({role!r})", lambda: place.taken(role))
        _require(name is None or isinstance(name, str), "taken", "text or None", type(name).__name__)
        _require(taken or name is None, "taken of a name without a file", "None", name)

    def _is_free(self, role: Role, when: str) -> None:
        self._asks(self._same(), role, taken=False)
        file = self._create(self._same(), role)
        fault = _fault(lambda: file.publish(False))
        _require(fault is None, f"publish(replace=False) {when}", "success, as the name is free", _kind(fault))
        _called("remove()", file.remove)
        _called("close()", file.close)

    def _is_taken(self, role: Role, when: str) -> None:
        file = self._another(role)
        if file is None:
            return
        fault = _fault(lambda: file.publish(False))
        what = f"publish(replace=False) {when}"
        _require(isinstance(fault, FileExistsError), what, "a FileExistsError, as the name is another's", _kind(fault))
        _called("remove()", file.remove)
        _called("close()", file.close)


def _called(what: str, call: Callable[[], Result]) -> Result:
    try:
        return call()
    except Exception as fault:
        raise AssertionError(f"{what}: raised {type(fault).__name__}: {fault}") from fault


def _fault(call: Callable[[], object]) -> Exception | None:
    try:
        call()
    except Exception as fault:
        return fault
    return None


def _kind(fault: BaseException | None) -> str:
    return "success" if fault is None else f"{type(fault).__name__}: {fault}"


def _require(condition: bool, what: str, expected: str, found: object) -> None:
    if not condition:
        raise AssertionError(f"{what}: expected {expected}, found {found}")
