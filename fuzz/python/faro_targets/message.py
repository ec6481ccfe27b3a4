"""The target `message`: one message, verified, read, and built again."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy.typing as npt
from faro_format import Block, Codec, ErrorCode, FaroError, Statistics, Streams
from faro_format._block.block import KIND_FOOTER, KIND_REGION, KIND_SCHEMA
from faro_format._error import Place
from faro_format._message.build import build_footer, build_region, build_schema
from faro_format._message.messages import FooterMessage, RegionMessage, parse_footer, parse_region, parse_schema

from faro_targets.broken import require
from faro_targets.folder import Folder
from faro_targets.transcript import Transcript, sum_of

_KINDS = (KIND_REGION, KIND_FOOTER, KIND_SCHEMA)
_AT = 4711
_PLACE = Place("index", "message")
_PARSERS: dict[int, Callable[[Block, Place, int], Any]] = {
    KIND_REGION: parse_region,
    KIND_FOOTER: parse_footer,
    KIND_SCHEMA: parse_schema,
}


def message(raw: bytes, folder: Folder, transcript: Transcript) -> None:
    """One message of one kind; no file is needed."""
    head = raw[0] if raw else 0
    kind, minor, body = _KINDS[(head & 0x7F) % 3], head >> 7, raw[1:]
    strict, newer = _parse(kind, body, 0), _parse(kind, body, 1)
    require(strict is None or newer is not None, "a newer minor version refuses no more")
    taken = newer if minor else strict
    if taken is None:
        transcript.line("refused")
        transcript.note("malformed-message@-:-")
        return
    for line in _lines(taken):
        transcript.line(line)
    built = _build(taken)
    if built is not None:
        again = _parse(kind, built, 0)
        require(again is not None, "what is built is valid")
        require(_lines(again, canonical=True) == _lines(taken, canonical=True), "what is built says the same")


def _parse(kind: int, body: bytes, minor: int) -> Any | None:
    view = memoryview(body)
    block = Block(_AT, 0xFFFFFFFF, 0, kind, Codec.NONE, len(body), view, view, None)
    try:
        return _PARSERS[kind](block, _PLACE, minor)
    except FaroError as error:
        require((error.code, error.offset) == (ErrorCode.MALFORMED_MESSAGE, _AT + 24), f"MSG-13: {error}")
        return None


def _vector(values: npt.NDArray[Any] | None) -> str:
    return "-" if values is None else f"{values.size}:{sum_of(values.tobytes())}"


def _bytes(value: bytes | None) -> str:
    return "-" if value is None else f"{len(value)}:{sum_of(value)}"


def _text(value: str | None) -> str:
    return "-" if value is None else value.encode().hex() or '""'


def _lines(found: Any, *, canonical: bool = False) -> list[str]:
    """The fields (VERDICTS.md); `canonical`: without the fields that a canonical message leaves out (CAN-3)."""
    if isinstance(found, RegionMessage):
        return _region(found, canonical)
    if isinstance(found, FooterMessage):
        return _footer(found, canonical)
    return [f"arrow {_bytes(bytes(found))}"]


def _members(region: RegionMessage, number: int) -> bytes | None:
    begin, count = int(region.member_begins[number]), int(region.member_counts[number])
    return None if count < 0 else region.raw[begin : begin + count].tobytes()


def _region(region: RegionMessage, canonical: bool) -> list[str]:
    def optional(values: npt.NDArray[Any] | None) -> str:
        return "-" if canonical and values is not None and not values.size else _vector(values)

    shared = [
        f"shared {length} {_bytes(_members(region, number))} {first}"
        for number, (length, first) in enumerate(
            zip(region.shared_lengths.tolist(), region.shared_first_blocks.tolist(), strict=True)
        )
    ]
    return [
        f"sequence {region.sequence}",
        f"data_offset {region.data_offset}",
        f"data_length {region.data_length}",
        f"offsets {_vector(region.offsets)}",
        f"rotation {region.rotation}",
        f"partitions {_vector(region.partitions)}",
        *shared,
        f"runs {optional(region.runs)}",
        f"first_block {optional(region.first_block)}",
    ]


def _footer(footer: FooterMessage, canonical: bool) -> list[str]:
    return [
        f"regions {_vector(footer.regions)}",
        f"data_size {footer.data_size}",
        f"statistics {_statistics(footer.statistics, canonical)}",
        *(f"property {_text(key)} {_text(value)}" for key, value in footer.properties),
        f"created_by {_text(footer.created_by)}",
        f"dictionaries {_vector(footer.dictionaries)}",
        f"streams {_streams(footer.streams, canonical)}",
    ]


def _streams(found: Streams | None, canonical: bool) -> str:
    if found is None:
        return "-"
    vectors = " ".join(_count_vector(values, canonical) for values in (found.next, found.missing))
    return f"{vectors} {found.shared_next} {found.shared_missing}"


def _count_vector(values: npt.NDArray[Any] | None, canonical: bool) -> str:
    return "-" if canonical and values is not None and not values.any() else _vector(values)


def _statistics(found: Statistics | None, canonical: bool) -> str:
    if found is None:
        return "-"
    vectors = " ".join(_count_vector(values, canonical) for values in (found.stored, found.plain, found.records))
    return f"{vectors} {found.stored_to_all} {found.plain_to_all} {found.records_to_all}"


def _build(found: Any) -> bytes | None:
    """A canonical message with the same values, or None if the builder does not make one."""
    if isinstance(found, RegionMessage):
        numbers = range(found.shared_lengths.size)
        shared = [
            (int(found.shared_lengths[at]), _members(found, at), int(found.shared_first_blocks[at])) for at in numbers
        ]
        return build_region(
            sequence=found.sequence,
            data_offset=found.data_offset,
            data_length=found.data_length,
            offsets=found.offsets,
            rotation=found.rotation,
            partitions=found.partitions,
            shared=shared,
            runs=found.runs,
            first_block=found.first_block,
        )
    if isinstance(found, FooterMessage):
        keys = [key.encode() for key, _ in found.properties]
        if any(one >= other for one, other in itertools.pairwise(keys)):
            return None
        return build_footer(
            regions=found.regions,
            data_size=found.data_size,
            statistics=found.statistics,
            properties=dict(found.properties),
            created_by=found.created_by,
            dictionaries=found.dictionaries,
            streams=found.streams,
        )
    return build_schema(bytes(found))
