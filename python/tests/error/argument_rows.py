"""What a row of the table of arguments is made of: what an argument takes, and outputs to call upon."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from support import FILE_ID

from faro_format import Follower, Reader, Writer, WriterOptions
from faro_format.arrow import ArrowWriter

Takes = Callable[[Any], bool]


def integer(least: int, most: int) -> Takes:
    def takes(value: Any) -> bool:
        if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
            return False
        try:
            return least <= operator.index(value) <= most
        except TypeError:
            return False

    return takes


def integers(least: int, most: int, lengths: range, *, sets: bool = False) -> Takes:
    def takes(value: Any) -> bool:
        if isinstance(value, dict) or (isinstance(value, set) and not sets):
            return False
        try:
            array = np.asarray(value if hasattr(value, "__array__") else list(value))
        except Exception:
            return False
        whole = array.ndim == 1 and (not array.size or array.dtype.kind in "iu") and array.size in lengths
        return whole and all(least <= int(number) <= most for number in array)

    return takes


def flag(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def among(*allowed: Any) -> Takes:
    return lambda value: (value is None or isinstance(value, str)) and value in allowed


def text(value: Any) -> bool:
    return isinstance(value, str) and "\ud800" not in value


def path(value: Any) -> bool:
    known = isinstance(value, (str, os.PathLike)) and value not in ("", "\0", "\ud800")
    return known and len(os.fspath(value)) < 100_000


def buffer(value: Any) -> bool:
    try:
        return memoryview(value).c_contiguous
    except (TypeError, ValueError, BufferError):
        return False


def anything(_: Any) -> bool:
    return True


def nothing(_: Any) -> bool:
    return False


def or_none(takes: Takes) -> Takes:
    return lambda value: value is None or takes(value)


@dataclass
class World:
    """Outputs to call upon, in a folder of their own."""

    folder: Path
    count: int = 0
    tabled: Any = None
    """What reads an output of tables."""

    def name(self) -> Path:
        self.count += 1
        return self.folder / f"out{self.count}"

    def writer(self, **more: Any) -> Writer:
        return Writer(self.name(), WriterOptions(3, file_id=FILE_ID, **more))

    def arrow_writer(self) -> ArrowWriter:
        return ArrowWriter(self.name(), pa.schema([("x", pa.int64())]), 3)

    def records(self, kind: Any = Reader) -> Any:
        name = self.name()
        with Writer(name, WriterOptions(3, file_id=FILE_ID)) as writer:
            writer.write(1, b"one")
        found = kind(name)
        if isinstance(found, Follower):
            found.poll()
        return found

    def tables(self) -> Reader:
        name = self.name()
        with ArrowWriter(name, pa.schema([("x", pa.int64())]), 3) as writer:
            writer.write(pa.table({"x": [1]}), [1])
        return Reader(name)

    def pair(self) -> dict[str, Any]:
        with self.records() as reader:
            return {"data": reader._files.data.place.path, "index": reader._files.index.place.path}


@dataclass
class Row:
    call: Callable[..., Any]
    argument: str
    takes: Takes
    act: Any
    """What takes a World and the value, and makes the call."""
    also: tuple[str, ...] = ()
    """Other arguments that a message may name, as they fit no more."""
