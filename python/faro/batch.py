"""What callers hand over, checked: buffers of bytes and batches of records."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from faro.error import invalid
from faro.gather import Bytes, Ints
from faro.options import WriterOptions


def as_bytes(data: Any) -> memoryview:  # noqa: ANN401
    """Return any contiguous buffer as bytes; ``invalid-argument`` if it is none."""
    try:
        view = memoryview(data)
        return view.cast("B") if view.nbytes else memoryview(b"")
    except (TypeError, ValueError) as fault:
        raise invalid("a contiguous buffer of bytes", type(data).__name__) from fault


def check_batch(
    options: WriterOptions,
    partitions: npt.NDArray[Any],
    offsets: npt.NDArray[Any],
    data: Any,  # noqa: ANN401
) -> tuple[Ints, Ints, Bytes]:
    """Check a batch of records (WRT-1).

    Args:
        options: the writer's.
        partitions: shape (n,), absolute numbers.
        offsets: shape (n + 1,), ascending, in bytes of ``data``.
        data: any contiguous buffer.

    Returns:
        The partitions less first_partition, the offsets, and the bytes.

    Raises:
        FaroError: ``invalid-argument``.
    """
    numbers, bounds = np.asarray(partitions), np.asarray(offsets)
    raw = np.frombuffer(as_bytes(data), np.uint8)
    if numbers.ndim != 1 or bounds.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise invalid("arrays of integers")
    if bounds.size != numbers.size + 1 or bounds.dtype.kind not in "iu":
        raise invalid(f"{numbers.size + 1} integer offsets", bounds.size)
    if not numbers.size:
        return np.zeros(0, np.int64), np.zeros(1, np.int64), raw
    first, end = options.first_partition, options.end_partition
    if int(numbers.min()) < first or int(numbers.max()) >= end:
        raise invalid(f"partitions from {first} to {end - 1}", f"{numbers.min()} to {numbers.max()}")
    if int(bounds[0]) < 0 or int(bounds[-1]) > raw.size or (bounds[1:] < bounds[:-1]).any():
        raise invalid(f"ascending offsets in {raw.size} bytes")
    return numbers.astype(np.int64) - first, bounds.astype(np.int64), raw
