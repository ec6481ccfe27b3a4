"""What a writer has written."""

from __future__ import annotations

from dataclasses import dataclass, field

from faro_format._message.messages import Statistics
from faro_format._picture.fragments import bars, facts, skew_facts
from faro_format._picture.plain import printable, size, thousands
from faro_format._picture.sizes import Sizes, exact_sum, nonzero


@dataclass(frozen=True, repr=False)
class Summary:
    """A finished output, as :meth:`faro_format.Writer.finish` returns it."""

    files: tuple[str, ...]
    """The paths: of the data file and of the index file, or of the single file."""
    file_id: bytes
    """16 bytes."""
    regions: int
    blocks: int
    """Partition blocks, of all regions."""
    data_bytes: int
    """Bytes of the data file; in a single file, of the regions' blocks."""
    index_bytes: int
    """Bytes of the index file; in a single file, of everything else."""
    statistics: Statistics | None
    """Those of the footer; None without the option statistics."""
    _partitions: range = field(default=range(0), compare=False)

    def _facts(self) -> list[tuple[str, str]]:
        rows = [("files", ", ".join(self.files)), ("size", size(self.data_bytes + self.index_bytes))]
        if self.statistics is not None:
            vector = self.statistics.records
            own = 0 if vector is None else exact_sum(vector)
            rows.append(("records", thousands(own + self.statistics.records_to_all)))
        return [*rows, ("regions", thousands(self.regions)), ("blocks", thousands(self.blocks))]

    def __repr__(self) -> str:
        """Return what was written, in a line."""
        known = ", ".join(f"{name} {printable(value)}" for name, value in self._facts())
        return f"<Summary: {known}>"

    def _repr_html_(self) -> str:
        rows = [*self._facts(), ("file id", self.file_id.hex())]
        if self.statistics is None or not self._partitions:
            return facts("Written", rows)
        first, end = self._partitions.start, self._partitions.stop
        shared = [(first, end, self.statistics.stored_to_all)]
        sizes = Sizes(first, end, *nonzero(self.statistics.stored, first), shared)
        return facts("Written", rows + skew_facts(sizes), bars(sizes))
