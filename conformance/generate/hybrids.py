"""Cases of hybrid stores: HYB. The model has the blocks of the image, and where each of its regions is."""

from __future__ import annotations

import hashlib
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from . import prng, sorter
from .catalog import Catalog, fault
from .output import Output, Region, Shared, build, streams
from .raw import FILE_ID, KIND_DATA, Block
from .scripts import FINISH, FLUSH, to_all, to_some, write

Call = dict[str, Any]
Delivery = tuple[int, int | None, Block]
"""The region, the stream (None: shared) and the block."""


@dataclass
class Held:
    """A committed region of an image."""

    region: Region
    size: int
    message: int
    """The size of its block in the index file."""
    unread: set[int]
    """In a selective store, the partitions that have not read it to its end."""
    in_memory: bool = True
    written: bool = False


@dataclass
class Reading:
    """How far a partition was read: a region, and the sequences after the last own and shared block."""

    region: int = 0
    own: int = 0
    shared: int = 0

    def wants(self, number: int, stream: int | None, block: Block) -> bool:
        """Whether a block was not delivered."""
        assert block.sequence is not None
        return number >= self.region and block.sequence >= (self.shared if stream is None else self.own)


@dataclass
class Consumer:
    """An open consumer."""

    partition: int
    reading: Reading
    finished: bool = False


def blocks_of(region: Region, partition: int) -> Iterator[tuple[int | None, Block]]:
    """What a partition reads from a region, PRT-1."""
    for block in region.own.get(partition, []):
        yield partition, block
    for extent in region.shared:
        if extent.members is None or partition in extent.members:
            for block in extent.blocks:
                yield None, block


def message_sizes(output: Output) -> list[int]:
    """The sizes of the regions' blocks in the index file."""
    built = build(replace(output, finished=False))
    return [end - at for at, end in pairwise([*built.messages, len(built.files["index"])])]


