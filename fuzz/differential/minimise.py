"""Makes findings smaller, as long as they are found: fewer requests and changes, smaller files, shorter scripts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from generate.raw import NOBODY

from differential.asking import Disagreement, Panel, Probe
from differential.blocks import Files, put_together, put_together_moved, take_apart
from differential.mending import mend
from differential.mutate import Made, again
from differential.plan import Step
from differential.writing import run_script

# Options without which a writer cannot be made, or each writer makes different files.
_NEEDED = ("partition_count", "file_id", "schema", "framing")


def ask(probe: Probe, panel: Panel) -> list[Disagreement]:
    """All disagreements about one probe, with all requests sent again."""
    probe.answers, probe.mended = [], []
    panel.run([probe])
    mend([probe], panel)
    return probe.disagreements()


class Minimiser:
    """Makes one finding smaller, for at most this many seconds."""

    def __init__(self, panel: Panel, work: Path, seconds: float) -> None:
        self._panel = panel
        self._work = work
        self._end = time.monotonic() + seconds

    def probe(self, probe: Probe, signature: str, recipe: tuple[Files, Files, list[Made]] | None) -> Probe:
        """A smaller probe with the same finding."""
        best = replace(probe, folder=self._work, answers=[], mended=[])
        if not self._found(best, signature):
            # It was not found again, so it is kept as it was.
            return replace(probe, answers=[], mended=[])
        best = self._fewer_steps(best, signature)
        if recipe is not None:
            best = self._fewer_changes(best, signature, recipe)
        return self._smaller(best, signature)

    def _found(self, probe: Probe, signature: str) -> bool:
        return any(item.signature == signature for item in ask(probe, self._panel))

    def _better(self, candidates: Iterator[Probe], signature: str) -> Probe | None:
        for candidate in candidates:
            if time.monotonic() > self._end:
                return None
            if self._found(candidate, signature):
                return candidate
        return None

    def _fewer_steps(self, probe: Probe, signature: str) -> Probe:
        def candidates(now: Probe) -> Iterator[Probe]:
            if now.mend is not None:
                if now.steps:
                    yield replace(now, steps=[])
                yield replace(now, mend=None)
            for step in now.steps:
                if len(now.steps) > 1 and step.op != "follow":
                    yield replace(now, steps=[step])
            for index, step in enumerate(now.steps):
                yield replace(now, steps=now.steps[:index] + now.steps[index + 1 :])
                for fewer in _fewer_partitions(step, now.files):
                    yield replace(now, steps=[*now.steps[:index], fewer, *now.steps[index + 1 :]])

        return self._repeat(probe, signature, candidates)

    def _repeat(self, probe: Probe, signature: str, candidates: Callable[[Probe], Iterator[Probe]]) -> Probe:
        while True:
            better = self._better(candidates(probe), signature)
            if better is None:
                return probe
            probe = better

    def _fewer_changes(self, probe: Probe, signature: str, recipe: tuple[Files, Files, list[Made]]) -> Probe:
        files, other, made = recipe
        for item in list(made):
            fewer = [one for one in made if one is not item]
            changed = again(files, other, fewer)
            if changed is None or time.monotonic() > self._end:
                continue
            candidate = replace(probe, files=changed, steps=_fitting(probe.steps, changed))
            if self._found(candidate, signature):
                probe, made = candidate, fewer
        return probe

    def _smaller(self, probe: Probe, signature: str) -> Probe:
        def candidates(now: Probe) -> Iterator[Probe]:
            for changed in _smaller_files(now.files):
                yield replace(now, files=changed, steps=_fitting(now.steps, changed))

        return self._repeat(probe, signature, candidates)

    def script(self, script: dict[str, Any], signature: str) -> dict[str, Any]:
        """A script with fewer calls and options and the same finding."""
        while time.monotonic() < self._end:
            for candidate in _smaller_scripts(script):
                if time.monotonic() > self._end:
                    return script
                found = run_script(candidate, self._panel, self._work).disagreements
                if any(item.signature == signature for item in found):
                    script = candidate
                    break
            else:
                return script
        return script


def _fewer_partitions(step: Step, files: Files) -> Iterator[Step]:
    """The step, reading one partition only."""
    asked = step.fields.get("partitions")
    if not step.reads or "range" in step.fields or (asked is not None and len(asked) < 2):
        return
    borne = {int.from_bytes(piece.head[8:12], "little") for data in files.values() for piece in take_apart(data).pieces}
    for number in sorted(borne - {NOBODY} if asked is None else set(asked)):
        yield replace(step, fields={**step.fields, "partitions": [number]})


def _fitting(steps: Sequence[Step], files: Files) -> list[Step]:
    """The steps with their sizes cut to those of the files; a step for complete files stays one."""
    most = {role: max((s.sizes[role] for s in steps if s.sizes), default=0) for role in files}
    return [
        replace(
            step,
            sizes=step.sizes
            and {
                role: len(data) if step.sizes[role] == most[role] else min(step.sizes[role], len(data))
                for role, data in files.items()
            },
        )
        for step in steps
    ]


def _smaller_files(files: Files) -> Iterator[Files]:
    for role, data in files.items():
        count = len(take_apart(data).pieces)
        for index in reversed(range(count)):
            for together in (put_together_moved, put_together):
                taken = take_apart(data)
                del taken.pieces[index]
                yield {**files, role: together(taken)}
        for index in range(count):
            payload = take_apart(data).pieces[index].payload
            for size in sorted({0, len(payload) // 2, len(payload) - 8}):
                if 0 <= size < len(payload):
                    taken = take_apart(data)
                    taken.pieces[index] = taken.pieces[index].with_payload(payload[:size])
                    yield {**files, role: put_together_moved(taken)}
        for size in sorted({len(data) // 2, len(data) - 24, len(data) - 8, len(data) - 1}):
            if 0 <= size < len(data):
                yield {**files, role: data[:size]}


def _smaller_scripts(script: dict[str, Any]) -> Iterator[dict[str, Any]]:
    calls = script["calls"]
    for size in sorted({len(calls) // 2, len(calls) // 4, 1}, reverse=True):
        if size:
            for begin in range(0, len(calls), size):
                yield {**script, "calls": calls[:begin] + calls[begin + size :]}
    for name in script["options"]:
        if name not in _NEEDED:
            yield {**script, "options": {k: v for k, v in script["options"].items() if k != name}}
    for index, call in enumerate(calls):
        for blocks in _fewer_blocks(call):
            yield {**script, "calls": [*calls[:index], {**call, "blocks": blocks}, *calls[index + 1 :]]}


def _fewer_blocks(call: dict[str, Any]) -> Iterator[list[Any]]:
    blocks = call.get("blocks", [])
    for index in range(len(blocks)):
        yield blocks[:index] + blocks[index + 1 :]
