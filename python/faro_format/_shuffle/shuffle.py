"""The outputs of all producers of a shuffle, as its consumers read them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, SupportsIndex

from faro_format import _arguments as arguments
from faro_format._error import PartitionsWarning, invalid, warn
from faro_format._limits import DEFAULT_LIMITS, Limits, check_limits
from faro_format._picture.plain import counted, printable
from faro_format._picture.sizes import Sizes
from faro_format._reader.gaps import is_any_in, warn_of
from faro_format._reader.partition import Partition, index_of, numbers_of, parts_of, source_for
from faro_format._shuffle.names import outputs_in, without_ending
from faro_format._shuffle.output import Access, Scanned, ShuffleOutput, scan
from faro_format._shuffle.partition import ShufflePartition
from faro_format._shuffle.sums import ShuffleSums, streams_text
from faro_format._shuffle.totals import Totals
from faro_format._storage.names import Path
from faro_format._tables.calls import Numbers, OutputTables

if TYPE_CHECKING:
    from faro_format._tables.selection import Columns, Selection, Types
    from faro_format._tables.source import Part

Progress = Callable[[int, int], object]
"""Called with how many outputs were looked at, and how many there are."""

_AT_ONCE = 16
"""How many outputs of an object store are opened at the same time."""


class Shuffle(OutputTables):
    """The outputs of a shuffle, one for each producer.

    ``len(shuffle)`` is how many outputs there are, and iterating yields them. ``shuffle[7]`` is partition 7 of all of
    them, as its consumer reads it. Files are open only while they are read.
    """

    def __init__(
        self,
        source: Path | Iterable[Path],
        *,
        storage_options: Mapping[str, Any] | None = None,
        limits: Limits = DEFAULT_LIMITS,
        verify: bool = True,
        recursive: bool = True,
        progress: Progress | None = None,
    ) -> None:
        """Find the outputs. Their footers are read when they are first needed.

        Args:
            source: a folder, a path or a URL of fsspec; or the NAMEs or URLs of outputs. Files of other programs in a
                folder are passed over.
            storage_options: with URLs, what fsspec passes to the filesystem.
            limits: of each reader.
            verify: whether the checksums of partition blocks are verified (INT-7).
            recursive: whether folders in the folder are searched too.
            progress: called with how many footers were read, and how many there are.

        Raises:
            FaroError: ``io`` if there is no such folder; ``invalid-argument``.
        """
        if progress is not None and not callable(progress):
            raise invalid("progress: a function of two numbers", arguments.shown(progress))
        if storage_options is not None and not isinstance(storage_options, Mapping):
            raise invalid("storage_options: a dict of options of the filesystem", arguments.shown(storage_options))
        self._access = Access(storage_options, check_limits(limits), arguments.flag("verify", verify))
        recursive = arguments.flag("recursive", recursive)
        self._progress = progress
        if isinstance(source, (str, os.PathLike)):
            self._name = _named(source)
            found = outputs_in(self._name, storage_options, recursive=recursive)
            self._paths, self._other_files = found.paths, found.other_files
        else:
            names = arguments.items("source", source, "a folder, or a list of NAMEs of outputs")
            self._paths = [_named(name) for name in names]
            self._name, self._other_files = f"{len(names)} outputs", 0
        if storage_options is not None and not any(map(arguments.is_url, [self._name, *self._paths])):
            raise invalid("storage_options with a URL only", "no URL")
        self._found: tuple[list[ShuffleOutput], ShuffleSums] | None = None

    def __enter__(self) -> Shuffle:
        """A shuffle has nothing to close; it can be used as a reader can."""
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def __len__(self) -> int:
        """Return how many outputs there are."""
        return len(self._paths)

    def __iter__(self) -> Iterator[ShuffleOutput]:
        """Yield the outputs, with what their footers say."""
        return iter(self.sum_up().outputs)

    def __getitem__(self, partition: SupportsIndex) -> Partition:
        """Return a partition of all outputs, by its absolute number.

        Raises:
            FaroError: ``invalid-argument``, which is an IndexError if no output has such a partition.
        """
        partitions = self.partitions
        return ShufflePartition(self, index_of(partition, partitions.start, partitions.stop))

    @property
    def partitions(self) -> range:
        """The absolute numbers from the first partition to the last of all outputs."""
        return self.sum_up().partitions

    def sum_up(self) -> ShuffleSums:
        """Return what the footers say, by partition and by output. Outputs with faults are in it, with their errors.

        The message of a region is read only if an output has no statistics. The footers are read once; later calls
        return the same.
        """
        if self._found is None:
            self._found = self._scan()
        return self._found[1]

    def without_faults(self) -> Shuffle:
        """Return a shuffle of the outputs that could be opened. What the others have is then missing in its rows."""
        good = [output for output in self if output.error is None]
        made = Shuffle(
            [output._path for output in good],
            storage_options=self._access.storage_options,
            limits=self._access.limits,
            verify=self._access.verify,
            progress=self._progress,
        )
        made._name, made._other_files = self._name, self._other_files
        return made

    def __repr__(self) -> str:
        """Return where it is, and how many outputs there are."""
        return f"<Shuffle {printable(self._name)}: {counted(len(self), 'output')}>"

    def _repr_html_(self) -> str:
        return self.sum_up()._repr_html_()

    def _select(self, partitions: Numbers, columns: Columns, types: Types) -> Selection:
        """Return rows of partitions: output after output, and in each its partitions as they were asked for."""
        # Without pyarrow, the message says how to get it.
        from faro_format._tables.selection import Selection

        outputs = self._readable()
        if not outputs:
            raise invalid("a shuffle with outputs, which say what columns there are", "none")
        every = self.partitions
        numbers = numbers_of(partitions, every.start, every.stop)
        with outputs[0].open() as reader:
            first = source_for(reader)
        found = Selection(first, lambda: self._parts(outputs, numbers), columns, types)
        self._warn(numbers)
        return found

    def _warn(self, numbers: range | list[int]) -> None:
        """Warn the caller if rows of these partitions are missing, or may be."""
        sums = self.sum_up()
        streams = sums._streams()
        if streams is not None and (streams["not_known"] or _any_in(sums._missing, numbers)):
            warn_of(self._name, streams_text(streams))

    def _parts(self, outputs: list[ShuffleOutput], numbers: range | list[int]) -> Iterator[Part]:
        for output in outputs:
            with output.open() as reader:
                yield from parts_of(reader, source_for(reader), _within(numbers, reader.partitions))

    def _readable(self) -> list[ShuffleOutput]:
        """Return all outputs, which together have each row once; with a warning if their partitions differ.

        Raises:
            FaroError: that of the first output with a fault; ``invalid-argument`` for several attempts of a producer,
                for an output beside its copy, and for a merged file beside other outputs.
        """
        outputs = list(self)
        attempts: dict[int, ShuffleOutput] = {}
        known: dict[tuple[bytes, int], ShuffleOutput] = {}
        for output in outputs:
            if output.error is not None:
                raise output.error._copy()
            header = output.header
            assert header is not None
            other = attempts.setdefault(header.producer, output)
            if other.header is not None and other.header.attempt != header.attempt:
                raise invalid(
                    f"one attempt of producer {header.producer}; pass the names of the outputs to read",
                    f"{printable(other.name)} and {printable(output.name)}",
                )
            if header.merged and len(outputs) > 1:
                wanted = "outputs, or one merged file; merge.with_originals() reads both"
                raise invalid(wanted, f"the merged file {printable(output.name)} among {len(outputs)} outputs")
            same = known.setdefault((header.file_id, header.first_partition), output)
            if same is not output:
                raise invalid(
                    "each output once; pass the names of the outputs to read",
                    f"{printable(same.name)} and {printable(output.name)}, which is a copy",
                )
        _warn_of_partitions(outputs)
        return outputs

    def _scan(self) -> tuple[list[ShuffleOutput], ShuffleSums]:
        outputs: list[ShuffleOutput] = []
        stored, plain, records, missing = Totals(), Totals(), Totals(), Totals()
        complete = True
        first, end = 2**32, 0
        for found in self._scanned():
            outputs.append(found.output)
            header, sizes = found.output.header, found.sizes
            if header is not None and sizes is not None:
                bounds = header.first_partition, header.end_partition
                first, end = min(first, bounds[0]), max(end, bounds[1])
                stored.add(*bounds, sizes.numbers, sizes.values, sizes.shared[0][2])
                if found.missing is not None:
                    missing.add(*bounds, found.missing.numbers, found.missing.values, found.missing.to_all)
                for totals, column in ((plain, found.plain), (records, found.records)):
                    if column is None:
                        complete = False
                    else:
                        totals.add(*bounds, column.numbers, column.values, column.to_all)
            if self._progress is not None:
                self._progress(len(outputs), len(self._paths))
        first = min(first, end)
        known = (plain.sizes(first, end), records.sizes(first, end)) if complete else (None, None)
        found_in_all = (stored.sizes(first, end), *known, missing.sizes(first, end))
        sums = ShuffleSums(self._name, tuple(outputs), range(first, end), self._other_files, *found_in_all)
        return outputs, sums

    def _scanned(self) -> Iterator[Scanned]:
        """Yield what each output's footer says, in order; those of object stores are read at the same time."""
        wanted = ((path, without_ending(path), self._access) for path in self._paths)
        if not any(map(arguments.is_url, self._paths)):
            for one in wanted:
                yield scan(*one)
            return
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            running: deque[Future[Scanned]] = deque()
            for one in wanted:
                running.append(threads.submit(scan, *one))
                if len(running) == _AT_ONCE:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()


