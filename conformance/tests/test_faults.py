"""The faults: each way in which a writer or reader can be wrong about them is found."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from faro_conformance.cli import main

CONFORMANCE = Path(__file__).parents[1]
BROKEN = Path(__file__).with_name("broken_testee.py")
PAIRED = "small,layout=paired,follow=True,durability=none"


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("shim") / "shim.so"
    source = CONFORMANCE / "faults" / "shim.c"
    subprocess.run(["cc", "-std=gnu11", "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
    return made


def run(shim: Path, kind: str | None, *arguments: str) -> int:
    testee = "python" if kind is None else shlex.join([sys.executable, str(BROKEN), kind])
    return main(["faults", "--testee", testee, "--shim", str(shim), "--seed", "3", *arguments])


def test_the_testee_itself(shim: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(shim, None, "writing", "kills", "--only", PAIRED, "--share", "0.05", "--kills", "2") == 0
    out = capsys.readouterr().out
    assert "0 faults" in out
    assert "kill long" in out


@pytest.mark.parametrize(
    ("kind", "what", "share", "only"),
    [
        ("short-writes", "files differ", "0.2", PAIRED),
        ("forgetful", "expected", "0.2", PAIRED),
        ("leftovers", "files are left", "0.2", "small,layout=paired,follow=False,durability=none"),
        ("message-first", "is committed before its data is there", "0.3", PAIRED),
    ],
)
def test_broken_writers(
    shim: Path, capsys: pytest.CaptureFixture[str], kind: str, what: str, share: str, only: str
) -> None:
    assert run(shim, kind, "writing", "--only", only, "--share", share) == 1
    assert what in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("short-writes", "files differ"),
        ("late-data", "and it had begun"),
        ("keeps-refused", "checks: error"),
    ],
)
def test_broken_merges(shim: Path, capsys: pytest.CaptureFixture[str], kind: str, what: str) -> None:
    assert run(shim, kind, "merging", "--share", "0.1") == 1
    assert what in capsys.readouterr().out


def test_a_reader_that_does_not_verify(shim: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(shim, "trusting", "reading", "--share", "0.2") == 1
    assert "wrong content is delivered as right" in capsys.readouterr().out


def test_a_testee_without_the_shim(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "shim.c"
    empty.write_text("int nothing;\n")
    made = tmp_path / "shim.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", made, empty], check=True)
    assert run(made, None, "writing", "--only", PAIRED, "--share", "0.01") == 1
    assert "it is not under the testee" in capsys.readouterr().out


def test_no_shim(shim: Path) -> None:
    assert run(shim.with_name("missing.so"), None, "writing") == 2


def test_no_such_part(shim: Path) -> None:
    assert run(shim, None, "earthquake") == 2
