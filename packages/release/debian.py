"""The package of Debian. `dpkg-deb` packs it: cargo-deb would compile itself and the command again."""

from __future__ import annotations

import email.utils
import gzip
import hashlib
import shutil
from pathlib import Path

from release import command, metadata
from release.common import run
from release.source import Source

NAME = "faro-cli"
COMPLETIONS = {
    "bash": "usr/share/bash-completion/completions/faro",
    "zsh": "usr/share/zsh/vendor-completions/_faro",
    "fish": "usr/share/fish/vendor_completions.d/faro.fish",
}
CONTROL = """\
Package: {name}
Version: {version}
Architecture: amd64
Maintainer: The Faro authors
Installed-Size: {size}
Depends: libc6 (>= {libc})
Section: utils
Priority: optional
Homepage: {address}
Description: {summary}
 Faro is an open file format for the data that distributed engines shuffle.
 The command packs tables into such files and takes them out again, shows
 what a file contains, and checks, compares, merges and repairs files.
"""
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Faro
Source: {address}

Files: *
Copyright: The Faro authors
License: Apache-2.0
 On Debian systems, the text of this licence is in
 /usr/share/common-licenses/Apache-2.0
Comment: The licences of the libraries in the program are in THIRD-PARTY.gz, in this folder.
"""
CHANGELOG = """\
{name} ({version}) unstable; urgency=medium

  * Changes are in {address}/blob/main/CHANGELOG.md

 -- The Faro authors  {date}
"""


def compressed(path: Path, content: bytes) -> None:
    """Write a file with gzip, without a time or a name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content, mtime=0))


def fill(source: Source, root: Path, program: Path) -> None:
    """Write everything that is installed."""
    (root / "usr/bin").mkdir(parents=True)
    shutil.copy(program, root / "usr/bin/faro")
    pages = root.parent / "man"
    shutil.rmtree(pages, ignore_errors=True)
    run([program, "man", "--all", pages], root.parent)
    for page in sorted(pages.iterdir()):
        compressed(root / "usr/share/man/man1" / f"{page.name}.gz", page.read_bytes())
    for shell, name in COMPLETIONS.items():
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text(run([program, "completions", shell], root.parent))
    documents = root / "usr/share/doc" / NAME
    address = metadata.value(source.folder / "rust/Cargo.toml", "repository")
    date = email.utils.formatdate(source.epoch)
    compressed(documents / "THIRD-PARTY.gz", (source.folder / "packages/faro-cli/THIRD-PARTY").read_bytes())
    compressed(
        documents / "changelog.gz",
        CHANGELOG.format(name=NAME, version=source.version, address=address, date=date).encode(),
    )
    (documents / "copyright").write_text(COPYRIGHT.format(address=address))


def build(source: Source, work: Path, out: Path) -> None:
    """Make the package in `command/`, with the program of the wheel there."""
    root = work / "debian/root"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    fill(source, root, command.program_of(out / "command", work / "program"))
    files = sorted(path for path in root.rglob("*") if path.is_file())
    for path in files:
        path.chmod(0o755 if path.parent.name == "bin" else 0o644)
    (root / "DEBIAN").mkdir()
    address = metadata.value(source.folder / "rust/Cargo.toml", "repository")
    summary = "look at, check, convert and repair Faro files"
    size = sum(-(-path.stat().st_size // 1024) for path in files)
    fields = {"name": NAME, "version": source.version, "size": str(size), "address": address}
    fields |= {"summary": summary, "libc": ".".join(map(str, command.GLIBC))}
    (root / "DEBIAN/control").write_text(CONTROL.format(**fields))
    sums = [
        f"{hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()}  {path.relative_to(root)}"
        for path in files
    ]
    (root / "DEBIAN/md5sums").write_text("\n".join(sums) + "\n")
    for path in root.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    made = out / "command" / f"{NAME}_{source.version}_amd64.deb"
    run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, made], work, source.environment)
