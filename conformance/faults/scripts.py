"""The scripts during which faults occur: small ones for faults of single calls, longer ones for kills."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Call = dict[str, Any]
FILE_ID = "0badcafe112233445566778899aabbcc"
OLD_FILE_ID = "01d01d01112233445566778899aabbcc"
# Calls after `finish`, and their errors then. In a writer that failed, they give its first error again.
_AFTER: list[Call] = [
    {"call": "write", "partition": 1, "payload": {"text": "late"}},
    {"call": "flush"},
    {"call": "region", "blocks": []},
    {"call": "property", "key": "late", "value": "x"},
    {"call": "finish"},
]
_ABORTS: list[Call] = [{"call": "abort"}, {"call": "abort"}]
# After an abort, for every writer.
_ENDED: list[Call] = [{"call": "flush"}, {"call": "write", "partition": 1, "payload": {"text": "late"}}]
_ARROW = "ffffffff08000000" + "00" * 8


@dataclass(frozen=True)
class Script:
    """Options and steps; each step leaves exactly one region, so that a shorter script has the same regions."""

    name: str
    steps: list[list[Call]]
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def paired(self) -> bool:
        """Whether there are two files."""
        return bool(self.options.get("layout", "paired") == "paired")

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of its files."""
        return ("data", "index") if self.paired else ("single",)

    @property
    def canonical(self) -> bool:
        """Whether all writers make the same bytes from it (CAN-1)."""
        return bool(self.options.get("codec", "none") == "none")

    @property
    def followed(self) -> bool:
        """Whether its files have their final names from the start."""
        return bool(self.options.get("follow"))

    def calls(self, regions: int | None = None) -> list[Call]:
        """The calls of this many steps, or of all, and `finish`."""
        steps = self.steps if regions is None else self.steps[:regions]
        return [call for step in steps for call in step] + [
            {"call": "property", "key": "k", "value": "v"},
            {"call": "finish"},
        ]

    def calls_and_more(self) -> list[Call]:
        """All calls, and then those of a caller that did not notice that the writer failed or finished."""
        return self.calls() + _AFTER + _ABORTS + _ENDED

    def variant(self, **options: Any) -> Script:
        """The same with other options; they are part of the name."""
        name = ",".join([self.name, *(f"{key}={value}" for key, value in options.items())])
        return Script(name, self.steps, {**self.options, **options})


def output_names(folder: str, script: Script) -> dict[str, str]:
    """The final names, by role."""
    suffixes = {"data": ".data", "index": ".index", "single": ".faro"}
    return {role: f"{folder}/out{suffixes[role]}" for role in script.roles}


def temporary_names(folder: str, script: Script) -> dict[str, str]:
    """The names before publication (PUB-2)."""
    return {role: f"{name}.{FILE_ID[:8]}.tmp" for role, name in output_names(folder, script).items()}


LOCK = "out.faro-lock"
"""The publishing lock (PUB-5), which a writer that died leaves."""


def _options(**more: Any) -> dict[str, Any]:
    return {"partition_count": 5, "block_size": 200, "file_id": FILE_ID, "producer": "7", **more}


def small() -> Script:
    """Some of every kind of call, in a few kilobytes."""
    many = {"call": "many", "count": 12, "seed": 5, "partitions": [0, 5], "length": [0, 90], "content": "words"}
    return Script(
        "small",
        [
            [many, {"call": "write", "partition": 2, "kind": 1, "payload": {"text": "event"}}, {"call": "flush"}],
            [
                {"call": "write", "partition": 4, "payload": {"random": 3, "length": 300}},
                {"call": "multicast", "partitions": [1, 3], "payload": {"text": "for two"}},
                {"call": "broadcast", "payload": {"repeat": "all ", "length": 250}},
                {"call": "flush"},
            ],
            [
                {
                    "call": "region",
                    "blocks": [
                        {"partition": 0, "payload": {"hex": "03000000616263"}, "records": 1},
                        {"partition": 3, "kind": 70, "payload": {"text": "mine"}},
                        {"shared": [0, 4]},
                        {"payload": {"hex": "0200000078790000 0000".replace(" ", "")}, "records": 2},
                    ],
                }
            ],
        ],
        _options(),
    )


def arrow() -> Script:
    """With a schema block before the first region."""
    return Script(
        "arrow",
        [
            [
                {"call": "write", "partition": p, "payload": {"hex": _ARROW + f"{p:02x}" * 20}},
                {"call": "broadcast", "payload": {"hex": _ARROW}},
                {"call": "flush"},
            ]
            for p in (1, 3)
        ],
        _options(framing="arrow", schema={"hex": _ARROW}),
    )


def large() -> Script:
    """Regions that are written in several pieces."""
    return Script(
        "large",
        [
            [
                {"call": "many", "count": 50, "seed": seed, "partitions": [0, 5], "length": [40_000, 60_000],
                 "content": "random"},
                {"call": "flush"},
            ]
            for seed in (1, 2)
        ],
        _options(block_size=65_536),
    )  # fmt: skip


def long(regions: int, records: int, length: int) -> Script:
    """Many regions, for kills."""
    steps: list[list[Call]] = []
    for number in range(regions):
        many = {
            "call": "many", "count": records, "seed": number, "partitions": [0, 5],
            "length": [length // 2, length], "content": "random",
        }  # fmt: skip
        step: list[Call] = [many]
        if number % 5 == 1:
            step.append({"call": "broadcast", "payload": {"text": f"all {number}"}})
        if number % 5 == 3:
            step.append({"call": "multicast", "partitions": [1, 4], "payload": {"text": f"two {number}"}})
        steps.append([*step, {"call": "flush"}])
    return Script(f"long-{regions}x{records}x{length}", steps, _options(block_size=65_536))
