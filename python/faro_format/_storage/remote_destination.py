"""Outputs that are written to a filesystem of fsspec, for example an object store."""

from __future__ import annotations

import errno
import inspect
import os
import shutil
import tempfile
import threading
import uuid
from typing import Any

from faro_format import _arguments as arguments
from faro_format._bytes.header import HEADER_SIZE
from faro_format._error import invalid
from faro_format._storage.destination import ENDINGS, Destination, NewFile, Role
from faro_format._storage.remote_file import RemoteFile
from faro_format._storage.remote_output import shown_url
from faro_format._storage.s3_upload import S3Upload, head_object
from faro_format._storage.stored_file import as_os_error, closed
from faro_format._storage.stores import identity_of, is_s3

PART = 8 << 20
"""Bytes of a part of an upload."""
_MEMORY = 8 << 20
"""A file that is collected is in memory up to this size, and then in the folder for temporary files."""

_publishing = threading.Lock()


class RemoteDestination(Destination):
    """Writes an output to a filesystem of fsspec. ``Writer("s3://bucket/NAME", ...)`` makes one by itself.

    With s3fs, the parts of a file are sent while it is written, and publishing is conditional: of several writers of
    one name, one succeeds. Other filesystems get each file when it is published. If they can create a file on the
    condition that it does not exist (as gcsfs can), that is used. Else the file is put under a temporary name, and
    renamed after a look at its name: writers in several processes that publish one name at the same moment may
    replace one another's file.
    """

    def __init__(self, filesystem: Any, base: str, *, part_bytes: int = PART) -> None:  # noqa: ANN401
        """Name an output.

        Args:
            filesystem: a filesystem of fsspec that is not asynchronous.
            base: the path of its NAME there, without the protocol and without an ending.
            part_bytes: bytes of a part with s3fs, 5 MiB or more. A smaller file takes one request.

        Raises:
            FaroError: ``invalid-argument``.
        """
        if not callable(getattr(filesystem, "cat_ranges", None)) or not callable(getattr(filesystem, "open", None)):
            raise invalid("filesystem: a filesystem of fsspec", arguments.shown(filesystem))
        if getattr(filesystem, "asynchronous", False):
            raise invalid("filesystem: one that is not asynchronous", "asynchronous=True")
        self._filesystem = filesystem
        self._base = arguments.text("base", base)
        self._part_bytes = arguments.integer("part_bytes", part_bytes, 5 << 20, 5 << 30)
        self._is_s3 = is_s3(filesystem)

    def create(self, role: Role) -> NewFile:
        """Begin a file, without any request; see :class:`Destination`."""
        path = self._base + ENDINGS[role]
        if self._is_s3:
            return S3Upload(self._filesystem, path, self._name(path), self._part_bytes)
        return _Collected(self._filesystem, path, self._name(path))

    def taken(self, role: Role) -> str | None:
        """Return the URL of a file that exists; see :class:`Destination`."""
        path = self._base + ENDINGS[role]
        try:
            if self._is_s3:
                exists = head_object(self._filesystem, path) is not None
            else:
                exists = as_os_error(lambda: _exists(self._filesystem, path))
        except PermissionError:
            # Who may write need not be allowed to ask.
            return None
        return self._name(path) if exists else None

    def _name(self, path: str) -> str:
        return shown_url(self._filesystem.unstrip_protocol(path))


class _Collected(NewFile):
    """A file that is collected here, and put into the filesystem when it is published."""

    def __init__(self, filesystem: Any, path: str, name: str) -> None:  # noqa: ANN401
        self._filesystem = filesystem
        self._path = path
        self._name = name
        self._collected: Any = tempfile.SpooledTemporaryFile(_MEMORY)  # noqa: SIM115
        self._size = 0
        self._beginning = b""
        """The header, which has the file's id."""
        self._temporary: str | None = None
        self._named = False
        self._published: dict[str, str] | None = None

    @property
    def name(self) -> str:
        return self._name

    def append(self, data: bytes | memoryview) -> None:
        if self._collected is None:
            raise closed()
        self._collected.write(data)
        self._beginning += bytes(data[: HEADER_SIZE - len(self._beginning)])
        self._size += len(data)

    def publish(self, replace: bool) -> None:
        if self._collected is None:
            raise closed()
        self._collected.seek(0)
        try:
            as_os_error(lambda: self._put(replace))
        except FileExistsError as fault:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self._name) from fault
        self._published = as_os_error(lambda: identity_of(self._filesystem, self._path, self._name))
        self._forget()

    def _put(self, replace: bool) -> None:
        filesystem = self._filesystem
        if _creates(filesystem) and not replace:
            with tempfile.NamedTemporaryFile() as local:
                shutil.copyfileobj(self._collected, local)
                local.flush()
                filesystem.put_file(local.name, self._path, mode="create")
            self._named = True
            return
        self._temporary = f"{self._path}.{uuid.uuid4().hex[:8]}.tmp"
        with filesystem.open(self._temporary, "wb") as file:
            shutil.copyfileobj(self._collected, file)
        # One for all files, so that at least the writers of this process do not replace one another's.
        with _publishing:
            if not replace and _exists(filesystem, self._path):
                raise FileExistsError(self._path)
            # From here on the name may be this file's, even if the call fails: it may copy and then fail to remove.
            self._named = True
            filesystem.mv(self._temporary, self._path)
        self._temporary = None

    def remove(self) -> None:
        self._forget()
        temporary, self._temporary = self._temporary, None
        if temporary is not None and _exists(self._filesystem, temporary):
            as_os_error(lambda: self._filesystem.rm_file(temporary))
        if not self._named:
            return
        with _publishing:
            if as_os_error(lambda: _exists(self._filesystem, self._path)) and self._is_own():
                as_os_error(lambda: self._filesystem.rm_file(self._path))
        self._named, self._published = False, None

    def _is_own(self) -> bool:
        """Whether the file of the name is this one: it was not replaced since, or its beginning has this file's id."""
        if self._published is not None:
            found = as_os_error(lambda: identity_of(self._filesystem, self._path, self._name))
            return bool(found == self._published)
        beginning = as_os_error(lambda: self._filesystem.cat_file(self._path, 0, len(self._beginning)))
        return bool(beginning == self._beginning)

    def open(self) -> RemoteFile:
        if self._published is None:
            raise closed()
        return RemoteFile._written(self._filesystem, self._path, self._name, self._size, self._published)

    def close(self) -> None:
        if self._published is None:
            self.remove()

    def _forget(self) -> None:
        collected, self._collected = self._collected, None
        if collected is not None:
            collected.close()


def _exists(filesystem: Any, path: str) -> bool:  # noqa: ANN401
    # What a listing said may be old.
    filesystem.invalidate_cache(path)
    return bool(filesystem.exists(path))


def _creates(filesystem: Any) -> bool:  # noqa: ANN401
    """Whether a filesystem has its own way to create a file that does not exist."""
    put = getattr(type(filesystem), "_put_file", None)
    return put is not None and "mode" in inspect.signature(put).parameters
