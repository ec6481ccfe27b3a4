"""The Python implementation as a testee of the conformance protocol (../protocol.md)."""

from __future__ import annotations

import hashlib
import json
import struct
import sys
from collections.abc import Callable, Iterator
from typing import Any

import faro_format as faro
from faro_format import (
    Block,
    FaroError,
    Follower,
    Framing,
    PartitionReader,
    Reader,
    Streams,
    Watch,
    Writer,
    WriterOptions,
)
from faro_format._block.framing import check_framing
from faro_format._error import invalid
from python_hybrid import hybrid
from python_merging import OPERATIONS, header_of, limits
from python_payloads import payload, records_of_many
from python_storage import LocalStorage, chosen_storage, files

Json = dict[str, Any]

NO_PARTITION = 0xFFFFFFFF
STORAGE = chosen_storage()
OWN = ("hello", "read", "write", "check", "repair", "recover", "clean", "follow", "hybrid", "stop")


class UnsupportedError(Exception):
    """A request that this testee does not support."""


# Reading.


def place_of(fault: FaroError) -> Json:
    """Return the code and the place of an error as the protocol has them."""
    return {"code": str(fault.code), "file": fault.role, "offset": fault.offset}


def error_of(fault: FaroError) -> Json:
    """Return an error as the protocol has it."""
    return {**place_of(fault), "expected": fault.expected, "found": fault.found}


def read_partition(reader: PartitionReader, partition: int) -> Json:
    """Return what one partition reads, or its error."""
    framing = reader.header.framing
    blocks, plain_bytes, records = 0, 0, 0
    kinds: dict[str, int] = {}
    content = hashlib.sha256()
    try:
        for block in reader.partition(partition):
            if block.is_data:
                found = check_framing(block, framing, reader._files.data.place)
                records += found[0].size if found is not None else 0
            blocks += 1
            plain_bytes += block.plain_size
            kinds[str(block.kind)] = kinds.get(str(block.kind), 0) + 1
            content.update(struct.pack("<BI", block.kind, block.plain_size))
            content.update(block.payload)
        return {
            "blocks": blocks,
            "kinds": kinds,
            "plain_bytes": plain_bytes,
            "records": records if framing == Framing.RECORDS else None,
            "stored_bytes": reader.stored_bytes(partition),
            "sha256": content.hexdigest(),
        }
    except FaroError as fault:
        return {"error": error_of(fault)}


def read_range(blocks: Callable[[], Iterator[Block]]) -> Json:
    """Return what a range reads, or its error."""
    count = 0
    content = hashlib.sha256()
    try:
        for block in blocks():
            count += 1
            content.update(struct.pack("<IBI", block.partition, block.kind, block.plain_size))
            content.update(block.payload)
    except FaroError as fault:
        return {"error": error_of(fault)}
    return {"blocks": count, "sha256": content.hexdigest()}


def read_by_partition(blocks: Callable[[], Iterator[tuple[int, Block]]]) -> Json:
    """Return what a range reads by partition, or its error."""
    count = 0
    content = hashlib.sha256()
    try:
        for partition, block in blocks():
            count += 1
            content.update(struct.pack("<IIBI", partition, block.partition, block.kind, block.plain_size))
            content.update(block.payload)
    except FaroError as fault:
        return {"error": error_of(fault)}
    return {"blocks": count, "sha256": content.hexdigest()}


def candidates(reader: PartitionReader) -> list[int]:
    """Return the partitions that may have a block or an error, ascending."""
    found: set[int] = set()
    try:
        for number in range(reader.region_count):
            region = reader._region(number)
            found.update(region.slot_partitions()[region.slot_lengths() > 0].tolist())
            for shared in range(region.shared_count):
                members = region.members(shared)
                if members is None:
                    return list(reader.partitions)
                found.update(members.tolist())
    except FaroError:
        return list(reader.partitions)
    return sorted(found)


def streams_of(streams: Streams, first: int) -> Json:
    """Return next and missing of the shared stream, and of each own stream that had blocks."""
    upto = [] if streams.next is None else streams.next.tolist()
    missing = [0] * len(upto) if streams.missing is None else streams.missing.tolist()
    own = {str(first + at): list(both) for at, both in enumerate(zip(upto, missing, strict=True)) if both[0]}
    return {"shared": [streams.shared_next, streams.shared_missing], "own": own}


