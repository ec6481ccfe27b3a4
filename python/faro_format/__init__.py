"""Faro: an open on-disk format for shuffle data.

    import faro_format as faro

    with faro.Writer("out", faro.WriterOptions(partition_count=8)) as writer:
        writer.write(3, b"a record")
    with faro.open("out") as reader:
        records = list(reader[3])

Tables are written by key, and come back as tables (docs/notebooks.md)::

    faro.write(frame, "orders", by="customer", partitions=16)
    frame = faro.open("orders")[7].to_pandas()

Every failure raises :class:`FaroError`, with a code of the specification's closed set and the offset in the file.
An error of the system is also an :class:`OSError` (:class:`FaroIOError`), and that of a missing file a
FileNotFoundError.
"""

from faro_format._block.block import Block
from faro_format._bytes.header import VERSION_MAJOR, VERSION_MINOR, FileHeader, FileKind, Framing
from faro_format._check.check import CheckLevel, CheckReport, check
from faro_format._codec import Codec
from faro_format._dictionaries import DictionaryEntry
from faro_format._error import ErrorCode, ErrorFamily, FaroError, FaroIOError, GapsWarning, PartitionsWarning
from faro_format._follow.follower import Follower
from faro_format._follow.watch import Watch
from faro_format._limits import Limits
from faro_format._message.messages import Statistics, Streams
from faro_format._pack.write import write
from faro_format._reader.delivery import PartitionReader
from faro_format._reader.figures import ReaderFigures
from faro_format._reader.partition import Partition
from faro_format._reader.reader import Reader
from faro_format._repair.clean import CleanReport, KeptFile, clean
from faro_format._repair.rebuild import rebuild
from faro_format._repair.recover import RecoverReport, recover
from faro_format._repair.repair import RepairReport, repair
from faro_format._shuffle.opening import open
from faro_format._shuffle.output import ShuffleOutput
from faro_format._shuffle.shuffle import Shuffle
from faro_format._shuffle.sums import ShuffleSums
from faro_format._writer.figures import WriterFigures
from faro_format._writer.listener import Listener
from faro_format._writer.options import WriterOptions
from faro_format._writer.region_writer import RegionWriter
from faro_format._writer.summary import Summary
from faro_format._writer.writer import Writer

__version__ = "0.1.0"

__all__ = [
    "VERSION_MAJOR",
    "VERSION_MINOR",
    "Block",
    "CheckLevel",
    "CheckReport",
    "CleanReport",
    "Codec",
    "DictionaryEntry",
    "ErrorCode",
    "ErrorFamily",
    "FaroError",
    "FaroIOError",
    "FileHeader",
    "FileKind",
    "Follower",
    "Framing",
    "GapsWarning",
    "KeptFile",
    "Limits",
    "Listener",
    "Partition",
    "PartitionReader",
    "PartitionsWarning",
    "Reader",
    "ReaderFigures",
    "RecoverReport",
    "RegionWriter",
    "RepairReport",
    "Shuffle",
    "ShuffleOutput",
    "ShuffleSums",
    "Statistics",
    "Streams",
    "Summary",
    "Watch",
    "Writer",
    "WriterFigures",
    "WriterOptions",
    "check",
    "clean",
    "open",
    "rebuild",
    "recover",
    "repair",
    "write",
]
