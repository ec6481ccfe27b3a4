"""The options of a writer (spec/writing.md, HDR-3), checked."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Generic, Literal, TypeVar

from faro_format._arguments import choice, flag, integer, shown, text
from faro_format._block.encapsulation import encapsulation_fault
from faro_format._bytes.buffers import as_bytes
from faro_format._bytes.header import (
    DICTIONARIES,
    FRAMING_ARROW,
    MAX_PARTITIONS,
    SELECTIVE,
    FileHeader,
    FileKind,
    Framing,
)
from faro_format._codec import Codec
from faro_format._error import invalid
from faro_format._storage.names import Layout
from faro_format._writer.listener import Listener

FramingName = Literal["opaque", "records", "arrow"]
CodecName = Literal["none", "lz4", "zstd"]
Durability = Literal["none", "commit"]

FRAMINGS: Mapping[FramingName, Framing] = {
    "opaque": Framing.OPAQUE,
    "records": Framing.RECORDS,
    "arrow": Framing.ARROW,
}
_CODECS: Mapping[CodecName, Codec] = {"none": Codec.NONE, "lz4": Codec.LZ4, "zstd": Codec.ZSTD}

Name = TypeVar("Name", bound=str)
Member = TypeVar("Member", bound=IntEnum)


class Named(Generic[Name, Member]):
    """A field that takes a member of an enumeration or its name, and keeps the member.

    With a descriptor, type checkers know that what is given and what is kept have different types.
    """

    def __init__(self, members: Mapping[Name, Member], default: Member) -> None:
        self._members = members
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, options: object, owner: type | None = None) -> Member:
        # The class's own value is the default that a dataclass looks for.
        member: Member = self._default if options is None else vars(options)[self._name]
        return member

    def __set__(self, options: object, value: Name | Member) -> None:
        if not isinstance(value, type(self._default)):
            choice(self._name, value, tuple(self._members))
            value = self._members[value]  # type: ignore[index]
        vars(options)[self._name] = value


@dataclass(frozen=True)
class WriterOptions:
    """The options of a writer. Sizes are in bytes.

    Raises:
        FaroError: ``invalid-argument`` for an option out of range (WRT-1).
    """

    partition_count: int
    layout: Layout | None = None
    """``paired`` or ``single``; None: by the NAME that the writer is given, else paired (PUB-1)."""
    first_partition: int = 0
    framing: Named[FramingName, Framing] = Named(FRAMINGS, Framing.RECORDS)
    """What payloads are: a member or its name; kept as the member."""
    producer: int = 0
    attempt: int = 0
    file_id: bytes = field(default_factory=lambda: uuid.uuid4().bytes)
    block_size: int = 65_536
    """Target size of a data block's plain bytes."""
    buffer_size: int = 64 << 20
    """The size of the sort buffer (SRT-1)."""
    codec: Named[CodecName, Codec] = Named(_CODECS, Codec.NONE)
    """How blocks are compressed: a member or its name; kept as the member."""
    level: int = 1
    """The level of Zstandard, 1 to 19."""
    dictionaries: bool = False
    """Whether blocks may be compressed with dictionaries (DIC-7)."""
    ordered: bool = True
    """Whether each partition keeps the order of calls (SRT-4)."""
    rotation: int = 0
    selective: bool = False
    """Whether the file has the reader feature ``selective``: :meth:`faro_format.RegionWriter.sequence` may leave gaps,
    for blocks that were consumed and need not be stored (BLK-3)."""
    statistics: bool = True
    created_by: str | None = None
    durability: Durability = "none"
    follow: bool = False
    """Whether others may follow the file while it is written (WRT-4)."""
    overwrite: bool = False
    single_below: int = 0
    """An output whose records are charged (SRT-1) at most this many bytes, and of which no region ended before
    ``finish``, becomes a single file, any other a pair (WRT-13). 0: as ``layout`` says. Not with ``layout``, ``follow``
    or ``overwrite``, or a NAME with an ending."""
    timed: bool = False
    """Whether :meth:`faro_format.Writer.figures` has the times of compression and checksums, which cost two readings of
    the clock for each block."""
    listener: Listener | None = None
    """Gets regions, the end and faults; None: none."""
    max_plain_size: int = 64 << 20
    """Largest plain size of a block that the writer makes. Readers with default limits accept 64 MiB, and refuse a
    larger block (``limit-exceeded``)."""
    schema: bytes | None = None
    """With framing arrow: the encapsulated Arrow schema message."""

    def __post_init__(self) -> None:
        """Check all options."""
        choice("layout", self.layout, (None, "paired", "single"))
        choice("durability", self.durability, ("none", "commit"))
        self._integer("partition_count", 1, MAX_PARTITIONS)
        self._integer("first_partition", 0, MAX_PARTITIONS - self.partition_count)
        self._integer("producer", 0, 2**64 - 1)
        self._integer("attempt", 0, 2**64 - 1)
        self._integer("block_size", 1, 2**26)
        self._integer("buffer_size", 1, 2**33)
        self._integer("level", 1, 19)
        self._integer("rotation", 0, self.partition_count - 1)
        self._integer("max_plain_size", 1, 2**32 - 1)
        self._integer("single_below", 0, 2**33)
        for name in ("dictionaries", "ordered", "selective", "statistics", "follow", "overwrite", "timed"):
            self._set(name, flag(name, getattr(self, name)))
        for name in ("layout", "follow", "overwrite"):
            if self.single_below and getattr(self, name):
                raise invalid(f"single_below without {name}", f"both, {name} {getattr(self, name)}")
        if not isinstance(self.file_id, bytes) or len(self.file_id) != 16:
            raise invalid("file_id: 16 bytes, for example uuid.uuid4().bytes", shown(self.file_id))
        if self.listener is not None and not isinstance(self.listener, Listener):
            raise invalid("listener: an object whose class inherits from Listener", shown(self.listener))
        if self.created_by is not None:
            text("created_by", self.created_by)
        if (self.schema is not None) != (self.framing == FRAMING_ARROW):
            raise invalid("schema: with framing arrow, and only then", f"framing {self.framing.name.lower()}")
        if self.schema is not None:
            self._set("schema", bytes(as_bytes(self.schema, "schema")))
            fault = encapsulation_fault(self.schema)
            if fault is not None:
                raise invalid("schema: an encapsulated Arrow message, as pyarrow's Schema.serialize() makes", fault)

    def _integer(self, name: str, least: int, most: int) -> None:
        self._set(name, integer(name, getattr(self, name), least, most))

    def _set(self, name: str, value: object) -> None:
        # Replace NumPy's types by Python's; the class is frozen for its users.
        object.__setattr__(self, name, value)

    @property
    def _header(self) -> FileHeader:
        """The header of the index or single file."""
        return FileHeader(
            kind=FileKind.SINGLE if self.layout == "single" else FileKind.INDEX,
            framing=self.framing,
            partition_count=self.partition_count,
            first_partition=self.first_partition,
            producer=self.producer,
            attempt=self.attempt,
            file_id=self.file_id,
            reader_features=SELECTIVE * self.selective | DICTIONARIES * self.dictionaries,
        )

    @property
    def _end_partition(self) -> int:
        """One more than the last partition."""
        return self.first_partition + self.partition_count

    @property
    def _cut_size(self) -> int:
        """Plain bytes at which data blocks are cut."""
        return min(self.block_size, self.max_plain_size)
