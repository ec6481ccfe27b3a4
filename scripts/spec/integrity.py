"""The tables of integrity.md, made of the figures in detection.json."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

BEGIN = "<!-- begin: made from conformance/detection/detection.json by `make spec` -->\n"
END = "<!-- end -->\n"
FINISHED = ("read", "check structure", "check checksums", "check decode")
UNFINISHED = ("follow", "repair")
NO_CHECKSUMS = "read without checksums"


class Sum:
    """What came of one kind of damage, over all outputs of a table."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.damages = self.equal = 0
        self.detected: dict[str, Counter[str]] = {}
        self.unchanged: Counter[str] = Counter()
        self.explained: dict[str, Counter[str]] = {}

    def add(self, entry: dict[str, Any]) -> None:
        """Add an entry of the JSON."""
        self.damages += entry["damages"]
        self.equal += entry["equal"]
        for way, counts in entry["ways"].items():
            self.detected.setdefault(way, Counter()).update(counts.get("detected", {}))
            self.unchanged[way] += counts.get("unchanged", 0)
            self.explained.setdefault(way, Counter()).update(counts.get("explained", {}))

    def cell(self, way: str) -> str:
        """What one way of reading made of it."""
        reasons = self.explained.get(way, Counter())
        detected = sum(self.detected.get(way, Counter()).values())
        parts = [f"[{reason}](#{reason}) {count:,}" for reason, count in sorted(reasons.items())]
        if self.unchanged[way]:
            parts.insert(0, f"harmless {self.unchanged[way]:,}")
        if not parts:
            return "all"
        return "; ".join([f"{detected:,}", *parts])

    def codes(self, way: str) -> str:
        """The codes that it was found as, the most frequent first."""
        return ", ".join(f"`{code}`" for code, _ in self.detected.get(way, Counter()).most_common(3))


def sums(results: list[dict[str, Any]], state: str) -> dict[str, Sum]:
    """By kind of damage, of the outputs in a state."""
    found: dict[str, Sum] = {}
    for entry in results:
        if entry["state"] == state:
            found.setdefault(entry["damage"], Sum()).add(entry)
    return found


def table(found: dict[str, Sum], ways: tuple[str, ...]) -> str:
    """A row a kind."""
    titles = [way.replace("check ", "`check` ") if " " in way else f"`{way}`" for way in ways]
    lines = [f"| damage | made | {' | '.join(titles)} | most often found as |", "|---|---:|" + "---|" * (len(ways) + 1)]
    for kind, total in found.items():
        made = total.damages - total.equal
        cells = " | ".join(total.cell(way) for way in ways)
        lines.append(f"| {kind} | {made:,} | {cells} | {total.codes(ways[0])} |")
    return "\n".join(lines) + "\n"


def text(figures: dict[str, Any]) -> str:
    """What is between the marks."""
    results = figures["results"]
    finished, unfinished = sums(results, "finished"), sums(results, "unfinished")
    unverified = Sum()
    for entry in results:
        if NO_CHECKSUMS in entry["ways"]:
            unverified.add(entry)
    seen = unverified.detected[NO_CHECKSUMS]
    passed = unverified.explained[NO_CHECKSUMS]["no-checksums"]
    before = figures["before"]
    pages, extents = (
        before[f"{kind}, without {clause}"]
        for kind, clause in (("page of another producer's file", "BLK-9"), ("two multicasts swapped", "REG-11"))
    )
    drawn = (
        "Small outputs, selective and merged files were damaged at every bit and every length, larger ones at 10,000 random places for each kind, layout and state"
        if figures["places"] is None
        else f"Bits and lengths were changed at up to {figures['places']:,} random places of each output for each kind"
    )
    total = sum(entry["damages"] - entry["equal"] for entry in results)
    return (
        f"\n{drawn}; pages, appends, extents and files were all damaged. In total there were {total:,} damages (seed {figures['seed']}); {figures['compared']:,} of them were given to the implementations in "
        f"{', '.join(name.capitalize() for name in figures['testees'])}, which gave the same answers.\n\n"
        f"Finished outputs, {len([name for name in figures['outputs'] if name.endswith('-finished')])} of them:\n\n"
        + table(finished, FINISHED)
        + "\nThe same number of outputs without footer and tail; each one that was repaired was then read to the end:\n\n"
        + table(unfinished, UNFINISHED)
        + f"\nWithout checksums, of the small outputs and merged files: {sum(seen.values()):,} were found nevertheless, "
        f"{passed:,} delivered what was not written ([no-checksums](#no-checksums)).\n\n"
        "Before BLK-9 and REG-11 (simulated by checksums and sequences that fit the wrong place), of "
        f"{pages['damages']:,} pages of another producer's file {pages['different']:,} delivered that producer's data without an error, and of "
        f"{extents['damages']:,} pairs of multicasts that changed places {extents['different']:,} went to the wrong members. Now none of them does.\n\n"
    )


def integrity_page(folder: Path, measured: Path) -> str:
    """The chapter with its tables made anew. A reason that the chapter does not explain is an error."""
    page = (folder / "integrity.md").read_text(encoding="utf-8")
    figures = json.loads(measured.read_text(encoding="utf-8"))
    before, rest = page.split(BEGIN)
    _, behind = rest.split(END)
    reasons = {
        reason
        for entry in figures["results"]
        for counts in entry["ways"].values()
        for reason in counts.get("explained", {})
    }
    unexplained = [reason for reason in sorted(reasons) if f'<a id="{reason}"></a>**{reason}.**' not in behind]
    if unexplained:
        raise SystemExit(f"integrity.md does not explain: {', '.join(unexplained)}")
    return before + BEGIN + text(figures) + END + behind
