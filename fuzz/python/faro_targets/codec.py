"""The targets `codec_lz4` and `codec_zstd`: one payload as the only block of a partition."""

from __future__ import annotations

import struct

from faro_format import Codec, ErrorCode, FaroError, FileHeader, FileKind, Framing, Limits
from faro_format._block.block import PARTITION_KINDS, check_block, check_padding, decode
from faro_format._codec import compress, decompress
from faro_format._storage.input_file import InputFile, Window

from faro_targets.broken import require
from faro_targets.folder import Folder
from faro_targets.inputs import DATA
from faro_targets.seal import BLOCK, HEADER, block_checksum, pad8
from faro_targets.transcript import Transcript, sum_of

_MOST_PLAIN = 0x1FFFF
_LIMITS = Limits(max_window_size=1 << 20)
_HEADER = FileHeader(FileKind.DATA, Framing.OPAQUE, partition_count=1)._encode()


def codec_lz4(raw: bytes, folder: Folder, transcript: Transcript) -> None:
    """An LZ4 block."""
    _run(Codec.LZ4, raw, folder, transcript)


def codec_zstd(raw: bytes, folder: Folder, transcript: Transcript) -> None:
    """A Zstandard frame."""
    _run(Codec.ZSTD, raw, folder, transcript)


def _run(codec: Codec, raw: bytes, folder: Folder, transcript: Transcript) -> None:
    plain_size = int.from_bytes(raw[:3], "little") & _MOST_PLAIN
    stored = raw[3:]
    head = struct.pack("<IIIIBBHI", len(stored), plain_size, 0, 0, 0, codec, 0, 0)
    file = bytearray(_HEADER + head + stored.ljust(pad8(len(stored)), b"\0"))
    # Not `seal`, because a payload may end like a tail.
    struct.pack_into("<I", file, HEADER + 20, block_checksum(file, HEADER, len(stored)))
    path = folder.write(DATA, bytes(file))
    try:
        plain = _decode(path)
    except FaroError as error:
        require(error.offset is not None, f"an error with its place: {error}")
        at = (error.offset or 0) - HEADER
        shrinks = len(stored) < plain_size
        beyond = error.code == ErrorCode.LIMIT_EXCEEDED and codec == Codec.ZSTD and at == BLOCK and shrinks
        malformed = error.code == ErrorCode.MALFORMED_BLOCK and at == (BLOCK if shrinks else 4)
        require(beyond or malformed, f"an error of a payload: {error}")
        transcript.line(f"!{error.code}", "block", at)
        transcript.note(f"{error.code}@block:{at}")
        return
    require(len(plain) == plain_size, "plain_size bytes")
    transcript.line("plain", sum_of(plain))
    packed = memoryview(compress(codec, 1, plain))
    require(decompress(codec, packed, len(plain), 1 << 23) == plain, "what is written is read")


def _decode(path: str) -> bytes:
    file = InputFile(path, "data")
    try:
        file.header()
        window = Window(file, file.size)
        block = check_block(window, HEADER, file.size, PARTITION_KINDS, _LIMITS, metadata=False)
        check_padding(block, window)
        return bytes(decode(block, _LIMITS, file).payload)
    finally:
        file.close()
