"""Counts the blocks of each stream again, for a check (CHK-1, step 8)."""

from __future__ import annotations

import numpy as np

from faro_format._block.block import NO_PARTITION
from faro_format._error import ErrorCode, Place
from faro_format._message.messages import Streams


class StreamCounter:
    """The blocks that were found of each stream, and where it ends, to be compared with the footer (FTR-8)."""

    def __init__(self, claimed: Streams, first: int) -> None:
        """Begin without blocks.

        Args:
            claimed: what the footer says; it was checked by FTR-8.
            first: the file's first partition.
        """
        self._claimed = claimed
        self._first = first
        # Only of streams that have blocks, by partition; NO_PARTITION is the shared stream.
        self._found: dict[int, int] = {}
        self._next: dict[int, int] = {}

    def add(self, partition: int, blocks: int, last: int) -> None:
        """Count the blocks of an extent, which has some; *last* is the sequence of its last one."""
        self._found[partition] = self._found.get(partition, 0) + blocks
        self._next[partition] = last + 1

    def compare(self, place: Place, offset: int) -> None:
        """Raise ``inconsistent-index`` if the footer says otherwise."""
        claimed = self._claimed
        shared = claimed.shared_next, claimed.shared_missing
        if not self._agrees(NO_PARTITION, *shared):
            raise self._error(place, offset, "the shared stream")
        # Those that the footer says to have blocks in the file, and those that have some.
        partitions = set(self._found) - {NO_PARTITION}
        if claimed.next is not None:
            stored = claimed.next if claimed.missing is None else claimed.next - claimed.missing
            partitions |= {self._first + at for at in np.flatnonzero(stored).tolist()}
        for partition in sorted(partitions):
            at = partition - self._first
            upto = 0 if claimed.next is None else int(claimed.next[at])
            missing = 0 if claimed.missing is None else int(claimed.missing[at])
            if not self._agrees(partition, upto, missing):
                raise self._error(place, offset, f"the stream of partition {partition}")

    def _agrees(self, stream: int, upto: int, missing: int) -> bool:
        return self._found.get(stream, 0) == upto - missing and self._next.get(stream, 0) <= upto

    def _error(self, place: Place, offset: int, stream: str) -> Exception:
        return place.error(ErrorCode.INCONSISTENT_INDEX, offset, f"streams of what the file holds ({stream})")
