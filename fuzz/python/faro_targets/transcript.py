"""What a target saw, line by line (VERDICTS.md)."""

from __future__ import annotations

import hashlib

from faro_format import FaroError


def sum_of(*parts: bytes) -> str:
    """A sum of VERDICTS.md: the first 16 hexadecimal digits of a SHA-256."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:16]


class Transcript:
    """The lines, and the first error among them."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._first = "ok"

    def line(self, *words: object) -> None:
        """Add a line of words; an error among them is written as VERDICTS.md says."""
        self._lines.append(" ".join(self._error(word) if isinstance(word, FaroError) else str(word) for word in words))

    def _error(self, error: FaroError) -> str:
        role = error.role or "-"
        offset = "-" if error.offset is None else str(error.offset)
        self.note(f"{error.code}@{role}:{offset}")
        return f"!{error.code} {role} {offset}"

    def note(self, error: str) -> None:
        """Note an error for the verdict, if it is the first."""
        if self._first == "ok":
            self._first = error

    def verdict(self) -> str:
        """The first error, or `ok`, and the sum of the lines."""
        return f"{self._first} {sum_of(str(self).encode('ascii'))}"

    def __str__(self) -> str:
        return "".join(line + "\n" for line in self._lines)
