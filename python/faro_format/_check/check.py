"""Checking a finished output, in the order of CHK-1, at three levels."""

from __future__ import annotations

import bisect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from faro_format._arguments import choice
from faro_format._block.block import (
    BLOCK_HEADER_SIZE,
    KIND_DATA,
    KIND_DICTIONARY,
    KIND_REGION,
    NO_PARTITION,
    check_content,
    load_dictionary,
)
from faro_format._block.contexts import allowed_kinds
from faro_format._block.framing import check_framing
from faro_format._bytes.header import FRAMING_RECORDS, HEADER_SIZE
from faro_format._bytes.spans import Ints, U64s
from faro_format._check.stream_counter import StreamCounter
from faro_format._error import ErrorCode, Place
from faro_format._index.holdings import Holdings, Run
from faro_format._index.regions import Extent, Region, check_region
from faro_format._limits import DEFAULT_LIMITS, Limits
from faro_format._message.messages import parse_region
from faro_format._reader.ahead import Ahead, of_range
from faro_format._reader.extents import Sequences, read_extent
from faro_format._reader.opening import dictionary_entries, directory_entry, metadata_block
from faro_format._reader.reader import Reader
from faro_format._storage.input_file import Window
from faro_format._storage.names import Path
from faro_format._storage.stored_output import StoredOutput

_MESSAGE = 64 << 10
"""Bytes that are read of a message at once, from a file of which each byte counts."""

CheckLevel = Literal["structure", "checksums", "decode"]


@dataclass(frozen=True)
class CheckReport:
    """The report of a check that found no fault."""

    regions: int
    blocks: int | None
    """Partition blocks of the file; None at level ``structure``, which reads none."""


class _Sums:
    """One statistic, counted again and compared with the footer's, component by component (FTR-4)."""

    def __init__(self, name: str, vector: U64s | None, to_all: int, first: int) -> None:
        self.name = name
        self._claimed = vector
        self._claimed_to_all = to_all
        self._first = first
        self._to_all = 0
        self._stray = False
        # The size is that of a vector in the footer, not a count that the header claims (HDR-5).
        self._found = None if vector is None else np.zeros(vector.size, np.uint64)

    def add(self, partitions: Ints, values: Ints) -> None:
        """Count values of partitions, each of which occurs once."""
        if self._found is not None:
            self._found[partitions - self._first] += values.astype(np.uint64)
        elif values.any():
            self._stray = True

    def add_shared(self, region: Region, number: int, value: int) -> None:
        """Count a value of all members of a shared extent."""
        if not value:
            return
        members = region.members(number)
        if members is None:
            self._to_all += value
        elif members.size:
            self.add(members.astype(np.int64), np.full(members.size, value, np.int64))

    def compare(self, place: Place, offset: int) -> None:
        """Raise ``inconsistent-index`` if the footer says otherwise."""
        same = not self._stray and self._to_all == self._claimed_to_all
        if same and self._found is not None:
            same = bool((self._found == self._claimed).all())
        if not same:
            raise place.error(ErrorCode.INCONSISTENT_INDEX, offset, f"statistics ({self.name}) of what the file holds")


def check(
    name: Path | None = None,
    *,
    data: Path | None = None,
    index: Path | None = None,
    single: Path | None = None,
    stored: StoredOutput | None = None,
    storage_options: Mapping[str, Any] | None = None,
    level: CheckLevel = "decode",
    limits: Limits = DEFAULT_LIMITS,
) -> CheckReport:
    """Check an output and report the first fault.

    Args:
        name: its NAME (PUB-1), or its files instead:
        data: the path of the data file.
        index: the path of the index file.
        single: the path of a single file, instead.
        stored: its files where they are stored, instead (:mod:`faro_format.storage`); they are closed at the end.
        storage_options: with URLs, what fsspec passes to the filesystem.
        level: ``structure`` reads no partition block, ``checksums`` reads them, ``decode`` decodes them too.
        limits: the limits of the reader.

    Raises:
        FaroError: the first fault in the order of CHK-1.
    """
    choice("level", level, ("structure", "checksums", "decode"))
    files: dict[str, Any] = {"data": data, "index": index, "single": single, "stored": stored}
    with Reader(name, **files, storage_options=storage_options, limits=limits) as reader:
        _metadata(reader, limits)
        place, at = reader._files.index.place, reader._opened.footer_offset + BLOCK_HEADER_SIZE
        statistics, first = reader.statistics, reader.header.first_partition
        if statistics is not None:
            counted = _Sums("stored", statistics.stored, statistics.stored_to_all, first)
            for number in range(reader.region_count):
                region = reader._region(number)
                counted.add(region.slot_partitions(), region.slot_lengths())
                for shared, length in enumerate(region.shared_lengths().tolist()):
                    counted.add_shared(region, shared, length)
            counted.compare(place, at)
        if level == "structure":
            return CheckReport(reader.region_count, None)
        sums = []
        if statistics is not None and level == "decode":
            sums.append(_Sums("plain", statistics.plain, statistics.plain_to_all, first))
            if reader.header.framing == FRAMING_RECORDS:
                sums.append(_Sums("records", statistics.records, statistics.records_to_all, first))
        streams = None if reader.streams is None else StreamCounter(reader.streams, first)
        blocks = _blocks(reader, limits, sums, streams, plain=level == "decode")
        if streams is not None:
            streams.compare(place, at)
        for counted in sums:
            counted.compare(place, at)
        return CheckReport(reader.region_count, blocks)


