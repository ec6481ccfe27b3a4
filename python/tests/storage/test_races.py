"""Writers and readers of one name at once, in threads and processes (PUB-3 to PUB-5).

A seed says what a round is, not how its threads interleave.
"""

from __future__ import annotations

import json
import os
import random
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from support import fault_of

from faro_format import ErrorCode, FaroError, Reader, Writer, WriterOptions
from faro_format._storage.names import Layout, paths_of

Ending = Literal["finish", "abort", "drop"]
OLDER = 9


@dataclass(frozen=True)
class Writing:
    """A writer of a round."""

    number: int
    overwrite: bool
    follow: bool
    ending: Ending

    def options(self, layout: Layout) -> WriterOptions:
        file_id = bytes([self.number]) * 16
        return WriterOptions(
            2, layout=layout, framing="opaque", overwrite=self.overwrite, follow=self.follow, file_id=file_id
        )

    def run(self, folder: Path, layout: Layout) -> str:
        """Write, and return how that ended."""
        try:
            writer = Writer(folder / "out", self.options(layout))
            for part in range(1 + self.number % 3):
                writer.write(0, bytes([self.number, part]) * 1000)
                writer.flush()
            if self.ending == "finish":
                writer.finish()
                return "finished"
            if self.ending == "abort":
                writer.abort()
        except FaroError as fault:
            return str(fault.code)
        return "nothing"


@dataclass(frozen=True)
class Round:
    """What goes on at once: by process, the writers of its threads."""

    layout: Layout
    older: bool
    processes: list[list[Writing]]

    @property
    def writers(self) -> list[Writing]:
        return [writing for writings in self.processes for writing in writings]


def draw(rng: random.Random) -> Round:
    layout: Layout = "single" if rng.random() < 0.25 else "paired"
    kind = rng.choice(["refusing", "overwriting", "mixed"])
    followed = rng.random() < 0.3
    processes: list[list[Writing]] = [[], []]
    for number in range(rng.randint(2, 4)):
        overwrite = {"refusing": False, "overwriting": True, "mixed": rng.random() < 0.5}[kind]
        ending: Ending = rng.choices(("finish", "abort", "drop"), (8, 1, 1))[0]
        follow = followed and rng.random() < 0.5
        # A follower of a writer that is dropped keeps what it wrote, unfinished.
        writing = Writing(number + 1, overwrite, follow, "abort" if follow and ending == "drop" else ending)
        processes[rng.randrange(2)].append(writing)
    return Round(layout, rng.random() < 0.4, processes)


def files(folder: Path, layout: Layout) -> dict[str, Any]:
    paths = paths_of(str(folder / "out"), layout)
    named = {"data": paths.data, "index": paths.index, "single": paths.single}
    return {role: path for role, path in named.items() if path is not None}


def read(folder: Path, layout: Layout) -> str:
    """What a reader sees: the number of an output, or a code."""
    try:
        with Reader(**files(folder, layout)) as reader:
            payload = b"".join(bytes(block.payload) for block in reader.partition(0))
            number = reader.header.file_id[0]
    except FaroError as fault:
        return str(fault.code)
    whole = b"".join(bytes([number, part]) * 1000 for part in range(1 + number % 3))
    return "whole" if payload == whole else f"a part of {number}"


def process(folder: Path, layout: Layout, writings: list[Writing], go: int, report: int) -> None:
    """Make the writers of one process, each in a thread, and a reader; report how all of that ended."""
    start = threading.Barrier(len(writings) + 1)
    ended: dict[str, str] = {}
    seen: list[str] = []

    def write(writing: Writing) -> None:
        start.wait()
        ended[str(writing.number)] = writing.run(folder, layout)

    def look() -> None:
        start.wait()
        seen.extend(read(folder, layout) for _ in range(5))

    threads = [threading.Thread(target=write, args=(writing,)) for writing in writings]
    threads.append(threading.Thread(target=look))
    os.read(go, 1)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.write(report, json.dumps([ended, seen]).encode())


