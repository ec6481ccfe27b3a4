"""Destinations: memory keeps their promises, and the test kit finds each that is broken."""

from __future__ import annotations

from typing import Any

import pytest
from destining import WRONG, Place

from faro_format import FaroError, Reader, Writer, WriterOptions, storage


def kit(kind: Any, **more: Any) -> None:
    files: dict[str, bytes] = {}
    storage.check_destination(
        lambda number: kind(files, number), lambda place, role: files.get(f"{place.number}.{role}"), **more
    )


def test_a_destination_that_keeps_its_promises() -> None:
    kit(Place)
    kit(Place, size=1)
    kit(Refusing)
    files: dict[str, bytes] = {}
    storage.check_destination(lambda number: Place(files, number))


class Refusing(Place):
    """Refuses a name that exists as soon as the file is made, which is right."""

    def create(self, role: Any) -> Any:
        if f"{self.number}.{role}" in self.files:
            raise FileExistsError(role)
        return super().create(role)


def test_memory_keeps_them() -> None:
    files: dict[str, bytes] = {}
    endings = {"data": ".data", "index": ".index", "single": ".faro"}
    storage.check_destination(
        lambda number: storage.MemoryDestination(str(number), files),
        lambda place, role: files.get(place._name + endings[role]),
    )


@pytest.mark.parametrize("kind", WRONG, ids=lambda kind: kind.__name__)
def test_the_kit_finds_each_broken_promise(kind: Any) -> None:
    with pytest.raises(AssertionError) as found:
        kit(kind)
    assert ": expected " in str(found.value) or ": raised " in str(found.value)


@pytest.mark.parametrize("given", [None, 7, object(), Place])
def test_what_is_no_destination_is_refused(given: Any) -> None:
    with pytest.raises(FaroError, match="invalid-argument"):
        storage.check_destination(lambda _: given)
    with pytest.raises(FaroError, match="invalid-argument"):
        Writer(destination=given, options=WriterOptions(1))


@pytest.mark.parametrize("given", [None, 7, b"", Place.File])
def test_what_is_no_new_file_is_refused(given: Any) -> None:
    class Wrong(Place):
        def create(self, role: Any) -> Any:
            return given

    with pytest.raises(FaroError, match=r"invalid-argument: expected Destination\.create: a NewFile"):
        Writer(destination=Wrong({}, 1), options=WriterOptions(1))


def test_memory_without_a_finished_output() -> None:
    destination = storage.MemoryDestination("out")
    writer = Writer(destination=destination, options=WriterOptions(1))
    with pytest.raises(FaroError, match="io in 'out': expected a finished output"):
        destination.output()
    writer.finish()
    assert sorted(destination.files) == ["out.data", "out.index"]
    Reader(stored=destination.output()).close()
