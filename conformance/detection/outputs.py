"""The outputs that are damaged. They come from the generator of the cases, not from an implementation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from generate.codecs import lz4_repeat, zstd_chunk, zstd_frame
from generate.mending import MARK
from generate.output import Answer, Built, Output, Region, Shared, build, read_answer, streams
from generate.prng import random_bytes
from generate.raw import LZ4, MERGED, NONE, OPAQUE, ZSTD, Block, Header, run

LAYOUTS = ("paired", "single")
CODECS = ("none", "lz4", "zstd")
STATES = ("finished", "unfinished")
PAGE = 4096
Files = dict[str, bytes]


def block(codec: str, seed: int, size: int, kind: int = 0) -> Block:
    """A block whose size does not depend on its content: two producers' files have blocks at the same offsets."""
    if codec == "none" or kind:
        return Block(random_bytes(seed, size), kind=kind)
    unit = random_bytes(seed, 32)
    if codec == "lz4":
        plain, stored = lz4_repeat(unit, size - 12, random_bytes(seed + 1, 12))
    else:
        plain = unit + unit[:1] * (size - 32)
        stored = zstd_frame(zstd_chunk(0, unit, last=False) + zstd_chunk(1, unit[:1], size - 32))
    if len(stored) >= size:
        return Block(plain)  # BLK-6
    return Block(plain, codec=LZ4 if codec == "lz4" else ZSTD, stored=stored)


def _small(codec: str, seed: int, header: Header) -> list[Region]:
    numbers = iter(range(seed, seed + 1000, 2))

    def made(size: int, kind: int = 0) -> Block:
        return block(codec, next(numbers), size, kind)

    first = Region({0: [made(64), made(48)], 2: [made(5, 1), made(64)], 3: [made(64), made(48)]},
                   [Shared([made(56)]), Shared([made(48)], [0, 1]), Shared([made(48)], [2, 3])])  # fmt: skip
    second = Region({2: [made(61)]})
    third = Region({0: [made(72)], 1: [made(72)], 3: [made(3, 64), made(48)]}, [Shared([made(52), made(50)])])
    return [first, second, third]


def _large(codec: str, seed: int, header: Header) -> list[Region]:
    numbers = iter(range(seed, seed + 10_000, 2))
    # Sizes repeat, as those of full blocks do, so that extents can change places.
    sizes = (240, 200, 200, 264, 120)
    count = header.partition_count
    regions = []
    for number in range(60):
        own = {p: [block(codec, next(numbers), sizes[(p + number) % 5])] for p in range(count) if (p * 7 + number) % 3}
        ones = [(number + turn) % count for turn in (0, 5)]
        shared = [Shared([block(codec, next(numbers), 200)], [one]) for one in ones]
        if number % 4 == 0:
            shared.append(Shared([block(codec, next(numbers), 120)]))
        regions.append(Region(own, shared, sparse=False))
    return regions


