"""The sort buffer: records in, in the order of calls; a region's blocks out, by partition (SRT-1 to SRT-8).

Records are one after another in a pool, in the order of their calls. Four columns have the stream, kind,
length and count of rows of each; a stream is an own extent (the partition less first_partition) or a shared one
(partition_count + its number). Closing the region is one stable sort of the streams, one gather of the bytes and
then a step for each block. Only :meth:`SortBuffer.push` takes a Python step for each record.
"""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from faro_format._block.block import KIND_DATA
from faro_format._block.framing import add_lengths
from faro_format._bytes.header import FRAMING_ARROW, FRAMING_OPAQUE, FRAMING_RECORDS
from faro_format._bytes.spans import Bytes, Ints, copy_spans
from faro_format._writer.options import WriterOptions
from faro_format._writer.region_builder import RegionBuilder, is_sparse
from faro_format._writer.sampling import Sampled

CHARGE = 12
"""The charge of a record, in addition to its bytes (SRT-1)."""

_GROUP = 4 << 20
"""How many framed bytes are gathered at once."""


@dataclass(frozen=True)
class _Columns:
    """Records, one in each row."""

    streams: Ints
    kinds: npt.NDArray[np.uint8]
    lengths: Ints
    rows: Ints


class SortBuffer:
    """The records of the open region."""

    def __init__(self, options: WriterOptions) -> None:
        """Make an empty buffer; its memory grows with its content."""
        self._options = options
        self._framing = options.framing
        self.clear()

    def clear(self) -> None:
        """Forget all records."""
        self._pool = bytearray()
        self._done: list[_Columns] = []
        self._streams: list[int] = []
        self._kinds: list[int] = []
        self._lengths: list[int] = []
        self._rows: list[int] = []
        self._members: list[bytes | None] = []
        self._numbers: dict[bytes | None, int] = {}
        self.charged = 0
        """The sum of charges (SRT-1)."""
        self.count = 0
        """Records held."""

    @property
    def held(self) -> int:
        """About how many bytes of memory the records take."""
        lists = (self._streams, self._kinds, self._lengths, self._rows)
        arrays = sum(c.streams.nbytes + c.kinds.nbytes + c.lengths.nbytes + c.rows.nbytes for c in self._done)
        members = sum(len(bits) for bits in self._members if bits is not None)
        return len(self._pool) + sum(map(sys.getsizeof, lists)) + arrays + members if self.count else 0

    @property
    def has_shared(self) -> bool:
        """Whether a record by broadcast or multicast is held."""
        return bool(self._members)

    def shared_stream(self, members: bytes | None) -> int | None:
        """Return the stream that a shared record belongs to (SRT-4), or None if it begins the next."""
        if self._options.ordered:
            known = bool(self._members) and self._members[-1] == members
            return self._options.partition_count + len(self._members) - 1 if known else None
        return self._numbers.get(members)

    def begin_shared(self, members: bytes | None) -> int:
        """Begin the next shared extent and return its stream."""
        stream = self._options.partition_count + len(self._members)
        self._members.append(members)
        self._numbers[members] = stream
        return stream

    def push(self, stream: int, kind: int, record: Any, length: int, rows: int, charge: int) -> None:  # noqa: ANN401
        """Take one record."""
        self._pool += record
        self._streams.append(stream)
        self._kinds.append(kind)
        self._lengths.append(length)
        self._rows.append(rows)
        self.charged += charge
        self.count += 1

    def push_batch(self, streams: Ints, lengths: Ints, data: Bytes) -> None:
        """Take data records that are one after another in ``data``; shapes (n,), (n,), (bytes,)."""
        self._settle()
        self._pool += data.data
        zeros = np.zeros(streams.size, np.uint8)
        self._done.append(_Columns(streams, zeros, lengths, np.ones(streams.size, np.int64)))
        self.charged += data.size + CHARGE * streams.size
        self.count += streams.size

    def _settle(self) -> None:
        """Move the records that were added one by one to arrays."""
        if self._streams:
            self._done.append(
                _Columns(
                    np.array(self._streams, np.int64),
                    np.array(self._kinds, np.uint8),
                    np.array(self._lengths, np.int64),
                    np.array(self._rows, np.int64),
                )
            )
            self._streams, self._kinds, self._lengths, self._rows = [], [], [], []

    def sampled(self) -> Sampled:
        """Return the data records as estimated blocks."""
        columns = self._columns()
        begins = np.cumsum(columns.lengths) - columns.lengths
        data = columns.kinds == KIND_DATA
        pool = np.frombuffer(self._pool, np.uint8)
        return Sampled(
            pool, columns.streams[data], begins[data], columns.lengths[data], self._framing, self._options._cut_size
        )

    def _columns(self) -> _Columns:
        self._settle()
        return _Columns(
            np.concatenate([chunk.streams for chunk in self._done]),
            np.concatenate([chunk.kinds for chunk in self._done]),
            np.concatenate([chunk.lengths for chunk in self._done]),
            np.concatenate([chunk.rows for chunk in self._done]),
        )

    def drain(self, builder: RegionBuilder) -> None:
        """Pass the region's blocks to ``builder`` in the order of SRT-7. The buffer is not changed."""
        columns = self._columns()
        begins = np.cumsum(columns.lengths) - columns.lengths
        order = self._order(columns)
        streams, kinds, lengths = columns.streams[order], columns.kinds[order], columns.lengths[order]
        data = kinds == KIND_DATA
        framed = lengths + 4 * data if self._framing == FRAMING_RECORDS else lengths
        ends = np.cumsum(framed)
        counted = np.append(0, np.cumsum(np.where(data, columns.rows[order], 0)))
        # A stretch is an event, or data records that may share blocks.
        cut = streams[1:] != streams[:-1]
        if self._framing == FRAMING_ARROW:
            cut[:] = True
        elif not data.all():
            cut |= ~(data[1:] & data[:-1])
        firsts = np.append(0, np.flatnonzero(cut) + 1)
        lasts = np.append(firsts[1:], streams.size)
        places = ends - framed
        # Groups of whole stretches; most of _GROUP bytes, so that memory is bounded by the longest extent.
        group = places[firsts] // _GROUP
        edges = np.append(np.flatnonzero(np.append(True, group[1:] != group[:-1])), firsts.size).tolist()
        source = np.frombuffer(self._pool, np.uint8)
        current = -1
        for low, high in itertools.pairwise(edges):
            a, b = int(firsts[low]), int(lasts[high - 1])
            base = int(places[a])
            target = np.empty(int(ends[b - 1]) - base, np.uint8)
            self._gather(source, begins[order[a:b]], lengths[a:b], data[a:b], target, places[a:b] - base)
            # Python's integers, one for each stretch, because they are faster one by one than NumPy's.
            stretches = zip(
                streams[firsts[low:high]].tolist(),
                kinds[firsts[low:high]].tolist(),
                (places[firsts[low:high]] - base).tolist(),
                (ends[lasts[low:high] - 1] - base).tolist(),
                (counted[lasts[low:high]] - counted[firsts[low:high]]).tolist(),
                range(low, high),
                strict=True,
            )
            for stream, kind, begin, end, count, number in stretches:
                if stream != current:
                    current = stream
                    self._begin(builder, stream)
                builder.extents[-1].records += count
                if kind != KIND_DATA:
                    builder.plain(kind, target[begin:end], 0)
                    continue
                while end - begin > self._options._cut_size:
                    to = self._block_end(begin, end, ends[firsts[number] : lasts[number]] - base)
                    builder.plain(KIND_DATA, target[begin:to], 0)
                    begin = to
                if begin < end:
                    builder.plain(KIND_DATA, target[begin:end], 0)

    def _order(self, columns: _Columns) -> npt.NDArray[np.intp]:
        """Return the records in slot order, shared ones last, each stream in the order of calls."""
        options = self._options
        count, rotation = options.partition_count, options.rotation
        key = columns.streams
        if rotation:
            kept = (
                (columns.lengths > 0) | (columns.kinds != KIND_DATA) if self._framing == FRAMING_OPAQUE else slice(None)
            )
            present = np.unique(columns.streams[kept])
            if not is_sparse(int(np.searchsorted(present, count)), count):
                key = np.where(key < count, (key - rotation) % count, key)
        # Small keys are sorted by radix.
        narrow = key.astype(np.uint16) if count + len(self._members) <= 0x10000 else key.astype(np.uint32)
        return np.argsort(narrow, kind="stable")

    def _begin(self, builder: RegionBuilder, stream: int) -> None:
        count = self._options.partition_count
        if stream < count:
            builder.own(stream + self._options.first_partition)
        else:
            builder.shared(self._members[stream - count])

    def _gather(
        self, source: Bytes, begins: Ints, lengths: Ints, data: npt.NDArray[np.bool_], target: Bytes, places: Ints
    ) -> None:
        """Write records, framed, to their places."""
        if self._framing != FRAMING_RECORDS:
            copy_spans(source, begins, lengths, target, places)
        elif data.all():
            add_lengths(source, begins, lengths, target, places)
        else:
            add_lengths(source, begins[data], lengths[data], target, places[data])
            copy_spans(source, begins[~data], lengths[~data], target, places[~data])

    def _block_end(self, begin: int, end: int, ends: Ints) -> int:
        """Return the end of a block that begins at a byte of a stretch whose rest does not fit into it (SRT-6).

        Args:
            begin: the block's first byte.
            end: where the stretch ends.
            ends: where each of the stretch's records ends.
        """
        most = begin + self._options._cut_size
        if self._framing == FRAMING_ARROW:
            return end
        if self._framing == FRAMING_OPAQUE:
            return most
        # After the last record that fits, or after the first one, which is alone.
        fitting = int(np.searchsorted(ends, most, side="right"))
        first = int(np.searchsorted(ends, begin, side="right"))
        return int(ends[max(fitting - 1, first)])
