"""Outputs: their content, their bytes, and what a reader must answer."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from typing import Any

from .message import Fields, canonical
from .model import Built, Dictionary, Output, Region, Shared
from .raw import (
    ARROW,
    BLOCK_HEADER_SIZE,
    DATA,
    HEADER_SIZE,
    INDEX,
    KIND_DATA,
    KIND_DICTIONARY,
    KIND_FOOTER,
    KIND_REGION,
    KIND_SCHEMA,
    NOBODY,
    RECORDS,
    SINGLE,
    Block,
    Header,
    tail,
)  # fmt: skip

Answer = dict[str, Any]


def framed(*records: bytes | str) -> bytes:
    """The payload of some records in framing 1, FRM-2."""
    raw = [record.encode() if isinstance(record, str) else record for record in records]
    return b"".join(struct.pack("<I", len(record)) + record for record in raw)


def count_records(plain: bytes) -> int:
    """How many records a payload of framing 1 holds."""
    at = count = 0
    while at < len(plain):
        at += 4 + int(struct.unpack_from("<I", plain, at)[0])
        count += 1
    return count


def members_bits(output: Output, members: list[int]) -> bytes:
    """The bit set of some partitions."""
    bits = bytearray(-(-output.header.partition_count // 8))
    for member in members:
        at = member - output.header.first_partition
        bits[at // 8] |= 1 << (at % 8)
    return bytes(bits)


def slots(output: Output, region: Region) -> tuple[list[int], bool]:
    """The partitions of a region's slots in order, and whether the region is sparse."""
    count, first = output.header.partition_count, output.header.first_partition
    sparse = 2 * len(region.own) + 1 < count if region.sparse is None else region.sparse
    if sparse:
        return list(region.own), True
    return [first + (region.rotation + s) % count for s in range(count)], False


