"""Following an output that a writer is still appending to (FOL)."""

from __future__ import annotations

from collections.abc import Iterator

from faro_format._arguments import flag
from faro_format._block.block import Block
from faro_format._bytes.header import FileHeader
from faro_format._error import ErrorCode, FaroError
from faro_format._follow.walk import Walk
from faro_format._follow.watch import Watch
from faro_format._index.regions import Region, RegionCache
from faro_format._limits import DEFAULT_LIMITS, Limits, check_limits
from faro_format._message.messages import FooterMessage
from faro_format._reader.delivery import PartitionReader
from faro_format._reader.extents import Sequences
from faro_format._reader.opening import Files, load_region, open_files
from faro_format._reader.reader import CACHE, check_cache
from faro_format._storage.names import Path, paths_to_read
from faro_format._storage.stored_output import StoredOutput


class Follower(PartitionReader):
    """Sees each region after it was committed, and reads committed regions like a :class:`faro_format.Reader`.

    One thread may poll while others read.
    """

    def __init__(
        self,
        name: Path | None = None,
        *,
        data: Path | None = None,
        index: Path | None = None,
        single: Path | None = None,
        limits: Limits = DEFAULT_LIMITS,
        verify: bool = True,
        cache: int = CACHE,
    ) -> None:
        """Open files that have their headers and, with framing arrow, their schema (FOL-1).

        Args: as those of :class:`faro_format.Reader`.

        Raises:
            FaroError: the first fault of the headers; ``unfinished`` if the schema is not there yet;
                ``invalid-argument``.
        """
        limits, verify, cache = check_limits(limits), flag("verify", verify), check_cache(cache)
        self._begin(*open_files(paths_to_read(name, data, index, single)), limits, verify=verify, cache=cache)

    def _begin(self, files: Files, header: FileHeader, limits: Limits, *, verify: bool, cache: int) -> None:
        try:
            self._walk = Walk(files, header, limits, verify=verify)
        except BaseException:
            files.close()
            raise
        super().__init__(files, header, limits, verify)
        self._cache = RegionCache(cache)
        self._polling = False

    @classmethod
    def _of_stored(cls, output: StoredOutput) -> Follower:
        """Follow files of this library that grow."""
        follower = object.__new__(cls)
        follower._begin(*open_files(output), DEFAULT_LIMITS, verify=True, cache=CACHE)
        return follower

    def poll(self) -> bool:
        """Look for regions committed since the last time.

        Returns:
            Whether the file is finished, so that no more will come.

        Raises:
            FaroError: the first fault of what was appended; the regions before it stay valid. ``io`` if an
                earlier poll was interrupted: its state is unknown, and another follower has to be opened.
        """
        if self._polling:
            wanted = "the poll before to end; open another follower"
            raise FaroError(ErrorCode.IO, wanted, "one that was interrupted, or that another thread makes")
        self._polling = True
        try:
            self._walk.go_on()
        except FaroError:
            # After a refusal the walk has not moved.
            self._polling = False
            raise
        self._polling = False
        return self._walk.finished

    def watch(self, partition: int) -> Watch:
        """Read a partition from region 0 on, as its regions come (FOL-7).

        ::

            watch = follower.watch(2)
            finished = False
            while not finished:
                finished = follower.poll()
                for block in watch.blocks():
                    consume(block.payload)
                # Wait a moment here, unless the file is finished: the writer is still at work.

        Args:
            partition: its absolute number.

        Raises:
            FaroError: ``invalid-argument`` (PRT-2).
        """
        return object.__new__(Watch)._begin(self._watched(self._check_partition(partition)))

    def _watched(self, partition: int) -> Iterator[Block | None]:
        """Yield the blocks of a partition, and None whenever all regions that were seen are read."""
        sequences = Sequences()
        number = 0
        while True:
            while number < self.region_count:
                for extent in self._extents_of(number, partition):
                    yield from self._extent(extent, sequences)
                number += 1
            yield None

    @property
    def finished(self) -> bool:
        """Whether the last poll saw the file's end."""
        return self._walk.finished

    @property
    def region_count(self) -> int:
        """How many regions the last poll saw committed."""
        return len(self._walk.regions)

    @property
    def _footer(self) -> FooterMessage | None:
        """The footer, after it was seen."""
        return self._walk.footer

    @property
    def schema_message(self) -> bytes | None:
        """The encapsulated Arrow schema message, with framing arrow."""
        return self._walk.schema

    def _region(self, number: int) -> Region:
        """Return a committed region by its number."""
        return self._cache.get(number, self._load)

    def _load(self, number: int) -> Region:
        return load_region(self._files, self.header, self._limits, self._walk.regions[number])
