"""Arrow tables in and out (framing arrow).

Needs pyarrow, which the extra ``arrow`` of this library installs: ``pip install './python[arrow]'`` in a copy of its
source.
"""

from faro_format.arrow._tables import (
    ArrowWriter,
    read_batches,
    read_partitions,
    read_records,
    read_schema,
    read_table,
    unpacked,
)

__all__ = [
    "ArrowWriter",
    "read_batches",
    "read_partitions",
    "read_records",
    "read_schema",
    "read_table",
    "unpacked",
]
