"""Reading a partition of a followed output as its regions come (FOL-7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from faro_format._block.block import Block
from faro_format._error import ErrorCode, FaroError

Self = TypeVar("Self", bound="Watch")


class Watch:
    """One partition of a followed output, from region 0 on, as its regions come.

    It is one reading, whose sequences are checked over all regions. So it finds blocks that are missing between two
    regions, which readings of each region by itself do not. For one thread. Not constructed by callers:
    :meth:`faro_format.Follower.watch` returns one.
    """

    def __init__(self) -> None:
        """Refuse callers."""
        raise TypeError("a Watch is not constructed; Follower.watch() returns one")

    def _begin(self: Self, steps: Iterator[Block | None]) -> Self:
        """Begin, instead of the constructor; return the watch itself.

        Args:
            steps: the blocks, and None whenever there is none now; it goes on after that.
        """
        self._steps = steps
        self._failure: FaroError | None = None
        return self

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of the regions that the follower has seen and that were not yielded yet.

        It ends when there is no block now. Call it again after a later :meth:`faro_format.Follower.poll`, unless the
        file is finished. A loop may also be left early: the next call goes on after the last block.

        Raises:
            FaroError: the first fault of the file; after it, each call raises it again.
        """
        while True:
            if self._failure is not None:
                raise self._failure
            try:
                block = next(self._steps)
            except FaroError as fault:
                self._failure = fault
                raise
            except BaseException:
                # The steps have ended in the middle of a block.
                self._failure = FaroError(ErrorCode.IO, "a watch that goes on", "one that was interrupted")
                raise
            if block is None:
                return
            yield block
