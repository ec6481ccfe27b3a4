"""The walk of followers and repair over an index or single file, from its begin (FOL-2 to FOL-5)."""

from __future__ import annotations

import contextlib

from faro_format._block.block import (
    BLOCK_HEADER_SIZE,
    KIND_DATA,
    KIND_DICTIONARY,
    KIND_FOOTER,
    KIND_REGION,
    KIND_SCHEMA,
    NO_PARTITION,
    PARTITION_KINDS,
    Block,
    check_block,
    check_content,
    check_dictionary,
    check_dictionary_block,
    check_header,
    check_padding,
    check_partition,
    check_sequence,
    pad8,
)
from faro_format._block.contexts import allowed_kinds
from faro_format._bytes.header import FRAMING_ARROW, HEADER_SIZE, FileHeader
from faro_format._bytes.tail import TAIL_MAGIC, TAIL_SIZE, parse_tail
from faro_format._dictionaries import DictionaryEntry
from faro_format._error import ErrorCode, FaroError, Place
from faro_format._index.regions import Entry, check_region
from faro_format._limits import Limits
from faro_format._message.messages import FooterMessage, parse_region
from faro_format._reader.opening import (
    Files,
    check_data_end,
    dictionary_entries,
    read_footer,
    read_schema,
)
from faro_format._storage.input_file import Window

_ZERO_READ = 1 << 20


