"""Writing an output: calls in, regions to files, commit, finish, abort (WRT-1 to WRT-7)."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from faro_format._arguments import instance, integer, shown, text
from faro_format._block.block import KIND_DATA
from faro_format._block.encapsulation import encapsulation_fault
from faro_format._bytes.buffers import as_bytes
from faro_format._bytes.header import FRAMING_ARROW, FRAMING_RECORDS
from faro_format._error import ErrorCode, FaroError, invalid
from faro_format._storage.names import Path, name_to_write
from faro_format._writer.batch import check_batch, check_kind
from faro_format._writer.calls import Calls
from faro_format._writer.committer import Committer
from faro_format._writer.options import WriterOptions
from faro_format._writer.output_files import OutputFiles
from faro_format._writer.region_builder import RegionBuilder, Streams, member_bits
from faro_format._writer.region_writer import RegionWriter
from faro_format._writer.sort_buffer import CHARGE, SortBuffer
from faro_format._writer.summary import Summary

Self = TypeVar("Self", bound="Writer")


class Writer:
    """Writes one output. Use it in a ``with`` statement: it finishes at the end, and aborts on an exception.

    One thread at a time may use a writer.
    """

    def __init__(self, name: Path, options: WriterOptions) -> None:
        """Create the files of an output, under temporary names unless followed (PUB-2).

        Args:
            name: its NAME: ``NAME.data`` and ``NAME.index``, or with layout single ``NAME.faro``; a NAME that ends
                with ``.faro``, ``.data`` or ``.index`` says the layout itself (PUB-1).
            options: the attribute :attr:`options` has a copy with the chosen layout.

        Raises:
            FaroError: ``io``; ``invalid-argument`` if the layout contradicts the NAME's ending.
        """
        instance("options", options, WriterOptions, "Writer(name, WriterOptions(partition_count=8))")
        base, layout = name_to_write(name, options.layout)
        options = replace(options, layout=layout)
        self.options = options
        self._framing = options.framing
        self._buffer = SortBuffer(options)
        self._streams = Streams(options, options._header._seed)
        self._properties: dict[str, str] = {}
        self._calls = Calls()
        self._files = OutputFiles(base, options)
        # Not __del__: this also runs at the end of the program, even if the writer is still referenced.
        weakref.finalize(self, _drop, self._files, self._calls)
        try:
            self._log = Committer(options, self._streams, self._files)
        except BaseException:
            self._discard()
            raise

    @property
    def _ended(self) -> bool:
        """Whether the writer has finished or was aborted."""
        return bool(self._calls.ended)

    # Calls.

    def write(self, partition: int, record: Any, *, rows: int = 1) -> None:  # noqa: ANN401
        """Write a record for one partition.

        Args:
            partition: its absolute number.
            record: any contiguous buffer; with framing arrow an encapsulated message.
            rows: with framing arrow, the rows of the message, for the statistics.

        Raises:
            FaroError: ``invalid-argument`` (WRT-1), ``limit-exceeded`` (WRT-3); all errors of closing a region.
        """
        calls = self._calls
        calls.begin()
        # The same as "with calls:", in a fifth of the time.
        try:
            self._write(partition, record, KIND_DATA, rows)
        except BaseException as fault:
            calls.end(fault)
            raise
        calls.under_way = False

    def write_event(self, partition: int, kind: int, event: Any) -> None:  # noqa: ANN401
        """Write an event for one partition; it counts nothing in the statistics.

        Args:
            partition: its absolute number.
            kind: 1, or 64 to 127 (BLK-2).
            event: any contiguous buffer.

        Raises:
            FaroError: as :meth:`write`.
        """
        with self._calls:
            self._write(partition, event, check_kind(kind, event=True), 1)

    def _write(self, partition: int, record: Any, kind: int, rows: int) -> None:  # noqa: ANN401
        options = self.options
        # The same as integer(); the usual case is checked faster here.
        stream = partition - options.first_partition if type(partition) is int else -1
        if not 0 <= stream < options.partition_count:
            first = options.first_partition
            stream = integer("partition", partition, first, options._end_partition - 1) - first
        record, length = self._record(record, kind)
        rows = self._rows(rows)
        buffer = self._buffer
        charge = length + CHARGE
        if buffer.count and (buffer.charged + charge > options.buffer_size or (options.ordered and buffer.has_shared)):
            self._close_region()
        buffer.push(stream, kind, record, length, rows, charge)
        if charge > options.buffer_size:
            self._close_region()

    def broadcast(self, record: Any, *, rows: int = 1) -> None:  # noqa: ANN401
        """Write a record once for every partition; see :meth:`write`."""
        with self._calls:
            self._share(None, record, KIND_DATA, rows)

    def broadcast_event(self, kind: int, event: Any) -> None:  # noqa: ANN401
        """Write an event once for every partition; see :meth:`write_event`."""
        with self._calls:
            self._share(None, event, check_kind(kind, event=True), 1)

    def multicast(
        self,
        partitions: Sequence[int] | npt.NDArray[Any],
        record: Any,  # noqa: ANN401
        *,
        rows: int = 1,
    ) -> None:
        """Write a record once for a set of partitions, in any order; see :meth:`write`."""
        members = self._members(partitions)
        with self._calls:
            self._share(members, record, KIND_DATA, rows)

    def multicast_event(self, partitions: Sequence[int] | npt.NDArray[Any], kind: int, event: Any) -> None:  # noqa: ANN401
        """Write an event once for a set of partitions, in any order; see :meth:`write_event`."""
        members = self._members(partitions)
        with self._calls:
            self._share(members, event, check_kind(kind, event=True), 1)

    def _members(self, partitions: Sequence[int] | npt.NDArray[Any]) -> bytes | None:
        """Return the bit set of a set of partitions, before the call: an error of their iterator must not fail it."""
        self._calls.check()
        return member_bits(partitions, self.options)

    def _share(self, members: bytes | None, record: Any, kind: int, rows: int) -> None:  # noqa: ANN401
        record, length = self._record(record, kind)
        rows = self._rows(rows)
        buffer, capacity = self._buffer, self.options.buffer_size
        # A set of members is kept until the region is closed, so it is charged (SRT-1).
        own = length + CHARGE + (len(members) if members is not None else 0)
        stream = buffer.shared_stream(members)
        charge = own if stream is None else length + CHARGE
        if buffer.count and (buffer.charged + charge > capacity or own > capacity):
            self._close_region()
            stream, charge = None, own
        if stream is None:
            stream = buffer.begin_shared(members)
        buffer.push(stream, kind, record, length, rows, charge)
        if own > capacity:
            self._close_region()

    def write_batch(
        self,
        partitions: npt.ArrayLike,
        offsets: npt.ArrayLike,
        data: Any,  # noqa: ANN401 - any contiguous buffer
    ) -> None:
        """Write many data records, as :meth:`write` would one after another, without a Python step for each.

        Args:
            partitions: shape (n,), absolute numbers.
            offsets: shape (n + 1,), where in ``data`` each record begins and the last ends, in bytes, ascending.
            data: the records, any contiguous buffer.

        Raises:
            FaroError: as :meth:`write`; if one record is refused, the whole batch is.
        """
        with self._calls:
            self._write_batch(partitions, offsets, data)

    def _write_batch(self, partitions: npt.ArrayLike, offsets: npt.ArrayLike, data: Any) -> None:  # noqa: ANN401
        if self._framing == FRAMING_ARROW:
            raise invalid("framing opaque or records; faro_format.arrow.ArrowWriter takes tables", "framing arrow")
        streams, ends, raw = check_batch(self.options, partitions, offsets, data)
        if not streams.size:
            return
        buffer, options = self._buffer, self.options
        lengths = ends[1:] - ends[:-1]
        if self._framing == FRAMING_RECORDS:
            self._fits(int(lengths.max()) + 4)
        if options.ordered and buffer.has_shared:
            self._close_region()
        charges = np.append(0, np.cumsum(lengths + CHARGE))
        at = 0
        while at < streams.size:
            room = options.buffer_size - buffer.charged
            to = int(np.searchsorted(charges, int(charges[at]) + room, side="right")) - 1
            if to == at and buffer.count:
                self._close_region()
                continue
            large = to == at
            to = at + 1 if large else to
            piece = raw[int(ends[at]) : int(ends[to])]
            buffer.push_batch(streams[at:to], lengths[at:to], piece)
            if large:
                self._close_region()
            at = to

    def write_arrow_column(self, partitions: npt.ArrayLike, column: Any) -> None:  # noqa: ANN401
        """Write the values of an Arrow binary or string array as records; see :meth:`write_batch`.

        Args:
            partitions: shape (n,), absolute numbers.
            column: a pyarrow array of type binary, string or their large variants, without nulls.
        """
        from faro_format._bytes.arrow_arrays import binary_buffers

        offsets, data = binary_buffers(column)
        self.write_batch(partitions, offsets, data)

    def flush(self) -> None:
        """Close the region now. Does nothing if it has no records (SRT-3)."""
        with self._calls:
            self._close_region()

    def region(self) -> RegionWriter:
        """Close the sort buffer's region and begin one that takes blocks as they are (WRT-8).

        Until that region has ended or was given up, the writer accepts no other call except :meth:`abort`, even if
        the region writer is dropped before (WRT-10).
        """
        with self._calls:
            self._close_region()
            builder = RegionBuilder(self._streams, None)
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
            known, raw = self._streams.dictionaries, bytes(as_bytes(content, "content"))
            known.check(raw)
            self._close_region()
            return known.give(raw)

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
        made: list[Summary] = []
        with self._calls:
            self._close_region()
            self._guarded(lambda: made.append(self._log.finish(self._properties)))
            # From here on the files belong to the caller.
            self._calls.ended = "finished"
        return made[0]

    def abort(self) -> None:
        """Give up and remove the files. Does nothing after the writer has finished."""
        self._calls.check_process()
        if self._calls.ended != "finished":
            self._calls.ended = "aborted"
            self._discard()

    def _check_open(self) -> None:
        """Raise the error of a call after the writer has ended or failed; for the arrow writer."""
        self._calls.check()

    # The common part of the calls.

    def _rows(self, rows: int) -> int:
        if type(rows) is not int or rows != 1:
            rows = integer("rows", rows, 0, 2**63 - 1)
        return rows if self._framing == FRAMING_ARROW else 1

    def _fits(self, size: int) -> None:
        if size > self.options.max_plain_size:
            raise FaroError(
                ErrorCode.LIMIT_EXCEEDED, f"a block of at most {self.options.max_plain_size} bytes", str(size)
            )

    def _record(self, record: Any, kind: int) -> tuple[Any, int]:  # noqa: ANN401
        """Check a record or an event; return it as bytes-like with its length in bytes."""
        if not isinstance(record, (bytes, bytearray)):
            record = as_bytes(record, "event" if kind else "record")
        length = len(record)
        if kind != KIND_DATA:
            self._fits(length)
        elif self._framing == FRAMING_RECORDS:
            self._fits(length + 4)
        elif self._framing == FRAMING_ARROW:
            fault = encapsulation_fault(record)
            if fault is not None:
                raise invalid("record: an encapsulated Arrow message", fault)
            self._fits(length)
        return record, length

    def _guarded(self, action: Callable[[], None]) -> None:
        """A step that cannot be undone: every error makes the writer fail for good (WRT-6)."""
        try:
            action()
        except BaseException as fault:
            self._calls.fail(fault)
            self._files.cut_tail()
            raise

    # Regions.

    def _close_region(self) -> None:
        if self._buffer.count:
            self._guarded(lambda: self._log.stream(self._empty))

    def _empty(self, builder: RegionBuilder) -> None:
        known = self._streams.dictionaries
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
            self._guarded(lambda: self._log.stream(fill, wrapped=wrapped))

    def _end_region(self, builder: RegionBuilder, wrapped: bool) -> None:
        """Accept the region of a region writer."""
        self._calls.region = None
        self._guarded(lambda: self._log.append(builder, wrapped=wrapped))

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


def _drop(files: OutputFiles, calls: Calls) -> None:
    """Remove the files of a writer that was dropped, or leave them unfinished if they may be followed."""
    if calls.ended == "finished":
        # They are closed, unless the system refused.
        files.close()
    else:
        files.drop(keep=not calls.ended)
