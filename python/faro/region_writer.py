"""The region writer, for engines that sort by themselves (WRT-8, WRT-9)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from faro.block import KIND_DATA, NO_PARTITION, PARTITION_KINDS
from faro.calls import Calls, CallsOfRegion
from faro.codec import CODEC_ZSTD
from faro.error import invalid
from faro.options import WriterOptions
from faro.region_builder import RegionBuilder, member_bits

Self = TypeVar("Self", bound="RegionWriter")


class RegionWriter:
    """Takes one region's blocks in slot order, then those of shared extents.

    The region is held in memory until :meth:`end`. Use it in a ``with`` statement: it ends at the end, and is given
    up on an exception.
    """

    def __init__(
        self,
        builder: RegionBuilder,
        options: WriterOptions,
        calls: Calls,
        end: Callable[[RegionBuilder, bool], None],
    ) -> None:
        """Begin a region; made by :meth:`faro.Writer.region`."""
        self._builder = builder
        self._options = options
        self._writer = calls
        self._calls = CallsOfRegion(calls)
        # Not the region writer itself, whose memory is to go when it is lost.
        self._token = calls.region = object()
        self._end = end
        self._open = True
        self._slot = -1
        self._shared = False
        self._wrapped = False

    def shared(self, partitions: Sequence[int] | npt.NDArray[Any] | None = None) -> None:
        """Begin a shared extent for a set of partitions, or for all; its blocks follow without a partition."""
        with self._calls:
            self._usable()
            members = None if partitions is None else member_bits(partitions, self._options)
            self._builder.shared(members)
            self._shared = True

    def block(self, partition: int | None, kind: int, payload: Any, records: int = 0) -> None:  # noqa: ANN401
        """Add a block, compressed as the options say.

        Args:
            partition: its absolute number; None in a shared extent.
            kind: 0, or an event's.
            payload: the framed plain payload (FRM), not checked against FRM-2.
            records: how many records it counts for in the statistics.

        Raises:
            FaroError: ``invalid-argument`` (WRT-8, WRT-9).
        """
        with self._calls:
            self._usable()
            plain = _payload(payload)
            self._check(kind, 0, len(plain), len(plain), records)
            self._place(partition)
            self._builder.plain(kind, plain, records)

    def stored_block(
        self,
        partition: int | None,
        kind: int,
        codec: int,
        plain_size: int,
        stored: Any,  # noqa: ANN401
        records: int = 0,
        dictionary: int = 0,
    ) -> None:
        """Add a block as it is stored; it is not decoded.

        Args:
            partition: its absolute number; None in a shared extent.
            kind: 0, or an event's.
            codec: 0 none, 1 LZ4, 2 Zstandard.
            plain_size: bytes after decompression.
            stored: the payload as stored.
            records: how many records it counts for in the statistics.
            dictionary: the number, from :meth:`faro.Writer.dictionary`, of the one it is compressed with; 0: none.

        Raises:
            FaroError: ``invalid-argument`` (WRT-8, WRT-9).
        """
        with self._calls:
            self._usable()
            payload = _payload(stored)
            self._check(kind, codec, plain_size, len(payload), records)
            self._check_dictionary(codec, dictionary)
            self._place(partition)
            self._builder.stored(kind, codec, plain_size, payload, records, dictionary)

    def end(self) -> None:
        """Commit the region; one without blocks leaves nothing."""
        with self._calls:
            self._usable()
            self._open = False
            self._end(self._builder, self._wrapped)

    def give_up(self) -> None:
        """Drop the region; it leaves no trace. Does nothing once it has ended."""
        self._writer.check_process()
        self._open = False
        if self._writer.region is self._token:
            self._writer.region = None

    def _usable(self) -> None:
        if not self._open:
            raise invalid("a region that has not ended")

    def _check(self, kind: int, codec: int, plain_size: int, stored_size: int, records: int) -> None:
        """Refuse what a reader would refuse (BLK-7, checks 6 to 8)."""
        if kind not in PARTITION_KINDS:
            raise invalid("kind 0, 1 or 64 to 127", kind)
        if codec not in (0, 1, 2):
            raise invalid("codec 0, 1 or 2", codec)
        if codec and kind != KIND_DATA:
            raise invalid("codec none of an event", codec)
        if stored_size >= plain_size if codec else stored_size != plain_size:
            raise invalid("a plain_size above that of a compressed payload, or equal", f"{plain_size}, {stored_size}")
        if kind == KIND_DATA and not plain_size:
            raise invalid("a data block with bytes")
        if plain_size > self._options.max_plain_size:
            raise invalid(f"plain_size of at most {self._options.max_plain_size}", plain_size)
        if not 0 <= records < 2**63:
            raise invalid("a count of records", records)

    def _check_dictionary(self, codec: int, dictionary: int) -> None:
        """Refuse a dictionary that a reader would refuse (BLK-7, checks 5, 7c and 10b)."""
        most = self._builder.dictionary_count if codec == CODEC_ZSTD else 0
        if not isinstance(dictionary, (int, np.integer)) or not 0 <= dictionary <= most:
            raise invalid(f"a dictionary of the file, at most {most}, of codec 2", repr(dictionary))

    def _place(self, partition: int | None) -> None:
        """Begin the own extent of a partition if it is not the one that is open (WRT-8)."""
        options = self._options
        if self._shared:
            if partition is not None:
                raise invalid("no partition in a shared extent", partition)
            return
        if partition is None or not options.first_partition <= partition < options.end_partition:
            raise invalid(f"a partition from {options.first_partition} to {options.end_partition - 1}", partition)
        extents = self._builder.extents
        if extents and extents[-1].partition == partition:
            return
        index = partition - options.first_partition
        slot = (index - options.rotation) % options.partition_count
        if slot <= self._slot:
            raise invalid("own blocks in slot order", f"partition {partition}")
        if extents and partition < extents[-1].partition != NO_PARTITION:
            self._wrapped = True
        self._slot = slot
        self._builder.own(partition)

    def __enter__(self: Self) -> Self:
        """Return the region writer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the region, unless that was done; give it up on an exception."""
        if kind is not None:
            if self._writer.own:
                self.give_up()
        elif self._open:
            self.end()


def _payload(payload: Any) -> Any:  # noqa: ANN401
    """Return a payload that stays as it is: bytes, or a copy as an array of bytes."""
    if isinstance(payload, bytes):
        return payload
    try:
        return np.frombuffer(memoryview(payload), np.uint8).copy() if memoryview(payload).nbytes else b""
    except (TypeError, ValueError) as fault:
        raise invalid("a contiguous buffer of bytes", type(payload).__name__) from fault
