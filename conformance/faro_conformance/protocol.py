"""Outcomes of requests. Every line of a testee is validated against protocol.schema.json."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from jsonschema import Draft202012Validator

Json = Any
Kind = Literal["ok", "error", "unsupported", "crash", "timeout", "garbage"]

OPERATIONS = (
    "hello", "read", "write", "check", "repair", "recover", "clean", "follow", "hybrid", "fragment",
    "region_fragments",
    "fragments", "merge", "provenance", "read_merged", "file_id", "plan_pushes", "stop",
)  # fmt: skip
_PARTITION_MEMBERS = {"blocks", "kinds", "plain_bytes", "records", "stored_bytes", "sha256"}
_NUMBER = re.compile("[0-9]{1,10}")
_SHA256 = re.compile("[0-9a-f]{64}")
# The only free text that the schema allows. It differs between implementations and is not compared.
FREE_TEXT = ("expected", "found")


class SuiteError(Exception):
    """The suite itself is unusable: a damaged case file, an unknown testee, a malformed description."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one request. A crash, a time-out and garbage are separate kinds: they never count as a refusal."""

    kind: Kind
    value: Json

    def __str__(self) -> str:
        """As one line, in the form that expected-failure files use."""
        if self.kind == "ok":
            return "ok"
        if self.kind == "error":
            return describe_error(self.value)
        if self.kind == "crash":
            # Only the exit status: the log may differ from run to run.
            return "crash"
        return self.kind

    @property
    def detail(self) -> str:
        """The outcome with all details, for people."""
        if self.kind in ("ok", "error"):
            return f"{self.kind} {json.dumps(self.value, ensure_ascii=False)}"
        return f"{self.kind}: {self.value}"


def describe_error(error: dict[str, Json]) -> str:
    """An error object as `error CODE FILE@OFFSET`; absent members are omitted."""
    text = f"error {error.get('code', '?')}"
    if "file" in error or "offset" in error:
        text += f" {error.get('file', '*')}@{error.get('offset', '*')}".replace("None", "null")
    return text


def answer_key(op: str, action: str | None = None) -> str:
    """The name under $defs of what answers a request."""
    return f"answer_{op}_{action}" if op == "follow" else f"answer_{op}"


class Protocol:
    """The schema, compiled. Of answers that differ only in id and free text, one is validated."""

    def __init__(self, schema_file: Path) -> None:
        try:
            self._schema = json.loads(schema_file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise SuiteError(f"{schema_file}: {error}") from error
        self._validators: dict[str, Draft202012Validator] = {}
        self._verdicts: dict[tuple[str, str], str | None] = {}

    def fault(self, definition: str, value: Json) -> str | None:
        """Why `value` is not a `definition`, or None."""
        validator = self._validators.get(definition)
        if validator is None:
            schema = {
                "$schema": self._schema["$schema"],
                "$defs": self._schema["$defs"],
                "$ref": f"#/$defs/{definition}",
            }
            validator = self._validators[definition] = Draft202012Validator(schema)
        error = next(iter(validator.iter_errors(value)), None)
        if error is None:
            return None
        return f"{error.json_path}: {error.message}"[:500]

    def parse(self, line: bytes, expected_id: int, key: str) -> Outcome:
        """The outcome of the request with this id, from one line of a testee."""
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            return Outcome("garbage", f"no JSON: {_shorten(line)}")
        if not isinstance(answer, dict):
            return Outcome("garbage", f"no object: {_shorten(line)}")
        if type(answer.get("id")) is not int or answer["id"] != expected_id:
            return Outcome("garbage", f"not the answer to request {expected_id}: {_shorten(line)}")
        fault = self._cached_fault(key, answer)
        if fault is not None:
            return Outcome("garbage", f"{fault} in {_shorten(line)}")
        if "ok" in answer:
            return Outcome("ok", answer["ok"])
        if "error" in answer:
            return Outcome("error", answer["error"])
        return Outcome("unsupported", answer["unsupported"])

    def _cached_fault(self, key: str, answer: dict[str, Json]) -> str | None:
        for error in errors_in(answer):
            for name in FREE_TEXT:
                if not isinstance(error.get(name, ""), str | None):
                    return f"{name} of an error is not a text"
        normal = (key, normalise({name: value for name, value in answer.items() if name != "id"}))
        if normal not in self._verdicts:
            self._verdicts[normal] = self.fault(key, _without_plain_partitions(answer))
        return self._verdicts[normal]


def errors_in(answer: dict[str, Json]) -> Iterator[dict[str, Json]]:
    """The error objects of an answer, at all places where the protocol has them."""
    error = answer.get("error")
    if isinstance(error, dict):
        yield error
    ok = answer.get("ok")
    if isinstance(ok, dict):
        faulty = [ok.get("range"), ok.get("by_partition")]
        partitions = ok.get("partitions")
        if isinstance(partitions, dict):
            faulty += partitions.values()
        for part in faulty:
            if isinstance(part, dict) and isinstance(part.get("error"), dict):
                yield part["error"]


def normalise(answer: dict[str, Json]) -> str:
    """The answer without free text, as canonical JSON: equal for two testees that agree."""
    if next(errors_in(answer), None) is not None:
        answer = _without_free_text(answer)
    return json.dumps(answer, sort_keys=True, separators=(",", ":"))


def _without_free_text(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    stripped = {name: _without_free_text(member) for name, member in value.items() if name != "error"}
    if "error" in value:
        error = value["error"]
        stripped["error"] = (
            {name: member for name, member in error.items() if name not in FREE_TEXT}
            if isinstance(error, dict)
            else error
        )
    return stripped


def _without_plain_partitions(answer: dict[str, Json]) -> dict[str, Json]:
    """The answer without the partitions that are certainly valid.

    There may be thousands, and validating each by the schema takes a millisecond.
    """
    ok = answer.get("ok")
    if not isinstance(ok, dict) or not isinstance(ok.get("partitions"), dict):
        return answer
    left = {number: part for number, part in ok["partitions"].items() if not is_plain_partition(number, part)}
    return {**answer, "ok": {**ok, "partitions": left}}


def is_plain_partition(number: str, part: Json) -> bool:
    """Whether a partition of an answer is valid by the schema and has no error; False if in doubt."""
    if not _NUMBER.fullmatch(number) or not isinstance(part, dict) or part.keys() != _PARTITION_MEMBERS:
        return False
    kinds, sha256 = part["kinds"], part["sha256"]
    counts = [part["blocks"], part["plain_bytes"], part["stored_bytes"]]
    if part["records"] is not None:
        counts.append(part["records"])
    return (
        isinstance(kinds, dict)
        and all(len(kind) <= 3 and kind.isdecimal() and kind.isascii() for kind in kinds)
        and all(type(count) is int and 0 <= count < 1 << 53 for count in [*counts, *kinds.values()])
        and isinstance(sha256, str)
        and _SHA256.fullmatch(sha256) is not None
    )


def _shorten(line: bytes) -> str:
    text = line.decode("utf-8", "backslashreplace").rstrip("\n")
    return text if len(text) <= 300 else text[:300] + " ..."
