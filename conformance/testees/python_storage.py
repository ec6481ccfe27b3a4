"""Where the testee of Python keeps outputs: in local files, in memory, or in an object store.

The protocol names local files. In another storage, outputs that are read or checked are first copied there, and those
that were written are copied back. FARO_TESTEE_STORAGE chooses: memory or s3.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from faro_format import Writer, WriterOptions
from faro_format._storage.names import name_to_write
from faro_format.storage import LocalFile, MemoryDestination, MemoryFile, StoredFile, StoredOutput

Json = dict[str, Any]
Put = Callable[[], None]
ENDINGS = (".data", ".index", ".faro")


def files(request: Json) -> Json:
    """Return the files of a request as keyword arguments."""
    return {role: request[role] for role in ("data", "index", "single") if role in request}


class LocalStorage:
    """Local files."""

    @contextmanager
    def finished(self, request: Json) -> Iterator[Json]:
        """Yield the files of a finished output as keyword arguments."""
        yield files(request)

    def writer(self, path: str, options: WriterOptions) -> tuple[Writer, Put]:
        """Return a writer, and what puts its finished files where the protocol names them."""
        return Writer(path, options), lambda: None


class RefusedFile(MemoryFile):
    """A file that cannot be copied to memory. It reports so when the reader comes to it, as a local one does."""

    def __init__(self, path: str, fault: OSError) -> None:
        """Keep the error of a file."""
        super().__init__(b"", path)
        self._fault = fault

    @property
    def size(self) -> int:
        """Raise the error."""
        raise self._fault


def in_memory(path: str) -> StoredFile:
    """Return a local file in memory."""
    try:
        local = LocalFile(path)
        try:
            return MemoryFile(local.read(0, local.size), path)
        finally:
            local.close()
    except OSError as fault:
        return RefusedFile(path, fault)


def existing(base: str) -> dict[str, bytes]:
    """Return the files that a NAME has, by their paths."""
    return {base + ending: Path(base + ending).read_bytes() for ending in ENDINGS if os.path.exists(base + ending)}


class MemoryStorage(LocalStorage):
    """Files in memory."""

    @contextmanager
    def finished(self, request: Json) -> Iterator[Json]:
        """Yield the files of a finished output, in memory."""
        named = files(request)
        if named.keys() == {"single"}:
            yield {"stored": StoredOutput.single(in_memory(named["single"]))}
        elif named.keys() == {"data", "index"}:
            yield {"stored": StoredOutput.paired(in_memory(named["data"]), in_memory(named["index"]))}
        else:
            yield named

    def writer(self, path: str, options: WriterOptions) -> tuple[Writer, Put]:
        """Return a writer to memory."""
        base, layout = name_to_write(path, options.layout, undecided=options.single_below > 0)
        before = existing(base)
        destination = MemoryDestination(base, dict(before))

        def put() -> None:
            for name, content in destination.files.items():
                if before.get(name) is not content:
                    Path(name).write_bytes(content)

        return Writer(destination=destination, options=replace(options, layout=layout)), put


class S3Storage(LocalStorage):
    """Objects of a server of S3, which FARO_S3_ENDPOINT names; else one in this process."""

    BUCKET = "faro"

    def __init__(self) -> None:
        """Start the server, if none is named, and make the bucket."""
        import s3fs

        endpoint = os.environ.get("FARO_S3_ENDPOINT")
        if endpoint is None:
            import logging

            from moto.server import ThreadedMotoServer
            from werkzeug.serving import WSGIRequestHandler

            # Connections that are used again make the suite twice as fast.
            WSGIRequestHandler.protocol_version = "HTTP/1.1"
            logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
            server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
            server.start()
            host, port = server.get_host_and_port()
            endpoint = f"http://{host}:{port}"
        # Whatever this machine is logged in to is not for tests.
        for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
            os.environ.pop(name, None)
        os.environ |= {"AWS_EC2_METADATA_DISABLED": "true", "AWS_DEFAULT_REGION": "us-east-1"}
        self._options = {"key": "x", "secret": "x", "endpoint_url": endpoint}
        self._system = s3fs.S3FileSystem(**self._options)
        if not self._system.exists(self.BUCKET):
            self._system.mkdir(self.BUCKET)
        self._old: list[Json] = []
        # Another testee may use the same server.
        self._keys = (f"{os.getpid()}/{number}" for number in itertools.count())

    @contextmanager
    def finished(self, request: Json) -> Iterator[Json]:
        """Yield the URLs of a finished output, whose files are copied to the store meanwhile."""
        key = next(self._keys)
        named: Json = {}
        for role, path in files(request).items():
            named[role] = self._url(f"{key}/{role}")
            # One that cannot be read is missing there, which is the same error.
            if os.path.isfile(path):
                self._put(f"{key}/{role}", Path(path).read_bytes())
        try:
            yield {**named, "storage_options": self._options}
        finally:
            for role in named:
                self._remove(f"{key}/{role}")

    def writer(self, path: str, options: WriterOptions) -> tuple[Writer, Put]:
        """Return a writer to the store."""
        base, _ = name_to_write(path, options.layout, undecided=options.single_below > 0)
        key, before = f"{next(self._keys)}/out", existing(base)
        for name, content in before.items():
            self._put(key + name.removeprefix(base), content)
        ending = next((ending for ending in ENDINGS if path.endswith(ending)), "")

        def put() -> None:
            for ending in ENDINGS:
                content = self._get(key + ending)
                if content is not None:
                    if before.get(base + ending) != content:
                        Path(base + ending).write_bytes(content)
                    self._remove(key + ending)

        return Writer(self._url(key + ending), options, storage_options=self._options), put

    def _url(self, key: str) -> str:
        return f"s3://{self.BUCKET}/{key}"

    def _put(self, key: str, content: bytes) -> None:
        self._system.call_s3("put_object", Bucket=self.BUCKET, Key=key, Body=content)

    def _get(self, key: str) -> bytes | None:
        try:
            return bytes(self._system.cat_file(f"{self.BUCKET}/{key}"))
        except FileNotFoundError:
            return None

    def _remove(self, key: str) -> None:
        """Remove an object, together with others, because the requests take most of the time."""
        self._old.append({"Key": key})
        if len(self._old) == 200:
            self._system.call_s3("delete_objects", Bucket=self.BUCKET, Delete={"Objects": self._old, "Quiet": True})
            self._old.clear()


def chosen_storage() -> LocalStorage:
    """Return the storage that the environment chooses."""
    kinds: dict[str, Callable[[], LocalStorage]] = {"memory": MemoryStorage, "s3": S3Storage, "": LocalStorage}
    return kinds[os.environ.get("FARO_TESTEE_STORAGE", "")]()
