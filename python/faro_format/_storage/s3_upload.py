"""A file that is written to S3: a multipart upload, or one request if the file is small."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import uuid
from collections import deque
from concurrent.futures import Future
from typing import Any

from faro_format._fsspec import wait_for
from faro_format._storage.destination import NewFile
from faro_format._storage.remote_file import RemoteFile
from faro_format._storage.stored_file import as_os_error, closed
from faro_format._storage.stores import code_of

_AT_ONCE = 4
"""How many parts are on their way at the same time."""
_DOUBLED = 1000
"""Parts get twice as large after so many, because S3 accepts 10,000 of them."""
_MARK = "faro-upload"
"""The metadata by which a file is known to be this one's."""
_REFUSED = ("PreconditionFailed", "412", "ConditionalRequestConflict", "409", "NoSuchUpload", "404")
"""Answers to publishing that another writer causes, or an earlier attempt of the client whose answer was lost."""


class S3Upload(NewFile):
    """A file of s3fs that is being written."""

    def __init__(self, filesystem: Any, path: str, name: str, part_bytes: int) -> None:  # noqa: ANN401
        """Begin without any request."""
        self._filesystem = filesystem
        self._path = path
        self._name = name
        self._part_bytes = part_bytes
        bucket, key, _ = filesystem.split_path(path)
        self._object = {"Bucket": bucket, "Key": key}
        self._mark = uuid.uuid4().hex
        self._pending: bytearray | None = bytearray()
        self._upload: str | None = None
        self._running: deque[Future[dict[str, Any]]] = deque()
        self._parts: list[dict[str, Any]] = []
        self._sent = 0
        self._tried = False
        self._published: str | None = None

    @property
    def name(self) -> str:
        """Its URL."""
        return self._name

    def append(self, data: bytes | memoryview) -> None:
        """Keep the bytes until they are a part, and then send that."""
        if self._pending is None:
            raise closed()
        self._pending += data
        size = self._part_bytes
        if not self._filesystem.fixed_upload_size:
            size <<= (len(self._parts) + len(self._running)) // _DOUBLED
        while len(self._pending) >= size:
            part = bytes(memoryview(self._pending)[:size])
            del self._pending[:size]
            as_os_error(lambda part=part: self._send(part))  # type: ignore[misc]

    def publish(self, replace: bool) -> None:
        """Send the rest, and complete the upload on the condition that no such object exists."""
        if self._pending is None:
            raise closed()
        rest = bytes(self._pending)
        condition = {} if replace else {"IfNoneMatch": "*"}
        if self._upload is not None:
            if rest:
                as_os_error(lambda: self._send(rest))
            as_os_error(lambda: self._collect(0))
        self._tried = True
        try:
            self._published = as_os_error(lambda: self._complete(rest, condition))
        except OSError as fault:
            if code_of(fault) not in _REFUSED or (found := self._found()) is None:
                raise
            if not self._is_own(found):
                if replace:
                    raise
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self._name) from fault
            # An earlier attempt had succeeded.
            self._published = found["ETag"]
        if self._upload is None:
            self._sent = len(rest)
        self._pending = self._upload = None
        self._filesystem.invalidate_cache(self._filesystem._parent(self._path))

    def remove(self) -> None:
        """Abort the upload, or delete the object if it is still this one."""
        self._pending = None
        if self._upload is not None:
            while self._running:
                # Until each has ended, because a part that arrives later would stay.
                with contextlib.suppress(Exception):
                    self._running.popleft().result()
            upload, self._upload = self._upload, None
            try:
                as_os_error(lambda: self._call("abort_multipart_upload", UploadId=upload))
            except OSError as fault:
                # There is none any more if it was completed and the answer was lost.
                if code_of(fault) not in ("NoSuchUpload", "404"):
                    raise
            finally:
                self._delete()
        else:
            self._delete()

    def _delete(self) -> None:
        """Delete the object, if it may have its name, and that is still this one's."""
        if self._tried:
            found = self._found()
            if found is not None and self._is_own(found):
                as_os_error(lambda: self._call("delete_object"))
                self._filesystem.invalidate_cache(self._filesystem._parent(self._path))
            self._tried = False

    def open(self) -> RemoteFile:
        """Return the object for a reader: reads have the condition that it is this one."""
        if self._published is None:
            raise closed()
        return RemoteFile._written(self._filesystem, self._path, self._name, self._sent, self._published)

    def close(self) -> None:
        """Give up an upload that was not published."""
        if self._published is None:
            self.remove()

    def _call(self, method: str, **arguments: Any) -> Any:  # noqa: ANN401
        return wait_for(self._filesystem, self._filesystem._call_s3(method, **self._object, **arguments))

    def _marked(self) -> dict[str, str]:
        return {**(self._filesystem.s3_additional_kwargs.get("Metadata") or {}), _MARK: self._mark}

    def _send(self, part: bytes) -> None:
        """Send a part, while others are on their way."""
        filesystem = self._filesystem
        if self._upload is None:
            self._upload = self._call("create_multipart_upload", Metadata=self._marked())["UploadId"]
        self._collect(_AT_ONCE - 1)
        number = len(self._parts) + len(self._running) + 1
        request = {"PartNumber": number, "UploadId": self._upload, "Body": part}
        work = filesystem._call_s3("upload_part", **self._object, **request)
        self._running.append(asyncio.run_coroutine_threadsafe(work, filesystem.loop))
        self._sent += len(part)

    def _collect(self, most: int) -> None:
        """Wait until at most this number of parts are on their way."""
        while len(self._running) > most:
            answer = self._running[0].result()
            self._running.popleft()
            part = {"PartNumber": len(self._parts) + 1, "ETag": answer["ETag"]}
            sums = {
                name: value for name, value in answer.items() if name.startswith("Checksum") and name != "ChecksumType"
            }
            self._parts.append(part | sums)

    def _complete(self, rest: bytes, condition: dict[str, str]) -> str:
        if self._upload is None:
            answer = self._call("put_object", Body=rest, Metadata=self._marked(), **condition)
        else:
            parts = {"UploadId": self._upload, "MultipartUpload": {"Parts": self._parts}}
            answer = self._call("complete_multipart_upload", **parts, **condition)
        return str(answer["ETag"])

    def _found(self) -> dict[str, Any] | None:
        """Return what the store says of the object that has the name."""
        return head_object(self._filesystem, self._path)

    def _is_own(self, found: dict[str, Any]) -> bool:
        return bool((found.get("Metadata") or {}).get(_MARK) == self._mark)


def head_object(filesystem: Any, path: str) -> dict[str, Any] | None:  # noqa: ANN401
    """Return what S3 says of an object; None if there is none."""
    bucket, key, _ = filesystem.split_path(path)

    def ask() -> dict[str, Any]:
        found: dict[str, Any] = wait_for(filesystem, filesystem._call_s3("head_object", Bucket=bucket, Key=key))
        return found

    try:
        return as_os_error(ask)
    except FileNotFoundError:
        return None