def _metadata(reader: Reader, limits: Limits) -> None:
    """Walk the metadata blocks in file order (CHK-1, steps 2 to 5)."""
    file, header, footer = reader._files.index, reader.header, reader._footer
    place, end = file.place, reader._opened.footer_offset
    paired = reader._files.paired
    # The messages of a single file are apart.
    window = Window(file, end, None if paired or not file.far else _MESSAGE)
    offset, sequence, number = HEADER_SIZE, 0, 0
    dictionaries, taken = dictionary_entries(footer), 0
    more = (KIND_DICTIONARY,) if header.dictionaries and not paired else ()
    holdings = Holdings()
    while offset < end:
        entry = directory_entry(footer, number) if number < reader.region_count else None
        bound = end
        kinds = allowed_kinds(header, offset, KIND_REGION, *more)
        if not paired and entry is not None:
            if offset == entry.data_offset:
                offset = entry.message_offset
                kinds = frozenset((KIND_REGION,))
            else:
                bound = entry.data_offset
                kinds = allowed_kinds(header, offset, *more)
        block = metadata_block(window, offset, bound, kinds, limits, sequence, taken + 1)
        if block.kind == KIND_REGION:
            if entry is None or (entry.message_offset, entry.message_size) != (offset, len(block.stored)):
                found = f"{len(block.stored)} bytes at {offset}"
                raise place.error(
                    ErrorCode.INCONSISTENT_INDEX, offset, f"region message {number} of the directory", found
                )
            message = parse_region(block, place, header.version_minor)
            region = check_region(message, header, entry, place, reader._files.data_kind)
            broken = holdings.add_region((partition, run) for partition, _, run in region.runs())
            if broken is not None:
                raise place.error(ErrorCode.INCONSISTENT_INDEX, offset + BLOCK_HEADER_SIZE, "runs (MRG-2)", broken)
            number += 1
        elif block.kind == KIND_DICTIONARY:
            here = (offset, len(block.stored))
            if taken == len(dictionaries) or (dictionaries[taken].offset, dictionaries[taken].size) != here:
                found = f"{len(block.stored)} bytes at {offset}"
                raise place.error(ErrorCode.INCONSISTENT_INDEX, offset, f"dictionary {taken + 1} of the footer", found)
            check_content(block, place)
            taken += 1
        offset = block.end
        sequence += 1
    if paired:
        for taken, where in enumerate(dictionaries, 1):
            load_dictionary(reader._files.data, limits, taken, where, sequence=taken - 1)
    elif taken < len(dictionaries):
        expected = f"{len(dictionaries)} dictionaries"
        raise place.error(ErrorCode.INCONSISTENT_INDEX, end + BLOCK_HEADER_SIZE, expected, f"{taken} dictionaries")
    if number < reader.region_count:
        raise place.error(
            ErrorCode.INCONSISTENT_INDEX, end + BLOCK_HEADER_SIZE, f"{reader.region_count} regions", f"{number} regions"
        )
    if reader._opened.footer_sequence != sequence:
        actual = reader._opened.footer_sequence
        raise place.error(ErrorCode.INCONSISTENT_INDEX, end + 12, f"sequence {sequence}", actual)


def _blocks(reader: Reader, limits: Limits, sums: list[_Sums], streams: StreamCounter | None, *, plain: bool) -> int:
    """Check every partition block (CHK-1, steps 7 and 9); return how many there are."""
    header, file = reader.header, reader._files.data
    sequences = Sequences(all_shared=True)
    ahead = Ahead(file, of_range(reader, header.first_partition, header.end_partition))
    blocks = 0
    for number in range(reader.region_count):
        region = reader._region(number)
        extents = list(region.own_range(header.first_partition, header.end_partition))
        run_end = -1
        runs = [(begin + run.length, run) for _, begin, run in region.runs()]
        for extent in [*extents, *map(region.shared, range(region.shared_count))]:
            if run_end != extent.run_end:
                run_end = extent.run_end
                window = ahead.window(extent.begin) or Window(file, run_end)
            found = [0, 0]
            ends: list[int] = []
            for block in read_extent(
                window, extent, sequences, limits, selective=header.selective, verify=True, plain=plain
            ):
                blocks += 1
                ends.append(block.end)
                last = block.sequence
                if plain and block.kind == KIND_DATA:
                    records = check_framing(block, header.framing, file.place)
                    found[0] += block.plain_size
                    found[1] += records[0].size if records is not None else 0
            if streams is not None and ends:
                streams.add(extent.partition, len(ends), last)
            if runs:
                _whole(reader, region, extent, runs, ends)
            for counted, value in zip(sums, found, strict=False):
                if extent.partition != NO_PARTITION:
                    counted.add(np.array([extent.partition]), np.array([value]))
                else:
                    counted.add_shared(region, extent.number, value)
    return blocks


def _whole(reader: Reader, region: Region, extent: Extent, runs: list[tuple[int, Run]], ends: list[int]) -> None:
    """Check that the runs of an extent hold whole blocks, as many as they say (MRG-3).

    Args:
        reader: the merged file.
        region: one of its regions.
        extent: one of its own extents.
        runs: the runs that were not checked yet, each with its end; those of the extent are taken from it.
        ends: where the blocks of the extent end, ascending.
    """
    begin = extent.begin
    while runs and runs[0][0] <= extent.end:
        end, run = runs.pop(0)
        count = bisect.bisect_right(ends, end) - bisect.bisect_right(ends, begin)
        if end not in ends[bisect.bisect_left(ends, end) :][:1] or count != run.blocks:
            at = region.entry.message_offset + BLOCK_HEADER_SIZE
            found = f"{count} blocks up to {end} in a run of {run.blocks}"
            raise reader._files.index.place.error(ErrorCode.INCONSISTENT_INDEX, at, "runs of whole blocks", found)
        begin = end
