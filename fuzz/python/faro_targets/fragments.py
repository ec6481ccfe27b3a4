"""The target `fragments`: a stream of fragments, read at once and in small pieces."""

from __future__ import annotations

import hashlib
import io
import struct
from dataclasses import dataclass, field
from typing import BinaryIO

from faro_format import ErrorCode, FaroError, FileHeader, Limits
from faro_format.merge import Fragment, FragmentBlock, read_fragments

from faro_targets.broken import require
from faro_targets.folder import Folder
from faro_targets.inputs import is_sealed, limits_of, same_error
from faro_targets.seal import seal_stream
from faro_targets.transcript import Transcript

_FEW = 7


@dataclass
class ReadFragment:
    """What was read of a fragment, up to its end or an error."""

    header: FileHeader
    schema: bytes | None = None
    blocks: list[FragmentBlock] = field(default_factory=list)
    plain: list[bytes | FaroError] = field(default_factory=list)
    """Of each block: a hash of its plain payload, or why it does not decode."""
    digest: str = ""
    """The sum of VERDICTS.md, of the blocks before the first that does not decode."""
    last: bool | None = None
    """None if an error came first."""


@dataclass
class ReadStream:
    """The fragments of a stream, and the error that ended it."""

    fragments: list[ReadFragment]
    error: FaroError | None


class _Slow(io.RawIOBase):
    """A source that gives a few bytes at once."""

    def __init__(self, data: bytes) -> None:
        self._from = io.BytesIO(data)

    def read(self, size: int = -1, /) -> bytes:
        return self._from.read(min(size, _FEW) if size >= 0 else _FEW)


def fragments(raw: bytes, _folder: Folder, transcript: Transcript) -> None:
    """Read the stream twice."""
    flags = raw[0] if raw else 0
    stream = seal_stream(raw[1:]) if is_sealed(flags) else raw[1:]
    whole = read_stream(io.BytesIO(stream), len(stream), limits_of(flags))
    slow = read_stream(_Slow(stream), len(stream), limits_of(flags))
    lines = _lines(whole, transcript)
    require(lines == _lines(slow, Transcript()), "the same at once and in small pieces")
    require(same_error(whole.error, slow.error), "the same error at once and in small pieces")


def _lines(stream: ReadStream, transcript: Transcript) -> str:
    for fragment in stream.fragments:
        header = fragment.header
        of = (header.producer, header.attempt, header.first_partition, header.partition_count)
        transcript.line("fragment", *of)
        count = next((at for at, plain in enumerate(fragment.plain) if isinstance(plain, FaroError)), None)
        words = ("blocks", len(fragment.plain) if count is None else count, fragment.digest)
        if count is not None:
            transcript.line(*words, fragment.plain[count])
            return str(transcript)
        if fragment.last is None:
            transcript.line(*words, stream.error)
            return str(transcript)
        transcript.line(*words, int(fragment.last))
    if stream.error is not None:
        transcript.line("fragment", stream.error)
    return str(transcript)


def read_stream(source: BinaryIO | io.RawIOBase, size: int, limits: Limits) -> ReadStream:
    """Read the fragments up to the first error."""
    read: list[ReadFragment] = []
    try:
        for fragment in read_fragments(source, limits=limits):  # type: ignore[arg-type]
            read.append(ReadFragment(fragment.header))
            _read(fragment, read[-1], size, limits)
    except FaroError as error:
        return ReadStream(read, judged(error, size))
    return ReadStream(read, None)


def _read(fragment: Fragment, into: ReadFragment, size: int, limits: Limits) -> None:
    digest, decodes = hashlib.sha256(), True
    into.digest = digest.hexdigest()[:16]
    for block in fragment.blocks():
        require(_follows(into, block), "partitions ascend, and the numbers of one are consecutive")
        into.blocks.append(block)
        try:
            plain = bytes(fragment.decode(block))
        except FaroError as error:
            into.plain.append(judged(error, size))
            decodes = False
            continue
        require(len(plain) == block.plain_size <= limits.max_plain_size, "plain_size bytes, at most max_plain_size")
        into.plain.append(hashlib.sha256(plain).digest())
        if decodes:
            digest.update(struct.pack("<IIBI", block.partition, block.number, block.kind, block.plain_size) + plain)
            into.digest = digest.hexdigest()[:16]
    into.schema = fragment.schema_message
    into.last = fragment.last
    require(into.last is not None, "a fragment that ends says whether it is the last")


def _follows(fragment: ReadFragment, block: FragmentBlock) -> bool:
    header = fragment.header
    inside = header.first_partition <= block.partition < header.end_partition
    if not fragment.blocks:
        return inside
    before = fragment.blocks[-1]
    next_of_same = (before.partition, before.number + 1) == (block.partition, block.number)
    return inside and (before.partition < block.partition or next_of_same)


def judged(error: FaroError, size: int) -> FaroError:
    """The error, after checking that bytes of a fragment explain it."""
    require(error.code not in (ErrorCode.IO, ErrorCode.INVALID_ARGUMENT), f"an error that bytes explain: {error}")
    inside = error.role == "fragment" and error.offset is not None and 0 <= error.offset <= size
    require(inside, f"an error in the fragment: {error}")
    return error
