"""Reading a finished output."""

from __future__ import annotations

import os

from faro.delivery import PartitionReader
from faro.error import invalid
from faro.index import Region, RegionCache
from faro.limits import DEFAULT_LIMITS, Limits
from faro.message import FooterMessage, Statistics
from faro.opening import Files, Opened, directory_entry, load_region, open_files, open_finished

Path = str | os.PathLike[str]

CACHE = 64 << 20
"""Bytes of region messages that a reader keeps by default."""


def output_paths(
    data: Path | None, index: Path | None, single: Path | None
) -> tuple[str | None, str | None, str | None]:
    """Return the paths as text, once it is sure that they are a pair or a single file."""
    if (data is None) != (index is None) or (single is None) == (data is None):
        raise invalid("either data and index, or single")
    paths = [None if path is None else os.fspath(path) for path in (data, index, single)]
    return paths[0], paths[1], paths[2]


class Reader(PartitionReader):
    """A finished output, opened (OPN-1). Opening reads headers, tail and footer, and no region or block."""

    def __init__(
        self,
        *,
        data: Path | None = None,
        index: Path | None = None,
        single: Path | None = None,
        limits: Limits = DEFAULT_LIMITS,
        verify: bool = True,
        cache: int = CACHE,
    ) -> None:
        """Open ``data`` and ``index``, or ``single``.

        Args:
            data: the path of the data file.
            index: the path of the index file.
            single: the path of a single file.
            limits: what the file may ask for.
            verify: whether the checksums of partition blocks are verified (INT-7).
            cache: bytes of region messages to keep.

        Raises:
            FaroError: the first check of OPN-1 that fails.
        """
        files, header = open_files(*output_paths(data, index, single))
        try:
            opened = open_finished(files, header, limits)
        except BaseException:
            files.close()
            raise
        super().__init__(files, header, limits, verify)
        self._opened = opened
        self._cache = RegionCache(cache)

    @property
    def files(self) -> Files:
        """The open files."""
        return self._files

    @property
    def opened(self) -> Opened:
        """What opening found: footer, its place, the schema message."""
        return self._opened

    @property
    def footer(self) -> FooterMessage:
        """The footer."""
        return self._opened.footer

    @property
    def region_count(self) -> int:
        """How many regions the file has."""
        return int(self.footer.regions.size)

    @property
    def properties(self) -> dict[str, str]:
        """The footer's properties. They are data: do not print them unescaped (SEC-4)."""
        return dict(self.footer.properties)

    @property
    def created_by(self) -> str | None:
        """The writing program, as its caller named it."""
        return self.footer.created_by

    @property
    def statistics(self) -> Statistics | None:
        """The footer's statistics, None when none were kept; a hint unless checked (FTR-6)."""
        return self.footer.statistics

    @property
    def schema_message(self) -> bytes | None:
        """The encapsulated Arrow schema message, with framing arrow."""
        return self._opened.schema

    def region(self, number: int) -> Region:
        """Return a region by its number, its message checked (REG-10)."""
        if not 0 <= number < self.region_count:
            raise invalid(f"a region below {self.region_count}", number)
        return self._cache.get(number, self._load)

    def _load(self, number: int) -> Region:
        return load_region(self._files, self.header, self._limits, directory_entry(self.footer, number))


def open_reader(name: Path, *, limits: Limits = DEFAULT_LIMITS, verify: bool = True) -> Reader:
    """Open ``NAME.faro`` if there is such a file, else ``NAME.data`` and ``NAME.index``; see :class:`Reader`."""
    base = os.fspath(name)
    single = base if base.endswith(".faro") else base + ".faro"
    if os.path.exists(single):
        return Reader(single=single, limits=limits, verify=verify)
    return Reader(data=base + ".data", index=base + ".index", limits=limits, verify=verify)
