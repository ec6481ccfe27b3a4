"""Files that readers can read, wherever they are: local, in memory, in an object store, or in a store of the caller's.

    from faro_format import Reader, storage

    data, index = storage.MemoryFile(data_bytes), storage.MemoryFile(index_bytes)
    with Reader(stored=storage.StoredOutput.paired(data, index)) as reader:
        records = list(reader.records(3))

An output in an object store is opened by its URL: ``faro.open("s3://bucket/out")``. :class:`RemoteFile` is one file
of it. A store of the caller's is a class with the methods of :class:`StoredFile`; :func:`check_stored_file` tests it.
Outputs are written to a :class:`Destination`, for example memory; :func:`check_destination` tests one of the caller's.
Where the other modules raise FaroError with the code ``io``, a stored file raises an OSError, and the reader adds its
role.
"""

from faro_format._storage.destination import Destination, NewFile
from faro_format._storage.destination_check import check_destination
from faro_format._storage.local_file import LocalFile
from faro_format._storage.memory_destination import MemoryDestination
from faro_format._storage.memory_file import MemoryFile
from faro_format._storage.remote_destination import RemoteDestination
from faro_format._storage.remote_file import RemoteFile
from faro_format._storage.seekable_file import SeekableFile
from faro_format._storage.stored_file import StoredFile
from faro_format._storage.stored_file_check import check_stored_file
from faro_format._storage.stored_output import StoredOutput

__all__ = [
    "Destination",
    "LocalFile",
    "MemoryDestination",
    "MemoryFile",
    "NewFile",
    "RemoteDestination",
    "RemoteFile",
    "SeekableFile",
    "StoredFile",
    "StoredOutput",
    "check_destination",
    "check_stored_file",
]
