"""Rows of Arrow tables, kept by slot until a region is written. Needs pyarrow.

Rows are kept in runs of a few MiB or more, each sorted by slot as soon as it is full, while its rows are still in the
processor's cache. When the region is written, the rows of one slot after another are put together from all runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from faro_format._bytes.spans import Ints
from faro_format._error import ErrorCode, FaroError
from faro_format._pyarrow import pa
from faro_format._writer.options import WriterOptions

RUN = 4 << 20
"""The least bytes of rows that are combined and sorted."""
GROUP = 8 << 20
"""About how many bytes of rows are fetched together from runs that are not in the order of their slots."""


@dataclass(frozen=True)
class _Run:
    """Rows of some calls by slot, stably."""

    batch: Any
    """The rows by slot; with :attr:`order` in the order of their calls."""
    slots: npt.NDArray[np.unsignedinteger[Any]]
    """The slots by slot."""
    order: npt.NDArray[np.uint32] | None
    """The rows by slot."""

    def rows(self, begin: int, end: int) -> Any:  # noqa: ANN401
        """Return the rows from ``begin`` to ``end`` - 1 by slot."""
        if self.order is None:
            return self.batch.slice(begin, end - begin)
        return _taken(self.batch, self.order[begin:end])


class Rows:
    """What the open region holds."""

    def __init__(self, options: WriterOptions) -> None:
        """Make an empty buffer."""
        self._options = options
        # Keys of one and two bytes are sorted by radix, one byte in half the time of two.
        self._narrow = np.min_scalar_type(options.partition_count - 1)
        self.clear()

    def clear(self) -> None:
        """Forget all rows."""
        self._tables: list[Any] = []
        self._slots: list[npt.NDArray[np.unsignedinteger[Any]]] = []
        self._unsorted = 0
        self._runs: list[_Run] = []
        self._count = 0
        self.bytes = 0
        """What the rows take as columns."""

    def push(self, rows: Any, slots: Ints) -> None:  # noqa: ANN401 - pyarrow ships no types
        """Take rows, each with its slot: its partition less first_partition and rotation."""
        self._tables.append(rows)
        self._slots.append(slots.astype(self._narrow))
        size = rows.nbytes
        self._count += rows.num_rows
        self._unsorted += size
        self.bytes += size
        if self._unsorted >= RUN:
            self.sort()

    def sort(self) -> None:
        """Make a run of the rows that came since the last."""
        if not self._tables:
            return
        slots = np.concatenate(self._slots)
        places = np.argsort(slots, kind="stable")
        slots, order = slots[places], places.astype(np.uint32)
        batch = one_batch(pa.concat_tables(self._tables))
        if self._unsorted <= self._options.buffer_size:
            self._runs.append(_Run(_taken(batch, order), slots, None))
        else:
            # A copy of these would take more memory than the sort buffer may.
            self._runs.append(_Run(batch, slots, order))
        self._tables, self._slots, self._unsorted = [], [], 0

    def present(self) -> Ints:
        """Return the slots that have rows, ascending; rows that were not sorted yet are left out."""
        firsts = [run.slots[np.append(True, run.slots[1:] != run.slots[:-1])] for run in self._runs]
        return np.unique(np.concatenate(firsts)).astype(np.int64) if firsts else np.zeros(0, np.int64)

    def extents(self, present: Ints) -> Iterator[list[Any]]:
        """Yield the rows of each of these slots, ascending and all that have any, as batches in order."""
        named = present.astype(self._narrow)
        edges = [np.append(np.searchsorted(run.slots, named), run.slots.size) for run in self._runs]
        sizes = np.diff(np.sum(edges, axis=0)) * (self.bytes / self._count)
        group = ((np.cumsum(sizes) - sizes) // GROUP).astype(np.int64)
        firsts = np.flatnonzero(np.append(True, group[1:] != group[:-1])).tolist()
        for first, last in zip(firsts, [*firsts[1:], present.size], strict=True):
            taken: list[tuple[Any, list[int]]] = []
            for run, edge in zip(self._runs, edges, strict=True):
                bounds = (edge[first : last + 1] - edge[first]).tolist()
                if bounds[-1]:
                    taken.append((run.rows(int(edge[first]), int(edge[last])), bounds))
            for number in range(last - first):
                yield [
                    batch.slice(bounds[number], bounds[number + 1] - bounds[number])
                    for batch, bounds in taken
                    if bounds[number] < bounds[number + 1]
                ]

    @property
    def rows_per_block(self) -> int:
        """How many rows make a block of about block_size bytes."""
        return max(1, self._count * self._options._cut_size // max(self.bytes, 1))


def _taken(batch: Any, rows: npt.NDArray[np.uint32]) -> Any:  # noqa: ANN401
    """Return some rows of a batch, all of which it has."""
    from pyarrow import compute  # Late, because it takes long to import, and readers do not need it.

    return compute.take(batch, pa.array(rows), boundscheck=False)


def one_batch(rows: Any) -> Any:  # noqa: ANN401
    """Return the rows of a table, one at least, as one record batch."""
    batches = rows.combine_chunks().to_batches()
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def cut(slices: list[Any], rows_per_block: int) -> Iterator[Any]:
    """Yield the rows of an extent as batches of about this many rows.

    Slices that are large enough are cut, and not copied; small ones are put together.
    """
    small: list[Any] = []
    count = 0
    for piece in slices:
        if small and (count + piece.num_rows > rows_per_block or 2 * piece.num_rows > rows_per_block):
            yield _joined(small)
            small, count = [], 0
        if 2 * piece.num_rows <= rows_per_block:
            small.append(piece)
            count += piece.num_rows
            continue
        blocks = -(-piece.num_rows // rows_per_block)
        for number in range(blocks):
            begin, end = number * piece.num_rows // blocks, (number + 1) * piece.num_rows // blocks
            yield piece.slice(begin, end - begin)
    if small:
        yield _joined(small)


def _joined(batches: list[Any]) -> Any:  # noqa: ANN401
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def messages(batch: Any, most: int) -> Iterator[tuple[Any, int]]:  # noqa: ANN401
    """Yield a batch as encapsulated messages of at most this many bytes, each with its count of rows.

    Raises:
        FaroError: ``limit-exceeded`` for a row that is larger alone.
    """
    message = batch.serialize()
    if message.size <= most:
        yield message, batch.num_rows
    elif batch.num_rows > 1:
        half = batch.num_rows // 2
        yield from messages(batch.slice(0, half), most)
        yield from messages(batch.slice(half), most)
    else:
        raise FaroError(ErrorCode.LIMIT_EXCEEDED, f"a row of at most {most} bytes", str(message.size))


def check_rows(rows: Any, most: int) -> None:  # noqa: ANN401
    """Raise ``limit-exceeded`` if a table has a row whose message alone is above this many bytes (WRT-3)."""
    # What a message has beside its columns' bytes: metadata, and padding of each buffer.
    if rows.nbytes + 1024 + 512 * _fields(rows.schema) <= most:
        return
    if rows.num_rows > 1:
        half = rows.num_rows // 2
        check_rows(rows.slice(0, half), most)
        check_rows(rows.slice(half), most)
    elif rows.num_rows:
        for _ in messages(one_batch(rows), most):
            pass


def _fields(kind: Any) -> int:  # noqa: ANN401
    """Return how many fields a schema or type has, nested ones too."""
    fields = kind if isinstance(kind, pa.Schema) else [kind.field(i) for i in range(kind.num_fields)]
    return sum(1 + _fields(field.type) for field in fields)
