"""The two files of a merge: what is committed, the open region, and the push that appends (MRG-7 to MRG-10)."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from faro_format._block.block import (
    BLOCK_HEADER_SIZE,
    KIND_DICTIONARY,
    KIND_FOOTER,
    KIND_REGION,
    KIND_SCHEMA,
    PADDING,
    Block,
    encode_header,
    encode_metadata,
    pad8,
)
from faro_format._bytes.header import HEADER_SIZE, FileHeader, FileKind
from faro_format._bytes.tail import encode_tail
from faro_format._dictionaries import MAX_DICTIONARIES, DictionaryEntry
from faro_format._error import ErrorCode, FaroError
from faro_format._index.holdings import Holdings, Run
from faro_format._index.regions import MAX_REGION, Entry
from faro_format._message.build import build_footer, build_region, build_schema
from faro_format._message.messages import DICTIONARY, ENTRY, RUN
from faro_format._storage.output_file import OutputFile
from faro_format.merge._intake import Intake

_PIECE = 1 << 20
"""Appended bytes are written when there are this many."""
_U32 = 2**32 - 1


@dataclass
class Committed:
    """What a file has that is begun, or resumed."""

    data_end: int
    index_end: int
    metadata: int
    """How many metadata blocks there are."""
    regions: list[Entry] = field(default_factory=list)
    dictionaries: list[DictionaryEntry] = field(default_factory=list)
    known: dict[bytes, int] = field(default_factory=dict)
    """The numbers of the dictionaries, by the SHA-256 of their bytes."""
    holdings: Holdings = field(default_factory=Holdings)
    sequences: dict[int, int] = field(default_factory=dict)
    """The next sequence of each partition."""
    runs: int = 0


@dataclass
class _Appended:
    """What a push has appended so far."""

    start: int
    blocks_start: int
    dictionaries_before: int
    runs: list[tuple[int, Run]] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    """The numbers in the file of the fragment's dictionaries."""


def known_by(dictionary: bytes | memoryview) -> bytes:
    """Return what a dictionary is known by."""
    return hashlib.sha256(dictionary).digest()


