"""The output of the programs: lines of JSON, validated by bench/line.schema.json and joined turn by turn."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jsonschema
from referencing import Registry, Resource

FOLDER = Path(__file__).resolve().parents[1]

Key = tuple[tuple[str, Any], ...]


class LineError(Exception):
    """A line that does not follow bench/README.md."""


@dataclass(frozen=True)
class Line:
    """One subject's measurements of one case."""

    part: str
    language: str
    subject: str
    case: dict[str, Any]
    seconds: tuple[float, ...]
    """The seconds of each repetition, in order."""
    plain_bytes: int
    stored_bytes: int | None = None
    index_bytes: int | None = None
    files: int | None = None
    figures: dict[str, Any] = field(default_factory=dict)
    turns: int = 1
    """How often its program was started. Each start made the same number of repetitions."""
    run: str | None = None
    """Revision, date and processor of the run that measured it. The harness adds it."""

    @property
    def key(self) -> Key:
        """The key by which subjects are compared: the case, without the amount of data that a program used.

        Rows of lineitem differ in length, and not every program reports their average length.
        """
        left_out = {"plain_bytes", "record_bytes"} if self.case.get("data") == "lineitem" else {"plain_bytes"}
        return tuple(sorted((key, value) for key, value in self.case.items() if key not in left_out))

    @property
    def name(self) -> tuple[str, str]:
        """Language and subject."""
        return self.language, self.subject

    @property
    def speeds(self) -> list[float]:
        """Bytes of plain data a second, of each repetition. Work without them counts as one byte."""
        return [(self.plain_bytes or 1) / seconds for seconds in self.seconds]

    def to_json(self) -> dict[str, Any]:
        """The line as JSON."""
        line: dict[str, Any] = {
            "part": self.part,
            "language": self.language,
            "subject": self.subject,
            "case": self.case,
            "seconds": list(self.seconds),
            "plain_bytes": self.plain_bytes,
        }
        sizes = {"stored_bytes": self.stored_bytes, "index_bytes": self.index_bytes, "files": self.files}
        line |= {name: size for name, size in sizes.items() if size is not None}
        line |= {"figures": self.figures} if self.figures else {}
        line |= {"turns": self.turns} if self.turns > 1 else {}
        return line | ({"run": self.run} if self.run else {})


def validator(name: str) -> Any:
    """A validator of a schema of this folder."""
    schemas = [json.loads((FOLDER / file).read_text()) for file in ("line.schema.json", "schema.json")]
    registry: Any = Registry().with_resources([(schema["$id"], Resource.from_contents(schema)) for schema in schemas])
    chosen = next(schema for schema in schemas if schema["$id"] == name)
    return jsonschema.Draft202012Validator(chosen, registry=registry)


def parse(values: Iterable[Any], source: str) -> list[Line]:
    """Check values against the schema.

    Args:
        values: JSON objects.
        source: where they come from, for errors.

    Raises:
        LineError: for the first value that does not fit.
    """
    checker = validator("line.schema.json")
    lines = []
    for number, value in enumerate(values, 1):
        fault = jsonschema.exceptions.best_match(checker.iter_errors(value))
        if fault is not None:
            raise LineError(f"{source}: line {number}: {fault.json_path}: {fault.message}")
        lines.append(Line(**{**value, "seconds": tuple(value["seconds"])}))
    return lines


def read(path: Path) -> list[Line]:
    """Read a file of lines; see :func:`parse`."""
    values = []
    for number, text in enumerate(path.read_text().splitlines(), 1):
        try:
            values.append(json.loads(text))
        except json.JSONDecodeError as fault:
            raise LineError(f"{path}: line {number}: {fault}") from fault
    return parse(values, str(path))


def join(lines: Iterable[Line]) -> list[Line]:
    """Join lines of the same subject and case: all repetitions, and the other fields of the last line."""
    joined: dict[tuple[Any, ...], Line] = {}
    for line in lines:
        key = (line.part, line.name, line.key, line.plain_bytes)
        before = joined.get(key)
        if before is not None:
            line = replace(line, seconds=before.seconds + line.seconds, turns=before.turns + line.turns)
        joined[key] = line
    return list(joined.values())
