"""The counts and the findings of a run."""

from __future__ import annotations

import json
import threading
from collections import Counter
from pathlib import Path
from typing import Any

_SHOWN = 40


class Findings:
    """Counts by language, kind of fault and outcome; and violations. Shared by threads."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.faults: list[str] = []
        self._lock = threading.Lock()

    def count(self, language: str, what: str, outcome: str, number: int = 1) -> None:
        """Count an outcome."""
        with self._lock:
            self.counts[language, what, outcome] += number

    def fault(self, text: str) -> None:
        """Record a violation."""
        with self._lock:
            self.faults.append(text)
            if len(self.faults) <= _SHOWN:
                print(f"FAULT {text}", flush=True)

    def expect(self, holds: bool, text: str) -> bool:
        """Record a violation unless the condition holds. Returns whether it holds."""
        if not holds:
            self.fault(text)
        return holds

    def show(self) -> None:
        """Print the counts, a line for each kind of fault."""
        kinds = sorted({(what, language) for language, what, _ in self.counts})
        for what, language in kinds:
            outcomes = {o: n for (lang, w, o), n in sorted(self.counts.items()) if (lang, w) == (language, what)}
            text = ", ".join(f"{outcome} {number}" for outcome, number in outcomes.items())
            print(f"{what:<28} {language:<7} {sum(outcomes.values()):>6}  {text}")
        print(f"{len(self.faults)} faults")

    def save(self, path: Path, **more: Any) -> None:
        """Write them as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [
            {"language": language, "fault": what, "outcome": outcome, "count": number}
            for (language, what, outcome), number in sorted(self.counts.items())
        ]
        path.write_text(json.dumps({**more, "counts": rows, "faults": self.faults}, indent=1) + "\n")
