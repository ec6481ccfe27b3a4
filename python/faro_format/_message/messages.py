"""The messages of the index: regions, footers and schemas (spec/messages.md, spec/index.md).

Messages are verified (:mod:`faro_format._message.verify`) before they are read. Their fields are views of
their bytes, at the offsets that the verifier found.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
import numpy.typing as npt

from faro_format._block.block import BLOCK_HEADER_SIZE, KIND_FOOTER, KIND_REGION, KIND_SCHEMA, Block
from faro_format._bytes.header import VERSION_MINOR
from faro_format._bytes.spans import Ints, U32s, U64s
from faro_format._error import ErrorCode, Place
from faro_format._message.verify import Field, Found, StructureError, Table, verify

Records = npt.NDArray[np.void]

ENTRY = np.dtype(
    [
        ("message_offset", "<u8"),
        ("message_size", "<u4"),
        ("flags", "<u4"),
        ("data_offset", "<u8"),
        ("data_length", "<u8"),
    ]
)
"""The struct ``RegionEntry`` of the footer's directory."""

RUN = np.dtype(
    [
        ("producer", "<u8"),
        ("attempt", "<u8"),
        ("first_block", "<u4"),
        ("blocks", "<u4"),
        ("length", "<u4"),
        ("flags", "<u4"),
    ]
)
"""The struct ``Run`` of merged files; lengths in units of 8 bytes."""
LAST = 1
"""The flag *last* of a run: the producer has no further block for the partition (REG-8)."""

DICTIONARY = np.dtype([("offset", "<u8"), ("size", "<u4"), ("reserved", "<u4")])
"""The struct ``DictionaryEntry`` of the footer."""

_U32 = (4, 4)
_U64 = (8, 8)

_SHARED_EXTENT = Table("SharedExtent", (Field("length"), Field("members", vector=(1, 1)), Field("first_block")))
_REGION = Table(
    "Region",
    (
        Field("sequence"),
        Field("data_offset", 8),
        Field("data_length", 8),
        Field("offsets", required=True, vector=_U32),
        Field("rotation"),
        Field("partitions", vector=_U32),
        Field("shared", tables=_SHARED_EXTENT),
        Field("runs", vector=(32, 8)),
        Field("first_block", vector=_U32),
    ),
)
_STATISTICS = Table(
    "Statistics",
    (
        Field("stored", vector=_U64),
        Field("plain", vector=_U64),
        Field("records", vector=_U64),
        Field("stored_to_all", 8),
        Field("plain_to_all", 8),
        Field("records_to_all", 8),
    ),
)
_STREAMS = Table(
    "Streams",
    (Field("next", vector=_U32), Field("missing", vector=_U32), Field("shared_next"), Field("shared_missing")),
)
_PROPERTY = Table("Property", (Field("key", required=True, string=True), Field("value", required=True, string=True)))
_FOOTER = Table(
    "Footer",
    (
        Field("regions", vector=(32, 8)),
        Field("data_size", 8),
        Field("statistics", table=_STATISTICS),
        Field("properties", tables=_PROPERTY),
        Field("created_by", string=True),
        Field("dictionaries", vector=(16, 8)),
        Field("streams", table=_STREAMS),
    ),
)
_SCHEMA = Table("Schema", (Field("arrow", required=True, vector=(1, 1)),))

_ROOTS = {KIND_REGION: (b"FRRG", _REGION), KIND_FOOTER: (b"FRFT", _FOOTER), KIND_SCHEMA: (b"FRSC", _SCHEMA)}

EMPTY_U32: U32s = np.zeros(0, np.uint32)
_EMPTY_INTS: Ints = np.zeros(0, np.int64)


