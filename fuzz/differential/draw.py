"""What all changes are made with: the files, another seed's files, and chance."""

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
    """What a change is made of: the files as they are, those of another seed, and where chance comes from."""

    files: Files
    other: Files
    rng: random.Random

    def role(self) -> str:
        """One of the files, the one with the messages more often."""
        return self.rng.choice([*self.files, *(role for role in self.files if role != "data")])


# A change: what was done, or None when it cannot be made of these files.
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
    """The file; most often with what leads to its blocks following them."""
    return put_together_moved(taken) if rng.random() < 0.8 else put_together(taken)
