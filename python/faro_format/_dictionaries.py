"""The dictionaries of a file (DIC): where they are, and those that a reader has loaded.

They are kept after they were loaded: otherwise, a file whose blocks name many of them in turn would make a reader
load each of them again and again (LIM-3).
"""

from __future__ import annotations

import bisect
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from faro_format._codec import Dictionary

DICTIONARY_MAGIC = b"\x37\xa4\x30\xec"
"""The first bytes of a dictionary (DIC-1)."""
MIN_DICTIONARY = 8
MAX_DICTIONARIES = 65_535
"""How many numbers there are."""


@dataclass(frozen=True)
class DictionaryPlace:
    """Where a dictionary is; its place in the list is its number."""

    offset: int
    """Where its block begins, absolute, in bytes."""
    size: int
    """Bytes of the dictionary."""


def is_dictionary(payload: bytes | memoryview) -> bool:
    """Whether bytes begin like a dictionary (DIC-4)."""
    return len(payload) >= MIN_DICTIONARY and payload[:4] == DICTIONARY_MAGIC


class Dictionaries:
    """The known dictionaries of one file, number 1 first. Threads may share it."""

    def __init__(self) -> None:
        """Begin without any."""
        self._places: list[DictionaryPlace] = []
        self._offsets: list[int] = []
        self._taken: dict[int, Dictionary] = {}
        self._lock = threading.Lock()

    @property
    def places(self) -> list[DictionaryPlace]:
        """Where they are, number 1 first."""
        return list(self._places)

    def __len__(self) -> int:
        """Return how many are known."""
        return len(self._places)

    def extend(self, places: Iterable[DictionaryPlace]) -> None:
        """Add dictionaries that follow the known ones."""
        for place in places:
            self._offsets.append(place.offset)
            self._places.append(place)

    def before(self, offset: int) -> int:
        """Return how many are before an absolute offset (DIC-3)."""
        return bisect.bisect_left(self._offsets, offset)

    def take(self, number: int, load: Callable[[int, DictionaryPlace], Dictionary]) -> Dictionary:
        """Return a dictionary by its number; ``load`` reads it the first time."""
        found = self._taken.get(number)
        if found is None:
            with self._lock:
                found = self._taken.get(number)
                if found is None:
                    found = self._taken[number] = load(number, self._places[number - 1])
        return found
