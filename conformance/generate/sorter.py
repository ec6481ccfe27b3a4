"""The output that a writer makes from its calls, by WRT, SRT and CAN: a model of the file, not a writer."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from typing import Any

from . import prng
from .output import Dictionary, Output, Region, Shared, build, streams
from .raw import ARROW, KIND_DATA, LZ4, NOBODY, OPAQUE, RECORDS, ZSTD, Block, Header
from .trained import DICTIONARIES, WORDS

FRAMINGS = {"opaque": OPAQUE, "records": RECORDS, "arrow": ARROW}
CODECS = {"none": 0, "lz4": LZ4, "zstd": ZSTD}
SELECTIVE = 1
"""VER-3."""
LAST_SEQUENCE = (1 << 32) - 2
"""WRT-8."""
Members = frozenset[int] | None  # None: all partitions


class RefusedError(Exception):
    """A call that the writer refuses; the writer stays as it was."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass
class _Open:
    """The open region: the records of each own and shared extent in the order of their calls."""

    own: dict[int, list[tuple[int, bytes]]] = field(default_factory=dict)
    shared: list[tuple[Members, list[tuple[int, bytes]]]] = field(default_factory=list)
    charge: int = 0


def is_event(kind: int) -> bool:
    """BLK-2."""
    return kind == 1 or 64 <= kind <= 127


def starts_like_arrow(payload: bytes) -> bool:
    """FRM-4."""
    if len(payload) < 8 or payload[:4] != b"\xff\xff\xff\xff":
        return False
    length = struct.unpack_from("<i", payload, 4)[0]
    return bool(length >= 8 and length % 8 == 0 and 8 + length <= len(payload))


