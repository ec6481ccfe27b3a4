"""The programs of the target `merge` (TARGETS.md), and carrying them out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from faro_format import FaroError, Framing
from faro_format.merge import Merge, MergeOptions, MergeSummary, Outcome, Push

from faro_targets.inputs import is_sealed, limits_of
from faro_targets.seal import seal_stream

_FRAMINGS = (Framing.OPAQUE, Framing.RECORDS, Framing.ARROW, Framing.RECORDS)
_MOST_STEPS = 100
_OWN_PUSH = 16
_ALL = 1 << 32


@dataclass(frozen=True)
class Begin:
    """Begins a push of a fragment."""

    push: int
    fragment: int
    other_producer: bool = False
    other_generation: bool = False


@dataclass(frozen=True)
class Write:
    """Writes the next bytes of a push's fragment."""

    push: int
    count: int


@dataclass(frozen=True)
class Commit:
    """Commits a push."""

    push: int


@dataclass(frozen=True)
class Abort:
    """Gives a push up."""

    push: int


Step = Begin | Write | Commit | Abort | Literal["flush", "finalize", "close", "resume"]
Answer = Literal["begun", "taken", "done"] | Outcome | MergeSummary | FaroError


@dataclass(frozen=True)
class MergeProgram:
    """The options of a merge, and what is done with it."""

    options: MergeOptions
    fragments: list[bytes]
    steps: list[Step]

    def fragment(self, number: int) -> bytes:
        """A fragment; without fragments one without bytes."""
        return self.fragments[number] if self.fragments else b""

    def producer(self, number: int) -> int:
        """The producer that pushes a fragment."""
        return int.from_bytes(self.fragment(number)[24:32], "little")


class _Input:
    def __init__(self, raw: bytes) -> None:
        self.rest = raw

    def take(self, count: int) -> bytes:
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def number(self, size: int = 1) -> int:
        return int.from_bytes(self.take(size), "little")

    def sized(self) -> bytes:
        return self.take(self.number(2))


def decode(raw: bytes) -> MergeProgram:
    """The program of an input.

    Raises:
        FaroError: ``invalid-argument`` for options that a merge refuses.

    """
    given = _Input(raw)
    flags, partitions, numbers, sizes = (given.number() for _ in range(4))
    framing = _FRAMINGS[flags >> 4 & 3]
    schema = given.sized() if framing == Framing.ARROW else None
    pushed = [given.sized() for _ in range(given.number() % 9)]
    options = MergeOptions(
        partition_count=partitions + 1,
        first_partition=numbers & 15,
        generation=numbers >> 4,
        framing=framing,
        schema=schema,
        dictionaries=bool(flags & 1),
        file_id=b"\x4d" * 16,
        chunk_size=1 << (sizes & 15),
        max_waiting=16 << (sizes >> 4) if sizes >> 4 else 0,
        limits=limits_of(flags),
    )
    if is_sealed(flags):
        pushed = [seal_stream(fragment) for fragment in pushed]
    steps: list[Step] = []
    count = 0
    while given.rest and count < _MOST_STEPS:
        count += 1
        steps += _step(given, len(pushed))
    return MergeProgram(options, pushed, steps)


def _step(given: _Input, fragments: int) -> list[Step]:
    call, push = (byte := given.number()) & 15, byte >> 4
    if call <= 2:
        push = _OWN_PUSH
    rest: list[Step] = [Write(push, _ALL), Commit(push)]
    if call <= 5:
        begin = Begin(push, given.number() % max(1, fragments), call == 4, call == 5)
        return [begin, *rest] if call <= 2 else [begin]
    others: dict[int, list[Step]] = {
        7: rest, 8: [Commit(push)], 9: [Abort(push)], 10: ["flush"], 11: ["finalize"], 12: ["close"], 13: ["resume"],
    }  # fmt: skip
    return [Write(push, given.number(2))] if call == 6 else others.get(call, [])


@dataclass
class _Pushing:
    push: Push
    fragment: bytes
    written: int = 0


class _Running:
    """A merge that carries out a program."""

    def __init__(self, program: MergeProgram, name: Path) -> None:
        self.program = program
        self.name = name
        self.merge = Merge.create(name, program.options)
        self.open = True
        self.pushes: dict[int, _Pushing] = {}

    def step(self, step: Step) -> Answer | None:
        """Carry out a step. None if there is nothing to do."""
        try:
            return self._step(step)
        except FaroError as error:
            return error

    def _step(self, step: Step) -> Answer | None:
        if isinstance(step, Begin):
            return self._begin(step)
        if isinstance(step, Write | Commit | Abort):
            pushing = self.pushes.get(step.push)
            return None if pushing is None else _go_on(pushing, step)
        if step == "flush":
            self.merge.flush()
        elif step == "finalize":
            self.open = False
            return self.merge.finalize()
        elif step == "close":
            if not self.open:
                return None
            self.open = False
            self.merge.close()
        else:
            self._resume()
        return "done"

    def _begin(self, step: Begin) -> Answer:
        before = self.pushes.pop(step.push, None)
        if before is not None:
            before.push.abort()
        producer = (self.program.producer(step.fragment) + step.other_producer) % 2**64
        begun = self.merge.begin(producer, self.program.options.generation + step.other_generation)
        if isinstance(begun, Outcome):
            return begun
        self.pushes[step.push] = _Pushing(begun, self.program.fragment(step.fragment))
        return "begun"

    def _resume(self) -> None:
        if self.open:
            self.open = False
            self.merge.close()
        self.merge = Merge.resume(self.name, self.program.options)
        self.open = True


def _go_on(pushing: _Pushing, step: Write | Commit | Abort) -> Answer:
    if isinstance(step, Write):
        data = pushing.fragment[pushing.written : pushing.written + step.count]
        pushing.written += len(data)
        return pushing.push.write(data) or "taken"
    if isinstance(step, Commit):
        return pushing.push.commit()
    pushing.push.abort()
    return "done"


def carry_out(program: MergeProgram, name: Path, see: Callable[[Step, Answer], None]) -> None:
    """Run the steps; `see` gets each and its answer.

    Raises:
        FaroError: of creating the merge.

    """
    running = _Running(program, name)
    try:
        for step in program.steps:
            answer = running.step(step)
            if answer is not None:
                see(step, answer)
        if running.open:
            answer = running.step("finalize")
            if answer is not None:
                see("finalize", answer)
    finally:
        running.merge.close()
