"""Random scripts of writer calls. Most calls are valid, some are refused."""

from __future__ import annotations

import random
from typing import Any

from generate.trained import HEAD, OTHERS, TEXTS, WORDS, another

Call = dict[str, Any]
# The shortest message that FRM-4 passes.
_MESSAGE = "ffffffff08000000" + "00" * 8


class _Script:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.count = rng.choice([1, 2, 3, 5, 8, 17, 100])
        self.first = rng.choice([0, 0, 7])
        self.framing = rng.choice(["opaque", "records", "arrow"])
        self.options = self._options()
        self.reached: dict[int, int] = {}
        # A writer that trains dictionaries may number them in any way.
        self.trains = self.options.get("dictionaries", False) and self.options.get("codec") == "zstd"

    def _options(self) -> dict[str, Any]:
        rng = self.rng
        options: dict[str, Any] = {
            "partition_count": self.count, "first_partition": self.first, "framing": self.framing,
            "file_id": f"{rng.getrandbits(128):032x}", "layout": rng.choice(["paired", "single"]),
            "block_size": rng.choice([1, 10, 100, 1000, 65536]),
            "buffer_size": rng.choice([1, 50, 500, 5000, 1 << 26]), "ordered": rng.random() < 0.6,
            "statistics": rng.random() < 0.7, "overwrite": rng.random() < 0.3, "producer": str(rng.getrandbits(64)),
            "attempt": str(rng.choice([0, 1, 8, (1 << 64) - 1])), "max_plain_size": rng.choice([100, 1 << 26, 1 << 26]),
        }  # fmt: skip
        if rng.random() < 0.5:
            options["rotation"] = rng.randrange(self.count)
        if rng.random() < 0.5:
            options["created_by"] = rng.choice(["x", "", "\u00e9\U0001f600"])
        if rng.random() < 0.2:
            options["follow"] = True
        if rng.random() < 0.25:
            options["codec"] = rng.choice(["lz4", "zstd"])
            if rng.random() < 0.3:
                options["level"] = rng.choice([1, 3, 9])
        if rng.random() < 0.35:
            options["dictionaries"] = rng.random() < 0.9
        if rng.random() < 0.25:
            options["selective"] = rng.random() < 0.9
        if rng.random() < 0.1:
            options["durability"] = rng.choice(["none", "commit"])
        if self.framing == "arrow":
            options["schema"] = {"hex": _MESSAGE}
        if rng.random() < 0.2:
            options["single_below"] = rng.choice([1, 30, 100, 1000, 10_000])
            if rng.random() < 0.95:
                for name in ("layout", "overwrite", "follow"):
                    options.pop(name, None)
        if rng.random() < 0.04:
            name = rng.choice(["block_size", "buffer_size", "partition_count", "rotation", "max_plain_size", "level"])
            options[name] = rng.choice([-1, 0, 1 << 40])
        return options

    def payload(self) -> dict[str, Any]:
        rng = self.rng
        if self.framing == "arrow" and rng.random() < 0.95:
            return {"hex": _MESSAGE + "ab" * rng.randrange(60)}
        length = rng.choice(
            [0, 1, 8, rng.randrange(400), rng.randrange(400), rng.randrange(400), rng.randrange(10_000)]
        )
        return rng.choice([
            {"repeat": rng.choice("abc"), "length": length}, {"random": rng.randrange(99), "length": length},
            {"words": rng.randrange(9), "length": length},
        ])  # fmt: skip

    def partition(self) -> int:
        rng = self.rng
        if rng.random() < 0.04:
            return rng.choice([self.first + self.count, max(self.first - 1, 0)])
        return self.first + rng.randrange(self.count)

    def kind(self) -> int:
        return self.rng.choice([0, 0, 0, 0, 0, 0, 0, 0, 1, 64, 127, 2, 128])

    def block(self) -> dict[str, Any]:
        rng = self.rng
        if rng.random() < 0.8:
            payload = self.payload() if rng.random() < 0.9 else {"text": ""}
            return {"kind": rng.choice([0, 0, 0, 1, 70]), "payload": payload, "records": rng.randrange(3)}
        if rng.random() < 0.5 and not self.trains:
            name = rng.choice(list(TEXTS))
            plain, packed = TEXTS[name]
            number = rng.choice([1, 1, 1, 2, 2, 3, 4, 0])
            return {
                "kind": 0,
                "codec": 2,
                "plain_size": len(plain),
                "stored": {"hex": packed.hex()},
                "dictionary": number,
            }
        filler = {"repeat": "z", "length": rng.choice([40, 20])}
        codec = rng.choice([0, 1, 2, 2, 3])
        return {"kind": 0, "codec": codec, "plain_size": rng.choice([40, 40, 40, 5]), "stored": filler, "records": 1}

    def region(self) -> list[dict[str, Any]]:
        rng = self.rng
        blocks: list[dict[str, Any]] = []
        slots = sorted(rng.sample(range(self.count), rng.randrange(min(self.count, 6) + 1)))
        rotation = self.options.get("rotation", 0)
        if rng.random() < 0.7:
            slots = [slot for slot in slots if slot >= rotation] + [slot for slot in slots if slot < rotation]
        for slot in slots:
            blocks += [{**self.block(), "partition": self.first + slot} for _ in range(rng.randrange(1, 3))]
        for _ in range(rng.choice([0, 0, 1, 2])):
            members = "all" if rng.random() < 0.5 else [self.partition() for _ in range(rng.randrange(5))]
            blocks.append({"shared": members})
            blocks += [self.block() for _ in range(rng.randrange(3))]
        return self.with_sequences(blocks) if "selective" in self.options else blocks

    def with_sequences(self, blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The blocks with wanted sequences before some of them, most of which ascend."""
        rng = self.rng
        wanted: list[dict[str, Any]] = []
        for block in blocks:
            if rng.random() < 0.3:
                stream = block.get("partition", -1)
                self.reached[stream] = self.reached.get(stream, 0) + rng.randrange(1, 20)
                usual = rng.random() < 0.95
                wanted.append(
                    {"sequence": self.reached[stream] if usual else rng.choice([-1, 0, (1 << 32) - 2, 1 << 32])}
                )
            wanted.append(block)
        return wanted

    def skip(self) -> Call:
        """A gap between two regions, most of which are above what was reached."""
        rng = self.rng
        stream = -1 if rng.random() < 0.3 else self.partition()
        self.reached[stream] = self.reached.get(stream, 0) + rng.randrange(20)
        sequence = self.reached[stream] if rng.random() < 0.95 else rng.choice([-1, 0, (1 << 32) - 1, 1 << 32])
        if stream < 0:
            return {"call": "skip_shared_to", "sequence": sequence}
        return {"call": "skip_to", "partition": stream, "sequence": sequence}

    def many(self) -> Call:
        rng = self.rng
        return {
            "call": "many", "count": 2000 if self.trains else 20, "seed": rng.randrange(1 << 32),
            "content": rng.choice(["words", "random"]), "partitions": [self.first, self.first + self.count],
            "length": [0, 50],
        }  # fmt: skip

    def call(self) -> Call:
        rng = self.rng
        way = rng.random()
        if way < 0.55:
            return {"call": "write", "partition": self.partition(), "kind": self.kind(), "payload": self.payload()}
        if way < 0.65:
            return {"call": "broadcast", "kind": self.kind(), "payload": self.payload()}
        if way < 0.8:
            members = [self.partition() for _ in range(rng.randrange(2 * self.count + 1))]
            return {"call": "multicast", "partitions": members, "kind": self.kind(), "payload": self.payload()}
        if way < 0.84:
            return {"call": "flush"}
        if "selective" in self.options and rng.random() < 0.3:
            return self.skip()
        if self.options.get("dictionaries") is not None and rng.random() < 0.3 and not self.trains:
            content = rng.choice([WORDS, WORDS, OTHERS, another(WORDS), HEAD, WORDS[:7], OTHERS[1:], b""])
            return {"call": "dictionary", "payload": {"hex": content.hex()}}
        if way < 0.88:
            return {"call": "property", "key": rng.choice("abcd\u00e9\U0001f600"), "value": rng.choice(["", "v"])}
        # Framing arrow has no payloads that `many` could draw.
        if way < 0.97 or self.framing == "arrow":
            return {"call": "region", "blocks": self.region()}
        return self.many()


def random_script(rng: random.Random) -> dict[str, Any]:
    """Options and calls, as `write` takes them."""
    script = _Script(rng)
    calls = [script.call() for _ in range(rng.randrange(30))]
    if rng.random() < 0.95:
        calls.append({"call": "finish"})
    if rng.random() < 0.1:
        calls.append({"call": rng.choice(["abort", "flush", "finish"])})
    return {"options": script.options, "calls": calls}
