"""What the footers of a shuffle's outputs say: by partition and by producer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from faro_format import _arguments as arguments
from faro_format._bytes.spans import Ints
from faro_format._picture.fragments import bars, facts, heat_map, skew_facts, table
from faro_format._picture.plain import counted, printable, size, thousands
from faro_format._picture.sizes import Sizes
from faro_format._reader.gaps import NOT_KNOWN, missing_text
from faro_format._shuffle.output import BINS, ShuffleOutput

_LISTED = 1 << 16
"""Partitions that a table lists although they are empty; of more, those that have bytes of their own."""
_ROWS = 32
"""Rows of the heat map."""
_FAULTS = 10
"""Faults that are listed for people."""


@dataclass(frozen=True, repr=False)
class ShuffleSums:
    """What the outputs of a shuffle have, as :meth:`faro_format.Shuffle.sum_up` returns it.

    DuckDB, Polars, pyarrow and pandas 3 take it as the table that :meth:`to_arrow` returns.
    """

    name: str
    """The folder, or what the outputs are, for people."""
    outputs: tuple[ShuffleOutput, ...]
    """All of them, also those with faults."""
    partitions: range
    """The absolute numbers from the first partition to the last of all outputs."""
    other_files: int
    """Files in the folder that are of no output: those of other programs, and those that are not published."""
    _stored: Sizes
    _plain: Sizes | None
    """None if an output has no statistics."""
    _records: Sizes | None
    _missing: Sizes
    """Blocks that are missing, as far as it is known."""

    @property
    def stored_bytes(self) -> int:
        """Stored bytes that all partitions read from outputs without faults."""
        return self._stored.total

    @property
    def records(self) -> int | None:
        """Records, as the statistics say; None if an output has none. One for all partitions counts once."""
        return None if self._records is None else sum(output.records or 0 for output in self.outputs)

    @property
    def skew(self) -> float:
        """The largest partition as a multiple of the mean; 0 if all are empty."""
        return self._stored.skew

    @property
    def faults(self) -> tuple[ShuffleOutput, ...]:
        """The outputs that cannot be read, such as damaged and unfinished ones; ``error`` says why."""
        return tuple(output for output in self.outputs if output.error is not None)

    @property
    def with_gaps(self) -> tuple[ShuffleOutput, ...]:
        """The outputs that lack blocks, which were consumed before they were stored, or may lack some."""
        return tuple(output for output in self.outputs if output.error is None and output.missing_blocks != 0)

    def largest(self, count: int = 5) -> list[tuple[int, int]]:
        """Return the largest partitions, the largest first: number and stored bytes."""
        wanted = arguments.integer("count", count, 0, 2**31)
        return [(number, round(found)) for number, found in self._stored.largest(wanted)]

    def to_arrow(self, by: Literal["partition", "output"] = "partition") -> Any:  # noqa: ANN401 - pyarrow ships no types
        """Return a pyarrow Table.

        Args:
            by: ``partition``: a row for each, with ``partition``, ``stored_bytes``, ``plain_bytes`` and ``records``; of
                more than 65,536 partitions, those that have bytes of their own. ``output``: a row for each output, with
                its name, producer, attempt, counts and sizes, the code of its fault and the whole message.
        """
        arguments.choice("by", by, ("partition", "output"))
        from faro_format._pyarrow import pa

        if by == "output":
            return pa.Table.from_pylist([_bounded(output._row()) for output in self.outputs], _output_schema())
        numbers = self._listed()
        columns = {"partition": pa.array(numbers)}
        for name, sizes in (("stored_bytes", self._stored), ("plain_bytes", self._plain), ("records", self._records)):
            if sizes is None:
                columns[name] = pa.nulls(numbers.size, pa.uint64())
            else:
                columns[name] = pa.array(_exact(sizes, numbers), pa.uint64())
        return pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the table by partition as a stream of Arrow's C interface."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _listed(self) -> Ints:
        if len(self.partitions) <= _LISTED:
            return np.arange(self.partitions.start, self.partitions.stop, dtype=np.int64)
        return self._stored.numbers

    def _facts(self) -> list[tuple[str, str]]:
        faults = self.faults
        outputs = thousands(len(self.outputs)) + (f", {len(faults)} with faults" if faults else "")
        if self.other_files:
            outputs += f"; {counted(self.other_files, 'other file')}"
        rows = [("outputs", outputs)]
        rows.append(("size", size(self.stored_bytes)))
        if self.records is not None:
            rows.append(("records", thousands(self.records)))
        if (found := self._streams()) is not None:
            rows.append(("streams", streams_text(found)))
        return rows + skew_facts(self._stored)

    def _streams(self) -> dict[str, int] | None:
        """Return what selective outputs say of their streams, for programs; None without such outputs."""
        gaps = [output._gaps for output in self.outputs if output._gaps is not None]
        if not gaps:
            return None
        return {
            "outputs": len(gaps),
            "with_gaps": sum(one.missing > 0 for one in gaps),
            "not_known": sum(not one.known for one in gaps),
            "blocks": sum(one.blocks for one in gaps),
            "missing": sum(one.missing for one in gaps),
        }

    def __repr__(self) -> str:
        """Return the sums in a line."""
        known = ", ".join(f"{name} {value}" for name, value in self._facts())
        return f"<ShuffleSums of {printable(self.name)}: {known}>"

    def _repr_html_(self) -> str:
        parts = [bars(self._stored), heat_map(*self._heat())]
        faults = self.faults
        if faults:
            rows = [(output.name, str(output.error)) for output in faults[:_FAULTS]]
            more = f" ({_FAULTS} of {len(faults)} are shown)" if len(faults) > _FAULTS else ""
            parts.append(facts(f"Faults{more}", [], table(("output", "fault"), rows)))
        return facts(f"Shuffle {self.name}", self._facts(), *parts)

    def _heat(self) -> tuple[list[list[float]], str]:
        """Return the stored bytes of outputs by partitions, some together, and what that is."""
        good = [output for output in self.outputs if output.header is not None]
        each = max(1, -(-len(good) // _ROWS))
        rows = []
        for begin in range(0, len(good), each):
            row = np.zeros(min(BINS, max(len(self.partitions), 1)))
            for output in good[begin : begin + each]:
                row += _profile(output, self.partitions, row.size)
            rows.append(row.tolist())
        outputs = "a row for each output" if each == 1 else f"a row for {each} outputs"
        return rows, f"Stored bytes: {outputs}, from top to bottom, and partitions from left to right"


def streams_text(found: Mapping[str, int]) -> str:
    """Return what selective outputs say of their streams, for people."""
    if not found["with_gaps"] and not found["not_known"]:
        return "complete"
    parts = []
    if found["with_gaps"]:
        lacking = missing_text(found["missing"], found["blocks"])
        parts.append(f"{counted(found['with_gaps'], 'output')} with gaps: {lacking}")
    if found["not_known"]:
        parts.append(f"{NOT_KNOWN} of {counted(found['not_known'], 'output')}")
    return "; ".join(parts)


def _exact(sizes: Sizes, numbers: Ints) -> list[int]:
    """Return the numbers of some partitions, beyond 2^53 too; the largest of 64 bits for what is above."""
    own = dict(zip(sizes.numbers.tolist(), sizes.values.tolist(), strict=True))
    # Few ranges with a sum: most shuffles have one.
    shared = [(first, end, each) for first, end, each in sizes.shared if each]
    found = []
    for number in numbers.tolist():
        total = own.get(number, 0) + sum(each for first, end, each in shared if first <= number < end)
        found.append(min(total, 2**64 - 1))
    return found


def _profile(output: ShuffleOutput, partitions: range, columns: int) -> Sequence[float] | Any:  # noqa: ANN401
    """Return the bytes of an output in columns of the shuffle's partitions."""
    header, mine = output.header, output._profile
    if header is None or not mine:
        return np.zeros(columns)
    if range(header.first_partition, header.end_partition) == partitions and len(mine) == columns:
        return np.array(mine)
    # Another range: each of its bins goes to the column of its middle.
    width = header.partition_count / len(mine)
    middles = header.first_partition + width * (np.arange(len(mine)) + 0.5) - partitions.start
    at = np.clip((middles / len(partitions) * columns).astype(np.int64), 0, columns - 1)
    row = np.zeros(columns)
    np.add.at(row, at, np.array(mine))
    return row


def _bounded(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose sums fit into 64 bits."""
    return {name: min(value, 2**64 - 1) if isinstance(value, int) else value for name, value in row.items()}


def _output_schema() -> Any:  # noqa: ANN401
    from faro_format._pyarrow import pa

    of_output = ("producer", "attempt", "first_partition", "partitions", "file_bytes")
    numbers = (*of_output, "stored_bytes", "plain_bytes", "records", "missing_blocks")
    return pa.schema(
        [("output", pa.string())]
        + [(name, pa.uint64()) for name in numbers]
        + [("fault", pa.string()), ("message", pa.string())]
    )
