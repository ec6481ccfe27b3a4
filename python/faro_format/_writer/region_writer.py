"""The region writer, for engines that sort by themselves (WRT-8, WRT-9)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from faro_format._arguments import integer, shown
from faro_format._block.block import KIND_DATA, NO_PARTITION
from faro_format._bytes.buffers import as_bytes
from faro_format._codec import CODEC_NONE, CODEC_ZSTD, CODECS, Codec
from faro_format._error import invalid
from faro_format._writer.batch import check_kind
from faro_format._writer.calls import Calls, CallsOfRegion
from faro_format._writer.options import WriterOptions
from faro_format._writer.region_builder import MAX_SEQUENCE, RegionBuilder, member_bits

Self = TypeVar("Self", bound="RegionWriter")


class RegionWriter:
    """Takes one region's blocks in slot order, then those of shared extents.

    The region is held in memory until :meth:`end`. Use it in a ``with`` statement: the region ends at its end, and is
    given up after an exception. Without ``with``, call :meth:`end` or :meth:`give_up`: until then the writer takes no
    other call (WRT-10). Not constructed by callers: :meth:`faro_format.Writer.region` returns one.
    """

    def __init__(self) -> None:
        """Refuse callers."""
        raise TypeError("a RegionWriter is not constructed; Writer.region() returns one")

    def _begin(
        self: Self,
        builder: RegionBuilder,
        options: WriterOptions,
        calls: Calls,
        end: Callable[[RegionBuilder, bool], None],
    ) -> Self:
        """Begin a region, instead of the constructor; return the region writer itself."""
        self._builder = builder
        self._options = options
        self._writer = calls
        self._calls = CallsOfRegion(calls)
        # Not the region writer itself, so that its memory is freed when it is dropped.
        self._token = calls.region = object()
        self._end = end
        self._open = True
        self._slot = -1
        self._shared = False
        self._sequence: int | None = None
        self._wrapped = False
        return self

    def shared(self, partitions: Sequence[int] | npt.NDArray[Any] | None = None) -> None:
        """Begin a shared extent for a set of partitions, or for all; its blocks follow without a partition."""
        with self._calls:
            self._usable()
            members = None if partitions is None else member_bits(partitions, self._options)
            self._builder.shared(members)
            self._shared = True

    def sequence(self, number: int) -> None:
        """Let the next block have this sequence, instead of one more than the block before it in its stream.

        A stream is the own blocks of a partition, or all shared blocks. It leaves a gap, for blocks that were consumed
        elsewhere (BLK-3)::

            region.sequence(7)  # blocks 0 to 6 of partition 2 were read from memory
            region.block(2, 0, payload)

        Args:
            number: 0 to 2^32 - 2.

        Raises:
            FaroError: ``invalid-argument`` without the option ``selective``. A block whose sequence is not above that
                of the block before it is refused by the call that writes it.
        """
        with self._calls:
            self._usable()
            if not self._options.selective:
                raise invalid("a writer with the option selective", "one without")
            self._sequence = integer("number", number, 0, MAX_SEQUENCE)

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
            plain = _payload("payload", payload)
            kind, records = check_kind(kind), integer("records", records, 0, 2**63 - 1)
            self._check(kind, CODEC_NONE, len(plain), len(plain))
            self._place(partition)
            self._builder.plain(kind, plain, records)

    def stored_block(
        self,
        partition: int | None,
        kind: int,
        codec: Codec | int,
        plain_size: int,
        stored: Any,  # noqa: ANN401
        records: int = 0,
        dictionary: int = 0,
    ) -> None:
        """Add a block as it is stored; it is not decoded.

        Args:
            partition: its absolute number; None in a shared extent.
            kind: 0, or an event's.
            codec: how it is compressed; a :class:`faro_format.Codec` or its number.
            plain_size: bytes after decompression.
            stored: the payload as stored.
            records: how many records it counts for in the statistics.
            dictionary: the number of the dictionary that it is compressed with, from
                :meth:`faro_format.Writer.dictionary`; 0: none.

        Raises:
            FaroError: ``invalid-argument`` (WRT-8, WRT-9).
        """
        with self._calls:
            self._usable()
            payload = _payload("stored", stored)
            kind, codec = check_kind(kind), CODECS[integer("codec", codec, 0, 2)]
            plain_size = integer("plain_size", plain_size, 0, self._options.max_plain_size)
            records = integer("records", records, 0, 2**63 - 1)
            # Refused as a reader would (BLK-7, checks 5, 7c and 10b).
            known = self._builder.dictionary_count if codec == CODEC_ZSTD else 0
            dictionary = integer("dictionary", dictionary, 0, known)
            self._check(kind, codec, plain_size, len(payload))
            self._place(partition)
            self._builder.stored(kind, codec, plain_size, payload, records, dictionary)

    def end(self) -> None:
        """Commit the region. A region without blocks is not written."""
        with self._calls:
            self._usable()
            self._open = False
            self._end(self._builder, self._wrapped)

    def give_up(self) -> None:
        """Give up the region, which leaves no trace (WRT-8). Does nothing after it has ended."""
        self._writer.check_process()
        self._open = False
        if self._writer.region is self._token:
            self._writer.region = None

    def _usable(self) -> None:
        if not self._open:
            raise invalid("a region that is open", "one that has ended; region() begins another")

    def _check(self, kind: int, codec: Codec, plain_size: int, stored_size: int) -> None:
        """Refuse a block that a reader would refuse (BLK-7, checks 6 to 8)."""
        if codec and kind != KIND_DATA:
            raise invalid("codec: 0, as events are not compressed", int(codec))
        if codec and stored_size >= plain_size:
            raise invalid(f"stored: fewer bytes than plain_size, {plain_size}", stored_size)
        if not codec and stored_size != plain_size:
            raise invalid(f"plain_size: {stored_size}, as without a codec the payload is stored plain", plain_size)
        if kind == KIND_DATA and not plain_size:
            raise invalid("payload: one byte or more, as this is a data block", "none")
        if plain_size > self._options.max_plain_size:
            raise invalid(f"payload: at most max_plain_size, {self._options.max_plain_size}", plain_size)

    def _place(self, partition: int | None) -> None:
        """Begin the own extent of a partition if it is not the one that is open (WRT-8). Then skip to the sequence."""
        options = self._options
        if self._shared:
            if partition is not None:
                raise invalid("partition: None in a shared extent, for all its readers", shown(partition))
            self._skip()
            return
        partition = integer("partition", partition, options.first_partition, options._end_partition - 1)
        extents = self._builder.extents
        if extents and extents[-1].partition == partition:
            self._skip()
            return
        index = partition - options.first_partition
        slot = (index - options.rotation) % options.partition_count
        if slot <= self._slot:
            raise invalid("partition: one after those before it, in slot order", partition)
        self._check_sequence(self._builder.next_own(partition))
        if extents and partition < extents[-1].partition != NO_PARTITION:
            self._wrapped = True
        self._slot = slot
        self._builder.own(partition)
        self._skip()

    def _check_sequence(self, following: int) -> None:
        """Refuse the wanted sequence if it is below the one that follows in the stream."""
        if self._sequence is not None and self._sequence < following:
            raise invalid(f"a sequence of {following} or more", self._sequence)

    def _skip(self) -> None:
        """Let the next block of the current extent have the wanted sequence."""
        if self._sequence is not None:
            self._check_sequence(self._builder.extents[-1].next_block)
            self._builder.skip_to(self._sequence)
            self._sequence = None

    def __enter__(self: Self) -> Self:
        """Return the region writer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the region, unless that was done; give it up after an exception."""
        if kind is not None:
            if self._writer.own:
                self.give_up()
        elif self._open:
            self.end()


def _payload(name: str, payload: Any) -> Any:  # noqa: ANN401
    """Return a payload that cannot change: bytes, or a copy as an array of bytes."""
    return payload if isinstance(payload, bytes) else np.frombuffer(as_bytes(payload, name), np.uint8).copy()
