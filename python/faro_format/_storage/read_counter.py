"""What was read of one file, in figures."""

from __future__ import annotations

import threading


class ReadCounter:
    """Counts reads and the blocks that came of them. Threads may share it."""

    def __init__(self) -> None:
        """Begin at zero."""
        self.reads = 0
        self.bytes_read = 0
        self.read_time = 0.0
        self.blocks = 0
        self.plain_bytes = 0
        self.stored_bytes = 0
        self._lock = threading.Lock()

    def add_read(self, count: int, length: int, seconds: float) -> None:
        """Add reads that were made with one call, the bytes that they returned, and how long they took."""
        with self._lock:
            self.reads += count
            self.bytes_read += length
            self.read_time += seconds

    def add_blocks(self, blocks: int, plain: int, stored: int) -> None:
        """Add blocks that were delivered, their plain bytes, and their bytes in the file."""
        with self._lock:
            self.blocks += blocks
            self.plain_bytes += plain
            self.stored_bytes += stored
