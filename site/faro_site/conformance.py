"""The conformance matrix: a summary of a run's report, and the page made from it.

python -m faro_site.conformance out/conformance.json site/conformance.json   # summarizes a report
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from faro_site.settings import ROOT

Counts = dict[str, list[int]]
"""By implementation: how many cases passed, and how many there were."""

LEVELS = ("structure", "checksums", "decode")
"""The levels of `check`, as in the protocol."""


def manifest(cases: Path) -> dict[str, dict[str, Any]]:
    """The cases of the suite, by name."""
    files = sorted((cases / "manifest").glob("*.json"))
    found = [case for file in files for case in json.loads(file.read_text(encoding="utf-8"))["cases"]]
    return {case["id"]: case for case in found}


def summary(report: dict[str, Any], cases: dict[str, dict[str, Any]], date: str, commit: str) -> dict[str, Any]:
    """What the page shows of a report, which `conformance/run --json` writes. `cases` are those of the manifest."""
    testees = sorted(report["testees"])
    results = report["results"]

    def sums(key: Callable[[dict[str, Any]], Iterable[str]]) -> dict[str, Counts]:
        made: dict[str, Counts] = {}
        for result in results:
            for name in key(result):
                counts = made.setdefault(name, {testee: [0, 0] for testee in testees})[result["testee"]]
                counts[0] += result["status"] == "passed"
                counts[1] += 1
        return made

    def levels(result: dict[str, Any]) -> list[str]:
        case = cases.get(result["case"], {})
        return [level for level in LEVELS if level in case.get("check", {})]

    ran = {result["case"] for result in results}
    return {
        "date": date,
        "commit": commit,
        "cases": len(cases),
        "not_run": sorted(set(cases) - ran)[:5],
        "not_run_count": len(set(cases) - ran),
        "implementations": {
            name: {key: report["testees"][name][key] for key in ("language", "version", "spec", "features")}
            for name in testees
        },
        "chapters": sums(lambda r: [r["clauses"][0].rpartition("-")[0]] if r["clauses"] else []),
        "requirements": sums(lambda r: [cases[r["case"]]["level"]] if r["case"] in cases else []),
        "check_levels": sums(levels),
        "features": sums(lambda r: cases.get(r["case"], {}).get("features", [])),
        "operations": sums(lambda r: [r["op"]] if r["writer"] is None else []),
        "pairs": sums(lambda r: [r["writer"]] if r["op"] == "pairs" else []),
    }


def page(run: dict[str, Any], origin: str, chapters: dict[str, tuple[str, str]], cases_now: int) -> str:
    """The page of a summary, in Markdown.

    `origin` says where the summary is from, `chapters` has for each prefix of clauses the title of its chapter and the
    link to its first clause, in the order of the specification. `cases_now` is the number of cases in the manifest.
    """
    names = list(run["implementations"])
    heads = [run["implementations"][name]["language"] for name in names]

    def table(title: str, rows: list[tuple[str, Counts]]) -> list[str]:
        lines = [f"| {title} | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
        return [
            *lines,
            *(f"| {label} | " + " | ".join(_cell(counts[n]) for n in names) + " |" for label, counts in rows),
        ]

    by_chapter = run["chapters"]
    order = [prefix for prefix in chapters if prefix in by_chapter]
    missing = [f"[{prefix}]({link}) {title}" for prefix, (title, link) in chapters.items() if prefix not in by_chapter]
    unknown = sorted(set(by_chapter) - set(chapters))
    if unknown:
        raise ValueError(f"the report has cases of {', '.join(unknown)}, which the specification has not")
    lines = [
        "# Conformance: which implementation passes what",
        "",
        f"One suite tests every implementation. It ran on {run['date']} at commit {run['commit']}: {origin}.",
        f"It had {run['cases']:,} cases. " + _age(run, cases_now),
        "A cell has the number of cases that passed, or *passed* of *all* if some did not. "
        "[The protocol](protocol.md) says how a case is run, [the cases](cases/README.md) what is in one.",
        "",
        "## Implementations",
        "",
        "| implementation | version | specification | features |",
        "|---|---|---|---|",
        *(
            f"| {i['language']} | {i['version']} | {i['spec']} | {', '.join(i['features'])} |"
            for i in run["implementations"].values()
        ),
        "",
        "## Chapters",
        "",
        "A case counts for the chapter of its first clause. A file that another one wrote counts for its reader.",
        "",
        *table("chapter", [(f"[{p}]({chapters[p][1]}) {chapters[p][0]}", by_chapter[p]) for p in order]),
        "",
    ]
    if missing:
        lines += ["Chapters without cases of their own: " + ", ".join(missing) + ".", ""]
    lines += [
        "## Levels",
        "",
        "A required case is one that an implementation has to pass to conform. A recommended one tests a SHOULD.",
        "",
        *table("level of the case", list(run["requirements"].items())),
        "",
        "Each of these files is read, and then checked at the levels of `check`:",
        "",
        *table(
            "level of the check",
            [(f"`{name}`", run["check_levels"][name]) for name in LEVELS if name in run["check_levels"]],
        ),
        "",
        "Cases that need a feature:",
        "",
        *table("feature", [(f"`{name}`", counts) for name, counts in sorted(run["features"].items())]),
        "",
        "## Operations",
        "",
        *table("operation", [(f"`{name}`", counts) for name, counts in sorted(run["operations"].items())]),
        "",
        "## Writers and readers",
        "",
        "Each implementation reads what each one writes; a column is the reader.",
        "",
        *table(
            "writer",
            [(run["implementations"][name]["language"], run["pairs"][name]) for name in names if name in run["pairs"]],
        ),
    ]
    return "\n".join(lines) + "\n"


def _age(run: dict[str, Any], cases_now: int) -> str:
    if run["not_run_count"]:
        return f"{run['not_run_count']:,} of them were not in this run. "
    return "" if run["cases"] == cases_now else f"The suite has {cases_now:,} now. "


def _cell(counts: list[int]) -> str:
    passed, ran = counts
    if ran == 0:
        return "–"
    return f"{passed:,}" if passed == ran else f"**{passed:,} of {ran:,}**"


def run_of(report: Path) -> tuple[str, str]:
    """The day a report was made, and the commit that is checked out."""
    command = ["git", "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    return datetime.date.fromtimestamp(report.stat().st_mtime).isoformat(), commit


def main() -> None:
    """Summarize a report."""
    parser = argparse.ArgumentParser(description="Summarize a report of conformance/run.")
    parser.add_argument("report", type=Path)
    parser.add_argument("summary", type=Path)
    arguments = parser.parse_args()
    report = json.loads(arguments.report.read_text(encoding="utf-8"))
    made = summary(report, manifest(ROOT / "conformance/cases"), *run_of(arguments.report))
    arguments.summary.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
