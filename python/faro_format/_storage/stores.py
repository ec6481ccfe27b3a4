"""What a remote file asks of an fsspec filesystem: the first bytes with the size, and ranges of the same content."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from faro_format._error import ErrorCode, FaroError, Place
from faro_format._fsspec import wait_for

Span = tuple[int, int]
"""Where bytes begin and end."""

_AT_ONCE = 16
"""How many requests run at the same time."""
_NAMES = ("ETag", "etag", "e_tag", "generation", "VersionId", "version_id", "md5Hash")
"""What filesystems call a name of the content."""
_TIMES = ("mtime", "LastModified", "Last-Modified", "last_modified", "updated", "modified", "created", "ino", "size")
"""What else changes when the content is replaced, though it does not name the content."""
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


@dataclass(frozen=True, slots=True)
class First:
    """The answer to the first request."""

    begin: int
    """Where the bytes begin in the file."""
    data: bytes
    size: int
    """That of the file."""
    version: str | None


class Store(Protocol):
    """One file of a filesystem."""

    def first(self, length: int, *, at_end: bool) -> First:
        """Return the last bytes of the file, or the first, at most ``length``."""

    def read(self, spans: Sequence[Span]) -> list[bytes]:
        """Return bytes of the content that the first request found: all of each span."""

    def expect(self, content: Any) -> str | None:  # noqa: ANN401
        """Accept only a content that is known, instead of the one that the first request finds; return its version."""


def store_of(filesystem: Any, path: str, name: str) -> Store:  # noqa: ANN401 - fsspec has no types
    """Return the way to read a file of a filesystem that costs the fewest requests."""
    return _S3(filesystem, path, name) if is_s3(filesystem) else _Any(filesystem, path, name)


def is_s3(filesystem: Any) -> bool:  # noqa: ANN401
    """Whether a filesystem is s3fs, whose requests can be made directly."""
    protocols = filesystem.protocol if isinstance(filesystem.protocol, (tuple, list)) else (filesystem.protocol,)
    return "s3" in protocols and hasattr(filesystem, "_call_s3") and hasattr(filesystem, "split_path")


class _Any:
    """Any filesystem. Each read is followed by a request that tells whether the content was replaced."""

    def __init__(self, filesystem: Any, path: str, name: str) -> None:  # noqa: ANN401
        self._filesystem = filesystem
        self._path = path
        self._place = Place(None, name)
        self._identity: dict[str, str] = {}

    def first(self, length: int, *, at_end: bool) -> First:
        info = self._info()
        size = info.get("size")
        if info.get("type") == "directory":
            raise self._place.error(ErrorCode.IO, None, "a file", "a folder")
        if not isinstance(size, int):
            raise self._place.error(ErrorCode.IO, None, "a filesystem that tells the size of the file")
        self._identity = _identity(info)
        begin = max(size - length, 0) if at_end else 0
        data = self.read([(begin, min(begin + length, size))])[0]
        names = (str(info[name]) for name in _NAMES if info.get(name))
        return First(begin, data, size, next(names, None))

    def read(self, spans: Sequence[Span]) -> list[bytes]:
        wanted = [span for span in spans if span[0] < span[1]]
        begins, ends = [begin for begin, _ in wanted], [end for _, end in wanted]
        paths = [self._path] * len(wanted)
        found = iter(self._filesystem.cat_ranges(paths, begins, ends, on_error="raise") if wanted else ())
        result = [bytes(next(found)) if begin < end else b"" for begin, end in spans]
        # After the read, because a store replaces content at once: it was the same before.
        if wanted and (now := _identity(self._info())) != self._identity:
            changed = next(name for name in (*_NAMES, *_TIMES) if now.get(name) != self._identity.get(name))
            raise _replaced(self._place, f"{changed} {self._identity.get(changed)}", now.get(changed, "none"))
        return result

    def expect(self, content: dict[str, str]) -> str | None:
        self._identity = content
        return next((content[name] for name in _NAMES if name in content), None)

    def _info(self) -> dict[str, Any]:
        # What a listing said may be old.
        self._filesystem.invalidate_cache(self._path)
        info: dict[str, Any] = self._filesystem.info(self._path)
        return info


def identity_of(filesystem: Any, path: str, name: str) -> dict[str, str]:  # noqa: ANN401
    """Return what names the content of a file of any filesystem but s3fs, for :meth:`Store.expect`."""
    return _identity(_Any(filesystem, path, name)._info())


def _identity(info: dict[str, Any]) -> dict[str, str]:
    """Return what changes when the content of a file is replaced."""
    return {name: str(info[name]) for name in (*_NAMES, *_TIMES) if info.get(name) is not None}


class _S3:
    """A file of s3fs. Its first answer has the size and the ETag; later requests are for this ETag only.

    s3fs itself passes no condition with ranges, so the requests are made with what it makes its own requests with.
    """

    def __init__(self, filesystem: Any, path: str, name: str) -> None:  # noqa: ANN401
        self._filesystem = filesystem
        bucket, key, version = filesystem.split_path(path)
        self._object = {"Bucket": bucket, "Key": key} | ({"VersionId": version} if version else {})
        self._place = Place(None, name)
        self._etag: str | None = None

    def first(self, length: int, *, at_end: bool) -> First:
        wanted = f"-{length}" if at_end else f"0-{length - 1}"
        try:
            ((answer, data),) = self._get([wanted])
        except OSError as fault:
            if code_of(fault) not in ("InvalidRange", "416"):
                raise
            # An empty file has no range.
            answer = wait_for(self._filesystem, self._filesystem._call_s3("head_object", **self._object))
            if answer["ContentLength"]:
                raise
            data = b""
        self._etag = answer.get("ETag")
        where = _CONTENT_RANGE.fullmatch(answer.get("ContentRange") or "")
        if where is None:
            return First(0, data, len(data), self._etag)
        return First(int(where[1]), data, int(where[3]), self._etag)

    def read(self, spans: Sequence[Span]) -> list[bytes]:
        try:
            return [data for _, data in self._get([f"{begin}-{end - 1}" for begin, end in spans])]
        except OSError as fault:
            if code_of(fault) in ("PreconditionFailed", "412"):
                raise _replaced(self._place, f"ETag {self._etag}", "another") from fault
            raise

    def expect(self, content: str) -> str | None:
        self._etag = content
        return content

    def _get(self, ranges: Sequence[str]) -> list[tuple[dict[str, Any], bytes]]:
        filesystem = self._filesystem
        pinned = {"IfMatch": self._etag} if self._etag else {}

        async def get(wanted: str, turns: asyncio.Semaphore) -> tuple[dict[str, Any], bytes]:
            async with turns:
                for left in reversed(range(max(filesystem.retries, 1))):
                    answer = await filesystem._call_s3(
                        "get_object", Range=f"bytes={wanted}", **self._object, **filesystem.req_kw, **pinned
                    )
                    try:
                        return answer, await answer["Body"].read()
                    except Exception:
                        # s3fs repeats a request that fails, but not the reading of its answer.
                        if not left:
                            raise
                    finally:
                        answer["Body"].close()
            raise AssertionError("the last turn returns or raises")

        async def get_all() -> list[tuple[dict[str, Any], bytes]]:
            turns = asyncio.Semaphore(_AT_ONCE)
            return await asyncio.gather(*(get(wanted, turns) for wanted in ranges))

        return wait_for(filesystem, get_all())


def code_of(fault: OSError) -> str | None:
    """Return the code of an answer of S3 that s3fs has turned into an OSError."""
    response = getattr(fault.__cause__, "response", None) or {}
    code = response.get("Error", {}).get("Code")
    return None if code is None else str(code)


def _replaced(place: Place, before: str, now: str) -> FaroError:
    return place.error(ErrorCode.IO, None, f"the content that was opened, with {before}", f"{now}: it was replaced")
