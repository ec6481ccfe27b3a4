"""Payloads of blocks: plain, compressed by libraries or by hand, and damaged."""

from __future__ import annotations

import random
import struct
from typing import Any

import lz4.block
import zstandard
from generate.codecs import lz4_sequence, zstd_chunk, zstd_frame
from generate.output import arrow_message
from generate.raw import ARROW, LZ4, RECORDS, ZSTD, Block

from differential.frames import Verdict, judge
from differential.messages import nudge

_WORDS = b"the of shuffle and partition region block extent to data in writer reader index footer zero".split()


def plain(framing: int, rng: random.Random, most: int = 600) -> bytes:
    """A data payload of a framing, of at least one byte."""
    if framing == ARROW:
        return arrow_message(_bytes(rng, rng.randrange(1, 40)), _bytes(rng, rng.randrange(most)))
    if framing == RECORDS:
        records = [_bytes(rng, rng.randrange(most // 2)) for _ in range(rng.randrange(1, 5))]
        return b"".join(struct.pack("<I", len(record)) + record for record in records)
    return _bytes(rng, rng.randrange(1, most))


def _bytes(rng: random.Random, size: int) -> bytes:
    way = rng.randrange(4)
    if way == 0:
        return rng.randbytes(size)
    if way == 1:
        return rng.randbytes(1) * size
    unit = b" ".join(rng.choice(_WORDS) for _ in range(rng.randrange(1, 20)))
    return (unit * (size // len(unit) + 1))[:size]


def block(framing: int, rng: random.Random, harm: bool) -> Block:
    """A data block, compressed four times in ten. With `harm` some of these are damaged."""
    made = _compressed(framing, rng, harm) if rng.random() < 0.4 else None
    return made or Block(plain(framing, rng))


def block_with_dictionary(framing: int, rng: random.Random, content: bytes, number: int) -> Block:
    """A data block that names a dictionary: compressed with it, or a frame that does not need it; or a plain one."""
    if framing not in (ARROW, RECORDS) and rng.random() < 0.3:
        _, stored, text = _zstd_by_hand(rng)
        if judge(ZSTD, stored, len(text)) is Verdict.TAKE and len(stored) < len(text):
            return Block(text, codec=ZSTD, stored=stored, dictionary=number)
    text = plain(framing, rng, rng.choice([100, 600, 3000]))
    parameters = zstandard.ZstdCompressionParameters.from_level(
        rng.choice([1, 3, 9]), write_content_size=rng.random() < 0.5, write_checksum=False, write_dict_id=False
    )
    try:
        digest = zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_FULLDICT)
        compressor = zstandard.ZstdCompressor(compression_params=parameters, dict_data=digest)
        stored = compressor.compress(text)[4:]
    except zstandard.ZstdError:
        # No library accepts this dictionary, so every frame is refused.
        stored = text[: len(text) // 2]
    return Block(text, codec=ZSTD, stored=stored, dictionary=number) if len(stored) < len(text) else Block(text)


def compressed_block(framing: int, rng: random.Random) -> Block:
    """A compressed data block, damaged or not; or a plain one if compression saved nothing."""
    for _ in range(8):
        made = _compressed(framing, rng, True)
        if made is not None:
            return made
    return Block(plain(framing, rng))


def _compressed(framing: int, rng: random.Random, harm: bool) -> Block | None:
    by_hand = framing not in (ARROW, RECORDS) and rng.random() < 0.6
    made = _by_hand(rng) if by_hand else _by_library(framing, rng)
    if made is None:
        return None
    codec, stored, content = made
    size = len(content)
    if harm and rng.random() < 0.35:
        stored, size = _damaged(codec, stored, size, rng)
    wrong = by_hand and not harm and judge(codec, stored, size) is not Verdict.TAKE
    if len(stored) >= size or wrong:
        # Only BLK-7, check 8a, would be reached.
        return None
    return Block(content, codec=codec, stored=stored, plain_size=size)


def _by_library(framing: int, rng: random.Random) -> tuple[int, bytes, bytes] | None:
    # Sometimes more than fits into one block of a frame (128 KiB).
    most = 400_000 if rng.random() < 0.01 else rng.choice([200, 600, 3000])
    content = plain(framing, rng, most)
    if rng.random() < 0.5:
        mode = rng.choice(["default", "fast", "high_compression"])
        stored = lz4.block.compress(content, mode=mode, store_size=False)
        return (LZ4, stored, content) if len(stored) < len(content) else None
    options: dict[str, Any] = {"write_content_size": rng.random() < 0.5, "write_checksum": False}
    if rng.random() < 0.3:
        options["window_log"] = rng.choice([10, 11, 17, 20])
    level = rng.choice([-5, 1, 3, 9, 19])
    parameters = zstandard.ZstdCompressionParameters.from_level(level, **options)
    compressor = zstandard.ZstdCompressor(compression_params=parameters)
    # COD-3: without the magic number.
    stored = compressor.compress(content)[4:]
    return (ZSTD, stored, content) if len(stored) < len(content) else None


def _by_hand(rng: random.Random) -> tuple[int, bytes, bytes]:
    return _lz4_by_hand(rng) if rng.random() < 0.5 else _zstd_by_hand(rng)


def _lz4_by_hand(rng: random.Random) -> tuple[int, bytes, bytes]:
    """Sequences with any distances and lengths, near the limits that the end of a block has and far from them."""
    stored, content = b"", bytearray()
    for _ in range(rng.randrange(1, 6)):
        literals = rng.randbytes(rng.choice([0, 1, 3, 14, 15, 16, 40, 270]))
        content += literals
        distance = rng.choice([1, 2, 7, 8, 16, len(content), len(content) + 1, 0])
        length = rng.choice([4, 5, 8, 18, 19, 20, 40, 273, 274])
        if 1 <= distance <= len(content):
            for _ in range(length):
                content.append(content[-distance])
        else:
            content += bytes(length)
        stored += lz4_sequence(literals, distance, length)
    last = rng.randbytes(rng.choice([0, 1, 4, 5, 6, 8, 11, 12, 13, 20]))
    token = rng.choice([0, 0, 0, 5, 15])
    end = bytearray(lz4_sequence(last))
    end[0] |= token
    return LZ4, stored + bytes(end), bytes(content) + last


def _zstd_by_hand(rng: random.Random) -> tuple[int, bytes, bytes]:
    """Raw and run blocks, with any window and content size field."""
    content, chunks = b"", b""
    count = rng.randrange(1, 5)
    for number in range(count):
        last = number == count - 1
        size = rng.choice([0, 1, 100, 1000, 1024, 1025, rng.randrange(3000)])
        if rng.random() < 0.01:
            size = rng.choice([131_072, 131_073])
        byte = rng.randbytes(1)
        if rng.random() < 0.6:
            chunks += zstd_chunk(1, byte, size, last)
        else:
            chunks += zstd_chunk(0, byte * size, last=last)
        content += byte * size
    window = rng.choice([None, None, 0, 0, 1, 7, 8, 24, 56, 13 << 3, 13 << 3 | 1, rng.randrange(256)])
    width = rng.randrange(4)
    sized = bool(width) or window is None
    flags = rng.choice([0] * 12 + [1, 2, 4, 8, 16])
    return ZSTD, zstd_frame(chunks, window, len(content) if sized else None, width, flags), content


def _damaged(codec: int, stored: bytes, size: int, rng: random.Random) -> tuple[bytes, int]:
    """The payload with a byte changed, cut, longer or random, or with another plain size."""
    way = rng.randrange(6)
    if way == 0:
        return stored, max(1, size + rng.choice([-8, -1, 1, 1, 8, 100_000]))
    if way == 1:
        return stored[: rng.randrange(rng.choice([4, 12, len(stored)]) + 1)], size
    if way == 2:
        return stored + rng.randbytes(rng.choice([1, 4, 8])), size
    if way == 3:
        return rng.randbytes(rng.randrange(60)), size
    changed = bytearray(stored)
    # The first bytes of a frame say what it is; of LZ4 any byte does.
    end = min(len(changed), rng.choice([4, 12, len(changed)]) if codec == ZSTD else len(changed))
    for _ in range(rng.choice([1, 1, 2, 4])):
        if end:
            at = rng.randrange(end)
            changed[at] = nudge(changed[at], 8, rng)
    return bytes(changed), size
