"""The version of a release: where it is written, and that all places agree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from release.common import Failed

SNAPSHOT = "-SNAPSHOT"
NUMBER = r"\d+\.\d+\.\d+"
# The first match in a file counts; the group is the version.
RUST = [
    ("rust/Cargo.toml", r'^version = "([^"]*)"'),
    ("rust/Cargo.toml", r'^faro = \{ package = "faro-format", version = "([^"]*)"'),
    ("rust/faro-s3-check/Cargo.toml", r'^version = "([^"]*)"'),
]
PYTHON = [
    ("python/pyproject.toml", r'^version = "([^"]*)"'),
    ("python/faro_format/__init__.py", r'^__version__ = "([^"]*)"'),
]
# Locked versions of the workspace's own packages: those without a source.
LOCKS = ["rust/Cargo.lock", "rust/faro-s3-check/Cargo.lock", "fuzz/rust/Cargo.lock"]
LOCKED = r'^name = "(?:faro-format|faro-cli|faro-bench|faro-testee|faro-s3-check)"\nversion = "([^"]*)"\n(?!source)'
ARTIFACT = r"dev\.faro:[a-z0-9._-]+:"
POM = r"<groupId>dev\.faro</groupId>\s*<artifactId>[^<]*</artifactId>\s*<version>([^<$]*)</version>"
# Pages and checks that name the files of a build, with -SNAPSHOT, or an artifact of Maven.
NAMED = [
    "README.md",
    "docs/*.md",
    "scripts/spark-guide-check",
    "java/faro-testee/src/main/java/dev/faro/testee/Answers.java",
]
# What `faro info` prints, on a page whose commands are run.
PRINTED = [("docs/cli.md", rf"created by +faro-cli ({NUMBER})$")]


def poms(folder: Path) -> list[Path]:
    """Every POM of the Java project."""
    return sorted([folder / "java/pom.xml", *folder.glob("java/*/pom.xml"), folder / "fuzz/java/pom.xml"])


def places(folder: Path) -> Iterator[tuple[Path, re.Match[str]]]:
    """Every place in which the version is written, with a match whose group is that version."""
    for name, pattern in [*RUST, *PYTHON, *PRINTED]:
        found = re.search(pattern, (folder / name).read_text(), re.MULTILINE)
        if not found:
            raise Failed(f"{name}: no version: {pattern}")
        yield folder / name, found
    for name in LOCKS:
        for match in re.finditer(LOCKED, (folder / name).read_text(), re.MULTILINE):
            yield folder / name, match
    for path in poms(folder):
        found = re.search(POM, path.read_text())
        if not found:
            raise Failed(f"{path}: no version of dev.faro")
        yield path, found
    for glob in NAMED:
        for path in sorted(folder.glob(glob)):
            pattern = rf"(?:{ARTIFACT}(?={NUMBER})|(?={NUMBER}{SNAPSHOT}))({NUMBER}(?:{SNAPSHOT})?)"
            for match in re.finditer(pattern, path.read_text()):
                yield path, match


def agreed(folder: Path) -> str:
    """The one version of all places, without -SNAPSHOT.

    Raises:
        Failed: two places have different versions.
    """
    found = {(path, match.group(1).removesuffix(SNAPSHOT)) for path, match in places(folder)}
    if len({version for _, version in found}) != 1:
        listed = "\n".join(f"  {version:10} {path.relative_to(folder)}" for path, version in sorted(found))
        raise Failed(f"the versions differ:\n{listed}")
    return found.pop()[1]


def set_all(folder: Path, version: str) -> list[Path]:
    """Write a version in all places, with -SNAPSHOT where there was one. Returns the files that changed."""
    if not re.fullmatch(NUMBER, version):
        raise Failed(f"{version}: expected three numbers, such as 0.2.0")
    spans: dict[Path, list[re.Match[str]]] = {}
    for path, match in places(folder):
        spans.setdefault(path, []).append(match)
    for path, matches in spans.items():
        text = path.read_text()
        # From the end, so that the places before stay where they are.
        for match in sorted(matches, key=lambda one: one.start(1), reverse=True):
            suffix = SNAPSHOT if match.group(1).endswith(SNAPSHOT) else ""
            text = text[: match.start(1)] + version + suffix + text[match.end(1) :]
        path.write_text(text)
    return sorted(spans)


def without_snapshot(folder: Path) -> None:
    """Give the POMs the version of a release. Only in a copy: in the repository they name a build, not a release."""
    for path in poms(folder):
        text = path.read_text()
        path.write_text(re.sub(POM, lambda match: match.group(0).replace(SNAPSHOT, ""), text))
