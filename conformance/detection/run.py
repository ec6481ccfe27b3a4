"""One run over all outputs, and its figures."""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from faro_conformance.child import Child

from . import damage as d
from .damage import Damage
from .measure import Tally, measure
from .outputs import CODECS, LAYOUTS, STATES, Subject

# The places drawn in the larger outputs of each layout and state, in equal parts by codec. Small outputs are damaged
# everywhere.
PLACES = 10_000
QUICK = 120
# The other testees get the first damages of each kind, and then one of this many.
FIRST, STEP = 6, 199


def damages(subject: Subject, rng: random.Random, places: int | None) -> Iterator[Damage]:
    """All damages of an output; *places* of each kind that is drawn."""
    count = -(-PLACES // len(CODECS)) if places is None else places
    small = None if subject.size != "large" and places is None else count
    yield from d.one_bit(subject, rng, small)
    yield from d.two_bits(subject, rng, count)
    yield from d.both_sizes(subject, rng, small)
    yield from d.truncations(subject, rng, small)
    for make in (d.zeroed_pages, d.swapped_pages, d.strange_pages, d.stale_pages, d.appends, d.other_outputs,
                 d.swapped_extents):  # fmt: skip
        yield from make(subject, rng)


def sample(source: Iterable[Damage]) -> Iterator[Damage]:
    """Some of each kind."""
    seen: Counter[str] = Counter()
    for damage in source:
        seen[damage.kind] += 1
        if seen[damage.kind] <= FIRST or seen[damage.kind] % STEP == 0:
            yield damage


def subjects(quick: bool) -> list[Subject]:
    """The outputs."""
    if quick:
        pairs = zip(LAYOUTS, ("none", "lz4"), strict=True)
        small = [Subject("small", layout, codec, state) for layout, codec in pairs for state in STATES]
        more = [("merged", "paired"), ("selective", "single")]
        return small + [Subject(size, layout, "none", state) for size, layout in more for state in STATES]
    merged = [Subject("merged", "paired", codec, state) for codec in CODECS for state in STATES]
    selective = [
        Subject("selective", layout, codec, state) for layout in LAYOUTS for codec in CODECS for state in STATES
    ]
    return (
        merged
        + selective
        + [
            Subject(size, layout, codec, state)
            for layout in LAYOUTS
            for codec in CODECS
            for state in STATES
            for size in ("small", "large")
        ]
    )


def digests() -> dict[str, str]:
    """A digest of the files that are made now; figures of other files are stale."""
    return {
        subject.name: hashlib.sha256(b"".join(subject.files.values())).hexdigest()[:16] for subject in subjects(False)
    }


class Run:
    """One run, and its results."""

    def __init__(self, children: list[Child], seed: int, quick: bool, places: int | None) -> None:
        self.children, self.seed, self.quick, self.places = children, seed, quick, places
        self.found: dict[tuple[str, str, str], dict[str, Tally]] = {}
        self.before: dict[str, Tally] = {}
        self.compared: dict[str, Tally] = {}
        self.differ: list[str] = []
        self.seconds = 0.0

    def all(self) -> None:
        """Measure everything."""
        begin = time.monotonic()
        base = Path("/dev/shm")
        with tempfile.TemporaryDirectory(prefix="faro-detection-", dir=base if base.is_dir() else None) as temporary:
            folder = Path(temporary)
            for subject in subjects(self.quick):
                tallies = self.found.setdefault((subject.layout, subject.codec, subject.state), {})
                first = self.children[:1]
                measure(
                    subject,
                    self.drawn(subject),
                    first,
                    folder,
                    tallies,
                    self.differ,
                    unverified=subject.size != "large",
                )
                if len(self.children) > 1:
                    measure(subject, sample(self.drawn(subject)), self.children, folder, self.compared, self.differ)
                if subject.size == "large" and subject.finished:
                    rng = random.Random(self.seed)
                    for make in (d.as_before_blk_9, d.as_before_reg_11):
                        measure(subject, make(subject, rng), first, folder, self.before, self.differ)
                print(f"    {subject.name}: {time.monotonic() - begin:.0f} s", flush=True)
        self.seconds = time.monotonic() - begin

    def drawn(self, subject: Subject) -> Iterator[Damage]:
        """The damages of an output: the same each time."""
        rng = random.Random(f"{self.seed} {subject.name}")
        return damages(subject, rng, self.places)

    def failed(self) -> bool:
        """Whether damage was not detected without a reason, or testees gave different answers."""
        return bool(self.differ) or any(t.undetected for t in self._tallies())

    def _tallies(self) -> list[Tally]:
        return [*chain(*(tallies.values() for tallies in self.found.values())), *self.compared.values()]

    def show(self) -> None:
        """The sums, and what is wrong."""
        tallies = list(chain(*(found.values() for found in self.found.values())))
        ways: dict[str, Counter[str]] = {}
        for tally in tallies:
            for asked, codes in tally.detected.items():
                ways.setdefault(asked, Counter())["detected"] += codes.total()
            for asked, count in tally.unchanged.items():
                ways.setdefault(asked, Counter())["unchanged"] += count
            for asked, reasons in tally.explained.items():
                ways.setdefault(asked, Counter()).update(
                    {f"not detected, {reason}": n for reason, n in reasons.items()}
                )
            for asked, count in tally.undetected.items():
                ways.setdefault(asked, Counter())["NOT DETECTED, WITHOUT A REASON"] += count
        count, equal = sum(tally.damages for tally in tallies), sum(tally.equal for tally in tallies)
        print(f"{count} damages in {self.seconds:.0f} s, {equal} of equal bytes")
        for asked, counts in ways.items():
            print(f"    {asked}: " + ", ".join(f"{what} {count}" for what, count in counts.most_common()))
        for tally in self._tallies():
            for example in tally.examples:
                print(f"    NOT DETECTED {example}")
        for text in self.differ[:20]:
            print(f"    TESTEES DIFFER {text}")

    def text(self) -> str:
        """The figures as JSON, one entry on each line, so that a diff shows what changed."""
        entries = []
        for (layout, codec, state), tallies in self.found.items():
            for kind, tally in tallies.items():
                ways = {
                    asked: _counts(tally, asked)
                    for asked in sorted({*tally.detected, *tally.unchanged, *tally.explained})
                }
                entry = {"layout": layout, "codec": codec, "state": state, "damage": kind}
                entries.append({**entry, "damages": tally.damages, "equal": tally.equal, "ways": ways})
        head: dict[str, Any] = {
            "seed": self.seed, "places": self.places, "outputs": digests(),
            "compared": sum(tally.damages for tally in self.compared.values()),
            "testees": sorted(child.testee.name for child in self.children),
            "before": {kind: {"damages": tally.damages, "different": tally.undetected["read"]}
                       for kind, tally in self.before.items()},
        }  # fmt: skip
        lines = ",\n".join(json.dumps(entry) for entry in entries)
        return json.dumps(head, indent=1)[:-2] + ',\n "results": [\n' + lines + "\n]}\n"


def _counts(tally: Tally, asked: str) -> dict[str, Any]:
    counts = {"detected": dict(sorted(tally.detected.get(asked, {}).items())), "unchanged": tally.unchanged[asked],
              "explained": dict(sorted(tally.explained.get(asked, {}).items()))}  # fmt: skip
    return {name: value for name, value in counts.items() if value}