@dataclass(frozen=True)
class RegionMessage:
    """A structurally valid region message. Its rules REG-2 to REG-9 and REG-11 are not checked yet."""

    sequence: int
    data_offset: int
    """Bytes, absolute."""
    data_length: int
    """Bytes."""
    offsets: U32s
    """Units of 8 bytes from data_offset, one more than slots."""
    rotation: int = 0
    partitions: U32s | None = None
    """The partition of each slot, or None: the region is dense."""
    shared_lengths: Ints = field(default_factory=lambda: _EMPTY_INTS)
    """The length of each shared extent, in units of 8 bytes."""
    shared_first_blocks: Ints = field(default_factory=lambda: _EMPTY_INTS)
    """The sequence of each shared extent's first block."""
    member_begins: Ints = field(default_factory=lambda: _EMPTY_INTS)
    """Where each shared extent's members begin in :attr:`raw`, -1: every partition."""
    member_counts: Ints = field(default_factory=lambda: _EMPTY_INTS)
    """How many bytes each shared extent's members have, -1: every partition."""
    runs: Records | None = None
    first_block: U32s | None = None
    raw: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    """The bytes of the message."""


@dataclass(frozen=True)
class Statistics:
    """The statistics of partitions, for schedulers. A vector that is None is all zeros (FTR-4)."""

    stored: U64s | None = None
    """Bytes of the extents of each partition, index p - first_partition."""
    plain: U64s | None = None
    """Plain bytes of the data blocks of each partition."""
    records: U64s | None = None
    """Records of each partition."""
    stored_to_all: int = 0
    plain_to_all: int = 0
    records_to_all: int = 0

    def __eq__(self, other: object) -> bool:
        """Whether all numbers are equal."""
        if not isinstance(other, Statistics):
            return NotImplemented
        return all(np.array_equal(getattr(self, one.name), getattr(other, one.name)) for one in fields(self))

    def __hash__(self) -> int:
        """A hash of the numbers for all partitions; arrays have none."""
        return hash((self.stored_to_all, self.plain_to_all, self.records_to_all))


@dataclass(frozen=True)
class Streams:
    """How many blocks the streams of a ``selective`` file had, and how many of them are not in it (FTR-8).

    A vector that is None is all zeros.
    """

    next: U32s | None = None
    """How many own blocks each partition had, index p - first_partition: the sequence that the next would have had."""
    missing: U32s | None = None
    """How many own blocks of each partition are not in the file, since they were consumed before."""
    shared_next: int = 0
    shared_missing: int = 0

    def __eq__(self, other: object) -> bool:
        """Whether all numbers are equal."""
        if not isinstance(other, Streams):
            return NotImplemented
        return all(np.array_equal(getattr(self, one.name), getattr(other, one.name)) for one in fields(self))

    def __hash__(self) -> int:
        """A hash of the numbers of the shared stream; arrays have none."""
        return hash((self.shared_next, self.shared_missing))


@dataclass(frozen=True)
class FooterMessage:
    """A structurally valid footer message."""

    regions: Records
    """The directory, of dtype :data:`ENTRY`."""
    data_size: int
    statistics: Statistics | None
    properties: list[tuple[str, str]]
    created_by: str | None
    dictionaries: Records = field(default_factory=lambda: np.zeros(0, DICTIONARY))
    """Where the dictionaries are, number 1 first, of dtype :data:`DICTIONARY`."""
    streams: Streams | None = None


