"""The files of the results: one for each machine."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

RESULTS = "bench/results"
"""The folder of everything that is made of measurements, from the repository's root."""
MACHINES = f"{RESULTS}/machines"
"""The folder with the results, and their tables, of each machine."""

Bench = dict[str, Any]
"""A file of results: see bench/schema.json."""


def slug(machine: dict[str, Any]) -> str:
    """The name of a machine's file, from its processor's name."""
    words = re.sub(r"\(\w+\)|\b(processor|cpu)\b", " ", str(machine["cpu"]).lower())
    return "-".join(re.findall(r"[a-z0-9]+", words)) or "unknown"


def path_of(root: Path, name: str) -> Path:
    """The results of a machine."""
    return root / MACHINES / f"{name}.json"


def load(root: Path) -> dict[str, Bench]:
    """The results of all machines, by the names of their files, in alphabetical order."""
    return {path.stem: json.loads(path.read_text()) for path in sorted((root / MACHINES).glob("*.json"))}


def save(bench: Bench, path: Path) -> None:
    """Write a file of results. Each result has a line, so that a change shows what was measured again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = json.dumps({**bench, "results": []}, indent=1)
    lines = ",\n".join("  " + json.dumps(line) for line in bench["results"])
    path.write_text(head.replace('"results": []', f'"results": [\n{lines}\n ]', 1) + "\n")
