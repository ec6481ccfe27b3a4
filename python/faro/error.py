"""The closed set of error codes (ERR-1) and the one exception that the library raises."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum


class Code(str, Enum):
    """An error code of ERR-1; its value is the name that all languages share."""

    IO = "io"
    NOT_FARO = "not-faro"
    UNSUPPORTED_VERSION = "unsupported-version"
    UNSUPPORTED_FEATURE = "unsupported-feature"
    UNSUPPORTED_CODEC = "unsupported-codec"
    UNFINISHED = "unfinished"
    TRUNCATED = "truncated"
    CHECKSUM = "checksum"
    MALFORMED_HEADER = "malformed-header"
    MALFORMED_BLOCK = "malformed-block"
    MALFORMED_MESSAGE = "malformed-message"
    INCONSISTENT_INDEX = "inconsistent-index"
    MISMATCHED_PAIR = "mismatched-pair"
    LIMIT_EXCEEDED = "limit-exceeded"
    INVALID_ARGUMENT = "invalid-argument"

    def __str__(self) -> str:
        """Return the code as the specification spells it."""
        return self.value


class FaroError(Exception):
    """Whatever went wrong: with the file, the system, a limit, or the caller (ERR-2).

    Attributes:
        code: what kind of fault, one of :class:`Code`.
        file: the path of the file, or None.
        role: which file that is: ``data``, ``index``, ``single``, or None.
        offset: the absolute byte offset of the fault in that file, or None.
        expected: what should have been there, for people.
        found: what was there, for people.
    """

    def __init__(
        self,
        code: Code,
        expected: str,
        found: str = "",
        *,
        file: str | None = None,
        role: str | None = None,
        offset: int | None = None,
    ) -> None:
        """Make an error; see the attributes of the class."""
        super().__init__(code, expected, found, file, role, offset)
        self.code = code
        self.file = file
        self.role = role
        self.offset = offset
        self.expected = expected
        self.found = found

    def copy(self) -> FaroError:
        """Return the same error without its traceback and causes."""
        return FaroError(self.code, self.expected, self.found, file=self.file, role=self.role, offset=self.offset)

    def __reduce__(self) -> tuple[object, ...]:
        """Let other processes have the error: the constructor takes the place by name only."""
        state = {"file": self.file, "role": self.role, "offset": self.offset}
        return FaroError, (self.code, self.expected, self.found), state

    def __str__(self) -> str:
        """Return all of the error in one line."""
        kind = f"{self.role} file " if self.role is not None else ""
        where = "" if self.file is None else f" in {kind}{self.file!r}"
        at = "" if self.offset is None else f" at offset {self.offset}"
        found = f", found {self.found}" if self.found else ""
        return f"{self.code}{where}{at}: expected {self.expected}{found}"


@dataclass(frozen=True, slots=True)
class Place:
    """One file as errors name it: its role, None if it is neither data, index nor single file, and its path."""

    role: str | None
    path: str

    def error(self, code: Code, offset: int | None, expected: str, found: object = "") -> FaroError:
        """Return an error of this file at an absolute byte offset."""
        return FaroError(code, expected, str(found), file=self.path, role=self.role, offset=offset)

    def checksum(self, offset: int, stored: int, computed: int) -> FaroError:
        """Return the error for a checksum that does not match (ERR-4)."""
        return self.error(Code.CHECKSUM, offset, f"stored {stored:08x}", f"computed {computed:08x}")

    def io(self, fault: OSError, doing: str) -> FaroError:
        """Return the ``io`` error for what the system refused."""
        reason = os.strerror(fault.errno) if fault.errno else str(fault)
        return self.error(Code.IO, None, doing, reason)


def invalid(expected: str, found: object = "") -> FaroError:
    """Return the error for a caller's mistake: neither file nor offset."""
    return FaroError(Code.INVALID_ARGUMENT, expected, str(found))
