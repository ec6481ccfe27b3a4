"""The calls that give records to a writer: checked, and kept in the sort buffer (WRT-1 to WRT-3, SRT-1)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from faro_format._arguments import integer
from faro_format._block.block import KIND_DATA
from faro_format._block.encapsulation import encapsulation_fault
from faro_format._bytes.buffers import as_bytes
from faro_format._bytes.header import FRAMING_ARROW, FRAMING_RECORDS, Framing
from faro_format._error import ErrorCode, FaroError, invalid
from faro_format._writer.batch import check_batch, check_kind
from faro_format._writer.calls import Calls
from faro_format._writer.figures import WriterFigures
from faro_format._writer.options import WriterOptions
from faro_format._writer.region_builder import WriterState, member_bits
from faro_format._writer.sort_buffer import CHARGE, SortBuffer


class RecordCalls:
    """The part of a writer that takes records."""

    options: WriterOptions
    _framing: Framing
    _calls: Calls
    _buffer: SortBuffer
    _state: WriterState

    @abstractmethod
    def _close_region(self, *, full: bool = False) -> None:
        """End the region that the sort buffer holds, because it is ``full`` or for another reason."""

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
        if calls.waiting:
            calls.tell()

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
        if buffer.count:
            if options.ordered and buffer.has_shared:
                self._close_region()
            elif buffer.charged + charge > options.buffer_size:
                self._close_region(full=True)
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
            self._close_region(full=True)
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
                self._close_region(full=True)
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

    @property
    def memory_used(self) -> int:
        """About how many bytes of memory the sort buffer holds now. The caller cannot refuse it any (WRT-14)."""
        return self._buffer.held

    def figures(self) -> WriterFigures:
        """Return what the writer has done so far; also after it has ended."""
        return replace(self._state.figures, memory_used=self._buffer.held)

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
