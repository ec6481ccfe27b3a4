"""Random histories of merges against a model of a few lines (MRG).

After each, the file has exactly what the model says, each block once, and nothing that was reported is lost.
FARO_HISTORIES says how many are drawn, FARO_SEED which one is the first.
"""

from __future__ import annotations

import copy
import io
import os
import random
from dataclasses import dataclass, field
from pathlib import Path

import faro_format as faro
from faro_format import ErrorCode, FaroError, Follower, Reader, Writer, WriterOptions, check
from faro_format.merge import (
    Expected,
    Merge,
    MergeOptions,
    Outcome,
    Push,
    fragment,
    have,
    missing,
    runs,
    with_originals,
)

PARTITIONS = 3
PRODUCERS = 4
GENERATION = 9


@dataclass
class Pushed:
    """A fragment, and what it has."""

    of: Expected
    data: bytes
    last: bool
    numbers: dict[int, tuple[int, int]]
    """The numbers of each partition's blocks."""


@dataclass
class Model:
    """What the file must have: the attempt of each producer; how many blocks of each partition, and *last*."""

    attempts: dict[int, int] = field(default_factory=dict)
    held: dict[tuple[int, int], tuple[int, bool]] = field(default_factory=dict)

    def push(self, pushed: Pushed) -> Outcome:
        """Return what must come of a whole fragment."""
        producer, attempt = pushed.of
        if self.attempts.get(producer, attempt) != attempt:
            return Outcome.OTHER_ATTEMPT
        fresh = {}
        for partition, (low, high) in pushed.numbers.items():
            count, _ = self.held.get((producer, partition), (0, False))
            if low > count:
                return Outcome.GAP
            if high > count:
                fresh[producer, partition] = (high, pushed.last)
        if not fresh:
            return Outcome.DUPLICATE
        self.attempts[producer] = attempt
        self.held |= fresh
        return Outcome.MERGED

    def has_all(self, other: Model) -> bool:
        """Whether nothing of another is missing."""
        return all(self.held.get(key, (0, False))[0] >= count for key, (count, _) in other.held.items())


