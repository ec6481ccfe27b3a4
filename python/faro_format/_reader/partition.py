"""One partition as an object, and which partitions a caller asks for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from faro_format._arguments import integer, integers, items
from faro_format._block.block import Block
from faro_format._bytes.header import FRAMING_RECORDS
from faro_format._error import FaroError, invalid, no_index
from faro_format._picture.fragments import facts
from faro_format._picture.plain import counted, printable, size, thousands
from faro_format._reader.delivery import PartitionReader
from faro_format._reader.gaps import missing_in, warn_of_gaps
from faro_format._reader.shown import name_of
from faro_format._reader.sizes import present
from faro_format._reader.windows import by_partition
from faro_format._tables.calls import Numbers, PartitionTables

if TYPE_CHECKING:
    from faro_format._tables.selection import Columns, Selection, Types
    from faro_format._tables.source import Part, Source


class Partition(PartitionTables):
    """One partition of an output, ``reader[7]``, or of all outputs of a shuffle, ``shuffle[7]``.

    Iterating over it yields its data records. Nothing is read before it is asked for.
    """

    def __init__(self, number: int) -> None:
        """Not for callers."""
        self.number = number
        """Its absolute number."""

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """Yield its blocks, in order; see :meth:`faro_format.PartitionReader.partition`."""

    @abstractmethod
    def __iter__(self) -> Iterator[memoryview]:
        """Yield its data records one by one, without events. Needs framing records."""

    @property
    @abstractmethod
    def stored_bytes(self) -> int:
        """The bytes of the extents that it reads."""

    @property
    @abstractmethod
    def records(self) -> int | None:
        """How many records it has, rows among them, as the statistics say; None without statistics."""

    @abstractmethod
    def _missing(self) -> int:
        """Return how many of its own blocks were consumed before they were stored, as far as it is known."""

    @abstractmethod
    def _origin(self) -> str:
        """Return what it is a partition of, for people."""

    def __repr__(self) -> str:
        """Return its number, where it is, and its size."""
        known = ", ".join(f"{value} {name}" for name, value in self._facts())
        return f"<Partition {self.number} of {printable(self._origin())}: {known}>"

    def _repr_html_(self) -> str:
        return facts(f"Partition {self.number} of {self._origin()}", self._facts())

    def _facts(self) -> list[tuple[str, str]]:
        """Return its sizes, or why they are not known; showing an object never fails."""
        try:
            stored, records, missing = self.stored_bytes, self.records, self._missing()
        except FaroError as fault:
            return [("fault", str(fault))]
        found = [("stored", size(stored))]
        if records is not None:
            found.append(("records", thousands(records)))
        return [*found, ("missing", counted(missing, "block"))] if missing else found


class OutputPartition(Partition):
    """A partition of one output."""

    def __init__(self, reader: PartitionReader, number: int, origin: str) -> None:
        """Name a partition of an open reader."""
        super().__init__(number)
        self._reader = reader
        self._name = origin

    def blocks(self) -> Iterator[Block]:
        return self._reader.partition(self.number)

    def __iter__(self) -> Iterator[memoryview]:
        return records_in(self._reader, self.number)

    @property
    def stored_bytes(self) -> int:
        return self._reader.stored_bytes(self.number)

    @property
    def records(self) -> int | None:
        return records_of(self._reader, self.number)

    def _missing(self) -> int:
        return missing_in(self._reader, self.number)

    def _origin(self) -> str:
        return self._name

    def _select(self, columns: Columns, types: Types) -> Selection:
        return selection(self._reader, self.number, columns, types)


def records_in(reader: PartitionReader, partition: int) -> Iterator[memoryview]:
    """Yield the records of a partition; an error names the calls of a partition, which are not those of a reader."""
    framing = reader.header.framing
    if framing != FRAMING_RECORDS:
        others = "to_arrow() has the rows of Arrow batches, and blocks() are of any framing"
        raise invalid(f"a partition with framing records; {others}", f"framing {framing.name.lower()}")
    return reader.records(partition)


def records_of(reader: PartitionReader, partition: int) -> int | None:
    """Return how many records a partition reads, as the statistics say; None without them."""
    statistics = reader.statistics
    if statistics is None:
        return None
    vector = statistics.records
    return statistics.records_to_all + (0 if vector is None else int(vector[partition - reader.header.first_partition]))


def index_of(value: object, first: int, end: int) -> int:
    """Return a number in brackets, checked.

    Raises:
        FaroError: ``invalid-argument``; one that is an IndexError too if there is no such partition.
    """
    number = integer("partition", value, -(2**63), 2**63 - 1)
    if not first <= number < end:
        raise no_index(f"partition: an integer from {first} to {end - 1}", number)
    return number


def numbers_of(partitions: Numbers, first: int, end: int) -> range | list[int]:
    """Return the partitions that a caller asks for, checked."""
    if partitions is None:
        return range(first, end)
    if isinstance(partitions, range) and partitions.step == 1 and first <= partitions.start <= partitions.stop <= end:
        return partitions
    if hasattr(partitions, "__index__") and not getattr(partitions, "ndim", 0):
        return [integer("partitions", partitions, first, end - 1)]
    wanted: Any = partitions
    if not hasattr(partitions, "__array__"):
        wanted = items("partitions", partitions, "a number, several, or None for all")
    found: list[int] = integers("partitions", wanted, first, end - 1).tolist()
    return found


def source_for(reader: PartitionReader) -> Source:
    """Return what the payloads of an output are."""
    from faro_format._tables.source import source_of

    files = reader._files
    properties, message = reader.properties, reader.schema_message
    return source_of(reader.header.framing, message, properties, files.index.place, files.data.place)


def parts_of(reader: PartitionReader, source: Source, numbers: range | list[int]) -> Iterator[Part]:
    """Yield the blocks of partitions, one after another; those of neighbours are read together (PRT-7)."""
    if isinstance(numbers, range):
        for blocks in _neighbours(reader, numbers):
            yield source, blocks
    else:
        for number in numbers:
            yield source, reader.partition(number)


_MANY = 1 << 16
"""From this many partitions on, those without any bytes are not visited, if nothing is shared."""


def _neighbours(reader: PartitionReader, numbers: range) -> Iterator[Iterator[Block]]:
    found = present(reader, numbers.start, numbers.stop) if len(numbers) > _MANY else None
    if found is not None and len(found) < len(numbers) // 2:
        for number in found.tolist():
            yield reader.partition(number)
    else:
        for _, blocks in by_partition(reader, numbers.start, numbers.stop):
            yield blocks


def selection(reader: PartitionReader, partitions: Numbers, columns: Columns, types: Types) -> Selection:
    """Return rows of partitions of an output."""
    # Without pyarrow, the message says how to get it.
    from faro_format._tables.selection import Selection

    numbers = numbers_of(partitions, reader.header.first_partition, reader.header.end_partition)
    source = source_for(reader)
    found = Selection(source, lambda: parts_of(reader, source, numbers), columns, types)
    warn_of_gaps(reader, name_of(reader), numbers)
    return found
