"""The limits of the machine that take turns with the subjects."""

from __future__ import annotations

import os
from pathlib import Path

PIECE = 64 << 10


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
