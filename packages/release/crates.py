"""The library and the command as crates."""

from __future__ import annotations

import shutil
from pathlib import Path

from release.common import CARGO_HOME, run
from release.source import Source

NAMES = ["faro-format", "faro-cli"]


def forget(target: Path, version: str) -> None:
    """Remove what an earlier build left of the library. Cargo believes that a crate of a registry never changes."""
    # A registry without a host is one that `cargo package` made, for crates that are verified together.
    for name in NAMES:
        for folder in CARGO_HOME.glob(f"registry/src/-*/{name}-{version}"):
            shutil.rmtree(folder)
    for mark in target.glob("debug/.fingerprint/faro-*"):
        shutil.rmtree(mark)


def build(source: Source, work: Path, out: Path, verify: bool = True) -> None:
    """Make `crates/`. To verify, cargo compiles both from the files of the crates, the command with that library."""
    made = out / "crates"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    target = work / "target"
    forget(target, source.version)
    chosen = [part for name in NAMES for part in ("--package", name)]
    options = ["--locked", "--quiet"] + ([] if verify else ["--no-verify"])
    run(["cargo", "package", *options, *chosen, "--target-dir", target], source.folder / "rust", source.environment)
    for name in NAMES:
        shutil.copy(target / "package" / f"{name}-{source.version}.crate", made)
