"""The stream: rounds of mutated outputs and of scripts, until the time is over."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from differential.asking import Disagreement, Panel, Probe
from differential.blocks import Files
from differential.findings import Findings
from differential.judge import show
from differential.mending import mend
from differential.merges import fragment_requests, make_fragments, random_merging, run_merging
from differential.minimise import Minimiser, ask
from differential.mutate import Made, mutate
from differential.plan import plan, plan_repair
from differential.scripts import random_script
from differential.seeds import PAYLOADS, Seeds
from differential.writing import run_script

# A round: this many mutated outputs at once, this many scripts, and merges of fragments of this many outputs.
MUTANTS = 24
SCRIPTS = 4
MERGES = 4
_MERGES_EACH = 4
# The share of outputs that are not mutated.
_UNCHANGED = 0.06
_PAYLOADS_UNCHANGED = 0.8
_FRAGMENTS_OF_MUTANTS = 0.15


@dataclass
class Totals:
    """The counts of a run."""

    begin: float = field(default_factory=time.monotonic)
    rounds: int = 0
    mutants: int = 0
    mended: int = 0
    scripts: int = 0
    finished: int = 0
    merges: int = 0
    found: int = 0
    let_pass: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)

    @property
    def seconds(self) -> float:
        """The seconds since it began."""
        return time.monotonic() - self.begin

    def line(self, requests: int) -> str:
        """The progress line."""
        return (
            f"{self.seconds:.0f} s: {self.mutants} mutated outputs ({self.mended} repaired), {self.scripts} scripts"
            f" ({self.finished} finished), {self.merges} merges, {requests} requests, {self.found} disagreements"
        )


class Stream:
    """The stream that one seed draws."""

    def __init__(
        self, seed: int, seeds: Seeds, panel: Panel, work: Path, findings: Findings, minimise_seconds: float
    ) -> None:
        self.totals = Totals()
        self._seed = seed
        self._seeds = seeds
        self._panel = panel
        self._work = work
        self._findings = findings
        self._minimise_seconds = minimise_seconds

    def run(self, minutes: float, rounds: int | None, first: bool = False) -> None:
        """Run until the time or the rounds are over or, with `first`, until something was found."""
        totals = self.totals
        shown = totals.begin
        while totals.seconds < 60 * minutes and (rounds is None or totals.rounds < rounds):
            # Each round has its own random source, so it draws the same whenever the run ends.
            rng = random.Random(f"{self._seed}/{totals.rounds}")
            self._scripts(rng)
            self._mutants(rng)
            self._merges(rng)
            totals.rounds += 1
            if first and totals.found:
                return
            if time.monotonic() - shown > 10:
                shown = time.monotonic()
                print(totals.line(self._panel.requests), flush=True)

    def _mutants(self, rng: random.Random) -> None:
        probes: list[Probe] = []
        origins: list[tuple[dict[str, Any], tuple[Files, Files, list[Made]]]] = []
        for number in range(MUTANTS):
            name, files = self._seeds.draw(rng)
            _, other = self._seeds.draw(rng)
            unchanged = rng.random() < (_PAYLOADS_UNCHANGED if name.startswith(PAYLOADS) else _UNCHANGED)
            changed, made = mutate(files, other, rng, wanted=0 if unchanged else None)
            asked, lost = plan_repair(changed, rng)
            steps = plan(changed, rng, f"follower-{number}")
            probes.append(Probe(changed, steps, self._work / str(number), asked, lost))
            origin = {"seed": self._seed, "round": self.totals.rounds, "number": number, "from": name}
            origins.append(({**origin, "changes": [item.text for item in made]}, (files, other, made)))
        self._panel.run(probes)
        mend(probes, self._panel)
        for probe, (origin, recipe) in zip(probes, origins, strict=True):
            found = probe.disagreements()
            self.totals.mutants += 1
            self.totals.mended += probe.mend is not None
            self.totals.found += len(found)
            self.totals.let_pass += probe.let_pass
            decode = next(iter(probe.answers[2].values()))
            self.totals.verdicts[str(decode.value["code"]) if decode.kind == "error" else decode.kind] += 1
            if found:
                self._keep_probe(probe, found, origin, recipe)

    def _keep_probe(
        self,
        probe: Probe,
        found: list[Disagreement],
        origin: dict[str, Any],
        recipe: tuple[Files, Files, list[Made]],
    ) -> None:
        signature = self._findings.fresh(found)
        if signature is None:
            return
        print(f"{origin['from']}: {'; '.join(origin['changes'])}")
        show_all(found)
        small = Minimiser(self._panel, self._work / "small", self._minimise_seconds).probe(probe, signature, recipe)
        again = ask(replace(small, folder=self._work / "small"), self._panel)
        # A finding that does not repeat is kept with the first answers.
        print(f"  kept: {self._findings.add_probe(small if again else probe, again or found, origin)}", flush=True)

    def _scripts(self, rng: random.Random) -> None:
        for number in range(SCRIPTS):
            script = random_script(rng)
            written = run_script(script, self._panel, self._work / "script")
            totals = self.totals
            totals.scripts += 1
            totals.finished += written.finished
            totals.found += len(written.disagreements)
            name = f"script {number} of round {totals.rounds}"
            if written.disagreements:
                self._keep_script(script, written.disagreements, number)
            elif written.finished:
                self._seeds.written.append((name, next(iter(written.outputs.values()))))

    def _merges(self, rng: random.Random) -> None:
        for number in range(MERGES):
            name, files = self._seeds.draw(rng)
            if rng.random() < _FRAGMENTS_OF_MUTANTS:
                files, _ = mutate(files, self._seeds.draw(rng)[1], rng)
            origin = {"seed": self._seed, "round": self.totals.rounds, "number": number, "from": name}
            asked = fragment_requests(files, rng)
            made, found = make_fragments(files, asked, self._panel, self._work / "fragments") if asked else ([], [])
            self.totals.found += len(found)
            if found and self._findings.fresh(found) is not None:
                print(f"{name}: fragments")
                show_all(found)
                print(f"  kept: {self._findings.add_fragments(files, asked, found, origin)}", flush=True)
            for _ in range(_MERGES_EACH if made else 0):
                merging = random_merging(made, rng)
                found = run_merging(merging, self._panel, self._work / "merging")
                self.totals.merges += 1
                self.totals.found += len(found)
                if found and self._findings.fresh(found) is not None:
                    print(f"{name}: merge")
                    show_all(found)
                    print(f"  kept: {self._findings.add_merging(merging, found, origin)}", flush=True)

    def _keep_script(self, script: dict[str, Any], found: list[Disagreement], number: int) -> None:
        signature = self._findings.fresh(found)
        if signature is None:
            return
        print(f"script {number} of round {self.totals.rounds}")
        show_all(found)
        small = Minimiser(self._panel, self._work / "small", self._minimise_seconds).script(script, signature)
        written = run_script(small, self._panel, self._work / "small")
        if not written.disagreements:
            written.disagreements = found
        origin = {"seed": self._seed, "round": self.totals.rounds, "number": number}
        print(f"  kept: {self._findings.add_script(small, written, origin)}", flush=True)


def show_all(found: Sequence[Disagreement]) -> None:
    """Print disagreements."""
    for item in found:
        print(f"  {item.what}: {item.why}")
        for name, said in item.answers.items():
            print(f"    {name}: {show(said)}")