class Store:
    """One store."""

    def __init__(self, options: Call, mode: str, *, exists: bool) -> None:
        """HYB-2. `exists`: files of its final names exist."""
        refused = ("single_below", "dictionaries", "selective")
        bad = any(options.get(name) for name in refused) or options.get("durability", "none") != "none"
        if bad or options.get("layout") == "single":
            raise sorter.RefusedError("invalid-argument")
        self.writer = sorter.Sorter({**options, "layout": "paired"})
        self.kept = sorter.Sorter({**options, "layout": "paired", "selective": True, "statistics": False})
        self.selective = mode == "selective"
        self.is_blocked = exists and not options.get("overwrite")
        if self.is_blocked and not self.selective:
            raise sorter.RefusedError("io")
        self.first, self.count = self.writer.first, self.writer.count
        self.held: list[Held] = []
        self.readings: dict[int, Reading] = {}
        self.consumers: dict[str, Consumer] = {}
        self.written = 0
        self.next = 0
        """No region before this one can be written any more."""
        self.state = "open"
        self.files: dict[str, bytes] | None = None

    @property
    def staying(self) -> int:
        """The bytes of blocks in memory."""
        return sum(held.size for held in self.held if held.in_memory)

    @property
    def used(self) -> int:
        """The bytes of the memory that are used, HYB-6."""
        messages = (held.message for held in self.held if (held.unread if self.selective else held.in_memory))
        return 0 if self.state in ("failed", "closed") else self.staying + sum(messages)

    def look(self) -> bool:
        """Take the regions that the writer has committed; whether there are any."""
        regions = self.writer.output.regions[len(self.held) :]
        messages = message_sizes(self.writer.output)[len(self.held) :]
        for region, message in zip(regions, messages, strict=True):
            blocks = [block for extent in region.own.values() for block in extent]
            blocks += [block for extent in region.shared for block in extent.blocks]
            unread = set(range(self.first, self.first + self.count)) if self.selective else set()
            self.held.append(Held(region, sum(block.size for block in blocks), message, unread))
        return bool(regions)

    def leaving(self, newest: bool) -> int | None:
        """The number of the region that leaves next, HYB-6."""
        first = self.next if self.selective else 0
        numbers = [number for number in range(first, len(self.held)) if self.held[number].in_memory]
        return None if not numbers else numbers[-1 if newest else 0]

    def spill(self, numbers: list[int]) -> None:
        """Write regions that have left, HYB-4 and HYB-5; or fail, HYB-8."""
        for number in range(max(numbers) + 1) if not self.selective else sorted(numbers):
            held = self.held[number]
            if held.written:
                continue
            size = self.keep(number) if self.selective else held.size
            if self.is_blocked and size:
                self.state = "failed"
                for each in self.held:
                    each.in_memory = False
                return
            held.written = True
            self.written += size
            self.next = number + 1

    def keep(self, number: int) -> int:
        """Write what is left of a region of a selective store; return its size."""
        region = self.held[number].region
        turn = self.first + self.writer.rotation
        rest = Region(rotation=self.writer.rotation)
        for partition in sorted(region.own, key=lambda p: (p < turn, p)):
            blocks = [b for b in region.own[partition] if self.is_wanted(number, partition, b, [partition])]
            if blocks:
                rest.own[partition] = blocks
        for extent in region.shared:
            everybody = range(self.first, self.first + self.count)
            members = list(everybody) if extent.members is None else extent.members
            blocks = [block for block in extent.blocks if self.is_wanted(number, None, block, members)]
            if blocks:
                rest.shared.append(Shared(blocks, extent.members))
        order = list(rest.own)
        size = sum(b.size for blocks in rest.own.values() for b in blocks)
        size += sum(b.size for extent in rest.shared for b in extent.blocks)
        self.kept.commit(rest, wrapped=order != sorted(order))
        return size

    def is_wanted(self, number: int, stream: int | None, block: Block, members: list[int]) -> bool:
        """Whether a partition that reads a block has not delivered it."""
        nothing = Reading()
        return any(self.readings.get(member, nothing).wants(number, stream, block) for member in members)

    def take(self, consumer: Consumer, most: int) -> list[Block]:
        """Deliver at most this number of blocks."""
        reading, taken = consumer.reading, list[Block]()
        while len(taken) < most:
            found = next(
                (
                    (number, stream, block)
                    for number in range(reading.region, len(self.held))
                    for stream, block in blocks_of(self.held[number].region, consumer.partition)
                    if reading.wants(number, stream, block)
                ),
                None,
            )
            if found is None:
                self.move(consumer, len(self.held))
                consumer.finished = self.writer.state == "finished"
                break
            number, stream, block = found
            self.move(consumer, number)
            assert block.sequence is not None
            if stream is None:
                reading.shared = block.sequence + 1
            else:
                reading.own = block.sequence + 1
            taken.append(block)
        return taken

    def has_ended(self, name: str) -> bool:
        """Whether a consumer has said the end."""
        return name in self.consumers and self.consumers[name].finished

    def move(self, consumer: Consumer, number: int) -> None:
        """A partition has read all regions before this one."""
        if self.selective:
            for held in self.held[consumer.reading.region : number]:
                held.unread.discard(consumer.partition)
                if not held.unread:
                    held.in_memory = False
        consumer.reading.region = max(consumer.reading.region, number)

    def end(self, *, release: bool) -> None:
        """HYB-8."""
        if self.state != "open":
            return
        self.state = "closed"
        done = self.writer.state == "finished"
        self.files = None
        if done and not release and not self.selective:
            self.files = sorter.files(self.writer.output)
        if done and not release and self.selective and self.kept.output.regions and not self.staying:
            output = self.kept.output
            output.properties = self.writer.output.properties
            ends = dict[int | None, int]()
            for partition, reading in self.readings.items():
                ends[partition] = reading.own
                ends[None] = max(ends.get(None, 0), reading.shared)
            output.streams = streams(output, ends)
            self.files = sorter.files(output)
        for held in self.held:
            held.in_memory = False


