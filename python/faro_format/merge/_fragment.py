"""Fragments of an output, to be pushed (FRG-6)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

from faro_format._arguments import integer
from faro_format._block.block import (
    KIND_DICTIONARY,
    KIND_FRAGMENT_END,
    KIND_SCHEMA,
    PADDING,
    Block,
    encode_header,
    encode_metadata,
    load_dictionary,
)
from faro_format._bytes.header import DICTIONARIES, FileHeader, FileKind
from faro_format._error import ErrorCode, FaroError, invalid
from faro_format._index.regions import Extent
from faro_format._message.build import build_schema
from faro_format._reader.extents import Sequences, read_extent
from faro_format._reader.reader import Reader
from faro_format._storage.input_file import Window

_END = struct.Struct("<QII")
_ALL = 2**32


@dataclass(frozen=True)
class FragmentSummary:
    """What a fragment has (FRG-6)."""

    blocks: int
    length: int
    """Bytes before the end block."""
    last: bool
    """Whether each partition that has a block in it has no further block in the output."""


def fragment(
    reader: Reader, low: int, high: int, to: BinaryIO, *, numbers: tuple[int, int] | None = None
) -> FragmentSummary | None:
    """Write the blocks of the partitions ``low`` to ``high`` - 1 as one fragment.

    Every block is checked, and none is decoded. After an error the stream has no fragment, whatever it got.

    Args:
        reader: the output of one producer.
        low: the first partition.
        high: the partition after the last.
        to: where the bytes go.
        numbers: of one partition, only the blocks whose numbers are from the first to below the second. A block's
            number is its position among all blocks that the partition reads (FRG-1).

    Returns:
        None if there are no such blocks; then nothing is written.

    Raises:
        FaroError: ``invalid-argument`` for an empty range, partitions that the output does not have, numbers with
            several partitions, and a merged file; a fault of PRT-3; ``io`` for what the stream refuses.
    """
    low, high = reader._check_range(low, high)
    if low == high:
        raise invalid("a range of partitions", "an empty one")
    if reader.header.merged:
        raise invalid("the output of one producer", "a merged file")
    if numbers is not None:
        if high - low > 1:
            raise invalid("one partition, with a range of numbers", f"{high - low} partitions")
        numbers = integer("numbers", numbers[0], 0, _ALL), integer("numbers", numbers[1], 0, _ALL)
    wanted = _Wanted(reader, low, high, *(numbers or (0, _ALL)))
    named: set[int] = set()
    if reader.header.dictionaries:
        # The dictionaries come first, so the blocks are read twice.
        named = {block.dictionary for _, _, block in wanted.blocks()} - {0}
    header = replace(reader.header, kind=FileKind.FRAGMENT, first_partition=low, partition_count=high - low)
    sink = Sink(reader, header, sorted(named), to)
    count = 0
    for partition, number, block in wanted.blocks():
        if not count:
            sink.begin()
        count += 1
        sink.block(partition, number, block)
    if count >= _ALL:
        raise FaroError(ErrorCode.LIMIT_EXCEEDED, "fewer than 2^32 blocks in a fragment", str(count))
    return sink.end(count, last=wanted.last) if count else None


class _Wanted:
    """The blocks of a fragment."""

    def __init__(self, reader: Reader, low: int, high: int, first: int, end: int) -> None:
        self._reader = reader
        self._partitions = range(low, high)
        self._numbers = range(first, end)
        self.last = True
        """Whether no partition of them has a further block, after they were read."""

    def blocks(self) -> Iterator[tuple[int, int, Block]]:
        """Yield each block with its partition and number."""
        self.last = True
        for partition in self._partitions:
            any_there = False
            for number, block in enumerate(self._stored(partition)):
                if number >= self._numbers.stop:
                    self.last &= not any_there
                    break
                if number in self._numbers:
                    any_there = True
                    yield partition, number, block

    def _extents(self, partition: int) -> Iterator[Extent]:
        for number in range(self._reader.region_count):
            region = self._reader._region(number)
            own = region.own(partition)
            yield from ([own] if own is not None else [])
            yield from region.shared_of(partition)

    def _stored(self, partition: int) -> Iterator[Block]:
        """Yield the blocks that a partition reads, checked and not decoded."""
        reader, sequences = self._reader, Sequences()
        for extent in self._extents(partition):
            window = Window(reader._files.data, extent.end)
            selective = reader.header.selective
            yield from read_extent(
                window, extent, sequences, reader._limits, selective=selective, verify=True, plain=False
            )


class Sink:
    """Where a fragment goes."""

    def __init__(self, reader: Reader, header: FileHeader, named: list[int], to: BinaryIO) -> None:
        """Begin a fragment.

        Args:
            reader: where the schema and the dictionaries are.
            header: that of the fragment, except its features.
            named: the dictionaries that its blocks name.
            to: where the bytes go.
        """
        self._reader = reader
        self._named = named
        self._to = to
        self.size = 0
        """Bytes written so far."""
        self._header = replace(header, reader_features=DICTIONARIES if named else 0)
        self._seed = self._header._seed

    def begin(self) -> None:
        """Write header, schema and dictionaries."""
        reader = self._reader
        self._write(self._header._encode())
        if reader.schema_message is not None:
            self._write(encode_metadata(self._seed, KIND_SCHEMA, 0, build_schema(bytes(reader.schema_message))))
        for number in self._named:
            entry = reader.dictionaries[number - 1]
            content = load_dictionary(reader._files.data, reader._limits, number, entry).stored
            self._write(encode_metadata(self._seed, KIND_DICTIONARY, number - 1, bytes(content), number))

    def block(self, partition: int, number: int, block: Block) -> None:
        """Write a block."""
        stored = bytes(block.stored)
        self._write(
            encode_header(
                self._seed, stored, block.plain_size, partition, number, block.kind, block.codec, block.dictionary
            )
            + stored
            + PADDING[len(stored) & 7]
        )

    def end(self, blocks: int, *, last: bool) -> FragmentSummary:
        """Write the end block (FRG-3)."""
        length = self.size
        self._write(encode_metadata(self._seed, KIND_FRAGMENT_END, 0, _END.pack(length, blocks, int(last))))
        return FragmentSummary(blocks, length, last)

    def _write(self, data: bytes) -> None:
        try:
            self._to.write(data)
        except OSError as fault:
            if isinstance(fault, FaroError):
                raise
            raise FaroError(ErrorCode.IO, "a stream that takes the fragment", str(fault), errno=fault.errno) from fault
        self.size += len(data)
