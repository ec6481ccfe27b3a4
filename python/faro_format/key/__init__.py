"""From a key to a partition: a convention for tools that partition by columns (KEY). Not part of the file."""

from faro_format.key._encoding import Encoded, encode_value
from faro_format.key._keys import (
    encode_column,
    hash_columns,
    hash_key,
    order_key,
    partition_by_range,
    partition_columns,
)

__all__ = [
    "Encoded",
    "encode_column",
    "encode_value",
    "hash_columns",
    "hash_key",
    "order_key",
    "partition_by_range",
    "partition_columns",
]
