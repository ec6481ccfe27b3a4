"""What is written and read: the data of bench/README.md, made before any clock starts."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

U64s = npt.NDArray[np.uint64]

GAMMA = 0x9E3779B97F4A7C15
RECORDS = 1 << 16
WORDS = Path(__file__).resolve().parents[2] / "bench" / "words.txt"


def numbers(seed: int, first: int, count: int) -> U64s:
    """Return ``count`` numbers of SplitMix64 from number ``first`` on, shape (count,)."""
    state = np.arange(first + 1, first + count + 1, dtype=np.uint64) * np.uint64(GAMMA) + np.uint64(seed)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: U64s = state ^ (state >> np.uint64(31))
    return mixed


class Partitions:
    """The stream of partitions: number i of seed 2, times P, shifted right by 64."""

    def __init__(self, count: int) -> None:
        """Begin the stream for ``count`` partitions, below 2^32."""
        self._count = np.uint64(count)
        self._at = 0

    def draw(self, count: int) -> npt.NDArray[np.int64]:
        """Return the next partitions, shape (count,)."""
        drawn = numbers(2, self._at, count)
        self._at += count
        # The high half of a product of 128 bits, from two of 96 and 64.
        low = (drawn & np.uint64(0xFFFFFFFF)) * self._count >> np.uint64(32)
        high = (drawn >> np.uint64(32)) * self._count + low >> np.uint64(32)
        return high.astype(np.int64)


@functools.cache
def text_records(record_bytes: int) -> npt.NDArray[np.uint8]:
    """Return the 2^16 text records of one length, shape (RECORDS, record_bytes)."""
    words = WORDS.read_bytes().split()
    drawn = numbers(1, 0, RECORDS * (3 + record_bytes // 4 + 1)).tolist()
    count, at, made = len(words), 0, bytearray()
    for _ in range(RECORDS):
        record = b"%012x|%d|" % (drawn[at] >> 16, drawn[at + 1] % 100_000)
        at += 2
        while len(record) < record_bytes:
            record += words[drawn[at] % count] + b" "
            at += 1
        made += record[:record_bytes]
    return np.frombuffer(bytes(made), np.uint8).reshape(RECORDS, record_bytes)


def text_table(record_bytes: int = 100) -> Any:  # noqa: ANN401 - pyarrow ships no types
    """Return the text records as a column of text beside one of their numbers."""
    data = text_records(record_bytes)
    offsets = np.arange(RECORDS + 1, dtype=np.int32) * record_bytes
    text = pa.StringArray.from_buffers(RECORDS, pa.py_buffer(offsets), pa.py_buffer(data))
    return pa.table({"number": pa.array(np.arange(RECORDS)), "text": text})


def lineitem_table(folder: Path, scale: float = 0.05) -> Any:  # noqa: ANN401
    """Return rows of TPC-H's lineitem with its sixteen columns, from tpchgen."""
    generator = str(Path(sys.executable).parent / "tpchgen-cli")
    arguments = ["parquet", "-s", str(scale), "-T", "lineitem", "-o", str(folder)]
    subprocess.run([generator, *arguments], check=True, stdout=subprocess.DEVNULL)
    table = pq.read_table(folder / "lineitem.parquet", use_threads=False)
    (folder / "lineitem.parquet").unlink()
    # Text as views, as the generator has it, is what pyarrow cannot take rows of.
    fields = [pa.field(one.name, pa.string() if one.type == pa.string_view() else one.type) for one in table.schema]
    return table.cast(pa.schema(fields)).combine_chunks()
