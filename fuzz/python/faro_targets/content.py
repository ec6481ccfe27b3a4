"""The blocks that were read of a partition, or of a range."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass

from faro_format import Block, FaroError, FileHeader, PartitionReader

from faro_targets.broken import require
from faro_targets.inputs import judged, same_error
from faro_targets.transcript import Transcript

_SOME = 8
_NO_PARTITION = 0xFFFFFFFF


@dataclass(frozen=True)
class Content:
    """A hash of each block, a hash of all, and the error that ended the reading."""

    blocks: list[bytes]
    sum: str
    error: FaroError | None

    def same(self, other: Content) -> bool:
        """Whether two contents are equal, errors included."""
        return self.blocks == other.blocks and self.sum == other.sum and same_error(self.error, other.error)

    def line(self, transcript: Transcript, *words: object) -> None:
        """Add it to a transcript."""
        ending = () if self.error is None else (self.error,)
        transcript.line(*words, len(self.blocks), self.sum, *ending)


def partitions(header: FileHeader) -> list[int]:
    """*Every partition*, as TARGETS.md defines it."""
    numbers = range(header.first_partition, header.end_partition)
    return [*numbers] if len(numbers) <= 2 * _SOME else [*numbers[:_SOME], *numbers[-_SOME:]]


class _Collector:
    def __init__(self, most: int) -> None:
        self.most = most
        self.blocks: list[bytes] = []
        self.digest = hashlib.sha256()

    def take(self, block: Block, prefix: bytes) -> bytes:
        require(len(block.payload) == block.plain_size, "plain_size bytes of payload")
        require(block.plain_size <= self.most, "at most max_plain_size bytes")
        head = struct.pack("<BI", block.kind, block.plain_size)
        self.digest.update(prefix + head)
        self.digest.update(block.payload)
        self.blocks.append(hashlib.sha256(head + bytes(block.payload)).digest())
        return self.blocks[-1]

    def content(self, error: FaroError | None) -> Content:
        return Content(self.blocks, self.digest.hexdigest()[:16], error)


def read_partition(reader: PartitionReader, partition: int, most: int) -> Content:
    """Read a partition by itself."""
    collector = _Collector(most)
    try:
        for block in reader.partition(partition):
            collector.take(block, b"")
    except FaroError as error:
        return collector.content(judged(error))
    return collector.content(None)


def read_range(reader: PartitionReader, wanted: list[int], most: int) -> tuple[Content, dict[int, list[bytes]]]:
    """Read everything as one range; also which blocks are for which of some partitions."""
    collector = _Collector(most)
    found: dict[int, list[bytes]] = {partition: [] for partition in wanted}
    failure = None
    try:
        for block in reader.all():
            taken = collector.take(block, struct.pack("<I", block.partition))
            if block.partition != _NO_PARTITION:
                readers = [block.partition]
            elif block.members is None:
                readers = wanted
            else:
                readers = block.members.tolist()
            for partition in readers:
                if partition in found:
                    found[partition].append(taken)
    except FaroError as error:
        failure = judged(error)
    return collector.content(failure), found
