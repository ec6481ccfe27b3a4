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
class DictionaryEntry:
    """Where a dictionary is (FTR-7); its number is its position in the list, counted from 1."""

    offset: int
    """Where its block begins, in bytes of the data file or single file."""
    size: int
    """Bytes of the dictionary."""


def is_dictionary(payload: bytes | memoryview) -> bool:
    """Whether bytes begin like a dictionary (DIC-4)."""
    return len(payload) >= MIN_DICTIONARY and payload[:4] == DICTIONARY_MAGIC


class Dictionaries:
    """The known dictionaries of one file, number 1 first. Threads may share it."""

    def __init__(self) -> None:
        """Begin without any."""
        self._entries: list[DictionaryEntry] = []
        self._offsets: list[int] = []
        self._taken: dict[int, Dictionary] = {}
        self._lock = threading.Lock()

    @property
    def entries(self) -> tuple[DictionaryEntry, ...]:
        """Where they are, number 1 first."""
        return tuple(self._entries)

    @property
    def held(self) -> int:
        """Bytes of the dictionaries that were read."""
        return sum(self._entries[number - 1].size for number in list(self._taken))

    def __len__(self) -> int:
        """Return how many are known."""
        return len(self._entries)

    def extend(self, entries: Iterable[DictionaryEntry]) -> None:
        """Add dictionaries that follow the known ones."""
        for entry in entries:
            self._offsets.append(entry.offset)
            self._entries.append(entry)

    def before(self, offset: int) -> int:
        """Return how many are before an absolute offset (DIC-3)."""
        return bisect.bisect_left(self._offsets, offset)

    def take(self, number: int, load: Callable[[int, DictionaryEntry], Dictionary]) -> Dictionary:
        """Return a dictionary by its number; ``load`` reads it the first time."""
        found = self._taken.get(number)
        if found is None:
            with self._lock:
                found = self._taken.get(number)
                if found is None:
                    found = self._taken[number] = load(number, self._entries[number - 1])
        return found
