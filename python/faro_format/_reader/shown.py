"""A reader as text and HTML, for people."""

from __future__ import annotations

from faro_format._error import FaroError
from faro_format._picture.fragments import bars, facts, skew_facts
from faro_format._picture.plain import counted, printable, size, thousands
from faro_format._reader.delivery import PartitionReader
from faro_format._reader.gaps import gaps_of
from faro_format._reader.sizes import record_count, sizes_of

_PROPERTIES = 20
"""Properties that are shown, at most."""


def name_of(reader: PartitionReader) -> str:
    """Return the NAME of an output, or the name of its file."""
    path = reader._files.index.place.path
    return path.removesuffix(".index") if reader._files.paired else path


def text_of(reader: PartitionReader) -> str:
    """Return a line about a reader."""
    header = reader.header
    gaps = gaps_of(reader)
    known = "" if gaps is None else f", {gaps.text()}"
    first = f" from {header.first_partition} on" if header.first_partition else ""
    return (
        f"<Reader {printable(name_of(reader))}: {counted(header.partition_count, 'partition')}{first}, "
        f"{counted(reader.region_count, 'region')}, framing {header.framing.name.lower()}{known}>"
    )


def facts_of(reader: PartitionReader) -> list[tuple[str, str]]:
    """Return what an output is, without the sizes of its partitions."""
    header, statistics = reader.header, reader.statistics
    files = [("single file", reader._files.index)]
    if reader._files.paired:
        files = [("data", reader._files.data), ("index", reader._files.index)]
    rows = [(role, f"{file.place.path}  {size(file.size)}") for role, file in files]
    merged = "merged" if header.merged else f"{header.producer}, attempt {header.attempt}"
    rows += [
        ("framing", header.framing.name.lower()),
        ("producer", merged),
        ("file id", header.file_id.hex()),
        ("regions", thousands(reader.region_count)),
    ]
    if reader.created_by is not None:
        rows.append(("created by", reader.created_by))
    if statistics is not None:
        to_all = statistics.records_to_all
        shared = f", {thousands(to_all)} of them for all partitions" if to_all else ""
        rows.append(("records", thousands(record_count(statistics)) + shared))
    gaps = gaps_of(reader)
    if gaps is not None:
        rows.append(("streams", gaps.text()))
    properties = list(reader.properties.items())
    rows += [(f"property {key}", value) for key, value in properties[:_PROPERTIES]]
    if len(properties) > _PROPERTIES:
        rows.append(("properties", f"{len(properties) - _PROPERTIES} more"))
    return rows


def html_of(reader: PartitionReader) -> str:
    """Return what an output is, with a picture of the sizes of its partitions; a fault in place of them."""
    rows = facts_of(reader)
    picture = ""
    try:
        sizes = sizes_of(reader)
    except FaroError as fault:
        rows.append(("fault", str(fault)))
    else:
        rows += skew_facts(sizes)
        picture = bars(sizes)
    return facts(f"Output {name_of(reader)}", rows, picture)