def _merged(codec: str, seed: int, header: Header) -> list[Region]:
    """Regions with the runs of three producers."""
    numbers = iter(range(seed, seed + 1000, 2))
    producers = [header.attempt * 10 + number for number in range(3)]

    def of(number: int, blocks: list[Block], first: int, last: bool) -> tuple[int, ...]:
        return run(producers[number], sum(b.size for b in blocks) // 8, len(blocks), first, 0, int(last))

    made = [[block(codec, next(numbers), size) for size in sizes] for sizes in ((64, 48), (64,), (48, 72), (61,))]
    first = Region({0: made[0] + made[1]}, runs=[of(0, made[0], 0, False), of(1, made[1], 0, True)])
    second = Region({0: made[3], 2: made[2]}, runs=[of(0, made[3], 2, True), of(2, made[2], 0, True)])
    return [first, second]


def _selective(codec: str, seed: int, header: Header) -> list[Region]:
    """What a store keeps of the small output: its streams have gaps at their begin, between blocks and at their end."""
    regions = _small(codec, seed, header)
    upto: dict[int | None, int] = {}

    def gap(stream: int | None, blocks: list[Block], skipped: tuple[int, ...]) -> list[Block]:
        kept = []
        for one, before in zip(blocks, skipped, strict=True):
            sequence = upto.get(stream, 0) + before
            upto[stream] = sequence + 1
            kept.append(replace(one, sequence=sequence))
        return kept

    for number, region in enumerate(regions):
        for partition, blocks in region.own.items():
            region.own[partition] = gap(partition, blocks, tuple((number + at) % 3 for at in range(len(blocks))))
        for extent in region.shared:
            extent.blocks[:] = gap(None, extent.blocks, tuple(2 * at for at in range(len(extent.blocks))))
    return regions


_MAKE = {"small": _small, "large": _large, "merged": _merged, "selective": _selective}


@dataclass(frozen=True)
class Subject:
    """One output: its description, its bytes, and the answers that readers must give."""

    size: str
    layout: str
    codec: str
    state: str
    producer: int = 1

    @property
    def name(self) -> str:
        """Its name in reports."""
        return f"{self.size}-{self.layout}-{self.codec}-{self.state}"

    @property
    def finished(self) -> bool:
        """Whether the file has a footer and a tail."""
        return self.state == "finished"

    @cached_property
    def output(self) -> Output:
        """The output."""
        small = self.size != "large"
        file_id = random_bytes(99 + self.producer, 16)
        header = Header(
            partition_count=4 if small else 8, framing=OPAQUE, producer=self.producer, attempt=2, file_id=file_id
        )
        if self.size == "merged":
            # A merged file has the generation as its attempt.
            header = replace(header, producer=MERGED, attempt=self.producer)
        if self.size == "selective":
            header = replace(header, reader_features=1)
        regions = _MAKE[self.size](self.codec, self.producer << 32, header)
        counted = self.size not in ("merged", "selective")
        output = Output(header, regions, self.layout == "paired", statistics=counted, properties={"job": "measured"},
                        created_by="detection", finished=self.finished)  # fmt: skip
        # Partition 2 had two blocks more.
        return replace(output, streams=streams(output, {2: 7})) if self.size == "selective" else output

    @cached_property
    def built(self) -> Built:
        """The bytes, and where things are in them."""
        return build(self.output)

    @property
    def files(self) -> Files:
        """The files by role."""
        return self.built.files

    @cached_property
    def twin(self) -> Subject:
        """The output of another producer of the same shuffle, which happens to have everything at the same offsets."""
        other = replace(self, producer=self.producer + 1)
        if {role: len(data) for role, data in other.files.items()} != {r: len(d) for r, d in self.files.items()}:
            raise ValueError("twins of other sizes")
        return other

    @cached_property
    def reads(self) -> Answer:
        """What `read` answers of the finished file."""
        return read_answer(self.output)

    def seen(self, regions: int) -> Answer:
        """What a follower of the first *regions* regions reads."""
        return self._prefix(regions, finished=False)

    def mended(self, regions: int) -> Answer:
        """What is read after a repair that kept *regions* regions."""
        more: dict[str, Any] = {"statistics": False, "created_by": None, "properties": MARK["last-commit"]}
        if self.size == "selective":
            more["streams"] = None
        return self._prefix(regions, finished=True, **more)

    def _prefix(self, regions: int, **changes: Any) -> Answer:
        key = (regions, changes["finished"])
        if key not in self._prefixes:
            self._prefixes[key] = read_answer(replace(self.output, regions=self.output.regions[:regions], **changes))
        return self._prefixes[key]

    @cached_property
    def _prefixes(self) -> dict[tuple[int, bool], Answer]:
        return {}

    @cached_property
    def extents(self) -> list[tuple[int, int]]:
        """The begin and the end of each region's partition blocks in their file."""
        spans = []
        for number in range(len(self.output.regions)):
            blocks = self.built.region_blocks(number)
            spans.append((blocks[0][1], blocks[-1][1] + blocks[-1][2].size))
        return spans

    def regions_in(self, size: int) -> int:
        """How many region messages are complete in the first *size* bytes of the index or single file."""
        whole = self.files[self.built.index]
        ends = [at + 24 + -(-int.from_bytes(whole[at : at + 4], "little") // 8) * 8 for at in self.built.messages]
        return sum(end <= size for end in ends)


__all__ = ["CODECS", "LAYOUTS", "NONE", "PAGE", "STATES", "Files", "Subject", "block"]
