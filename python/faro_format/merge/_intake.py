"""Checks a fragment while its bytes arrive, in pieces of any size (FRG-4)."""

from __future__ import annotations

from collections.abc import Iterator

from faro_format._block.block import (
    BLOCK_HEADER_SIZE,
    KIND_DICTIONARY,
    KIND_FRAGMENT_END,
    KIND_REGION,
    KIND_SCHEMA,
    NO_PARTITION,
    PARTITION_KINDS,
    Block,
    check_block,
    check_content,
    check_limit,
    check_padding,
    check_partition,
    check_sequence,
    pad8,
)
from faro_format._block.encapsulation import encapsulation_fault
from faro_format._bytes.header import (
    DICTIONARIES,
    FRAMING_ARROW,
    HEADER_SIZE,
    KNOWN_WRITER_FEATURES,
    FileHeader,
    FileKind,
    parse_header,
)
from faro_format._dictionaries import Dictionaries
from faro_format._error import ErrorCode, FaroError
from faro_format._limits import Limits
from faro_format._message.messages import parse_schema
from faro_format._storage.input_file import InputFile, Window, check_kind
from faro_format._storage.memory_file import MemoryFile

_SCHEMA = frozenset((KIND_SCHEMA,))
_END_SIZE = 16
"""Bytes of the end block's payload: length, blocks, flags (FRG-3)."""


