"""A model of a merge: what each step must give, and what the file has in the end (MRG-2, MRG-5 to MRG-7)."""

from __future__ import annotations

import io
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

from faro_format import ErrorCode, FaroError, Follower, Limits
from faro_format.merge import MergeSummary, Outcome, have

from faro_targets.broken import require
from faro_targets.fragments import ReadFragment, read_stream
from faro_targets.merge_program import Abort, Answer, Begin, Commit, MergeProgram, Step, Write

Held = tuple[int, bool]
"""How many blocks, and whether the last one is among them."""
Fault = tuple[ErrorCode, str | None, int | None]
_ARGUMENT: Fault = (ErrorCode.INVALID_ARGUMENT, None, None)
_DEFAULT = Limits()


@dataclass
class Merged:
    """The content of the file."""

    held: dict[tuple[int, int], Held] = field(default_factory=dict)
    """By partition and producer."""
    attempts: dict[int, int] = field(default_factory=dict)
    pieces: dict[int, list[tuple[int, bytes | None]]] = field(default_factory=dict)
    """By partition: kind and a hash of the plain payload of each block; None if it does not decode."""


@dataclass
class _Pushed:
    fragment: int
    producer: int
    written: int = 0
    waiting: int = 0
    over: bool = False
    late: bool = False
    """Whether the merge that it began in has ended."""


def limits(program: MergeProgram) -> Limits:
    """Those of the program, except for what a merged file has more of than a fragment."""
    own = program.options.limits
    return Limits(
        own.max_block_size, own.max_plain_size, _DEFAULT.max_message_size, _DEFAULT.max_regions,
        own.max_dictionary_size, _DEFAULT.max_dictionaries, own.max_window_size,
    )  # fmt: skip


def _comparable(answer: Answer) -> object:
    return (answer.code, answer.role, answer.offset) if isinstance(answer, FaroError) else answer


