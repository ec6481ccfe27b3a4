"""A folder for the files of one input: in TMPDIR if that is set, else in memory if the system supports it."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

_IN_MEMORY = "/dev/shm"


class Folder:
    """The files of one input."""

    def __init__(self) -> None:
        place = _IN_MEMORY if "TMPDIR" not in os.environ and os.access(_IN_MEMORY, os.W_OK) else None
        self.path = Path(tempfile.mkdtemp(prefix="faro-fuzz", dir=place))

    def write(self, name: str, data: bytes) -> str:
        """Write a file. Returns its path."""
        path = self.path / name
        path.write_bytes(data)
        return str(path)

    def grow(self, name: str, whole: bytes, size: int) -> None:
        """Let the file grow to `size` bytes; it never shrinks."""
        path = self.path / name
        has = path.stat().st_size
        if size > has:
            with path.open("ab") as file:
                file.write(whole[has:size])

    def read(self, name: str) -> bytes | None:
        """The bytes of a file, or None."""
        path = self.path / name
        return path.read_bytes() if path.exists() else None

    def names(self) -> list[str]:
        """The content of each file, by name."""
        return sorted(os.listdir(self.path))

    def clear(self) -> None:
        """Remove all files."""
        for name in os.listdir(self.path):
            os.unlink(self.path / name)

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path)

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
