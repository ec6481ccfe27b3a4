"""The actions of a round, drawn from a seed. How its processes interleave is not drawn."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Literal

from races.outputs import COUNT, Layout, calls, options

Ending = Literal["finish", "abort", "none"]
_ENDINGS: list[Ending] = ["finish", "abort", "none"]


@dataclass(frozen=True)
class Writing:
    """One writer of a round."""

    child: int
    output: int
    overwrite: bool
    follow: bool
    ending: Ending
    sync: bool

    def request(self, path: str, layout: Layout) -> dict[str, Any]:
        """The request of the conformance protocol."""
        durability = "commit" if self.sync else "none"
        more = {"overwrite": self.overwrite, "follow": self.follow, "durability": durability}
        end = [] if self.ending == "none" else [{"call": self.ending}]
        return {"path": path, "options": options(self.output, layout, **more), "calls": [*calls(self.output), *end]}

    def __str__(self) -> str:
        """In a few words."""
        words = [name for name in ("overwrite", "follow", "sync") if getattr(self, name)]
        return " ".join([f"child {self.child} output {self.output}", *words, self.ending])


@dataclass(frozen=True)
class Round:
    """A round: its writers, the number of readers, and whether an older output is there."""

    layout: Layout
    writers: tuple[Writing, ...]
    readers: tuple[int, ...]
    older: int | None
    # Which writer is killed, and after how many seconds; None: none.
    kill: tuple[int, float] | None

    def __str__(self) -> str:
        """On one line."""
        older = "" if self.older is None else f", older output {self.older}"
        kill = "" if self.kill is None else f", writer {self.kill[0]} killed after {1000 * self.kill[1]:.2f} ms"
        return f"{self.layout}: {'; '.join(map(str, self.writers))}{older}{kill}"


def draw(rng: random.Random, children: int, kills: float) -> Round:
    """A round for this many children. `kills`: the share of rounds in which a writer is killed."""
    layout: Layout = "paired" if rng.random() < 0.8 else "single"
    kill = rng.random() < kills
    order = rng.sample(range(children), children)
    count = rng.randint(2, max(2, min(4, children - 1)))
    numbers = rng.sample(range(COUNT), COUNT)
    # In half of the rounds all writers are of one kind, so the winner is known exactly.
    kind = rng.choice(["refusing", "overwriting", "mixed", "mixed"])
    followed = rng.random() < 0.25 and not kill
    writers = []
    for at in range(count):
        overwrite = {"refusing": False, "overwriting": True, "mixed": rng.random() < 0.5}[kind]
        ending = rng.choices(_ENDINGS, [8, 1, 1])[0]
        follow = followed and rng.random() < 0.5
        writers.append(Writing(order[at], numbers[at], overwrite, follow, ending, rng.random() < 0.05))
    readers = tuple(order[count : count + rng.randint(0, 2)])
    older = numbers[-1] if rng.random() < 0.4 else None
    killed = (rng.randrange(count), rng.random() * 0.0015) if kill else None
    return Round(layout, tuple(writers), readers, older, killed)
