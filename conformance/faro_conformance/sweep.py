"""Every change of one byte, and every truncation, of a small output: each is refused, and all testees agree.

The mutated files are in a memory file system if there is one. A change is one byte, written into one of several
copies (slots) and restored after all testees have answered. The requests of a whole batch of slots are under way at
once, so a mutation costs the runner some microseconds.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from faro_conformance.child import Child
from faro_conformance.protocol import Outcome, SuiteError, errors_in, normalise

OPERATIONS = ("check", "read")
SLOTS = 256
_EXAMPLES = 20


@dataclass(frozen=True)
class Mutation:
    """One change of one file: a byte set to a value, or the file's length set."""

    role: str
    offset: int
    # None: the file is cut (or grown with zero bytes) to `offset` bytes.
    value: int | None

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.role} with {self.offset} bytes"
        return f"{self.role} byte {self.offset} = {self.value:02x}"


@dataclass
class SweepReport:
    """The result of a sweep of one output."""

    name: str
    mutations: int = 0
    requests: int = 0
    seconds: float = 0.0
    # By the kind of fault: how often it occurred. And the first of them in words.
    faults: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    codes: Counter[str] = field(default_factory=Counter)

    def fault(self, kind: str, text: str) -> None:
        """Record a fault."""
        self.faults[kind] += 1
        # Some of each kind, so that a fault that occurs everywhere does not hide another.
        if self.faults[kind] <= _EXAMPLES:
            self.examples.append(f"{kind}: {text}")


def mutations(files: dict[str, Path], values: int | None, seed: int) -> Iterator[Mutation]:
    """All truncations, some growth, and all (or `values` seeded) other values of each byte."""
    generator = random.Random(seed)
    for role, path in files.items():
        data = path.read_bytes()
        for length in [*range(len(data)), len(data) + 1, len(data) + 8, len(data) + 24]:
            yield Mutation(role, length, None)
        for offset, byte in enumerate(data):
            others = [value for value in range(256) if value != byte]
            for value in others if values is None else sorted(generator.sample(others, values)):
                yield Mutation(role, offset, value)


class Slot:
    """One copy of the files, to be changed and restored."""

    def __init__(self, files: dict[str, Path], folder: Path) -> None:
        folder.mkdir(parents=True)
        self.paths = {role: folder / path.name for role, path in files.items()}
        self._whole = {role: path.read_bytes() for role, path in files.items()}
        self._handles: dict[str, int] = {}
        for role, path in files.items():
            shutil.copyfile(path, self.paths[role])
            self._handles[role] = os.open(self.paths[role], os.O_RDWR)

    def apply(self, mutation: Mutation) -> None:
        """Change the copy."""
        if mutation.value is None:
            os.ftruncate(self._handles[mutation.role], mutation.offset)
        else:
            os.pwrite(self._handles[mutation.role], bytes([mutation.value]), mutation.offset)

    def restore(self, mutation: Mutation) -> None:
        """Restore the byte or the size."""
        handle, whole = self._handles[mutation.role], self._whole[mutation.role]
        if mutation.value is None:
            os.pwrite(handle, whole, 0)
            os.ftruncate(handle, len(whole))
        else:
            os.pwrite(handle, whole[mutation.offset : mutation.offset + 1], mutation.offset)

    def close(self) -> None:
        """Close the files."""
        for handle in self._handles.values():
            os.close(handle)

    def request(self, operation: str) -> bytes:
        """The request on this copy, without the id at its beginning."""
        fields: dict[str, str] = {role: str(path) for role, path in self.paths.items()}
        if operation == "check":
            fields["level"] = "decode"
        return b'"op":"%s",' % operation.encode() + json.dumps(fields)[1:].encode() + b"\n"


def sweep(
    name: str,
    files: dict[str, Path],
    children: list[Child],
    values: int | None,
    seed: int,
    progress: Callable[[int], None] = lambda _: None,
) -> SweepReport:
    """Sweep one output."""
    report = SweepReport(name)
    begin = time.monotonic()
    base = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="faro-sweep-", dir=base if base.is_dir() else None) as temporary:
        slots = [Slot(files, Path(temporary) / str(number)) for number in range(SLOTS)]
        try:
            _check_whole(slots[0], children)
            requests = [[slot.request(operation) for operation in OPERATIONS] for slot in slots]
            batch: list[Mutation] = []
            with concurrent.futures.ThreadPoolExecutor(len(children)) as executor:
                for mutation in mutations(files, values, seed):
                    batch.append(mutation)
                    if len(batch) == len(slots):
                        _run_batch(batch, slots, requests, children, executor, report)
                        progress(report.mutations)
                        batch = []
                if batch:
                    _run_batch(batch, slots, requests, children, executor, report)
        finally:
            for slot in slots:
                slot.close()
    report.seconds = time.monotonic() - begin
    return report


def _check_whole(slot: Slot, children: list[Child]) -> None:
    """Make sure that the testees accept the files before they are changed, or the sweep would find nothing."""
    for child in children:
        outcomes = child.ask_all(
            [
                ("check", {**{role: str(path) for role, path in slot.paths.items()}, "level": "decode"}),
                ("read", {role: str(path) for role, path in slot.paths.items()}),
            ]
        )
        for outcome in outcomes:
            if outcome.kind != "ok" or _faults(outcome):
                raise SuiteError(f"{child.testee.name} does not accept what is to be swept: {outcome.detail}")


def _run_batch(
    batch: list[Mutation],
    slots: list[Slot],
    requests: list[list[bytes]],
    children: list[Child],
    executor: concurrent.futures.Executor,
    report: SweepReport,
) -> None:
    for slot, mutation in zip(slots, batch, strict=False):
        slot.apply(mutation)

    def ask(child: Child) -> list[Outcome]:
        lines, numbers, keys = [], [], []
        for number in range(len(batch)):
            for operation, line in zip(OPERATIONS, requests[number], strict=True):
                numbers.append(child.next_id())
                lines.append(b'{"id":%d,%b' % (numbers[-1], line))
                keys.append(f"answer_{operation}")
        return child.ask_lines(lines, numbers, keys)

    answers = list(executor.map(ask, children))
    for slot, mutation in zip(slots, batch, strict=False):
        slot.restore(mutation)
    report.mutations += len(batch)
    report.requests += len(batch) * len(OPERATIONS) * len(children)
    for number, mutation in enumerate(batch):
        for place, operation in enumerate(OPERATIONS):
            index = number * len(OPERATIONS) + place
            _judge(
                mutation, operation, {c.testee.name: a[index] for c, a in zip(children, answers, strict=True)}, report
            )


def _faults(outcome: Outcome) -> bool:
    return next(errors_in({outcome.kind: outcome.value}), None) is not None


def _judge(mutation: Mutation, operation: str, outcomes: dict[str, Outcome], report: SweepReport) -> None:
    said: dict[str, list[str]] = {}
    for name, outcome in outcomes.items():
        if outcome.kind in ("crash", "timeout", "garbage", "unsupported"):
            report.fault(outcome.kind, f"{name}: {operation}: {mutation}: {outcome.detail}")
        elif not _faults(outcome):
            report.fault("accepted", f"{name}: {operation}: {mutation}")
        said.setdefault(normalise({outcome.kind: outcome.value}), []).append(name)
        if operation == "check":
            report.codes[outcome.value["code"] if outcome.kind == "error" else outcome.kind] += 1
    if len(said) > 1:
        groups = "; ".join(f"{' and '.join(names)} {answer[:300]}" for answer, names in said.items())
        report.fault("disagreement", f"{operation}: {mutation}: {groups}")
