"""The kinds of hostile outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

MIB = 1 << 20
# Small, so that memory beyond them is noticed.
LIMITS = {"max_block_size": MIB, "max_plain_size": MIB, "max_message_size": MIB}
LARGER = {"max_block_size": 16 * MIB, "max_plain_size": 16 * MIB, "max_message_size": 16 * MIB}


@dataclass(frozen=True)
class Made:
    """One hostile output."""

    files: dict[str, Path]
    # The expected answer of `check` at level decode: a code, or "ok".
    check: str
    # Partitions to read one by one, and ranges. Of a file that claims 2^28 partitions, only some are read.
    partitions: tuple[int, ...] = (0,)
    ranges: tuple[tuple[int, int], ...] = ((0, 1),)
    limits: dict[str, int] = field(default_factory=lambda: dict(LIMITS))
    # How often a follower polls, and how many zero bytes the index (or single) file grows by after each.
    polls: int = 2
    grow: int = 0
    # The names of operations that are left out because they would only repeat another.
    without: tuple[str, ...] = ()


Maker = Callable[[Path, int], Made]


@dataclass(frozen=True)
class Kind:
    """A kind of output, in two sizes, which show that cost does not grow faster than the file."""

    name: str
    title: str
    make: Maker
    small: int
    large: int

    @property
    def factor(self) -> float:
        """How much larger the large one is."""
        return self.large / self.small


KINDS: list[Kind] = []


def kind(small: int = 1, large: int = 1) -> Callable[[Maker], Maker]:
    """Register a maker, whose docstring is the title; its sizes are counts of the repeated thing."""

    def register(make: Maker) -> Maker:
        KINDS.append(Kind(make.__name__.replace("_", "-"), (make.__doc__ or "").rstrip("."), make, small, large))
        return make

    return register
