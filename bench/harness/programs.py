"""The programs of the three languages, and the command line of each for one cell of a part."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from harness.machine import REPOSITORY

_PATH = re.compile(r"(?<![\w.:/])(?:file:)?/(?:[\w.+~@-]+/)+([\w.+~@-]+)")
"""An absolute path, and its last part. The page of the results is of no one machine."""

MIB = 1 << 20
Cell = dict[str, str | int]
"""The values that all cases of a call share, by the keys of a case."""

RUST = REPOSITORY / "rust/target/release/faro-bench"
JAVA = REPOSITORY / "java/benchmarks/run"
JOBS = {
    "flink-jobs": REPOSITORY / "java/faro-flink/bench",
    "flink-hybrid": REPOSITORY / "java/faro-flink/bench",
    "flink-queries": REPOSITORY / "java/faro-flink/bench",
    "flink-tiny": REPOSITORY / "java/faro-flink/bench",
    "spark-jobs": REPOSITORY / "java/faro-spark/bench",
    "spark-push": REPOSITORY / "java/faro-spark/bench",
}
"""The programs of the parts that need an engine."""
SMALL = "small"
"""The folder with the small TPC-H tables, beside the others."""


class ProgramError(Exception):
    """A program could not be run, or failed."""


@dataclass(frozen=True)
class Call:
    """One start of a program."""

    language: str
    part: str
    cell: tuple[tuple[str, str | int], ...] = ()
    repetitions: int | None = None
    """None: the part has no such option."""
    plain_mib: int | None = None
    """MiB of plain record data in each repetition."""
    more: tuple[str, ...] = ()
    """Options of this part only."""
    subjects: tuple[str, ...] = ()
    """The subjects to measure; empty for all. Programs in Rust and Java have the option."""
    lineitem: bool = False
    """Whether rows of TPC-H's lineitem table are needed."""
    tables: bool = False
    """Whether all TPC-H tables are needed."""
    small_tables: bool = False
    """Whether all TPC-H tables are needed at a scale at which queries take no time."""
    timeout: float = 900.0
    """The most seconds that it may take."""

    def command(self, out: Path, folder: Path, lineitem: Path | None) -> list[str]:
        """The command line."""
        options = ["--out", str(out), "--dir", str(folder)]
        if self.language == "rust":
            # Its options have the keys' names, and take lists.
            command = [str(RUST), self.part, *options]
            for key, value in self.cell:
                command += ["--" + key.replace("_", "-"), str(value)]
            if self.plain_mib is not None:
                command += ["--bytes", str(self.plain_mib * MIB)]
            if self.repetitions is not None:
                command += ["--rounds", str(self.repetitions)]
            for subject in self.subjects:
                command += ["--only", subject]
        else:
            java = JOBS.get(self.part, JAVA)
            program = [sys.executable, "-m", "benchmarks"] if self.language == "python" else [str(java)]
            command = [*program, self.part, *options]
            for key, value in self.cell:
                command += ["--case", f"{key}={value}"]
            if self.plain_mib is not None:
                command += ["--plain-mib", str(self.plain_mib)]
            if self.repetitions is not None:
                command += ["--repetitions", str(self.repetitions)]
            for subject in self.subjects:
                command += ["--subject", subject]
            # Rust has the generator built in.
            if self.lineitem and lineitem is not None:
                command += ["--lineitem", str(lineitem)]
            if self.tables and lineitem is not None:
                command += ["--tables", str(lineitem.parent)]
            if self.small_tables and lineitem is not None:
                command += ["--tables", str(lineitem.parent / SMALL)]
        return [*command, *self.more]

    def __str__(self) -> str:
        cell = " ".join(f"{key}={value}" for key, value in self.cell)
        return " ".join(filter(None, (self.language, self.part, cell, " ".join(self.more))))


def run(call: Call, out: Path, folder: Path, lineitem: Path | None, prefix: list[str]) -> None:
    """Run a program to its end. Its output goes to the harness's standard error.

    Args:
        call: what to run.
        out: the file that it appends lines to.
        folder: where it makes files.
        lineitem: rows of TPC-H's table as text; the other tables are beside it if a call needs them.
        prefix: a command before the command, such as ``taskset``.

    Raises:
        ProgramError: it could not be started, failed, or took too long.
    """
    command = [*prefix, *call.command(out, folder, lineitem)]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    if call.part == "growth":
        # Peaks of memory are measured in one process, so glibc must return pieces above 1 MiB when they are freed.
        environment["MALLOC_MMAP_THRESHOLD_"] = str(MIB)
    try:
        # A new session, so that its children can be ended with it.
        process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
            env=environment,
            start_new_session=True,
        )
    except OSError as fault:
        raise ProgramError(f"{call}: {fault}") from fault
    with process:
        try:
            _, said = process.communicate(timeout=call.timeout)
        except subprocess.TimeoutExpired as fault:
            raise ProgramError(f"{call}: more than {call.timeout:.0f} s") from fault
        finally:
            if process.poll() is None:
                _end(process)
    if process.returncode:
        raise ProgramError(f"{call}: exit code {process.returncode}: {told(said)[-1500:]}")


def told(said: str) -> str:
    """What a program said of its failure: of Java what was thrown, without warnings and paths."""
    lines = (line for line in said.strip().splitlines() if not line.startswith(("\tat ", "WARNING: ")))
    return _PATH.sub(r"\1", "\n".join(lines))


def _end(process: subprocess.Popen[str]) -> None:
    """End a program and its children; at first in a way that lets it clean up."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
            return
