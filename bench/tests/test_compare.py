"""The guard against regressions: which changes it accepts, and which not."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from support import bench, line

from harness import compare, store
from harness.lines import Line


def run(tmp_path: Path, before: list[Line], after: list[Line], *options: str) -> int:
    for name, lines in (("a", before), ("b", after)):
        (tmp_path / name).write_text(json.dumps(bench(lines)))
    return compare.main([str(tmp_path / "b"), "--before", str(tmp_path / "a"), *options])


def measured(faro: list[float], limit: list[float]) -> list[Line]:
    return [line("rust", "faro", faro), line("rust", "raw-write", limit)]


BEFORE = measured([2.0, 2.0, 2.2], [1.0, 1.0, 1.0])


def test_a_slower_machine_is_no_regression(tmp_path: Path) -> None:
    assert run(tmp_path, BEFORE, measured([6.0, 6.0, 6.3], [3.0, 3.0, 3.0])) == 0


def test_a_regression_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # The same seconds as before, on a machine that became faster.
    assert run(tmp_path, BEFORE, measured([2.0, 2.0, 2.2], [0.7, 0.7, 0.7])) == 1
    assert "WORSE write rust faro" in capsys.readouterr().out


def test_what_spreads_has_to_fall_further(tmp_path: Path) -> None:
    spread = measured([2.0, 2.0, 4.0], [1.0, 1.0, 1.0])
    slower = measured([4.0, 4.0, 4.0], [1.0, 1.0, 1.0])
    assert run(tmp_path, spread, slower) == 0
    assert run(tmp_path, spread, measured([4.6, 4.6, 4.6], [1.0, 1.0, 1.0])) == 1


def test_the_threshold(tmp_path: Path) -> None:
    after = measured([2.5, 2.5, 2.5], [1.0, 1.0, 1.0])
    assert run(tmp_path, BEFORE, after) == 1
    assert run(tmp_path, BEFORE, after, "--threshold", "0.3") == 0


def test_what_is_gone_fails_unless_that_is_allowed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = [*BEFORE, line("rust", "faro", [1.0], partitions=9), line("rust", "raw-write", [1.0], partitions=9)]
    assert run(tmp_path, more, BEFORE) == 1
    assert "gone" in capsys.readouterr().out
    assert run(tmp_path, more, BEFORE, "--allow-missing") == 0
    # The same subject with another limit is another measurement.
    assert run(tmp_path, BEFORE, [line("rust", "faro", [2.0]), line("rust", "memcpy", [1.0])]) == 1


def test_peers_are_not_judged(tmp_path: Path) -> None:
    before = [*BEFORE, line("java", "flink", [1.0])]
    assert run(tmp_path, before, [*BEFORE, line("java", "flink", [50.0])]) == 0


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, BEFORE, measured([9.0, 9.0, 9.0], [1.0, 1.0, 1.0]), "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert told["compared"] == 1
    assert told["worse"][0]["limit"] == "rust raw-write"
    assert told["worse"][0]["factor"] == pytest.approx(2 / 9)


def test_what_is_no_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a").write_text("{}")
    for name in (str(tmp_path / "a"), "no-such-revision"):
        assert compare.main([name]) == 2
    (tmp_path / "b").write_text(json.dumps(bench(BEFORE)))
    (tmp_path / "empty").mkdir()
    for name in ("a", "empty", "no-such-revision"):
        assert compare.main([str(tmp_path / "b"), "--before", str(tmp_path / name)]) == 2
    assert run(tmp_path, [line("rust", "faro", [1.0])], BEFORE) == 2
    with pytest.raises(SystemExit):
        compare.main(["a", "--threshold", "1"])
    capsys.readouterr()


def test_a_folder_is_asked_for_the_same_machine_and_else_for_all(tmp_path: Path) -> None:
    folder = tmp_path / "machines"
    folder.mkdir()
    fast, slow = BEFORE, measured([4.0, 4.0, 4.0], [1.0, 1.0, 1.0])
    for name, lines in (("c", fast), ("other", slow)):
        (folder / f"{name}.json").write_text(json.dumps(bench(lines)))
    after = bench(slow)
    (tmp_path / "after").write_text(json.dumps(after))
    arguments = [str(tmp_path / "after"), "--before", str(folder)]
    # The machine of the invented results is called c.
    assert compare.main(arguments) == 1
    after["machine"] = after["machine"] | {"cpu": "New(R) 3000 CPU"}
    (tmp_path / "after").write_text(json.dumps(after))
    assert compare.main(arguments) == 0


def test_a_revision_has_its_machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True)

    store.save(bench(BEFORE), store.path_of(tmp_path, "c"))
    git("init", "--quiet")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "results")
    monkeypatch.setattr(compare, "REPOSITORY", tmp_path)
    (tmp_path / "after").write_text(json.dumps(bench(measured([9.0], [1.0]))))
    assert compare.main([str(tmp_path / "after"), "--before", "HEAD"]) == 1
    assert compare.main([str(tmp_path / "after"), "--before", "HEAD", "--threshold", "0.9"]) == 0
