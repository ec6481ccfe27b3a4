"""The test kit for stored files: reads a file in many ways, and compares with the bytes that it should have."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from faro_format._bytes.buffers import as_bytes
from faro_format._storage.stored_file import Range, StoredFile, check_methods

_LENGTHS = (0, 1, 2, 3, 7, 8, 64, 100, 4_096, 65_536)
_DRAWN = 200
_THREADS = 8
_TURN = 1e-5
"""Seconds that a thread runs before another may, so that threads meet in the middle of reads."""


def check_stored_file(file: StoredFile, expected: Any) -> None:  # noqa: ANN401 - any contiguous buffer
    """Check what a :class:`StoredFile` promises of its size, reads, threads and ranges (docs/storage.md, 1 to 4).

    For tests of an implementation. Short reads are right. The file is not closed::

        data = random.Random(1).randbytes(300_000)
        check_stored_file(Cached(cache_with(data), "a"), data)

    Args:
        file: the file; nothing else uses it meanwhile.
        expected: the bytes that it should have. Some 100 KiB of random bytes show most; equal bytes hide a wrong
            offset.

    Raises:
        AssertionError: a promise is broken; it says which, and where.
        FaroError: ``invalid-argument`` if ``file`` lacks a method, or ``expected`` is not a buffer.
    """
    check_methods("file", file)
    whole = bytes(as_bytes(expected, "expected"))
    # The same reads each time, so that a failure can be repeated.
    kit = _Kit(file, whole)
    kit.size()
    kit.reads()
    kit.kept()
    kit.ranges()
    kit.threads()
    kit.kept()
    kit.size()


class _Kit:
    def __init__(self, file: StoredFile, whole: bytes) -> None:
        self._file = file
        self._whole = whole
        self._kept: list[tuple[str, Any, bytes]] = []
        """Some buffers that were returned, and what was in them."""

    def size(self) -> None:
        found = _called("size", lambda: self._file.size)
        _require(isinstance(found, int) and found == len(self._whole), "size", f"{len(self._whole)}", found)

    def reads(self) -> None:
        for offset, length in self._wanted(random.Random(1)):
            self._read(offset, length)

    def ranges(self) -> None:
        wanted = list(self._wanted(random.Random(2)))
        end = len(self._whole)
        self._ranges([])
        self._ranges([(0, end)])
        self._ranges([(0, 0)])
        self._ranges([(end, 10), (end + 5, 1), (end + (1 << 40), 7)])
        self._ranges([(0, end), (end // 3, end), (0, end // 2 + 1), (0, end)])
        self._ranges([(0, 5), (5, 5), (10, 5), (0, 0), (3, 9)])
        draw = random.Random(3)
        for count in (1, 2, 5, 20):
            self._ranges(draw.choices(wanted, k=count))
        self._ranges(sorted(draw.choices(wanted, k=20)))

    def threads(self) -> None:
        """Read with several threads at once, by reads and by ranges."""
        faults: list[AssertionError] = []
        begin = threading.Barrier(_THREADS)

        def work(number: int) -> None:
            draw = random.Random(number)
            wanted = [where for where in self._wanted(draw) if where[1] <= _LENGTHS[-1]]
            draw.shuffle(wanted)
            begin.wait()
            try:
                for offset, length in wanted:
                    self._read(offset, length, "with other threads, ")
                self._ranges(wanted[:20], "with other threads, ")
            except AssertionError as fault:
                faults.append(fault)

        before = sys.getswitchinterval()
        sys.setswitchinterval(_TURN)
        try:
            # They end with the program if a read never ends.
            running = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(_THREADS)]
            for thread in running:
                thread.start()
            for thread in running:
                thread.join()
        finally:
            sys.setswitchinterval(before)
        if faults:
            raise faults[0]

    def kept(self) -> None:
        """Later reads have not changed what earlier ones returned."""
        for what, raw, before in self._kept:
            now = bytes(memoryview(raw))
            _require(now == before, what, "bytes that later reads leave alone", "others now")

    def _wanted(self, draw: random.Random) -> Iterator[Range]:
        """Yield offsets and lengths: at, before and after the end, and drawn ones."""
        end = len(self._whole)
        lengths = (*_LENGTHS, end // 2, max(end - 1, 0), end, end + 1)
        offsets = (0, 1, 7, 8, end // 2, end - 8, end - 1, end, end + 1, end + 100, end + (1 << 40))
        for offset in offsets:
            for length in lengths:
                if offset >= 0:
                    yield offset, length
        for _ in range(_DRAWN):
            yield draw.randrange(end + 2), draw.choice((*_LENGTHS, draw.randrange(end + 2)))

    def _read(self, offset: int, length: int, how: str = "") -> None:
        what = f"{how}read(offset {offset}, length {length})"
        raw = _called(what, lambda: self._file.read(offset, length))
        found = _bytes(what, raw)
        there = max(min(length, len(self._whole) - offset), 0)
        _require(len(found) <= length, what, f"at most {length} bytes", len(found))
        _require(len(found) <= there, what, f"at most the {there} bytes before the end", len(found))
        _require(len(found) > 0 or there == 0, what, "at least one byte before the end", "none")
        self._same(what, found, offset)
        self._keep(what, raw, found)

    def _ranges(self, ranges: Sequence[Range], how: str = "") -> None:
        what = f"{how}read_ranges({_told(ranges)})"
        raws = _called(what, lambda: list(self._file.read_ranges(list(ranges))))
        _require(len(raws) == len(ranges), what, f"{len(ranges)} results", len(raws))
        for number, (raw, (offset, length)) in enumerate(zip(raws, ranges, strict=True)):
            which = f"{what}, range {number} (offset {offset}, length {length})"
            found = _bytes(which, raw)
            there = max(min(length, len(self._whole) - offset), 0)
            _require(len(found) == there, which, f"{there} bytes", len(found))
            self._same(which, found, offset)
            self._keep(which, raw, found)

    def _same(self, what: str, found: bytes, offset: int) -> None:
        expected = self._whole[offset : offset + len(found)]
        if found != expected:
            at = next(i for i, (a, b) in enumerate(zip(found, expected, strict=True)) if a != b)
            _require(False, what, f"byte {expected[at]:#04x} at offset {offset + at}", f"{found[at]:#04x}")

    def _keep(self, what: str, raw: object, found: bytes) -> None:
        # Bytes cannot change; of others a few are enough.
        if type(raw) is not bytes and len(self._kept) < _DRAWN and 0 < len(found) <= _LENGTHS[-1]:
            self._kept.append((what, raw, found))


def _called(what: str, call: Callable[[], Any]) -> Any:  # noqa: ANN401
    try:
        return call()
    except Exception as fault:
        raise AssertionError(f"{what}: raised {type(fault).__name__}: {fault}") from fault


def _bytes(what: str, raw: object) -> bytes:
    try:
        view = memoryview(raw)  # type: ignore[arg-type]
    except TypeError as fault:
        raise AssertionError(f"{what}: expected bytes or another buffer, found {type(raw).__name__}") from fault
    single = view.ndim == 1 and view.itemsize == 1 and view.contiguous
    _require(single, what, "a contiguous buffer of single bytes", f"items of {view.itemsize} bytes")
    return bytes(view)


def _require(condition: bool, what: str, expected: str, found: object) -> None:
    if not condition:
        raise AssertionError(f"{what}: expected {expected}, found {found}")


def _told(ranges: Sequence[Range]) -> str:
    return f"{len(ranges)} ranges" if len(ranges) > 5 else str(list(ranges))
