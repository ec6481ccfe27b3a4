"""Compression of block payloads (COD): one LZ4 block, or one Zstandard frame without its magic number.

Contexts are kept per thread, because making one costs more than compressing a small block.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import lz4.block
import zstandard

from faro_format._error import ErrorCode


class Codec(IntEnum):
    """How a payload is compressed (COD)."""

    NONE = 0
    """It is stored plain."""
    LZ4 = 1
    """One LZ4 block."""
    ZSTD = 2
    """One Zstandard frame without its magic number."""


# Code that runs for each block uses these: finding a member in its class takes several times as long.
CODEC_NONE, CODEC_LZ4, CODEC_ZSTD = CODECS = tuple(Codec)
"""The codecs, by number."""

_MAX_FRAME_BLOCK = 131_072
_contexts = threading.local()
_KEPT = 8
"""Contexts for dictionaries that a thread keeps."""
_EMPTY_FRAME = b"\x20\x00\x01\x00\x00"
"""An empty frame, which makes a decoder check its dictionary."""


class DecodeError(Exception):
    """A payload that does not decode. The block module adds its offset."""

    def __init__(self, code: ErrorCode, expected: str, found: str = "") -> None:
        """Make the error of a payload, with the code that COD names."""
        super().__init__(code, expected, found)
        self.code = code
        self.expected = expected
        self.found = found


class Dictionary:
    """A Zstandard dictionary, digested once for all threads."""

    def __init__(self, raw: bytes) -> None:
        """Digest the bytes of a dictionary (RFC 8878, section 5).

        Raises:
            DecodeError: the decoder refuses it (DIC-6).
        """
        self.digest = zstandard.ZstdCompressionDict(raw, dict_type=zstandard.DICT_TYPE_FULLDICT)
        try:
            # The library digests it at the first use, and not for two threads at a time.
            self.decompressor().decompress(_EMPTY_FRAME, max_output_size=1)
        except zstandard.ZstdError as fault:
            raise DecodeError(ErrorCode.MALFORMED_BLOCK, "a Zstandard dictionary", str(fault)) from None

    def decompressor(self) -> Any:  # noqa: ANN401
        """Return a context for one thread, which decodes with the dictionary."""
        return zstandard.ZstdDecompressor(
            dict_data=self.digest, format=zstandard.FORMAT_ZSTD1_MAGICLESS, max_window_size=1 << 31
        )


class TrainedDictionary:
    """A dictionary and the level that it compresses with, digested once."""

    def __init__(self, raw: bytes, level: int) -> None:
        """Digest a dictionary that training made.

        Raises:
            zstandard.ZstdError: the library refuses it.
        """
        parameters = _parameters(level)
        digest = zstandard.ZstdCompressionDict(raw, dict_type=zstandard.DICT_TYPE_FULLDICT)
        digest.precompute_compress(compression_params=parameters)
        self.raw = raw
        self._compressor = zstandard.ZstdCompressor(dict_data=digest, compression_params=parameters)

    def compress(self, plain: Any) -> bytes:  # noqa: ANN401 - any contiguous buffer
        """Return a payload of codec 2 for blocks that name the dictionary; one thread at a time."""
        packed: bytes = self._compressor.compress(plain)
        return packed


def train(samples: Sequence[bytes], size: int) -> bytes | None:
    """Return a dictionary of at most ``size`` bytes trained on samples, or None if they do not make one."""
    try:
        raw: bytes = zstandard.train_dictionary(size, list(samples)).as_bytes()
    except zstandard.ZstdError:
        # Too few samples, or none alike.
        return None
    return raw


def _parameters(level: int) -> Any:  # noqa: ANN401
    # No level has a window above 8 MiB (COD-5).
    return zstandard.ZstdCompressionParameters.from_level(
        level,
        format=zstandard.FORMAT_ZSTD1_MAGICLESS,
        write_content_size=False,
        write_checksum=False,
        write_dict_id=False,
    )


def compress(codec: Codec, level: int, plain: Any) -> bytes:  # noqa: ANN401 - any contiguous buffer
    """Return ``plain`` compressed by LZ4 or Zstandard; level counts for Zstandard only (1 to 19)."""
    packed: bytes
    if codec == CODEC_LZ4:
        packed = lz4.block.compress(plain, store_size=False)
        return packed
    compressors: dict[int, Any] | None = getattr(_contexts, "compressors", None)
    if compressors is None:
        compressors = _contexts.compressors = {}
    compressor = compressors.get(level)
    if compressor is None:
        compressor = compressors[level] = zstandard.ZstdCompressor(compression_params=_parameters(level))
    packed = compressor.compress(plain)
    return packed


def decompress(
    codec: Codec, payload: memoryview, plain_size: int, max_window: int, dictionary: Dictionary | None = None
) -> bytes:
    """Return the plain payload of a compressed block (COD-1 to COD-4).

    Args:
        codec: LZ4 or Zstandard.
        payload: the payload as stored.
        plain_size: the bytes that it must decode to, already checked against its limit.
        max_window: the largest window of a Zstandard frame, in bytes.
        dictionary: the one that the block names (DIC-2), with Zstandard.

    Raises:
        DecodeError: with the code that COD names.
    """
    if codec == CODEC_LZ4:
        try:
            plain: bytes = lz4.block.decompress(payload, uncompressed_size=plain_size)
        except lz4.block.LZ4BlockError as fault:
            raise DecodeError(ErrorCode.MALFORMED_BLOCK, f"an LZ4 block of {plain_size} bytes", str(fault)) from None
    else:
        _check_frame(payload, plain_size, max_window)
        decompressor = _decompressor() if dictionary is None else _decompressor_with(dictionary)
        try:
            plain = decompressor.decompress(payload, max_output_size=plain_size, allow_extra_data=False)
        except zstandard.ZstdError as fault:
            raise DecodeError(
                ErrorCode.MALFORMED_BLOCK, f"a Zstandard frame of {plain_size} bytes", str(fault)
            ) from None
    if len(plain) != plain_size:
        raise DecodeError(ErrorCode.MALFORMED_BLOCK, f"{plain_size} plain bytes", f"{len(plain)}")
    return plain


def _decompressor() -> Any:  # noqa: ANN401
    """Return the thread's context for frames without a dictionary."""
    decompressor = getattr(_contexts, "decompressor", None)
    if decompressor is None:
        # The window was checked before. The library's own limit must not be lower.
        decompressor = _contexts.decompressor = zstandard.ZstdDecompressor(
            format=zstandard.FORMAT_ZSTD1_MAGICLESS, max_window_size=1 << 31
        )
    return decompressor


