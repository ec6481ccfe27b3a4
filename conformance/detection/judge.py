"""Judges an answer about damaged files, and finds the reason why damage was not detected.

It uses no implementation: the contents are those of the generator, and every reason is looked for in the damaged
bytes. A reason that these bytes do not confirm does not count.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from faro_conformance.protocol import Json, Outcome, SuiteError
from generate.output import Answer
from generate.raw import pad8

from .damage import Damage
from .outputs import Files, Subject

LIMIT = 64 << 20  # of all sizes, LIM-1
CONTENT = ("header", "properties", "created_by", "statistics")


@dataclass(frozen=True)
class Seen:
    """The result of one way of reading damaged files.

    `verdict`: "detected" with an error's `code`; "unchanged": all as before the damage; "lost": the first `regions`
    regions as they were, and no others, without an error; "different": wrong content delivered
    without an error; "passed": `check` found nothing.
    """

    verdict: str
    code: str | None = None
    regions: int | None = None
    answer: Json = None


def contents(answer: Json, truth: Answer) -> Seen:
    """A `read` answer, compared with what was written."""
    code = None
    parts = answer["partitions"]
    for number in truth["partitions"].keys() | parts.keys():
        part = parts.get(number)
        if part is not None and "error" in part:
            code = code or part["error"]["code"]
        elif part != truth["partitions"].get(number):
            return Seen("different", answer=answer)
    if code is not None:
        # The delivered content is right, and every missing part was reported.
        return Seen("detected", code)
    same = all(answer[name] == truth[name] for name in (*CONTENT, "regions"))
    same = same and answer.get("streams") == truth.get("streams")
    return Seen("unchanged") if same else Seen("different", answer=answer)


def _error(outcome: Outcome) -> Seen | None:
    if outcome.kind == "error":
        return Seen("detected", outcome.value["code"])
    if outcome.kind != "ok":
        raise SuiteError(f"a testee failed: {outcome.detail}")
    return None


def of_read(outcome: Outcome, subject: Subject) -> Seen:
    """`read` of a finished file."""
    return _error(outcome) or contents(outcome.value, subject.reads)


def of_check(outcome: Outcome) -> Seen:
    """`check` of a finished file whose bytes changed."""
    return _error(outcome) or Seen("passed")


def of_follow(opened: Outcome, polled: Outcome, read: Outcome, subject: Subject) -> Seen:
    """A follower that opens, polls once and reads all committed regions."""
    failed = _error(opened)
    if failed:
        return failed
    failed = _error(polled)
    held = _error(read) or _prefix(read.value, subject, subject.seen)
    if held.verdict == "different":
        return held
    if failed:
        return failed
    if polled.value["finished"] or polled.value["regions"] != read.value["regions"]:
        return Seen("different", answer=read.value)
    return held


def of_repair(mended: Outcome, read: Outcome, before: Files, after: Files, subject: Subject) -> Seen:
    """A repair to the last commit, and the reading after it. A repair that refuses leaves the files as they are."""
    failed = _error(mended)
    if failed:
        return failed if before == after else Seen("different")
    return _error(read) or _prefix(read.value, subject, subject.mended)


def _prefix(answer: Json, subject: Subject, truth: Callable[[int], Answer]) -> Seen:
    regions, committed = answer["regions"], len(subject.output.regions)
    if regions > committed:
        return Seen("different", answer=answer)
    held = contents(answer, truth(regions))
    if held.verdict == "unchanged" and regions < committed:
        return Seen("lost", regions=regions, answer=answer)
    return held


def explain(damage: Damage, asked: str, seen: Seen, subject: Subject) -> str | None:
    """The reason (its name in spec/integrity.md) why damage was not detected, or None. *subject* is from `whose`."""
    if seen.verdict == "other":
        return "other-output"
    if asked == "read without checksums" and seen.verdict == "different":
        return "no-checksums" if _in_blocks(damage, subject) else None
    if asked == "check structure" and seen.verdict == "passed":
        return "structure" if _in_blocks(damage, subject) else None
    if asked in ("follow", "repair") and seen.verdict == "lost" and seen.regions is not None:
        return _lost(damage, asked, seen.regions, subject)
    return None


def whose(damage: Damage, subject: Subject) -> Subject:
    """The output that the damaged files claim to be, by the header that is read first."""
    role = subject.built.index
    after = damage.after.get(role, subject.files[role])
    return subject.twin if after[:64] == subject.twin.files[role][:64] else subject


def _in_blocks(damage: Damage, subject: Subject) -> bool:
    """Whether all changes are inside partition blocks, and nothing moved."""
    for role, after in damage.after.items():
        before = subject.files[role]
        if after == before:
            continue
        if role != subject.built.data or len(after) != len(before):
            return False
        outside = 0
        for begin, end in [*subject.extents, (len(before), len(before))]:
            if before[outside:begin] != after[outside:begin]:
                return False
            outside = end
    return True


def _lost(damage: Damage, asked: str, regions: int, subject: Subject) -> str | None:
    role = subject.built.index
    before = subject.files[role]
    after = damage.after.get(role, before)
    at = _stop(before, after, regions, subject)
    if at > subject.built.messages[regions]:
        # The region of an unchanged message should be readable.
        return None
    left = after[at:]
    if len(after) < len(before) and before.startswith(after):
        return "earlier" if subject.regions_in(len(after)) == regions else None
    if asked == "repair" and not any(left[16:]):
        return "zeros"
    stored, plain = struct.unpack_from("<II", left) if len(left) >= 8 else (0, 0)
    end = at + 24 + pad8(int.from_bytes(before[at : at + 4], "little"))
    if end == len(before):
        return "last-message"
    # A repair treats a block that does not verify as torn also if no more bytes than a tail follow it.
    if at + 24 + pad8(stored) < len(after) - (24 if asked == "repair" else 0):
        return None
    old_stored, old_plain = struct.unpack_from("<II", before, at)
    compressed = before[at + 16] < 128 and before[at + 17] != 0
    if max(stored, plain) > LIMIT:
        return None
    if stored != old_stored and plain != old_plain and (stored < plain if compressed else stored == plain):
        return "both-sizes"
    if compressed and after[at + 4 : at + 20] == before[at + 4 : at + 20] and old_stored < stored < plain:
        return "grown"
    return None


def _stop(before: bytes, after: bytes, regions: int, subject: Subject) -> int:
    """Where the walk stopped: the first changed block after the regions that were kept."""
    at = 64 if regions == 0 else _end(before, subject.built.messages[regions - 1])
    while at + 24 <= len(before) and before[at : _end(before, at)] == after[at : _end(before, at)]:
        at = _end(before, at)
    return at


def _end(data: bytes, at: int) -> int:
    return at + 24 + pad8(int.from_bytes(data[at : at + 4], "little"))
