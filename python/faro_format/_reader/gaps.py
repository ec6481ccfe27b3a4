"""What is missing in a selective file: blocks that were consumed before they were stored (FTR-8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from faro_format._bytes.spans import Ints, U64s
from faro_format._error import GapsWarning, warn
from faro_format._message.messages import Streams
from faro_format._picture.plain import counted, printable, thousands
from faro_format._picture.sizes import nonzero
from faro_format._reader.delivery import PartitionReader

NOT_KNOWN = "not known whether blocks are missing"


@dataclass(frozen=True)
class Gaps:
    """The blocks that all streams of a finished selective file had, and those that are not in it."""

    known: bool
    """Whether the footer says it; a repaired file does not."""
    blocks: int
    missing: int
    partitions_with_gaps: int
    """The partitions whose own stream has gaps."""
    shared_missing: int

    def text(self) -> str:
        """Return the line that ``faro info`` prints."""
        if not self.known:
            return NOT_KNOWN
        if not self.missing:
            return "complete"
        whose = []
        if self.partitions_with_gaps:
            whose.append(f"of {counted(self.partitions_with_gaps, 'partition')}")
        if self.shared_missing:
            whose.append(f"{thousands(self.shared_missing)} shared")
        return f"with gaps: {missing_text(self.missing, self.blocks)} ({', '.join(whose)})"

    def facts(self) -> dict[str, Any]:
        """Return it for programs, with the names that ``faro info --json`` uses."""
        return {
            "known": self.known,
            "blocks": self.blocks,
            "missing": self.missing,
            "partitions_with_gaps": self.partitions_with_gaps,
            "shared_missing": self.shared_missing,
        }


def missing_text(missing: int, blocks: int) -> str:
    """Return how many blocks are missing, for people."""
    return f"{thousands(missing)} of {counted(blocks, 'block')} consumed before they were stored"


def gaps_of(reader: PartitionReader) -> Gaps | None:
    """Return what a file says of its streams; None for a file that is not selective, or not finished."""
    if not reader.header.selective or reader._footer is None:
        return None
    streams = reader.streams or Streams()
    following, missing = (
        0 if vector is None else int(vector.sum(dtype=np.uint64)) for vector in (streams.next, streams.missing)
    )
    return Gaps(
        known=reader.streams is not None,
        blocks=following + streams.shared_next,
        missing=missing + streams.shared_missing,
        partitions_with_gaps=0 if streams.missing is None else int(np.count_nonzero(streams.missing)),
        shared_missing=streams.shared_missing,
    )


def missing_of(reader: PartitionReader) -> tuple[Ints, U64s, int]:
    """Return the partitions whose own stream has gaps, with how many blocks, and how many shared blocks are missing."""
    streams = reader.streams or Streams()
    own = None if streams.missing is None else streams.missing.astype(np.uint64)
    return *nonzero(own, reader.header.first_partition), streams.shared_missing


def missing_in(reader: PartitionReader, partition: int) -> int:
    """Return how many own blocks of a partition are missing, as far as the footer says it."""
    streams = reader.streams
    missing = None if streams is None else streams.missing
    return 0 if missing is None else int(missing[partition - reader.header.first_partition])


def warn_of_gaps(reader: PartitionReader, name: str, numbers: range | list[int]) -> None:
    """Warn the caller of the library that rows of these partitions may be missing, if it is so."""
    gaps = gaps_of(reader)
    if gaps is None:
        return
    with_gaps, _, shared = missing_of(reader)
    if not gaps.known or (numbers and shared) or is_any_in(with_gaps, numbers):
        warn_of(name, gaps.text())


def is_any_in(with_gaps: Ints, numbers: range | list[int]) -> bool:
    """Whether any of these partitions, which ascend, is one that a caller asks for."""
    if isinstance(numbers, range):
        return bool(np.searchsorted(with_gaps, numbers.start) < np.searchsorted(with_gaps, numbers.stop))
    return bool(np.isin(np.array(numbers, np.int64), with_gaps).any())


def warn_of(name: str, text: str) -> None:
    """Warn the caller of the library of rows that are missing, or may be."""
    warn(f"{printable(name)}: {text}; rows may be missing", GapsWarning)