class Model:
    """Stores that share a memory."""

    def __init__(self, memory: int, stores: list[Call], *, exists: bool) -> None:
        """HYB-6. `exists`: files of the final names of the first store exist."""
        self.memory = memory
        self.stores = [
            Store({"file_id": FILE_ID.hex(), **store["options"]}, store["mode"], exists=exists and number == 0)
            for number, store in enumerate(stores)
        ]
        self.taken: list[Call] = []
        self.figures: list[Call] = []

    def is_above(self, tenths: int) -> bool:
        """Whether more of the memory is used."""
        return 10 * self.used > tenths * self.memory

    @property
    def used(self) -> int:
        """The bytes that are used, of all stores."""
        return sum(store.used for store in self.stores)

    def reclaim(self) -> None:
        """Let regions leave, HYB-6."""
        chosen: list[tuple[Store, int]] = []
        if self.is_above(7):
            while self.is_above(4) and (found := self.choose()) is not None:
                store, number = found
                store.held[number].in_memory = False
                chosen.append(found)
        for store in self.stores:
            numbers = [number for whose, number in chosen if whose is store]
            if numbers:
                store.spill(numbers)

    def choose(self) -> tuple[Store, int] | None:
        """The region that leaves next."""
        there = [store for store in self.stores if store.state == "open"]
        read = sorted((store for store in there if store.consumers), key=lambda store: -store.staying)
        for newest, stores in ((False, [store for store in there if not store.consumers]), (True, read)):
            for store in stores:
                number = store.leaving(newest)
                if number is not None:
                    return store, number
        return None

    def call(self, call: Call) -> None:
        """One call of the protocol, or `RefusedError`."""
        store, name = self.stores[call.get("store", 0)], call["call"]
        if name == "figures":
            self.figures.append(
                {
                    "regions": len(store.held),
                    "bytes": sum(held.size for held in store.held),
                    "in_memory": store.staying,
                    "written": store.written,
                    "used": self.used,
                }
            )
        elif name == "close_consumer":
            store.consumers.pop(call["consumer"], None)
        elif name in ("close", "release"):
            store.end(release=name == "release")
        elif name == "take" and store.has_ended(call["consumer"]):
            self.take(store, call)
        elif store.state != "open":
            raise sorter.RefusedError("io" if store.state == "failed" else "invalid-argument")
        elif name == "open":
            self.open(store, call)
        elif name == "take":
            self.take(store, call)
        else:
            self.produce(store, call)

    def open(self, store: Store, call: Call) -> None:
        """A consumer begins, HYB-3."""
        partition, after = call["partition"], call.get("after")
        store.writer.members([partition])
        reading = Reading() if after is None else replace(store.consumers[after].reading)
        if store.selective:
            if partition in store.readings or after is not None:
                raise sorter.RefusedError("invalid-argument")
            store.readings[partition] = reading
        store.consumers[call["consumer"]] = Consumer(partition, reading)

    def take(self, store: Store, call: Call) -> None:
        """A consumer takes blocks."""
        consumer = store.consumers.get(call["consumer"])
        if consumer is None:
            raise sorter.RefusedError("invalid-argument")
        blocks, digest = store.take(consumer, call["blocks"]), hashlib.sha256()
        for block in blocks:
            digest.update(bytes([block.kind]) + struct.pack("<I", len(block.plain)) + block.plain)
        self.taken.append({"blocks": len(blocks), "sha256": digest.hexdigest(), "finished": consumer.finished})

    def produce(self, store: Store, call: Call) -> None:
        """A call of the writer; the memory is looked at after each record."""
        if call["call"] == "many":
            for partition, payload in prng.many(call):
                store.writer.record([partition], payload, KIND_DATA)
                if store.look():
                    self.reclaim()
            return
        store.writer.call(call)
        looked = store.look()
        if store.writer.state == "finished" and not store.selective and store.held:
            store.spill([len(store.held) - 1])
        if looked or call["call"] == "finish":
            self.reclaim()
            if store.state == "failed":
                raise sorter.RefusedError("io")


def put(
    cat: Catalog, id: str, clause: str, title: str, memory: int, stores: list[Call], calls: list[Call],
    existing: dict[str, bytes] | None = None,
) -> Model:  # fmt: skip
    """A script, what it answers, and the files of its first store. Files that exist already stay if it makes none."""
    request = {"memory": memory, "stores": stores, "calls": calls}
    for store in stores:
        store["options"] = {"file_id": FILE_ID.hex(), **store["options"]}
    model = Model(memory, stores, exists=existing is not None)
    errors = list[Call]()
    for number, call in enumerate(calls):
        try:
            model.call(call)
        except sorter.RefusedError as refused:
            errors.append({"call": number, "code": refused.code})
    for made in model.stores:
        made.end(release=False)
    ok = {"errors": errors, "taken": model.taken, "figures": model.figures}
    cat.add(id, clause, title, "hybrid", folder="hybrid", request=request, expect={"ok": ok}, existing=existing,
            expect_files=model.stores[0].files or existing)  # fmt: skip
    return model


