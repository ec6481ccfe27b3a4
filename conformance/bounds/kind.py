"""What a kind of hostile output is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

MIB = 1 << 20
# Small, so that what a reader takes beyond them shows.
LIMITS = {"max_block_size": MIB, "max_plain_size": MIB, "max_message_size": MIB}
LARGER = {"max_block_size": 16 * MIB, "max_plain_size": 16 * MIB, "max_message_size": 16 * MIB}


@dataclass(frozen=True)
class Made:
    """One hostile output."""

    files: dict[str, Path]
    # What `check` at level decode has to say: a code, or "ok".
    check: str
    # Partitions to be read one by one, and ranges; of a file that claims 2^28 nobody reads all.
    partitions: tuple[int, ...] = (0,)
    ranges: tuple[tuple[int, int], ...] = ((0, 1),)
    limits: dict[str, int] = field(default_factory=lambda: dict(LIMITS))
    # A follower polls so many times; after each the index (or single) file grows by so many zero bytes.
    polls: int = 2
    grow: int = 0
    # What is not asked, by name: where it would only repeat another.
    without: tuple[str, ...] = ()


Maker = Callable[[Path, int], Made]


@dataclass(frozen=True)
class Kind:
    """A kind of output, in two sizes: by these cost is seen to grow with the file and not faster."""

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
    """Register a maker, whose docstring is the title; its sizes are of whatever there are many of."""

    def register(make: Maker) -> Maker:
        KINDS.append(Kind(make.__name__.replace("_", "-"), (make.__doc__ or "").rstrip("."), make, small, large))
        return make

    return register