class Sorter:
    """Takes the protocol's calls and returns the resulting output."""

    def __init__(self, options: dict[str, Any]) -> None:
        get = options.get
        self.buffer_size = get("buffer_size", 1 << 26)
        self.ordered = get("ordered", True)
        self.rotation = get("rotation", 0)
        self.most = get("max_plain_size", 1 << 26)
        self.block_size = min(get("block_size", 65536), self.most)
        schema = prng.payload(options["schema"]) if "schema" in options else None
        header = Header(
            partition_count=options["partition_count"], first_partition=get("first_partition", 0),
            framing=FRAMINGS[get("framing", "records")], producer=int(get("producer", "0")),
            attempt=int(get("attempt", "0")), file_id=bytes.fromhex(options["file_id"]),
            reader_features=DICTIONARIES * get("dictionaries", False) + SELECTIVE * get("selective", False),
        )  # fmt: skip
        self.output = Output(header, paired=get("layout", "paired") == "paired", schema=schema,
                             statistics=get("statistics", True), created_by=get("created_by"))  # fmt: skip
        self.single_below = get("single_below", 0)
        self.is_decided = not self.single_below
        self.first, self.count = header.first_partition, header.partition_count
        self.next = dict[int | None, int]()  # sequences of streams: partitions, None for shared blocks
        self.open = _Open()
        self.state = "open"
        self.dictionaries = list[bytes]()
        self.written = 0  # of those
        self.returned = list[int]()  # by the calls that gave them

    def call(self, call: dict[str, Any]) -> None:
        """One call of the protocol, or `RefusedError`."""
        name = call["call"]
        if name == "abort":
            self.state = self.state if self.state == "finished" else "aborted"
            return
        if self.state != "open":
            raise RefusedError("limit-exceeded" if self.state == "failed" else "invalid-argument")
        if name == "many":
            for partition, payload in prng.many(call):
                self.record([partition], payload, KIND_DATA)
        elif name in ("write", "broadcast", "multicast"):
            own = name == "write"
            targets: list[int] | None = [call["partition"]] if own else call.get("partitions")
            self.record(targets, prng.payload(call["payload"]), call.get("kind", 0), own)
        elif name == "flush":
            self.close()
        elif name in ("skip_to", "skip_shared_to"):
            self.skip(call.get("partition"), call["sequence"])
        elif name == "property":
            if call["key"] in self.output.properties:
                raise RefusedError("invalid-argument")
            self.output.properties[call["key"]] = call["value"]
        elif name == "region":
            self.close()
            self.decide(paired=True)
            self.given(call["blocks"])
        elif name == "dictionary":
            self.dictionary(prng.payload(call["payload"]))
        elif name == "finish":
            self.decide(paired=self.open.charge > self.single_below)
            self.close()
            if self.output.header.reader_features & SELECTIVE:
                self.output.streams = streams(self.output, self.next)
            self.state = "finished"
        else:
            raise ValueError(name)

    def members(self, targets: list[int] | None) -> Members:
        """A set of partitions, None when it holds all (SRT-5)."""
        if targets is None:
            return None
        if not targets or any(not self.first <= t < self.first + self.count for t in targets):
            raise RefusedError("invalid-argument")
        return None if len(set(targets)) == self.count else frozenset(targets)

    def record(self, targets: list[int] | None, payload: bytes, kind: int, own: bool = True) -> None:
        """A record or event for one partition, a set, or all partitions."""
        framing = self.output.header.framing
        own = own and targets is not None
        members = self.members(targets)
        if kind != KIND_DATA and not is_event(kind):
            raise RefusedError("invalid-argument")
        if framing == ARROW and kind == KIND_DATA and not starts_like_arrow(payload):
            raise RefusedError("invalid-argument")
        block = framing == ARROW or kind != KIND_DATA
        if (block and len(payload) > self.most) or (framing == RECORDS and not block and 4 + len(payload) > self.most):
            raise RefusedError("limit-exceeded")
        alone = self.charge(payload, members, own, begins=True)
        here = self.charge(payload, members, own, begins=not own and self.known_extent(members) is None)
        oversized = alone > self.buffer_size
        if oversized or self.open.charge + here > self.buffer_size or (self.ordered and own and self.open.shared):
            self.close()
        begins = not own and self.known_extent(members) is None
        self.open.charge += self.charge(payload, members, own, begins)
        if own:
            self.open.own.setdefault((targets or [0])[0], []).append((kind, payload))
        else:
            if begins:
                self.open.shared.append((members, []))
            records = self.known_extent(members)
            assert records is not None
            records.append((kind, payload))
        if oversized:
            self.close()

    def charge(self, payload: bytes, members: Members, own: bool, begins: bool) -> int:
        """The bytes of the buffer that a record takes, SRT-1."""
        bits = -(-self.count // 8) if begins and not own and members is not None else 0
        return len(payload) + 12 + bits

    def known_extent(self, members: Members) -> list[tuple[int, bytes]] | None:
        """The records of the open shared extent that a record for *members* goes to, SRT-4."""
        looked_at = self.open.shared[-1:] if self.ordered else self.open.shared
        return next((records for known, records in looked_at if known == members), None)

    def close(self) -> None:
        """Closes the open region, SRT-3 and SRT-7."""
        opened, self.open = self.open, _Open()
        if opened.charge:
            self.decide(paired=True)
        region = Region(rotation=self.rotation)
        for partition in sorted(opened.own, key=self.slot):
            if blocks := self.cut(opened.own[partition]):
                region.own[partition] = blocks
            self.count_opaque([partition], opened.own[partition])
        for members, records in opened.shared:
            if blocks := self.cut(records):
                region.shared.append(Shared(blocks, None if members is None else sorted(members)))
            self.count_opaque(None if members is None else sorted(members), records)
        for partition, blocks in region.own.items():
            region.own[partition] = [self.numbered(self.next, partition, block) for block in blocks]
        for extent in region.shared:
            extent.blocks = [self.numbered(self.next, None, block) for block in extent.blocks]
        self.commit(region, wrapped=False)

    def numbered(self, streams: dict[int | None, int], stream: int | None, block: Block) -> Block:
        """The block with the next sequence of its stream, BLK-3."""
        sequence = streams.get(stream, 0)
        if sequence > LAST_SEQUENCE:
            self.state = "failed"
            raise RefusedError("limit-exceeded")
        streams[stream] = sequence + 1
        return replace(block, sequence=sequence)

    def skip(self, stream: int | None, sequence: int) -> None:
        """WRT-15."""
        if not self.output.header.reader_features & SELECTIVE or self.open.charge:
            raise RefusedError("invalid-argument")
        if stream is not None:
            self.members([stream])
        if not self.next.get(stream, 0) <= sequence <= LAST_SEQUENCE + 1:
            raise RefusedError("invalid-argument")
        self.next[stream] = sequence

    def decide(self, paired: bool) -> None:
        """Decides the layout, if nothing did before: WRT-13."""
        if not self.is_decided:
            self.is_decided, self.output.paired = True, paired

    def count_opaque(self, targets: list[int] | None, records: list[tuple[int, bytes]]) -> None:
        """Opaque bytes do not show their records, and a record without bytes counts too: WRT-2, SRT-3."""
        if self.output.header.framing != OPAQUE:
            return
        count = sum(kind == KIND_DATA for kind, _ in records)
        for target in [NOBODY] if targets is None else targets:
            self.output.unheld[target] = self.output.unheld.get(target, 0) + count

    def slot(self, partition: int) -> int:
        """The slot of a partition in a region with the rotation of the options."""
        return int((partition - self.first - self.rotation) % self.count)

    def commit(self, region: Region, wrapped: bool) -> None:
        """Chooses dense or sparse (SRT-8) and appends the region."""
        if not region.own and not region.shared:
            return
        region.sparse = not wrapped and 2 * len(region.own) + 1 < self.count
        if region.sparse:
            region.own = dict(sorted(region.own.items()))
            region.rotation = 0
        region.dictionaries = [Dictionary(content) for content in self.dictionaries[self.written :]]
        self.written = len(self.dictionaries)
        self.output.regions.append(region)

    def dictionary(self, content: bytes) -> None:
        """DIC-8."""
        wrong = len(content) < 8 or content[:4] != WORDS[:4] or len(content) > 1 << 20
        if wrong or not self.output.header.reader_features & DICTIONARIES:
            raise RefusedError("invalid-argument")
        self.close()
        self.decide(paired=True)
        if content not in self.dictionaries:
            self.dictionaries.append(content)
        self.returned.append(self.dictionaries.index(content) + 1)

    def cut(self, records: list[tuple[int, bytes]]) -> list[Block]:
        """The blocks that are made from an extent's records, SRT-6."""
        framing, blocks, held = self.output.header.framing, list[Block](), b""

        def end() -> None:
            nonlocal held
            if held:
                blocks.append(Block(held, records=0 if framing == OPAQUE else None))
            held = b""

        for kind, payload in records:
            if kind != KIND_DATA:
                end()
                blocks.append(Block(payload, kind=kind))
            elif framing == ARROW:
                blocks.append(Block(payload, records=1))
            elif framing == RECORDS:
                record = struct.pack("<I", len(payload)) + payload
                if len(held) + len(record) > self.block_size:
                    end()
                held += record
            else:
                held += payload
                while len(held) > self.block_size:
                    rest, held = held[self.block_size :], held[: self.block_size]
                    end()
                    held = rest
        end()
        return blocks

    def given(self, calls: list[dict[str, Any]]) -> None:
        """The region writer, WRT-8."""
        region, last, wrapped = Region(rotation=self.rotation), None, False
        shared: Shared | None = None
        streams, wanted = dict(self.next), None
        for call in calls:
            if "sequence" in call:
                wanted = call["sequence"]
                if not self.output.header.reader_features & SELECTIVE or not 0 <= wanted <= LAST_SEQUENCE:
                    raise RefusedError("invalid-argument")
                continue
            if "shared" in call:
                members = self.members(None if call["shared"] == "all" else call["shared"])
                shared = Shared([], None if members is None else sorted(members))
                region.shared.append(shared)
                continue
            block = self.given_block(call)
            if shared is not None:
                if "partition" in call:
                    raise RefusedError("invalid-argument")
                shared.blocks.append(self.given_sequence(streams, None, block, wanted))
                wanted = None
                continue
            if "partition" not in call:
                raise RefusedError("invalid-argument")
            partition = call["partition"]
            self.members([partition])
            if last is not None and self.slot(partition) < self.slot(last):
                raise RefusedError("invalid-argument")
            block = self.given_sequence(streams, partition, block, wanted)
            wanted = None
            wrapped = wrapped or (last is not None and partition < last)
            last = partition
            region.own.setdefault(partition, []).append(block)
        region.shared = [extent for extent in region.shared if extent.blocks]
        self.next = streams
        self.commit(region, wrapped)

    def given_sequence(
        self, streams: dict[int | None, int], stream: int | None, block: Block, wanted: int | None
    ) -> Block:
        """The block of the region writer with the wanted sequence, or the next one of its stream."""
        if wanted is not None:
            if wanted < streams.get(stream, 0):
                raise RefusedError("invalid-argument")
            streams[stream] = wanted
        return self.numbered(streams, stream, block)

    def given_block(self, call: dict[str, Any]) -> Block:
        """A block of the region writer, checked by WRT-9."""
        kind, codec, records = call.get("kind", 0), call.get("codec", 0), call.get("records", 0)
        if isinstance(codec, str):
            codec = CODECS[codec]
        stored = prng.payload(call["stored"] if "stored" in call else call["payload"])
        size = call.get("plain_size", len(stored))
        dictionary = call.get("dictionary", 0)
        broken = (
            not 0 <= dictionary <= (len(self.dictionaries) if codec == ZSTD else 0)
            or (kind != KIND_DATA and not is_event(kind))
            or codec not in (0, 1, 2)
            or (codec != 0 and kind != KIND_DATA)
            or (size != len(stored) if codec == 0 else len(stored) >= size)
            or (kind == KIND_DATA and size < 1)
            or size > self.most
        )
        if broken:
            raise RefusedError("invalid-argument")
        return Block(
            stored, kind=kind, codec=codec, stored=stored, plain_size=size, records=records, dictionary=dictionary
        )


def run(options: dict[str, Any], calls: list[dict[str, Any]]) -> tuple[Sorter, list[dict[str, Any]]]:
    """The writer that took a script, and its refused calls."""
    sorter, errors = Sorter(options), []
    for number, call in enumerate(calls):
        try:
            sorter.call(call)
        except RefusedError as refused:
            errors.append({"call": number, "code": refused.code})
    return sorter, errors


def files(output: Output) -> dict[str, bytes]:
    """The canonical files."""
    return build(output).files
