"""A testee under limits: its address space is bounded, and the processor time of each request is measured."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from faro_conformance.child import Child
from faro_conformance.protocol import Outcome, Protocol
from faro_conformance.testees import Testee

from .kind import Made

# What a runtime takes for itself while it works: thread stacks, compiled code, buffers of the protocol.
BASE = 64 << 20
# How often the amount of a limit may be held at a time: a message as bytes and as values, a payload stored and plain.
COPIES = 6
# The size of a dictionary's entropy tables when they are ready for decoding.
DIGEST = 32 << 10
_TICK = os.sysconf("SC_CLK_TCK")


def allowance(limits: dict[str, int]) -> int:
    """Bytes of address space that an operation may add to those of the idle testee (LIM-2)."""
    # Dictionaries that blocks name are kept, both as bytes and prepared for decoding.
    dictionaries = limits.get("max_dictionaries", 0) * (limits.get("max_dictionary_size", 0) + DIGEST)
    return (
        BASE
        + 2 * dictionaries
        + COPIES * (limits["max_message_size"] + limits["max_block_size"] + limits["max_plain_size"])
    )


@dataclass(frozen=True)
class Asked:
    """The outcome of one request."""

    name: str
    outcome: Outcome
    seconds: float


def prepare(testee: Testee, limit: int) -> Testee:
    """The testee, with settings that make a bound on its address space meaningful."""
    # A JVM reserves its heap at once, so the bound must apply to the part that it fills.
    java = f"-Xmx{max(limit >> 20, 64)}m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
    environment = {**testee.environment, "MALLOC_ARENA_MAX": "1", "_JAVA_OPTIONS": java}
    return replace(testee, environment=environment, memory_limit=None)


class Bounded:
    """A testee's process, bounded while it answers."""

    def __init__(self, testee: Testee, protocol: Protocol, folder: Path, limit: int, timeout: float) -> None:
        self.name = testee.name
        self._child = Child(prepare(testee, limit), protocol, timeout, folder)
        self._limit = limit

    def start(self, warm: list[tuple[str, dict[str, Any]]]) -> None:
        """Start it, send requests on a valid file so that it loads what it needs, and bound it."""
        self._child.start()
        for op, fields in warm:
            self._child.ask(op, fields)
        now = self._status("VmSize")
        resource.prlimit(self._pid, resource.RLIMIT_AS, (now + self._limit, now + self._limit))

    def ask(self, name: str, op: str, fields: dict[str, Any]) -> Asked:
        """Send one request. A process that died is not restarted."""
        before = self._cpu()
        outcome = self._child.ask(op, fields)
        if outcome.kind in ("crash", "timeout", "garbage"):
            return Asked(name, outcome, 0.0)
        return Asked(name, outcome, self._cpu() - before)

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._child._process is not None

    @property
    def peak(self) -> int:
        """The peak of its memory since it started, in bytes."""
        return self._status("VmHWM")

    @property
    def _pid(self) -> int:
        process = self._child._process
        assert process is not None
        return process.pid

    def _status(self, key: str) -> int:
        for line in Path(f"/proc/{self._pid}/status").read_text().splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
        raise ValueError(key)

    def _cpu(self) -> float:
        fields = Path(f"/proc/{self._pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / _TICK

    def close(self) -> None:
        """End the process."""
        self._child.kill()


def requests(made: Made, folder: Path, testee: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The requests about an output: a name, the operation and its fields."""
    files = {role: str(path) for role, path in made.files.items()}
    common = {**files, "limits": made.limits}
    for level in ("structure", "checksums", "decode"):
        yield f"check {level}", "check", {**common, "level": level}
    for number, partition in enumerate(made.partitions, 1):
        yield f"read {number}", "read", {**common, "partitions": [partition]}
    yield "read without verifying", "read", {**common, "partitions": [made.partitions[0]], "verify": False}
    for number, (begin, end) in enumerate(made.ranges, 1):
        # Its ends are not in the name, as they differ between the two sizes of a kind.
        yield f"range {number}", "read", {**common, "range": [begin, end]}
    yield "follow open", "follow", {"action": "open", "handle": "h", **common}
    growing = made.files.get("index") or made.files["single"]
    length = growing.stat().st_size
    for number in range(made.polls):
        if made.grow and number:
            os.truncate(growing, length + made.grow * number)
        yield ("polls" if number else "first poll"), "follow", {"action": "poll", "handle": "h"}
    if made.grow:
        os.truncate(growing, length)
    yield "follow read", "follow", {"action": "read", "handle": "h", "partitions": list(made.partitions)}
    yield "follow close", "follow", {"action": "close", "handle": "h"}
    modes = ["last-commit"] if "single" in made.files else ["last-commit", "rebuild"]
    for mode in modes:
        yield f"repair {mode}, dry", "repair", {**files, "mode": mode, "dry_run": True}
        if {"last-commit": "repair", "rebuild": "rebuild"}[mode] in made.without:
            continue
        copies = {}
        for role, path in made.files.items():
            copies[role] = folder / f"{testee}-{mode}-{path.name}"
            shutil.copyfile(path, copies[role])
        yield f"repair {mode}", "repair", {**{role: str(path) for role, path in copies.items()}, "mode": mode}
        for path in copies.values():
            path.unlink()
