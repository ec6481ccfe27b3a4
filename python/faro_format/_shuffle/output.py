"""One output of a shuffle: how it is opened, and what its footer says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from faro_format._bytes.header import FileHeader
from faro_format._bytes.spans import Ints, U64s
from faro_format._error import FaroError
from faro_format._limits import Limits
from faro_format._picture.plain import printable, size, thousands
from faro_format._picture.sizes import Sizes, exact_sum, nonzero
from faro_format._reader.gaps import Gaps, gaps_of, missing_of
from faro_format._reader.reader import Reader
from faro_format._reader.sizes import record_count, sizes_of

BINS = 64
"""Columns of the heat map."""
_MESSAGE = 1000
"""Characters of an error in a table, at most."""


@dataclass(frozen=True)
class Access:
    """How the outputs of a shuffle are opened."""

    storage_options: Mapping[str, Any] | None
    limits: Limits
    verify: bool

    def open(self, path: str) -> Reader:
        """Open an output by the name of one of its files, or its NAME."""
        return Reader(path, storage_options=self.storage_options, limits=self.limits, verify=self.verify)


@dataclass(frozen=True, repr=False)
class ShuffleOutput:
    """One output of a :class:`faro_format.Shuffle`, with what its headers and its footer say."""

    name: str
    """Its NAME, or its URL."""
    error: FaroError | None
    """Why it cannot be read; None if it could be opened. Its blocks were not read."""
    header: FileHeader | None
    """None if it could not be opened."""
    file_bytes: int
    """Bytes of its files."""
    stored_bytes: int
    """Stored bytes that its partitions read, all together."""
    plain_bytes: int | None
    """Plain bytes of these, as the statistics say; None without statistics."""
    records: int | None
    """Its records, as the statistics say; None without statistics. One for all partitions counts once, one for some of
    them counts for each."""
    missing_blocks: int | None
    """Blocks that were consumed before they were stored, of a selective output; None if it is not known."""
    _path: str = field(compare=False)
    _access: Access = field(compare=False)
    _profile: tuple[float, ...] = field(compare=False)
    """Stored bytes by bins of its partitions."""
    _gaps: Gaps | None = field(compare=False, default=None)
    """Of a selective output."""
    _division: tuple[str, ...] = field(compare=False, default=())
    """How keys became partitions, as :func:`faro_format.write` and ``faro pack`` record it; empty if they did not."""

    def open(self) -> Reader:
        """Open the output."""
        return self._access.open(self._path)

    def __repr__(self) -> str:
        """Return its name and its size, or its fault."""
        if self.error is not None:
            return f"<ShuffleOutput {printable(self.name)}: {self.error.code}>"
        records = "" if self.records is None else f", {thousands(self.records)} records"
        return f"<ShuffleOutput {printable(self.name)}: {size(self.stored_bytes)}{records}>"

    def _row(self) -> dict[str, Any]:
        """Return it as a row of a table; what is not known is None."""
        header, error = self.header, self.error
        known = header is not None
        return {
            "output": printable(self.name),
            "producer": None if header is None or header.merged else header.producer,
            "attempt": None if header is None else header.attempt,
            "first_partition": None if header is None else header.first_partition,
            "partitions": None if header is None else header.partition_count,
            "file_bytes": self.file_bytes if known else None,
            "stored_bytes": self.stored_bytes if known else None,
            "plain_bytes": self.plain_bytes,
            "records": self.records,
            "missing_blocks": self.missing_blocks,
            "fault": None if error is None else str(error.code),
            "message": None if error is None else printable(str(error), _MESSAGE),
        }


@dataclass(frozen=True)
class Column:
    """One number of each partition of an output."""

    numbers: Ints
    """The partitions of which it is not zero, without :attr:`to_all`."""
    values: U64s
    to_all: int


@dataclass(frozen=True)
class Scanned:
    """What was learnt of an output, with a number for each partition that has bytes of its own."""

    output: ShuffleOutput
    sizes: Sizes | None = None
    plain: Column | None = None
    records: Column | None = None
    missing: Column | None = None
    """Blocks that are missing."""


def scan(path: str, name: str, access: Access) -> Scanned:
    """Open an output, and look at its footer; at its regions only if there are no statistics."""
    try:
        with access.open(path) as reader:
            return _scanned(reader, path, name, access)
    except FaroError as fault:
        return Scanned(ShuffleOutput(name, fault._copy(), None, 0, 0, None, None, None, path, access, ()))


def _scanned(reader: Reader, path: str, name: str, access: Access) -> Scanned:
    header, statistics = reader.header, reader.statistics
    sizes = sizes_of(reader)
    plain = records = None
    if statistics is not None:
        first = header.first_partition
        plain = Column(*nonzero(statistics.plain, first), statistics.plain_to_all)
        records = Column(*nonzero(statistics.records, first), statistics.records_to_all)
    gaps = gaps_of(reader)
    numbers, values, shared = missing_of(reader)
    files = {id(file): file.size for file in (reader._files.data, reader._files.index)}
    output = ShuffleOutput(
        name=name,
        error=None,
        header=header,
        file_bytes=sum(files.values()),
        stored_bytes=sizes.total,
        plain_bytes=None if plain is None else _total(plain, header),
        records=None if statistics is None else record_count(statistics),
        missing_blocks=0 if gaps is None else gaps.missing if gaps.known else None,
        _path=path,
        _access=access,
        _profile=tuple(one.total for one in sizes.bins(BINS)),
        _gaps=gaps,
        _division=_division_of(reader),
    )
    return Scanned(output, sizes, plain, records, Column(numbers, values, shared))


def _division_of(reader: Reader) -> tuple[str, ...]:
    properties = reader.properties
    if "faro.pack.method" not in properties:
        return ()
    # `faro pack` records the types of text columns too.
    names = [column.partition(":")[0] for column in properties.get("faro.pack.by", "").split(",")]
    return (properties["faro.pack.method"], properties.get("faro.pack.bounds", ""), *names)


def _total(column: Column, header: FileHeader) -> int:
    return exact_sum(column.values) + header.partition_count * column.to_all
