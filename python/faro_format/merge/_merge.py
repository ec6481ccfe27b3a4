"""Merges and their pushes: whose turn it is, and what becomes of each push (MRG-4 to MRG-10)."""

from __future__ import annotations

import contextlib
import threading
import uuid
from dataclasses import dataclass
from enum import Enum
from types import TracebackType

from faro_format._arguments import integer
from faro_format._block.block import BLOCK_HEADER_SIZE, KIND_DICTIONARY, KIND_FRAGMENT_END, KIND_SCHEMA, Block
from faro_format._bytes.buffers import as_bytes
from faro_format._bytes.header import HEADER_SIZE, FileHeader
from faro_format._error import ErrorCode, invalid
from faro_format._storage.names import Path, name_to_write, paths_of
from faro_format.merge._intake import Intake
from faro_format.merge._merged_file import MergedFile
from faro_format.merge._options import MergeOptions
from faro_format.merge._resuming import resume


class Outcome(str, Enum):
    """What became of a push (MRG-5). What is refused is not lost: the producer's own output has it."""

    MERGED = "merged"
    """The fragment is in the file."""
    DUPLICATE = "duplicate"
    """All of its blocks were in the file before. To its producer this is a success."""
    LATE = "late"
    """The merge was finalized or closed before the push was committed."""
    STALE = "stale"
    """The push is for another generation of the merge."""
    OTHER_ATTEMPT = "other-attempt"
    """The file has blocks of this producer of another attempt."""
    GAP = "gap"
    """The file does not have all blocks before one of the fragment."""
    COLLISION = "collision"
    """Another push has the turn, and there is no room to wait."""

    @property
    def success(self) -> bool:
        """Whether the file has the blocks of the push."""
        return self in (Outcome.MERGED, Outcome.DUPLICATE)


@dataclass(frozen=True)
class MergeSummary:
    """What a merge has made (MRG-10)."""

    data: str
    """The path of the data file."""
    index: str
    """The path of the index file."""
    regions: int
    runs: int
    """Pushes that were merged, each counted once for each partition."""


