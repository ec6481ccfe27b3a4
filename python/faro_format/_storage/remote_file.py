"""A file of an fsspec filesystem, for example an object of S3: few requests, each for many bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from faro_format import _arguments as arguments
from faro_format._error import ErrorCode, Place, invalid
from faro_format._storage.stored_file import Buffer, Range, StoredFile, as_os_error, closed
from faro_format._storage.stores import First, Span, store_of

FETCH = 64 << 10
"""Bytes of the first request."""
WHOLE = 1 << 20
"""A file of at most this size is kept whole once something of it is missing."""
GAP = 1 << 20
"""The largest gap between ranges that is read and discarded."""
JOINED = 16 << 20
"""The largest request."""
HELD = 64 << 20
"""Bytes of the requests, gaps included, that are in memory at the same time."""
READ = 8 << 20
"""Bytes of each of the requests for a range that is larger than the largest request."""


Joined = tuple[Span, list[Span]]
"""What a request asks for, and what is wanted of it."""


class RemoteFile(StoredFile):
    """A file of an fsspec filesystem. What the first request returned stays in memory until the file is closed.

    Ranges are joined across gaps of 1 MiB or less, to requests of 16 MiB or less, and asked for at the same time. A
    file that was replaced after it was opened fails with ``io``. Not for use in the event loop of the filesystem.
    """

    def __init__(
        self,
        filesystem: Any,  # noqa: ANN401 - fsspec has no types
        path: str,
        *,
        name: str | None = None,
        fetch: Literal["end", "start"] = "end",
        fetch_bytes: int = FETCH,
    ) -> None:
        """Open a file: one request with s3fs, three with others (what it is, the bytes, and what it is then).

        Args:
            filesystem: a filesystem of fsspec that is not asynchronous.
            path: its path there, without the protocol.
            name: what errors call it; by default its URL.
            fetch: which bytes the first request asks for: the last of the file, or, as for a data file, the first.
            fetch_bytes: how many, 64 or more.

        Raises:
            OSError: it cannot be opened; a FileNotFoundError if it is missing.
            FaroError: ``invalid-argument``.
        """
        if not callable(getattr(filesystem, "cat_ranges", None)) or not callable(getattr(filesystem, "info", None)):
            raise invalid("filesystem: a filesystem of fsspec", arguments.shown(filesystem))
        if getattr(filesystem, "asynchronous", False):
            raise invalid("filesystem: one that is not asynchronous", "asynchronous=True")
        path = arguments.text("path", path)
        arguments.choice("fetch", fetch, ("end", "start"))
        fetch_bytes = arguments.integer("fetch_bytes", fetch_bytes, 64, 2**31)
        self._name = filesystem.unstrip_protocol(path) if name is None else arguments.text("name", name)
        store = store_of(filesystem, path, self._name)
        first: First = as_os_error(lambda: store.first(fetch_bytes, at_end=fetch == "end"))
        self._store = store
        self._size = first.size
        self._version = first.version
        self._require(first.begin, min(first.begin + fetch_bytes, first.size), first.data)
        self._kept: tuple[tuple[int, bytes], ...] | None = ((first.begin, first.data),)

    @classmethod
    def _written(cls, filesystem: Any, path: str, name: str, size: int, content: Any) -> RemoteFile:  # noqa: ANN401
        """Return a file that was just written, without any request.

        Args:
            filesystem: where it is.
            path: its path there.
            name: what errors call it.
            size: in bytes.
            content: what the store knows the content by; see :meth:`Store.expect`.
        """
        made = cls.__new__(cls)
        made._name, made._size = name, size
        made._store = store_of(filesystem, path, name)
        made._version = made._store.expect(content)
        made._kept = ((0, b""),)
        return made

    @property
    def size(self) -> int:
        """The size in bytes, when it was opened."""
        return self._size

    @property
    def name(self) -> str:
        """What errors call it."""
        return self._name

    @property
    def version(self) -> str | None:
        """The ETag, or what else the filesystem names the content by; None if it has no such name."""
        return self._version

    @property
    def read_bytes(self) -> int:
        """8 MiB: about what a fast connection transfers in the time that a request waits for its answer."""
        return READ

    def read(self, offset: int, length: int) -> Buffer:
        """Return ``length`` bytes from an offset, or fewer at the end of the file; see :class:`StoredFile`."""
        return self.read_ranges([(offset, length)])[0]

    def read_ranges(self, ranges: Sequence[Range]) -> list[Buffer]:
        """Return the bytes of several ranges, with few requests at the same time; see :class:`StoredFile`."""
        spans = [(min(offset, self._size), min(offset + length, self._size)) for offset, length in ranges]
        missing = sorted({span for span in spans if self._find(*span, self._held()) is None})
        fetched = self._fetch(missing) if missing else {}
        return [self._take(begin, end, fetched) for begin, end in spans]

    def close(self) -> None:
        """Let go of what is in memory, and refuse later reads. The filesystem stays open."""
        self._kept = None

    def _held(self) -> tuple[tuple[int, bytes], ...]:
        kept = self._kept
        if kept is None:
            raise closed()
        return kept

    def _fetch(self, missing: list[Span]) -> dict[Span, Buffer]:
        """Request spans that are not in memory, in ascending order."""
        first, *_ = kept = self._held()
        if self._size <= WHOLE:
            rest = [(0, first[0]), (first[0] + len(first[1]), self._size)]
            whole = self._request([span for span in rest if span[0] < span[1]])
            joined = b"".join(data for _, data in sorted([first, *whole]))
            self._keep(((0, joined),))
            return self._parts(missing, [(0, joined)])
        if max(end for _, end in missing) <= FETCH and len(kept) == 1:
            # The header, which is followed by what else opening reads.
            found = self._request([(0, FETCH)])
            self._keep((*kept, *found))
            return self._parts(missing, found)
        fetched: dict[Span, Buffer] = {}
        for batch in _batches(_joined(missing)):
            answers = self._request([span for span, _ in batch])
            for (span, inside), answer in zip(batch, answers, strict=True):
                parts = self._parts(inside, [answer])
                # What is mostly gaps is not kept in memory.
                sparse = 2 * sum(end - begin for begin, end in inside) < span[1] - span[0]
                fetched |= {wanted: bytes(part) for wanted, part in parts.items()} if sparse else parts
        return fetched

    def _parts(self, spans: list[Span], held: list[tuple[int, bytes]]) -> dict[Span, Buffer]:
        found = {span: self._find(*span, held) for span in spans}
        return {span: part for span, part in found.items() if part is not None}

    def _keep(self, kept: tuple[tuple[int, bytes], ...]) -> None:
        # Closed meanwhile: it stays closed.
        if self._kept is not None:
            self._kept = kept

    def _request(self, spans: list[Span]) -> list[tuple[int, bytes]]:
        """Request spans; those that are larger than the largest request in pieces."""
        pieces = [piece for span in spans for piece in _cut(*span)]
        answers = iter(as_os_error(lambda: self._store.read(pieces)))
        found = []
        for begin, end in spans:
            parts = [self._require(low, high, next(answers)) for low, high in _cut(begin, end)]
            found.append((begin, parts[0] if len(parts) == 1 else b"".join(parts)))
        return found

    def _require(self, begin: int, end: int, data: bytes) -> bytes:
        if len(data) != end - begin:
            place = Place(None, self._name)
            raise place.error(ErrorCode.IO, None, f"an answer of {end - begin} bytes from {begin}", len(data))
        return data

    def _take(self, begin: int, end: int, fetched: dict[Span, Buffer]) -> Buffer:
        found = fetched.get((begin, end))
        if found is None:
            found = self._find(begin, end, self._held())
        if found is None:
            raise AssertionError("what was missing was fetched")
        return found

    @staticmethod
    def _find(begin: int, end: int, held: Sequence[tuple[int, bytes]]) -> Buffer | None:
        if begin >= end:
            return b""
        for at, data in held:
            if at <= begin and end <= at + len(data):
                return data if len(data) == end - begin else memoryview(data)[begin - at : end - at]
        return None


def _joined(spans: list[Span]) -> list[Joined]:
    """Return spans that cover others, which ascend: neighbours together, as long as the request stays small."""
    found: list[Joined] = []
    for begin, end in spans:
        if found:
            (first, last), inside = found[-1]
            if begin - last <= GAP and max(end, last) - first <= JOINED:
                inside.append((begin, end))
                found[-1] = (first, max(end, last)), inside
                continue
        found.append(((begin, end), [(begin, end)]))
    return found


def _batches(requests: list[Joined]) -> Iterator[list[Joined]]:
    """Yield requests together, up to what may be in memory."""
    batch: list[Joined] = []
    size = 0
    for request in requests:
        (begin, end), _ = request
        if batch and size + end - begin > HELD:
            yield batch
            batch, size = [], 0
        batch.append(request)
        size += end - begin
    yield batch


def _cut(begin: int, end: int) -> list[Span]:
    """Return a span in pieces."""
    if end - begin <= JOINED:
        return [(begin, end)]
    return [(low, min(low + READ, end)) for low in range(begin, end, READ)]
