"""The crates: their content, a fresh project with the library, and the command from its crate."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

from installed.examples import PARTITION_7, code, must_print, round_trip
from release.common import Failed, run
from release.crates import NAMES

MANIFEST = """\
[package]
name = "fresh"
version = "1.0.0"
edition = "2024"

[dependencies]
faro-format = "{version}"

# Instead of the registry, which does not have it yet.
[patch.crates-io]
faro-format = {{ path = "{library}" }}
"""
WANTED = {"Cargo.toml", "Cargo.lock", "README.md", "LICENSE", ".cargo_vcs_info.json"}
ALLOWED = WANTED | {"Cargo.toml.orig", "build.rs"}
# What a registry shows beside the page.
FIELDS = ["description", "license", "repository", "readme", "keywords", "categories", "rust-version"]


def unpack(out: Path, fresh: Path, version: str) -> dict[str, Path]:
    """Unpack the crates, and check what is in them. Returns their folders.

    Raises:
        Failed: something is missing, or does not belong there.
    """
    folders = {}
    for name in NAMES:
        with tarfile.open(out / "crates" / f"{name}-{version}.crate") as crate:
            crate.extractall(fresh / "crates", filter="data")
        folder = folders[name] = fresh / "crates" / f"{name}-{version}"
        files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
        manifest = (folder / "Cargo.toml").read_text()
        lacks = sorted(WANTED - files) + [
            field for field in FIELDS if not re.search(rf"^{field} = ", manifest, re.MULTILINE)
        ]
        if lacks:
            raise Failed(f"{name}: lacks {', '.join(lacks)}")
        if foreign := sorted(file for file in files - ALLOWED if not file.startswith(("src/", "examples/"))):
            raise Failed(f"{name}: {', '.join(foreign)} does not belong there")
    return folders


def check(out: Path, fresh: Path, version: str, compiled: Path) -> Path:
    """Run the example of the library's page, and the command. Returns the folder with the output `orders`.

    `compiled` has what `cargo package` has compiled already; the library is compiled anew.
    """
    folders = unpack(out, fresh, version)
    project = fresh / "rust"
    (project / "src").mkdir(parents=True)
    (project / "Cargo.toml").write_text(MANIFEST.format(version=version, library=folders["faro-format"]))
    (example,) = code((folders["faro-format"] / "README.md").read_text(), "rust")
    (project / "src/main.rs").write_text(example)
    must_print(run(["cargo", "run", "--quiet"], project), PARTITION_7, "the example of the crate's page")
    patch = f'patch.crates-io.faro-format.path="{folders["faro-format"]}"'
    run(["cargo", "build", "--quiet", "--config", patch, "--target-dir", compiled], folders["faro-cli"])
    round_trip(compiled / "debug/faro", fresh / "rust-command", version)
    return project
