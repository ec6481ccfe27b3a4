"""The outputs that writers of a race make. The bytes and the `read` answer of each are known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from faro_conformance.child import Child
from faro_conformance.protocol import SuiteError

Layout = Literal["paired", "single"]
PARTITIONS = 4
SUFFIXES = {"data": ".data", "index": ".index", "single": ".faro"}
ROLES: dict[Layout, tuple[str, ...]] = {"paired": ("data", "index"), "single": ("single",)}
# How many outputs writers choose from. The last two have the same file_id, and so the same temporary names.
COUNT = 7
# The records of each, from none to enough for several writes.
_RECORDS = (0, 3, 40, 400, 2000, 60, 60)


def final_names(folder: Path, layout: Layout) -> dict[str, str]:
    """The files of the name `out`, by role."""
    return {role: str(folder / f"out{SUFFIXES[role]}") for role in ROLES[layout]}


@dataclass(frozen=True)
class Output:
    """One output: how it is written, its bytes, and the answer to `read`."""

    number: int
    layout: Layout
    files: dict[str, bytes]
    answer: dict[str, Any]

    @property
    def x(self) -> str:
        """The first digits of the file_id, as temporary names have them."""
        return file_id(self.number)[:8]


def file_id(number: int) -> str:
    """The file_id of an output, in hexadecimal digits."""
    return f"{0xFA5000 + min(number, COUNT - 2):08x}" + "5a" * 12


def options(number: int, layout: Layout, **more: Any) -> dict[str, Any]:
    """The options of an output's writer."""
    fixed = {"partition_count": PARTITIONS, "block_size": 500, "file_id": file_id(number), "producer": str(number + 1)}
    return {**fixed, "layout": layout, **more}


def calls(number: int, *, flush: bool = True) -> list[dict[str, Any]]:
    """The calls of an output's writer up to `finish`, which is not among them."""
    records: dict[str, Any] = {
        "call": "many", "count": _RECORDS[number], "seed": number, "partitions": [0, PARTITIONS],
        "length": [0, 60], "content": "random",
    }  # fmt: skip
    broadcast = {"call": "broadcast", "payload": {"text": f"output {number}"}}
    return [records, *([{"call": "flush"}] if flush else []), broadcast]


def make_outputs(child: Child, folder: Path) -> dict[tuple[Layout, int], Output]:
    """Write and read each output alone."""
    made: dict[tuple[Layout, int], Output] = {}
    for layout in ROLES:
        for number in range(COUNT):
            here = folder / f"{layout}-{number}"
            here.mkdir()
            request = {"path": str(here / "out"), "options": options(number, layout)}
            outcome = child.ask("write", {**request, "calls": [*calls(number), {"call": "finish"}]})
            if outcome.kind != "ok" or outcome.value["errors"]:
                raise SuiteError(f"{child.testee.name} does not write an output alone: {outcome.detail}")
            names = final_names(here, layout)
            answer = child.ask("read", {**names})
            if answer.kind != "ok":
                raise SuiteError(f"{child.testee.name} does not read an output alone: {answer.detail}")
            files = {role: Path(path).read_bytes() for role, path in names.items()}
            made[layout, number] = Output(number, layout, files, answer.value)
    return made
