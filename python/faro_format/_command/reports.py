"""What the command says of an output or a shuffle."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from faro_format._error import ErrorCode, FaroError
from faro_format._picture.fragments import skew_facts
from faro_format._picture.plain import counted
from faro_format._picture.sizes import Sizes
from faro_format._reader.gaps import gaps_of
from faro_format._reader.partition import records_of
from faro_format._reader.reader import Reader
from faro_format._reader.shown import facts_of, name_of
from faro_format._reader.sizes import record_count, sizes_of
from faro_format._shuffle.shuffle import Shuffle

_LARGEST = 5


@dataclass(frozen=True)
class Report:
    """The same in several forms."""

    lines: Sequence[tuple[str, str]]
    """Names and values, for people."""
    facts: dict[str, Any]
    """For programs."""
    html: str
    """A piece of a page."""
    faults: Sequence[FaroError] = ()


def of_reader(reader: Reader) -> Report:
    """Return what an output is.

    Raises:
        FaroError: the first fault of a region, if there are no statistics.
    """
    sizes, gaps = sizes_of(reader), gaps_of(reader)
    header, statistics = reader.header, reader.statistics
    records = None if statistics is None else record_count(statistics)
    facts = {
        "name": name_of(reader),
        "framing": header.framing.name.lower(),
        "producer": header.producer,
        "attempt": header.attempt,
        "merged": header.merged,
        "file_id": header.file_id.hex(),
        "created_by": reader.created_by,
        "regions": reader.region_count,
        "records": records,
        "streams": None if gaps is None else gaps.facts(),
        **_sums(sizes),
        "properties": reader.properties,
    }
    for row in facts["largest"]:
        row["records"] = records_of(reader, row["partition"])
    return Report([*facts_of(reader), *skew_facts(sizes)], facts, reader._repr_html_())


def of_shuffle(shuffle: Shuffle) -> Report:
    """Return what the footers of a shuffle say.

    Raises:
        FaroError: ``io`` if the folder has no output.
    """
    sums = shuffle.sum_up()
    if not sums.outputs:
        others = f", but {counted(sums.other_files, 'other file')}" if sums.other_files else ""
        fault = f"no Faro output there{others}"
        raise FaroError(ErrorCode.IO, "a folder with outputs", fault, file=sums.name, errno=errno.ENOENT)
    faults = sums.faults
    lines = [("shuffle", sums.name), *sums._facts()]
    lines += [("fault", f"{output.name}: {output.error}") for output in faults]
    facts = {
        "name": sums.name,
        "records": sums.records,
        **_sums(sums._stored),
        "streams": sums._streams(),
        "other_files": sums.other_files,
        "outputs": [output._row() for output in sums.outputs],
    }
    errors = [output.error for output in faults if output.error is not None]
    return Report(lines, facts, sums._repr_html_(), errors)


def _sums(sizes: Sizes) -> dict[str, Any]:
    return {
        "first_partition": sizes.first,
        "partitions": sizes.count,
        "empty": sizes.empty,
        "stored_bytes": sizes.total,
        "skew": round(sizes.skew, 4),
        "largest": [{"partition": number, "stored_bytes": round(found)} for number, found in sizes.largest(_LARGEST)],
    }
