"""What a writer has written."""

from __future__ import annotations

from dataclasses import dataclass

from faro_format._message.messages import Statistics


@dataclass(frozen=True)
class Summary:
    """A finished output, as :meth:`faro_format.Writer.finish` returns it."""

    files: tuple[str, ...]
    """The paths: of the data file and of the index file, or of the single file."""
    file_id: bytes
    """16 bytes."""
    regions: int
    blocks: int
    """Partition blocks, of all regions."""
    data_bytes: int
    """Bytes of the data file; in a single file, of the regions' blocks."""
    index_bytes: int
    """Bytes of the index file; in a single file, of everything else."""
    statistics: Statistics | None
    """Those of the footer; None without the option statistics."""
