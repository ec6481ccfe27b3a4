"""Random outputs, mostly valid, with features that no writer produces and few committed files have.

Selective and merged files, newer minors, many partitions, blocks compressed in every way, skippable metadata.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from dataclasses import replace

from generate.message import Fields, Part, assemble, layout
from generate.output import Dictionary, Output, Region, Shared, arrow_message, build, slots
from generate.raw import ARROW, KIND_EVENT, MERGED, NOBODY, OPAQUE, RECORDS, Block, Header, run
from generate.trained import CORRUPT, HEAD, OTHERS, WORDS, another

from differential.blocks import Files
from differential.payloads import block, block_with_dictionary, compressed_block, plain

MOST_PARTITIONS = 1 << 28
# Above it, nothing with a value or a bit for each partition is made.
_FEW = 4096
_SELECTIVE = 1
_DICTIONARIES = 2
# Two that were trained, and one of them with another id; with harm, also one that no decoder accepts.
_TRAINED = (WORDS, OTHERS, another(WORDS))
_BROKEN = (CORRUPT, HEAD, WORDS[:100], b"no dictionary", WORDS[:5])


def compose(rng: random.Random) -> Files:
    """The files of such an output."""
    return build(random_output(rng)).files


def compose_payloads(rng: random.Random) -> Files:
    """A file of many partitions with one block each, compressed and often damaged: each is judged by itself."""
    count = 48
    header = Header(partition_count=count, framing=rng.choice([OPAQUE, OPAQUE, RECORDS]), file_id=rng.randbytes(16))
    own = {number: [compressed_block(header.framing, rng)] for number in range(count)}
    return build(Output(header, [Region(own)], paired=rng.random() < 0.5)).files


def random_output(rng: random.Random) -> Output:
    """An output of any kind, without real Arrow batches."""
    header = _header(rng)
    made = _Maker(header, rng)
    few = header.partition_count <= _FEW
    output = Output(
        header, paired=rng.random() < 0.5, statistics=few and rng.random() < 0.5, finished=rng.random() < 0.85
    )
    if header.framing == ARROW:
        output.schema = arrow_message(b"a schema")
    output.regions = [made.region(output) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 5]))]
    if rng.random() < 0.3:
        output.properties = {rng.choice(["a", "b", "\u00e9", "faro.x", ""]): rng.choice(["", "v"]) for _ in range(3)}
    if rng.random() < 0.2:
        output.created_by = rng.choice(["", "fuzz"])
    if rng.random() < 0.15:
        output.after_regions = _skippable(rng)
    if rng.random() < (0.05 if output.paired else 0.15):
        # After the last region of a pair this is invalid.
        output.trailing = made.dictionaries()
    if header.version_minor and rng.random() < 0.7:
        # MSG-12: tables with fields that no reader of today knows.
        output.encode_footer = _newer("Footer", rng)
        output.encode_schema = _newer("Schema", rng)
        for region in output.regions:
            region.encode = _newer("Region", rng)
    return output


def _header(rng: random.Random) -> Header:
    count = rng.choice([1, 2, 3, 5, 8, 9, 17, 64, 300, 1 << 20, MOST_PARTITIONS])
    first = min(rng.choice([0, 0, 0, 7, 1 << 27]), MOST_PARTITIONS - count)
    return Header(
        partition_count=count,
        first_partition=first,
        framing=rng.choice([OPAQUE, OPAQUE, RECORDS, RECORDS, ARROW]),
        version_minor=rng.choice([0, 0, 0, 0, 1, 255]),
        reader_features=(_SELECTIVE if rng.random() < 0.3 else 0) | (_DICTIONARIES if rng.random() < 0.4 else 0),
        writer_features=rng.choice([0] * 15 + [1 << 31]),
        producer=rng.choice([0, 7, MERGED]),
        attempt=rng.choice([0, 3, (1 << 64) - 1]),
        file_id=rng.randbytes(16),
    )


def _skippable(rng: random.Random) -> list[tuple[int, bytes]]:
    return [(rng.choice([192, 200, 255]), rng.randbytes(rng.randrange(40))) for _ in range(rng.randrange(1, 3))]


class _Maker:
    def __init__(self, header: Header, rng: random.Random) -> None:
        self.header = header
        self.rng = rng
        self.next: dict[int, int] = {}
        # Most outputs are valid, so that the mutations are what is found.
        self.harm = rng.random() < 0.3
        self.held: dict[tuple[int, int], int] = {}
        """The blocks of each producer and partition, in a merged file."""
        self.known: list[bytes] = []
        """The dictionaries so far."""

    def region(self, output: Output) -> Region:
        rng, header = self.rng, self.header
        count, first = header.partition_count, header.first_partition
        few = count <= _FEW
        region = Region(sparse=rng.choice([None, None, True, False]) if few else True)
        wanted = min(count, rng.choice([0, 1, 2, 3, 6]))
        places = sorted({rng.randrange(count) for _ in range(wanted)} | ({count - 1} if rng.random() < 0.1 else set()))
        region.own = {first + place: [] for place in places}
        region.dictionaries = self.dictionaries()
        if not slots(output, region)[1]:
            region.rotation = rng.choice([0, rng.randrange(count)])
        names = [name for name in slots(output, region)[0] if name in region.own]
        region.own = {name: self.blocks(name) for name in names}
        merged = header.producer == MERGED and names and rng.random() < 0.8
        for _ in range(0 if merged else rng.choice([0, 0, 1, 2, 3]) if names else rng.choice([1, 2, 3])):
            region.shared.append(self.shared(few))
        if rng.random() < 0.2:
            region.before = _skippable(rng)
        # Only merged files have runs, without shared extents; a wrong file may have them too.
        if (header.producer == MERGED and not region.shared and rng.random() < 0.8) or (
            self.harm and rng.random() < 0.1
        ):
            region.runs = self.runs(output, region)
        return region

    def dictionaries(self) -> list[Dictionary]:
        rng = self.rng
        if not self.header.reader_features & _DICTIONARIES:
            return []
        found = []
        for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
            content = rng.choice(_BROKEN if self.harm and rng.random() < 0.2 else _TRAINED)
            fields = {"dictionary": rng.randrange(4)} if self.harm and rng.random() < 0.05 else {}
            found.append(Dictionary(content, fields, listed=not (self.harm and rng.random() < 0.05)))
            self.known.append(content)
        return found

    def shared(self, few: bool) -> Shared:
        rng, header = self.rng, self.header
        members: list[int] | None = None
        if few and rng.random() < 0.05:
            # For no partition: zero bits instead of no bytes (REG-7).
            return Shared(self.blocks(NOBODY), bits=bytes(-(-header.partition_count // 8)))
        if few and rng.random() < 0.7:
            some = rng.randrange(min(header.partition_count, 9) + 1)
            members = sorted({header.first_partition + rng.randrange(header.partition_count) for _ in range(some)})
        return Shared(self.blocks(NOBODY), members)

    def blocks(self, stream: int) -> list[Block]:
        rng = self.rng
        made = []
        for _ in range(rng.choice([1, 1, 2, 3])):
            sequence = None
            if self.header.reader_features & _SELECTIVE:
                sequence = self.next.get(stream, 0) + rng.choice([0, 0, 1, 5, 1000])
                self.next[stream] = sequence + 1
            made.append(self.block(sequence))
        return made

    def block(self, sequence: int | None) -> Block:
        rng, framing = self.rng, self.header.framing
        if rng.random() < 0.15:
            return Block(rng.randbytes(rng.randrange(30)), kind=rng.choice([KIND_EVENT, 64, 127]), sequence=sequence)
        # FRM-5 is for readers that deliver records: a payload of another framing is a fault only there.
        wrong = self.harm and rng.random() < 0.1
        made = Block(plain(OPAQUE, rng)) if wrong else block(framing, rng, self.harm)
        if self.known and not wrong and rng.random() < 0.5:
            number = rng.randrange(len(self.known))
            made = block_with_dictionary(framing, rng, self.known[number], number + 1)
            if self.harm and made.dictionary and rng.random() < 0.1:
                made = replace(made, dictionary=rng.choice([0, len(self.known) + 1, rng.randrange(9)]))
        # Records in a block are counted; for other blocks, the caller gives the number.
        return replace(made, sequence=sequence, records=None if framing == RECORDS and not wrong else 1)

    def runs(self, output: Output, region: Region) -> list[tuple[int, ...]]:
        """Runs that tile the own extents, most of them as MRG-2 wants them."""
        rng, runs = self.rng, []
        names, _ = slots(output, region)
        for name in (name for name in names if region.own.get(name)):
            left = list(region.own[name])
            while left:
                blocks = left[: len(left) if rng.random() < 0.6 else rng.randrange(1, len(left) + 1)]
                left = left[len(blocks) :]
                producer = rng.randrange(9)
                first = self.held.get((producer, name), 0) + (rng.randrange(2) if rng.random() < 0.1 else 0)
                self.held[producer, name] = first + len(blocks)
                length = sum(block.size for block in blocks) // 8
                last = int(rng.random() < 0.1)
                runs.append(run(producer, length, len(blocks), first, producer % 2, last))
        return runs


def _newer(root: str, rng: random.Random) -> Callable[[Fields], bytes]:
    """Builds a message in which some tables have fields after the known ones."""

    def encode(fields: Fields) -> bytes:
        parts = {part.name: part for part in layout(root, fields)}
        for name, part in list(parts.items()):
            if part.vtable is None or rng.random() < 0.5:
                continue
            body = part.body + bytes(-len(part.body) % 4)
            known = parts[part.vtable].body[4:]
            more = rng.choice([1, 2])
            places = [len(body) + 4 * number for number in range(more)]
            body += rng.randbytes(4 * more)
            vtable = struct.pack("<HH", 4 + len(known) + 2 * more, len(body)) + known
            parts[name] = replace(part, body=body)
            parts[part.vtable] = replace(parts[part.vtable], body=vtable + struct.pack(f"<{more}H", *places))
        return assemble(_in_order(parts))

    return encode


def _in_order(parts: dict[str, Part]) -> list[Part]:
    return list(parts.values())
