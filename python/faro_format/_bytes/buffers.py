"""Buffers of bytes from callers."""

from __future__ import annotations

from typing import Any

from faro_format._arguments import shown
from faro_format._error import invalid


def as_bytes(data: Any, name: str) -> memoryview:  # noqa: ANN401
    """Return any contiguous buffer as bytes; ``invalid-argument`` with the argument's name for anything else."""
    try:
        view = memoryview(data)
        return view.cast("B") if view.nbytes else memoryview(b"")
    except (TypeError, ValueError, BufferError) as fault:
        hint = "; encode text first" if isinstance(data, str) else ""
        raise invalid(f"{name}: bytes or another contiguous buffer{hint}", shown(data)) from fault
