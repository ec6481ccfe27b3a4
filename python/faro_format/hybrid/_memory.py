"""The memory that stores share (HYB-6)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol

from faro_format._arguments import integer


class Resident(Protocol):
    """A store as the memory sees it."""

    @property
    @abstractmethod
    def staying(self) -> int:
        """The bytes in memory that are not about to leave."""

    @property
    @abstractmethod
    def is_read(self) -> bool:
        """Whether a consumer is open."""

    @abstractmethod
    def give_up(self, *, newest: bool) -> bool:
        """Decide that the newest or oldest region that may leave leaves; False if none may."""

    @abstractmethod
    def spill(self) -> None:
        """Write what is about to leave."""


class HybridMemory:
    """The memory that hybrid stores share, usually one for each process.

    When more than 70 % of it is in use, regions leave it until 40 % are: first those of stores without a consumer, then
    those that will be consumed last.

    Blocks exceed it by at most one region for each store: a region is complete in memory before it is counted. The
    message of a region is counted too. That of a selective store stays until all of its partitions have passed the
    region, so messages alone can exceed the memory: every region is written at once then, and producers wait for the
    writes. The sort buffers of the stores' writers are not counted.
    """

    def __init__(self, size: int) -> None:
        """Make a memory.

        Args:
            size: in bytes, 0 to 2^56; with 0, every region is spilled.

        Raises:
            FaroError: ``invalid-argument``.
        """
        self._size = integer("size", size, 0, 1 << 56)
        self._stores: list[Resident] = []
        self._used = 0
        self._leaving = 0

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self._size

    @property
    def used(self) -> int:
        """The bytes of blocks and of region messages that are in memory (HYB-6)."""
        return self._used

    def _count(self, used: int, leaving: int) -> None:
        self._used += used
        self._leaving += leaving

    def _add(self, store: Resident) -> None:
        self._stores.append(store)

    def _remove(self, store: Resident) -> None:
        self._stores.remove(store)

    def _is_above(self, tenths: int) -> bool:
        return 10 * (self._used - self._leaving) > tenths * self._size

    def _reclaim(self) -> None:
        """Let regions leave if there are too many."""
        chosen: list[Resident] = []
        if self._is_above(7):
            while self._is_above(4):
                store = self._choose()
                if store is None:
                    break
                if store not in chosen:
                    chosen.append(store)
        for store in chosen:
            store.spill()

    def _choose(self) -> Resident | None:
        for store in self._stores:
            if not store.is_read and store.give_up(newest=False):
                return store
        read = [store for store in self._stores if store.is_read]
        # The order of equals stays.
        for store in sorted(read, key=lambda store: -store.staying):
            if store.give_up(newest=True):
                return store
        return None
