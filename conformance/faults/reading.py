"""Every read fails once; and the file shrinks or changes at every read."""

from __future__ import annotations

import errno
import itertools
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faro_conformance.protocol import Outcome, errors_in, normalise
from faults import scripts
from faults.control import HALF, Fault
from faults.crew import Crew, Json, Member
from faults.findings import Findings
from faults.reference import HEADER, Reference, content, expected, make_reference, metadata_of
from faults.scripts import Script, output_names

_HANDLES = itertools.count()
_IO = {"io"}
# A file that is shorter when it is opened, or becomes shorter later.
_SHRUNK = {"io", "truncated", "unfinished"}
_CHANGED = {
    "checksum", "inconsistent-index", "limit-exceeded", "malformed-block", "malformed-header", "malformed-message",
    "mismatched-pair", "not-faro", "truncated", "unfinished", "unsupported-codec", "unsupported-feature",
    "unsupported-version",
}  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """A fault, and the codes that may be reported; without codes, the answer must not change."""

    fault: Fault
    name: str
    codes: frozenset[str]
    # Whether an error must be reported.
    must: bool = False


def variants() -> list[Script]:
    """The outputs that are read."""
    small = scripts.small()
    return [
        small.variant(layout="paired"),
        small.variant(layout="single"),
        small.variant(layout="paired", codec="lz4"),
        small.variant(layout="single", codec="zstd"),
        scripts.arrow().variant(layout="single"),
        scripts.large().variant(layout="paired"),
    ]


def ways(names: dict[str, str], count: int) -> dict[str, list[tuple[str, Json]]]:
    """The ways to read an output, each one or more requests."""
    handle = f"reading-{next(_HANDLES)}"
    return {
        "read": [("read", {**names, "partitions": list(range(count))})],
        "range": [("read", {**names, "range": [1, count]})],
        "check": [("check", {**names, "level": "decode"})],
        "follow": [
            ("follow", {"action": "open", "handle": handle, **names}),
            ("follow", {"action": "poll", "handle": handle}),
            ("follow", {"action": "read", "handle": handle, "partitions": list(range(count))}),
            ("follow", {"action": "close", "handle": handle}),
        ],
    }


def trials(counts: dict[str, int], reference: Reference, rng: random.Random) -> Iterator[Trial]:
    """The trials for a run with this many reads."""
    nothing: frozenset[str] = frozenset()
    for number in range(counts["read"]):
        yield Trial(Fault("errno", "read", number, error=errno.EIO), "read EIO", frozenset(_IO), must=True)
        yield Trial(Fault("errno", "read", number, error=errno.EINTR), "read EINTR", nothing)
        yield Trial(Fault("short", "read", number, amount=1), "read 1 byte", nothing)
        yield Trial(Fault("short", "read", number, amount=HALF), "read half", nothing)
        for size in _sizes(reference, rng):
            yield Trial(Fault("shrink", "read", number, amount=size), "the file shrinks", frozenset(_SHRUNK))
        for offset in _offsets(reference, rng):
            yield Trial(Fault("change", "read", number, amount=offset), "a byte changes", frozenset(_CHANGED))
    for kind in ("open", "size", "seek"):
        for number in range(counts[kind]):
            fault = Fault("errno", kind, number, error=errno.EACCES if kind == "open" else errno.EIO)
            yield Trial(fault, f"{kind} refused", frozenset(_IO), must=kind == "open")
    yield Trial(Fault("short", "read", 0, 1, amount=100), "every read 100 bytes", nothing)
    yield Trial(Fault("errno", "read", 0, 2, error=errno.EINTR), "every other read EINTR", nothing)


def _sizes(reference: Reference, rng: random.Random) -> list[int]:
    sizes = [0, 40, HEADER, HEADER + 30]
    for raw in reference.files.values():
        sizes += [len(raw) - 1, len(raw) - 24, rng.randrange(HEADER, len(raw))]
    return sizes


def _offsets(reference: Reference, rng: random.Random) -> list[int]:
    """Changes of bytes in headers, sizes, payloads, and the tail."""
    offsets = [12, HEADER, HEADER + 12, HEADER + 26]
    for raw in reference.files.values():
        offsets += [len(raw) - 4, len(raw) - 12, rng.randrange(HEADER, len(raw))]
    last = metadata_of(reference.log)[-2]
    return [*offsets, last.begin + 16, last.begin + 40, reference.footer.begin + 4]


