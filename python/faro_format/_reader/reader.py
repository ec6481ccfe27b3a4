"""Reading a finished output."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from faro_format import _arguments as arguments
from faro_format._block.block import BLOCK_HEADER_SIZE, Block
from faro_format._error import ErrorCode
from faro_format._index.lookup import look_up
from faro_format._index.regions import Extent, Region, RegionCache
from faro_format._limits import DEFAULT_LIMITS, Limits, check_limits
from faro_format._message.messages import FooterMessage
from faro_format._reader.ahead import Ahead
from faro_format._reader.delivery import PartitionReader, check_from_region
from faro_format._reader.extents import Sequences
from faro_format._reader.figures import ReaderFigures
from faro_format._reader.opening import directory_entry, load_region, message_bounds, open_files, open_finished
from faro_format._reader.partition import OutputPartition, Partition, index_of, selection
from faro_format._reader.shown import html_of, name_of, text_of
from faro_format._storage.input_file import Window
from faro_format._storage.names import Path
from faro_format._storage.stored_output import StoredOutput, output_to_read
from faro_format._tables.calls import Numbers, OutputTables

if TYPE_CHECKING:
    from faro_format._tables.selection import Columns, Selection, Types

_log = logging.getLogger("faro_format")

Lookup = Literal["full", "direct"]

CACHE = 64 << 20
"""Bytes of region messages that a reader keeps by default."""


def check_cache(cache: object) -> int:
    """Return the argument ``cache`` of a reader, checked."""
    return arguments.integer("cache", cache, 0, 2**63 - 1)


class Reader(PartitionReader, OutputTables):
    """A finished output, opened (OPN-1). Opening reads headers, tail and footer, and no region or block.

    It is a collection of its partitions: ``len(reader)``, ``for partition in reader``, and ``reader[7]`` for the one
    with the number 7.
    """

    def __init__(
        self,
        name: Path | None = None,
        *,
        data: Path | None = None,
        index: Path | None = None,
        single: Path | None = None,
        stored: StoredOutput | None = None,
        storage_options: Mapping[str, Any] | None = None,
        limits: Limits = DEFAULT_LIMITS,
        verify: bool = True,
        cache: int = CACHE,
        lookup: Lookup = "full",
    ) -> None:
        """Open an output by its NAME, or by its files: ``data`` and ``index``, or ``single``, or ``stored``.

        A text with a protocol is a URL of fsspec, for example of an object store (docs/storage.md)::

            Reader("s3://bucket/out", storage_options={"anon": True})

        Args:
            name: its NAME, with or without an ending (PUB-1): ``out`` is ``out.faro``, or ``out.data`` and
                ``out.index``, whichever exists.
            data: the path of the data file.
            index: the path of the index file.
            single: the path of a single file.
            stored: its files where they are stored (:mod:`faro_format.storage`); the reader takes them over, and
                closes them, even when opening fails.
            storage_options: with a URL, what fsspec passes to the filesystem.
            limits: the limits of the reader.
            verify: whether the checksums of partition blocks are verified (INT-7).
            cache: bytes of region messages to keep.
            lookup: how the extents of one partition are found. ``full`` reads and verifies region messages; ``direct``
                reads only the parts that lead to the partition (LKP), for a few partitions of an index that is not in
                memory. spec/reading.md says which checks protect such a reading.

        Raises:
            FaroError: the first check of OPN-1 that fails; ``io``, as a FileNotFoundError, if there is no such file;
                ``invalid-argument``.
            ImportError: with a URL, fsspec or its package for the protocol is not installed.
        """
        arguments.choice("lookup", lookup, ("full", "direct"))
        limits, verify, cache = check_limits(limits), arguments.flag("verify", verify), check_cache(cache)
        files, header = open_files(output_to_read(name, data, index, single, stored, storage_options))
        try:
            opened = open_finished(files, header, limits)
        except BaseException:
            files.close()
            raise
        super().__init__(files, header, limits, verify)
        self._opened = opened
        self._cache = RegionCache(cache)
        self._messages: dict[int, Window | None] = {}
        """Region messages that were read ahead."""
        self._direct = lookup == "direct"
        _log.debug(
            "opened %r: %d regions, %d partitions", files.index.place.path, self.region_count, header.partition_count
        )

    def __len__(self) -> int:
        """Return how many partitions there are."""
        return self.header.partition_count

    def __iter__(self) -> Iterator[Partition]:
        """Yield the partitions."""
        return (OutputPartition(self, number, name_of(self)) for number in self.partitions)

    def __getitem__(self, partition: SupportsIndex) -> Partition:
        """Return a partition by its absolute number.

        Raises:
            FaroError: ``invalid-argument``, which is an IndexError if there is no such partition.
        """
        header = self.header
        return OutputPartition(self, index_of(partition, header.first_partition, header.end_partition), name_of(self))

    def _select(self, partitions: Numbers, columns: Columns, types: Types) -> Selection:
        return selection(self, partitions, columns, types)

    def __repr__(self) -> str:
        """Return the name of the output, and how much there is."""
        return text_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    @property
    def memory_used(self) -> int:
        """Bytes that the cache of regions and the dictionaries hold now."""
        known = self._files.data.dictionaries
        return self._cache.held + (0 if known is None else known.held)

    def figures(self) -> ReaderFigures:
        """Return what the reader has done so far. Any thread may ask, even after the reader was closed."""
        data = self._files.data.counter
        counters = [data, self._files.index.counter] if self._files.paired else [data]
        return ReaderFigures(
            reads=sum(counter.reads for counter in counters),
            bytes_read=sum(counter.bytes_read for counter in counters),
            blocks=data.blocks,
            plain_bytes=data.plain_bytes,
            stored_bytes=data.stored_bytes,
            regions_read=self._cache.loads,
            regions_cached=self._cache.hits,
            read_time=sum(counter.read_time for counter in counters),
            memory_used=self.memory_used,
        )

    @property
    def _footer(self) -> FooterMessage:
        """The footer."""
        return self._opened.footer

    @property
    def region_count(self) -> int:
        """How many regions the file has."""
        return int(self._footer.regions.size)

    @property
    def schema_message(self) -> bytes | None:
        """The encapsulated Arrow schema message, with framing arrow."""
        return self._opened.schema

    def _region(self, number: int) -> Region:
        """Return a region by its number, its message checked (REG-10)."""
        return self._cache.get(number, self._load)

    def partition(self, partition: int, *, from_region: int = 0) -> Iterator[Block]:
        """Yield the blocks that a partition reads; see :meth:`PartitionReader.partition`."""
        if not self._direct:
            return super().partition(partition, from_region=from_region)
        return self._found_blocks(self._check_partition(partition), check_from_region(from_region))

    def _found_blocks(self, partition: int, from_region: int) -> Iterator[Block]:
        sequences = Sequences(from_start=from_region == 0)
        # All of them before the first block (LKP-3).
        found = self._look_up(partition)[from_region:]
        bounds = ((extent.begin, extent.end) for extents in found for extent in extents)
        ahead = Ahead(self._files.data, bounds)
        for extents in found:
            for extent in extents:
                yield from self._extent(extent, sequences, ahead.window(extent.begin))

    def _look_up(self, partition: int) -> list[list[Extent]]:
        """Return the extents that a partition reads, region by region, found by position (LKP)."""
        found: list[list[Extent]] = []
        for number in range(self.region_count):
            entry = directory_entry(self._footer, number)
            own, shared = look_up(self._files.index, self.header, entry, partition)
            found.append([own, *shared] if own is not None else shared)
        statistics = self.statistics
        if statistics is not None:
            vector = statistics.stored
            expected = statistics.stored_to_all
            expected += 0 if vector is None else int(vector[partition - self.header.first_partition])
            total = sum(extent.end - extent.begin for extents in found for extent in extents)
            if total != expected:
                at = self._opened.footer_offset + BLOCK_HEADER_SIZE
                raise self._files.index.place.error(ErrorCode.INCONSISTENT_INDEX, at, f"{expected} bytes stored", total)
        return found

    def stored_bytes(self, partition: int) -> int:
        """Return the bytes of the extents that a partition reads; see :meth:`PartitionReader.stored_bytes`."""
        if not self._direct or self.statistics is not None:
            return super().stored_bytes(partition)
        partition = self._check_partition(partition)
        return sum(extent.end - extent.begin for extents in self._look_up(partition) for extent in extents)

    def _load(self, number: int) -> Region:
        window = self._messages.pop(number, None)
        if window is None and self._files.index.far:
            window = self._read_messages(number)
        return load_region(self._files, self.header, self._limits, directory_entry(self._footer, number), window)

    def _read_messages(self, number: int) -> Window | None:
        """Return a window that has a region's message, and keep those of the regions after it."""
        bounds = (message_bounds(directory_entry(self._footer, later)) for later in range(number, self.region_count))
        ahead = Ahead(self._files.index, bounds)
        found = ahead.windows()
        # Replaced, so that no more than these are in memory; threads may read the same ones twice.
        self._messages = dict(enumerate(found, number))
        return self._messages.pop(number, None)
