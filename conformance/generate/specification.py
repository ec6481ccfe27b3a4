"""The clauses of the specification, and the chapter of each."""

from __future__ import annotations

import re
from pathlib import Path

SPEC = Path(__file__).resolve().parents[2] / "spec"
CLAUSE = re.compile(r'<a id="([A-Z]+-\d+)"></a>\*\*\1\.\*\*')
HEADING = re.compile(r"^#", re.MULTILINE)


def clauses(spec: Path = SPEC) -> dict[str, str]:
    """The text of each clause, up to the next one or the next heading."""
    found: dict[str, str] = {}
    for page in sorted(spec.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        starts = list(CLAUSE.finditer(text))
        for n, start in enumerate(starts):
            end = starts[n + 1].start() if n + 1 < len(starts) else len(text)
            heading = HEADING.search(text, start.end(), end)
            body = text[start.end() : heading.start() if heading else end]
            if start.group(1) in found:
                raise ValueError(f"two clauses {start.group(1)}")
            found[start.group(1)] = body
    return found


def chapters(spec: Path = SPEC) -> dict[str, str]:
    """The chapter that contains each clause: the name of its page, without `.md`."""
    return {
        clause: page.stem
        for page in sorted(spec.glob("*.md"))
        for clause in CLAUSE.findall(page.read_text(encoding="utf-8"))
    }
