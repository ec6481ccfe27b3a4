"""The closed set of error codes (ERR-1), the exceptions that the library raises, and its warnings."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from dataclasses import dataclass
from enum import Enum
from typing import Any


class ErrorFamily(str, Enum):
    """Where the fault is, which decides what a program can do next (ERR-5)."""

    ENVIRONMENT = "environment"
    """The system: a program may try again."""
    FILE = "file"
    """The bytes of the file: its producer has to write them again, or the file is repaired."""
    LIMIT = "limit"
    """The file is larger than the caller allows: a program that trusts it may raise the limit."""
    CALLER = "caller"
    """The call."""

    def __str__(self) -> str:
        """Return the family as the specification spells it."""
        return self.value


class ErrorCode(str, Enum):
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

    @property
    def family(self) -> ErrorFamily:
        """Where a fault with this code is (ERR-5)."""
        return _FAMILIES.get(self, ErrorFamily.FILE)


_FAMILIES = {
    ErrorCode.IO: ErrorFamily.ENVIRONMENT,
    ErrorCode.LIMIT_EXCEEDED: ErrorFamily.LIMIT,
    ErrorCode.INVALID_ARGUMENT: ErrorFamily.CALLER,
}
"""The codes that are not faults of the file."""


class FaroError(Exception):
    """A fault of the file, the system, a limit, or the caller (ERR-2).

    An error of the system (``io``) is also an :class:`OSError`: :class:`FaroIOError`. That of a missing file is also a
    :class:`FileNotFoundError`. So ``except OSError`` works as for any other file.

    Attributes:
        code: what kind of fault, one of :class:`ErrorCode`.
        file: the path of the file, or None.
        role: which file that is: ``data``, ``index``, ``single``, or None.
        offset: the absolute byte offset of the fault in that file, or None.
        expected: what should have been there, for people. Long texts are shortened.
        found: what was there, for people. Long texts are shortened.
    """

    def __new__(cls, code: ErrorCode, *_: object, errno: int | None = None, **__: object) -> FaroError:
        """Choose the class; for ``io`` by the system's errno, as OSError does."""
        chosen = _BY_ERRNO.get(errno, FaroIOError) if cls is FaroError and code == ErrorCode.IO else cls
        return OSError.__new__(chosen) if issubclass(chosen, FaroIOError) else Exception.__new__(chosen)

    def __init__(
        self,
        code: ErrorCode,
        expected: str,
        found: str = "",
        *,
        file: str | None = None,
        role: str | None = None,
        offset: int | None = None,
        errno: int | None = None,
    ) -> None:
        """Make an error; see the attributes of the class, and OSError's for ``errno``."""
        super().__init__()
        self.code = code
        self.file = file
        self.role = role
        self.offset = offset
        self.expected = shortened(expected, _EXPECTED)
        self.found = shortened(found, _FOUND)
        self.args = (code, self.expected, self.found, file, role, offset, errno)

    def _copy(self) -> FaroError:
        """Return the same error without its traceback and causes."""
        return _made(*self.args)

    def __reduce__(self) -> tuple[object, ...]:
        """Let the error be pickled: the constructor takes most arguments by name only."""
        return _made, self.args

    def __str__(self) -> str:
        """Return all of the error in one line."""
        kind = f"{self.role} file " if self.role is not None else ""
        where = "" if self.file is None else f" in {kind}{shortened(repr(self.file), _FILE)}"
        at = "" if self.offset is None else f" at offset {self.offset}"
        found = f", found {self.found}" if self.found else ""
        return f"{self.code}{where}{at}: expected {self.expected}{found}"


class FaroIOError(FaroError, OSError):
    """An error of the system (``io``), with OSError's attributes ``errno``, ``strerror`` and ``filename``.

    ``errno`` is None if the library itself refused, for example a file that is not regular.
    """

    def __init__(self, code: ErrorCode, expected: str, found: str = "", **more: Any) -> None:  # noqa: ANN401 - as FaroError's
        """Make an error; see :class:`FaroError`."""
        super().__init__(code, expected, found, **more)
        self.errno = more.get("errno")
        self.strerror = os.strerror(self.errno) if self.errno else self.found
        self.filename = self.file


