"""Writing tables by partition: Faro, and pyarrow with a file for each partition."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from benchmarks.data import Partitions
from benchmarks.turns import Pass, timed
from faro_format.arrow import ArrowWriter


@dataclass
class Tables:
    """The work of a case: a table, handed over again and again, its rows to partitions that are drawn meanwhile."""

    folder: Path
    table: Any
    count: int
    """How many times it is handed over."""
    partitions: int
    buffer_mib: int

    @property
    def plain_bytes(self) -> int:
        """What all tables take as columns."""
        return int(self.count * self.table.nbytes)

    def pairs(self) -> Iterator[tuple[Any, np.ndarray[Any, Any]]]:
        """Yield each table with its rows' partitions."""
        drawn = Partitions(self.partitions)
        for _ in range(self.count):
            yield self.table, drawn.draw(self.table.num_rows)

    def faro(self, path: Path) -> None:
        """Write one output."""
        with ArrowWriter(
            str(path / "rows"), self.table.schema, self.partitions, buffer_size=self.buffer_mib << 20
        ) as writer:
            for table, partitions in self.pairs():
                writer.write(table, partitions)

    def _sorted(self, size: int) -> Iterator[tuple[Any, list[int]]]:
        """Yield the rows of ``size`` bytes of tables by partition, and where each partition begins."""
        kept: list[Any] = []
        numbers: list[Any] = []
        held = 0
        for table, partitions in self.pairs():
            kept.append(table)
            numbers.append(partitions)
            held += table.nbytes
            if held >= size:
                yield self._group(kept, numbers)
                kept, numbers, held = [], [], 0
        if kept:
            yield self._group(kept, numbers)

    def _group(self, kept: list[Any], numbers: list[Any]) -> tuple[Any, list[int]]:
        partitions = np.concatenate(numbers)
        order = np.argsort(partitions.astype(np.uint16), kind="stable")
        rows = pa.concat_tables(kept).combine_chunks().take(pa.array(order.astype(np.uint32)))
        return rows, np.searchsorted(partitions[order], np.arange(self.partitions + 1)).tolist()

    def _files(self, path: Path, name: str, create: Callable[[str], Any], size: int) -> None:
        """Write a file for each partition, from sorted rows of ``size`` bytes at a time."""
        writers = [create(str(path / f"{number}.{name}")) for number in range(self.partitions)]
        for rows, bounds in self._sorted(size):
            for writer, begin, end in zip(writers, bounds, bounds[1:], strict=False):
                if begin < end:
                    writer.write_table(rows.slice(begin, end - begin))
        for writer in writers:
            writer.close()

    def arrow_ipc(self, path: Path) -> None:
        """Write a file of Arrow IPC for each partition, each table sorted by itself."""
        self._files(path, "arrow", lambda name: pa.ipc.new_file(name, self.table.schema), 1)

    def arrow_ipc_buffered(self, path: Path) -> None:
        """Do the same, with as many rows sorted at once as Faro keeps."""
        self._files(path, "arrow", lambda name: pa.ipc.new_file(name, self.table.schema), self.buffer_mib << 20)

    def parquet(self, path: Path) -> None:
        """Write a file of Parquet for each partition, plain, with as many rows sorted at once as Faro keeps."""

        def create(name: str) -> Any:  # noqa: ANN401
            return pq.ParquetWriter(
                name, self.table.schema, compression="none", use_dictionary=False, write_statistics=False
            )

        self._files(path, "parquet", create, self.buffer_mib << 20)

    def _dataset(self, path: Path, kind: str) -> None:
        """Let pyarrow itself partition."""
        field = pa.field("partition", pa.int32())

        def batches() -> Iterator[Any]:
            for table, partitions in self.pairs():
                column = pa.array(partitions.astype(np.int32))
                yield from table.append_column(field, column).combine_chunks().to_batches()

        ds.write_dataset(
            batches(),
            path / "dataset",
            schema=self.table.schema.append(field),
            format=kind,
            partitioning=ds.partitioning(pa.schema([field])),
            max_open_files=self.partitions + 10,
            max_partitions=self.partitions,
            use_threads=False,
        )

    def dataset_ipc(self, path: Path) -> None:
        """Let pyarrow write a dataset of Arrow IPC."""
        self._dataset(path, "ipc")

    def run(self, action: Callable[[Path], None]) -> Pass:
        """Do a pass in a folder of its own; its sizes are taken, then it is removed."""
        path = self.folder / "pass"
        path.mkdir()
        try:
            seconds = timed(lambda: action(path))
            found = [(one.suffix, one.stat().st_size) for one in path.rglob("*") if one.is_file()]
        finally:
            shutil.rmtree(path)
        index = sum(size for suffix, size in found if suffix == ".index")
        sizes = {"stored_bytes": sum(size for _, size in found) - index, "files": len(found)}
        return Pass(seconds, sizes | ({"index_bytes": index} if index else {}))
