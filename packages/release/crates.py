"""The library and the command as crates."""

from __future__ import annotations

import shutil
from pathlib import Path

from release.common import run
from release.source import Source

NAMES = ["faro-format", "faro-cli"]


def build(source: Source, work: Path, out: Path, verify: bool = True) -> None:
    """Make `crates/`. To verify, cargo compiles both from the files of the crates, the command with that library."""
    made = out / "crates"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    target = work / "target"
    chosen = [part for name in NAMES for part in ("--package", name)]
    options = ["--locked", "--quiet"] + ([] if verify else ["--no-verify"])
    run(["cargo", "package", *options, *chosen, "--target-dir", target], source.folder / "rust", source.environment)
    for name in NAMES:
        shutil.copy(target / "package" / f"{name}-{source.version}.crate", made)
