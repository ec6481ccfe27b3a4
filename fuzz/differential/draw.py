"""The material of all changes: the files, the files of another seed, and random numbers."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass

from generate.raw import patch

from differential.blocks import Files, Taken, put_together, put_together_moved, take_apart
from differential.messages import nudge

FORMATS = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}


@dataclass
class Draw:
    """The material of a change: the current files, those of another seed, and the source of random numbers."""

    files: Files
    other: Files
    rng: random.Random

    def role(self) -> str:
        """One of the files, more often the one with the messages."""
        return self.rng.choice([*self.files, *(role for role in self.files if role != "data")])


# A change: what was done, or None if it cannot be made in these files.
Change = Callable[[Draw], str | None]


def nudge_field(data: bytes, at: int, size: int, rng: random.Random) -> tuple[bytes, int]:
    """The bytes with another number in a field, and the number."""
    value = nudge(struct.unpack_from(FORMATS[size], data, at)[0], 8 * size, rng)
    return patch(data, at, struct.pack(FORMATS[size], value)), value


def pick(draw: Draw) -> tuple[str, Taken, int] | None:
    """One block of one file: role, the file taken apart, the block's index."""
    role = draw.role()
    taken = take_apart(draw.files[role])
    if not taken.pieces:
        return None
    return role, taken, draw.rng.randrange(len(taken.pieces))


def lay_out(taken: Taken, rng: random.Random) -> bytes:
    """The file. In most cases, offsets that lead to its blocks follow them."""
    return put_together_moved(taken) if rng.random() < 0.8 else put_together(taken)
