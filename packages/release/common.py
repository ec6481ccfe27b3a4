"""Folders, commands, and the environment that all parts share."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What a user's shell does not have, and what would lead back to the checkout.
OURS = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "MAKEFLAGS", "MFLAGS", "RUSTFLAGS", "CARGO_TARGET_DIR", "CLASSPATH")


CARGO_HOME = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))


class Failed(Exception):
    """A command that failed, or a package that is not as it must be. The message is for people."""


def run(
    command: Sequence[str | Path], folder: Path, environment: Mapping[str, str] | None = None, stdin: str = ""
) -> str:
    """Run a command in a folder. Returns what it printed to standard output.

    Raises:
        Failed: it ended with another status than 0; the message has the end of everything that it printed.
    """
    values = {name: value for name, value in os.environ.items() if name not in OURS} | dict(environment or {})
    arguments = [str(part) for part in command]
    try:
        done = subprocess.run(
            arguments, cwd=folder, env=values, input=stdin, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise Failed(f"{arguments[0]}: {os.strerror(error.errno or 0)}") from error
    if done.returncode:
        printed = (done.stdout + done.stderr).strip()[-6000:]
        raise Failed(f"{' '.join(arguments)} (in {folder}) ended with {done.returncode}:\n{printed}")
    return done.stdout


@contextmanager
def step(title: str) -> Iterator[None]:
    """Print the name of a step, and how long it took."""
    begin = time.monotonic()
    print(f"==> {title}", file=sys.stderr, flush=True)
    yield
    print(f"    {title}: {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)


def only(folder: Path, pattern: str) -> Path:
    """The one file of a folder that fits a pattern."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise Failed(f"{folder}: expected one {pattern}, found {[path.name for path in found]}")
    return found[0]


def environment_of_python(folder: Path, packages: Sequence[str | Path]) -> Path:
    """Make a fresh environment of Python in a folder, with these packages. Returns its folder of programs."""
    run([sys.executable, "-m", "venv", "--clear", folder], folder.parent)
    programs = folder / "bin"
    run(
        [programs / "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", *packages],
        folder.parent,
    )
    return programs


def tools(work: Path, names: Sequence[str] = ()) -> Path:
    """The pinned tools, or some of them, installed once. Returns their folder of programs."""
    lines = (ROOT / "packages/requirements.txt").read_text().splitlines()
    wanted = [line for line in lines if "==" in line and (not names or line.split("==")[0] in names)]
    stamp = work / "tools/installed.txt"
    if not stamp.exists() or stamp.read_text().splitlines() != wanted:
        with step("install the pinned tools"):
            environment_of_python(work / "tools", wanted)
            stamp.write_text("\n".join(wanted))
    return work / "tools/bin"