class Intake:
    """The state of the checks of one fragment. Offsets count from its first byte."""

    def __init__(self, limits: Limits) -> None:
        """Begin a fragment."""
        self.header: FileHeader | None = None
        self.schema: bytes | None = None
        """The encapsulated Arrow schema message."""
        self.ended = False
        self.last = False
        """What the end block says."""
        self.at = 0
        """Where the next part begins."""
        self._limits = limits
        # It gives faults their place, and blocks their seed.
        self._file = InputFile(MemoryFile(b"", "fragment"), "fragment")
        self._place = self._file.place
        self._window = Window(self._file, 2**63 - 1)
        self._left = bytearray()
        self._need = HEADER_SIZE
        """How many bytes the next part needs, as far as that is known."""
        self._dictionaries: dict[int, Block] = {}
        self._highest = 0
        self._partition = -1
        self._number = -1
        self._blocks = 0

    def __len__(self) -> int:
        """Return how many bytes of the next part have arrived."""
        return len(self._left)

    def error(self, code: ErrorCode, offset: int, expected: str, found: object = "") -> FaroError:
        """Return a fault of the fragment."""
        return self._place.error(code, offset, expected, found)

    def dictionary(self, number: int) -> Block:
        """Return a dictionary block that has passed."""
        return self._dictionaries[number]

    def check_ended(self) -> None:
        """Raise the fault of a fragment whose bytes end before its end block does."""
        if self.ended:
            return
        if self.header is None:
            parse_header(bytes(self._left), len(self._left), self._place)
        size = self.at + len(self._left)
        raise self.error(ErrorCode.TRUNCATED, size, "a fragment with its end block", f"{size} bytes")

    def take(self, data: bytes | memoryview) -> Iterator[Block | None]:
        """Yield the parts that are whole after these bytes: None for the header, then each block.

        After the end block the rest is kept; :meth:`rest` returns it.

        Raises:
            FaroError: the first check that fails.
        """
        if len(self._left) + len(data) < self._need:
            self._left += data
            return
        view = memoryview(bytes(self._left) + data if self._left else bytes(data))
        done = 0
        try:
            if self.header is None:
                self._take_header(bytes(view[:HEADER_SIZE]))
                done = self.at = HEADER_SIZE
                yield None
            # Blocks share the memory of these bytes.
            self._window.put(self.at - done, view)
            while not self.ended:
                self._need = BLOCK_HEADER_SIZE
                if len(view) - done < self._need:
                    return
                self._need = self._size(view, done)
                if len(view) - done < self._need:
                    return
                block = self._take_block(self._need)
                done += self._need
                self.at += self._need
                yield block
        finally:
            self._left = bytearray(view[done:])

    def rest(self) -> bytes:
        """Return the bytes that were not used, and forget them."""
        rest, self._left = bytes(self._left), bytearray()
        return rest

    def _take_header(self, raw: bytes) -> None:
        """Make the checks 1 to 4."""
        header = check_kind(parse_header(raw, HEADER_SIZE, self._place), FileKind.FRAGMENT, self._place)
        if header.reader_features & ~DICTIONARIES:
            found = f"{header.reader_features:#x}"
            raise self.error(ErrorCode.UNSUPPORTED_FEATURE, 16, "no reader feature except dictionaries", found)
        if header.writer_features & ~KNOWN_WRITER_FEATURES:
            found = f"{header.writer_features:#x}"
            raise self.error(ErrorCode.UNSUPPORTED_FEATURE, 20, "known writer features only", found)
        self.header = header
        self._file.seed = header._seed
        self._file.dictionaries = Dictionaries() if header.dictionaries else None

    def _size(self, view: memoryview, at: int) -> int:
        """Return the bytes of the block at a place, after check 3."""
        stored, kind = int.from_bytes(view[at : at + 4], "little"), view[at + 16]
        check_limit(stored, kind, self.at, self._place, self._kinds(), self._limits, metadata=kind >= KIND_REGION)
        return BLOCK_HEADER_SIZE + pad8(stored)

    def _kinds(self) -> frozenset[int]:
        """Return the kinds that the next block may have (CTX-1)."""
        if self.header is not None and self.header.framing == FRAMING_ARROW and self.at == HEADER_SIZE:
            return _SCHEMA
        if self._partition >= 0:
            return PARTITION_KINDS | {KIND_FRAGMENT_END}
        return PARTITION_KINDS | ({KIND_DICTIONARY} if self._file.dictionaries is not None else set())

    def _take_block(self, size: int) -> Block:
        """Make the checks 4 to 11 of BLK-7, and those of FRG-4 after them."""
        header, at, kinds = self.header, self.at, self._kinds()
        if header is None:
            raise AssertionError("the header comes first")
        kind = self._window.data[self._window.locate(at, BLOCK_HEADER_SIZE) + 16]
        most = self._limits.max_dictionaries
        if kind == KIND_DICTIONARY and kind in kinds and len(self._dictionaries) >= most:
            raise self.error(ErrorCode.LIMIT_EXCEEDED, at, f"at most {most} dictionaries", "one more")
        place_for_metadata = not kinds <= PARTITION_KINDS
        metadata = kind >= KIND_REGION and place_for_metadata
        block = check_block(self._window, at, at + size, kinds, self._limits, metadata=metadata)
        if block.kind >= KIND_REGION:
            check_partition(block, NO_PARTITION, self._place)
        elif not max(header.first_partition, self._partition) <= block.partition < header.end_partition:
            low = max(header.first_partition, self._partition)
            expected = f"a partition from {low} on and below {header.end_partition}"
            raise self.error(ErrorCode.INCONSISTENT_INDEX, at + 8, expected, block.partition)
        check_sequence(block, self._place, exactly=self._sequence(block))
        self._check_number(block)
        check_padding(block, self._window)
        if block.kind == KIND_SCHEMA:
            self._take_schema(block, header)
        elif block.kind == KIND_DICTIONARY:
            check_content(block, self._place)
            self._highest = block.dictionary
            self._dictionaries[block.dictionary] = block
        elif block.kind == KIND_FRAGMENT_END:
            self._take_end(block)
        else:
            self._partition, self._number = block.partition, block.sequence
            self._blocks += 1
        return block

    def _sequence(self, block: Block) -> int | None:
        """Return the sequence that a block must have, if it is known (CTX-3)."""
        if block.kind in (KIND_SCHEMA, KIND_FRAGMENT_END):
            return 0
        if block.kind == KIND_DICTIONARY:
            return block.dictionary - 1 if block.dictionary else None
        return self._number + 1 if block.partition == self._partition else None

    def _check_number(self, block: Block) -> None:
        """Make check 10b: dictionaries ascend, and blocks name those of the fragment."""
        number = block.dictionary
        known = not number or number in self._dictionaries
        holds = number > self._highest if block.kind == KIND_DICTIONARY else known
        if not holds:
            expected = "a dictionary of the fragment, in ascending order"
            raise self.error(ErrorCode.INCONSISTENT_INDEX, block.offset + 18, expected, number)

    def _take_schema(self, block: Block, header: FileHeader) -> None:
        schema = bytes(parse_schema(block, self._place, header.version_minor))
        fault = encapsulation_fault(schema)
        if fault is not None:
            at = block.offset + BLOCK_HEADER_SIZE
            raise self.error(ErrorCode.MALFORMED_MESSAGE, at, "an encapsulated Arrow message", fault)
        self.schema = schema

    def _take_end(self, block: Block) -> None:
        """Make the checks 8 and 9."""
        if len(block.stored) != _END_SIZE:
            raise self.error(ErrorCode.MALFORMED_BLOCK, block.offset, "an end block of 16 bytes", len(block.stored))
        length = int.from_bytes(block.stored[:8], "little")
        count = int.from_bytes(block.stored[8:12], "little")
        flags = int.from_bytes(block.stored[12:], "little")
        if (length, count) != (block.offset, self._blocks) or not count or flags > 1:
            expected = f"an end after {block.offset} bytes and {self._blocks} blocks, with flags 0 or 1"
            found = f"{length} bytes, {count} blocks, flags {flags:#x}"
            raise self.error(ErrorCode.INCONSISTENT_INDEX, block.offset + BLOCK_HEADER_SIZE, expected, found)
        self.ended, self.last = True, flags == 1
