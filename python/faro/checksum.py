"""CRC-32C (INT-6)."""

from __future__ import annotations

from typing import Any

import google_crc32c

_extend: Any = google_crc32c.extend


def crc32c(data: Any, seed: int = 0) -> int:  # noqa: ANN401 - bytes or a contiguous NumPy array of bytes
    """Return the CRC-32C of ``data``, behind bytes whose checksum is ``seed``."""
    checksum: int = _extend(seed, data)
    return checksum
