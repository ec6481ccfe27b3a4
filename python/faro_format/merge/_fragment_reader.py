"""Reading fragments from a stream (FRG-4, FRG-5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from faro_format._block.block import BLOCK_HEADER_SIZE, PARTITION_KINDS, Block
from faro_format._bytes.header import FileHeader
from faro_format._codec import CODEC_NONE, Codec, DecodeError, Dictionary, decompress
from faro_format._error import ErrorCode, FaroError
from faro_format._limits import DEFAULT_LIMITS, Limits, check_limits
from faro_format.merge._intake import Intake

_PIECE = 256 << 10


class FragmentBlock(NamedTuple):
    """A partition block of a fragment, which has passed all checks that need no decoding."""

    offset: int
    """Where the block begins in the fragment, in bytes."""
    partition: int
    number: int
    """Its position among the blocks that the partition reads from the output (FRG-1)."""
    kind: int
    codec: Codec
    plain_size: int
    stored: memoryview
    """The payload as stored; see :meth:`Fragment.decode`."""
    dictionary: int


class Fragment:
    """One fragment of a stream. Its blocks can be read once, before the next fragment."""

    def __init__(self, stream: _Stream, intake: Intake, header: FileHeader) -> None:
        """Not for callers: see :func:`read_fragments`."""
        self.header = header
        self._stream = stream
        self._intake = intake
        self._known: dict[int, Dictionary] = {}

    @property
    def schema_message(self) -> bytes | None:
        """The encapsulated Arrow schema message, with framing arrow, once the first block was read."""
        return self._intake.schema

    @property
    def last(self) -> bool | None:
        """Whether each partition with a block here has no further block in the output; None before the end."""
        return self._intake.last if self._intake.ended else None

    def blocks(self) -> Iterator[FragmentBlock]:
        """Yield the blocks. After the last one, the end block was checked.

        Raises:
            FaroError: a fault of FRG-4, in the role ``fragment``, or ``io``.
        """
        for block in self._stream.blocks(self._intake):
            if block.kind in PARTITION_KINDS:
                yield FragmentBlock(
                    block.offset,
                    block.partition,
                    block.sequence,
                    block.kind,
                    block.codec,
                    block.plain_size,
                    block.stored,
                    block.dictionary,
                )

    def decode(self, block: FragmentBlock) -> memoryview | bytes:
        """Return the plain payload of a block of this fragment (check 12 of BLK-7).

        Raises:
            FaroError: ``malformed-block`` or ``limit-exceeded``.
        """
        if block.codec == CODEC_NONE:
            return block.stored
        most = self._stream.limits.max_window_size
        dictionary = self._dictionary(block.dictionary) if block.dictionary else None
        try:
            return decompress(block.codec, block.stored, block.plain_size, most, dictionary)
        except DecodeError as fault:
            at = block.offset + BLOCK_HEADER_SIZE
            raise self._intake.error(fault.code, at, fault.expected, fault.found) from None

    def _dictionary(self, number: int) -> Dictionary:
        """Return a dictionary of the fragment, made ready when it is needed first (DIC-6)."""
        if number not in self._known:
            block = self._intake.dictionary(number)
            try:
                self._known[number] = Dictionary(bytes(block.stored))
            except DecodeError as fault:
                at = block.offset + BLOCK_HEADER_SIZE
                raise self._intake.error(fault.code, at, fault.expected, fault.found) from None
        return self._known[number]


class _Stream:
    """The bytes of a stream that were not looked at."""

    def __init__(self, stream: BinaryIO, limits: Limits) -> None:
        self.limits = limits
        self._from = stream
        self._left = b""

    def more(self) -> bool:
        """Whether there is another byte."""
        if not self._left:
            try:
                self._left = self._from.read(_PIECE) or b""
            except OSError as fault:
                if isinstance(fault, FaroError):
                    raise
                expected = "a stream of fragments that can be read"
                raise FaroError(ErrorCode.IO, expected, str(fault), errno=fault.errno) from fault
        return bool(self._left)

    def header(self, intake: Intake) -> FileHeader:
        """Read until the header of a fragment has passed its checks; the rest waits."""
        while intake.header is None:
            if not self.more():
                intake.check_ended()
            piece, self._left = self._left[: 64 - len(intake)], self._left[64 - len(intake) :]
            for _ in intake.take(piece):
                pass
        return intake.header

    def blocks(self, intake: Intake) -> Iterator[Block]:
        """Yield the parts after the header, up to the end block."""
        while not intake.ended:
            if not self.more():
                intake.check_ended()
            piece, self._left = self._left, b""
            try:
                for block in intake.take(piece):
                    if block is not None:
                        yield block
            finally:
                if intake.ended:
                    self._left = intake.rest() + self._left


def read_fragments(stream: BinaryIO, *, limits: Limits = DEFAULT_LIMITS) -> Iterator[Fragment]:
    """Yield the fragments of a stream, one after another (FRG-5).

    What was not read of a fragment is passed over, and checked, before the next::

        for fragment in read_fragments(stream):
            for block in fragment.blocks():
                print(fragment.header.producer, block.partition, block.number, len(fragment.decode(block)))

    Args:
        stream: its ``read`` returns bytes, and none at the end.
        limits: of what is taken from it.

    Raises:
        FaroError: a fault of FRG-4, in the role ``fragment``, or ``io``.
    """
    source = _Stream(stream, check_limits(limits))
    while source.more():
        intake = Intake(source.limits)
        fragment = Fragment(source, intake, source.header(intake))
        yield fragment
        for _ in fragment.blocks():
            pass
