"""Gives damages of one output to a testee, many at a time."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from faro_conformance.child import Child
from faro_conformance.protocol import Json, Outcome, Protocol, SuiteError, answer_key, normalise

from .damage import Damage
from .judge import Seen, explain, of_check, of_follow, of_read, of_repair, whose
from .outputs import Files, Subject

SLOTS = 64
SUFFIX = {"data": ".data", "index": ".index", "single": ".faro"}
LEVELS = ("structure", "checksums", "decode")
GOOD = {"detected", "unchanged"}
_EXAMPLES = 5
Request = tuple[str, dict[str, Json]]
Answers = list[list[list[Outcome]]]  # by testee, by damage, by request


class Quick(Protocol):
    """The protocol without the schema, as all of the hundreds of thousands of answers are judged here."""

    def _cached_fault(self, key: str, answer: dict[str, Json]) -> str | None:
        return None if "ok" in answer or "error" in answer else "no answer"


class Place:
    """One copy of an output's files, which gets one damage after another."""

    def __init__(self, subject: Subject, folder: Path, number: int) -> None:
        self.subject = subject
        self.name = f"{folder.name}-{number}"
        self.paths = {role: folder / f"x{number}{SUFFIX[role]}" for role in subject.files}
        self._handles = {role: os.open(path, os.O_RDWR | os.O_CREAT) for role, path in self.paths.items()}
        self._dirty = set(self.paths)

    def put(self, damage: Damage) -> None:
        """Writes the damaged files."""
        for role in self._dirty | damage.after.keys():
            data = damage.after.get(role, self.subject.files[role])
            os.pwrite(self._handles[role], data, 0)
            os.ftruncate(self._handles[role], len(data))
        # A repair may have changed any of them.
        self._dirty = set(self.paths) if not self.subject.finished else set(damage.after)

    def content(self) -> Files:
        """The current content of the files."""
        return {role: path.read_bytes() for role, path in self.paths.items()}

    def close(self) -> None:
        """Close and remove the files."""
        for role, handle in self._handles.items():
            os.close(handle)
            self.paths[role].unlink()

    def requests(self, unverified: bool) -> list[Request]:
        """All requests about one damage. The repair comes last: it changes the files."""
        files: dict[str, Json] = {role: str(path) for role, path in self.paths.items()}
        if self.subject.finished:
            asked: list[Request] = [("read", files)] + [("check", {**files, "level": level}) for level in LEVELS]
            return asked + ([("read", {**files, "verify": False})] if unverified else [])
        handle = {"handle": self.name}
        asked = [("follow", {"action": "open", **handle, **files}), ("follow", {"action": "poll", **handle})]
        asked += [("follow", {"action": "read", **handle}), ("follow", {"action": "close", **handle})]
        return [*asked, ("repair", {**files, "mode": "last-commit"}), ("read", files)]


@dataclass
class Tally:
    """The results of one kind of damage to one output."""

    damages: int = 0
    equal: int = 0  # the damaged bytes were the same bytes
    detected: dict[str, Counter[str]] = field(default_factory=dict)  # by way of reading: code
    unchanged: Counter[str] = field(default_factory=Counter)
    explained: dict[str, Counter[str]] = field(default_factory=dict)  # by way of reading: reason
    undetected: Counter[str] = field(default_factory=Counter)  # by way of reading, without a reason
    examples: list[str] = field(default_factory=list)

    def note(self, asked: str, seen: Seen, reason: str | None, text: str) -> None:
        """Count one way of reading of one damage."""
        if seen.verdict == "detected":
            self.detected.setdefault(asked, Counter())[str(seen.code)] += 1
        elif seen.verdict == "unchanged":
            self.unchanged[asked] += 1
        elif reason is not None:
            self.explained.setdefault(asked, Counter())[reason] += 1
        else:
            self.undetected[asked] += 1
            if len(self.examples) < _EXAMPLES:
                self.examples.append(f"{text}: {asked}: {seen.verdict}, {json.dumps(seen.answer)[:300]}")