def race(folder: Path, drawn: Round) -> tuple[dict[str, str], list[str]]:
    """Let a round's processes run; return how its writers ended, and what readers saw."""
    go, reports = os.pipe(), [os.pipe() for _ in drawn.processes]
    children = []
    for writings, report in zip(drawn.processes, reports, strict=True):
        child = os.fork()
        if child == 0:
            try:
                os.close(go[1])
                process(folder, drawn.layout, writings, go[0], report[1])
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    # All of them begin now.
    os.close(go[1])
    ended: dict[str, str] = {}
    seen: list[str] = []
    for child, report in zip(children, reports, strict=True):
        os.close(report[1])
        with open(report[0], "rb") as pipe:
            one, two = json.loads(pipe.read())
        assert os.waitpid(child, 0)[1] == 0
        ended |= one
        seen += two
    os.close(go[0])
    return ended, seen


def judge(drawn: Round, ended: dict[str, str], seen: list[str], visible: int | None) -> None:
    """Hold a round against what it must be."""
    hopeful = [writing for writing in drawn.writers if writing.ending == "finish"]
    won = [writing for writing in hopeful if ended[str(writing.number)] == "finished"]
    followed = any(writing.follow for writing in drawn.writers)
    assert set(ended.values()) <= {"finished", "nothing", "io"}
    expected: set[int | None] = {writing.number for writing in won}
    if followed:
        # A followed writer takes what was there away when it begins, and gives its own up when it is aborted.
        assert visible in {None, OLDER if drawn.older else None, *expected}
    else:
        modest = [writing for writing in won if not writing.overwrite]
        assert len(modest) <= (0 if drawn.older else 1)
        assert all(writing in won for writing in hopeful if writing.overwrite)
        assert won or drawn.older or not hopeful
        over = {writing.number for writing in won if writing.overwrite}
        assert visible in (over or expected or {OLDER if drawn.older else None})
    allowed = {"whole", "unfinished", "truncated"} if followed else {"whole"}
    if not drawn.older or followed:
        allowed.add("io")
    if drawn.layout == "paired" and any(writing.overwrite for writing in drawn.writers):
        allowed.add("mismatched-pair")
    assert set(seen) <= allowed


@pytest.mark.parametrize("seed", range(3))
def test_what_is_visible_is_one_whole_output_of_one_writer(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    whole: dict[tuple[Layout, int], dict[str, bytes]] = {}
    layouts: tuple[Layout, ...] = ("paired", "single")
    for layout in layouts:
        for number in (1, 2, 3, 4, OLDER):
            folder = tmp_path / f"{layout}{number}"
            folder.mkdir()
            assert Writing(number, False, False, "finish").run(folder, layout) == "finished"
            whole[layout, number] = {path.name: path.read_bytes() for path in folder.iterdir()}
    outcomes: set[str] = set()
    for turn in range(40):
        drawn = draw(rng)
        folder = tmp_path / f"round{turn}"
        folder.mkdir()
        if drawn.older:
            for name, content in whole[drawn.layout, OLDER].items():
                (folder / name).write_bytes(content)
        ended, seen = race(folder, drawn)
        there = {path.name: path.read_bytes() for path in folder.iterdir()}
        owners = [number for (layout, number), content in whole.items() if layout == drawn.layout and content == there]
        # Nothing else is there: no half of an output, no temporary file, no lock.
        assert owners or not there, f"seed {seed}, round {turn}: {drawn}: {sorted(there)}"
        judge(drawn, ended, seen, owners[0] if owners else None)
        outcomes |= {*ended.values(), *seen}
    # That there was something to see.
    assert outcomes >= {"finished", "io", "whole"}


def test_many_threads_without_overwrite(tmp_path: Path) -> None:
    """One of them wins, each time."""
    for turn in range(40):
        folder = tmp_path / str(turn)
        folder.mkdir()
        writers = [Writer(folder / "out", WriterOptions(2)) for _ in range(8)]
        start = threading.Barrier(len(writers))
        ended: list[ErrorCode | None] = []

        def finish(writer: Writer, barrier: threading.Barrier = start, to: list[ErrorCode | None] = ended) -> None:
            barrier.wait()
            fault = fault_of(writer.finish)
            writer.abort()
            to.append(None if fault is None else fault.code)

        threads = [threading.Thread(target=finish, args=(writer,)) for writer in writers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(map(str, ended)) == ["None", *["io"] * 7]
        assert sorted(os.listdir(folder)) == ["out.data", "out.index"]
        assert read(folder, "paired") == "whole" or Reader(**files(folder, "paired")).region_count == 0
