"""The options of a merge (MRG-4), checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from faro_format._arguments import choice, flag, integer, text
from faro_format._block.encapsulation import encapsulation_fault
from faro_format._bytes.buffers import as_bytes
from faro_format._bytes.header import DICTIONARIES, FRAMING_ARROW, MAX_PARTITIONS, MERGED, FileHeader, FileKind, Framing
from faro_format._error import invalid
from faro_format._limits import DEFAULT_LIMITS, Limits, check_limits
from faro_format._writer.options import FRAMINGS, Durability, FramingName, Named
from faro_format.merge._names import Names


@dataclass(frozen=True)
class MergeOptions:
    """What a merged file is, and how it is made. Sizes are in bytes.

    Raises:
        FaroError: ``invalid-argument`` for an option out of range.
    """

    partition_count: int
    first_partition: int = 0
    framing: Named[FramingName, Framing] = Named(FRAMINGS, Framing.RECORDS)  # noqa: RUF009 - a descriptor
    """What payloads are: a member or its name; kept as the member."""
    file_id: bytes | None = None
    """16 bytes; None: random, and any when a merge is resumed."""
    generation: int = 0
    """Pushes for another generation are stale."""
    names: Names | None = None
    """The names of the shuffle: a fragment must have the file_id that follows from them (NAM-1). None: any."""
    schema: bytes | None = None
    """With framing arrow: the encapsulated Arrow schema message."""
    dictionaries: bool = False
    """Whether fragments may have dictionaries."""
    chunk_size: int = 2 << 20
    """A region ends when it has at least this many bytes."""
    max_waiting: int = 16 << 20
    """Bytes of all pushes that wait for their turn, at most."""
    durability: Durability = "none"
    """``commit``: regions are synced when they are committed."""
    created_by: str | None = None
    """The writing program, for the footer."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """For the footer."""
    limits: Limits = DEFAULT_LIMITS
    """What is taken from fragments, and from a file that is resumed, at most."""

    def __post_init__(self) -> None:
        """Check all options."""
        count = integer("partition_count", self.partition_count, 1, MAX_PARTITIONS)
        integer("first_partition", self.first_partition, 0, MAX_PARTITIONS - count)
        integer("generation", self.generation, 0, 2**64 - 1)
        integer("chunk_size", self.chunk_size, 1, 2**31)
        integer("max_waiting", self.max_waiting, 0, 2**63 - 1)
        choice("durability", self.durability, ("none", "commit"))
        flag("dictionaries", self.dictionaries)
        if self.names is not None:
            text("application", self.names.application)
            text("shuffle", self.names.shuffle)
        check_limits(self.limits)
        if self.created_by is not None:
            text("created_by", self.created_by)
        for key, value in self.properties.items():
            text("properties", key)
            text("properties", value)
        if self.file_id is not None and len(as_bytes(self.file_id, "file_id")) != 16:
            raise invalid("file_id: 16 bytes", len(self.file_id))
        if (self.schema is not None) != (self.framing == FRAMING_ARROW):
            raise invalid("schema: an Arrow schema message with framing arrow, and with no other")
        if self.schema is not None:
            fault = encapsulation_fault(as_bytes(self.schema, "schema"))
            if fault is not None:
                raise invalid("schema: an encapsulated Arrow message", fault)

    def _header(self, file_id: bytes) -> FileHeader:
        """Return the header of the index file (MRG-1)."""
        return FileHeader(
            kind=FileKind.INDEX,
            framing=self.framing,
            partition_count=self.partition_count,
            first_partition=self.first_partition,
            producer=MERGED,
            attempt=self.generation,
            file_id=file_id,
            reader_features=DICTIONARIES if self.dictionaries else 0,
        )
