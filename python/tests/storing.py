"""Stored files for tests: files that read short, and files that break a promise."""

from __future__ import annotations

import io
import random
import time
from collections.abc import Sequence
from typing import Any

from support import Output

from faro_format import storage


class ShortReads(storage.MemoryFile):
    """Reads as few bytes as it likes, which is right."""

    def __init__(self, data: bytes, name: str = "short", seed: int = 0) -> None:
        super().__init__(data, name)
        self._draw = random.Random(seed)

    def read(self, offset: int, length: int) -> memoryview:
        return super().read(offset, self._draw.randint(min(length, 1), length))


class Shared(storage.MemoryFile):
    """Has a position that all reads share, without a lock."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._object = io.BytesIO(data)

    def read(self, offset: int, length: int) -> bytes:  # type: ignore[override]
        self._object.seek(offset)
        time.sleep(0)
        return self._object.read(length)


class Sequential(Shared):
    """Goes on where the last read ended, wherever it is asked to begin."""

    def read(self, offset: int, length: int) -> bytes:  # type: ignore[override]
        return self._object.read(length)


class Longer(storage.MemoryFile):
    """Returns a byte more than was asked for, if there is one."""

    def read(self, offset: int, length: int) -> memoryview:
        return super().read(offset, length + 1)


class Nothing(storage.MemoryFile):
    """Returns nothing for some reads before the end."""

    def read(self, offset: int, length: int) -> memoryview:
        return super().read(offset, 0 if length > 60_000 else length)


class Wrong(storage.MemoryFile):
    """Returns other bytes from some place on."""

    def read(self, offset: int, length: int) -> memoryview:
        return super().read(offset + (offset > 1_000), length)


class Beyond(storage.MemoryFile):
    """Fails at and after the end."""

    def read(self, offset: int, length: int) -> memoryview:
        if offset >= self.size:
            raise OSError("beyond the end")
        return super().read(offset, length)


class Padded(storage.MemoryFile):
    """Fills what is missing at the end with zeros."""

    def read(self, offset: int, length: int) -> bytes:  # type: ignore[override]
        return bytes(super().read(offset, length)).ljust(length, b"\0")


class Reused(storage.MemoryFile):
    """Returns the same memory for every read."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._memory = bytearray(len(data))

    def read(self, offset: int, length: int) -> memoryview:
        raw = super().read(offset, length)
        self._memory[: len(raw)] = raw
        return memoryview(self._memory)[: len(raw)]


class LargerThanItIs(storage.MemoryFile):
    """Claims a byte more than it has."""

    @property
    def size(self) -> int:
        return super().size + 1


class RangeIsMissing(storage.MemoryFile):
    """Leaves empty ranges out."""

    def read_ranges(self, ranges: Sequence[tuple[int, int]]) -> list[Any]:
        return [raw for raw in super().read_ranges(ranges) if len(raw)]


class RangesSorted(storage.MemoryFile):
    """Returns ranges in the order of the file."""

    def read_ranges(self, ranges: Sequence[tuple[int, int]]) -> list[Any]:
        return list(super().read_ranges(sorted(ranges)))


class RangesShort(storage.MemoryFile):
    """Reads each range once, though reads may be short."""

    def read_ranges(self, ranges: Sequence[tuple[int, int]]) -> list[Any]:
        return [self.read(offset, min(length, 4_000)) for offset, length in ranges]


class NotBytes(storage.MemoryFile):
    """Returns text."""

    def read(self, offset: int, length: int) -> Any:
        return bytes(super().read(offset, length)).decode("latin-1")


def in_memory(made: Output, kind: Any = storage.MemoryFile, **more: Any) -> storage.StoredOutput:
    """An output's files in memory, with the names that the local ones have."""
    files = {role: kind(path.read_bytes(), str(path), **more) for role, path in made.files.items()}
    if "single" in files:
        return storage.StoredOutput.single(files["single"])
    return storage.StoredOutput.paired(**files)