class FaroFileNotFoundError(FaroIOError, FileNotFoundError):
    """A file, or the folder of a new one, is missing."""


class FaroFileExistsError(FaroIOError, FileExistsError):
    """A name exists that must not be replaced (PUB-3)."""


class FaroPermissionError(FaroIOError, PermissionError):
    """The system does not permit it."""


class FaroIndexError(FaroError, IndexError):
    """A number in brackets, as in ``reader[7]``, that is none of the partitions (``invalid-argument``)."""

    def __reduce__(self) -> tuple[object, ...]:
        """Let the error be pickled."""
        return no_index, (self.expected, self.found)


_BY_ERRNO: dict[int | None, type[FaroIOError]] = {
    errno.ENOENT: FaroFileNotFoundError,
    errno.EEXIST: FaroFileExistsError,
    errno.EACCES: FaroPermissionError,
    errno.EPERM: FaroPermissionError,
}


def _made(
    code: ErrorCode,
    expected: str,
    found: str,
    file: str | None,
    role: str | None,
    offset: int | None,
    number: int | None,
) -> FaroError:
    return FaroError(code, expected, found, file=file, role=role, offset=offset, errno=number)


_EXPECTED = 160
"""Characters of ``expected``, at most."""
_FOUND = 96
"""Characters of ``found``, at most."""
_FILE = 300
"""Characters of the file's path in a message, at most."""


def shortened(text: str, most: int) -> str:
    """Return a text of at most ``most`` characters, its middle left out if it is longer."""
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end - 5]} ... {text[-end:]}"


def told(value: object) -> str:
    """Return what was found as text; an integer that is too long to print by its size."""
    if isinstance(value, int) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    return str(value)


@dataclass(frozen=True, slots=True)
class Place:
    """One file in errors: its role (None if it is neither data, index nor single file), and its path."""

    role: str | None
    path: str

    def error(
        self, code: ErrorCode, offset: int | None, expected: str, found: object = "", *, errno: int | None = None
    ) -> FaroError:
        """Return an error of this file at an absolute byte offset."""
        return FaroError(code, expected, told(found), file=self.path, role=self.role, offset=offset, errno=errno)

    def checksum(self, offset: int, stored: int, computed: int) -> FaroError:
        """Return the error for a checksum that does not match (ERR-4)."""
        return self.error(ErrorCode.CHECKSUM, offset, f"stored {stored:08x}", f"computed {computed:08x}")

    def io(self, fault: OSError, doing: str) -> FaroError:
        """Return the ``io`` error for an error of the system."""
        if isinstance(fault, FaroError):
            # It already says which file, and why.
            return fault._copy()
        reason = os.strerror(fault.errno) if fault.errno else str(fault)
        return FaroError(ErrorCode.IO, doing, reason, file=self.path, role=self.role, errno=fault.errno)

    def taken(self) -> FaroError:
        """Return the ``io`` error for a name that exists (WRT-4)."""
        wanted = "no file of this name, or the option overwrite=True"
        return self.error(ErrorCode.IO, None, wanted, "a file", errno=errno.EEXIST)


class GapsWarning(UserWarning):
    """Rows are missing, or may be: blocks were consumed before a selective store wrote them (docs/hybrid.md)."""


class PartitionsWarning(UserWarning):
    """Outputs that are read together were partitioned in different ways: they may be of different shuffles."""


_LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
"""Where the code of the library is."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn the caller of the library: the warning names the line of its code, however deep in the library this is."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_LIBRARY):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def no_index(expected: str, found: object) -> FaroIndexError:
    """Return the error for a number in brackets that is none of the partitions."""
    return FaroIndexError(ErrorCode.INVALID_ARGUMENT, expected, told(found))


def invalid(expected: str, found: object = "") -> FaroError:
    """Return the error for a caller's mistake: neither file nor offset."""
    return FaroError(ErrorCode.INVALID_ARGUMENT, expected, told(found))
