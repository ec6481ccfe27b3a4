"""Checks the arguments of a writer's calls: batches of records, and kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from faro_format._arguments import integer, integers
from faro_format._block.block import PARTITION_KINDS
from faro_format._bytes.buffers import as_bytes
from faro_format._bytes.spans import Bytes, Ints
from faro_format._error import invalid
from faro_format._writer.options import WriterOptions


def check_batch(
    options: WriterOptions,
    partitions: npt.ArrayLike,
    offsets: npt.ArrayLike,
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
    raw = np.frombuffer(as_bytes(data, "data"), np.uint8)
    first = options.first_partition
    numbers = integers("partitions", partitions, first, options._end_partition - 1)
    bounds = integers("offsets", offsets, 0, raw.size)
    if bounds.size != numbers.size + 1:
        if numbers.size or bounds.size:
            raise invalid(f"offsets: {numbers.size + 1} of them, one more than partitions", bounds.size)
        bounds = np.zeros(1, np.int64)
    if (bounds[1:] < bounds[:-1]).any():
        raise invalid("offsets: integers that ascend")
    return numbers - first, bounds, raw


def check_kind(kind: object, *, event: bool = False) -> int:
    """Return the kind of a block: data or an event's, or with ``event`` only an event's (BLK-2)."""
    number = integer("kind", kind, int(event), 127)
    if number not in PARTITION_KINDS:
        raise invalid(f"kind: {'' if event else '0 for data, or '}1 or 64 to 127 for an event", number)
    return number
