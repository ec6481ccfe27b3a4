"""Processes that were forked from a writer's (WRT-11): they have a copy of it, and its files are not theirs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from faro_format import check
from faro_format._storage.locks import Claim

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")

BEGIN = """
import multiprocessing, os, sys, faro_format as faro

def code_of(call, *arguments):
    try:
        call(*arguments)
    except faro.FaroError as fault:
        return str(fault.code)

writer = faro.Writer("out", faro.WriterOptions(2, {options}))
writer.write(0, b"x")
"""
END = """
writer.write(1, b"y")
writer.finish()
"""
# Each ends its child without an error.
CHILDREN = {
    "dropped at its end": "sys.exit(0)",
    "dropped": "del writer; os._exit(0)",
    "every call": """
calls = [lambda: writer.write(0, b"z"), lambda: writer.broadcast(b"z"), lambda: writer.multicast([1], b"z"),
    lambda: writer.write_batch([0], [0, 1], b"z"), lambda: writer.property("k", "v"),
    lambda: writer.dictionary(bytes(8)), writer.flush, writer.region, writer.finish, writer.abort,
    lambda: writer.__exit__(None, None, None)]
codes = {code_of(call) for call in calls}
os._exit(0 if codes == {"invalid-argument"} else 1)
""",
    "an exception": """
try:
    with writer:
        sys.exit(0)  # Which is an exception, and must stay one.
except faro.FaroError:
    os._exit(1)
""",
}


def run(folder: Path, program: str, options: str = "") -> None:
    program = BEGIN.format(options=options) + program + END
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(os.listdir(folder)) == ["out.data", "out.index"]
    assert check(data=folder / "out.data", index=folder / "out.index").blocks == 2


@pytest.mark.parametrize("options", ["", "follow=True"])
@pytest.mark.parametrize("child", CHILDREN)
def test_a_child_leaves_its_parents_files_alone(tmp_path: Path, child: str, options: str) -> None:
    inside = "".join(f"    {line}\n" for line in CHILDREN[child].strip().splitlines())
    run(tmp_path, f"child = os.fork()\nif child == 0:\n{inside}assert os.waitpid(child, 0)[1] == 0\n", options)


def test_a_region_that_was_begun_before_the_fork(tmp_path: Path) -> None:
    program = """
region = writer.region()
region.block(0, 1, b"event")
child = os.fork()
if child == 0:
    calls = [lambda: region.block(1, 1, b"z"), lambda: region.shared(), region.end, region.give_up]
    codes = {code_of(call) for call in calls}
    os._exit(0 if codes == {"invalid-argument"} else 1)
assert os.waitpid(child, 0)[1] == 0
region.give_up()
"""
    run(tmp_path, program)


def test_a_child_of_multiprocessing(tmp_path: Path) -> None:
    program = """
def work():
    global writer
    assert code_of(writer.write, 0, b"z") == "invalid-argument"
    del writer
child = multiprocessing.get_context("fork").Process(target=work)
child.start()
child.join()
assert child.exitcode == 0
"""
    run(tmp_path, program)


def test_a_claim_is_not_inherited() -> None:
    claim = Claim("test_a_claim_is_not_inherited")
    assert claim.take()
    child = os.fork()
    if child == 0:
        os._exit(0 if Claim("test_a_claim_is_not_inherited").take() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert not Claim("test_a_claim_is_not_inherited").take()
    claim.give_back()
    again = Claim("test_a_claim_is_not_inherited")
    assert again.take()
    again.give_back()
