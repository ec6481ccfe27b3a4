"""What is asked about an output: requests in order, some of them after the files have grown."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field
from typing import Any

from generate.raw import HEADER_SIZE

from differential.mutate import Files

LEVELS = ("structure", "checksums", "decode")
# Asked for all its partitions, a file that claims more would keep a reader busy with nothing.
_MOST_PARTITIONS = 4096
_LIMITS = {
    "max_block_size": [0, 16, 64, 1000], "max_plain_size": [1, 16, 64, 1000], "max_message_size": [64, 120, 200, 400],
    "max_regions": [0, 1, 2], "max_window_size": [1024, 65536],
}  # fmt: skip


@dataclass(frozen=True)
class Step:
    """One request. `sizes`: so many bytes of each file are there before it is made; None: as they were."""

    op: str
    fields: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, int] | None = None

    @property
    def wants_files(self) -> bool:
        """Whether the request names the files."""
        return self.op != "follow" or self.fields["action"] == "open"

    def __str__(self) -> str:
        return " ".join([self.op, *(f"{name}={value}" for name, value in self.fields.items() if name != "handle")])


def plan(files: Files, rng: random.Random, handle: str) -> list[Step]:
    """The requests about these files."""
    limits: dict[str, Any] = {}
    if rng.random() < 0.1:
        name = rng.choice(list(_LIMITS))
        limits = {"limits": {name: rng.choice(_LIMITS[name])}}
    header = files.get("index", files.get("single", b""))
    count, first = 1, 0
    if len(header) >= HEADER_SIZE:
        count, first = struct.unpack_from("<I", header, 12)[0], struct.unpack_from("<I", header, 36)[0]
    some = {"partitions": sorted({_partition(first, count, rng) for _ in range(8)})}
    steps = [Step("check", {"level": level, **limits}) for level in LEVELS]
    steps.append(Step("read", {**(some if count > _MOST_PARTITIONS else {}), **limits}))
    if rng.random() < 0.3:
        steps.append(Step("read", {**some, "verify": False, **limits}))
    low, high = sorted(_partition(first, count, rng) for _ in range(2))
    steps.append(Step("read", {"range": [low, min(high + rng.choice([0, 1, 1]), (1 << 32) - 1)], **limits}))
    steps.append(Step("repair", {"mode": "last-commit", "dry_run": True}))
    if "data" in files:
        shared = rng.choice(["none", "all"])
        steps.append(Step("repair", {"mode": "rebuild", "shared": shared, "dry_run": True}))
    return steps + _follow(files, some, limits, rng, handle)


def _partition(first: int, count: int, rng: random.Random) -> int:
    number = first + rng.randrange(max(1, min(count, rng.choice([4, 16, 1 << 28]))))
    return min(number + (count if rng.random() < 0.05 else 0), (1 << 32) - 2)


def _follow(files: Files, some: dict[str, Any], limits: dict[str, Any], rng: random.Random, handle: str) -> list[Step]:
    """A follower of the whole files, or one before which they grow."""

    def step(action: str, sizes: dict[str, int] | None = None, **fields: Any) -> Step:
        return Step("follow", {"action": action, "handle": handle, **fields}, sizes)

    if rng.random() < 0.7:
        return [step("open", **limits), step("poll"), step("poll"), step("read", **some), step("close")]
    whole = {role: len(data) for role, data in files.items()}
    stages: list[dict[str, int]] = []
    for _ in range(rng.choice([1, 2, 3, 5])):
        # The data file is whole at most: FIL-5 has it written before the index says so.
        stages.append({role: size if role == "data" else rng.randrange(size + 1) for role, size in whole.items()})
    stages.sort(key=lambda sizes: sizes.get("index", sizes.get("single", 0)))
    stages = [{role: max(size, min(HEADER_SIZE, whole[role])) for role, size in sizes.items()} for sizes in stages]
    steps = [step("open", stages[0], **limits)]
    for sizes in [*stages, whole]:
        steps += [step("poll", sizes), step("read", **some)]
    return [*steps, step("poll"), step("close")]
