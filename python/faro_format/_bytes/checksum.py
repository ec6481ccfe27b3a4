"""CRC-32C (INT-6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import google_crc32c

extend: Callable[[int, Any], int] = google_crc32c.extend
"""The CRC-32C of bytes, or of a contiguous array of bytes, after bytes whose checksum is the first argument."""


def crc32c(data: Any, seed: int = 0) -> int:  # noqa: ANN401 - bytes or a contiguous NumPy array of bytes
    """Return the CRC-32C of ``data``, after bytes whose checksum is ``seed``."""
    return extend(seed, data)
