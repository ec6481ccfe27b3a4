"""Rows of Arrow tables, kept by slot until a region is written. Needs pyarrow.

Rows are kept in runs of a few MiB, each with the order of its rows by slot. When the region is written, the rows of
some neighbouring slots at a time are fetched from all runs, made into blocks and written, while they are still in the
processor's cache. So the sort buffer is not copied as a whole, which would need new memory each time.
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
"""About how many bytes of rows are fetched together."""


@dataclass(frozen=True)
class _Run:
    """Rows in the order of their calls, with their order by slot."""

    batch: Any
    order: npt.NDArray[np.uint32]
    """The rows by slot, stably."""
    slots: Ints
    """The slots in that order."""


class Rows:
    """What the open region holds."""

    def __init__(self, options: WriterOptions) -> None:
        """Make an empty buffer."""
        self._options = options
        self.clear()

    def clear(self) -> None:
        """Forget all rows."""
        self._tables: list[Any] = []
        self._slots: list[Ints] = []
        self._unsorted = 0
        self._runs: list[_Run] = []
        self._count = 0
        self.bytes = 0
        """What the rows take as columns."""

    def push(self, rows: Any, slots: Ints) -> None:  # noqa: ANN401 - pyarrow ships no types
        """Take rows, each with its slot: its partition less first_partition and rotation."""
        self._tables.append(rows)
        self._slots.append(slots)
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
        # Small keys are sorted by radix.
        narrow = slots.astype(np.uint16 if self._options.partition_count <= 0x10000 else np.uint32)
        order = np.argsort(narrow, kind="stable").astype(np.uint32)
        self._runs.append(_Run(one_batch(pa.concat_tables(self._tables)), order, slots[order]))
        self._tables, self._slots, self._unsorted = [], [], 0

    def present(self) -> Ints:
        """Return the slots that have rows, ascending; rows that were not sorted yet are left out."""
        firsts = [run.slots[np.append(True, run.slots[1:] != run.slots[:-1])] for run in self._runs]
        return np.unique(np.concatenate(firsts)) if firsts else np.zeros(0, np.int64)

    def extents(self, present: Ints) -> Iterator[list[Any]]:
        """Yield the rows of each of these slots, ascending and all that have any, as batches in order."""
        edges = [np.append(np.searchsorted(run.slots, present), run.slots.size) for run in self._runs]
        sizes = np.diff(np.sum(edges, axis=0)) * (self.bytes / self._count)
        group = ((np.cumsum(sizes) - sizes) // GROUP).astype(np.int64)
        firsts = np.flatnonzero(np.append(True, group[1:] != group[:-1])).tolist()
        for first, last in zip(firsts, [*firsts[1:], present.size], strict=True):
            taken: list[tuple[Any, list[int]]] = []
            for run, edge in zip(self._runs, edges, strict=True):
                bounds = (edge[first : last + 1] - edge[first]).tolist()
                if bounds[-1]:
                    rows = pa.array(run.order[edge[first] : edge[last]])
                    taken.append((run.batch.take(rows), bounds))
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
