"""Inputs that are files (TARGETS.md), and the errors that reading them may give."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import Any

from faro_format import ErrorCode, FaroError, Limits

from faro_targets.broken import require
from faro_targets.folder import Folder
from faro_targets.seal import seal

DATA, INDEX, SINGLE = "out.data", "out.index", "out.faro"
_HEAD = 13
_MIDDLE = Limits(1 << 20, 1 << 17, 1 << 20, 4096, 1 << 17, 4, 1 << 17)
# The third has the defaults, except for max_plain_size: many small payloads could each decode to that size.
_LIMITS = (
    _MIDDLE, Limits(256, 512, 512, 2, 64, 1, 1024),
    Limits(1 << 26, 1 << 20, 1 << 26, 1 << 20, 1 << 20, 1024, 1 << 23), _MIDDLE,
)  # fmt: skip
_UNVERIFIED = 3


def limits_of(flags: int) -> Limits:
    """The limits that a flags byte chooses."""
    return _LIMITS[flags >> 1 & 3]


def is_sealed(flags: int) -> bool:
    """Whether the files are to be sealed."""
    return bool(flags & 8)


@dataclass(frozen=True)
class FilesInput:
    """The files of an output, and how they are to be read."""

    pair: bool
    limits: Limits
    verify: bool
    mode: int
    growth: tuple[int, ...]
    first: bytes
    """The data file of a pair, or the single file."""
    second: bytes
    """The index file of a pair, or the single file again."""

    @classmethod
    def of(cls, raw: bytes) -> FilesInput:
        """Decode an input."""
        head, rest = raw[:_HEAD].ljust(_HEAD, b"\0"), raw[_HEAD:]
        flags, mode = head[0], head[1]
        pair = bool(flags & 1)
        size = int.from_bytes(head[2:5], "little") if pair else len(rest)
        first, second = rest[:size], rest[size:]
        if is_sealed(flags):
            first, second = seal(first), seal(second)
        verify = flags >> 1 & 3 != _UNVERIFIED
        growth = struct.unpack_from("<4H", head, 5)
        return cls(pair, limits_of(flags), verify, mode, growth, first, second if pair else first)

    @property
    def names(self) -> tuple[str, str]:
        """The names of `first` and `second`."""
        return (DATA, INDEX) if self.pair else (SINGLE, SINGLE)

    def write(self, folder: Folder) -> None:
        """Write the files."""
        folder.write(self.names[0], self.first)
        if self.pair:
            folder.write(INDEX, self.second)

    def paths(self, folder: Folder) -> dict[str, Any]:
        """The files as keyword arguments of the library."""
        if self.pair:
            return {"data": str(folder.path / DATA), "index": str(folder.path / INDEX)}
        return {"single": str(folder.path / SINGLE)}


def judged(error: FaroError) -> FaroError:
    """The error, after checking that a reader may give it and that its offset is in its file."""
    require(error.code not in (ErrorCode.IO, ErrorCode.INVALID_ARGUMENT), f"an error that bytes explain: {error}")
    inside = error.file is not None and error.offset is not None and 0 <= error.offset <= os.path.getsize(error.file)
    require(inside, f"an error in its file: {error}")
    return error


def same_error(one: FaroError | None, other: FaroError | None) -> bool:
    """Whether two errors, or none, say the same."""
    if one is None or other is None:
        return one is other
    return (one.code, one.role, one.offset) == (other.code, other.role, other.offset)