class Histories:
    """Outputs of producers, and histories of merging them."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.contents: dict[Expected, list[list[bytes]]] = {}
        rng = random.Random(seed)
        for producer in range(PRODUCERS):
            for attempt in range(2):
                self._write(Expected(producer, attempt), rng)

    def _name(self, of: Expected) -> Path:
        return self.folder / f"map-{of.producer}-{of.attempt}"

    def _write(self, of: Expected, rng: random.Random) -> None:
        options = WriterOptions(
            PARTITIONS, framing="opaque", block_size=16, producer=of.producer, attempt=of.attempt, overwrite=True
        )
        with Writer(self._name(of), options) as writer:
            for number in range(rng.randrange(14)):
                record = f"{of.producer}.{of.attempt}.{number}".encode() + b"-" * rng.randrange(40)
                what = rng.randrange(8)
                if what == 0:
                    writer.broadcast(record)
                elif what == 1:
                    writer.flush()
                else:
                    writer.write(what % PARTITIONS, record)
        with self.open(of) as reader:
            self.contents[of] = [
                [bytes(block.payload) for block in reader.partition(partition)] for partition in range(PARTITIONS)
            ]

    def open(self, of: Expected) -> Reader:
        """Open the output of a producer."""
        return faro.open(self._name(of))

    def pushed(self, rng: random.Random) -> Pushed | None:
        """Return a random fragment; None if there are no such blocks."""
        of = Expected(rng.randrange(PRODUCERS), int(rng.random() < 0.25))
        data, first = io.BytesIO(), rng.randrange(PARTITIONS)
        content = self.contents[of]
        with self.open(of) as reader:
            if rng.random() < 0.5:
                end = rng.randrange(first, PARTITIONS) + 1
                numbers = {partition: (0, len(content[partition])) for partition in range(first, end)}
                summary = fragment(reader, first, end, data)
            else:
                count = len(content[first])
                low = rng.randrange(count + 1)
                high = rng.randrange(low, count + 2)
                numbers = {first: (low, min(high, count))}
                summary = fragment(reader, first, first + 1, data, numbers=(low, high))
        if summary is None:
            return None
        numbers = {partition: bounds for partition, bounds in numbers.items() if bounds[0] < bounds[1]}
        return Pushed(of, data.getvalue(), summary.last, numbers)

    def history(self, seed: int) -> int:
        """Run one; return how many pushes were merged."""
        rng = random.Random(seed)
        name = self.folder / f"merged-{seed}"
        merge = Merge.create(name, options(rng))
        model, safe, merged = Model(), Model(), 0
        for _ in range(rng.randrange(25)):
            what = rng.randrange(20)
            if what == 0:
                merge.flush()
                safe = copy.deepcopy(model)
                assert committed(name) == model, seed
            elif what == 1:
                merge.close()
                if rng.random() < 0.5:
                    tear(name, rng)
                merge = Merge.resume(name, options(rng))
                found = committed(name)
                assert found.has_all(safe), seed
                assert model.has_all(found), seed
                model, safe = found, copy.deepcopy(found)
            else:
                pushed = self.pushed(rng)
                if pushed is not None:
                    merged += attempt(merge, model, pushed, rng, seed) == Outcome.MERGED
        late = begin(merge, 0)
        merge.finalize()
        assert late.write(b"late") == Outcome.LATE
        assert committed(name) == model, seed
        self._verify(name, model, seed)
        for ending in (".data", ".index"):
            os.unlink(f"{name}{ending}")
        return merged

    def _verify(self, name: Path, model: Model, seed: int) -> None:
        """Check that the file reads back as the model says, alone and with originals."""
        check(name)
        expected = [Expected(producer, model.attempts.get(producer, 0)) for producer in range(PRODUCERS)]
        with faro.open(name) as reader:
            for partition in range(PARTITIONS):
                wanted = []
                for _, _, run in runs(reader, partition):
                    content = self.contents[Expected(run.producer, run.attempt)][partition]
                    wanted += content[run.first_block : run.first_block + run.blocks]
                assert [bytes(block.payload) for block in reader.partition(partition)] == wanted, seed
                for producer, _, first in missing(reader, partition, expected):
                    assert model.held.get((producer, partition), (0, False)) == (first, False), seed
                found: dict[int, list[bytes]] = {}
                reading = with_originals(reader, partition, expected, self.open)
                for producer, number, _, block in reading:
                    assert number == len(found.setdefault(producer, [])), seed
                    found[producer].append(bytes(block.payload))
                assert reading.faults == []
                for of in expected:
                    assert found.get(of.producer, []) == self.contents[of][partition], seed


def options(rng: random.Random) -> MergeOptions:
    """Return options with a random size of regions."""
    chunk = rng.choice([1, 60, 200, 2 << 20])
    return MergeOptions(PARTITIONS, framing="opaque", generation=GENERATION, chunk_size=chunk)


def begin(merge: Merge, producer: int) -> Push:
    """Begin a push that is not refused."""
    push = merge.begin(producer, GENERATION)
    assert isinstance(push, Push)
    return push


def push_whole(merge: Merge, producer: int, data: bytes, rng: random.Random) -> Outcome:
    """Push in pieces of random sizes."""
    push, at = begin(merge, producer), 0
    while at < len(data):
        end = rng.randrange(at, len(data)) + 1
        refused = push.write(data[at:end])
        if refused is not None:
            return refused
        at = end
    return push.commit()


def attempt(merge: Merge, model: Model, pushed: Pushed, rng: random.Random, seed: int) -> Outcome | None:
    """Push a fragment, right or damaged or cut, perhaps after another that is given up."""
    data, harm = bytearray(pushed.data), rng.randrange(8)
    if rng.random() < 0.25:
        other = begin(merge, 77)
        assert other.write(data[:40]) is None
        other.abort()
    if harm == 0:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif harm == 1:
        del data[rng.randrange(len(data)) :]
    if harm > 1:
        expected = model.push(pushed)
        assert push_whole(merge, pushed.of.producer, bytes(data), rng) == expected, seed
        return expected
    fault = None
    try:
        found = push_whole(merge, pushed.of.producer, bytes(data), rng)
    except FaroError as error:
        fault = error
    if fault is None:
        # What comes before the damage was refused for another reason.
        assert found in (Outcome.GAP, Outcome.OTHER_ATTEMPT), seed
        return found
    assert fault.role == "fragment", seed
    assert harm == 0 or (fault.code, fault.offset) == (ErrorCode.TRUNCATED, len(data)), seed
    return None


def committed(name: Path) -> Model:
    """Return what the committed regions of a file have."""
    model = Model()
    with Follower(name) as follower:
        follower.poll()
        for partition in range(PARTITIONS):
            for producer, number, blocks, complete in have(follower, partition):
                model.attempts[producer] = number
                model.held[producer, partition] = (blocks, complete)
    return model


def tear(name: Path, rng: random.Random) -> None:
    """Add bytes to the ends of the files, as a writer that was killed may leave them."""
    for ending in (".data", ".index"):
        with open(f"{name}{ending}", "ab") as file:
            file.write((b"\7" if ending == ".data" and rng.random() < 0.5 else b"\0") * rng.randrange(100))


def test_histories_agree_with_a_model(tmp_path: Path) -> None:
    count, first = int(os.environ.get("FARO_HISTORIES", "150")), int(os.environ.get("FARO_SEED", "1"))
    merged = 0
    for start in range(first, first + count, 200):
        histories = Histories(tmp_path, start)
        merged += sum(histories.history(seed) for seed in range(start, min(start + 200, first + count)))
    # So many that the histories are about something.
    assert merged > count
