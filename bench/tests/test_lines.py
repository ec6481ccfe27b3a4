"""Lines: which are refused, how they are joined, and what repetitions give."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from support import bench, line

from harness import machine
from harness.figures import Results, Turns, ratio, speed
from harness.lines import LineError, join, parse, read, validator


def test_what_is_handed_over_comes_back() -> None:
    one = line("rust", "faro", [1.0, 2.0])
    assert parse([one.to_json()], "x") == [one]
    validator("schema.json").validate(bench([one]))


@pytest.mark.parametrize(
    "change",
    [
        {"part": "speed"},
        {"language": "c"},
        {"subject": "Faro 2"},
        {"seconds": []},
        {"seconds": [0]},
        {"plain_bytes": -1},
        {"case": {"partitions": "64"}},
        {"more": 1},
        {"case": None},
    ],
)
def test_what_is_no_line_is_refused(change: dict[str, Any]) -> None:
    good = line("rust", "faro", [1.0]).to_json()
    with pytest.raises(LineError, match="x: line 2"):
        parse([good, good | change], "x")


def test_a_file_that_is_no_json(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text(json.dumps(line("rust", "faro", [1.0]).to_json()) + "\n{")
    with pytest.raises(LineError, match="line 2"):
        read(path)


def test_turns_are_joined_in_order() -> None:
    turns = [line("rust", "faro", [1.0]), line("java", "flink", [4.0]), line("rust", "faro", [2.0])]
    other = line("rust", "faro", [9.0], partitions=1000)
    joined = join([*turns, other])
    assert [(one.name, one.seconds) for one in joined] == [
        (("rust", "faro"), (1.0, 2.0)), (("java", "flink"), (4.0,)), (("rust", "faro"), (9.0,)),
    ]  # fmt: skip
    assert [one.turns for one in joined] == [2, 1, 1]
    again = parse([one.to_json() for one in joined], "lines")
    assert [one.turns for one in join([*again, turns[0]])] == [3, 1, 1]


def test_turns_are_compared_by_their_medians() -> None:
    mine = join([line("java", "faro", [1.0, 9.0, 1.0]), line("java", "faro", [1.0, 1.0, 0.1])])
    theirs = join([line("java", "flink", [2.0, 2.0, 0.1]), line("java", "flink", [8.0, 8.0, 8.0])])
    found = Turns.of(mine[0], theirs[0])
    assert found is not None
    # Twice and eight times as fast: four times, give or take twice.
    assert (found.count, round(found.mean, 9), round(found.error, 9)) == (2, 4.0, round(math.log(2), 9))
    assert Turns.of(line("java", "faro", [1.0]), line("java", "flink", [1.0])) is None
    assert Turns.of(mine[0], line("java", "flink", [1.0])) is None


def test_ratios_are_taken_repetition_by_repetition() -> None:
    mine, theirs = line("rust", "faro", [1.0, 2.0, 4.0]), line("java", "flink", [2.0, 8.0, 4.0], plain_bytes=5)
    found = ratio(mine, theirs)
    assert (found.median, found.least, found.most) == (2.0, 1.0, 4.0)
    assert speed(mine).median == 0.5e9
    results = Results([mine, theirs, line("java", "flink", [1.0], partitions=1000)])
    assert results.peer(mine, "java", "flink") is theirs
    assert [spread.median for _, spread in results.ratios(mine.name, theirs.name, "write")] == [2.0]


def test_the_filesystem_of_a_folder() -> None:
    mounts = ["/dev/a / ext4 rw 0 0", "tmpfs /tmp tmpfs rw,size=1 0 0", "/dev/b /tmp/more\\040room xfs ro 0 0"]
    assert machine.filesystem(Path("/tmp/x"), mounts) == "tmpfs (rw,size=1)"
    assert machine.filesystem(Path("/tmp/more room/x"), mounts) == "xfs (ro)"
    assert machine.filesystem(Path("/usr"), mounts) == "ext4 (rw)"


def test_the_version_of_an_engine_is_that_of_the_class_path() -> None:
    assert (
        machine.jar("flink-runtime", ["/flink-core-2.2.0.jar:/m/flink-runtime-2.3.0.jar:/flink-runtime-web.jar"])
        == "2.3.0"
    )
    assert machine.jar("flink-runtime", []) == "unknown"