def answer_read(reader: PartitionReader, request: Json) -> Json:
    """Return what `read` answers for a reader or a follower."""
    header = reader.header
    answer: Json = {
        "header": header_of(reader.header),
        "regions": reader.region_count,
        "properties": reader.properties,
        "created_by": reader.created_by,
        "statistics": reader.statistics is not None,
    }
    if header.selective:
        answer["streams"] = None if reader.streams is None else streams_of(reader.streams, header.first_partition)
    if header.dictionaries:
        answer["dictionaries"] = [{"offset": entry.offset, "size": entry.size} for entry in reader.dictionaries]
    if "range" in request:
        low, high = request["range"]
        answer["range"] = read_range(lambda: reader.range(low, high))
        return answer
    if "by_partition" in request:
        low, high = request["by_partition"]
        answer["by_partition"] = read_by_partition(lambda: reader.by_partition(low, high))
        return answer
    asked = request.get("partitions")
    partitions: Json = {}
    for partition in candidates(reader) if asked is None else asked:
        found = read_partition(reader, partition)
        if asked is not None or "error" in found or found["blocks"]:
            partitions[str(partition)] = found
    answer["partitions"] = partitions
    return answer


# Writing.


def options(given: Json) -> WriterOptions:
    """Return the options of a request."""
    named = dict(given)
    for number in named.keys() & {"producer", "attempt"}:
        named[number] = int(named[number])
    if "file_id" in named:
        named["file_id"] = bytes.fromhex(named["file_id"])
    if "schema" in named:
        named["schema"] = payload(named["schema"])
    if "partition_count" not in named:
        raise invalid("partition_count")
    return WriterOptions(**named)


def many(writer: Writer, call: Json) -> None:
    """Make the records of `many`: in batches, unless one of them would be refused."""
    partitions, offsets, data = records_of_many(call)
    low, high = call["partitions"]
    most = call["length"][1]
    chosen = writer.options
    inside = chosen.first_partition <= low and high <= chosen._end_partition
    if inside and most + 4 <= chosen.max_plain_size and chosen.framing != Framing.ARROW:
        writer.write_batch(partitions, offsets, data)
        return
    for row in range(len(partitions)):
        writer.write(int(partitions[row]), data[offsets[row] : offsets[row + 1]])


def region(writer: Writer, call: Json) -> None:
    """Make one region; it is abandoned if one of its calls is refused."""
    with writer.region() as out:
        for block in call["blocks"]:
            kind, records, partition = block.get("kind", 0), block.get("records", 0), block.get("partition")
            if "shared" in block:
                out.shared(None if block["shared"] == "all" else block["shared"])
            elif "sequence" in block:
                out.sequence(block["sequence"])
            elif "stored" in block:
                stored = payload(block["stored"])
                number = block.get("dictionary", 0)
                out.stored_block(partition, kind, block["codec"], block["plain_size"], stored, records, number)
            else:
                out.block(partition, kind, payload(block["payload"]), records)


CALLS: dict[str, Callable[[Writer, Json], int | None]] = {
    "write": lambda w, c: (
        w.write_event(c["partition"], c["kind"], payload(c["payload"]))
        if c.get("kind", 0)
        else w.write(c["partition"], payload(c["payload"]))
    ),
    "broadcast": lambda w, c: (
        w.broadcast_event(c["kind"], payload(c["payload"])) if c.get("kind", 0) else w.broadcast(payload(c["payload"]))
    ),
    "multicast": lambda w, c: (
        w.multicast_event(c["partitions"], c["kind"], payload(c["payload"]))
        if c.get("kind", 0)
        else w.multicast(c["partitions"], payload(c["payload"]))
    ),
    "many": many,
    "flush": lambda w, _: w.flush(),
    "skip_to": lambda w, c: w.skip_to(c["partition"], c["sequence"]),
    "skip_shared_to": lambda w, c: w.skip_shared_to(c["sequence"]),
    "finish": lambda w, _: w.finish(),
    "abort": lambda w, _: w.abort(),
    "property": lambda w, c: w.property(c["key"], c["value"]),
    "dictionary": lambda w, c: w.dictionary(payload(c["payload"])),
    "region": region,
}


