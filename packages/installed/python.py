"""The wheel and the source of the library, each in a fresh environment of Python."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from installed.examples import PARTITION_7, code, must_print
from release.common import Failed, environment_of_python, only, run

# What the page's example of tables prints.
TABLE = ["{'id': [1, 3], 'name': ['one', 'three']}"]
# The number of the page's commands, and what the last of them prints at its end.
COMMANDS = 5
SKEWED = "[18558 rows x 2 columns]"
# Beginnings of the variables with which pip finds a registry.
REACH = ("PIP_", "HTTP", "SSL", "NO_PROXY", "REQUESTS")
WHERE = """
import importlib.metadata, json, faro_format
about = importlib.metadata.metadata("faro-format")
print(json.dumps({
    "module": faro_format.__file__, "version": faro_format.__version__, "named": about["Version"],
    "licence": about["License-Expression"], "links": about.get_all("Project-URL"), "extras": about.get_all("Provides-Extra"),
    "page": about.get_payload(), "files": [str(file) for file in importlib.metadata.files("faro-format")],
}))
"""


def tell(programs: Path, folder: Path, version: str) -> dict[str, Any]:
    """What the installed package says of itself.

    Raises:
        Failed: it is not the package that was installed, or lacks something.
    """
    about: dict[str, Any] = json.loads(run([programs / "python", "-c", WHERE], folder))
    lacks = [name for name in ("licence", "links", "extras") if not about[name]]
    lacks += [name for name in ("faro_format/py.typed",) if name not in about["files"]]
    lacks += ["LICENSE"] if not any(name.endswith("licenses/LICENSE") for name in about["files"]) else []
    if lacks:
        raise Failed(f"faro-format lacks {', '.join(lacks)}")
    if {about["version"], about["named"]} != {version} or not Path(about["module"]).is_relative_to(programs.parent):
        raise Failed(
            f"expected faro-format {version} in {programs.parent}, found {about['version']}: {about['module']}"
        )
    return about


def follow(source: Path, home: Path) -> None:
    """Follow the five commands of the page literally, in a copy of the source, with nothing else installed.

    Raises:
        Failed: a command fails, the picture lacks the skew, or the partition has another number of rows.
    """
    (commands,) = code((source / "python/README.md").read_text(), "sh")
    if len(commands.splitlines()) != COMMANDS:
        raise Failed(f"expected {COMMANDS} commands in python/README.md, found:\n{commands}")
    # Nothing of this shell's Python; what pip needs to reach a registry stays.
    kept = [f"{name}={value}" for name, value in os.environ.items() if name.upper().startswith(REACH)]
    printed = run(
        ["env", "-i", f"HOME={home}", f"PATH={os.environ['PATH']}", *kept, "sh", "-e"], source, stdin=commands
    )
    must_print(printed, [SKEWED], "the five commands of the page")
    page = (source / "orders.html").read_text()
    if "<svg" not in page or "partition 10: " not in page:
        raise Failed("the five commands of the page: its picture lacks the largest partition")


def check(out: Path, fresh: Path, version: str, *, quick: bool = False) -> Path:
    """Install each, and run the examples of the page. Returns the folder with the output `orders` that the wheel wrote.

    `quick` leaves out the tables, and the source, from which the wheel was made.
    """
    wheel, source = only(out / "python", "*.whl"), only(out / "python", "*.tar.gz")
    packages: dict[str, str | Path] = {"wheel": wheel} if quick else {"wheel": f"{wheel}[arrow]", "source": source}
    for name, package in packages.items():
        folder = fresh / f"python-{name}"
        folder.mkdir()
        programs = environment_of_python(folder / "environment", [package])
        examples = code(tell(programs, folder, version)["page"], "python")
        # The second block has tables; it goes on where the first ends.
        tables = name == "wheel" and not quick
        printed = run([programs / "python", "-"], folder, stdin="\n".join(examples[: 2 if tables else 1]))
        must_print(printed, PARTITION_7 + (TABLE if tables else []), f"the example of the page, from the {name}")
    return fresh / "python-wheel"
