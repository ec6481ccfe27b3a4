"""The command as a wheel for Linux, and as a package of Debian with the same program."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import zipfile
from pathlib import Path

from release import notices
from release.common import CARGO_HOME, Failed, only, run
from release.source import Source

# The oldest glibc with renameat2, which publishes a file in one step: Debian 10, Ubuntu 20.04, RHEL 8 and newer.
GLIBC = (2, 28)
PORTABLE = f"manylinux_{GLIBC[0]}_{GLIBC[1]}"


def build(source: Source, tools: Path, work: Path, out: Path) -> None:
    """Make the wheel in `command/`, and `sbom/rust.cdx.json`."""
    made = out / "command"
    shutil.rmtree(made, ignore_errors=True)
    (out / "sbom").mkdir(parents=True, exist_ok=True)
    project = source.folder / "packages/faro-cli"
    notices.write(source.folder / "rust", project / "THIRD-PARTY")
    # Paths of this machine would be in the messages of panics.
    paths = {source.folder: "faro", CARGO_HOME: "cargo", work / "target": "target"}
    environment = source.environment | {
        "CARGO_TARGET_DIR": str(work / "target"),
        "RUSTFLAGS": " ".join(f"--remap-path-prefix={path}={name}" for path, name in paths.items()),
        "CFLAGS": " ".join(f"-ffile-prefix-map={path}={name}" for path, name in paths.items()),
        "PATH": f"{tools}:{os.environ['PATH']}",
    }
    options = ["--release", "--locked", "--zig", "--target", notices.TARGET, "--compatibility", PORTABLE]
    run([tools / "maturin", "build", *options, "--out", made], project, environment)
    (out / "sbom/rust.cdx.json").write_bytes(without_paths(only(made, "*.whl"), source.folder))
    run([tools / "twine", "check", "--strict", only(made, "*.whl")], work)
    needs_no_newer(program_of(made, work / "program"))


def without_paths(path: Path, folder: Path) -> bytes:
    """Take this machine's folder out of a wheel's list of crates, which names it. Returns the list."""
    with zipfile.ZipFile(path) as wheel:
        files = {entry: wheel.read(entry) for entry in wheel.infolist()}
    (listed,) = (entry for entry in files if "/sboms/" in entry.filename)
    (record,) = (entry for entry in files if entry.filename.endswith(".dist-info/RECORD"))
    files[listed] = files[listed].replace(str(folder).encode(), b"/faro")
    # A wheel records the sum and the size of every file in it.
    sum_ = base64.urlsafe_b64encode(hashlib.sha256(files[listed]).digest()).rstrip(b"=").decode()
    lines = files[record].decode().splitlines()
    new = f"{listed.filename},sha256={sum_},{len(files[listed])}"
    lines = [new if line.startswith(f"{listed.filename},") else line for line in lines]
    files[record] = ("\n".join(lines) + "\n").encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for entry, content in files.items():
            wheel.writestr(entry, content)
    return files[listed]


def program_of(made: Path, folder: Path) -> Path:
    """Take the program out of the wheel. Returns its path."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with zipfile.ZipFile(only(made, "*.whl")) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(".data/scripts/faro"))
        (folder / "faro").write_bytes(wheel.read(name))
    (folder / "faro").chmod(0o755)
    return folder / "faro"


def needs_no_newer(program: Path) -> None:
    """Check that a program needs no function of a newer glibc than its wheel says.

    Raises:
        Failed: it does.
    """
    named = re.findall(rb"\bGLIBC_(\d+)\.(\d+)", program.read_bytes())
    newest = max((int(major), int(minor)) for major, minor in named)
    if newest > GLIBC:
        raise Failed(f"{program} needs glibc {newest[0]}.{newest[1]}, and its wheel says {PORTABLE}")
