"""The encapsulation of Arrow messages (FRM-4)."""

from __future__ import annotations


def encapsulation_fault(message: memoryview | bytes) -> str | None:
    """Return how an encapsulated Arrow message violates FRM-4, or None."""
    if len(message) < 8:
        return f"{len(message)} bytes"
    if message[:4] != b"\xff\xff\xff\xff":
        return f"first bytes {bytes(message[:4]).hex(' ')}"
    length = int.from_bytes(message[4:8], "little", signed=True)
    if length < 8 or length % 8 or 8 + length > len(message):
        return f"metadata length {length} of {len(message)} bytes"
    return None
