"""A run: steps in order, with a progress bar on a terminal or else a line for each call, in a temporary folder."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from tqdm import tqdm

from harness import lines
from harness.lines import Line, LineError
from harness.plan import Step
from harness.programs import ProgramError, run


@contextlib.contextmanager
def work_folder(parent: Path) -> Iterator[Path]:
    """A folder for the files of a run. It is removed at the end, even if the run is interrupted or terminated."""

    def stop(number: int, _: FrameType | None) -> None:
        raise KeyboardInterrupt(signal.Signals(number).name)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        with tempfile.TemporaryDirectory(prefix="faro-bench-", dir=parent) as name:
            yield Path(name)
    finally:
        signal.signal(signal.SIGTERM, before)


def lineitem(folder: Path, scale: float, *, others: bool = False) -> Path:
    """Make rows of TPC-H's lineitem table as text and, if wanted, the other tables beside it."""
    generator = Path(sys.executable).parent / "tpchgen-cli"
    chosen = [] if others else ["-T", "lineitem"]
    command = [str(generator), "tbl", "-s", str(scale), *chosen, "-o", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "lineitem.tbl"


@dataclass(frozen=True)
class Measured:
    """What a run measured."""

    lines: list[Line]
    """Joined over all turns that ended."""
    failures: list[str]
    turns: int
    """The turns that ended."""
    of: int
    """The turns of the whole run."""

    @property
    def interrupted(self) -> bool:
        """Whether the run ended early."""
        return self.turns < self.of


def measure(
    steps: list[Step],
    folder: Path,
    prefix: list[str],
    *,
    say: Callable[[str], None],
    table: Path | None = None,
) -> Measured:
    """Run the programs. An interruption ends the run; the turns that ended before it are kept.

    Args:
        steps: what to run.
        folder: where they make files.
        prefix: a command before each command.
        say: gets each line for the terminal.
        table: rows of TPC-H's lineitem table.
    """
    found: list[Line] = []
    failures: list[str] = []
    turns = [(step, turn) for step in steps for turn in range(step.turns)]
    ended, begun, total = 0, 0, sum(len(step.calls) for step, _ in turns)
    with (
        contextlib.suppress(KeyboardInterrupt),
        tqdm(total=total, unit="call", disable=None, leave=False, dynamic_ncols=True) as bar,
    ):
        for step, turn in turns:
            # Programs that are compared are kept together or not at all.
            got: list[Line] = []
            failed: list[str] = []
            for number, call in enumerate(step.calls):
                bar.set_postfix_str(str(call))
                if bar.disable:
                    say(f"{begun + 1} of {total}: {call}")
                begun += 1
                out = folder / "lines"
                out.unlink(missing_ok=True)
                try:
                    run(call, out, folder, table, prefix)
                    new = lines.read(out) if out.exists() else []
                    if not new and not number and not turn:
                        failed.append(f"{call}: it reported nothing")
                    got += new
                except (ProgramError, LineError) as fault:
                    failed.append(str(fault))
                    bar.clear()
                    say(f"failed: {fault}")
                bar.update()
            found += got
            failures += failed
            ended += 1
    return Measured(lines.join(found), failures, ended, len(turns))
