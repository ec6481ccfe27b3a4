"""What the calls of a writer have in common: none is taken after its end, a failure or an interruption (WRT-6)."""

from __future__ import annotations

import weakref
from types import TracebackType

from faro.error import Code, FaroError, invalid


class Calls:
    """Whether a writer takes calls. In a ``with`` statement: one call.

    A call is under way from its begin until it has returned or was refused. Whatever else ends it, an interruption
    at any point too, leaves it under way, and the writer takes no other: nobody knows how much of it was done.
    """

    __slots__ = ("ended", "failure", "region", "under_way")

    def __init__(self) -> None:
        """Begin with a writer that takes calls."""
        self.ended = ""
        """How the writer ended: ``finished`` or ``aborted``."""
        self.failure: FaroError | None = None
        """What made the writer fail first. Without its traceback, which would keep the writer alive."""
        self.region: weakref.ref[object] | None = None
        """The region writer that has been handed out; gone when its caller has dropped it."""
        self.under_way = False
        """Whether a call has begun that has not ended."""

    def check(self) -> None:
        """Raise what a call gets that cannot be taken."""
        if self.ended:
            raise invalid("an open writer", f"one that was {self.ended}")
        if self.failure is not None:
            raise self.failure.copy()
        if self.under_way:
            raise FaroError(Code.IO, "the call before to end", "one that was interrupted, or that another thread makes")

    def fail(self, fault: BaseException) -> None:
        """Take no more calls, because of ``fault``; only the first counts."""
        if self.failure is None:
            known = fault if isinstance(fault, FaroError) else FaroError(Code.IO, "the call to end", repr(fault))
            self.failure = known.copy()

    def begin(self) -> None:
        """Begin a call of the writer."""
        if self.failure is not None or self.ended or self.under_way:
            self.check()
        if self.region is not None and self.region() is not None:
            raise invalid("the end of the region that region() began")
        self.under_way = True

    def end(self, fault: BaseException | None = None) -> None:
        """End the call. A FaroError is a refusal, unless it has been noted as what made the writer fail."""
        if fault is not None and not isinstance(fault, FaroError):
            self.fail(fault)
        self.under_way = False

    def __enter__(self) -> None:
        """Begin a call of the writer."""
        self.begin()

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self.end(fault)


class CallsOfRegion:
    """The same of the calls of the region writer that a writer has handed out."""

    __slots__ = ("_calls",)

    def __init__(self, calls: Calls) -> None:
        """Take the writer's."""
        self._calls = calls

    def __enter__(self) -> None:
        """Begin a call of the region writer."""
        self._calls.check()
        self._calls.under_way = True

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self._calls.end(fault)
