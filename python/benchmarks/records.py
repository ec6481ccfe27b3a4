"""Records by partition: the batch calls, and the call for each record."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import faro_format as faro
from benchmarks.data import RECORDS, Partitions, text_records
from faro_format import Writer, WriterOptions


class Records:
    """The work of a case: text records of one length, round and round."""

    def __init__(self, record_bytes: int, partitions: int, buffer_mib: int, plain_bytes: int) -> None:
        """Make the records; as many of them are written as take ``plain_bytes``, in whole rounds."""
        self.data = text_records(record_bytes)
        self.rounds = max(1, plain_bytes // (RECORDS * (record_bytes + 4)))
        self.plain_bytes = self.rounds * RECORDS * (record_bytes + 4)
        self.partitions = partitions
        self.options = WriterOptions(partitions, buffer_size=buffer_mib << 20)
        self.offsets = np.arange(RECORDS + 1, dtype=np.int64) * record_bytes

    def batches(self, path: Path) -> None:
        """Write each round by one call."""
        drawn = Partitions(self.partitions)
        with Writer(str(path / "rows"), self.options) as writer:
            for _ in range(self.rounds):
                writer.write_batch(drawn.draw(RECORDS), self.offsets, self.data.reshape(-1))

    def calls(self, path: Path) -> None:
        """Write each record of one round by a call of its own."""
        records = [row.tobytes() for row in self.data]
        with Writer(str(path / "rows"), self.options) as writer:
            for partition, record in zip(Partitions(self.partitions).draw(RECORDS).tolist(), records, strict=True):
                writer.write(partition, record)

    @property
    def bytes_of_calls(self) -> int:
        """What :meth:`calls` moves."""
        return self.plain_bytes // self.rounds

    def read(self, path: Path) -> None:
        """Read all records of each partition as arrays."""
        count = 0
        with faro.open(path / "rows") as reader:
            for _, _, offsets in reader.record_arrays_by_partition(0, self.partitions):
                count += offsets.size - 1
        if count != self.rounds * RECORDS:
            raise AssertionError(f"{count} records")
