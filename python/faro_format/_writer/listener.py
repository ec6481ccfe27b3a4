"""What writers tell a program (the option ``listener``)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from faro_format._error import FaroError


class Listener:
    """Learns what writers do. Inherit from it, and define what is wanted.

    ::

        class Wake(Listener):
            def __init__(self) -> None:
                self.news = threading.Event()

            def region_written(self, name: str, region: int, size: int) -> None:
                self.news.set()

            def finished(self, name: str, regions: int, size: int) -> None:
                self.news.set()

            def fault(self, fault: FaroError) -> None:
                self.news.set()

        writer = Writer("out", WriterOptions(8, follow=True, listener=Wake()))

    A call comes from the thread that made the library's call, when that call's work is done. What a listener raises
    leaves that call, and changes nothing: what was written stays written. What the listener missed then comes with a
    later call, if there is one. (In a ``with`` statement the exception aborts the writer, as any other does.)

    A region that it learns of is committed: a :class:`faro_format.Follower` that polls in the listener, or later, sees
    it. So a consumer in the writer's process need not poll in vain (docs/following.md). Each region comes once, in
    ascending order, and before the end. A writer that is aborted or dropped has no news.
    """

    def region_written(self, name: str, region: int, size: int, /) -> None:
        """Learn that a region was committed.

        Args:
            name: of the data file or single file.
            region: its number.
            size: bytes of its blocks in the file.
        """

    def finished(self, name: str, regions: int, size: int, /) -> None:
        """Learn that an output was published.

        Args:
            name: of the data file or single file.
            regions: how many there are.
            size: bytes of all files.
        """

    def fault(self, fault: FaroError, /) -> None:
        """Learn that a writer failed; it accepts no more calls.

        Args:
            fault: what later calls of the writer raise. The call that this comes from raises it too, or its cause, such
                as a KeyboardInterrupt.
        """


class News:
    """What a writer's listener has not heard of yet. It gets that when a call has ended."""

    def __init__(self, listener: Listener | None) -> None:
        """Begin without news; without a listener, there never are any."""
        self._listener = listener
        self._over = False
        self.held = False
        """Whether an arrow writer's call is under way, which tells all at its end."""
        # Without a reference to the listener, which may own the writer.
        self.waiting: deque[Callable[[Listener], None]] = deque()

    def region_written(self, name: str, region: int, size: int) -> None:
        """Keep that a region was committed."""
        self._add(lambda listener: listener.region_written(name, region, size))

    def finished(self, name: str, regions: int, size: int) -> None:
        """Keep that the output was published."""
        self._over = True
        self._add(lambda listener: listener.finished(name, regions, size))

    def fault(self, fault: FaroError) -> None:
        """Keep that the writer failed, unless it has failed or finished before."""
        if not self._over:
            self._over = True
            self._add(lambda listener: listener.fault(fault))

    def _add(self, call: Callable[[Listener], None]) -> None:
        if self._listener is not None:
            self.waiting.append(call)

    def tell(self) -> None:
        """Tell the listener what it has not heard of."""
        if self._listener is not None and not self.held:
            # Removed before the call, which may raise: nothing comes twice.
            while self.waiting:
                self.waiting.popleft()(self._listener)