def one(mode: str, partitions: int = 3, **options: Any) -> list[Call]:
    """A script's only store."""
    return [{"mode": mode, "options": {"partition_count": partitions, **options}}]


def open_(consumer: str, partition: int, **more: Any) -> Call:
    """An `open` call."""
    return {"call": "open", "consumer": consumer, "partition": partition, **more}


def take(consumer: str, blocks: int = 1000, **more: Any) -> Call:
    """A `take` call."""
    return {"call": "take", "consumer": consumer, "blocks": blocks, **more}


CLOSE: Call = {"call": "close"}
FIGURES: Call = {"call": "figures"}
SOME: list[Call] = [
    write(2, "first"), write(0, "to 0"), to_all("shared"), FLUSH, write(2, "second"), to_some([0, 2], "for two"),
    write(1, "event", 70), FLUSH, write(2, "third"), to_all("last", 1),
]  # fmt: skip
"""Three regions."""


def full(cat: Catalog) -> None:
    """Files of full stores: HYB-1, HYB-4."""
    for name, memory in (("none", 0), ("little", 300), ("ample", 1 << 20)):
        reading = [open_("a", 2), take("a", 1), FIGURES]
        calls = [*SOME[:4], *reading, *SOME[4:], FINISH, FIGURES, take("a"), open_("b", 1), take("b"), FIGURES, CLOSE]
        put(cat, f"hybrid-full-{name}", "HYB-1 HYB-4 HYB-6", f"{name} memory", memory, one("full"), calls)
    more = {"first_partition": 40, "rotation": 7, "created_by": "conformance", "producer": "9", "block_size": 30}
    calls = [write(41, "x"), write(48, "y"), write(44, "z"), {"call": "property", "key": "k", "value": "v"}, FINISH]
    put(cat, "hybrid-full-options", "HYB-1 HYB-4", "other options", 0, one("full", 10, **more), calls)
    put(cat, "hybrid-full-empty", "HYB-1 HYB-4 WRT-7", "no records", 0, one("full"), [FINISH])
    put(cat, "hybrid-full-buffer", "HYB-1 SRT-1", "regions end when the buffer is full", 700,
        one("full", 5, buffer_size=200), [{"call": "many", "count": 60, "seed": 3, "partitions": [0, 5],
                                           "length": [0, 40], "content": "words"}, FIGURES, FINISH, FIGURES])  # fmt: skip


