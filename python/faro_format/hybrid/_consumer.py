"""Reading a partition of a hybrid store (HYB-3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TypeVar

from faro_format._block.block import NO_PARTITION, Block
from faro_format._error import ErrorCode, FaroError, invalid
from faro_format._follow.follower import Follower
from faro_format._reader.extents import Sequences
from faro_format.hybrid._figures import HybridPosition
from faro_format.hybrid._image import Image, Progress

Self = TypeVar("Self", bound="HybridConsumer")


class HybridConsumer:
    """Reads a partition of a hybrid store while it is written.

    Not constructed by callers: :meth:`HybridStore.open` returns one. Close it, or use it in a ``with`` statement.
    """

    def __init__(self) -> None:
        """Refuse callers."""
        raise TypeError("a HybridConsumer is not constructed; HybridStore.open() returns one")

    def _begin(
        self: Self,
        image: Image,
        reader: Callable[[], Follower | None],
        partition: int,
        start: HybridPosition,
        progress: Progress | None,
    ) -> Self:
        """Begin, instead of the constructor; return the consumer itself."""
        self._image = image
        self._reader = reader
        self._partition = partition
        self._start = start
        self._progress = progress
        self._region, self._own, self._shared = start
        self._steps: Iterator[Block | None] | None = None
        self._failure: FaroError | None = None
        self._finished = False
        self._closed = False
        return self

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of the regions so far that were not yielded yet.

        It ends when there is no block now; if then :attr:`finished`, there will be none any more. Call it again after
        the producer has written. A loop may also be left early: the next call goes on after the last block.

        Raises:
            FaroError: the fault of a block, or the failure of the store; after it, each call raises it again.
        """
        while True:
            if self._closed:
                raise invalid("an open consumer", "one that was closed")
            if self._failure is not None:
                raise self._failure
            try:
                block = self._next()
            except FaroError as fault:
                self._failure = fault
                raise
            except BaseException:
                # The steps have ended in the middle of a block.
                self._failure = FaroError(ErrorCode.IO, "a reading that goes on", "one that was interrupted")
                raise
            if block is None:
                return
            yield block

    def _next(self) -> Block | None:
        if self._finished:
            return None
        self._image.check_usable()
        reader = self._reader()
        if reader is None:
            self._image.wait()
            return None
        if self._steps is None:
            reader.poll()
            if self._start.region > reader.region_count:
                raise invalid("a region of the store", str(self._start.region))
            self._steps = self._blocks(reader)
        block = next(self._steps)
        if block is None:
            ended = reader.poll()
            block = next(self._steps)
            if block is None:
                self._move_to(reader.region_count)
                self._finished = ended
                if not ended:
                    self._image.wait()
        return block

    def _blocks(self, reader: Follower) -> Iterator[Block | None]:
        """Yield the blocks after the position, and None whenever all regions that were seen are read."""
        start = self._start
        sequences = Sequences(from_start=start.region == 0)
        number = start.region
        while True:
            while number < reader.region_count:
                for extent in reader._extents_of(number, self._partition):
                    for block in reader._extent(extent, sequences):
                        self._move_to(number)
                        shared = block.partition == NO_PARTITION
                        if block.sequence >= (start.shared if shared else start.own):
                            self._delivered(block.sequence + 1, shared=shared)
                            yield block
                number += 1
            yield None

    def _delivered(self, following: int, *, shared: bool) -> None:
        if shared:
            self._shared = following
        else:
            self._own = following
        if self._progress is not None:
            self._progress.own, self._progress.shared = self._own, self._shared

    def _move_to(self, region: int) -> None:
        if self._region < region:
            self._region = region
            self._image.move_to(self._progress, region)

    @property
    def finished(self) -> bool:
        """Whether the store is finished, and all of the partition was delivered."""
        return self._finished

    @property
    def position(self) -> HybridPosition:
        """Where a later consumer of a full store can go on after the last block."""
        return HybridPosition(self._region, self._own, self._shared)

    @property
    def partition(self) -> int:
        """The partition that is read."""
        return self._partition

    def close(self) -> None:
        """End the reading. A partition of a selective store cannot be opened again."""
        if not self._closed:
            self._closed = True
            self._steps = None
            self._image.consumers -= 1

    def __enter__(self: Self) -> Self:
        """Return the consumer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the consumer."""
        self.close()
