"""The encapsulation of Arrow messages (FRM-4)."""

from __future__ import annotations

import struct

_PREFIX = struct.Struct("<Ii")
_CONTINUATION = 0xFFFFFFFF


def encapsulation_fault(message: memoryview | bytes) -> str | None:
    """Return how an encapsulated Arrow message violates FRM-4, or None."""
    if len(message) < 8:
        return f"{len(message)} bytes"
    first, length = _PREFIX.unpack_from(message)
    if first != _CONTINUATION:
        return f"first bytes {bytes(message[:4]).hex(' ')}"
    if length < 8 or length % 8 or 8 + length > len(message):
        return f"metadata length {length} of {len(message)} bytes"
    return None