def _named(name: object) -> str:
    return str(name) if arguments.is_url(name) else arguments.path("source", name)


def _warn_of_partitions(outputs: list[ShuffleOutput]) -> None:
    """Warn the caller if outputs were partitioned in different ways, in the words of the command."""
    first, count = None, 0
    divided: ShuffleOutput | None = None
    for output in outputs:
        header = output.header
        if header is None or header.merged:
            continue
        if first is None:
            first, count = output, header.partition_count
        elif header.partition_count != count:
            mine = counted(header.partition_count, "partition")
            other = f"{printable(first.name)} has {count}"
            warn(f"{printable(output.name)} has {mine}, but {other}: are they of one shuffle?", PartitionsWarning)
            return
        if output._division:
            divided = divided or output
            if output._division != divided._division:
                names = f"{printable(output.name)} is partitioned in another way than {printable(divided.name)}"
                warn(f"{names}: are they of one shuffle?", PartitionsWarning)
                return


def _any_in(missing: Sizes, numbers: range | list[int]) -> bool:
    """Whether blocks are missing of any of these partitions."""
    if any(each for *_, each in missing.shared):
        return bool(numbers)
    return is_any_in(missing.numbers, numbers)


def _within(numbers: range | list[int], partitions: range) -> range | list[int]:
    """Return the numbers that an output has."""
    if isinstance(numbers, range):
        low = min(max(numbers.start, partitions.start), partitions.stop)
        return range(low, max(low, min(numbers.stop, partitions.stop)))
    return [number for number in numbers if number in partitions]
