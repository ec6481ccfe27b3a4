"""One partition of all outputs of a shuffle, as its consumer reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np

from faro_format._block.block import Block
from faro_format._picture.plain import counted
from faro_format._reader.partition import Partition, records_in
from faro_format._shuffle.output import ShuffleOutput
from faro_format._shuffle.sums import ShuffleSums

if TYPE_CHECKING:
    from faro_format._tables.calls import Numbers
    from faro_format._tables.selection import Columns, Selection, Types


class Outputs(Protocol):
    """The shuffle."""

    def sum_up(self) -> ShuffleSums:
        """Return what the footers say."""

    def _readable(self) -> list[ShuffleOutput]:
        """Return all outputs, or raise the error of one that cannot be read."""

    def _select(self, partitions: Numbers, columns: Columns, types: Types) -> Selection:
        """Return rows."""


class ShufflePartition(Partition):
    """A partition of all outputs, output after output."""

    def __init__(self, shuffle: Outputs, number: int) -> None:
        """Name a partition of a shuffle."""
        super().__init__(number)
        self._shuffle = shuffle

    def blocks(self) -> Iterator[Block]:
        for output in self._having():
            with output.open() as reader:
                yield from reader.partition(self.number)

    def __iter__(self) -> Iterator[memoryview]:
        for output in self._having():
            with output.open() as reader:
                yield from records_in(reader, self.number)

    @property
    def stored_bytes(self) -> int:
        return int(self._shuffle.sum_up()._stored.of(np.array([self.number], np.int64))[0])

    @property
    def records(self) -> int | None:
        records = self._shuffle.sum_up()._records
        return None if records is None else int(records.of(np.array([self.number], np.int64))[0])

    def _missing(self) -> int:
        return int(self._shuffle.sum_up()._missing.of(np.array([self.number], np.int64))[0])

    def _having(self) -> Iterator[ShuffleOutput]:
        """Yield the outputs that have this partition."""
        for output in self._shuffle._readable():
            header = output.header
            if header is not None and header.first_partition <= self.number < header.end_partition:
                yield output

    def _origin(self) -> str:
        sums = self._shuffle.sum_up()
        faults = f", without {len(sums.faults)} with faults" if sums.faults else ""
        return f"{counted(len(sums.outputs), 'output')} in {sums.name}{faults}"

    def _select(self, columns: Columns, types: Types) -> Selection:
        return self._shuffle._select(self.number, columns, types)
