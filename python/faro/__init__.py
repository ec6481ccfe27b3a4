"""Faro: an open on-disk format for shuffle data.

    from faro import Writer, WriterOptions, open_reader

    with Writer("out", WriterOptions(partition_count=8)) as writer:
        writer.write(3, b"a record")
    with open_reader("out") as reader:
        records = list(reader.records(3))

What goes wrong raises :class:`FaroError`, with a code of the specification's closed set and the place in the file.
What the system refuses is an :class:`OSError` too (:class:`FaroIOError`), and a missing file a FileNotFoundError.
"""

from faro.block import Block
from faro.check import CheckReport, check
from faro.cleaning import CleanReport, KeptFile, clean
from faro.error import Code, FaroError, FaroIOError
from faro.follower import Follower
from faro.header import VERSION_MAJOR, VERSION_MINOR, FileHeader
from faro.limits import Limits
from faro.message import Statistics
from faro.options import WriterOptions
from faro.reader import Reader, open_reader
from faro.rebuilding import rebuild
from faro.recovery import RecoverReport, recover
from faro.region_writer import RegionWriter
from faro.repair import RepairReport, repair
from faro.writer import Writer

__version__ = "0.1.0"

__all__ = [
    "VERSION_MAJOR",
    "VERSION_MINOR",
    "Block",
    "CheckReport",
    "CleanReport",
    "Code",
    "FaroError",
    "FaroIOError",
    "FileHeader",
    "Follower",
    "KeptFile",
    "Limits",
    "Reader",
    "RecoverReport",
    "RegionWriter",
    "RepairReport",
    "Statistics",
    "Writer",
    "WriterOptions",
    "check",
    "clean",
    "open_reader",
    "rebuild",
    "recover",
    "repair",
]