class Merge:
    """A merged file that is being made: the blocks of many producers, each exactly once.

    Threads may push at the same time. At the end of a ``with`` block it is closed, unless it was finalized.
    """

    def __init__(self, file: MergedFile, data: str, index: str, options: MergeOptions) -> None:
        """Not for callers: see :meth:`create` and :meth:`resume`."""
        self.header = file.header
        """The header of the merged file."""
        self._file: MergedFile | None = file
        self._paths = data, index
        self._options = options
        self._over = False
        self._turn: Push | None = None
        self._waiting = 0
        self._lock = threading.Lock()

    @classmethod
    def create(cls, name: Path, options: MergeOptions) -> Merge:
        """Create the pair of files with this NAME, which grow from now on (MRG-4).

        Raises:
            FaroError: ``io``; a file that exists is one reason; ``invalid-argument``.
        """
        data, index = _paths(name)
        header = options._header(uuid.uuid4().bytes if options.file_id is None else options.file_id)
        file = MergedFile.create(data, index, header, options.schema, durable=options.durability == "commit")
        return cls(file, data, index, options)

    @classmethod
    def resume(cls, name: Path, options: MergeOptions) -> Merge:
        """Go on with a merge that was not finalized, from its last commit (MRG-4). What was not committed is cut off.

        Raises:
            FaroError: ``io`` if a living writer has the files; ``mismatched-pair`` if the file is not what the options
                say; ``invalid-argument`` for a finished file; a fault that :func:`faro_format.repair` reports. The
                files are as they were then.
        """
        data, index = _paths(name)
        return cls(resume(data, index, options), data, index, options)

    def begin(self, producer: int, generation: int) -> Push | Outcome:
        """Begin a push of one fragment.

        Returns:
            The push, or why it is refused: :attr:`Outcome.LATE` or :attr:`Outcome.STALE`.

        Raises:
            FaroError: ``invalid-argument``.
        """
        producer = integer("producer", producer, 0, 2**64 - 2)
        generation = integer("generation", generation, 0, 2**64 - 1)
        with self._lock:
            if self._over:
                return Outcome.LATE
            return Push(self, producer) if generation == self.header.attempt else Outcome.STALE

    def flush(self) -> None:
        """End the open region, so that followers see what was merged so far (MRG-10).

        Raises:
            FaroError: ``io``; ``invalid-argument`` if the merge is finalized or closed.
        """
        with self._lock:
            self._opened().end_region()

    def release(self) -> None:
        """Write what was appended, and give the memory for it back, up to 1 MiB. No region ends.

        While a push appends, this does nothing. A service that has many merges calls it for those that wait for their
        next push.

        Raises:
            FaroError: ``io``; ``invalid-argument`` if the merge is finalized or closed.
        """
        with self._lock:
            file = self._opened()
            if self._turn is None:
                file.write_waiting()

    def finalize(self) -> MergeSummary:
        """End the open region and finish the files. Pushes that are open are late from now on.

        If it fails, the file stays unfinished, and this may be called again (MRG-10).

        Raises:
            FaroError: ``io``; ``invalid-argument`` if the merge is finalized or closed.
        """
        with self._lock:
            file = self._opened()
            self._over, self._turn = True, None
            runs = file.finish(self._options.properties, self._options.created_by)
            self._file = None
            file.close()
            return MergeSummary(*self._paths, len(file.regions), runs)

    def close(self) -> None:
        """Close the files, unfinished, and cut them at their last region; :meth:`resume` goes on from there.

        It does nothing after :meth:`finalize`, or if it was called before.

        Raises:
            FaroError: ``io``.
        """
        with self._lock:
            file = self._end()
            if file is not None:
                try:
                    file.cut()
                finally:
                    file.close()

    def remove(self) -> None:
        """Close and remove the files.

        Raises:
            FaroError: ``io``; ``invalid-argument`` if the merge is finalized or closed.
        """
        with self._lock:
            file = self._opened()
            self._end()
            try:
                file.remove()
            finally:
                file.close()

    def __enter__(self) -> Merge:
        """Return the merge."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the merge, unless it was finalized."""
        self.close()

    def _opened(self) -> MergedFile:
        if self._file is None:
            raise invalid("a merge that is open", "one that is finalized or closed")
        return self._file

    def _end(self) -> MergedFile | None:
        file, self._file = self._file, None
        self._over, self._turn = True, None
        return file

    def _write(self, push: Push, data: memoryview) -> Outcome | None:
        """Take bytes of a push: they are appended, or wait. Return an outcome if the push is refused."""
        with self._lock:
            if self._over:
                return self._ends(push, Outcome.LATE)
            if self._turn not in (None, push):
                if len(data) > self._options.max_waiting - self._waiting:
                    return self._ends(push, Outcome.COLLISION)
                self._waiting += len(data)
                push._waiting += data
                return None
            return self._append(push, data)

    def _commit(self, push: Push) -> Outcome:
        """Commit a push (MRG-9)."""
        with self._lock:
            if self._over:
                return self._ends(push, Outcome.LATE)
            if self._turn not in (None, push):
                return self._ends(push, Outcome.COLLISION)
            refused = self._append(push, memoryview(b""))
            if refused is not None:
                return refused
            try:
                file = self._opened()
                push._intake.check_ended()
                merged = file.commit_push(last=push._intake.last)
                if merged and file.open_bytes >= self._options.chunk_size:
                    file.end_region()
                return Outcome.MERGED if merged else Outcome.DUPLICATE
            finally:
                self._ends(push)

    def _abort(self, push: Push) -> None:
        with self._lock:
            self._ends(push)

    def _append(self, push: Push, data: memoryview) -> Outcome | None:
        """Append what has waited, and then these bytes."""
        goes_on = False
        try:
            file = self._opened()
            if self._turn is None:
                self._turn = push
                file.begin_push()
            waited, push._waiting = bytes(push._waiting), bytearray()
            self._waiting -= len(waited)
            refused = push._take(file, self._options.schema, memoryview(waited))
            if refused is None:
                refused = push._take(file, self._options.schema, data)
            goes_on = refused is None
            return refused
        finally:
            if not goes_on:
                self._ends(push)

    def _ends(self, push: Push, outcome: Outcome = Outcome.LATE) -> Outcome:
        """End a push: what it appended and did not commit is taken back, and the turn given back (MRG-8)."""
        self._waiting -= len(push._waiting)
        push._waiting = bytearray()
        push._over = True
        if self._turn is push:
            self._turn = None
            if self._file is not None:
                self._file.give_up_push()
        return outcome