def selective(cat: Catalog) -> None:
    """Files of selective stores: HYB-5."""

    def case(
        name: str, title: str, memory: int, calls: list[Call], clause: str = "HYB-5", unwritten: int = 0, **options: Any
    ) -> None:  # fmt: skip
        model = put(cat, f"hybrid-selective-{name}", clause, title, memory, one("selective", **options), calls)
        if unwritten:
            store = model.stores[0]
            assert sum(held.size for held in store.held) - store.written == unwritten, name

    everybody = [call for p in range(3) for call in (open_(f"p{p}", p), take(f"p{p}"))]
    case("unread", "nothing was delivered: all is in the file", 0, [*SOME, FINISH, FIGURES, CLOSE])
    case("read-from-file", "what was written stays in the file", 0, [*SOME, FINISH, *everybody, FIGURES, CLOSE])
    case("ample", "memory is enough: no file", 1 << 20, [*SOME, FINISH, *everybody, FIGURES, CLOSE], "HYB-5 HYB-6")
    case("lost", "what was not delivered and is not in the files is lost with the store", 1 << 20,
         [*SOME, FINISH, *everybody[:2], FIGURES, CLOSE], "HYB-5 HYB-8")  # fmt: skip
    long = [write(p, "x" * 20) for p in (0, 1, 1, 2, 2, 2)]
    rest = [write(0, "y" * 500), FLUSH, FINISH]
    last = [call for p in range(3) for call in (take(f"p{p}"),)]
    opened = [open_(f"p{p}", p) for p in range(3)]
    case("part", "own blocks that were delivered are not written", 600,
         [*opened, *long, FLUSH, take("p1", 1), take("p2", 2), *rest, FIGURES, *last, CLOSE],
         unwritten=144, block_size=24)  # fmt: skip
    case("one-read", "a region without blocks for one of its partitions", 600,
         [*opened, *long, FLUSH, take("p2"), *rest, FIGURES, *last, CLOSE], unwritten=144, block_size=24)  # fmt: skip
    shared = [to_all("one"), to_all("two"), to_some([0, 2], "three"), to_some([1], "four"), FLUSH]
    case("shared", "shared blocks stay until each of their partitions has delivered them", 600,
         [*opened, *shared, take("p0", 1), take("p1", 2), take("p2", 1), *rest, FIGURES, *last, CLOSE],
         unwritten=32, block_size=4)  # fmt: skip
    case("shared-unopened", "a partition without a consumer still wants them", 600,
         [*opened[:2], *shared, take("p0"), take("p1"), *rest, FIGURES, take("p0"), take("p1"), open_("p2", 2),
          take("p2"), CLOSE], unwritten=32, block_size=4)  # fmt: skip
    case("nothing-left", "a region that was delivered is not written", 600,
         [*opened, *long, FLUSH, *last, FIGURES, *rest, FIGURES, *last, CLOSE], unwritten=216)  # fmt: skip
    spread = [write(p, "record") for p in (12, 17, 19, 14)]
    case("rotation", "own extents are in the order of a region writer", 0,
         [*spread, FLUSH, write(13, "a"), write(18, "b"), FINISH, CLOSE], partitions=10, first_partition=10,
         rotation=6)  # fmt: skip
    case("footer", "properties, and no statistics", 0,
         [write(1, "x"), {"call": "property", "key": "k", "value": "v"}, FINISH, CLOSE], "HYB-5 SRT-9",
         created_by="conformance", producer="7")  # fmt: skip
    one_spilled = [*opened, write(0, "x" * 500), FLUSH, write(1, "y"), FINISH, take("p0"), take("p2")]
    case("passed", "a region that all partitions have passed need not be in the files", 600,
         [*one_spilled, take("p1"), FIGURES, CLOSE], unwritten=32)  # fmt: skip
    case("not-passed", "a partition that was delivered to its end and did not look again", 600,
         [*one_spilled, take("p1", 1), FIGURES, CLOSE], unwritten=32)  # fmt: skip
    case("release", "release removes the files", 0, [*SOME, FINISH, {"call": "release"}], "HYB-8")
    case("unfinished", "without finish the files are removed", 0, [*SOME, FLUSH, FIGURES, CLOSE], "HYB-8")


