"""Every system call of a merge fails, once or from then on, or is the last one before a SIGKILL (MRG-8 to MRG-10).

A service pushes each fragment twice. So after a fault that passes, all of it must be in the file, once. What a merge
left that did not end must be resumed by every testee in the same way, and nothing that was flushed may be lost.
"""

from __future__ import annotations

import errno
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from faro_conformance.protocol import Outcome
from faults.control import ANY, HALF, Fault
from faults.crew import Crew, Json, Member
from faults.findings import Findings
from faults.reference import HEADER

_PARTITIONS = 3
_PRODUCERS = range(4)
_GENERATION = "6"
_EXPECTED = [{"producer": str(producer), "attempt": "0"} for producer in _PRODUCERS]
_FINALIZES = 3
_SUCCESS = ("merged", "duplicate")


@dataclass(frozen=True)
class Trial:
    """A fault. `same`: it must have no effect; `passes`: later calls succeed; `lasts`: they fail too; `killed`."""

    fault: Fault
    name: str
    outcome: str


@dataclass
class Shuffle:
    """What is pushed: the producers' outputs and their fragments."""

    originals: dict[str, Json]
    fragments: list[str]
    producers: list[int]
    """Whose each fragment is."""
    longest: int
    """The bytes of the longest record."""
    contents: dict[int, Any] = field(default_factory=dict)
    """What each partition reads from the merged file of an undisturbed merge."""