class Testee:
    """The operations, and the followers that are open."""

    def __init__(self) -> None:
        """Begin without followers."""
        self.followers: dict[str, Follower] = {}
        self.watches: dict[tuple[str, int], Watch] = {}

    def hello(self, request: Json) -> Json:
        """Say who this is."""
        if request.get("protocol") != 1:
            raise UnsupportedError("protocol 1 only")
        return {
            "name": "faro-python",
            "version": faro.__version__,
            "language": "Python",
            "spec": "1.0-draft",
            "protocol": 1,
            "features": ["lz4", "zstd", "selective", "arrow", "dictionaries", "by-partition", "direct-lookup"],
            "operations": [*OWN, *OPERATIONS],
        }

    def read(self, request: Json) -> Json:
        """Read a finished output."""
        verify, lookup = request.get("verify", True), request.get("lookup", "full")
        with (
            STORAGE.finished(request) as named,
            Reader(**named, limits=limits(request), verify=verify, lookup=lookup) as reader,
        ):
            return answer_read(reader, request)

    def write(self, request: Json) -> Json:
        """Make a writer and its calls."""
        errors = []
        numbers = []
        finished = False
        chosen = options(request.get("options", {}))
        # Only local files can be followed.
        storage = LocalStorage() if chosen.follow else STORAGE
        writer, put = storage.writer(request["path"], chosen)
        try:
            for number, call in enumerate(request["calls"]):
                try:
                    given = CALLS[call["call"]](writer, call)
                    if call["call"] == "dictionary":
                        numbers.append(given)
                    finished = finished or call["call"] == "finish"
                except FaroError as fault:
                    errors.append({"call": number, "code": str(fault.code)})
        finally:
            writer.abort()
        put()
        answer = {"errors": errors, "finished": finished}
        if any(call["call"] == "dictionary" for call in request["calls"]):
            answer["dictionaries"] = numbers
        return answer

    def check(self, request: Json) -> Json:
        """Check a finished output."""
        with STORAGE.finished(request) as named:
            report = faro.check(**named, level=request.get("level", "decode"), limits=limits(request))
        return {"regions": report.regions, "blocks": report.blocks}

    def repair(self, request: Json) -> Json:
        """Repair an output in place."""
        dry_run = request.get("dry_run", False)
        if request.get("mode", "last-commit") == "rebuild":
            if "single" in request:
                raise invalid("a data and an index file")
            shared = request.get("shared", "none")
            report = faro.rebuild(**files(request), shared=shared, limits=limits(request), dry_run=dry_run)
        else:
            report = faro.repair(**files(request), limits=limits(request), dry_run=dry_run)
        return {
            "action": report.action,
            "regions": report.regions,
            "data_cut": report.data_cut,
            "index_cut": report.index_cut,
            "orphaned": report.orphaned,
            "fault": None if report.fault is None else place_of(report.fault),
        }

    def recover(self, request: Json) -> Json:
        """Recover what a dead writer left."""
        named = {key: request[key] for key in ("file_id", "overwrite", "dry_run") if key in request}
        report = faro.recover(request["path"], limits=limits(request), **named)
        return {"action": report.action, "file_id": report.file_id, "regions": report.regions}

    def clean(self, request: Json) -> Json:
        """Remove what dead writers left in a folder."""
        named = {key: request[key] for key in ("older_than", "dry_run") if key in request}
        report = faro.clean(request["folder"], **named)
        kept = [{"name": file.name, "reason": file.reason} for file in report.kept]
        return {"removed": list(report.removed), "kept": kept}

    def follow(self, request: Json) -> Json:
        """Open, poll, read or close a follower."""
        action, handle = request["action"], str(request["handle"])
        if action == "open":
            opened = Follower(**files(request), limits=limits(request), verify=request.get("verify", True))
            self.close(handle)
            self.followers[handle] = opened
            return {}
        if action == "close":
            self.close(handle)
            return {}
        if handle not in self.followers:
            raise invalid("an open follower", handle)
        follower = self.followers[handle]
        if action == "poll":
            finished = follower.poll()
            return {"regions": follower.region_count, "finished": finished}
        if action == "watch":
            return self.watch(handle, follower, request["partition"])
        return answer_read(follower, request)

    def watch(self, handle: str, follower: Follower, partition: int) -> Json:
        """Return what a partition has more than at the last time."""
        if (handle, partition) not in self.watches:
            self.watches[handle, partition] = follower.watch(partition)
        digest, blocks = hashlib.sha256(), 0
        for block in self.watches[handle, partition].blocks():
            digest.update(struct.pack("<BI", block.kind, len(block.payload)) + block.payload)
            blocks += 1
        return {"blocks": blocks, "sha256": digest.hexdigest()}

    def close(self, handle: str) -> None:
        """Close a follower if it is open."""
        if handle in self.followers:
            self.followers.pop(handle).close()
            self.watches = {key: watch for key, watch in self.watches.items() if key[0] != handle}

    def answer(self, request: Json) -> Json:
        """Return the answer to a request."""
        operations: dict[str, Callable[[Json], Json]] = {
            "hello": self.hello,
            "read": self.read,
            "write": self.write,
            "check": self.check,
            "repair": self.repair,
            "recover": self.recover,
            "clean": self.clean,
            "follow": self.follow,
            "hybrid": lambda given: hybrid(given, options),
            **OPERATIONS,
            "stop": lambda _: {},
        }
        try:
            if request["op"] not in operations:
                raise UnsupportedError(f"the op {request['op']}")
            return {"id": request["id"], "ok": operations[request["op"]](request)}
        except FaroError as fault:
            return {"id": request["id"], "error": error_of(fault)}
        except UnsupportedError as reason:
            return {"id": request["id"], "unsupported": str(reason)}


def main() -> None:
    """Answer requests until `stop` or the end of input."""
    testee = Testee()
    for line in sys.stdin:
        if not line.strip():
            continue
        request = json.loads(line)
        sys.stdout.write(json.dumps(testee.answer(request)) + "\n")
        sys.stdout.flush()
        if request["op"] == "stop":
            return


if __name__ == "__main__":
    main()