class _Maker:
    def __init__(self, output: Output) -> None:
        self.output = output
        kinds = (DATA, INDEX) if output.paired else (SINGLE, SINGLE)
        self.data = bytearray(output.header.of_kind(kinds[0]).encode())
        self.log = bytearray(output.header.of_kind(kinds[1]).encode()) if output.paired else self.data
        self.built = Built(output, {})
        self.sequences: dict[int, int] = {}
        self.directory: list[tuple[int, int, int, int, int]] = []
        self.listed: list[tuple[int, int, int]] = []

    def dictionary(self, region: int, one: Dictionary) -> None:
        at, number = len(self.data), len(self.built.dictionaries) + 1
        fields = {"kind": KIND_DICTIONARY, "dictionary": number, **one.fields}
        if self.output.paired:
            self.data += Block(one.content, **fields).encode(NOBODY, number - 1, self.output.header.file_id)
        else:
            at = self.metadata(KIND_DICTIONARY, one.content, **fields)
        self.built.dictionaries.append((region, at, len(one.content)))
        if one.listed:
            self.listed.append((at, len(one.content), 0))

    def metadata(self, kind: int, payload: bytes, /, **other: Any) -> int:
        at = len(self.log)
        block = Block(payload, **{"kind": kind, **other})
        self.log += block.encode(NOBODY, len(self.built.metadata), self.output.header.file_id)
        self.built.metadata.append(at)
        return at

    def extent(self, number: int, name: int, partition: int, blocks: list[Block]) -> int:
        start = len(self.data)
        end = start + sum(block.size for block in blocks)
        for block in blocks:
            self.built.blocks.append((number, name, len(self.data), end, block))
            sequence = self.sequences.get(partition, 0)
            self.data += block.encode(partition, sequence, self.output.header.file_id)
            self.sequences[partition] = 1 + (sequence if block.sequence is None else block.sequence)
        return (end - start) // 8

    def region(self, number: int, region: Region) -> None:
        for kind, payload in region.before:
            self.metadata(kind, payload)
        for one in region.dictionaries:
            self.dictionary(number, one)
        output, start = self.output, len(self.data)
        names, sparse = slots(output, region)
        firsts = {p: self.sequences.get(p, 0) for p in names}
        offsets = [0]
        for partition in names:
            blocks = region.own.get(partition, [])
            if blocks and blocks[0].sequence is not None:
                firsts[partition] = blocks[0].sequence
            offsets.append(offsets[-1] + self.extent(number, partition, partition, blocks))
        shared: list[Fields] = []
        for n, extent in enumerate(region.shared):
            first = extent.blocks[0].sequence if extent.blocks else None
            first = self.sequences.get(NOBODY, 0) if first is None else first
            length = self.extent(number, NOBODY - 1 - n, NOBODY, extent.blocks)
            bits = extent.bits
            if bits is None and extent.members is not None:
                bits = members_bits(output, extent.members) if extent.members else b""
            shared.append({"length": length, "first_block": first} | ({} if bits is None else {"members": bits}))
        fields: Fields = {
            "sequence": number, "data_offset": start, "data_length": len(self.data) - start, "offsets": offsets,
            "rotation": region.rotation,
        }  # fmt: skip
        if sparse:
            fields["partitions"] = names
        if shared:
            fields["shared"] = shared
        if region.runs is not None:
            fields["runs"] = region.runs
        if output.header.reader_features & 1 and names:
            fields["first_block"] = [firsts[p] if region.own.get(p) else 0 for p in names]
        if region.change is not None:
            region.change(fields)
        encode = region.encode or (lambda it: canonical("Region", it))
        message = encode(fields)
        at = self.metadata(KIND_REGION, message, **region.block)
        self.built.messages.append(at)
        self.built.fields.append(fields)
        self.directory.append((at, len(message), 0, fields["data_offset"], fields["data_length"]))

    def footer(self) -> None:
        output, built = self.output, self.built
        fields: Fields = {"data_size": len(self.data)}
        if self.directory:
            fields["regions"] = self.directory
        if output.statistics:
            fields["statistics"] = statistics(output)
        if output.properties:
            by_key = sorted(output.properties.items(), key=lambda item: item[0].encode())
            fields["properties"] = [{"key": key, "value": value} for key, value in by_key]
        if output.created_by is not None:
            fields["created_by"] = output.created_by
        if self.listed:
            fields["dictionaries"] = self.listed
        if output.streams is not None:
            fields["streams"] = output.streams
        if output.change_footer is not None:
            output.change_footer(fields)
        encode = output.encode_footer or (lambda it: canonical("Footer", it))
        message = encode(fields)
        built.footer_fields = fields
        built.footer = self.metadata(KIND_FOOTER, message, **output.footer_block)
        built.tail = len(self.log)
        self.log += tail(built.footer, len(message))

    def make(self) -> Built:
        if self.output.schema is not None:
            encode = self.output.encode_schema or (lambda it: canonical("Schema", it))
            self.metadata(KIND_SCHEMA, encode({"arrow": self.output.schema}), **self.output.schema_block)
        for number, region in enumerate(self.output.regions):
            self.region(number, region)
        for one in self.output.trailing:
            self.dictionary(len(self.output.regions), one)
        for kind, payload in self.output.after_regions:
            self.metadata(kind, payload)
        if self.output.finished:
            self.footer()
        files = {"data": bytes(self.data), "index": bytes(self.log)}
        self.built.files = files if self.output.paired else {"single": bytes(self.data)}
        return self.built


def build(output: Output) -> Built:
    """The files of an output."""
    return _Maker(output).make()


