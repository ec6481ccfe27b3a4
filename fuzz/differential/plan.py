"""The requests about an output, in order. Before some of them the files grow."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field
from typing import Any

from generate.raw import HEADER_SIZE, NOBODY

from differential.blocks import Files, take_apart

LEVELS = ("structure", "checksums", "decode")
# If a file claims more partitions, only some are read: most are empty.
_MOST_PARTITIONS = 4096
_LIMITS = {
    "max_block_size": [0, 16, 64, 200, 1000], "max_plain_size": [1, 16, 64, 200, 1000],
    "max_message_size": [64, 120, 200, 400], "max_regions": [0, 1, 2],
    "max_window_size": [1023, 1024, 1152, 65536, 1 << 27],
}  # fmt: skip


@dataclass(frozen=True)
class Step:
    """One request. `sizes`: the size of each file before the request; None: unchanged."""

    op: str
    fields: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, int] | None = None

    @property
    def wants_files(self) -> bool:
        """Whether the request names the files."""
        return self.op != "follow" or self.fields["action"] == "open"

    @property
    def reads(self) -> bool:
        """Whether partitions are read."""
        return self.op == "read" or self.fields.get("action") == "read"

    def __str__(self) -> str:
        return " ".join([self.op, *(f"{name}={value}" for name, value in self.fields.items() if name != "handle")])


class _Partitions:
    """The partitions to read: those of blocks, any others, and some that the file does not have."""

    def __init__(self, files: Files, rng: random.Random) -> None:
        self._rng = rng
        header = files.get("index", files.get("single", b""))
        self.count, self.first = 1, 0
        if len(header) >= HEADER_SIZE:
            self.count, self.first = struct.unpack_from("<I", header, 12)[0], struct.unpack_from("<I", header, 56)[0]
        held = files.get("data", header)
        borne = {struct.unpack_from("<I", piece.head, 8)[0] for piece in take_apart(held).pieces}
        self._borne = sorted(borne - {NOBODY})

    def one(self) -> int:
        rng = self._rng
        if self._borne and rng.random() < 0.5:
            return int(min(rng.choice(self._borne), (1 << 32) - 2))
        number = self.first + rng.randrange(max(1, min(self.count, rng.choice([4, 16, 1 << 28]))))
        return min(number + (self.count if rng.random() < 0.05 else 0), (1 << 32) - 2)

    def some(self) -> dict[str, Any]:
        return {"partitions": sorted({self.one() for _ in range(8)})}

    def range(self) -> dict[str, Any]:
        low, high = sorted((self.one(), self.one()))
        return {"range": [low, min(high + self._rng.choice([0, 1, 1]), (1 << 32) - 1)]}


def plan(files: Files, rng: random.Random, handle: str) -> list[Step]:
    """The requests about these files."""
    limits: dict[str, Any] = {}
    if rng.random() < 0.2:
        names = rng.sample(list(_LIMITS), rng.choice([1, 1, 2]))
        limits = {"limits": {name: rng.choice(_LIMITS[name]) for name in names}}
    partitions = _Partitions(files, rng)
    many = partitions.count > _MOST_PARTITIONS
    steps = [Step("check", {"level": level, **limits}) for level in LEVELS]
    steps.append(Step("read", {**(partitions.some() if many else {}), **limits}))
    if rng.random() < 0.3:
        verify = {"verify": False}
        steps.append(Step("read", {**(partitions.some() if many else {}), **verify, **limits}))
        steps.append(Step("read", {**partitions.range(), **verify, **limits}))
    steps += [Step("read", {**partitions.range(), **limits}) for _ in range(rng.choice([1, 1, 2]))]
    steps.append(Step("repair", {"mode": "last-commit", "dry_run": True, **limits}))
    if "data" in files:
        shared = rng.choice(["none", "all"])
        steps.append(Step("repair", {"mode": "rebuild", "shared": shared, "dry_run": True, **limits}))
    return steps + _follow(files, partitions.some(), limits, rng, handle)


def plan_repair(files: Files, rng: random.Random) -> tuple[dict[str, Any] | None, bool]:
    """A repair that writes, or none; and whether the index file is lost before it."""
    if rng.random() > 0.4:
        return None, False
    if "data" not in files or rng.random() < 0.5:
        return {"mode": "last-commit"}, False
    return {"mode": "rebuild", "shared": rng.choice(["none", "all"])}, rng.random() < 0.3


def _follow(files: Files, some: dict[str, Any], limits: dict[str, Any], rng: random.Random, handle: str) -> list[Step]:
    """A follower of the whole files, or one before which they grow."""

    def step(action: str, sizes: dict[str, int] | None = None, **fields: Any) -> Step:
        return Step("follow", {"action": action, "handle": handle, **fields}, sizes)

    if rng.random() < 0.7:
        return [step("open", **limits), step("poll"), step("poll"), step("read", **some), step("close")]
    whole = {role: len(data) for role, data in files.items()}
    ends = {role: [p.offset + p.size for p in take_apart(data).pieces] or [0] for role, data in files.items()}
    stages: list[dict[str, int]] = []
    for _ in range(rng.choice([1, 2, 3, 5])):
        # By FIL-5, data is written before the index commits it.
        stages.append({role: size if role == "data" else _cut(size, ends[role], rng) for role, size in whole.items()})
    stages.sort(key=lambda sizes: sizes.get("index", sizes.get("single", 0)))
    stages = [{role: max(size, min(HEADER_SIZE, whole[role])) for role, size in sizes.items()} for sizes in stages]
    steps = [step("open", stages[0], **limits)]
    for sizes in [*stages, whole]:
        steps += [step("poll", sizes), step("read", **some)]
    return [*steps, step("poll"), step("close")]


def _cut(size: int, ends: list[int], rng: random.Random) -> int:
    """Any offset, or one near the end of a block."""
    if rng.random() < 0.5:
        return rng.randrange(size + 1)
    return max(0, min(size, rng.choice(ends) + rng.choice([-8, -1, 0, 0, 1, 8, 23, 24, 25])))
