"""A server of S3 on this machine that counts requests, and outputs in fsspec's filesystems."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import s3fs
from fsspec.implementations.memory import MemoryFileSystem
from moto.server import ThreadedMotoServer
from support import Output

from faro_format import storage

BUCKET = "bucket"


class ObjectStore:
    """An S3 server with one bucket. Each request is kept as its method, its key and its range."""

    def __init__(self) -> None:
        self._writing = threading.Lock()
        self._server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        self._server.start()
        host, port = self._server.get_host_and_port()
        self.requests: list[tuple[str, str, str | None]] = []
        inner: Any = self._server._server
        inner.app = self._counting(inner.app)
        self.options = {"key": "x", "secret": "x", "endpoint_url": f"http://{host}:{port}"}
        self.filesystem = s3fs.S3FileSystem(**self.options)
        self.filesystem.mkdir(BUCKET)

    def _counting(self, app: Callable[..., Any]) -> Callable[..., Any]:
        def call(environ: dict[str, Any], start: Any) -> Any:
            key = environ["PATH_INFO"].removeprefix(f"/{BUCKET}/")
            self.requests.append((environ["REQUEST_METHOD"], key, environ.get("HTTP_RANGE")))
            if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
                return app(environ, start)
            # A store checks a condition and writes in one step, which this server does not.
            with self._writing:
                return list(app(environ, start))

        return call

    def names(self) -> list[str]:
        """The objects of the bucket, and the uploads that are open."""
        answer = self.filesystem.call_s3("list_objects_v2", Bucket=BUCKET)
        uploads = self.filesystem.call_s3("list_multipart_uploads", Bucket=BUCKET)
        open_ones = [f"upload of {upload['Key']}" for upload in uploads.get("Uploads", ())]
        return sorted([found["Key"] for found in answer.get("Contents", ())] + open_ones)

    def clear(self) -> None:
        """Remove all of that."""
        for upload in self.filesystem.call_s3("list_multipart_uploads", Bucket=BUCKET).get("Uploads", ()):
            self.filesystem.abort_mpu(BUCKET, upload["Key"], upload["UploadId"])
        for name in self.names():
            self.filesystem.call_s3("delete_object", Bucket=BUCKET, Key=name)
        self.filesystem.invalidate_cache()

    def stop(self) -> None:
        self._server.stop()

    def put(self, made: Output, name: str) -> str:
        """Copy an output to the store, and return the URL of its NAME."""
        for role, contents in made.contents().items():
            self.filesystem.pipe_file(f"{BUCKET}/{name}.{'faro' if role == 'single' else role}", contents)
        return f"s3://{BUCKET}/{name}"

    @contextmanager
    def counted(self) -> Iterator[list[tuple[str, str, str | None]]]:
        """The requests that the block makes."""
        before = len(self.requests)
        found: list[tuple[str, str, str | None]] = []
        yield found
        found += self.requests[before:]


@pytest.fixture(scope="session")
def object_store(monkeypatch_session: pytest.MonkeyPatch) -> Iterator[ObjectStore]:
    # Whatever this machine is logged in to is not for tests.
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
        monkeypatch_session.delenv(name, raising=False)
    monkeypatch_session.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch_session.setenv("AWS_DEFAULT_REGION", "us-east-1")
    store = ObjectStore()
    yield store
    store.stop()


@pytest.fixture(scope="session")
def monkeypatch_session() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def in_memory_store(made: Output, kind: Any = storage.RemoteFile, **more: Any) -> storage.StoredOutput:
    """An output in fsspec's filesystem in memory, under the names that the local files have."""
    system = MemoryFileSystem(global_store=False, skip_instance_cache=True)
    files: dict[str, Any] = {}
    for role, path in made.files.items():
        system.pipe_file(f"/out.{role}", path.read_bytes())
        fetch = "start" if role == "data" else "end"
        files[role] = kind(system, f"/out.{role}", name=str(path), fetch=fetch, **more)
    if "single" in files:
        return storage.StoredOutput.single(files["single"])
    return storage.StoredOutput.paired(**files)
