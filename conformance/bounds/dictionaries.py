"""Files with very many dictionaries, with large ones, and with claims of large ones."""

from __future__ import annotations

from pathlib import Path

from generate.raw import OPAQUE, ZSTD, Header
from generate.trained import CORRUPT, DICTIONARIES, TEXTS, WORDS

from .build import Output, block, u32s
from .kind import LIMITS, MIB, Made, kind

KEPT = {**LIMITS, "max_dictionaries": 256, "max_dictionary_size": 64 << 10}
_PLAIN, _STORED = TEXTS["words"]


def _output(*, single: bool = False) -> Output:
    return Output(Header(partition_count=4, framing=OPAQUE, reader_features=DICTIONARIES), single=single)


def _by_turns(out: Output, count: int, blocks: int) -> None:
    """A region of partition 0 whose blocks name each dictionary in turn."""
    content = b"".join(
        block(out.header, _STORED, sequence=n, codec=ZSTD, plain_size=len(_PLAIN), dictionary=n % count + 1)
        for n in range(blocks)
    )
    out.region(content, parts={3: u32s([0] + [len(content) // 8] * 4)})
    out.finish()


def _unnamed(count: int) -> Output:
    """Dictionaries of eight bytes that no block names."""
    out = _output()
    for number in range(count):
        out.dictionary(WORDS[:4] + number.to_bytes(4, "little"))
    out.region(block(out.header, b"x"), parts={3: u32s([0, 4, 4, 4, 4])})
    out.finish()
    return out


@kind(60, 240)
def dictionaries_by_turns(folder: Path, size: int) -> Made:
    """Small dictionaries, and blocks that name them in turn."""
    out = _output()
    for number in range(size):
        out.dictionary(WORDS[:4] + number.to_bytes(4, "little") + WORDS[8:])
    _by_turns(out, size, 20 * size)
    return Made(out.save(folder), "ok", limits=KEPT)


@kind(16, 64)
def dictionaries_large(folder: Path, size: int) -> Made:
    """Dictionaries of 64 KiB in a single file, and blocks that name them in turn."""
    out = _output(single=True)
    for number in range(size):
        # The texts refer only to the end of the dictionary.
        head, content = WORDS[8:144], WORDS[144:]
        filler = bytes((64 << 10) - len(WORDS))
        out.dictionary(WORDS[:4] + number.to_bytes(4, "little") + head + filler + content)
    # Enough that loading them again for each block would take noticeable time.
    _by_turns(out, size, 400 * size)
    return Made(out.save(folder), "ok", limits=KEPT)


@kind(5_000, 20_000)
def dictionaries_unnamed(folder: Path, size: int) -> Made:
    """Dictionaries of eight bytes that no block names."""
    out = _unnamed(size)
    return Made(out.save(folder), "ok", limits={**LIMITS, "max_dictionaries": 65_535})


@kind(2_000, 8_000)
def dictionaries_above_limit(folder: Path, size: int) -> Made:
    """More dictionaries than the limit."""
    out = _unnamed(size)
    return Made(out.save(folder), "limit-exceeded", limits={**LIMITS, "max_dictionaries": 1_000})


@kind(1, 1)
def dictionary_above_limit(folder: Path, size: int) -> Made:
    """A dictionary of 64 MiB where the limit is 64 KiB."""
    out = _output()
    out.dictionary(WORDS + bytes(64 * MIB))
    _by_turns(out, 1, 1)
    return Made(out.save(folder), "limit-exceeded", limits=KEPT)


@kind(50, 200)
def dictionaries_corrupt(folder: Path, size: int) -> Made:
    """Dictionaries that no decoder accepts."""
    out = _output()
    for number in range(size):
        out.dictionary(CORRUPT[:4] + number.to_bytes(4, "little") + CORRUPT[8:])
    _by_turns(out, size, size)
    return Made(out.save(folder), "malformed-block", limits=KEPT)
