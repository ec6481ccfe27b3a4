"""What the packages say about themselves: one address, one licence, the same words in every registry."""

from __future__ import annotations

import re
from pathlib import Path

from release import versions
from release.common import Failed

DESCRIBED = [
    ("rust/faro/Cargo.toml", "python/pyproject.toml"),
    ("rust/faro-cli/Cargo.toml", "packages/faro-cli/pyproject.toml"),
]
ADDRESSED = ["python/pyproject.toml", "packages/faro-cli/pyproject.toml", "java/pom.xml", "java/faro-bom/pom.xml"]
LICENCES = ["python/LICENSE", "rust/faro/LICENSE", "rust/faro-cli/LICENSE", "packages/faro-cli/LICENSE"]
# What Maven Central asks of a POM; a module has the rest from its parent.
CENTRAL = ["name", "description", "url", "licenses", "developers", "scm"]
PUBLISHED = ["faro-format", "faro-hadoop", "faro-flink", "faro-spark", "faro-spark-merge"]


def value(path: Path, name: str) -> str:
    """A string of a TOML file, by the name at the beginning of its line."""
    found = re.search(rf'^{name} = "(.*)"$', path.read_text(), re.MULTILINE)
    if not found:
        raise Failed(f"{path}: no {name}")
    return found.group(1)


def faults(folder: Path) -> list[str]:
    """Where the metadata disagree, or lack what a registry asks for."""
    found = []
    address = value(folder / "rust/Cargo.toml", "repository")
    for name in ADDRESSED:
        others = set(re.findall(r"https://[^\"<]*", (folder / name).read_text()))
        allowed = (address, "https://www.apache.org/licenses/")
        found += [f"{name}: {one} is not in {address}" for one in sorted(others) if not one.startswith(allowed)]
        if address not in others:
            found.append(f"{name}: lacks {address}")
    for first, second in DESCRIBED:
        if value(folder / first, "description") != value(folder / second, "description"):
            found.append(f"the descriptions in {first} and {second} differ")
    text = (folder / "LICENSE").read_bytes()
    found += [f"{name} is not the licence" for name in LICENCES if (folder / name).read_bytes() != text]
    for module in ["", "faro-bom", *PUBLISHED]:
        pom = (folder / "java" / module / "pom.xml").read_text()
        wanted = ["name", "description"] if module in PUBLISHED else CENTRAL
        found += [f"java/{module}/pom.xml: no {name}" for name in wanted if f"\n  <{name}" not in pom]
    example = (folder / "rust/faro/examples/quickstart.rs").read_text()
    if example not in (folder / "rust/faro/README.md").read_text():
        found.append("rust/faro/README.md: its example is not rust/faro/examples/quickstart.rs")
    return found


def check(folder: Path) -> str:
    """The version of all packages.

    Raises:
        Failed: versions or metadata disagree, or lack something.
    """
    version = versions.agreed(folder)
    if wrong := faults(folder):
        raise Failed("\n".join(wrong))
    return version