def consumers(cat: Catalog) -> None:
    """What consumers say: HYB-2, HYB-3, HYB-8."""
    refused: dict[str, Call] = {
        "layout": {"layout": "single"},
        "single-below": {"single_below": 10},
        "durability": {"durability": "commit"},
        "dictionaries": {"dictionaries": True},
        "selective": {"selective": True},
        "partitions": {"partition_count": 0},
    }
    for name, options in refused.items():
        stores = [{"mode": "full", "options": {"partition_count": 3, "file_id": FILE_ID.hex(), **options}}]
        cat.add(f"hybrid-refuses-{name}", "HYB-2", f"the option {name}", "hybrid", folder="hybrid",
                request={"memory": 0, "stores": stores, "calls": []}, expect=fault("invalid-argument"))  # fmt: skip
    put(cat, "hybrid-none-now", "HYB-3", "none now, then more, then the end", 1 << 20, one("full"),
        [open_("a", 2), take("a"), write(2, "x"), take("a"), FLUSH, take("a"), take("a"), FINISH, take("a"), take("a")],
        )  # fmt: skip
    put(cat, "hybrid-positions", "HYB-3", "a full store is read again, and from positions", 100, one("full"),
        [open_("a", 2), *SOME, FLUSH, take("a", 1), open_("b", 2, after="a"), take("b", 2),
         open_("c", 2, after="b"), take("c"), take("a"), open_("d", 2), FINISH, take("d"), open_("e", 2, after="c"),
         take("e"), take("b"), CLOSE])  # fmt: skip
    put(cat, "hybrid-opened-once", "HYB-3", "a partition of a selective store is opened once", 0, one("selective"),
        [open_("a", 2), open_("b", 2), {"call": "close_consumer", "consumer": "a"}, open_("c", 2), open_("d", 3),
         write(2, "x"), FLUSH])  # fmt: skip
    put(cat, "hybrid-selective-position", "HYB-3", "a selective store is not read from a position", 1 << 20,
        one("selective"), [open_("a", 2), write(2, "x"), FLUSH, take("a"), open_("b", 1, after="a"), open_("c", 1)],
        )  # fmt: skip
    put(cat, "hybrid-closed", "HYB-8", "after close every call fails", 0, one("full"),
        [open_("a", 2), write(2, "x"), FINISH, write(2, "y"), CLOSE, take("a"), write(2, "z"), open_("b", 1),
         FLUSH, CLOSE])  # fmt: skip
    put(cat, "hybrid-end-closed", "HYB-3 HYB-8", "a consumer that has said the end says it after close too", 0, one("full"),
        [open_("a", 2), open_("b", 2), write(2, "x"), FINISH, take("a"), take("b", 1), CLOSE, take("a"), take("b"),
         {"call": "release"}])  # fmt: skip


def failures(cat: Catalog) -> None:
    """Files that cannot be made: HYB-1, HYB-8."""
    there = {"data": b"another output", "index": b"its index"}
    stores = [{"mode": "full", "options": {"partition_count": 3, "file_id": FILE_ID.hex()}}]
    cat.add("hybrid-full-name-exists", "HYB-1 WRT-4", "a full store of a name that exists", "hybrid", folder="hybrid",
            request={"memory": 1 << 20, "stores": stores, "calls": []}, expect=fault("io", "data"), existing=there,
            expect_files=there)  # fmt: skip
    overwrites = one("full", overwrite=True)
    put(cat, "hybrid-full-overwrites", "HYB-1 WRT-4", "a full store that may overwrite", 0, overwrites, [*SOME, FINISH],
        existing=there)  # fmt: skip
    key = {"call": "property", "key": "k", "value": "v"}
    calls = [open_("a", 2), *SOME, FLUSH, take("a"), write(1, "more"), open_("b", 1), FLUSH, key, FINISH, CLOSE,
             take("a")]  # fmt: skip
    put(cat, "hybrid-failed", "HYB-8", "after a region cannot be written every call fails with that error", 0,
        one("selective"), calls, existing=there)  # fmt: skip
    put(cat, "hybrid-failed-finish", "HYB-8", "the last region cannot be written", 0, one("selective"),
        [open_("a", 2), write(2, "x"), FINISH, take("a"), {"call": "release"}], existing=there)  # fmt: skip
    put(cat, "hybrid-failed-alone", "HYB-8", "a store that fails leaves others as they are", 300,
        [*one("selective"), *one("full")],
        [open_("a", 0), open_("b", 0, store=1), write(0, "x" * 200), FLUSH, {**write(0, "y" * 200), "store": 1},
         {**FLUSH, "store": 1}, take("a"), write(0, "z"), FLUSH, take("b", store=1), {**FIGURES, "store": 1},
         {**FINISH, "store": 1}, take("b", store=1),
         {"call": "release", "store": 1}], existing=there)  # fmt: skip
    put(cat, "hybrid-failed-end", "HYB-3 HYB-8", "a consumer that has said the end says it after a failure too", 600,
        [*one("selective"), *one("full")],
        [open_("a", 0), write(0, "x" * 90), write(1, "z" * 10), FINISH, take("a"), open_("c", 0, store=1),
         {**write(0, "y" * 300), "store": 1}, {**FLUSH, "store": 1}, open_("d", 1), take("a")],
        existing=there)  # fmt: skip
    put(cat, "hybrid-name-not-needed", "HYB-1", "a selective store without files looks for none", 1 << 20,
        one("selective"), [*(open_(f"p{p}", p) for p in range(3)), *SOME, FINISH, *(take(f"p{p}") for p in range(3)),
                           FIGURES, CLOSE], existing=there)  # fmt: skip


