"""protocol.schema.json accepts what protocol.md describes, and nothing else."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from conformance_fixtures import CHECKSUM, CONFORMANCE, DESCRIPTION

from faro_conformance.compare import differences, first_difference
from faro_conformance.manifest import entries
from faro_conformance.protocol import Protocol, is_plain_partition

PAIR = {"data": "a.data", "index": "a.index"}
SINGLE = {"single": "a.faro"}
PART = {"blocks": 2, "kinds": {"0": 2}, "plain_bytes": 9, "records": 1, "stored_bytes": 80, "sha256": "0" * 64}
CALLS = [
    {"call": "write", "partition": 0, "payload": {"text": "é"}, "kind": 1},
    {"call": "broadcast", "payload": {"hex": "00fF"}},
    {"call": "multicast", "partitions": [3, 1], "payload": {"repeat": "ab", "length": 5}},
    {"call": "many", "count": 3, "seed": 1, "partitions": [0, 4], "length": [0, 9], "content": "words"},
    {"call": "flush"},
    {"call": "property", "key": "k", "value": "v"},
    {"call": "region", "blocks": [{"partition": 0, "payload": {"random": 1, "length": 8}}, {"shared": "all"}]},
    {"call": "region", "blocks": [{"shared": [1]}, {"codec": 1, "plain_size": 9, "stored": {"words": 1, "length": 3}}]},
    {"call": "finish"},
]
REQUESTS: list[dict[str, Any]] = [
    {"op": "hello", "protocol": 1},
    {"op": "read", **PAIR, "verify": False, "limits": {"max_regions": 1}},
    {"op": "read", **SINGLE, "partitions": [0, 1]},
    {"op": "read", **SINGLE, "range": [0, 2]},
    {"op": "write", "path": "out", "options": {"codec": "lz4", "producer": "18446744073709551615"}, "calls": CALLS},
    {"op": "check", **SINGLE, "level": "decode"},
    {"op": "repair", **PAIR, "mode": "rebuild", "shared": "all", "dry_run": True},
    {"op": "follow", "action": "open", "handle": "h", **PAIR},
    {"op": "follow", "action": "read", "handle": "h", "partitions": []},
    {"op": "stop"},
]
NO_REQUESTS: list[dict[str, Any]] = [
    {"op": "hello", "protocol": 2},
    {"op": "read"},
    {"op": "read", "data": "a"},
    {"op": "read", **PAIR, **SINGLE},
    {"op": "read", **SINGLE, "range": [0, 2], "partitions": []},
    {"op": "read", **SINGLE, "limit": {}},
    {"op": "check", **SINGLE, "level": "deep"},
    {"op": "write", "path": "out", "options": {"block-size": 1}, "calls": []},
    {"op": "write", "path": "out", "options": {}, "calls": [{"call": "write", "partition": 0}]},
    {
        "op": "write",
        "path": "out",
        "options": {},
        "calls": [{"call": "broadcast", "payload": {"text": "a", "hex": ""}}],
    },
    {"op": "follow", "action": "open", "handle": "h"},
]
OKS: list[tuple[str, dict[str, Any]]] = [
    ("read", DESCRIPTION),
    ("read", {**DESCRIPTION, "partitions": {"3": PART, "4": {"error": CHECKSUM}}}),
    ("follow_read", {**DESCRIPTION, "partitions": {"3": {**PART, "records": None}}}),
    ("check", {"regions": 1, "blocks": None}),
    ("write", {"errors": [{"call": 0, "code": "invalid-argument"}], "finished": False}),
    ("repair", {"action": "nothing", "regions": 1, "data_cut": 0, "index_cut": 0, "orphaned": 0, "fault": None}),
    ("follow_open", {}),
    ("follow_poll", {"regions": 1, "finished": False}),
    ("stop", {}),
]
NO_OKS: list[tuple[str, dict[str, Any]]] = [
    ("read", {}),
    ("read", {**DESCRIPTION, "range": {"blocks": 0, "sha256": "0" * 64}}),
    ("read", {**DESCRIPTION, "partitions": {"3": {**PART, "error": CHECKSUM}}}),
    ("read", {**DESCRIPTION, "partitions": {"three": PART}}),
    ("read", {**DESCRIPTION, "header": {**DESCRIPTION["header"], "producer": 7}}),
    ("read", {**DESCRIPTION, "regions": 1.5}),
    ("check", {"regions": 1}),
    ("check", {"regions": -1, "blocks": 0}),
    ("stop", {"bye": True}),
    ("follow_poll", {"regions": 1, "finished": "no"}),
]


@pytest.mark.parametrize("request_", REQUESTS)
def test_requests(protocol: Protocol, request_: dict[str, Any]) -> None:
    assert protocol.fault("request", {"id": 1, **request_}) is None


@pytest.mark.parametrize("request_", NO_REQUESTS)
def test_what_is_no_request(protocol: Protocol, request_: dict[str, Any]) -> None:
    assert protocol.fault("request", {"id": 1, **request_}) is not None


@pytest.mark.parametrize(("answer", "ok"), OKS)
def test_answers(protocol: Protocol, answer: str, ok: dict[str, Any]) -> None:
    assert protocol.fault(f"answer_{answer}", {"id": 1, "ok": ok}) is None
    assert protocol.fault(f"answer_{answer}", {"id": 1, "error": CHECKSUM}) is None
    assert protocol.fault(f"answer_{answer}", {"id": 1, "unsupported": "why"}) is None
    assert protocol.fault(f"answer_{answer}", {"id": 1, "ok": ok, "error": CHECKSUM}) is not None
    assert protocol.fault(f"answer_{answer}", {"ok": ok}) is not None


@pytest.mark.parametrize(("answer", "ok"), NO_OKS)
def test_what_is_no_answer(protocol: Protocol, answer: str, ok: dict[str, Any]) -> None:
    assert protocol.fault(f"answer_{answer}", {"id": 1, "ok": ok}) is not None


@pytest.mark.parametrize(
    "value", [None, -1, 0, 1, 1.0, True, "", "1", "0" * 64, "A" * 64, "0" * 64 + "\n", {}, {"0": 1}, {"0": -1}]
)
@pytest.mark.parametrize("member", [*PART, "kinds-key", "number", "more"])
def test_the_short_cut_takes_nothing_that_the_schema_does_not(protocol: Protocol, member: str, value: Any) -> None:
    number, part = "7", {**PART, member: value}
    if member == "kinds-key":
        part = {**PART, "kinds": {str(value): 1}}
    elif member == "number":
        number, part = str(value), PART
    fault = protocol.fault("answer_read", {"id": 1, "ok": {**DESCRIPTION, "partitions": {number: part}}})
    assert not (is_plain_partition(number, part) and fault)


def test_the_short_cut_takes_what_is_usual() -> None:
    assert is_plain_partition("7", PART)
    assert is_plain_partition("7", {**PART, "records": None})


def test_the_codes_are_those_of_the_specification() -> None:
    schema = json.loads((CONFORMANCE / "protocol.schema.json").read_text(encoding="utf-8"))
    text = (CONFORMANCE.parent / "spec" / "errors.md").read_text(encoding="utf-8")
    assert schema["$defs"]["code"]["enum"] == re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE)


def test_every_request_of_the_manifest_is_one(protocol: Protocol) -> None:
    for case in entries(CONFORMANCE / "cases"):
        request = {"id": 1, "op": case["op"], **case.get("request", {})}
        request |= {role: str(path) for role, path in (case.get("files") or {}).items()}
        if case["op"] == "write":
            request = {"path": "out", "options": {}, "calls": [], **request}
        if case["op"] in {"fragment", "region_fragments", "hybrid"}:
            request["path"] = "out"
        if case["op"] == "merge":
            request |= {"path": "out", "fragments": case.get("fragments", [])}
        if "originals" in case:
            request["originals"] = case["originals"]
        if case["op"] == "check":
            request.setdefault("level", "decode")
        if case["op"] == "follow":
            for step in case["steps"]:
                request = {"id": 1, "op": "follow", "handle": "h", "action": step["action"], **step.get("request", {})}
                if step["action"] == "open":
                    request |= dict.fromkeys(step["files"], "path")
                assert protocol.fault("request_follow", request) is None, case["id"]
        else:
            assert protocol.fault(f"request_{case['op']}", request) is None, case["id"]


@pytest.mark.parametrize(
    ("expected", "got", "places"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, []),
        ({"a": 1}, {"b": 2}, ["a"]),
        ({"a": 1}, {"a": True}, ["a"]),
        ({"a": None}, {"a": 0}, ["a"]),
        ({"partitions": {}}, {"partitions": {"1": {}}}, ["partitions.1"]),
        ({"partitions": {"1": {"kinds": {}}}}, {"partitions": {"1": {"kinds": {"0": 1}}}}, ["partitions.1.kinds.0"]),
        ({"properties": {"k": "v"}}, {"properties": {"k": "w"}}, ["properties.k"]),
        ({"partitions": {"1": {"blocks": 1}}}, {"partitions": {"1": {"error": {}}}}, ["partitions.1"]),
        ({"partitions": {"1": {"error": {"code": "io"}}}}, {"partitions": {"1": {"blocks": 1}}}, ["partitions.1"]),
        ([{"call": 1}], [{"call": 1, "code": "io"}], []),
        ([{"call": 1}], [], [""]),
        ([1, 2], [1, 3], ["[1]"]),
    ],
)
def test_comparing(expected: object, got: object, places: list[str]) -> None:
    assert [place for place, _, _ in differences(expected, got)] == places


@pytest.mark.parametrize(
    ("left", "right"), [(b"", b"a"), (b"abc", b"abd"), (b"abc", b"xbc"), (b"abcd", b"ab"), (b"a", b"b")]
)
def test_first_difference(left: bytes, right: bytes) -> None:
    slowly = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    assert first_difference(left, right) == slowly
