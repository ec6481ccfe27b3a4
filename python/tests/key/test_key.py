"""Keys to partitions (KEY), and XXH64 in NumPy against the C library."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from faro_format import FaroError
from faro_format.key import encode_value, hash_columns, hash_key, partition_by_range, partition_columns
from faro_format.key._xxh64 import xxh64


@pytest.mark.parametrize(
    ("key", "expected", "partition"),
    [
        ((1,), 0x7BC759F3A16FD092, 18),
        (("1",), 0x562CC27FA1ECDF82, 2),
        ((None,), 0xE934A84ADB052768, 40),
        (("faro", -1), 0x40491B5B035F740F, 15),
    ],
)
def test_the_table_of_the_specification(key: tuple[Any, ...], expected: int, partition: int) -> None:
    assert hash_key(key) == expected
    columns = [[value] for value in key]
    assert hash_columns(columns).tolist() == [expected]
    assert partition_columns(columns, 64).tolist() == [partition]
    assert partition_columns(columns, 64, 100).tolist() == [100 + partition]


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.binary(max_size=120) | st.binary(min_size=1000, max_size=1100), max_size=30))
def test_xxh64(rows: list[bytes]) -> None:
    lengths = np.array([len(row) for row in rows], np.int64)
    data = np.frombuffer(b"".join(rows), np.uint8)
    found = xxh64(data, np.cumsum(lengths) - lengths, lengths)
    assert found.tolist() == [xxhash.xxh64_intdigest(row) for row in rows]


NUMBERS: list[np.ndarray[Any, Any]] = [
    np.array([True, False]),
    np.array([-1, 0, 127], np.int8),
    np.array([0, 2**63 - 1, 2**63, 2**64 - 1], np.uint64),
    np.array([-(2**63), 5], np.int64),
    np.array([0.0, -0.0, np.nan, -np.nan, 1.5, np.inf], np.float32),
    np.array([-0.0, 1e300], np.float64),
    np.array([1.5], np.float16),
]


@pytest.mark.parametrize("column", NUMBERS, ids=lambda column: str(column.dtype))
def test_columns_hash_as_their_values(column: np.ndarray[Any, Any]) -> None:
    expected = [hash_key([value]) for value in column.tolist()]
    assert hash_columns([column]).tolist() == expected
    assert hash_columns([pa.array(column)]).tolist() == expected
    assert hash_columns([column.tolist()]).tolist() == expected


ARROW: list[tuple[Any, list[Any]]] = [
    (pa.array(["a", None, "", "grüße" * 9]), ["a", None, "", "grüße" * 9]),
    (pa.array(["x", "ab", "c"], pa.large_string())[1:], ["ab", "c"]),
    (pa.array([b"a", None], pa.binary(1)), [b"a", None]),
    (pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
    (pa.array([None, None]), [None, None]),
    (pa.array([3, None, -4]), [3, None, -4]),
    (pa.array([True, None]), [True, None]),
    (pa.array([86400000, None], pa.timestamp("ms")), [86400000, None]),
    (pa.array([7, 9], pa.date32()), [7, 9]),
    (pa.array([Decimal("1.50"), None]), [Decimal("1.50"), None]),
    (pa.chunked_array([["a"], ["b", None]]), ["a", "b", None]),
    (pa.array([1.5, None, -0.0]), [1.5, None, 0.0]),
]


@pytest.mark.parametrize(("column", "values"), ARROW, ids=lambda value: str(getattr(value, "type", "")))
def test_arrow_columns_hash_as_their_values(column: Any, values: list[Any]) -> None:
    assert hash_columns([column]).tolist() == [hash_key([value]) for value in values]
    numbers = np.arange(len(values))
    expected = [hash_key([number, value, "end"]) for number, value in enumerate(values)]
    assert hash_columns([numbers, column, ["end"] * len(values)]).tolist() == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "00"),
        (True, "0101"),
        (-2, "02feffffffffffffff"),
        (2**63, "030000000000000080"),
        (1.5, "04000000000000f83f"),
        (-float("nan"), "04000000000000f87f"),
        ("ü", "0502000000c3bc"),
        (b"ab", "06020000006162"),
        (Decimal("-2E+1"), "07fe" + "ff" * 16),
    ],
)
def test_encodings_of_the_table(value: Any, expected: str) -> None:
    assert encode_value(value).hex() == expected


def test_encodings() -> None:
    assert encode_value(Decimal("-1.5")) == b"\x07" + (-15).to_bytes(16, "little", signed=True) + b"\x01"
    assert encode_value(Decimal("2E+3")) == b"\x07" + (2).to_bytes(16, "little") + b"\xfd"
    assert encode_value(np.uint8(5)) == encode_value(5) == b"\x02\x05" + bytes(7)
    assert encode_value(-0.0) == b"\x04" + bytes(8)
    for bad in (2**64, -(2**63) - 1, "\ud800", object(), Decimal("NaN"), Decimal(2**200)):
        with pytest.raises(FaroError, match="invalid-argument"):
            encode_value(bad)
    for columns in ([], [[1], [1, 2]]):
        with pytest.raises(FaroError, match="invalid-argument"):
            hash_columns(columns)


def test_ranges() -> None:
    keys: list[list[Any]] = [[None], [True], [4], [5], [2**63], [float("nan")], ["a"], [b"a"], [Decimal(1)], [5, "b"]]
    found = partition_by_range(keys, [[5], [5, "b"], ["a"]], 10)
    assert found.tolist() == [10, 10, 10, 11, 12, 12, 13, 13, 13, 12]
    assert partition_by_range([[6], ["A"], [5, None]], [[5], [5, "b"], ["a"]], 10).tolist() == [12, 12, 11]
    assert partition_by_range([[1], [2]], [[2], [2]]).tolist() == [0, 2]
    assert partition_by_range([[2]], [], 7).tolist() == [7]
    with pytest.raises(FaroError, match="invalid-argument"):
        partition_by_range([], [[2], [1]])


def test_order() -> None:
    ascending: list[list[Any]] = [
        *([None], [None, None], [False], [True], [-1], [7], [7, None], [7, "x"], [2**63], [2**64 - 1]),
        *([-math.inf], [-0.0], [1.5], [math.nan], ["A"], ["a"], ["ab"], ["\uffff"], ["\U0001f600"]),
        *([b""], [b"\1\2\3"], [b"\xff"], [Decimal("-1E+120")], [Decimal("-1.5")], [Decimal("1.4")]),
        *([Decimal("1.500")], [Decimal(2**64)], [Decimal("1E+100")]),
    ]
    for number, key in enumerate(ascending):
        assert partition_by_range([key], ascending).tolist() == [number + 1]
        assert partition_by_range([key], ascending[number + 1 :]).tolist() == [0]
