"""What a writer has done so far, in figures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class WriterFigures:
    """What a writer has done so far, as :meth:`faro_format.Writer.figures` returns it. Times are in seconds."""

    records: int = 0
    """Records in regions that have ended, as the statistics count them (FTR-4): no events, and a record for several
    partitions once. A region writer's blocks have those that its caller says."""
    regions: int = 0
    """Regions that are committed."""
    spills: int = 0
    """Regions that ended because a record did not fit into the sort buffer. The order of calls (SRT-4), a flush, and a
    record that is larger than the buffer end others."""
    blocks: int = 0
    """Partition blocks of these regions."""
    plain_bytes: int = 0
    """Bytes of their payloads before compression, framing and events included."""
    stored_bytes: int = 0
    """Bytes of their blocks, headers and padding included."""
    file_bytes: int = 0
    """Bytes that were appended to files."""
    region_time: float = 0.0
    """In ending regions, all of it."""
    compress_time: float = 0.0
    """In compressing blocks; 0 without the option ``timed``."""
    checksum_time: float = 0.0
    """In making block headers, which is mostly the checksum; 0 without the option ``timed``."""
    write_time: float = 0.0
    """In appending to files."""
    sync_time: float = 0.0
    """In syncing files, with durability ``commit``."""
    memory_used: int = 0
    """Bytes that the sort buffer holds now."""
    memory_refusals: int = 0
    """0: Python's writer has no memory budget. The other languages have one."""