class _View:
    """The fields of a verified message's tables."""

    def __init__(self, message: memoryview, found: Found) -> None:
        self.message = message
        self.found = found

    def scalar(self, name: str, size: int) -> int:
        at = int(self.found.scalars[name][0])
        return 0 if at < 0 else int.from_bytes(self.message[at : at + size], "little")

    def vector(self, name: str, dtype: str | np.dtype[np.void]) -> npt.NDArray[np.generic] | None:
        count = int(self.found.counts[name][0])
        if count < 0:
            return None
        # Not NumPy's default of -1 for a count of 0, and no view past the end for an empty vector there.
        return (
            np.frombuffer(self.message, dtype, count, int(self.found.begins[name][0])) if count else np.zeros(0, dtype)
        )

    def u32s(self, name: str) -> U32s | None:
        found = self.vector(name, "<u4")
        return None if found is None else found.view(np.uint32)

    def u64s(self, name: str) -> U64s | None:
        found = self.vector(name, "<u8")
        return None if found is None else found.view(np.uint64)

    def column(self, name: str) -> Ints:
        """Return a u32 field of all tables."""
        at = self.found.scalars[name]
        words = np.frombuffer(self.message, "<u4", len(self.message) // 4)
        return np.where(at >= 0, words[np.maximum(at, 0) >> 2], 0).astype(np.int64)

    def strings(self, name: str) -> list[str | None]:
        """Return a string field of all tables; strings at one place are one object."""
        known: dict[int, str | None] = {-1: None}
        result = []
        begins, counts = self.found.begins[name].tolist(), self.found.counts[name].tolist()
        for begin, count in zip(begins, counts, strict=True):
            if begin not in known:
                known[begin] = str(self.message[begin : begin + count], "utf-8")
            result.append(known[begin])
        return result


def _verify(block: Block, place: Place, minor: int) -> _View:
    identifier, root = _ROOTS[block.kind]
    try:
        return _View(block.stored, verify(block.stored, identifier, root, newer=minor > VERSION_MINOR))
    except StructureError as fault:
        offset, expected = block.offset + BLOCK_HEADER_SIZE, f"a valid {root.name} message"
        raise place.error(ErrorCode.MALFORMED_MESSAGE, offset, expected, f"broken {fault}") from None


def parse_region(block: Block, place: Place, minor: int) -> RegionMessage:
    """Verify the message of a region block (MSG) and return it.

    Args:
        block: the region block.
        place: its file.
        minor: the file's minor version.

    Raises:
        FaroError: ``malformed-message`` at the message's first byte.
    """
    view = _verify(block, place, minor)
    offsets = view.u32s("offsets")
    shared = _View(view.message, view.found.children["shared"]) if "shared" in view.found.children else None
    runs = view.vector("runs", RUN)
    return RegionMessage(
        sequence=view.scalar("sequence", 4),
        data_offset=view.scalar("data_offset", 8),
        data_length=view.scalar("data_length", 8),
        offsets=EMPTY_U32 if offsets is None else offsets,
        rotation=view.scalar("rotation", 4),
        partitions=view.u32s("partitions"),
        shared_lengths=_EMPTY_INTS if shared is None else shared.column("length"),
        shared_first_blocks=_EMPTY_INTS if shared is None else shared.column("first_block"),
        member_begins=_EMPTY_INTS if shared is None else shared.found.begins["members"],
        member_counts=_EMPTY_INTS if shared is None else shared.found.counts["members"],
        runs=None if runs is None else runs.view(RUN),
        first_block=view.u32s("first_block"),
        raw=np.frombuffer(view.message, np.uint8),
    )


def parse_footer(block: Block, place: Place, minor: int) -> FooterMessage:
    """Verify the message of a footer block (MSG) and return it; see :func:`parse_region`."""
    view = _verify(block, place, minor)
    regions = view.vector("regions", ENTRY)
    dictionaries = view.vector("dictionaries", DICTIONARY)
    statistics = None
    if "statistics" in view.found.children:
        inner = _View(view.message, view.found.children["statistics"])
        statistics = Statistics(
            inner.u64s("stored"),
            inner.u64s("plain"),
            inner.u64s("records"),
            inner.scalar("stored_to_all", 8),
            inner.scalar("plain_to_all", 8),
            inner.scalar("records_to_all", 8),
        )
    streams = None
    if "streams" in view.found.children:
        inner = _View(view.message, view.found.children["streams"])
        shared = inner.scalar("shared_next", 4), inner.scalar("shared_missing", 4)
        streams = Streams(inner.u32s("next"), inner.u32s("missing"), *shared)
    properties: list[tuple[str, str]] = []
    if "properties" in view.found.children:
        table = _View(view.message, view.found.children["properties"])
        pairs = zip(table.strings("key"), table.strings("value"), strict=True)
        properties = [(key or "", value or "") for key, value in pairs]
    return FooterMessage(
        regions=np.zeros(0, ENTRY) if regions is None else regions.view(ENTRY),
        data_size=view.scalar("data_size", 8),
        statistics=statistics,
        properties=properties,
        created_by=view.strings("created_by")[0],
        dictionaries=np.zeros(0, DICTIONARY) if dictionaries is None else dictionaries.view(DICTIONARY),
        streams=streams,
    )


def parse_schema(block: Block, place: Place, minor: int) -> memoryview:
    """Verify the message of a schema block (MSG) and return its Arrow message; see :func:`parse_region`."""
    view = _verify(block, place, minor)
    begin, count = int(view.found.begins["arrow"][0]), int(view.found.counts["arrow"][0])
    return block.stored[begin : begin + count]
