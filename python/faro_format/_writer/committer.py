"""Appends regions, dictionaries and messages to the files of an output, and finishes them (WRT-5)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from faro_format._block.block import KIND_DICTIONARY, KIND_FOOTER, KIND_REGION, KIND_SCHEMA, encode_metadata
from faro_format._bytes.header import FileKind
from faro_format._bytes.tail import encode_tail
from faro_format._error import ErrorCode, FaroError
from faro_format._message.build import build_footer, build_schema
from faro_format._message.messages import DICTIONARY, ENTRY
from faro_format._storage.names import Layout
from faro_format._storage.stored_output import StoredOutput
from faro_format._writer.files import Files
from faro_format._writer.listener import News
from faro_format._writer.measured_file import MeasuredFile
from faro_format._writer.options import WriterOptions
from faro_format._writer.region_builder import RegionBuilder, WriterState
from faro_format._writer.summary import Summary

_log = logging.getLogger("faro_format")


class Committer:
    """Appends to an output's files. After an error here, the writer has failed."""

    def __init__(self, options: WriterOptions, state: WriterState, files: Files, news: News) -> None:
        """Begin without files; :meth:`begin` makes them.

        Args:
            options: the writer's.
            state: the writer's.
            files: of the output; the caller discards them after an error.
            news: gets regions that are committed.
        """
        self._options = options
        self._state = state
        self._files = files
        self._news = news
        self._directory: list[tuple[int, int, int, int, int]] = []
        self._dictionaries: list[tuple[int, int, int]] = []
        self._metadata = 0
        self.begun = False
        """Whether the layout was chosen."""

    def begin(self, layout: Layout) -> None:
        """Create the files of a layout and write their headers, unless that was done.

        Raises:
            FaroError: ``io``.
        """
        if self.begun:
            return
        self.begun = True
        files, header = self._files, self._options._header
        files.create(layout)
        figures = self._state.figures
        self._index = MeasuredFile(files.index, figures)
        self._data = MeasuredFile(files.data, figures) if files.paired else self._index
        if files.paired:
            self._data.append([header._with_kind(FileKind.DATA)._encode()])
        self._index.append([header._with_kind(FileKind.INDEX if files.paired else FileKind.SINGLE)._encode()])
        if self._options.schema is not None:
            self._append_message(KIND_SCHEMA, build_schema(self._options.schema), self._index.append_first)

    def stream(self, fill: Callable[[RegionBuilder], None], *, wrapped: bool = False) -> int:
        """Write a region whose blocks go to the file as they are made.

        Args:
            fill: begins extents, in slot order, and adds their blocks.
            wrapped: whether own extents wrapped around, as rotation asks.

        Returns:
            How many data records it has, as the statistics count them.
        """
        begin = time.perf_counter()
        self.begin("paired")
        builder = RegionBuilder(self._state, self._append_blocks)
        fill(builder)
        builder.drain()
        self._commit(builder, wrapped=wrapped)
        self._state.figures.region_time += time.perf_counter() - begin
        return sum(extent.records for extent in builder.extents)

    def append(self, builder: RegionBuilder, *, wrapped: bool) -> None:
        """Write a region whose blocks were kept; one without blocks leaves nothing."""
        begin = time.perf_counter()
        if builder.length:
            self.begin("paired")
        self._append_blocks(builder.parts)
        self._commit(builder, wrapped=wrapped)
        self._state.figures.region_time += time.perf_counter() - begin

    def finish(self, properties: Mapping[str, str], *, reading: bool = False) -> Summary:
        """Write footer and tail, and publish the files, whose layout was chosen.

        Args:
            properties: the footer's.
            reading: whether :meth:`output` is called afterwards.
        """
        index, statistics = self._index, self._state.statistics()
        message = build_footer(
            regions=np.array(self._directory, ENTRY),
            data_size=self._data.position,
            statistics=statistics,
            properties=properties,
            created_by=self._options.created_by,
            dictionaries=np.array(self._dictionaries, DICTIONARY),
            streams=self._state.streams(),
        )
        at = self._append_message(KIND_FOOTER, message, partial(index.append, last=True))
        index.end(encode_tail(at, len(message)))
        in_regions = sum(length for *_, length in self._directory)
        total = self._data.position + (index.position if self._files.paired else 0)
        data_bytes = self._data.position if self._files.paired else in_regions
        # Made before the files are published, as nothing may fail after that.
        summary = Summary(
            files=self._files.paths,
            file_id=self._options._header.file_id,
            regions=len(self._directory),
            blocks=self._state.blocks,
            data_bytes=data_bytes,
            index_bytes=total - data_bytes,
            statistics=statistics,
            _partitions=range(self._options.first_partition, self._options._end_partition),
        )
        self._files.publish(sync=self._sync if self._options.durability == "commit" else None, reading=reading)
        _log.debug("finished %r: %d regions, %d bytes", self._index.place.path, summary.regions, total)
        return summary

    def _sync(self) -> None:
        """Sync the files, the data file first."""
        if self._files.paired:
            self._data.sync()
        self._index.sync()

    def output(self) -> StoredOutput:
        """Return the published output, for a reader. What opening reads of it is in memory.

        Raises:
            FaroError: ``io`` if a file cannot be opened.
        """
        index, data = self._files.readers()
        if data is None:
            return StoredOutput.single(self._index.known(index))
        return StoredOutput.paired(self._data.known(data), self._index.known(index))

    def _append_blocks(self, parts: list[Any]) -> None:
        """Append blocks of a region. Before the first one, append the dictionaries that wait for it (DIC-8)."""
        if not parts:
            return
        pending = self._state.dictionaries.pending
        for raw in pending:
            at = self._data.position
            number = len(self._dictionaries) + 1
            paired = self._files.paired
            sequence = number - 1 if paired else self._metadata
            self._data.append([encode_metadata(self._state.seed, KIND_DICTIONARY, sequence, raw, number)])
            self._metadata += not paired
            self._dictionaries.append((at, len(raw), 0))
        pending.clear()
        self._data.append(parts)

    def _commit(self, builder: RegionBuilder, *, wrapped: bool) -> None:
        """Write the region message after the region's blocks (WRT-5)."""
        durable = self._options.durability == "commit"
        if builder.length:
            begin = self._data.position - builder.length
            if durable:
                self._data.sync()
            message = builder.message(len(self._directory), begin, wrapped=wrapped)
            at = self._append_message(KIND_REGION, message)
            if durable:
                self._index.sync()
            self._directory.append((at, len(message), 0, begin, builder.length))
            name, number = self._index.place.path, len(self._directory) - 1
            self._news.region_written(self._files.paths[0], number, builder.length)
            _log.debug("wrote region %d of %r: %d bytes", number, name, builder.length)
        builder.commit()

    def _append_message(self, kind: int, message: bytes, append: Callable[[Sequence[Any]], None] | None = None) -> int:
        """Append a metadata block to the index or single file; return where it begins."""
        if len(message) >= 2**32:
            raise FaroError(ErrorCode.LIMIT_EXCEEDED, "a message below 2^32 bytes", str(len(message)))
        at = self._index.position
        (append or self._index.append)([encode_metadata(self._state.seed, kind, self._metadata, message)])
        self._metadata += 1
        return at