def judge(damage: Damage, subject: Subject, place: Place, outcomes: list[Outcome]) -> Iterator[tuple[str, Seen]]:
    """The result of each way of reading; *subject* is the output that the files claim to be."""
    if subject.finished:
        yield "read", of_read(outcomes[0], subject)
        for level, outcome in zip(LEVELS, outcomes[1:4], strict=True):
            yield f"check {level}", of_check(outcome)
        if len(outcomes) > 4:
            yield "read without checksums", of_read(outcomes[4], subject)
        return
    yield "follow", of_follow(outcomes[0], outcomes[1], outcomes[2], subject)
    before = {**place.subject.files, **damage.after}
    yield "repair", of_repair(outcomes[4], outcomes[5], before, place.content(), subject)


def note_all(damage: Damage, place: Place, outcomes: list[Outcome], tally: Tally) -> None:
    """Judge a damage, look for reasons, and count."""
    owner = whose(damage, place.subject)
    stranger = owner is not place.subject
    whole = stranger and {**place.subject.files, **damage.after} == owner.files
    for asked, seen in judge(damage, owner, place, outcomes):
        if (stranger and seen.verdict == "unchanged") or (whole and seen.verdict == "passed"):
            seen = Seen("other")
        reason = explain(damage, asked, seen, owner) if seen.verdict not in GOOD else None
        tally.note(asked, seen, reason, f"{place.subject.name}: {damage}")


def ask(child: Child, requests: list[Request]) -> list[Outcome]:
    """All at once."""
    numbers = [child.next_id() for _ in requests]
    lines = [
        b'{"id":%d,"op":"%s",%b\n' % (number, op.encode(), json.dumps(fields).encode()[1:])
        for number, (op, fields) in zip(numbers, requests, strict=True)
    ]
    return child.ask_lines(lines, numbers, [answer_key(op, fields.get("action")) for op, fields in requests])


def measure(
    subject: Subject, damages: Iterable[Damage], children: list[Child], folder: Path, tallies: dict[str, Tally],
    differ: list[str], unverified: bool = False,
) -> None:  # fmt: skip
    """Give the damages to the first of *children* and judge its answers. The others must answer the same."""
    folder.mkdir(exist_ok=True)
    places = [Place(subject, folder, number) for number in range(SLOTS)]
    source = iter(damages)
    try:
        for child in children:
            _whole(subject, places[0], child, unverified)
        while batch := list(islice(source, SLOTS)):
            answers: Answers = []
            work = []
            for damage in batch:
                tally = tallies.setdefault(damage.kind, Tally())
                tally.damages += 1
                if all(subject.files[role] == after for role, after in damage.after.items()):
                    tally.equal += 1
                else:
                    work.append(damage)
            for child in children:
                for place, damage in zip(places, work, strict=False):
                    place.put(damage)
                each = [place.requests(unverified) for place in places[: len(work)]]
                said = iter(ask(child, [request for requests in each for request in requests]))
                answers.append([list(islice(said, len(requests))) for requests in each])
                if child is children[0]:
                    for place, damage, outcomes in zip(places, work, answers[0], strict=False):
                        note_all(damage, place, outcomes, tallies[damage.kind])
            if len(children) > 1:
                _compare(subject, work, children, answers, differ)
    finally:
        for place in places:
            place.close()


def _whole(subject: Subject, place: Place, child: Child, unverified: bool) -> None:
    """Make sure that the undamaged files are accepted; otherwise all damage would be detected."""
    for owner in (subject, subject.twin):
        none = Damage("none", "none", dict(owner.files))
        place.put(none)
        for asked, seen in judge(none, owner, place, ask(child, place.requests(unverified))):
            if seen.verdict not in ("unchanged", "passed"):
                raise SuiteError(f"{child.testee.name}: {asked} of {subject.name} undamaged: {seen}")


def _compare(subject: Subject, work: list[Damage], children: list[Child], answers: Answers, differ: list[str]) -> None:
    for number, damage in enumerate(work):
        opened = answers[0][number][0].kind == "ok"
        for place in range(len(answers[0][number])):
            if not subject.finished and not opened and 0 < place < 4:
                # The protocol does not define the answers about a follower that could not be opened.
                continue
            said: dict[str, list[str]] = {}
            for child, by_damage in zip(children, answers, strict=True):
                outcome = by_damage[number][place]
                said.setdefault(normalise({outcome.kind: outcome.value}), []).append(child.testee.name)
            if len(said) > 1:
                groups = "; ".join(f"{' and '.join(names)} {answer[:200]}" for answer, names in said.items())
                differ.append(f"{subject.name}: {damage}: request {place}: {groups}")
