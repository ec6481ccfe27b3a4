"""Changes of an output's files. The checksums are recomputed, so that a reader does not stop there."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from differential.blocks import Files
from differential.draw import Change, Draw
from differential.inside import block_field, header_field, message, padding_byte, payload_bytes, resize, tail_field
from differential.whole import (
    cut,
    demoted,
    footer_again,
    new_identity,
    newer,
    order,
    same_identity,
    shared_extents,
    splice,
    swap,
    torn,
    unsealed,
)

_TRIES = 20
# The weight of each change.
CHANGES: dict[Change, int] = {
    header_field: 5, tail_field: 4, block_field: 12, payload_bytes: 14, padding_byte: 2, resize: 6, message: 25,
    order: 6, splice: 8, cut: 8, swap: 2, same_identity: 2, newer: 2, unsealed: 2, footer_again: 1,
    shared_extents: 8, demoted: 1, torn: 6, new_identity: 1,
}  # fmt: skip


@dataclass(frozen=True)
class Made:
    """A change with the state that drew it, so that it can be repeated, and what it did."""

    change: Change
    seed: int
    text: str


def mutate(files: Files, other: Files, rng: random.Random, wanted: int | None = None) -> tuple[Files, list[Made]]:
    """The files with one to three changes, and the changes."""
    files = dict(files)
    done: list[Made] = []
    wanted = rng.choice([1, 1, 1, 2, 2, 3]) if wanted is None else wanted
    for _ in range(_TRIES):
        if len(done) == wanted:
            break
        change = rng.choices(list(CHANGES), list(CHANGES.values()))[0]
        seed = rng.getrandbits(32)
        draw = Draw(dict(files), other, random.Random(seed))
        text = change(draw)
        if text is not None:
            done.append(Made(change, seed, text))
            files = draw.files
    return files, done


def again(files: Files, other: Files, made: Sequence[Made]) -> Files | None:
    """The files with these changes, or None if one of them can no longer be made."""
    for item in made:
        draw = Draw(dict(files), other, random.Random(item.seed))
        if item.change(draw) is None:
            return None
        files = draw.files
    return files
