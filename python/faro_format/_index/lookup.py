"""Direct lookup (LKP-1, LKP-2): finds the extents of one partition by position, without reading region messages.

A message is a FlatBuffers buffer. Only the fields and the elements of vectors that lead to one partition are read,
some bytes at a time. Each value is checked by LKP-2 before it is used.
"""

from __future__ import annotations

from faro_format._block.block import BLOCK_HEADER_SIZE, NO_PARTITION
from faro_format._bytes.header import VERSION_MINOR, FileHeader
from faro_format._error import ErrorCode, Place
from faro_format._index.regions import Entry, Extent
from faro_format._message.verify import LENIENT_VTABLE
from faro_format._storage.input_file import InputFile

_PIECE = 256
"""Bytes that are read around an offset, so that neighbouring fields cost one system call."""
_KEPT = 8

_REGION_FIELDS = 9
_SEQUENCE, _DATA_OFFSET, _DATA_LENGTH, _OFFSETS, _ROTATION, _PARTITIONS, _SHARED, _, _FIRST_BLOCK = range(
    _REGION_FIELDS
)
_SHARED_FIELDS = 3
_LENGTH, _MEMBERS, _SHARED_FIRST_BLOCK = range(_SHARED_FIELDS)
_NO_VECTOR = (-1, 0)


class _Message:
    """The bytes of a message in a file, read by position."""

    def __init__(self, file: InputFile, entry: Entry, *, newer: bool) -> None:
        self._file = file
        self._begin = entry.message_offset + BLOCK_HEADER_SIZE
        self._size = entry.message_size
        self._newer = newer
        self._pieces: dict[int, bytes] = {}

    @property
    def place(self) -> Place:
        return self._file.place

    def require(self, condition: bool, rule: str, found: object = "") -> None:
        """Raise ``inconsistent-index`` at the message's first byte unless a rule holds (LKP-2)."""
        if not condition:
            raise self.place.error(ErrorCode.INCONSISTENT_INDEX, self._begin, rule, found)

    def number(self, at: int, size: int) -> int:
        """Return the unsigned number of ``size`` bytes at a multiple of its size, inside the message."""
        self.require(at >= 0 and at + size <= self._size, "MSG-8: a value inside the message", at)
        start = at - at % _PIECE
        piece = self._pieces.get(start)
        if piece is None:
            if len(self._pieces) == _KEPT:
                del self._pieces[next(iter(self._pieces))]
            length = min(_PIECE, self._size - start)
            piece = self._pieces[start] = self._file.read_exactly(self._begin + start, length)
        return int.from_bytes(piece[at - start : at - start + size], "little")

    def root(self, identifier: bytes) -> int:
        """Return where the root table is."""
        known = self._size >= 8 and self.number(4, 4) == int.from_bytes(identifier, "little")
        self.require(known, f"MSG-2: identifier {identifier.decode()}")
        return self.follow(0)

    def follow(self, at: int) -> int:
        """Return where a uoffset leads to."""
        self.require(at % 4 == 0, "MSG-1: a uoffset at a multiple of 4", at)
        distance = self.number(at, 4)
        target = at + distance
        self.require(
            distance >= 4 and target % 4 == 0 and target <= self._size - 4, "MSG-1: a uoffset in range", target
        )
        return target


class _Table:
    """A table of a message whose fields are looked up."""

    def __init__(self, message: _Message, at: int, fields: int) -> None:
        self._message = message
        self._at = at
        back = message.number(at, 4)
        vtable = at - (back - 2**32 if back >= 2**31 else back)
        size = message._size
        message.require(vtable >= 8 and vtable % 2 == 0 and vtable <= size - 4, "MSG-3: a vtable inside the message")
        self._vtable = vtable
        self._vtable_size, self._inline = message.number(vtable, 2), message.number(vtable + 2, 2)
        most = LENIENT_VTABLE if message._newer else 4 + 2 * fields
        sized = self._vtable_size % 2 == 0 and 4 <= self._vtable_size <= most and vtable + self._vtable_size <= size
        message.require(sized, "MSG-4: a vtable's size", self._vtable_size)
        message.require(self._inline >= 4 and at + self._inline <= size, "MSG-5: a table inside the message")

    def field(self, number: int, size: int) -> int:
        """Return where a field is, -1 if it is absent."""
        entry = 4 + 2 * number
        offset = self._message.number(self._vtable + entry, 2) if entry + 2 <= self._vtable_size else 0
        if not offset:
            return -1
        fits = offset >= 4 and offset + size <= self._inline and (self._at + offset) % size == 0
        self._message.require(fits, "MSG-6: a field inside its table", offset)
        return self._at + offset

    def scalar(self, number: int, size: int) -> int:
        """Return the value of a field, 0 if it is absent."""
        at = self.field(number, size)
        return 0 if at < 0 else self._message.number(at, size)

    def vector(self, number: int, size: int) -> tuple[int, int]:
        """Return where the elements of a vector begin, and their count; -1 and 0 if it is absent."""
        at = self.field(number, 4)
        if at < 0:
            return _NO_VECTOR
        target = self._message.follow(at)
        count, begin = self._message.number(target, 4), target + 4
        inside = begin + count * size <= self._message._size
        self._message.require(inside and begin % size == 0, "MSG-8: a vector inside the message", count)
        return begin, count


