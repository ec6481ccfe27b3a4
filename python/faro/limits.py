"""What a reader allows a file to ask for (LIM-1)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a reader; a file that asks for more is refused with ``limit-exceeded`` before memory is taken."""

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


DEFAULT_LIMITS = Limits()
