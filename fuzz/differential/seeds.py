"""The outputs that mutations begin with: those of the conformance cases and of the gold corpus."""

from __future__ import annotations

import hashlib
import random
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from faro_conformance.manifest import Suite
from faro_conformance.protocol import SuiteError

from differential.blocks import Files
from differential.compose import compose, compose_payloads

# Larger files cost time and contain nothing that smaller ones do not.
LARGEST = 64 << 10
_WRITTEN_KEPT = 64
# The names of files with many payloads begin so. These files are mostly not mutated.
PAYLOADS = "payloads"
_ROLE_OF_SUFFIX = {".data": "data", ".index": "index", ".faro": "single"}


@dataclass
class Seeds:
    """Outputs by name, the last ones that random scripts wrote, and random ones."""

    committed: list[tuple[str, Files]]
    written: deque[tuple[str, Files]] = field(default_factory=lambda: deque(maxlen=_WRITTEN_KEPT))

    def draw(self, rng: random.Random) -> tuple[str, Files]:
        """One of them, or a new random one."""
        way = rng.random()
        if self.written and way < 0.2:
            return rng.choice(self.written)
        if way < 0.24:
            seed = rng.getrandbits(32)
            return f"{PAYLOADS} {seed}", compose_payloads(random.Random(seed))
        if way < 0.58:
            seed = rng.getrandbits(32)
            return f"composed {seed}", compose(random.Random(seed))
        return rng.choice(self.committed)


def load(conformance: Path) -> Seeds:
    """The seeds of the folder conformance/, without those that are equal to another or large."""
    outputs: dict[str, dict[str, Path]] = {}
    for path in sorted(conformance.glob("gold/*/*")):
        if path.suffix in _ROLE_OF_SUFFIX:
            outputs.setdefault(f"gold/{path.stem}", {})[_ROLE_OF_SUFFIX[path.suffix]] = path
    for case in Suite(conformance).cases(conformance / "nothing"):
        if case.op in ("read", "repair") and not case.generated:
            outputs[case.id] = case.files()
    committed: list[tuple[str, Files]] = []
    seen: set[bytes] = set()
    for name, paths in outputs.items():
        if not paths or not all(path.is_file() and path.stat().st_size <= LARGEST for path in paths.values()):
            continue
        files = {role: path.read_bytes() for role, path in paths.items()}
        digest = hashlib.sha256(b"".join(role.encode() + data for role, data in sorted(files.items()))).digest()
        if digest not in seen:
            seen.add(digest)
            committed.append((name, files))
    if not committed:
        raise SuiteError(f"no seeds in {conformance}")
    return Seeds(committed)