def look_up(file: InputFile, header: FileHeader, entry: Entry, partition: int) -> tuple[Extent | None, list[Extent]]:
    """Return what a partition reads from a region: its own extent if it has one, and shared ones, in order.

    Args:
        file: the index or single file.
        header: its header.
        entry: the region's entry in the directory.
        partition: absolute, one of the file.

    Raises:
        FaroError: ``inconsistent-index`` at the message's first byte (LKP-2).
    """
    message = _Message(file, entry, newer=header.version_minor > VERSION_MINOR)
    region = _Table(message, message.root(b"FRRG"), _REGION_FIELDS)
    message.require(region.scalar(_SEQUENCE, 4) == entry.number, f"REG-2: sequence {entry.number}")
    message.require(region.scalar(_DATA_OFFSET, 8) == entry.data_offset, f"REG-3: data_offset {entry.data_offset}")
    message.require(region.scalar(_DATA_LENGTH, 8) == entry.data_length, f"REG-3: data_length {entry.data_length}")
    count = header.partition_count
    rotation = region.scalar(_ROTATION, 4)
    message.require(rotation < count, f"REG-5: a rotation below {count}", rotation)
    offsets, have = region.vector(_OFFSETS, 4)
    named, slots = region.vector(_PARTITIONS, 4)
    if named < 0:
        slots, slot = count, (partition - header.first_partition - rotation) % count
    else:
        message.require(slots <= count, f"REG-5: at most {count} partitions", slots)
        slot = _search(message, named, slots, partition)
    message.require(have == slots + 1, f"REG-4: {slots + 1} offsets", have)
    last = message.number(offsets + 4 * slots, 4)
    message.require(8 * last <= entry.data_length, "REG-6: offsets inside the region", last)
    own = None
    if slot >= 0:
        begin, end = message.number(offsets + 4 * slot, 4), message.number(offsets + 4 * slot + 4, 4)
        message.require(begin <= end <= last, "REG-4: ascending offsets", begin)
        message.require(begin < end or named < 0, "REG-5: strictly ascending offsets", begin)
        if begin < end:
            first = _first_block(message, region, slots, slot) if header.selective else None
            base = entry.data_offset
            own = Extent(base + 8 * begin, base + 8 * end, partition, first, slot, base + 8 * end)
    return own, _shared(message, region, header, entry, partition, last)


def _search(message: _Message, begin: int, count: int, partition: int) -> int:
    """Return the slot of a partition in a sparse region, -1 if it has none."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if message.number(begin + 4 * middle, 4) < partition:
            low = middle + 1
        else:
            high = middle
    return low if low < count and message.number(begin + 4 * low, 4) == partition else -1


def _first_block(message: _Message, region: _Table, slots: int, slot: int) -> int:
    begin, count = region.vector(_FIRST_BLOCK, 4)
    message.require(count == slots, f"REG-9: first_block of {slots} values", count)
    return message.number(begin + 4 * slot, 4)


def _shared(
    message: _Message, region: _Table, header: FileHeader, entry: Entry, partition: int, last: int
) -> list[Extent]:
    """Go through the shared extents of a region, and return those of which a partition is a member."""
    found: list[Extent] = []
    begin, count = region.vector(_SHARED, 4)
    end, before = last, -1
    size = (header.partition_count + 7) // 8
    index = partition - header.first_partition
    for number in range(count):
        table = _Table(message, message.follow(begin + 4 * number), _SHARED_FIELDS)
        length = table.scalar(_LENGTH, 4)
        message.require(length >= 3, "REG-6: shared extents of at least 24 bytes", 8 * length)
        end += length
        message.require(8 * end <= entry.data_length, f"REG-6: extents of {entry.data_length} bytes", 8 * end)
        first = table.scalar(_SHARED_FIRST_BLOCK, 4)
        message.require(first > before, "REG-11: ascending first_block of shared extents", first)
        before = first
        members, have = table.vector(_MEMBERS, 1)
        message.require(have in (0, size), f"REG-7: members of {size} bytes", have)
        if members < 0 or (have and message.number(members + (index >> 3), 1) >> (index & 7) & 1):
            stop = entry.data_offset + 8 * end
            found.append(Extent(stop - 8 * length, stop, NO_PARTITION, first, number, stop))
    message.require(8 * end == entry.data_length, f"REG-6: extents of {entry.data_length} bytes", 8 * end)
    return found
