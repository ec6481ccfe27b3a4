"""The limits of a reader (LIM-1)."""

from __future__ import annotations

from dataclasses import dataclass, fields

from faro_format._arguments import instance, integer


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a reader. A file that needs more is refused with ``limit-exceeded`` before memory is allocated.

    Raises:
        FaroError: ``invalid-argument`` for a value that is not an integer from 0 to 2^64 - 1.
    """

    max_block_size: int = 64 << 20
    """Bytes of a partition block as stored."""
    max_plain_size: int = 64 << 20
    """Bytes of a partition block's plain payload."""
    max_message_size: int = 64 << 20
    """Bytes of a metadata block as stored."""
    max_regions: int = 1 << 20
    """Regions of a file."""
    max_dictionary_size: int = 1 << 20
    """Bytes of a dictionary."""
    max_dictionaries: int = 1024
    """Dictionaries of a file."""
    max_window_size: int = 8 << 20
    """Bytes of the window of a Zstandard frame."""

    def __post_init__(self) -> None:
        """Check all limits."""
        for field in fields(self):
            object.__setattr__(self, field.name, integer(field.name, getattr(self, field.name), 0, 2**64 - 1))


DEFAULT_LIMITS = Limits()


def check_limits(limits: Limits) -> Limits:
    """Return the argument ``limits`` of a caller, its type checked."""
    instance("limits", limits, Limits, "Limits(max_regions=1000)")
    return limits
