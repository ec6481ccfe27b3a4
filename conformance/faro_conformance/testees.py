"""Testees: how an implementation is started, by `testees/NAME.toml` or by any command line."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faro_conformance.protocol import SuiteError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FIELDS = {"name", "command", "environment", "memory_limit", "build", "in_all"}


@dataclass(frozen=True)
class Testee:
    """One implementation that speaks the protocol."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    # Bytes of address space (RLIMIT_AS); None for runtimes that reserve far more than they use, such as JVMs.
    memory_limit: int | None = None
    # The command that builds it, shown if it does not exist.
    build: str | None = None
    # Whether `--testee all` means it too; otherwise it runs only by its name.
    in_all: bool = True
    expected_failures: Path | None = None


def load_toml(path: Path) -> dict[str, Any]:
    """The contents of a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SuiteError(f"{path}: {error}") from error


def load_testee(path: Path, repo: Path) -> Testee:
    """The testee that a TOML file describes. `{repo}` and `{here}` stand for the repository and the file's folder."""
    table = load_toml(path)
    unknown = table.keys() - _FIELDS
    if unknown:
        raise SuiteError(f"{path}: unknown: {', '.join(sorted(unknown))}")

    def fill(text: Any) -> str:
        if not isinstance(text, str):
            raise SuiteError(f"{path}: {text!r} is not a text")
        filled = text.replace("{repo}", str(repo)).replace("{here}", str(path.parent.resolve()))
        return filled.replace("{python}", sys.executable)

    command = table.get("command")
    if not isinstance(command, list) or not command:
        raise SuiteError(f"{path}: command has to be a list of texts")
    memory_limit = table.get("memory_limit")
    if memory_limit is not None and type(memory_limit) is not int:
        raise SuiteError(f"{path}: memory_limit has to be a number of bytes")
    in_all = table.get("in_all", True)
    if not isinstance(in_all, bool):
        raise SuiteError(f"{path}: in_all has to be true or false")
    name = fill(table.get("name", path.stem))
    failures = path.with_name(f"{path.stem}.expected-failures.toml")
    return Testee(
        name=name,
        command=tuple(fill(part) for part in command),
        environment={key: fill(value) for key, value in table.get("environment", {}).items()},
        memory_limit=memory_limit,
        build=table.get("build"),
        in_all=in_all,
        expected_failures=failures if failures.exists() else None,
    )


def find_testees(wanted: list[str], folder: Path, repo: Path) -> list[Testee]:
    """The testees of `--testee` arguments: `all`, a name, the path of a TOML file, or a command line."""
    known = {
        path.stem: path for path in sorted(folder.glob("*.toml")) if not path.name.endswith(".expected-failures.toml")
    }
    found: list[Testee] = []
    for text in wanted:
        if text == "all":
            found += [testee for path in known.values() if (testee := load_testee(path, repo)).in_all]
        elif text in known:
            found.append(load_testee(known[text], repo))
        elif text.endswith(".toml"):
            found.append(load_testee(Path(text), repo))
        else:
            found.append(_from_command_line(text))
    if not found:
        raise SuiteError(f"no testees in {folder}")
    unique: dict[str, Testee] = {}
    for testee in found:
        name = testee.name
        number = 2
        while name in unique and unique[name].command != testee.command:
            name = f"{testee.name}-{number}"
            number += 1
        unique[name] = testee if name == testee.name else Testee(name, testee.command)
    return list(unique.values())


def _from_command_line(text: str) -> Testee:
    try:
        command = shlex.split(text)
    except ValueError as error:
        raise SuiteError(f"--testee {text!r}: {error}") from error
    if not command:
        raise SuiteError("--testee: empty")
    return Testee(name=Path(command[-1]).stem or command[-1], command=tuple(command))
