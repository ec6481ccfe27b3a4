"""The content of an output before it is encoded, and where each thing is in its bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .message import Fields
from .raw import Block, Header


@dataclass
class Shared:
    """A shared extent; `members` None is all partitions; `bits` overrides the bytes of the bit set."""

    blocks: list[Block]
    members: list[int] | None = None
    bits: bytes | None = None


@dataclass
class Dictionary:
    """A dictionary block; `fields` are the fields of its Block that are wrong."""

    content: bytes
    fields: dict[str, Any] = field(default_factory=dict)
    listed: bool = True  # in the footer


@dataclass
class Region:
    """One region: own extents by partition in slot order, then shared ones."""

    own: dict[int, list[Block]] = field(default_factory=dict)
    shared: list[Shared] = field(default_factory=list)
    sparse: bool | None = None  # None: by SRT-8
    rotation: int = 0
    runs: list[tuple[int, ...]] | None = None
    change: Callable[[Fields], None] | None = None  # changes the message's fields before it is built
    encode: Callable[[Fields], bytes] | None = None  # builds the message, if it is not canonical
    block: dict[str, Any] = field(default_factory=dict)  # the fields of the message's Block that are wrong
    before: list[tuple[int, bytes]] = field(default_factory=list)  # metadata blocks before it: kind, payload
    dictionaries: list[Dictionary] = field(default_factory=list)  # directly before its blocks


@dataclass
class Output:
    """A whole output."""

    header: Header = field(default_factory=Header)
    regions: list[Region] = field(default_factory=list)
    paired: bool = False
    schema: bytes | None = None
    encode_schema: Callable[[Fields], bytes] | None = None
    schema_block: dict[str, Any] = field(default_factory=dict)
    statistics: bool = False
    streams: Fields | None = None  # the footer's, with the feature `selective`
    properties: dict[str, str] = field(default_factory=dict)
    created_by: str | None = None
    after_regions: list[tuple[int, bytes]] = field(
        default_factory=list
    )  # metadata blocks between the last region and footer
    trailing: list[Dictionary] = field(default_factory=list)  # after the last region's blocks, or its message
    change_footer: Callable[[Fields], None] | None = None
    encode_footer: Callable[[Fields], bytes] | None = None
    footer_block: dict[str, Any] = field(default_factory=dict)
    unheld: dict[int, int] = field(default_factory=dict)  # records without bytes, by partition (NOBODY: all partitions)
    finished: bool = True


@dataclass
class Built:
    """The files, and where each thing in them is."""

    output: Output
    files: dict[str, bytes]
    blocks: list[tuple[int, int, int, int, Block]] = field(default_factory=list)
    # region, extent (partition, or NOBODY - 1 - n for shared n), offset, end of extent, block
    messages: list[int] = field(default_factory=list)  # offsets of the region messages' blocks
    metadata: list[int] = field(default_factory=list)  # offsets of all metadata blocks
    dictionaries: list[tuple[int, int, int]] = field(default_factory=list)  # region, offset, size
    fields: list[Fields] = field(default_factory=list)
    footer_fields: Fields = field(default_factory=dict)
    footer: int = 0
    tail: int = 0

    @property
    def data(self) -> str:
        """The role of the file that holds the blocks."""
        return "data" if "data" in self.files else "single"

    @property
    def index(self) -> str:
        """The role of the file that holds the messages."""
        return "index" if "index" in self.files else "single"

    def region_blocks(self, region: int) -> list[tuple[int, int, Block]]:
        """Extent, offset and block of each block of a region."""
        return [(extent, offset, block) for r, extent, offset, _, block in self.blocks if r == region]