def make_shuffle(member: Member, folder: Path, longest: int) -> Shuffle:
    """Outputs with some blocks for each partition; a fragment of all partitions, or of each."""
    shuffle = Shuffle({}, [], [], longest)
    for producer in _PRODUCERS:
        name = folder / f"map-{producer}"
        many = {
            "call": "many",
            "count": 30,
            "seed": producer + 1,
            "partitions": [0, _PARTITIONS],
            "length": [shuffle.longest // 2, shuffle.longest],
            "content": "random",
        }
        options = {
            "partition_count": _PARTITIONS,
            "block_size": 2 * shuffle.longest,
            "producer": str(producer),
            "file_id": f"{producer:032x}",
        }
        written = member.ask("write", {"path": str(name), "options": options, "calls": [many, {"call": "finish"}]})
        assert written.kind == "ok", written.detail
        files = {role: f"{name}.{role}" for role in ("data", "index")}
        shuffle.originals[str(producer)] = files
        ranges = [[0, _PARTITIONS]] if producer % 2 else [[partition, 1] for partition in range(_PARTITIONS)]
        for number, partitions in enumerate(ranges):
            fragment = folder / f"fragment-{producer}-{number}"
            made = member.ask("fragment", {**files, "partitions": partitions, "path": str(fragment)})
            assert made.kind == "ok", made.detail
            shuffle.fragments.append(str(fragment))
            shuffle.producers.append(producer)
    return shuffle


def options_of(durability: str) -> Json:
    """Small regions: each has one push or two."""
    return {
        "partition_count": _PARTITIONS, "generation": _GENERATION, "chunk_size": 1200, "durability": durability,
        "file_id": "0badcafe112233445566778899aabbcc",
    }  # fmt: skip


def steps_of(shuffle: Shuffle, times: int) -> list[Json]:
    """Each fragment is pushed that many times, after a push that is given up. Half-way everything is flushed."""
    steps: list[Json] = []
    for number, producer in enumerate(shuffle.producers):
        push = f"{number} given up"
        steps += [
            {"call": "begin", "push": push, "producer": str(producer), "generation": _GENERATION},
            {"call": "write", "push": push, "fragment": number, "from": 0, "to": shuffle.longest // 2},
            {"call": "abort", "push": push},
        ]
        for attempt in range(times):
            push = f"{number}.{attempt}"
            steps += [
                {"call": "begin", "push": push, "producer": str(producer), "generation": _GENERATION},
                {"call": "write", "push": push, "fragment": number, "from": 0, "to": 100},
                {"call": "write", "push": push, "fragment": number, "from": 100},
                {"call": "commit", "push": push},
            ]
        if number == len(shuffle.producers) // 2:
            steps.append({"call": "flush"})
    return steps + [{"call": "finalize"}] * _FINALIZES


def trials(counts: dict[str, int]) -> Iterator[Trial]:
    """All trials for a merge with this many calls of each kind."""
    for kind in ("open", "write", "sync", "cut", "seek", "size"):
        for number in range(counts[kind]):
            for code, name in ((errno.EIO, "EIO"), (errno.ENOSPC, "ENOSPC")):
                fault = Fault("errno", kind, number, error=code)
                yield Trial(fault, f"{kind} {name}", "passes")
                yield Trial(replace(fault, period=1), f"{kind} {name} from then on", "lasts")
            if kind in ("open", "write", "sync", "cut"):
                yield Trial(Fault("errno", kind, number, error=errno.EINTR), f"{kind} EINTR", "same")
    for number in range(counts["write"]):
        for amount, name in ((1, "1 byte"), (HALF, "half")):
            yield Trial(Fault("short", "write", number, amount=amount), f"write {name}", "same")
        fault = Fault("short-then-errno", "write", number, error=errno.ENOSPC, amount=HALF)
        yield Trial(fault, "write half, then ENOSPC", "lasts")
        yield Trial(Fault("kill-short", "write", number, amount=HALF), "killed in a write", "killed")
    for number in range(counts[ANY]):
        yield Trial(Fault("kill-before", ANY, number), "killed before a call", "killed")


class MergingSweep:
    """The sweep of one testee."""

    def __init__(self, crew: Crew, member: Member, findings: Findings) -> None:
        self.crew = crew
        self.member = member
        self.findings = findings

    def run(self, rng: random.Random, share: float) -> None:
        """Sweep a random share of the trials."""
        # Long records, so that a push is written before it is committed.
        for durability, longest in (("none", 90), ("commit", 90), ("none", 90_000)):
            folder = self.crew.root / f"merging-{self.member.name}-{durability}-{longest}"
            folder.mkdir()
            shuffle = make_shuffle(self.crew.members[0], folder, longest)
            counts, files = self._undisturbed(shuffle, durability)
            plan = [trial for trial in trials(counts) if share >= 1 or rng.random() < share]
            for trial in plan:
                self._try(shuffle, durability, trial, files)
                shutil.rmtree(self.crew.folder)
                self.crew.folder.mkdir()

    def _request(self, folder: Path, shuffle: Shuffle, durability: str, mode: str = "create", times: int = 2) -> Json:
        return {
            "path": str(folder / "merged"), "mode": mode, "options": options_of(durability),
            "fragments": shuffle.fragments, "steps": steps_of(shuffle, times),
        }  # fmt: skip

    def _undisturbed(self, shuffle: Shuffle, durability: str) -> tuple[dict[str, int], dict[str, bytes]]:
        """The calls of an undisturbed merge, and its files. The shim must have seen the calls."""
        folder = self.crew.new_folder()
        outcome = self.member.ask("merge", self._request(folder, shuffle, durability), Fault())
        counts = self.member.control.counts
        what = f"{self.member.name} merging, durability {durability}, {shuffle.longest}"
        answers = self._answers(outcome, what)
        commits = [answer.get("outcome") for answer in answers if answer.get("outcome") in _SUCCESS]
        self.findings.expect(commits == list(_SUCCESS) * len(shuffle.fragments), f"{what}: {commits}")
        for kind in ("open", "write", *(["sync"] if durability == "commit" else [])):
            self.findings.expect(counts[kind] > 0, f"{what}: the shim saw no {kind}: it is not under the testee")
        for partition in range(_PARTITIONS):
            shuffle.contents[partition] = self._read(self.crew.members[0], folder, shuffle, partition).value
        self._complete(folder, shuffle, what)
        return counts, read_pair(folder)

    def _answers(self, outcome: Outcome, what: str) -> list[Json]:
        if not self.findings.expect(outcome.kind == "ok", f"{what}: {outcome.detail}"):
            return []
        answers: list[Json] = outcome.value["steps"]
        return answers

    def _try(self, shuffle: Shuffle, durability: str, trial: Trial, files: dict[str, bytes]) -> None:
        if self.member.pid is None:
            self.member.start()
        folder = self.crew.new_folder()
        outcome = self.member.ask("merge", self._request(folder, shuffle, durability), trial.fault)
        what = f"{self.member.name} merging, durability {durability}, {shuffle.longest}: {trial.fault}"
        if not self.findings.expect(self.member.control.fired > 0, f"{what}: no call was struck"):
            return
        if trial.outcome == "killed":
            killed = outcome.kind == "crash" and "SIGKILL" in str(outcome.value)
            self.findings.expect(killed, f"{what}: {outcome.detail}")
            result = self._resumed(folder, shuffle, durability, set(), what)
        elif outcome.kind == "error":
            self.findings.expect(trial.outcome != "same", f"{what}: {outcome.detail}")
            self.findings.expect(outcome.value["code"] == "io", f"{what}: {outcome.detail}")
            # It may not be possible to remove what was made.
            self.findings.expect(trial.outcome == "lasts" or not read_pair(folder), f"{what}: files are left")
            result = "io when made"
        else:
            result = self._ended(folder, shuffle, durability, trial, self._answers(outcome, what), what)
            if trial.outcome == "same":
                self.findings.expect(read_pair(folder) == files, f"{what}: files differ")
        self.findings.count(self.member.name, f"merging: {trial.name}", result)

    def _ended(
        self, folder: Path, shuffle: Shuffle, durability: str, trial: Trial, answers: list[Json], what: str
    ) -> str:
        """All steps were answered: each with a success, with `io`, or with what follows from that."""
        codes = [answer["error"]["code"] for answer in answers if "error" in answer]
        strange = [
            answer for answer in answers if "outcome" in answer and answer["outcome"] in ("gap", "late", "stale")
        ]
        finished = any(answer.get("outcome") == "finalized" for answer in answers)
        # After a push that failed its next call is refused, and so are the calls after `finalize`.
        self.findings.expect(set(codes) <= {"io", "invalid-argument"}, f"{what}: {codes}")
        self.findings.expect(not strange, f"{what}: {strange}")
        if trial.outcome == "same":
            self.findings.expect("io" not in codes, f"{what}: {codes}")
        if trial.outcome != "lasts":
            self.findings.expect(finished, f"{what}: it did not finish after a fault that passed")
        if finished and trial.outcome != "lasts":
            self._complete(folder, shuffle, what)
            return "io, and all is there" if "io" in codes else "as if nothing were"
        return self._resumed(folder, shuffle, durability, flushed(steps_of(shuffle, 2), answers), what)

    def _resumed(self, folder: Path, shuffle: Shuffle, durability: str, safe: set[int], what: str) -> str:
        """Every testee goes on with a copy: all in the same way, to the same bytes, and nothing flushed is lost."""
        first: tuple[str, dict[str, bytes]] | None = None
        result = "fault"
        for member in self.crew:
            copy = self.crew.new_folder()
            for name, raw in read_pair(folder).items():
                (copy / name).write_bytes(raw)
            where = f"{what}: {member.name} resumes"
            outcome = member.ask("merge", self._request(copy, shuffle, durability, "resume", times=1))
            text = str(outcome) if outcome.kind != "ok" else " ".join(map(_word, outcome.value["steps"]))
            first = first or (text, read_pair(copy))
            self.findings.expect(text == first[0], f"{where}: {text[:300]}, the first {first[0][:300]}")
            self.findings.expect(read_pair(copy) == first[1], f"{where}: to other bytes than the first")
            if outcome.kind == "ok":
                answers = [answer for answer in outcome.value["steps"] if answer.get("outcome") in _SUCCESS]
                lost = [at for at in safe if answers[at]["outcome"] != "duplicate"]
                self.findings.expect(not lost, f"{where}: pushes {lost} were flushed, and are lost")
                self._complete(copy, shuffle, where)
                known = sum(answer["outcome"] == "duplicate" for answer in answers)
                result = "resumed with some" if known else "resumed with none"
            elif outcome.kind == "error" and outcome.value["code"] == "invalid-argument":
                # It was finished: what it has must be right.
                self._right(member, copy, shuffle, where)
                result = "finished"
            else:
                # Only before the index has more than its header there is nothing to go on with.
                index = read_pair(folder).get("merged.index", b"")
                self.findings.expect(len(index) <= HEADER, f"{where}: {outcome.detail}, and it had begun")
                result = "not begun"
        return result

    def _complete(self, folder: Path, shuffle: Shuffle, what: str) -> None:
        """Every testee finds all blocks of all producers in the file, each once."""
        files = pair(folder)
        for member in self.crew:
            checked = member.ask("check", {**files, "level": "decode"})
            self.findings.expect(checked.kind == "ok", f"{what}: {member.name} checks: {checked.detail}")
            answer = member.ask("provenance", {**files, "partitions": list(range(_PARTITIONS)), "expected": _EXPECTED})
            missing = answer.kind != "ok" or any(one["missing"] for one in answer.value["partitions"].values())
            self.findings.expect(not missing, f"{what}: {member.name} finds that something is missing: {answer.detail}")
            self._right(member, folder, shuffle, what, whole=True)

    def _right(self, member: Member, folder: Path, shuffle: Shuffle, what: str, *, whole: bool = False) -> None:
        """With originals each partition reads what an undisturbed merge has, whatever is in the file."""
        for partition in range(_PARTITIONS):
            read = self._read(member, folder, shuffle, partition)
            wanted = shuffle.contents[partition]
            same = read.kind == "ok" and (read.value == wanted if whole else read.value["blocks"] == wanted["blocks"])
            found = f"{what}: {member.name} reads partition {partition}: {read.detail[:300]}, not {wanted}"
            self.findings.expect(same and not read.value["faults"], found)

    @staticmethod
    def _read(member: Member, folder: Path, shuffle: Shuffle, partition: int) -> Outcome:
        request = {"partition": partition, "expected": _EXPECTED, "originals": shuffle.originals}
        return member.ask("read_merged", {**pair(folder), **request})


def _word(answer: Json) -> str:
    return str(answer["outcome"] if "outcome" in answer else answer["error"]["code"])


def pair(folder: Path) -> dict[str, str]:
    """The names of the merged file."""
    return {role: str(folder / f"merged.{role}") for role in ("data", "index")}


def read_pair(folder: Path) -> dict[str, bytes]:
    """The files of the merge that are there, by name."""
    return {Path(name).name: Path(name).read_bytes() for name in pair(folder).values() if Path(name).exists()}


def flushed(steps: list[Json], answers: list[Json]) -> set[int]:
    """The fragments that were merged before the last `flush` or `finalize` that succeeded."""
    safe: set[int] = set()
    merged: set[int] = set()
    for step, answer in zip(steps, answers, strict=False):
        outcome = answer.get("outcome")
        if step["call"] == "commit" and outcome in _SUCCESS:
            merged.add(int(step["push"].split(".")[0]))
        if step["call"] in ("flush", "finalize") and "outcome" in answer:
            safe = set(merged)
    return safe