class MergedFile:
    """The files of a merge. For one thread at a time."""

    def __init__(
        self, header: FileHeader, data: OutputFile, index: OutputFile, committed: Committed, *, durable: bool
    ) -> None:
        """Go on with files that end where the last commit does."""
        self.header = header
        self.regions = committed.regions
        self._data = data
        self._index = index
        self._durable = durable
        self._seed = header._seed
        self._is = committed
        self._parts: list[bytes | memoryview] = []
        self._waiting = 0
        """Bytes of the parts that were not written yet."""
        self._open: list[tuple[int, Run]] = []
        self._open_start = 0
        self._push: _Appended | None = None
        self._unsynced = False

    @classmethod
    def create(
        cls, data_path: str, index_path: str, header: FileHeader, schema: bytes | None, *, durable: bool
    ) -> MergedFile:
        """Create both files, with their headers and the schema (MRG-4)."""
        data, index = OutputFile(data_path, "data", None), OutputFile(index_path, "index", None)
        try:
            data.create()
            index.create()
            start = header._encode()
            if schema is not None:
                start += encode_metadata(header._seed, KIND_SCHEMA, 0, build_schema(schema))
            data.append([header._with_kind(FileKind.DATA)._encode()])
            index.append([start])
        except BaseException:
            for file in (data, index):
                with contextlib.suppress(FaroError):
                    file.remove()
                file.close()
            raise
        committed = Committed(HEADER_SIZE, index.position, int(schema is not None))
        return cls(header, data, index, committed, durable=durable)

    def attempt(self, producer: int) -> int | None:
        """Return the attempt of a producer that has a run here."""
        return self._is.holdings.attempt(producer)

    @property
    def _end(self) -> int:
        """Where the next byte of the data file goes."""
        return self._data.position + self._waiting

    def _append(self, *parts: bytes | memoryview) -> None:
        self._parts.extend(parts)
        self._waiting += sum(map(len, parts))
        if self._waiting >= _PIECE:
            self.write_waiting()

    def write_waiting(self) -> None:
        """Write what was appended. What the system refuses stays to be written."""
        before, waiting = self._data.position, self._waiting
        try:
            self._data.append(self._parts)
        except FaroError:
            with contextlib.suppress(OSError):
                self._data.go_to(before)
            raise
        self._parts, self._waiting = [], self._waiting - waiting

    def _take_back(self, end: int) -> None:
        """Take back everything from an offset on. What is in the file stays until other bytes take its place."""
        keep = end - self._data.position
        if keep >= 0:
            kept: list[bytes | memoryview] = []
            for part in self._parts:
                if keep <= 0:
                    break
                kept.append(part[:keep])
                keep -= len(kept[-1])
            self._parts = kept
        else:
            self._parts = []
            with contextlib.suppress(OSError):
                self._data.go_to(end)
        self._waiting = sum(map(len, self._parts))

    def begin_push(self) -> None:
        """Begin to append a push."""
        self._push = _Appended(self._end, self._end, len(self._is.dictionaries))

    def give_up_push(self) -> None:
        """Take back all that the push has appended (MRG-8)."""
        push, self._push = self._push, None
        if push is not None:
            self._take_back(push.start)
            del self._is.dictionaries[push.dictionaries_before :]
            self._is.known = {key: n for key, n in self._is.known.items() if n <= push.dictionaries_before}

    def _appended(self) -> _Appended:
        if self._push is None:
            raise AssertionError("a push has the turn")
        return self._push

    def dictionary(self, block: Block, intake: Intake) -> None:
        """Take a dictionary of the push."""
        key = known_by(block.stored)
        number = self._is.known.get(key)
        push = self._appended()
        if number is None:
            number = len(self._is.dictionaries) + 1
            if number > MAX_DICTIONARIES:
                expected = f"at most {MAX_DICTIONARIES} dictionaries in a file"
                raise intake.error(ErrorCode.LIMIT_EXCEEDED, block.offset, expected, "one more")
            self.end_region()
            entry = DictionaryEntry(self._end, len(block.stored))
            self._append(encode_metadata(self._seed, KIND_DICTIONARY, number - 1, bytes(block.stored), number))
            self._is.dictionaries.append(entry)
            self._is.known[key] = number
            push.blocks_start = self._end
        push.numbers[block.dictionary] = number

    def block(self, header: FileHeader, block: Block, intake: Intake) -> bool:
        """Append a block of the push, if the file does not have it yet (MRG-7). False if there is a gap before it."""
        push, partition, number = self._appended(), block.partition, block.sequence
        held = self._is.holdings.held(header.producer, partition)
        current = push.runs[-1][1] if push.runs and push.runs[-1][0] == partition else None
        count = held.blocks if current is None else current.first_block + current.blocks
        if number < count:
            return True
        if held.complete:
            expected = f"no block after the last, of which there are {count}"
            raise intake.error(ErrorCode.INCONSISTENT_INDEX, block.offset + 12, expected, number)
        if number > count:
            return False
        sequence = self._is.sequences.get(partition, 0) + (0 if current is None else current.blocks)
        if sequence >= _U32:
            expected = "fewer than 2^32 - 1 blocks in a partition"
            raise intake.error(ErrorCode.LIMIT_EXCEEDED, block.offset, expected, "one more")
        if not push.runs and self._open and partition < self._open[-1][0]:
            self.end_region()
        size = BLOCK_HEADER_SIZE + pad8(len(block.stored))
        if self._end + size - (self._open_start if self._open else push.blocks_start) > MAX_REGION:
            expected = f"a region of at most {MAX_REGION} bytes"
            raise intake.error(ErrorCode.LIMIT_EXCEEDED, block.offset, expected, "a larger push")
        stored = bytes(block.stored)
        # The same bytes have another number here (DIC-9).
        own = push.numbers[block.dictionary] if block.dictionary else 0
        head = encode_header(self._seed, stored, block.plain_size, partition, sequence, block.kind, block.codec, own)
        self._append(head, stored, PADDING[len(stored) & 7])
        if current is None:
            push.runs.append((partition, Run(header.producer, header.attempt, number, 1, size, False)))
        else:
            longer = current._replace(blocks=current.blocks + 1, length=current.length + size)
            push.runs[-1] = (partition, longer)
        return True

    def commit_push(self, *, last: bool) -> bool:
        """Commit the push. False if it has appended nothing (MRG-9)."""
        push = self._appended()
        if not push.runs:
            self.give_up_push()
            return False
        self._push = None
        if not self._open:
            self._open_start = push.blocks_start
        for partition, run in push.runs:
            whole = run._replace(last=last)
            self._is.sequences[partition] = self._is.sequences.get(partition, 0) + run.blocks
            self._is.holdings.add(partition, whole)
            self._open.append((partition, whole))
        return True

    @property
    def open_bytes(self) -> int:
        """The bytes of the open region, when no push appends."""
        return self._end - self._open_start if self._open else 0

    def end_region(self) -> None:
        """End the open region, if it has runs (MRG-10). What a push has appended stays after it."""
        if self._open:
            length = sum(run.length for _, run in self._open)
            message = self._message(length)
            number = self._is.metadata
            self.write_waiting()
            if self._durable:
                self._data.sync()
            try:
                self._index.append([encode_metadata(self._seed, KIND_REGION, number, message)])
            except FaroError:
                self._take_index_back()
                raise
            entry = Entry(len(self.regions), self._is.index_end, len(message), self._open_start, length)
            self.regions.append(entry)
            self._is.index_end = self._index.position
            self._is.metadata += 1
            self._is.runs += len(self._open)
            self._open = []
            self._unsynced = self._durable
        if self._unsynced:
            self._index.sync()
            self._unsynced = False

    def _take_index_back(self) -> None:
        """Take back what was written to the index after the last metadata block."""
        # If the system refuses that too, the next message takes the place of what is there.
        with contextlib.suppress(OSError, FaroError):
            self._index.go_to(self._is.index_end)
            self._index.cut()

    def _message(self, length: int) -> bytes:
        """Return the message of the open region: SRT-8, with rotation 0."""
        extents: dict[int, int] = {}
        for partition, run in self._open:
            extents[partition] = extents.get(partition, 0) + run.length // 8
        first, count = self.header.first_partition, self.header.partition_count
        sparse = 2 * len(extents) + 1 < count
        slots = np.zeros(len(extents) if sparse else count, np.int64)
        named = np.array(list(extents), np.int64)
        slots[np.arange(named.size) if sparse else named - first] = list(extents.values())
        flat = [
            (run.producer, run.attempt, run.first_block, run.blocks, run.length // 8, int(run.last))
            for _, run in self._open
        ]
        return build_region(
            sequence=len(self.regions),
            data_offset=self._open_start,
            data_length=length,
            offsets=np.concatenate(([0], np.cumsum(slots))).astype(np.uint32),
            partitions=named.astype(np.uint32) if sparse else None,
            runs=np.array(flat, RUN),
        )

    @property
    def _committed_end(self) -> int:
        return self.regions[-1].data_end if self.regions else HEADER_SIZE

    def finish(self, properties: Mapping[str, str], created_by: str | None) -> int:
        """End the open region and finish the files (MRG-10). Return the runs of all regions."""
        self.give_up_push()
        self.end_region()
        self._take_back(self._committed_end)
        self._data.cut()
        if self._durable:
            self._data.sync()
        entries = [(e.message_offset, e.message_size, 0, e.data_offset, e.data_length) for e in self.regions]
        message = build_footer(
            regions=np.array(entries, ENTRY),
            data_size=self._committed_end,
            properties=properties,
            created_by=created_by,
            dictionaries=np.array([(d.offset, d.size, 0) for d in self._is.dictionaries], DICTIONARY),
        )
        end = encode_metadata(self._seed, KIND_FOOTER, self._is.metadata, message)
        try:
            self._index.append([end, encode_tail(self._is.index_end, len(message))])
            if self._durable:
                self._index.sync()
        except FaroError:
            self._take_index_back()
            raise
        return self._is.runs

    def cut(self) -> None:
        """Cut both files at the last commit."""
        self.give_up_push()
        self._take_back(self._committed_end)
        self._index.go_to(self._is.index_end)
        self._data.cut()
        self._index.cut()

    def close(self) -> None:
        """Close both files."""
        try:
            self._index.close()
        finally:
            self._data.close()

    def remove(self) -> None:
        """Remove both files, the index first: without it the data file is not an output."""
        self._index.remove()
        self._data.remove()