def _paths(name: Path) -> tuple[str, str]:
    base, layout = name_to_write(name, "paired")
    paths = paths_of(base, layout or "paired")
    return paths.data or "", paths.index or ""


class Push:
    """A push of one fragment of a producer (MRG-5). For one thread; dropping it gives it up."""

    def __init__(self, merge: Merge, producer: int) -> None:
        """Not for callers: see :meth:`Merge.begin`."""
        self.producer = producer
        self._merge = merge
        self._intake = Intake(merge._options.limits)
        self._waiting = bytearray()
        self._over = False

    def write(self, data: bytes | bytearray | memoryview) -> Outcome | None:
        """Take the next bytes of the fragment. Return an outcome if the push is refused, and over.

        Raises:
            FaroError: a fault of FRG-4 or MRG-7, in the role ``fragment``, or ``io``: the push is over then.
                ``invalid-argument`` for a push that is over.
        """
        self._check_open()
        return self._merge._write(self, as_bytes(data, "data"))

    def commit(self) -> Outcome:
        """End the fragment, and commit the push.

        Raises:
            FaroError: as :meth:`write`; ``truncated`` for a fragment without its end. An ``io`` error of ending the
                region does not undo the push, which is in the open region then (MRG-9).
        """
        self._check_open()
        return self._merge._commit(self)

    def abort(self) -> None:
        """Give the push up: nothing of it stays. It does nothing after :meth:`commit`."""
        if not self._over:
            self._merge._abort(self)

    def __del__(self) -> None:
        """Give the push up."""
        # Not all fields are there if the construction failed.
        with contextlib.suppress(AttributeError):
            self.abort()

    def _check_open(self) -> None:
        if self._over:
            raise invalid("a push that is open", "one that is over")

    def _take(self, file: MergedFile, schema: bytes | None, data: memoryview) -> Outcome | None:
        """Do what MRG-7 says with bytes of the fragment."""
        intake = self._intake
        for block in intake.take(data):
            header = intake.header
            if header is None:
                raise AssertionError("the header comes first")
            if block is None:
                self._check_header(header, file.header)
                if file.attempt(self.producer) not in (None, header.attempt):
                    return Outcome.OTHER_ATTEMPT
            elif not self._part(file, header, schema, block):
                return Outcome.GAP
        if intake.ended:
            rest = len(intake.rest())
            if rest:
                raise intake.error(ErrorCode.MALFORMED_BLOCK, intake.at, "nothing after the end block", f"{rest} bytes")
        return None

    def _part(self, file: MergedFile, header: FileHeader, schema: bytes | None, block: Block) -> bool:
        """Use a block of the fragment; False if there is a gap before it."""
        if block.kind == KIND_SCHEMA:
            if self._intake.schema != schema:
                at, expected = HEADER_SIZE + BLOCK_HEADER_SIZE, "the schema of the merged file"
                raise self._intake.error(ErrorCode.MISMATCHED_PAIR, at, expected, "another one")
        elif block.kind == KIND_DICTIONARY:
            file.dictionary(block, self._intake)
        elif block.kind != KIND_FRAGMENT_END:
            return file.block(header, block, self._intake)
        return True

    def _is_named(self, header: FileHeader) -> bool:
        """Whether the file_id follows from the names of the merge, if it has any."""
        names = self._merge._options.names
        return names is None or header.file_id == names.output_file_id(header.producer, header.attempt)

    def _check_header(self, header: FileHeader, merged: FileHeader) -> None:
        """Make the checks of MRG-7 after check 4 of FRG-4."""
        inside = merged.first_partition <= header.first_partition and header.end_partition <= merged.end_partition
        for holds, at, expected in (
            (header.producer == self.producer, 24, f"producer {self.producer}, which pushes"),
            (header.framing == merged.framing, 11, "the framing of the merged file"),
            (inside, 56, "partitions of the merged file"),
            (merged.dictionaries or not header.dictionaries, 16, "no dictionaries, as in the merged file"),
            (self._is_named(header), 40, "the file_id that follows from the names"),
        ):
            if not holds:
                raise self._intake.error(ErrorCode.MISMATCHED_PAIR, at, expected, "another value")
