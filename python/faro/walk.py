"""The walk over an index or single file from its begin, as followers and repair make it (FOL-2 to FOL-5)."""

from __future__ import annotations

from faro.block import (
    BLOCK_HEADER_SIZE,
    KIND_FOOTER,
    KIND_REGION,
    NO_PARTITION,
    PARTITION_KINDS,
    Block,
    check_block,
    check_padding,
    check_partition,
    check_sequence,
    pad8,
)
from faro.check import allowed_kinds
from faro.error import Code, FaroError
from faro.header import FRAMING_ARROW, HEADER_SIZE, FileHeader
from faro.index import Entry, check_region
from faro.limits import Limits
from faro.message import FooterMessage, parse_region
from faro.opening import TAIL_MAGIC, TAIL_SIZE, Files, check_data_end, parse_tail, read_footer, read_schema
from faro.source import Window

_ZERO_READ = 1 << 20


class Walk:
    """Where a walk stands; it goes on from there when asked again."""

    def __init__(
        self, files: Files, header: FileHeader, limits: Limits, *, verify: bool = True, repairing: bool = False
    ) -> None:
        """Begin behind the header.

        Args:
            files: open, their headers checked.
            header: of the index or single file.
            limits: what the file may ask for.
            verify: whether the checksums of partition blocks are verified, in a single file.
            repairing: whether a torn end is taken for *not yet there*, as REP-1 has it.

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
        """Where the last metadata block ends that was accepted."""
        self.data_end = HEADER_SIZE
        """Pair: where the last committed region ends in the data file."""
        self.regions: list[Entry] = []
        self.footer: FooterMessage | None = None
        self.footer_offset = 0
        self.footer_size = 0
        self.finished = False
        self.schema: bytes | None = None
        if header.framing == FRAMING_ARROW:
            size = files.index.size
            window = Window(files.index, size)
            if self._length(window, size) is None or self._torn(window, size):
                place = files.index.place
                raise place.error(Code.UNFINISHED, size, "a schema block", "a file that has none yet")
            self.schema = read_schema(window, size, header, limits)

    @property
    def paired(self) -> bool:
        """Whether the output is two files."""
        return self._files.paired

    @property
    def sequence(self) -> int:
        """The sequence of the next metadata block."""
        return self._sequence

    def go_on(self) -> None:
        """Walk to the first block that is not yet there, or behind the footer."""
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

    def _length(self, window: Window, size: int) -> int | None:
        """Return the bytes of the block at the walk's place, or None if they are not all there."""
        limits, offset = self._limits, self._offset
        if size - offset < BLOCK_HEADER_SIZE:
            return None
        at = window.locate(offset, BLOCK_HEADER_SIZE)
        stored_size = int.from_bytes(window.data[at : at + 4], "little")
        if self._files.paired and stored_size > limits.max_message_size:
            place = window.file.place
            raise place.error(
                Code.LIMIT_EXCEEDED, offset, f"stored_size of at most {limits.max_message_size}", stored_size
            )
        length = BLOCK_HEADER_SIZE + pad8(stored_size)
        return None if length > size - offset else length

    def _torn(self, window: Window, size: int) -> bool:
        """Whether the block at the walk's place is whole, but for its checksum, and may still be being written."""
        try:
            self._check(window, size)
        except FaroError as fault:
            return fault.code == Code.CHECKSUM and self._at_end(window, size)
        return False

    def _at_end(self, window: Window, size: int) -> bool:
        length = self._length(window, size) or 0
        behind = size - self._offset - length
        if behind == 0:
            return True
        return self._repairing and (behind <= TAIL_SIZE or self._zeros(size))

    def _zeros(self, size: int) -> bool:
        """Whether every byte from here to the end of the file is zero."""
        at = self._offset
        while at < size:
            piece = self._files.index.read_exactly(at, min(_ZERO_READ, size - at))
            if any(piece):
                return False
            at += len(piece)
        return True

    def _check(self, window: Window, size: int) -> Block:
        """Make the checks 1 to 8 of BLK-7 of the block at the walk's place."""
        offset = self._offset
        if self._files.paired:
            kinds = allowed_kinds(self._header, offset, KIND_REGION, KIND_FOOTER)
            return check_block(window, offset, size, kinds, self._limits, metadata=True)
        at = window.locate(offset, BLOCK_HEADER_SIZE)
        metadata = window.data[at + 16] >= KIND_REGION
        if offset > self.kept_end:
            # Behind a partition block only the region message may follow (FOL-4).
            kinds = PARTITION_KINDS | {KIND_REGION}
        else:
            kinds = PARTITION_KINDS | allowed_kinds(self._header, offset, KIND_FOOTER)
        return check_block(window, offset, size, kinds, self._limits, metadata=metadata, verify=self._verify)

    def _next(self, window: Window, size: int) -> Block | None:
        """Check the block at the walk's place and take in what it says; None if it is not yet there."""
        place = window.file.place
        if self._length(window, size) is None:
            return None
        try:
            block = self._check(window, size)
        except FaroError as fault:
            if fault.code == Code.CHECKSUM and self._at_end(window, size):
                return None
            raise
        if block.kind in PARTITION_KINDS:
            check_padding(block, window)
            return block
        check_partition(block, NO_PARTITION, place)
        check_sequence(block, place, exactly=self._sequence)
        check_padding(block, window)
        if block.kind == KIND_REGION:
            self._region(block)
        elif block.kind == KIND_FOOTER:
            self._footer(block)
        return block

    def _region(self, block: Block) -> None:
        """Take in a region message (FOL-3)."""
        files, place = self._files, self._files.index.place
        if len(self.regions) >= self._limits.max_regions:
            raise place.error(Code.LIMIT_EXCEEDED, block.offset, f"at most {self._limits.max_regions} regions")
        message = parse_region(block, place, self._header.version_minor)
        begin = self.data_end if files.paired else self.kept_end
        entry = Entry(len(self.regions), block.offset, len(block.stored), begin, message.data_length)
        check_region(message, self._header, entry, place, files.data_kind)
        if files.paired:
            size = files.data.refresh()
            if size < entry.data_end:
                raise files.data.place.error(Code.TRUNCATED, size, f"{entry.data_end} bytes", size)
            self.data_end = entry.data_end
        self.regions.append(entry)

    def _footer(self, block: Block) -> None:
        """Take in a footer (FOL-5)."""
        footer = read_footer(block, self._files, self._header, self._limits)
        seen = [(e.message_offset, e.message_size, 0, e.data_offset, e.data_length) for e in self.regions]
        if footer.regions.tolist() != seen:
            place = self._files.index.place
            raise place.error(
                Code.INCONSISTENT_INDEX, block.offset + BLOCK_HEADER_SIZE, "a directory of the regions before it"
            )
        self.footer, self.footer_offset, self.footer_size = footer, block.offset, len(block.stored)

    def _tail(self, size: int) -> None:
        """Check the tail behind the footer, once it is there (FOL-5)."""
        file, at, footer = self._files.index, self._offset, self.footer
        if footer is None or size - at < TAIL_SIZE:
            return
        raw = file.read_exactly(at, TAIL_SIZE)
        footer_offset, footer_size, matches = parse_tail(raw)
        if raw[16:] != TAIL_MAGIC or not matches:
            raise file.place.error(Code.CHECKSUM, at, "a tail whose magic and checksum match")
        leads = footer_offset == self.footer_offset and self.footer_size == footer_size
        if not leads or size > at + TAIL_SIZE:
            raise file.place.error(Code.INCONSISTENT_INDEX, at, "a tail that ends the file and leads to its footer")
        if self._files.paired:
            self._files.data.refresh()
            check_data_end(self._files.data, footer.data_size)
        self.finished = True