def extents_of(output: Output, region: Region, partition: int) -> Iterator[tuple[int | None, list[Block]]]:
    """What a partition reads from a region, PRT-1: its own extent (partition) and the shared ones (None)."""
    if region.own.get(partition):
        yield partition, region.own[partition]
    for extent in region.shared:
        everybody = extent.members is None and extent.bits is None
        if extent.bits is not None:
            at = partition - output.header.first_partition
            inside = bool(extent.bits[at // 8] >> (at % 8) & 1)
        else:
            inside = everybody or partition in (extent.members or [])
        if inside:
            yield None, extent.blocks


def records_in(output: Output, block: Block) -> int:
    """What a block adds to the statistics."""
    if block.kind != KIND_DATA:
        return 0
    if block.records is not None:
        return block.records
    return count_records(block.plain) if output.header.framing == RECORDS else 1


def statistics(output: Output) -> Fields:
    """The Statistics table, FTR-4."""
    count, first = output.header.partition_count, output.header.first_partition
    vectors = {name: [0] * count for name in ("stored", "plain", "records")}
    to_all = dict.fromkeys(vectors, 0)

    def add(targets: list[int] | None, amounts: dict[str, int]) -> None:
        for name, amount in amounts.items():
            if targets is None:
                to_all[name] += amount
            for target in targets or []:
                vectors[name][target - first] += amount

    for region in output.regions:
        everyone: list[tuple[list[int] | None, list[Block]]] = [([p], blocks) for p, blocks in region.own.items()]
        for extent in region.shared:
            members = extent.members
            if extent.bits is not None:
                members = [first + i for i in range(count) if extent.bits[i // 8] >> (i % 8) & 1]
            everyone.append((members, extent.blocks))
        for targets, blocks in everyone:
            data = [block for block in blocks if block.kind == KIND_DATA]
            add(targets, {
                "stored": sum(block.size for block in blocks), "plain": sum(block.claimed_plain for block in data),
                "records": sum(records_in(output, block) for block in data),
            })  # fmt: skip
    for target, amount in output.unheld.items():
        add(None if target == NOBODY else [target], {"records": amount})
    return {name: values for name, values in vectors.items() if any(values)} | {
        f"{name}_to_all": amount for name, amount in to_all.items()
    }


def streams(output: Output, upto: dict[int | None, int] | None = None) -> Fields:
    """The Streams table, FTR-8; *upto* has the next sequence of streams (None: the shared one) that ended in a gap."""
    count, first = output.header.partition_count, output.header.first_partition
    ends, found = dict(upto or {}), dict[int | None, int]()
    for region in output.regions:
        extents: list[tuple[int | None, list[Block]]] = list(region.own.items())
        extents += [(None, extent.blocks) for extent in region.shared]
        for stream, blocks in extents:
            for block in blocks:
                sequence = ends.get(stream, 0) if upto is None and block.sequence is None else block.sequence
                assert sequence is not None
                ends[stream] = max(ends.get(stream, 0), sequence + 1)
                found[stream] = found.get(stream, 0) + 1
    vectors = {"next": [ends.get(first + at, 0) for at in range(count)]}
    vectors["missing"] = [end - found.get(first + at, 0) for at, end in enumerate(vectors["next"])]
    shared = ends.get(None, 0)
    return {name: values for name, values in vectors.items() if any(values)} | {
        "shared_next": shared, "shared_missing": shared - found.get(None, 0),
    }  # fmt: skip


def streams_answer(output: Output) -> Answer | None:
    """The streams as `read` answers them: next and missing of the shared stream, and of own streams that had blocks."""
    if output.streams is None or not output.finished:
        return None
    told = output.streams
    upto = told.get("next", [])
    missing = told.get("missing", [0] * len(upto))
    own = {str(output.header.first_partition + at): [upto[at], missing[at]] for at in range(len(upto)) if upto[at]}
    return {"shared": [told.get("shared_next", 0), told.get("shared_missing", 0)], "own": own}


def partition_answer(output: Output, partition: int) -> Answer:
    """What `read` answers for a partition."""
    blocks = [b for region in output.regions for _, extent in extents_of(output, region, partition) for b in extent]
    digest, kinds, records = hashlib.sha256(), dict[str, int](), 0
    for block in blocks:
        digest.update(bytes([block.kind]) + struct.pack("<I", len(block.plain)) + block.plain)
        kinds[str(block.kind)] = kinds.get(str(block.kind), 0) + 1
        if block.kind == KIND_DATA and output.header.framing == RECORDS:
            records += count_records(block.plain)
    return {
        "blocks": len(blocks), "kinds": kinds, "plain_bytes": sum(len(block.plain) for block in blocks),
        "records": records if output.header.framing == RECORDS else None,
        "stored_bytes": sum(block.size for block in blocks), "sha256": digest.hexdigest(),
    }  # fmt: skip


def dictionaries_answer(built: Built, regions: int | None = None) -> list[Answer]:
    """The dictionaries as `read` answers them, or those before the first regions."""
    seen = [(at, size) for region, at, size in built.dictionaries if regions is None or region < regions]
    return [{"offset": at, "size": size} for at, size in seen]


def header_answer(header: Header, paired: bool) -> Answer:
    """The header as `read` answers it."""
    return {
        "kind": INDEX if paired else SINGLE, "version_minor": header.version_minor, "framing": header.framing,
        "partition_count": header.partition_count, "first_partition": header.first_partition,
        "reader_features": header.reader_features, "writer_features": header.writer_features,
        "producer": str(header.producer), "attempt": str(header.attempt), "file_id": header.file_id.hex(),
    }  # fmt: skip


def readers(output: Output) -> list[int]:
    """The partitions that read a block."""
    first, count = output.header.first_partition, output.header.partition_count
    everybody = any(s.blocks and s.members is None and s.bits is None for r in output.regions for s in r.shared)
    if everybody:
        return list(range(first, first + count))
    named = {p for r in output.regions for p, blocks in r.own.items() if blocks}
    for region in output.regions:
        for extent in region.shared:
            if extent.bits is not None:
                named |= {first + i for i in range(count) if extent.bits[i // 8] >> (i % 8) & 1}
            else:
                named |= set(extent.members or [])
    return sorted(named)


def read_answer(output: Output, partitions: list[int] | None = None) -> Answer:
    """The whole answer of `read`."""
    asked = readers(output) if partitions is None else partitions
    selective = {"streams": streams_answer(output)} if output.header.reader_features & 1 else {}
    return selective | {
        "header": header_answer(output.header, output.paired), "regions": len(output.regions),
        "properties": output.properties if output.finished else {},
        "created_by": output.created_by if output.finished else None,
        "statistics": output.statistics and output.finished,
        "partitions": {str(p): partition_answer(output, p) for p in asked},
    }  # fmt: skip


def range_answer(output: Output, low: int, high: int) -> Answer:
    """The `range` of an answer, PRT-5."""
    digest, blocks = hashlib.sha256(), 0
    for region in output.regions:
        taken = [(p, extent) for p, extent in _slot_order(output, region) if low <= p < high]
        for extent in region.shared:
            one = Region(shared=[extent])
            if any(True for p in range(low, high) for _ in extents_of(output, one, p)):
                taken.append((NOBODY, extent.blocks))
        for partition, extent_blocks in taken:
            for block in extent_blocks:
                digest.update(struct.pack("<IBI", partition, block.kind, len(block.plain)) + block.plain)
                blocks += 1
    return {"blocks": blocks, "sha256": digest.hexdigest()}


def by_partition_answer(output: Output, low: int, high: int) -> Answer:
    """The `by_partition` of an answer, PRT-7."""
    digest, blocks = hashlib.sha256(), 0
    for reader in range(low, high):
        for region in output.regions:
            for partition, extent in extents_of(output, region, reader):
                whose = NOBODY if partition is None else partition
                for block in extent:
                    digest.update(struct.pack("<IIBI", reader, whose, block.kind, len(block.plain)) + block.plain)
                    blocks += 1
    return {"blocks": blocks, "sha256": digest.hexdigest()}


def _slot_order(output: Output, region: Region) -> list[tuple[int, list[Block]]]:
    names, _ = slots(output, region)
    return [(p, region.own[p]) for p in names if region.own.get(p)]


def block_count(output: Output) -> int:
    """Partition blocks of the file, as `check` counts them."""
    own = sum(len(blocks) for region in output.regions for blocks in region.own.values())
    return own + sum(len(extent.blocks) for region in output.regions for extent in region.shared)


def arrow_message(metadata: bytes, body: bytes = b"") -> bytes:
    """An encapsulated message around any bytes, FRM-4."""
    metadata += bytes(-len(metadata) % 8)
    return b"\xff\xff\xff\xff" + struct.pack("<i", len(metadata)) + metadata + body


__all__ = ["ARROW", "BLOCK_HEADER_SIZE", "HEADER_SIZE", "Built", "Dictionary", "Output", "Region", "Shared", "build"]
