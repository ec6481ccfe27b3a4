"""What may exist after a round, and what a reader may have seen during it (PUB-3, PUB-4, WRT-4, WRT-6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from faro_conformance.protocol import Outcome
from races.draw import Round, Writing
from races.outputs import Layout, Output, file_id, final_names

Outputs = Mapping[tuple[Layout, int], Output]


def succeeded(outcome: Outcome) -> bool:
    """Whether a writer published its output."""
    return outcome.kind == "ok" and bool(outcome.value["finished"])


def state(folder: Path, layout: Layout, outputs: Outputs) -> int | str:
    """The number of the visible output, or `nothing`; else a description of the files, which are wrong."""
    files = {role: Path(path).read_bytes() for role, path in final_names(folder, layout).items() if Path(path).exists()}
    if not files:
        return "nothing"
    known = {number: output for (of, number), output in outputs.items() if of == layout}
    for number, output in known.items():
        if files == output.files:
            return number
    owners = {
        role: next((str(n) for n, output in known.items() if output.files[role] == raw), f"a part of {len(raw)} bytes")
        for role, raw in files.items()
    }
    return ", ".join(f"{role} of {owner}" for role, owner in owners.items())


def writer_faults(writing: Writing, outcome: Outcome) -> Iterator[str]:
    """Faults in the answer of a writer that was not killed."""
    if outcome.kind == "error" and outcome.value["code"] == "io":
        return
    if outcome.kind != "ok":
        yield f"{writing}: {outcome.detail}"
        return
    codes = {error["code"] for error in outcome.value["errors"]}
    if codes - {"io"}:
        yield f"{writing}: {outcome.detail}"
    if outcome.value["finished"] and (codes or writing.ending != "finish"):
        yield f"{writing}: finished all the same: {outcome.detail}"


def state_faults(round_: Round, outcomes: Sequence[Outcome], found: int | str) -> Iterator[str]:
    """Faults of the visible output after a round in which no writer was killed."""
    winners = [w for w, outcome in zip(round_.writers, outcomes, strict=True) if succeeded(outcome)]
    over = {w.output for w in winners if w.overwrite}
    modest = [w.output for w in winners if not w.overwrite]
    if isinstance(found, str) and found != "nothing":
        yield f"visible is {found}"
        return
    if any(w.follow for w in round_.writers):
        # Its files exist from the start, and are removed when it aborts.
        if isinstance(found, int) and found not in {round_.older, *over, *modest}:
            yield f"visible is output {found}, whose writer did not succeed"
        return
    if round_.older is not None and modest:
        yield f"{modest} succeeded without overwrite although an output was there"
    if len(modest) > 1:
        yield f"{modest} succeeded, all without overwrite"
    expected: set[int | str] = set(over) or set(modest) or {"nothing" if round_.older is None else round_.older}
    if found not in expected:
        yield f"visible is {found}, of {sorted(map(str, expected))}"
    yield from _refused(round_, outcomes)
    hopeful = [w for w in round_.writers if w.ending == "finish" and not _shares_names(round_, w)]
    if hopeful and not winners and round_.older is None:
        yield "no writer succeeded"


def _shares_names(round_: Round, writing: Writing) -> bool:
    """Whether another writer of the round has the same temporary names, and may have had them first."""
    return any(w is not writing and file_id(w.output) == file_id(writing.output) for w in round_.writers)


def _refused(round_: Round, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Writers that overwrite have no reason to fail, except for a temporary name that another of them has."""
    for writing, outcome in zip(round_.writers, outcomes, strict=True):
        reason = not writing.overwrite or _shares_names(round_, writing)
        if writing.ending == "finish" and not succeeded(outcome) and not reason:
            yield f"{writing}: refused: {outcome.detail}"


def reader_fault(round_: Round, outputs: Outputs, outcome: Outcome) -> str | None:
    """The fault in a reader's answer, or None."""
    if outcome.kind == "ok":
        whole = [output.answer for (layout, _), output in outputs.items() if layout == round_.layout]
        return None if outcome.value in whole else f"a reader saw what no writer wrote: {outcome.detail}"
    if outcome.kind != "error":
        return f"a reader: {outcome.detail}"
    followed = any(w.follow for w in round_.writers)
    allowed = {"unfinished", "truncated"} if followed else set[str]()
    if round_.older is None or followed:
        allowed.add("io")
    if round_.layout == "paired" and any(w.overwrite for w in round_.writers):
        allowed.add("mismatched-pair")
    code: Any = outcome.value["code"]
    return None if code in allowed else f"a reader: {outcome.detail}"


def leftovers(folder: Path, layout: Layout) -> list[str]:
    """The names of files that are not final names."""
    names = {Path(path).name for path in final_names(folder, layout).values()}
    return sorted(path.name for path in folder.iterdir() if path.name not in names)
