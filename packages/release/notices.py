"""The licences of the crates that are linked into the command: their text goes where the command goes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from release.common import Failed, run

TARGET = "x86_64-unknown-linux-gnu"
WORDS = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")


def linked(metadata: dict[str, Any], root: str) -> Iterator[dict[str, Any]]:
    """The crates of other projects that a crate is linked with, by name."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    waiting = [identity for identity, package in packages.items() if package["name"] == root]
    seen: set[str] = set()
    while waiting:
        identity = waiting.pop()
        if identity not in seen:
            seen.add(identity)
            needs = nodes[identity]["deps"]
            waiting += [need["pkg"] for need in needs if any(kind["kind"] is None for kind in need["dep_kinds"])]
    found = [packages[identity] for identity in seen if packages[identity]["source"]]
    yield from sorted(found, key=lambda package: (package["name"], package["version"]))


def texts(folder: Path) -> list[str]:
    """The licences in a crate's folder, and in those of the C libraries in it. GPL's is left out where there is a choice."""
    files = [path for depth in ("*", "*/*", "*/*/*") for path in sorted(folder.glob(depth)) if path.is_file()]
    named = [
        path for path in files if path.name.upper().startswith(WORDS) and path.suffix not in (".rs", ".py", ".c", ".h")
    ]
    libraries = {path.parent for path in named if path.name.upper().startswith(("LICENSE", "LICENCE"))}
    kept = [path for path in named if path.name != "COPYING" or path.parent not in libraries]
    return [path.read_text(errors="replace").strip() for path in kept]


def write(rust: Path, path: Path) -> None:
    """Write the licences of all crates that the command is linked with.

    Raises:
        Failed: a crate has no text of a licence.
    """
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", TARGET]
    metadata = json.loads(run(command, rust))
    parts = ["The command faro contains these packages. Licences that occur several times are printed once."]
    printed: dict[str, str] = {}
    for package in linked(metadata, "faro-cli"):
        name = f"{package['name']} {package['version']}"
        parts.append(f"{'=' * 80}\n{name}: {package['license']}\n{package['repository'] or ''}".strip())
        found = texts(Path(package["manifest_path"]).parent)
        if not found and package["license"] != "Apache-2.0":
            raise Failed(f"{name} is under {package['license']}, and has no text of it")
        if not found:
            parts.append("(its package has no text; that of Apache-2.0 is in the file LICENSE)")
        for text in found:
            parts.append(f"(its licence is printed at {printed[text]})" if text in printed else text)
            printed.setdefault(text, name)
    path.write_text("\n\n".join(parts) + "\n")