class ReadingSweep:
    """The sweep of one testee."""

    def __init__(self, crew: Crew, member: Member, findings: Findings) -> None:
        self.crew = crew
        self.member = member
        self.findings = findings

    def run(self, rng: random.Random, share: float) -> None:
        """Sweep, with a random share of the trials."""
        for script in variants():
            reference = make_reference(self.member, self.crew, script)
            for count in range(len(reference.message_ends) + 1):
                expected(reference, self.crew, count)
            for way in ways({}, 0):
                self._sweep(reference, way, rng, share)
                shutil.rmtree(self.crew.folder)
                self.crew.folder.mkdir()

    def _sweep(self, reference: Reference, way: str, rng: random.Random, share: float) -> None:
        names = output_names(str(self.crew.new_folder()), reference.script)
        what = f"{self.member.name} {reference.script.name} {way}"
        clean = self._ask(reference, names, way, Fault())
        counts = self.member.control.counts
        for kind in ("open", "read", "size"):
            self.findings.expect(counts[kind] > 0, f"{what}: the shim saw no {kind}")
        if not self.findings.expect(all(outcome.kind == "ok" for outcome in clean), f"{what}: {clean}"):
            return
        for trial in trials(counts, reference, rng):
            if rng.random() < share:
                found = self._ask(reference, names, way, trial.fault)
                fired = self.member.control.fired
                self.findings.expect(fired > 0, f"{what}: {trial.fault}: no call was struck")
                result = self._judge(reference, clean, found, trial, f"{what}: {trial.fault}")
                self.findings.count(self.member.name, trial.name, result)

    def _ask(self, reference: Reference, names: dict[str, str], way: str, fault: Fault) -> list[Outcome]:
        """The answers, up to an error. The files are written again first."""
        for role, name in names.items():
            Path(name).write_bytes(reference.files[role])
        outcomes: list[Outcome] = []
        control = self.member.control
        control.arm(fault)
        try:
            for op, fields in ways(names, int(reference.script.options["partition_count"]))[way]:
                outcomes.append(self.member.child.ask(op, fields))
                if outcomes[-1].kind != "ok" and fields.get("action") == "open":
                    break
        finally:
            control.disarm()
        return outcomes

    def _judge(self, reference: Reference, clean: list[Outcome], found: list[Outcome], trial: Trial, what: str) -> str:
        errors: list[Json] = []
        for before, now in zip(clean, found, strict=False):
            if now.kind == "ok":
                errors += errors_in({"ok": now.value})
                wanted = before.value
                if trial.codes and "regions" in now.value and now.value["regions"] < wanted["regions"]:
                    wanted = self._fewer(reference, wanted, now.value)
                fault = _difference(wanted, now.value)
                self.findings.expect(fault is None, f"{what}: {fault}")
            elif self.findings.expect(now.kind == "error", f"{what}: {now.detail}"):
                errors.append(now.value)
        codes = sorted({error["code"] for error in errors})
        wrong = [code for code in codes if code not in trial.codes]
        self.findings.expect(not wrong, f"{what}: {[error for error in errors if error['code'] in wrong]}")
        if trial.must:
            path = self.member.control.fired_path
            role = next(role for role, name in output_names("", reference.script).items() if path.endswith(name[1:]))
            right = any(error["file"] == role for error in errors)
            self.findings.expect(right, f"{what}: no error names the {role} file: {errors}")
        return " and ".join(codes) if codes else "as if nothing were"

    def _fewer(self, reference: Reference, clean: Json, now: Json) -> Json:
        """What a follower may see of a file that was cut: the regions before the cut."""
        if "finished" in clean:
            return {"regions": now["regions"], "finished": False}
        known = expected(reference, self.crew, now["regions"])
        empty: Json = {"properties": {}, "created_by": None, "statistics": False}
        partitions = {
            number: known["partitions"].get(number, _emptied(part)) for number, part in clean["partitions"].items()
        }
        return {**content(clean), **empty, "regions": now["regions"], "partitions": partitions}


def _emptied(part: Json) -> Json:
    """The answer of a partition without blocks."""
    nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    records = None if part.get("records") is None else 0
    return {"blocks": 0, "kinds": {}, "plain_bytes": 0, "records": records, "stored_bytes": 0, "sha256": nothing}


def _difference(wanted: Any, found: Any) -> str | None:
    """Where an answer is neither the undisturbed one nor an error; None if nowhere."""
    for name in ("partitions", "range"):
        if name in wanted and name in found:
            both = {"": (wanted[name], found[name])}
            if name == "partitions":
                if wanted[name].keys() != found[name].keys():
                    return f"partitions {list(found[name])}"
                both = {number: (part, found[name][number]) for number, part in wanted[name].items()}
            for number, (before, now) in both.items():
                if "error" not in now and before != now:
                    return f"{name} {number}: wrong content is delivered as right: {now}, it was {before}"
    rest = [{k: v for k, v in answer.items() if k not in ("partitions", "range")} for answer in (wanted, found)]
    if "finished" in rest[0] and not rest[1].get("finished"):
        # A follower for which the end of the file is not there (any more).
        rest[0]["finished"] = False
    if rest[1].get("statistics") is False and "header" in rest[1]:
        rest[0].update(properties={}, created_by=None, statistics=False)
    same = normalise(rest[0]) == normalise(rest[1])
    return None if same else f"{rest[1]}, it was {rest[0]}"