class Walk:
    """The state of a walk; the next call continues from it."""

    def __init__(
        self, files: Files, header: FileHeader, limits: Limits, *, verify: bool = True, repairing: bool = False
    ) -> None:
        """Begin after the header.

        Args:
            files: open, their headers checked.
            header: of the index or single file.
            limits: the limits of the reader.
            verify: whether the checksums of partition blocks are verified, in a single file.
            repairing: whether a torn end counts as *not yet there* (REP-1).

        Raises:
            FaroError: ``unfinished`` if a file with framing arrow has no schema block yet; its faults.
        """
        self._files = files
        self._header = header
        self._limits = limits
        self._verify = verify
        self._repairing = repairing
        self._offset = HEADER_SIZE
        self._sequence = 0
        self.kept_end = HEADER_SIZE
        """The end of the last accepted metadata block."""
        self.data_end = HEADER_SIZE
        """In a pair: the end of the last committed region in the data file."""
        self.dictionaries: list[DictionaryEntry] = []
        """In a pair: those before committed regions; in a single file: all that were seen."""
        self.regions: list[Entry] = []
        self.footer: FooterMessage | None = None
        self.footer_offset = 0
        self.footer_size = 0
        self.finished = False
        self.schema: bytes | None = None
        if header.framing == FRAMING_ARROW:
            size = files.index.size
            window = Window(files.index, size)
            if self._check(window, size, frozenset((KIND_SCHEMA,))) is None:
                place = files.index.place
                raise place.error(ErrorCode.UNFINISHED, size, "a schema block", "a file that has none yet")
            self.schema = read_schema(window, size, header, limits)

    @property
    def paired(self) -> bool:
        """Whether the output is two files."""
        return self._files.paired

    @property
    def seed(self) -> int:
        """The first part of the checksums of blocks in the index or single file (BLK-9)."""
        return self._files.index.seed

    @property
    def sequence(self) -> int:
        """The sequence of the next metadata block."""
        return self._sequence

    def go_on(self) -> None:
        """Walk to the first block that is not yet there, or to the end of the footer."""
        size = self._files.index.refresh()
        window = Window(self._files.index, size)
        while self.footer is None:
            block = self._next(window, size)
            if block is None:
                return
            self._offset = block.end
            if block.kind >= KIND_REGION:
                self.kept_end = block.end
                self._sequence += 1
        if not self.finished and not self._repairing:
            self._tail(size)

    def _absent(self, window: Window, size: int, kinds: frozenset[int]) -> bool:
        """Whether the block at the walk's offset is not yet there, as far as that is known before its checksum (FOL-2).

        Raises:
            FaroError: some of its bytes are missing, and its header is not valid here.
        """
        offset = self._offset
        if size - offset < BLOCK_HEADER_SIZE:
            return True
        if self._repairing and self._zeros(offset + 16, size):
            return True
        if self._behind(window, size) >= 0:
            return False
        self._could_stand(window, kinds)
        return True

    def _behind(self, window: Window, size: int) -> int:
        """Return how many bytes follow the block, whose header is there; a negative number if it is torn."""
        at = window.locate(self._offset, BLOCK_HEADER_SIZE)
        stored_size = int.from_bytes(window.data[at : at + 4], "little")
        return size - self._offset - BLOCK_HEADER_SIZE - pad8(stored_size)

    def _is_metadata(self, window: Window, kinds: frozenset[int]) -> bool:
        """Whether the context is one of metadata: where partition blocks are allowed too, the kind decides (FOL-4)."""
        at = window.locate(self._offset, BLOCK_HEADER_SIZE)
        return KIND_DATA not in kinds or window.data[at + 16] >= KIND_REGION

    def _could_stand(self, window: Window, kinds: frozenset[int]) -> None:
        """Make the checks 3 and 5 to 10 of BLK-7, of the header alone."""
        metadata = self._is_metadata(window, kinds)
        self._check_stream(check_header(window, self._offset, kinds, self._limits, metadata=metadata), window)

    def _check_stream(self, block: Block, window: Window) -> None:
        """Make the checks 9 and 10; of partition blocks neither partition nor sequence is expected (FOL-4)."""
        if block.kind >= KIND_REGION:
            check_partition(block, NO_PARTITION, window.file.place)
            check_sequence(block, window.file.place, exactly=self._sequence)
        if block.kind == KIND_DICTIONARY:
            check_dictionary(block, window.file, own=len(self.dictionaries) + 1)
        elif block.dictionary:
            check_dictionary(block, window.file)

    def _torn(self, window: Window, size: int, kinds: frozenset[int]) -> bool:
        """Whether a block that fails its checksum is not yet there: it may still be being written (FOL-2, REP-1).

        Raises:
            FaroError: it ends the file, and its header is not valid here.
        """
        behind = self._behind(window, size)
        if behind == 0:
            self._could_stand(window, kinds)
            return True
        if not self._repairing or behind > TAIL_SIZE:
            return False
        # If more bytes follow, a follower checks the checksum first, and reports that fault.
        with contextlib.suppress(FaroError):
            self._could_stand(window, kinds)
            return True
        return False

    def _zeros(self, at: int, size: int) -> bool:
        """Whether every byte from an offset to the end of the file is zero."""
        length = 8  # These bytes decide it for almost every block.
        while at < size:
            piece = self._files.index.read_exactly(at, min(length, size - at))
            if any(piece):
                return False
            at += len(piece)
            length = _ZERO_READ
        return True

    def _kinds(self) -> frozenset[int]:
        """Return the kinds that are allowed at the walk's place."""
        offset = self._offset
        if self._files.paired:
            return allowed_kinds(self._header, offset, KIND_REGION, KIND_FOOTER)
        if offset > self.kept_end:
            # After a partition block only the region message may follow (FOL-4).
            return PARTITION_KINDS | {KIND_REGION}
        more = (KIND_DICTIONARY,) if self._header.dictionaries else ()
        return PARTITION_KINDS | allowed_kinds(self._header, offset, KIND_FOOTER, *more)

    def _check(self, window: Window, size: int, kinds: frozenset[int]) -> Block | None:
        """Make the checks of BLK-7 of the block at the walk's place; None if it is not yet there."""
        if KIND_DICTIONARY in kinds and size - self._offset >= BLOCK_HEADER_SIZE:
            at = window.locate(self._offset, BLOCK_HEADER_SIZE)
            if window.data[at + 16] == KIND_DICTIONARY:
                self._check_count(len(self.dictionaries), window.file.place, self._offset)
        if self._absent(window, size, kinds):
            return None
        metadata = self._is_metadata(window, kinds)
        try:
            block = check_block(window, self._offset, size, kinds, self._limits, metadata=metadata, verify=self._verify)
        except FaroError as fault:
            if fault.code == ErrorCode.CHECKSUM and self._torn(window, size, kinds):
                return None
            raise
        self._check_stream(block, window)
        check_padding(block, window)
        return block

    def _check_count(self, count: int, place: Place, offset: int) -> None:
        """Refuse a dictionary beyond the limit, before its block is checked (DIC-5)."""
        most = self._limits.max_dictionaries
        if count >= most:
            raise place.error(ErrorCode.LIMIT_EXCEEDED, offset, f"at most {most} dictionaries", "one more")

    def _next(self, window: Window, size: int) -> Block | None:
        """Check the block at the walk's offset and use its content; None if it is not yet there."""
        block = self._check(window, size, self._kinds())
        if block is not None and block.kind == KIND_REGION:
            self._region(block)
        elif block is not None and block.kind == KIND_FOOTER:
            self._footer(block)
        elif block is not None and block.kind == KIND_DICTIONARY:
            check_content(block, self._files.index.place)
            self._accept([DictionaryEntry(block.offset, len(block.stored))])
        return block

    def _accept(self, found: list[DictionaryEntry]) -> None:
        self.dictionaries.extend(found)
        if self._files.data.dictionaries is not None:
            self._files.data.dictionaries.extend(found)

    def _region(self, block: Block) -> None:
        """Accept a region message (FOL-3)."""
        files, place = self._files, self._files.index.place
        if len(self.regions) >= self._limits.max_regions:
            raise place.error(ErrorCode.LIMIT_EXCEEDED, block.offset, f"at most {self._limits.max_regions} regions")
        message = parse_region(block, place, self._header.version_minor)
        begin = self.data_end if files.paired else self.kept_end
        if files.paired and self._header.dictionaries and message.data_offset > begin:
            # Dictionaries are in between (DIC-5).
            begin = message.data_offset
        entry = Entry(len(self.regions), block.offset, len(block.stored), begin, message.data_length)
        check_region(message, self._header, entry, place, files.data_kind)
        if files.paired:
            size = files.data.refresh()
            if size < entry.data_end:
                raise files.data.place.error(ErrorCode.TRUNCATED, size, f"{entry.data_end} bytes", size)
            self._accept(self._between(begin))
            self.data_end = entry.data_end
        self.regions.append(entry)

    def _between(self, end: int) -> list[DictionaryEntry]:
        """Check the dictionaries between the last committed region and the next in a data file (DIC-5)."""
        found: list[DictionaryEntry] = []
        offset, window = self.data_end, Window(self._files.data, end)
        while offset < end:
            number = len(self.dictionaries) + len(found) + 1
            self._check_count(number - 1, window.file.place, offset)
            block = check_dictionary_block(window, offset, end, self._limits, number, sequence=number - 1)
            check_content(block, window.file.place)
            found.append(DictionaryEntry(offset, len(block.stored)))
            offset = block.end
        return found

    def _footer(self, block: Block) -> None:
        """Accept a footer (FOL-5)."""
        footer = read_footer(block, self._files, self._header, self._limits)
        seen = [(e.message_offset, e.message_size, 0, e.data_offset, e.data_length) for e in self.regions]
        if footer.regions.tolist() != seen or dictionary_entries(footer) != self.dictionaries:
            place = self._files.index.place
            raise place.error(
                ErrorCode.INCONSISTENT_INDEX,
                block.offset + BLOCK_HEADER_SIZE,
                "a directory of the regions and dictionaries before it",
            )
        self.footer, self.footer_offset, self.footer_size = footer, block.offset, len(block.stored)

    def _tail(self, size: int) -> None:
        """Check the tail after the footer, if it is there (FOL-5)."""
        file, at, footer = self._files.index, self._offset, self.footer
        if footer is None or size - at < TAIL_SIZE:
            return
        raw = file.read_exactly(at, TAIL_SIZE)
        footer_offset, footer_size, stored, computed = parse_tail(raw)
        if raw[16:] != TAIL_MAGIC or stored != computed:
            raise file.place.checksum(at, stored, computed)
        leads = footer_offset == self.footer_offset and self.footer_size == footer_size
        if not leads or size > at + TAIL_SIZE:
            raise file.place.error(
                ErrorCode.INCONSISTENT_INDEX, at, "a tail that ends the file and leads to its footer"
            )
        if self._files.paired:
            self._files.data.refresh()
            check_data_end(self._files.data, footer.data_size)
        self.finished = True
