"""The common part of a writer's calls.

Calls are refused after its end, a failure or an interruption (WRT-6), while a region is open (WRT-10), and in a process
that was forked from the writer's (WRT-11).
"""

from __future__ import annotations

import os
import weakref
from types import TracebackType

from faro_format._error import ErrorCode, FaroError, invalid
from faro_format._writer.listener import News


class _Process:
    """An object for this process, another one in each fork. Comparing it is faster than os.getpid."""

    current = object()


def _forked() -> None:
    _Process.current = object()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


_UNDER_WAY = "one that was interrupted, or that another thread makes"


class Calls:
    """Whether a writer accepts calls. In a ``with`` statement: one call.

    A call is under way from its begin until it returned or was refused. If it ends in another way, for example by an
    interruption, it stays under way, and the writer accepts no other call, because it is unknown how much was done.
    Once it has ended, the listener learns what came of it.
    """

    __slots__ = ("_news", "_process", "ended", "failure", "region", "under_way", "waiting")

    def __init__(self, news: News) -> None:
        """Begin with a writer that accepts calls, and owns the news."""
        # The listener may own the writer, which must not live as long as this.
        self._news = weakref.ref(news)
        self.waiting = news.waiting
        """The news."""
        self.ended = ""
        """How the writer ended: ``finished`` or ``aborted``."""
        self.failure: FaroError | None = None
        """The error that made the writer fail, without its traceback, which would keep the writer alive."""
        self.region: object | None = None
        """An object for the region that has begun and not ended, even if its region writer was dropped."""
        self.under_way = False
        """Whether a call has begun and not ended."""
        self._process = _Process.current

    @property
    def own(self) -> bool:
        """Whether this is the process in which the writer was made, and not a fork of it."""
        return self._process is _Process.current

    def check(self) -> None:
        """Raise the error of a call that cannot be accepted."""
        self.check_process()
        if self.waiting and not self.under_way:
            # What the listener missed because it raised something.
            self.tell()
        if self.ended:
            raise invalid("an open writer", f"one that was {self.ended}")
        if self.failure is not None:
            raise self.failure._copy()
        if self.under_way:
            raise FaroError(ErrorCode.IO, "the call before to end; one thread at a time may use a writer", _UNDER_WAY)

    def check_process(self) -> None:
        """Raise ``invalid-argument`` in a fork of the writer's process (WRT-11)."""
        if self._process is not _Process.current:
            raise invalid("the process that made the writer", "one that was forked from it; make a writer there")

    def fail(self, fault: BaseException) -> None:
        """Accept no more calls, because of ``fault``; only the first counts."""
        if self.failure is None:
            expected = "the call before to succeed; abort this writer and make another"
            known = fault if isinstance(fault, FaroError) else FaroError(ErrorCode.IO, expected, repr(fault))
            self.failure = known._copy()
            news = self._news()
            if news is not None:
                news.fault(known._copy())

    def begin(self) -> None:
        """Begin a call of the writer."""
        if self.failure is not None or self.ended or self.under_way or self._process is not _Process.current:
            self.check()
        if self.region is not None:
            raise invalid("the end of the region that region() began: its end() or give_up(), or abort()")
        self.under_way = True

    def end(self, fault: BaseException | None = None) -> None:
        """End the call. A FaroError is a refusal, unless it made the writer fail."""
        if fault is not None and not isinstance(fault, FaroError) and not self.ended:
            self.fail(fault)
        self.under_way = False
        if self.waiting:
            self.tell()

    def tell(self) -> None:
        """Tell the listener the news, when no call is under way: what it raises changes nothing."""
        news = self._news()
        if news is not None:
            news.tell()

    def __enter__(self) -> None:
        """Begin a call of the writer."""
        self.begin()

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self.end(fault)


class CallsOfArrow(Calls):
    """The same for the calls of an arrow writer, each of which makes several of the writer within."""

    __slots__ = ()

    def begin(self) -> None:
        """Begin a call of the arrow writer."""
        super().begin()
        self._hold(held=True)

    def end(self, fault: BaseException | None = None) -> None:
        """End the call."""
        self._hold(held=False)
        super().end(fault)

    def _hold(self, *, held: bool) -> None:
        news = self._news()
        if news is not None:
            news.held = held


class CallsOfRegion:
    """The same for the calls of a region writer."""

    __slots__ = ("_calls",)

    def __init__(self, calls: Calls) -> None:
        """Begin with the calls of the writer."""
        self._calls = calls

    def __enter__(self) -> None:
        """Begin a call of the region writer."""
        self._calls.check()
        self._calls.under_way = True

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it. An error other than a refusal makes the writer fail, as in any other call (WRT-6)."""
        if isinstance(fault, FaroError) and fault.code != ErrorCode.INVALID_ARGUMENT:
            self._calls.fail(fault)
        self._calls.end(fault)
