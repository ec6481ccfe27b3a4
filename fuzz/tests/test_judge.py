"""Which answers agree, and which differences COD allows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from faro_conformance.manifest import Case, Suite
from faro_conformance.protocol import Outcome

from differential.blocks import take_apart
from differential.frames import Verdict, judge
from differential.judge import Payloads, disagreement
from differential.seeds import load

CONFORMANCE = Path(__file__).resolve().parents[2] / "conformance"


def error(code: str, offset: int, found: str = "") -> Outcome:
    return Outcome("error", {"code": code, "file": "single", "offset": offset, "expected": "", "found": found})


def test_free_text_is_not_compared() -> None:
    said = {"one": error("checksum", 64, "a"), "two": error("checksum", 64, "b")}
    assert disagreement(said) is None


@pytest.mark.parametrize("other", [error("checksum", 72), error("truncated", 64), Outcome("ok", {"regions": 1})])
def test_another_code_offset_or_verdict_is_a_disagreement(other: Outcome) -> None:
    assert disagreement({"one": error("checksum", 64), "two": other}) is not None


@pytest.mark.parametrize("kind", ["crash", "timeout", "garbage"])
def test_all_that_crash_do_not_agree(kind: str) -> None:
    gone = Outcome(kind, "so it was")  # type: ignore[arg-type]
    assert disagreement({"one": gone, "two": gone}) is not None


def test_what_a_testee_does_not_do_is_not_compared() -> None:
    assert disagreement({"one": error("checksum", 64), "two": Outcome("unsupported", "no")}) is None


def test_decoders_may_differ_where_cod_says_so_and_nowhere_else() -> None:
    committed = dict(load(CONFORMANCE).committed)
    frame, lz4 = (
        next(piece.offset + 24 for piece in take_apart(committed[name]["single"]).pieces if piece.codec)
        for name in ("cod-3-zstd-text", "cod-2-lz4-run")
    )
    spared = Payloads(committed["cod-3-zstd-text"]).spared({})
    strict = Payloads(committed["cod-2-lz4-run"]).spared({})
    good = {"blocks": 1, "sha256": "0"}
    bad = {"error": error("malformed-block", frame).value}
    ok = Outcome("ok", {})
    assert disagreement({"one": error("malformed-block", frame), "two": ok}, spared) is None
    # This one keeps all rules that are checked here, so refusing it is wrong.
    assert disagreement({"one": error("malformed-block", lz4), "two": ok}, strict) is not None
    assert disagreement({"one": error("malformed-block", frame), "two": ok}) is not None
    assert disagreement({"one": error("limit-exceeded", frame), "two": ok}, spared) is not None
    assert disagreement({"one": error("malformed-block", frame - 8), "two": ok}, spared) is not None
    three = {"one": error("malformed-block", frame), "two": ok, "three": error("checksum", 64)}
    assert disagreement(three, spared) is not None
    whole = {"partitions": {"0": good, "1": good}}
    cases: list[tuple[dict[str, Any], bool]] = [
        ({"partitions": {"0": good, "1": bad}}, True),
        ({"partitions": {"0": {**good, "sha256": "1"}, "1": bad}}, False),
        ({"partitions": {"0": good, "1": bad}, "regions": 1}, False),
        ({"partitions": {"0": good}}, False),
    ]
    for value, agree in cases:
        said = disagreement({"one": Outcome("ok", value), "two": Outcome("ok", whole)}, spared)
        assert (said is None) == agree, value
    ranges = [Outcome("ok", {"range": bad}), Outcome("ok", {"range": good}), Outcome("ok", {"range": good | {"x": 1}})]
    assert disagreement({"one": ranges[0], "two": ranges[1]}, spared) is None
    assert disagreement({"one": ranges[1], "two": ranges[2]}, spared) is not None


def _codec_cases() -> list[Case]:
    cases = Suite(CONFORMANCE).cases(CONFORMANCE / "nothing")
    return [case for case in cases if case.id.startswith("cod-") and case.op == "read" and not case.generated]


def test_the_judge_says_of_payloads_what_the_cases_say() -> None:
    seen = dict.fromkeys(("taken", "refused"), 0)
    for case in _codec_cases():
        files = {role: path.read_bytes() for role, path in case.files().items()}
        window = case.fields["request"].get("limits", {}).get("max_window_size", 8 << 20)
        verdicts = {
            (role, piece.offset + 24): judge(
                piece.codec, piece.payload, int.from_bytes(piece.head[4:8], "little"), window
            )
            for role, data in files.items()
            for piece in take_apart(data).pieces
            if piece.codec in (1, 2)
        }
        faults = [(error["file"], error["offset"]) for error in _errors(case.fields["expect"])]
        for place, verdict in verdicts.items():
            if place in faults:
                seen["refused"] += 1
                assert verdict is not Verdict.TAKE, case.id
            elif not faults:
                seen["taken"] += 1
                assert verdict is not Verdict.REFUSE, case.id
    assert seen["taken"] >= 20
    assert seen["refused"] > 40


def _errors(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        own = [value["error"]] if isinstance(value.get("error"), dict) else []
        return own + [item for member in value.values() for item in _errors(member)]
    return []


@pytest.mark.parametrize(
    ("codec", "stored", "size", "verdict"),
    [
        (1, "50" + "6162636465", 5, Verdict.TAKE),
        (1, "50" + "6162636465", 4, Verdict.REFUSE),
        # Offset 0: the C decoder reads it as zero bytes, and no rule lets a writer write it.
        (1, "1f610000ff00" + "50" + "6162636465", 1 + 19 + 255 + 5, Verdict.MAY),
        (1, "14610200" + "50" + "6162636465", 14, Verdict.REFUSE),
        (2, "0000" + "0b0000" + "61", 1, Verdict.TAKE),
        (2, "0000" + "0b0000" + "61", 2, Verdict.REFUSE),
        (2, "0000" + "0f0000" + "61", 1, Verdict.REFUSE),
        (2, "0000" + "0d0000" + "61", 1, Verdict.MAY),
        (2, "0070" + "0b0000" + "61", 1, Verdict.REFUSE),
    ],
)
def test_payloads_by_hand(codec: int, stored: str, size: int, verdict: Verdict) -> None:
    assert judge(codec, bytes.fromhex(stored), size) is verdict