class MergeModel:
    """The state of the model."""

    def __init__(self, program: MergeProgram, name: Path) -> None:
        self._program = program
        self._name = name
        self._accepted = [self._accept(fragment) for fragment in program.fragments]
        self.state = "open"
        self._turn: int | None = None
        self._pushes: dict[int, _Pushed] = {}
        self.merged = Merged()

    def _accept(self, fragment: bytes) -> ReadFragment | None:
        """A fragment, if a reader of fragments accepts it."""
        stream = read_stream(io.BytesIO(fragment), len(fragment), self._program.options.limits)
        return stream.fragments[0] if stream.error is None and len(stream.fragments) == 1 else None

    def step(self, step: Step, answer: Answer) -> None:
        """Check the answer of a step."""
        if isinstance(step, Begin):
            self._begin(step, answer)
        elif isinstance(step, Write):
            self._write(step, answer)
        elif isinstance(step, Commit):
            self._commit(step.push, answer)
        elif isinstance(step, Abort):
            self._release(step.push)
            self._expect(answer, "done")
        elif step == "finalize":
            self._finalize(answer)
        elif step == "resume":
            self._resume(answer)
        elif step == "close":
            require(self.state == "open", "only an open merge is closed")
            self._expect(answer, "done")
            self._end("closed")
            self.merged = self._in_regions()
        else:
            self._expect(answer, "done" if self.state == "open" else _ARGUMENT)
            require(self.state != "open" or self._in_regions() == self.merged, "a flush ends the region")

    def _expect(self, answer: Answer, expected: object) -> None:
        require(_comparable(answer) == expected, f"{expected}, and the merge says {answer!r}")

    def _begin(self, step: Begin, answer: Answer) -> None:
        self._release(step.push)
        self._pushes.pop(step.push, None)
        producer = (self._program.producer(step.fragment) + step.other_producer) % 2**64
        if producer == 2**64 - 1:
            require(isinstance(answer, FaroError) and answer.code == ErrorCode.INVALID_ARGUMENT, "no such producer")
        elif self.state != "open":
            self._expect(answer, Outcome.LATE)
        elif step.other_generation:
            self._expect(answer, Outcome.STALE)
        else:
            self._expect(answer, "begun")
            self._pushes[step.push] = _Pushed(step.fragment, producer)

    def _finalize(self, answer: Answer) -> None:
        if self.state != "open":
            self._expect(answer, _ARGUMENT)
            return
        require(isinstance(answer, MergeSummary), f"an open merge is finalized: {answer!r}")
        assert isinstance(answer, MergeSummary)
        require(answer.runs >= max(answer.regions, len(self.merged.held)), "a run for each region, producer, partition")
        self._end("finished")

    def _resume(self, answer: Answer) -> None:
        if self.state == "finished":
            codes = (ErrorCode.INVALID_ARGUMENT, ErrorCode.LIMIT_EXCEEDED)
            require(isinstance(answer, FaroError) and answer.code in codes, f"it is finished: {answer!r}")
            return
        self._end("closed")
        self.merged = self._in_regions()
        if answer == "done":
            self.state = "open"
        else:
            limited = isinstance(answer, FaroError) and answer.code == ErrorCode.LIMIT_EXCEEDED
            require(limited, f"a merge that was closed is resumed: {answer!r}")

    def _in_regions(self) -> Merged:
        """The beginning of what was merged that is in regions."""
        found = Merged()
        with Follower(data=f"{self._name}.data", index=f"{self._name}.index", limits=limits(self._program)) as follower:
            follower.poll()
            for partition in range(follower.header.first_partition, follower.header.end_partition):
                count = 0
                for one in have(follower, partition):
                    held, merged = (one.blocks, one.complete), self.merged.held[partition, one.producer]
                    require(held == merged or (held[0] < merged[0] and not held[1]), "a beginning of what was merged")
                    require(one.attempt == self.merged.attempts[one.producer], "the attempt that was merged")
                    found.held[partition, one.producer] = held
                    found.attempts[one.producer] = one.attempt
                    count += one.blocks
                if count:
                    found.pieces[partition] = self.merged.pieces[partition][:count]
        return found

    def _end(self, state: str) -> None:
        self.state, self._turn = state, None
        for pushed in self._pushes.values():
            pushed.late = True

    def _release(self, push: int) -> None:
        """End a push, if it is there."""
        pushed = self._pushes.get(push)
        if pushed is not None:
            pushed.over, pushed.waiting = True, 0
            if self._turn == push and not pushed.late:
                self._turn = None

    def _ended(self, push: int, answer: Answer) -> bool:
        """Whether the push is over or late; then its answer is checked."""
        pushed = self._pushes[push]
        if pushed.over:
            self._expect(answer, _ARGUMENT)
        elif pushed.late:
            self._expect(answer, Outcome.LATE)
            self._release(push)
        return pushed.over

    def _write(self, step: Write, answer: Answer) -> None:
        waiting = sum(pushed.waiting for pushed in self._pushes.values())
        pushed = self._pushes[step.push]
        count = min(step.count, len(self._program.fragment(pushed.fragment)) - pushed.written)
        pushed.written += count
        if self._ended(step.push, answer):
            return
        if self._turn not in (None, step.push):
            if waiting + count <= self._program.options.max_waiting:
                pushed.waiting += count
                self._expect(answer, "taken")
            else:
                self._expect(answer, Outcome.COLLISION)
                self._release(step.push)
            return
        pushed.waiting, self._turn = 0, step.push
        if answer != "taken":
            self._refused(step.push, answer)

    def _commit(self, push: int, answer: Answer) -> None:
        if self._ended(push, answer):
            return
        if self._turn not in (None, push):
            self._expect(answer, Outcome.COLLISION)
            self._release(push)
            return
        if answer not in (Outcome.MERGED, Outcome.DUPLICATE):
            self._refused(push, answer)
            return
        pushed = self._pushes[push]
        require(pushed.written == len(self._program.fragment(pushed.fragment)), "the whole fragment was written")
        merged = deepcopy(self.merged)
        self._expect(answer, self._expected(push, merged))
        self.merged = merged
        self._turn = push
        self._release(push)

    def _refused(self, push: int, answer: Answer) -> None:
        """A refusal that comes from what the fragment says."""
        pushed = self._pushes[push]
        size = len(self._program.fragment(pushed.fragment))
        if isinstance(answer, FaroError):
            inside = answer.role == "fragment" and answer.offset is not None and answer.offset <= size
            require(inside, f"an error in the fragment: {answer}")
        else:
            require(answer in (Outcome.GAP, Outcome.OTHER_ATTEMPT), f"a refusal for what the fragment says: {answer}")
        cut = pushed.written < size and isinstance(answer, FaroError) and answer.code == ErrorCode.TRUNCATED
        expected = None if cut else self._expected(push, deepcopy(self.merged))
        if expected is not None:
            self._expect(answer, expected)
        self._turn = push
        self._release(push)

    def _expected(self, push: int, merged: Merged) -> Outcome | Fault | None:
        """What a push gives that has the turn and all bytes of a fragment that is accepted; `merged` changes too."""
        pushed = self._pushes[push]
        fragment = self._accepted[pushed.fragment] if self._accepted else None
        if fragment is None:
            return None
        header, options = fragment.header, self._program.options
        first, end = options.first_partition, options.first_partition + options.partition_count
        for right, offset in (
            (header.producer == pushed.producer, 24),
            (header.framing == options.framing, 11),
            (first <= header.first_partition and header.end_partition <= end, 56),
            (options.dictionaries or not header.reader_features & 2, 16),
        ):
            if not right:
                return (ErrorCode.MISMATCHED_PAIR, "fragment", offset)
        if merged.attempts.setdefault(header.producer, header.attempt) != header.attempt:
            return Outcome.OTHER_ATTEMPT
        if fragment.schema != options.schema:
            return (ErrorCode.MISMATCHED_PAIR, "fragment", 88)
        return self._appended(fragment, merged)

    def _appended(self, fragment: ReadFragment, merged: Merged) -> Outcome | Fault:
        new = set()
        for block, plain in zip(fragment.blocks, fragment.plain, strict=True):
            key = (block.partition, fragment.header.producer)
            blocks, complete = merged.held.get(key, (0, False))
            if block.number < blocks:
                continue
            if complete:
                return (ErrorCode.INCONSISTENT_INDEX, "fragment", block.offset + 12)
            if block.number > blocks:
                return Outcome.GAP
            merged.held[key] = (blocks + 1, False)
            piece = (block.kind, None if isinstance(plain, FaroError) else plain)
            merged.pieces.setdefault(block.partition, []).append(piece)
            new.add(key)
        for key in new:
            merged.held[key] = (merged.held[key][0], bool(fragment.last))
        return Outcome.MERGED if new else Outcome.DUPLICATE
