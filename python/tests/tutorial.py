"""Runs the cells of a notebook, and keeps what they show.

    python tests/tutorial.py ../docs/tutorial.ipynb    # run it, and store the outputs in it

The usual programs, nbclient and ipykernel, bring twelve packages and start a server for what is a loop over cells.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILE_ID = re.compile(r"\b[0-9a-f]{32}\b")
"""What differs in each run."""


def code_cells(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The cells with code, in order."""
    return (cell for cell in notebook["cells"] if cell["cell_type"] == "code")


def run(notebook: dict[str, Any], folder: Path) -> list[list[dict[str, Any]]]:
    """Run all cells in a folder, and return their outputs as notebooks store them."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(folder) if sys.version_info >= (3, 11) else _inside(folder):
        return [_outputs("".join(cell["source"]), names, number) for number, cell in enumerate(code_cells(notebook), 1)]


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _outputs(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Run a cell; its last expression is what it shows."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    shown = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"<cell {number}>", "exec"), names)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), f"<cell {number}>", "eval"), names)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        found.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if shown is not None:
        data = {"text/plain": _lines(repr(shown))}
        # The text of other libraries is enough, and differs less between versions.
        if type(shown).__module__.startswith("faro_format"):
            data = {"text/html": _lines(FILE_ID.sub("0" * 32, shown._repr_html_())), **data}
        found.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return found


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main(path: Path) -> None:
    """Run a notebook, and store what its cells show in it."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        found = run(notebook, Path(folder))
    for number, (cell, outputs) in enumerate(zip(code_cells(notebook), found, strict=True), 1):
        cell.update(execution_count=number, outputs=outputs)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
