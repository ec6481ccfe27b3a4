"""What a reader has done so far, in figures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReaderFigures:
    """What a reader has done so far, as :meth:`faro_format.Reader.figures` returns it. Times are in seconds."""

    reads: int
    """Reads of the files. A remote file answers some from memory, and others with several requests."""
    bytes_read: int
    """Bytes that they returned."""
    blocks: int
    """Blocks that were delivered."""
    plain_bytes: int
    """Bytes of their payloads after decompression, framing and events included."""
    stored_bytes: int
    """Their bytes in the file, headers and padding included."""
    regions_read: int
    """Region messages that were read and checked; the lookup ``direct`` reads parts of them only."""
    regions_cached: int
    """How often a region was found in the cache."""
    read_time: float
    """In reads, of all threads together."""
    memory_used: int
    """Bytes that the cache of regions and the dictionaries hold now."""
