"""The protocol's generator of payloads (SplitMix64)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MASK = (1 << 64) - 1
WORDS = [
    "the",
    "of",
    "shuffle",
    "and",
    "partition",
    "region",
    "block",
    "extent",
    "to",
    "data",
    "in",
    "writer",
    "reader",
    "index",
    "footer",
    "zero",
]


class SplitMix:
    """SplitMix64, its state at first the seed."""

    def __init__(self, seed: int) -> None:
        self.state = seed & MASK

    def next(self) -> int:
        """The next 64 bits."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)


def random_bytes(seed: int, length: int) -> bytes:
    """The `random` payload."""
    source = SplitMix(seed)
    return b"".join(source.next().to_bytes(8, "little") for _ in range(-(-length // 8)))[:length]


def word_bytes(seed: int, length: int) -> bytes:
    """The `words` payload."""
    source, out, size = SplitMix(seed), [], 0
    while size < length:
        bits = source.next()
        for _ in range(16):
            word = WORDS[bits & 15].encode() + b" "
            out.append(word)
            size += len(word)
            bits >>= 4
    return b"".join(out)[:length]


def many(call: dict[str, Any]) -> Iterator[tuple[int, bytes]]:
    """The records of a `many` call: partition and payload."""
    source = SplitMix(call["seed"])
    low, high = call["partitions"]
    least, most = call["length"]
    content = random_bytes if call["content"] == "random" else word_bytes
    for _ in range(call["count"]):
        partition = low + source.next() % (high - low)
        length = least + source.next() % (most - least + 1)
        yield partition, content(source.next(), length)


def payload(spec: dict[str, Any]) -> bytes:
    """The bytes of a payload of the protocol."""
    if "text" in spec:
        return str(spec["text"]).encode()
    if "hex" in spec:
        return bytes.fromhex(str(spec["hex"]))
    if "repeat" in spec:
        unit = str(spec["repeat"]).encode()
        length = int(spec["length"])
        return (unit * (length // len(unit) + 1))[:length]
    if "random" in spec:
        return random_bytes(spec["random"], spec["length"])
    return word_bytes(spec["words"], spec["length"])
