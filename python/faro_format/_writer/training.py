"""The dictionaries of a writer: those that it was given, and the one that it trains (DIC-7, DIC-8)."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from faro_format._codec import CODEC_ZSTD, Codec, TrainedDictionary, compress, train
from faro_format._dictionaries import DICTIONARY_MAGIC, MAX_DICTIONARIES, MIN_DICTIONARY, is_dictionary
from faro_format._error import invalid
from faro_format._writer.sampling import Sampled

MAX_GIVEN = 1 << 20
"""The most bytes of a dictionary that a writer accepts."""
SMALL_BLOCK = 16 << 10
"""Blocks below this many plain bytes are compressed with the trained dictionary."""
LEAST_PLAIN = 64 << 10
"""A region with fewer plain bytes is not trained on."""
_SIZE = 16 << 10
_SAMPLED = 256 << 10
_HELD_OUT = 64 << 10
_SHRINKS = 0.95


class KnownDictionaries:
    """The dictionaries of an output that is being written, and those that wait for the next region."""

    def __init__(self, *, wanted: bool, codec: Codec, level: int) -> None:
        """Begin without any.

        Args:
            wanted: the writer's option ``dictionaries``.
            codec: the writer's.
            level: of Zstandard.
        """
        self._wanted = wanted
        self._level = level
        self._training = wanted and codec == CODEC_ZSTD
        self._numbers: dict[bytes, int] = {}
        self.pending: list[bytes] = []
        """The dictionaries that have a number and are not in the file yet."""
        self._trained: TrainedDictionary | None = None
        self._trained_number = 0

    @property
    def count(self) -> int:
        """How many dictionaries have a number."""
        return len(self._numbers)

    def check(self, raw: bytes) -> None:
        """Raise ``invalid-argument`` for bytes that are not accepted (DIC-8)."""
        if not self._wanted:
            raise invalid("a writer with the option dictionaries=True", "one without it")
        if not is_dictionary(raw):
            magic = DICTIONARY_MAGIC.hex(" ")
            wanted = f"content: a Zstandard dictionary, {MIN_DICTIONARY} bytes or more that begin with {magic}"
            raise invalid(wanted, raw[:MIN_DICTIONARY].hex(" ") or "no bytes")
        if len(raw) > MAX_GIVEN:
            raise invalid(f"content: at most {MAX_GIVEN} bytes", len(raw))
        if self.count >= MAX_DICTIONARIES and _key(raw) not in self._numbers:
            raise invalid(f"at most {MAX_DICTIONARIES} dictionaries", "one more")

    def give(self, raw: bytes) -> int:
        """Return the number of a dictionary; one that is new waits for the next region."""
        key = _key(raw)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self.count + 1
            self.pending.append(raw)
        return number

    @property
    def training(self) -> bool:
        """Whether a region that is about to be written may be trained on."""
        # A caller that gives dictionaries has trained them already.
        return self._training and not self._numbers

    def train(self, sampled: Sampled) -> None:
        """Train on a region that is about to be written, if it is the first suitable one (DIC-7)."""
        if not self.training or not _promises(sampled):
            return
        self._training = False
        samples, held_out = _samples(sampled)
        raw = train(samples, _SIZE)
        if raw is None or not is_dictionary(raw):
            return
        trained = TrainedDictionary(raw, self._level)
        before = sum(min(len(plain), len(compress(CODEC_ZSTD, self._level, plain))) for plain in held_out)
        after = sum(min(len(plain), len(trained.compress(plain))) for plain in held_out)
        if after <= _SHRINKS * before:
            self._trained, self._trained_number = trained, self.give(raw)

    @property
    def trained(self) -> bool:
        """Whether there is a trained dictionary."""
        return self._trained is not None

    def compress(self, plain: Any) -> tuple[bytes, int]:  # noqa: ANN401 - any contiguous buffer
        """Return a payload compressed with the trained dictionary, and its number."""
        if self._trained is None:
            raise AssertionError("trained was called first")
        return self._trained.compress(plain), self._trained_number


def _key(raw: bytes) -> bytes:
    return hashlib.sha256(raw).digest()


def _promises(sampled: Sampled) -> bool:
    """Whether a region has enough data in small blocks."""
    return sampled.size >= LEAST_PLAIN and sampled.size < SMALL_BLOCK * sampled.blocks


def _samples(sampled: Sampled) -> tuple[list[bytes], list[bytes]]:
    """Return blocks of a region, taken evenly from it: those to train on, and others."""
    count = max(1, _SAMPLED * sampled.blocks // sampled.size)
    picked = np.unique(np.linspace(0, sampled.blocks - 1, min(sampled.blocks, 2 * count)).astype(np.int64))
    held_out = picked[1::2]
    step = max(1, held_out.size * sampled.size // (_HELD_OUT * sampled.blocks))
    return [sampled.block(n) for n in picked[::2].tolist()], [sampled.block(n) for n in held_out[::step].tolist()]
