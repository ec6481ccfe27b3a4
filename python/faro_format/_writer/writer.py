"""Writing an output: calls in, regions to files, commit, finish, abort (WRT-1 to WRT-7)."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, TypeVar

from faro_format._arguments import choice, flag, integer, shown, text
from faro_format._bytes.buffers import as_bytes
from faro_format._error import invalid
from faro_format._limits import DEFAULT_LIMITS, Limits, check_limits
from faro_format._reader.reader import CACHE, Lookup, Reader, check_cache
from faro_format._storage.destination import Destination
from faro_format._storage.names import Path
from faro_format._writer.calls import Calls
from faro_format._writer.committer import Committer
from faro_format._writer.files import Files, files_to_write
from faro_format._writer.listener import News
from faro_format._writer.options import WriterOptions
from faro_format._writer.records import RecordCalls
from faro_format._writer.region_builder import MAX_SEQUENCE, RegionBuilder, WriterState
from faro_format._writer.region_writer import RegionWriter
from faro_format._writer.sort_buffer import SortBuffer
from faro_format._writer.summary import Summary

Self = TypeVar("Self", bound="Writer")
Result = TypeVar("Result")


class Writer(RecordCalls):
    """Writes one output. Use it in a ``with`` statement: it finishes at the end, and aborts on an exception.

    One thread at a time may use a writer.
    """

    def __init__(
        self,
        name: Path | None = None,
        options: WriterOptions | None = None,
        *,
        destination: Destination | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Create the files of an output, under temporary names unless followed (PUB-2).

        With the option ``single_below`` they are created later, when the first region ends or the writer finishes.

        Args:
            name: its NAME: ``NAME.data`` and ``NAME.index``, or with layout single ``NAME.faro``; a NAME that ends
                with ``.faro``, ``.data`` or ``.index`` says the layout itself (PUB-1).
            destination: in place of ``name``, where the files go (docs/storage.md)::

                Writer(destination=storage.MemoryDestination(), options=WriterOptions(8))

            storage_options: with a URL as ``name``, such as ``s3://bucket/NAME``, what fsspec passes to the filesystem.
            options: the attribute :attr:`options` has a copy with the chosen layout; with ``single_below`` None.

        Raises:
            FaroError: ``io``; ``invalid-argument`` if the layout contradicts the NAME's ending, or a URL or
                destination has the option ``follow``.
            ImportError: with a URL, fsspec or its package for the protocol is not installed.
        """
        if not isinstance(options, WriterOptions):
            raise invalid("options: WriterOptions, for example WriterOptions(partition_count=8)", shown(options))
        self._files, layout = files_to_write(name, options, destination, storage_options)
        options = replace(options, layout=layout)
        self.options = options
        self._framing = options.framing
        self._buffer = SortBuffer(options)
        self._state = WriterState(options, options._header._seed)
        self._properties: dict[str, str] = {}
        self._news = News(options.listener)
        self._calls = Calls(self._news)
        # Not __del__: this also runs at the end of the program, even if the writer is still referenced.
        weakref.finalize(self, _drop, self._files, self._calls)
        self._log = Committer(options, self._state, self._files, self._news)
        try:
            if layout is None:
                self._files.check_free()
            else:
                self._log.begin(layout)
        except BaseException:
            self._discard()
            raise

    @property
    def _ended(self) -> bool:
        """Whether the writer has finished or was aborted."""
        return bool(self._calls.ended)

    # Regions, and what the footer has.

    def flush(self) -> None:
        """Close the region now. Does nothing if it has no records (SRT-3)."""
        with self._calls:
            self._close_region()

    def region(self) -> RegionWriter:
        """Close the sort buffer's region and begin one that takes blocks as they are (WRT-8).

        Until that region has ended or was given up, the writer accepts no other call except :meth:`abort`, even if
        the region writer is dropped before (WRT-10).
        """
        # A call of its own: after what a listener raises in it, no region is open.
        self.flush()
        with self._calls:
            # An engine that sorts by itself has more than a few records (WRT-13).
            self._guarded(lambda: self._log.begin("paired"))
            builder = RegionBuilder(self._state, None)
            return RegionWriter.__new__(RegionWriter)._begin(builder, self.options, self._calls, self._end_region)

    def dictionary(self, content: Any) -> int:  # noqa: ANN401
        """Give the file a Zstandard dictionary, for blocks that are compressed with it already.

        Closes the region, as :meth:`flush`. The dictionary is written before the blocks of the next region.

        Args:
            content: the dictionary as training made it (RFC 8878, section 5), any contiguous buffer; 8 to 2^20 bytes.

        Returns:
            Its number, for :meth:`RegionWriter.stored_block`; if the file has an equal one, the number of that.

        Raises:
            FaroError: ``invalid-argument`` (DIC-8), even without the option ``dictionaries``.
        """
        with self._calls:
            known, raw = self._state.dictionaries, bytes(as_bytes(content, "content"))
            known.check(raw)
            self._close_region()
            # The file will have it, so it is a pair (WRT-13).
            self._guarded(lambda: self._log.begin("paired"))
            return known.give(raw)

    def skip_to(self, partition: int, sequence: int) -> None:
        """Say that the own blocks of a partition below *sequence* that are not in the file were consumed.

        The next own block of the partition has this sequence. The footer then tells readers that nothing was lost
        (:attr:`faro_format.Reader.streams`). ::

            writer.flush()
            writer.skip_to(2, 7)  # blocks 1 to 6 of partition 2 were read from memory

        Args:
            partition: an absolute number.
            sequence: from that of the partition's next own block to 2^32 - 1.

        Raises:
            FaroError: ``invalid-argument`` without the option ``selective``, and while the sort buffer holds records,
                as before :meth:`flush` (WRT-15).
        """
        with self._calls:
            self._check_skip()
            own = integer("partition", partition, self.options.first_partition, self.options._end_partition - 1)
            number = integer("sequence", sequence, self._state.next_own.get(own, 0), MAX_SEQUENCE + 1)
            self._state.advance_own(own, number, 0)

    def skip_shared_to(self, sequence: int) -> None:
        """Say of shared blocks what :meth:`skip_to` says of the own blocks of a partition.

        Args:
            sequence: from that of the next shared block to 2^32 - 1.

        Raises:
            FaroError: as :meth:`skip_to`.
        """
        with self._calls:
            self._check_skip()
            number = integer("sequence", sequence, self._state.next_shared, MAX_SEQUENCE + 1)
            self._state.advance_shared(number, 0)

    def _check_skip(self) -> None:
        if not self.options.selective:
            raise invalid("a writer with the option selective", "one without")
        if self._buffer.count:
            raise invalid("a sort buffer without records, as after a flush", f"{self._buffer.count} records")

    def property(self, key: str, value: str) -> None:
        """Add a property to the footer; each key once."""
        with self._calls:
            text("key", key)
            text("value", value)
            if key in self._properties:
                raise invalid("key: one that was not used before", shown(key))
            self._properties[key] = value

    def finish(self) -> Summary:
        """Close the region, write footer and tail, publish the files. Return what was written."""
        with self._calls:
            return self._publish(reading=False)

    def finish_and_open(
        self,
        *,
        limits: Limits = DEFAULT_LIMITS,
        verify: bool = True,
        cache: int = CACHE,
        lookup: Lookup = "full",
    ) -> tuple[Summary, Reader]:
        """Finish as :meth:`finish` does, and open the output for reading without a read.

        ::

            summary, reader = writer.finish_and_open()
            with reader:
                records = list(reader.records(3))

        The reader has the output that was written, even if another writer replaces or removes its names meanwhile. In
        an object store such a reading fails with ``io``, and with ``follow`` this call does.

        Args:
            limits: as those of :class:`faro_format.Reader`.
            verify: as that of :class:`faro_format.Reader`.
            cache: as that of :class:`faro_format.Reader`.
            lookup: as that of :class:`faro_format.Reader`.

        Raises:
            FaroError: as :meth:`finish`; ``limit-exceeded`` if the output breaks a limit, or ``io`` if it cannot be
                opened: it is finished and published then.
        """
        choice("lookup", lookup, ("full", "direct"))
        limits, verify, cache = check_limits(limits), flag("verify", verify), check_cache(cache)
        reader = None
        try:
            with self._calls:
                summary = self._publish(reading=True)
                reader = Reader(stored=self._log.output(), limits=limits, verify=verify, cache=cache, lookup=lookup)
        except BaseException:
            # A listener has raised it.
            if reader is not None:
                reader.close()
            raise
        return summary, reader

    def _publish(self, *, reading: bool) -> Summary:
        single = self._buffer.charged <= self.options.single_below
        self._guarded(lambda: self._log.begin("single" if single else "paired"))
        self._close_region()
        summary = self._guarded(lambda: self._log.finish(self._properties, reading=reading))
        # From here on the files belong to the caller.
        self._calls.ended = "finished"
        self._news.finished(summary.files[0], summary.regions, summary.data_bytes + summary.index_bytes)
        return summary

    def abort(self) -> None:
        """Give up and remove the files. Does nothing after the writer has finished."""
        self._calls.check_process()
        if self._calls.ended != "finished":
            self._calls.ended = "aborted"
            self._discard()

    def _check_open(self) -> None:
        """Raise the error of a call after the writer has ended or failed; for the arrow writer."""
        self._calls.check()

    def _guarded(self, action: Callable[[], Result]) -> Result:
        """A step that cannot be undone: every error makes the writer fail for good (WRT-6)."""
        try:
            return action()
        except BaseException as fault:
            self._calls.fail(fault)
            self._files.cut_tail()
            raise

    # Regions.

    def _close_region(self, *, full: bool = False) -> None:
        if self._buffer.count:
            self._state.figures.records += self._guarded(lambda: self._log.stream(self._empty))
            self._state.figures.spills += full

    def _empty(self, builder: RegionBuilder) -> None:
        known = self._state.dictionaries
        if known.training:
            known.train(self._buffer.sampled())
        self._buffer.drain(builder)
        self._buffer.clear()

    def _stream(self, fill: Callable[[RegionBuilder], None], *, wrapped: bool = False) -> None:
        """Write a region whose blocks go to the file as they are made; for the arrow writer.

        Args:
            fill: begins extents, in slot order, and adds their blocks; an error of it makes the writer fail.
            wrapped: whether own extents wrapped around, as rotation asks.
        """
        with self._calls:
            self._close_region()
            self._state.figures.records += self._guarded(lambda: self._log.stream(fill, wrapped=wrapped))

    def _end_region(self, builder: RegionBuilder, wrapped: bool) -> None:
        """Accept the region of a region writer."""
        self._calls.region = None
        self._guarded(lambda: self._log.append(builder, wrapped=wrapped))
        self._state.figures.records += sum(extent.records for extent in builder.extents)

    def _discard(self) -> None:
        self._files.discard()
        self._buffer.clear()

    def __enter__(self: Self) -> Self:
        """Return the writer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finish, unless that was done; abort on an exception."""
        if kind is not None:
            # A fork that ends with an exception, such as sys.exit, leaves the writer to its parent.
            if self._calls.own:
                self.abort()
        elif not self._calls.ended:
            try:
                self.finish()
            except BaseException:
                if self._calls.own:
                    self.abort()
                raise


def _drop(files: Files, calls: Calls) -> None:
    """Remove the files of a writer that was dropped, or leave them unfinished if they may be followed."""
    if calls.ended == "finished":
        # They are closed, unless the system refused.
        files.close()
    else:
        files.drop(keep=not calls.ended)
