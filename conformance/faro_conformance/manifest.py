"""The cases, as cases/README.md describes them."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from faro_conformance.protocol import Json, SuiteError

_REQUIRED = ("id", "clause", "level", "features", "title", "op", "expect")


@dataclass(frozen=True)
class Case:
    """One case. `fields` is its entry in the manifest; its paths are relative to `folder`."""

    id: str
    clauses: tuple[str, ...]
    op: str
    title: str
    recommended: bool
    features: tuple[str, ...]
    generated: bool
    folder: Path
    fields: dict[str, Json]

    def path(self, name: str | None) -> Path | None:
        """A path of the case. None stays None."""
        return None if name is None else self.folder / name

    def files(self) -> dict[str, Path]:
        """The paths of `files` by role. A role that is null has a path at which there is no file."""
        return {
            role: self.folder / (name if name is not None else f"no-such-file.{role}")
            for role, name in self.fields.get("files", {}).items()
        }

    def matches(self, word: str) -> bool:
        """Whether `-k WORD` selects it: by the operation, a clause or its prefix, or part of the id."""
        if word == self.op:
            return True
        upper = word.upper()
        if any(clause == upper or clause.split("-")[0] == upper for clause in self.clauses):
            return True
        return word in self.id


def entries(cases: Path) -> list[dict[str, Json]]:
    """The entries of all manifests in the folder of the cases, chapter by chapter."""
    manifests = sorted((cases / "manifest").glob("*.json"))
    if not manifests:
        raise SuiteError(f"no manifest in {cases / 'manifest'}")
    found: list[dict[str, Json]] = []
    for manifest in manifests:
        try:
            table = json.loads(manifest.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise SuiteError(f"{manifest}: {error}") from error
        if table.get("version") != 1:
            raise SuiteError(f"{manifest}: version {table.get('version')!r}; this runner knows version 1")
        found += table["cases"]
    return found


class Suite:
    """The folder `conformance`: schema, cases and testees."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.repo = self.folder.parent
        self.schema = self.folder / "protocol.schema.json"
        self.testees = self.folder / "testees"
        self.cases_folder = self.folder / "cases"

    def cases(self, generated: Path) -> list[Case]:
        """All cases of the manifests; those with big files have them in `generated`."""
        cases = [self._case(entry, generated) for entry in entries(self.cases_folder)]
        seen: set[str] = set()
        for case in cases:
            if case.id in seen:
                raise SuiteError(f"manifest: {case.id} occurs twice")
            seen.add(case.id)
        return cases

    def _case(self, entry: dict[str, Json], generated: Path) -> Case:
        entry = {"features": [], "level": "required", "expect": {}, **entry}
        missing = [name for name in _REQUIRED if name not in entry]
        if missing:
            raise SuiteError(f"manifest: {entry.get('id', '?')} lacks {', '.join(missing)}")
        clauses = entry["clause"]
        return Case(
            id=entry["id"],
            clauses=tuple([clauses] if isinstance(clauses, str) else clauses),
            op=entry["op"],
            title=entry["title"],
            recommended=entry["level"] == "recommended",
            features=tuple(entry["features"]),
            generated=bool(entry.get("generated")),
            folder=generated if entry.get("generated") else self.cases_folder,
            fields=entry,
        )

    def generate(self, folder: Path) -> None:
        """Make the files that are too big to be committed."""
        command = [sys.executable, "-m", "generate", "--generated", str(folder)]
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise SuiteError(f"python -m generate: {result.stderr.strip()[-1000:]}")

    @staticmethod
    def verify(cases: Iterable[Case]) -> None:
        """Fail if a file of the cases is damaged or missing."""
        known: dict[Path, str] = {}
        for case in cases:
            for name, digest in case.fields.get("sha256", {}).items():
                path = case.folder / name
                if path not in known:
                    try:
                        known[path] = hashlib.sha256(path.read_bytes()).hexdigest()
                    except OSError as error:
                        raise SuiteError(f"{case.id}: {error}") from error
                if known[path] != digest:
                    raise SuiteError(f"{case.id}: {path} is damaged: its SHA-256 is not the one in the manifest")


def select(cases: list[Case], words: list[str], seed: int | None) -> list[Case]:
    """The cases that each of the words selects, in the order of the manifests or shuffled by the seed."""
    chosen = [case for case in cases if all(any(case.matches(part) for part in word.split(",")) for word in words)]
    if seed is not None:
        random.Random(seed).shuffle(chosen)
    return chosen
