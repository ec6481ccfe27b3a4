"""The limits of the machine that take turns with the subjects."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import pyarrow as pa

PIECE = 64 << 10
WINDOW = 4 << 20


def raw_write(path: Path, size: int) -> None:
    """Write bytes to a new file, in pieces."""
    piece = bytes(os.urandom(PIECE))
    descriptor = os.open(path / "raw", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        for begin in range(0, size, PIECE):
            os.write(descriptor, piece[: size - begin])
    finally:
        os.close(descriptor)


def raw_pread(path: Path) -> None:
    """Read a file in pieces, into the same memory."""
    buffer = bytearray(1 << 20)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        at = 0
        while read := os.preadv(descriptor, [buffer], at):
            at += read
    finally:
        os.close(descriptor)


def pread_crc_arrow(path: Path, schema: Any, blocks: Sequence[tuple[int, int]]) -> int:  # noqa: ANN401
    """Read record batches whose places are known, in file order: what no reader that verifies can leave out.

    Args:
        path: the file.
        schema: of the batches.
        blocks: where the message of each begins, ascending, and its bytes.

    Returns:
        The count of rows.
    """
    rows = at = 0
    descriptor = os.open(path, os.O_RDONLY)
    try:
        while at < len(blocks):
            first, size = blocks[at]
            raw = os.pread(descriptor, max(WINDOW, size), first)
            data, buffer = np.frombuffer(raw, np.uint8), pa.py_buffer(raw)
            while at < len(blocks) and sum(blocks[at]) <= first + len(raw):
                begin, size = blocks[at][0] - first, blocks[at][1]
                google_crc32c.extend(0, data[begin : begin + size])
                batch = pa.ipc.read_record_batch(pa.ipc.read_message(buffer.slice(begin, size)), schema)
                batch.validate(full=True)
                rows += batch.num_rows
                at += 1
    finally:
        os.close(descriptor)
    return rows
