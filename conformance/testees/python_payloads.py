"""The payloads that requests describe, by the generator of the conformance protocol (../protocol.md)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from faro_format._bytes.spans import copy_spans

Json = dict[str, Any]
Words = npt.NDArray[np.uint64]

WORDS = b"the of shuffle and partition region block extent to data in writer reader index footer zero".split()
GAMMA = np.uint64(0x9E3779B97F4A7C15)


def mix(state: Words) -> Words:
    """Return SplitMix64's outputs for states that were already advanced."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def outputs(seed: int, count: int) -> Words:
    """Return the first outputs of a generator."""
    return mix(np.uint64(seed) + GAMMA * np.arange(1, count + 1, dtype=np.uint64))


def random_bytes(seed: int, length: int) -> bytes:
    """Return the payload `random`."""
    return outputs(seed, (length + 7) // 8).astype("<u8").tobytes()[:length]


def random_words(seed: int, length: int) -> bytes:
    """Return the payload `words`."""
    # Sixteen words have at least 48 bytes.
    values = outputs(seed, length // 48 + 1)
    nibbles = (values[:, None] >> (np.uint64(4) * np.arange(16, dtype=np.uint64))) & np.uint64(15)
    return b"".join(WORDS[i] + b" " for i in nibbles.ravel().tolist())[:length]


def payload(spec: Json) -> bytes:
    """Return a payload of the protocol."""
    if "text" in spec:
        return str(spec["text"]).encode()
    if "hex" in spec:
        return bytes.fromhex(spec["hex"])
    length = int(spec["length"])
    if "repeat" in spec:
        unit = str(spec["repeat"]).encode()
        return (unit * (length // len(unit) + 1))[:length]
    if "random" in spec:
        return random_bytes(int(spec["random"]), length)
    return random_words(int(spec["words"]), length)


def records_of_many(call: Json) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Return the partitions of the records of `many`, where each begins, and their bytes."""
    count, seed = int(call["count"]), int(call["seed"])
    low, high = call["partitions"]
    least, most = call["length"]
    drawn = outputs(seed, 3 * count).reshape(count, 3)
    partitions = (np.uint64(low) + drawn[:, 0] % np.uint64(high - low)).astype(np.int64)
    lengths = (np.uint64(least) + drawn[:, 1] % np.uint64(most - least + 1)).astype(np.int64)
    offsets = np.append(0, np.cumsum(lengths))
    if call["content"] == "random":
        words = (lengths + 7) // 8
        begins = np.append(0, np.cumsum(words))
        within = np.arange(1, begins[-1] + 1, dtype=np.int64) - np.repeat(begins[:-1], words)
        states = np.repeat(drawn[:, 2], words) + GAMMA * within.astype(np.uint64)
        data = np.empty(int(offsets[-1]), np.uint8)
        copy_spans(mix(states).astype("<u8").view(np.uint8), 8 * begins[:-1], lengths, data, offsets[:-1])
    else:
        pieces = zip(drawn[:, 2].tolist(), lengths.tolist(), strict=True)
        data = np.frombuffer(b"".join(random_words(start, length) for start, length in pieces), np.uint8)
    return partitions, offsets, data