def memory(cat: Catalog) -> None:
    """Which regions leave: HYB-6."""

    def regions(count: int, store: int = 0) -> list[Call]:
        # Far more than the message of the region, which stays in a selective store.
        size = 300
        return [{**call, "store": store} for n in range(count) for call in (write(0, chr(97 + n) * size), FLUSH)]

    for mode in ("full", "selective"):
        put(cat, f"hybrid-oldest-{mode}", "HYB-6", "without a consumer the oldest leave first", 4100, one(mode),
            [*regions(8), FIGURES, open_("a", 0), take("a"), FIGURES])  # fmt: skip
        put(cat, f"hybrid-newest-{mode}", "HYB-6", "with a consumer the newest leave first", 4100, one(mode),
            [open_("a", 0), *regions(8), FIGURES, take("a", 3), *regions(4), FIGURES, FINISH, take("a"),
             open_("b", 1), open_("c", 2), take("b"), take("c"), FIGURES, CLOSE])  # fmt: skip
        two = [*one(mode), *one(mode), *one("full")]
        put(cat, f"hybrid-stores-{mode}", "HYB-6", "stores without a consumer before others, then the largest", 8200,
            two, [open_("a", 0), *regions(3), *regions(4, 1), *regions(2, 2), *regions(4),
                  *({**FIGURES, "store": store} for store in range(3)),
                  open_("b", 0, store=1), open_("c", 0, store=2), *regions(6, 1), *regions(3, 2),
                  *({**FIGURES, "store": store} for store in range(3)),
                  *({"call": "release", "store": store} for store in range(3))])  # fmt: skip
    put(cat, "hybrid-later-left", "HYB-6 HYB-5", "a region stays if a later one has left, until it is delivered", 4100,
        one("selective"), [open_("a", 0), *regions(8), {"call": "close_consumer", "consumer": "a"}, *regions(3),
                           FIGURES, open_("b", 1), take("b"), open_("c", 2), take("c"), FIGURES])  # fmt: skip


def drawn(cat: Catalog) -> None:
    """Scripts that were drawn."""
    for seed in range(24):
        rng = random.Random(f"hybrid {seed}")
        mode = ("full", "selective")[seed % 2]
        count, first = rng.choice((1, 3, 9)), rng.choice((0, 5))
        options = {"first_partition": first, "rotation": rng.randrange(count), "block_size": rng.randrange(8, 60),
                   "buffer_size": rng.choice((100, 400, 2000)), "ordered": rng.random() < 0.5,
                   "framing": rng.choice(("records", "opaque"))}  # fmt: skip
        calls, opened = list[Call](), set[int]()
        for _ in range(60):
            text = "abcdefghij"[: rng.randrange(1, 11)] * rng.randrange(1, 6)
            partition = first + rng.randrange(count)
            kind = rng.randrange(12)
            if kind < 5:
                calls.append(write(partition, text))
            elif kind == 5:
                calls.append(write(partition, text, 70))
            elif kind == 6:
                calls.append(to_all(text))
            elif kind == 7:
                calls.append(to_some(sorted({partition, first}), text))
            elif kind == 8:
                calls.append(FLUSH)
            else:
                if partition not in opened:
                    opened.add(partition)
                    calls.append(open_(f"p{partition}", partition))
                calls.append(take(f"p{partition}", rng.randrange(1, 5)))
        calls += [FIGURES, FINISH]
        for partition in range(first, first + count):
            if partition not in opened:
                calls.append(open_(f"p{partition}", partition))
            calls.append(take(f"p{partition}"))
        calls += [FIGURES, CLOSE]
        put(cat, f"hybrid-drawn-{seed}", "HYB-3 HYB-4 HYB-5 HYB-6", "a script that was drawn", rng.choice((0, 900, 2000)),
            one(mode, count, **options), calls)  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    full(cat)
    selective(cat)
    consumers(cat)
    failures(cat)
    memory(cat)
    drawn(cat)
