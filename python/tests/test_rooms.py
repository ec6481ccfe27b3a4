"""The rooms of the library: a module uses only rooms below its own, and nothing in its room that uses it."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "faro_format"
ROOMS = [
    *("_error", "_arguments", "_limits", "_fsspec", "_pyarrow", "_extras", "_bytes", "_codec", "_dictionaries"),
    *("_storage", "storage", "generated", "_block", "_message", "_index", "plan", "_tables", "_picture", "_reader"),
    *("_follow", "_check", "_writer", "hybrid", "_repair", "merge", "_shuffle", "key", "arrow"),
    *("_pack", "_command", "__main__"),
]
"""From the bottom up, as docs/architecture.md draws them."""


def modules(package: Path) -> dict[str, Path]:
    """The modules of a package by their names, without generated code and the front door."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        if parts[0] != "generated" and parts != ("__init__",):
            found[".".join(part for part in parts if part != "__init__")] = path
    return found


def used(path: Path, known: set[str]) -> Iterator[str]:
    """What a module imports of the package, wherever in it, for types too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.split(".")[0] == "faro_format":
                inner = name.removeprefix("faro_format").lstrip(".")
                while inner and inner not in known:
                    inner = inner.rpartition(".")[0]
                yield inner or name


def faults(package: Path) -> Iterator[str]:
    """Arrows that run back up, rooms that are not in the plan, and circles."""
    found = modules(package)
    arrows = {name: set(used(path, {*found, "generated"})) - {name} for name, path in found.items()}
    for name, targets in arrows.items():
        room = name.split(".")[0]
        if room not in ROOMS:
            yield f"{name}: there is no room {room}"
            continue
        for target in targets:
            below = target.split(".")[0]
            if below not in ROOMS or ROOMS.index(below) > ROOMS.index(room):
                yield f"{name} uses {target}"
    done: set[str] = set()

    def circle(name: str, way: tuple[str, ...]) -> str | None:
        if name in way:
            return " -> ".join((*way[way.index(name) :], name))
        if name in done:
            return None
        for target in sorted(arrows.get(name, ())):
            if shown := circle(target, (*way, name)):
                return shown
        done.add(name)
        return None

    for name in sorted(arrows):
        if shown := circle(name, ()):
            yield f"a circle: {shown}"
            return


def test_arrows_run_one_way() -> None:
    assert list(faults(PACKAGE)) == []


def rows_of_the_page() -> Iterator[set[str]]:
    """The rooms of each row of docs/architecture.md, in Python's column."""
    page = PACKAGE.parents[1] / "docs" / "architecture.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    first = next(number for number, line in enumerate(lines) if "Python (`faro_format`)" in line)
    for line in itertools.takewhile(lambda line: line.startswith("|"), lines[first + 2 :]):
        yield set(line.split("|")[6].split("`")[1::2])


def test_the_page_has_the_same_rooms() -> None:
    rooms = iter(room for room in ROOMS if room != "generated")
    for row in rows_of_the_page():
        assert set(itertools.islice(rooms, len(row))) == row
    assert list(rooms) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"_block/a.py": "from faro_format._reader.b import B", "_reader/b.py": ""}, "_block.a uses _reader.b"),
        ({"attic/a.py": ""}, "attic.a: there is no room attic"),
        (
            {
                "_block/a.py": "if TYPE_CHECKING:\n    from faro_format._block import b",
                "_block/b.py": "def f():\n    import faro_format._block.a",
            },
            "a circle: _block.a -> _block.b -> _block.a",
        ),
    ],
)
def test_wrong_arrows_are_found(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert expected in list(faults(tmp_path))
