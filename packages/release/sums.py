"""SHA-256 of every file, and what differs between two builds."""

from __future__ import annotations

import hashlib
from pathlib import Path

from release.common import Failed

FILE = "SHA256SUMS"


def compute(out: Path) -> dict[str, str]:
    """The sum of every file of a folder, by its name in it."""
    files = sorted(path for path in out.rglob("*") if path.is_file() and path.name != FILE)
    return {path.relative_to(out).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def write(out: Path) -> None:
    """Write the sums, in the form that `sha256sum --check` reads."""
    (out / FILE).write_text("".join(f"{sum_}  {name}\n" for name, sum_ in compute(out).items()))


def verify(out: Path) -> None:
    """Compare the files with their sums.

    Raises:
        Failed: a file differs, is missing, or has no sum.
    """
    if not (out / FILE).exists():
        raise Failed(f"{out}: no {FILE}: run make packages")
    lines = (line.split("  ", 1) for line in (out / FILE).read_text().splitlines())
    written = {name: sum_ for sum_, name in lines}
    if wrong := differences(written, compute(out)):
        raise Failed(f"{out}: not as {FILE} says: {some(wrong)}")


def differences(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """The names of files that differ, or that only one has."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def some(names: list[str]) -> str:
    """The first names of a list, and how many more there are."""
    more = f", and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more
