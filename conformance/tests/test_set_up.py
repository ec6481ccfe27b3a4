"""The start of `make test` and `make demo`: all missing tools are listed at once, and steps report that they run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
# What the script itself runs.
NEEDED = ("sh", "sed", "sort", "head", "dirname")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    for name in NEEDED:
        found = shutil.which(name)
        assert found is not None
        (tmp_path / name).symlink_to(found)
    return tmp_path


def check_tools(path: Path) -> subprocess.CompletedProcess[str]:
    sh = shutil.which("sh") or "/bin/sh"
    return subprocess.run([sh, SCRIPTS / "check-tools"], env={"PATH": str(path)}, capture_output=True, text=True)


def test_all_missing_tools_are_named_at_once_with_their_packages(path: Path) -> None:
    done = check_tools(path)
    assert done.returncode == 2
    for tool, package in [
        ("cargo", "rustup"), ("javac 17", "openjdk-17-jdk"), ("mvn", "maven"), ("python3 3.10", "python3"),
        ("cc", "gcc"), ("c++", "g++"), ("cmake", "cmake"),
    ]:  # fmt: skip
        assert any(tool in line and package in line for line in done.stderr.splitlines()), (tool, done.stderr)


def test_a_tool_that_is_too_old_is_named_with_its_version(path: Path) -> None:
    old = path / "javac"
    old.write_text("#!/bin/sh\necho javac 11.0.2\n")
    old.chmod(0o755)
    assert "javac 17 or newer            found 11.0.2" in check_tools(path).stderr


def test_a_step_says_what_it_does_and_ends_as_its_command() -> None:
    program = [sys.executable, "-c", "import sys; sys.exit(3)"]
    done = subprocess.run([SCRIPTS / "step", "A step", *program], capture_output=True, text=True)
    assert done.returncode == 3
    assert done.stderr.splitlines()[0] == "==> A step"
    assert "A step: FAILED in" in done.stderr
