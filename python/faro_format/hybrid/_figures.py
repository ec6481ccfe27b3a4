"""What a store has done, and how far a partition was read."""

from __future__ import annotations

from typing import NamedTuple


class HybridFigures(NamedTuple):
    """What a hybrid store has done so far."""

    regions: int
    """The regions that were committed."""
    bytes: int
    """The size of their blocks in bytes."""
    in_memory: int
    """The bytes of these that are in memory now."""
    written: int
    """The bytes of blocks that were written to the files."""
    from_memory: int
    """The bytes that consumers and spills took from memory."""
    from_files: int
    """The bytes that consumers read from the files."""


class HybridPosition(NamedTuple):
    """How far a partition was read (HYB-3): a later consumer of a full store can go on there."""

    region: int = 0
    """The number of the region from which the next block may come."""
    own: int = 0
    """The sequence from which the partition's own blocks are wanted."""
    shared: int = 0
    """The sequence from which shared blocks are wanted."""