def _decompressor_with(dictionary: Dictionary) -> Any:  # noqa: ANN401
    """Return the thread's context for a dictionary; those used last are kept."""
    kept: OrderedDict[Dictionary, Any] | None = getattr(_contexts, "with_dictionary", None)
    if kept is None:
        kept = _contexts.with_dictionary = OrderedDict()
    decompressor = kept.get(dictionary)
    if decompressor is None:
        if len(kept) >= _KEPT:
            kept.popitem(last=False)
        decompressor = kept[dictionary] = dictionary.decompressor()
    else:
        kept.move_to_end(dictionary)
    return decompressor


def _check_frame(payload: memoryview, plain_size: int, max_window: int) -> None:
    """Check the structure of a frame (COD-4), which decoders judge differently."""

    def malformed(expected: str, found: object = "") -> DecodeError:
        return DecodeError(ErrorCode.MALFORMED_BLOCK, expected, str(found))

    size = len(payload)
    if size < 1:
        raise malformed("a frame header", "no bytes")
    descriptor = payload[0]
    if descriptor & 0x1F:
        raise malformed("a frame header descriptor with its low five bits zero", f"{descriptor:#04x}")
    single = bool(descriptor & 0x20)
    field = (1 if single else 0, 2, 4, 8)[descriptor >> 6]
    at = 1 if single else 2
    if size < at + field:
        raise malformed("a whole frame header", f"{size} bytes")
    window = plain_size
    if not single:
        exponent, mantissa = payload[1] >> 3, payload[1] & 7
        window = (1 << (10 + exponent)) + (mantissa << (7 + exponent))
    if field:
        content = int.from_bytes(payload[at : at + field], "little") + (256 if field == 2 else 0)
        if content != plain_size:
            raise malformed(f"content size {plain_size}", content)
    if window > max_window:
        raise DecodeError(ErrorCode.LIMIT_EXCEEDED, f"a window of at most {max_window} bytes", str(window))
    at += field
    largest = min(window, _MAX_FRAME_BLOCK)
    last = 0
    while not last:
        if size - at < 3:
            raise malformed("the header of a frame's block", f"{size - at} bytes")
        header = int.from_bytes(payload[at : at + 3], "little")
        last, kind, length = header & 1, (header >> 1) & 3, header >> 3
        if kind == 3:
            raise malformed("a frame's block of type 0, 1 or 2", 3)
        if length > largest:
            raise malformed(f"a frame's block of at most {largest} bytes", length)
        at += 3 + (1 if kind == 1 else length)
        if at > size:
            raise malformed("a frame's block inside the payload", f"{at - size} bytes past it")
    if at != size:
        raise malformed("the frame's end at the payload's end", f"{size - at} bytes more")
