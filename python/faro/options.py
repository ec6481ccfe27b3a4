"""The options of a writer (spec/writing.md), checked."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Literal

from faro.error import invalid
from faro.header import DICTIONARIES, FRAMING_ARROW, KIND_INDEX, KIND_SINGLE, MAX_PARTITIONS, FileHeader
from faro.naming import Layout
from faro.opening import encapsulation_fault

Framing = Literal["opaque", "records", "arrow"]
CodecName = Literal["none", "lz4", "zstd"]
Durability = Literal["none", "commit"]

FRAMINGS: dict[str, int] = {"opaque": 0, "records": 1, "arrow": 2}
CODECS: dict[str, int] = {"none": 0, "lz4": 1, "zstd": 2}


@dataclass(frozen=True)
class WriterOptions:
    """What a writer is told before its first call. Sizes are in bytes.

    Raises:
        FaroError: ``invalid-argument`` for an option out of range (WRT-1).
    """

    partition_count: int
    layout: Layout | None = None
    """``paired`` or ``single``; None: by the NAME that the writer is given, else paired (PUB-1)."""
    first_partition: int = 0
    framing: Framing = "records"
    producer: int = 0
    attempt: int = 0
    file_id: bytes = field(default_factory=lambda: uuid.uuid4().bytes)
    block_size: int = 65_536
    """Target of a data block's plain bytes."""
    buffer_size: int = 64 << 20
    """The sort buffer (SRT-1)."""
    codec: CodecName = "none"
    level: int = 1
    """Of Zstandard, 1 to 19."""
    dictionaries: bool = False
    """Whether blocks may be compressed with dictionaries (DIC-7)."""
    ordered: bool = True
    """Whether each partition keeps the order of calls (SRT-4)."""
    rotation: int = 0
    statistics: bool = True
    created_by: str | None = None
    durability: Durability = "none"
    follow: bool = False
    """Whether others may follow the file while it is written (WRT-4)."""
    overwrite: bool = False
    max_plain_size: int = 64 << 20
    """Largest plain size of a block that the writer makes. Readers take 64 MiB unless their limits say more: what
    is written with more than that, a reader with default limits refuses (``limit-exceeded``)."""
    schema: bytes | None = None
    """With framing arrow: the encapsulated Arrow schema message."""

    def __post_init__(self) -> None:
        """Check all options."""
        _among("layout", self.layout, (None, "paired", "single"))
        _among("framing", self.framing, tuple(FRAMINGS))
        _among("codec", self.codec, tuple(CODECS))
        _among("durability", self.durability, ("none", "commit"))
        _between("partition_count", self.partition_count, 1, MAX_PARTITIONS)
        _between("first_partition", self.first_partition, 0, MAX_PARTITIONS - self.partition_count)
        _between("producer", self.producer, 0, 2**64 - 1)
        _between("attempt", self.attempt, 0, 2**32 - 1)
        _between("block_size", self.block_size, 1, 2**26)
        _between("buffer_size", self.buffer_size, 1, 2**33)
        _between("level", self.level, 1, 19)
        _between("rotation", self.rotation, 0, self.partition_count - 1)
        _between("max_plain_size", self.max_plain_size, 1, 2**32 - 1)
        if not isinstance(self.file_id, bytes) or len(self.file_id) != 16:
            raise invalid("file_id of 16 bytes", repr(self.file_id))
        if not isinstance(self.dictionaries, bool):
            raise invalid("dictionaries: yes or no", repr(self.dictionaries))
        if self.created_by is not None:
            check_text("created_by", self.created_by)
        if (self.schema is not None) != (self.framing == "arrow"):
            raise invalid("a schema with framing arrow, and only then")
        if self.schema is not None:
            fault = encapsulation_fault(self.schema)
            if fault is not None:
                raise invalid("schema: an encapsulated Arrow message", fault)

    @property
    def header(self) -> FileHeader:
        """The header of the index or single file."""
        return FileHeader(
            kind=KIND_SINGLE if self.layout == "single" else KIND_INDEX,
            framing=FRAMINGS[self.framing],
            partition_count=self.partition_count,
            first_partition=self.first_partition,
            producer=self.producer,
            attempt=self.attempt,
            file_id=self.file_id,
            reader_features=DICTIONARIES if self.dictionaries else 0,
        )

    @property
    def end_partition(self) -> int:
        """One more than the last partition."""
        return self.first_partition + self.partition_count

    @property
    def cut_size(self) -> int:
        """Plain bytes at which data blocks are cut."""
        return min(self.block_size, self.max_plain_size)

    @property
    def arrow(self) -> bool:
        """Whether the framing is arrow."""
        return FRAMINGS[self.framing] == FRAMING_ARROW


def _among(name: str, value: object, allowed: tuple[str | None, ...]) -> None:
    if value not in allowed:
        raise invalid(f"{name}: one of {', '.join(map(str, allowed))}", repr(value))


def _between(name: str, value: object, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise invalid(f"{name} from {least} to {most}", repr(value))


def check_text(name: str, value: object) -> None:
    """Raise ``invalid-argument`` unless a value is text that UTF-8 can hold."""
    try:
        if isinstance(value, str):
            value.encode()
            return
    except UnicodeEncodeError:
        pass
    raise invalid(f"{name}: text", repr(value))
