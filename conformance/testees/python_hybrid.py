"""The op `hybrid` of the Python testee (../protocol.md)."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from typing import Any

from faro_format import FaroError, WriterOptions
from faro_format._error import invalid
from faro_format.hybrid import HybridConsumer, HybridMemory, HybridStore
from python_payloads import payload, records_of_many

Json = dict[str, Any]
NEVER = 1e9
"""No region ends because a consumer waits."""


def put(store: HybridStore, call: Json) -> None:
    """Write a record, or an event if the kind is not 0."""
    name, content, kind = call["call"], payload(call["payload"]), call.get("kind", 0)
    if name == "write":
        if kind:
            store.write_event(call["partition"], kind, content)
        else:
            store.write(call["partition"], content)
    elif name == "broadcast":
        if kind:
            store.broadcast_event(kind, content)
        else:
            store.broadcast(content)
    elif kind:
        store.multicast_event(call["partitions"], kind, content)
    else:
        store.multicast(call["partitions"], content)


def many(store: HybridStore, call: Json) -> None:
    """Make the records of `many` one by one: the memory is looked at after each."""
    partitions, offsets, data = records_of_many(call)
    for row in range(len(partitions)):
        store.write(int(partitions[row]), data[offsets[row] : offsets[row + 1]])


class Script:
    """Stores of one memory, and their consumers."""

    def __init__(self, request: Json, options: Callable[[Json], WriterOptions]) -> None:
        """Make the stores."""
        self.memory = HybridMemory(request["memory"])
        self.stores: list[HybridStore] = []
        self.consumers: dict[tuple[int, str], HybridConsumer] = {}
        self.taken: list[Json] = []
        self.figures: list[Json] = []
        try:
            for number, store in enumerate(request["stores"]):
                name = f"{request['path']}-{number}" if number else request["path"]
                chosen = options(store["options"])
                self.stores.append(HybridStore(name, chosen, memory=self.memory, mode=store["mode"], delay=NEVER))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close all stores."""
        for store in self.stores:
            store.close()

    def call(self, call: Json) -> None:
        """Make one call."""
        number, name = call.get("store", 0), call["call"]
        store = self.stores[number]
        if name in ("write", "broadcast", "multicast"):
            put(store, call)
        elif name == "many":
            many(store, call)
        elif name == "property":
            store.property(call["key"], call["value"])
        elif name == "open":
            after = self.consumers[number, call["after"]].position if "after" in call else None
            self.consumers[number, call["consumer"]] = store.open(call["partition"], after)
        elif name == "take":
            self.take(number, call)
        elif name == "close_consumer":
            self.consumers[number, call["consumer"]].close()
        elif name == "figures":
            figures = store.figures()
            self.figures.append(
                {
                    "regions": figures.regions,
                    "bytes": figures.bytes,
                    "in_memory": figures.in_memory,
                    "written": figures.written,
                    "used": self.memory.used,
                }
            )
        else:
            getattr(store, name)()

    def take(self, number: int, call: Json) -> None:
        """Let a consumer take blocks."""
        consumer = self.consumers.get((number, call["consumer"]))
        if consumer is None:
            raise invalid("an open consumer", call["consumer"])
        blocks, content = 0, hashlib.sha256()
        while blocks < call["blocks"]:
            block = next(consumer.blocks(), None)
            if block is None:
                break
            content.update(struct.pack("<BI", block.kind, len(block.payload)))
            content.update(block.payload)
            blocks += 1
        self.taken.append({"blocks": blocks, "sha256": content.hexdigest(), "finished": consumer.finished})


def hybrid(request: Json, options: Callable[[Json], WriterOptions]) -> Json:
    """Make the stores and the calls."""
    script = Script(request, options)
    errors = []
    try:
        for number, call in enumerate(request["calls"]):
            try:
                script.call(call)
            except FaroError as fault:
                errors.append({"call": number, "code": str(fault.code)})
    finally:
        script.close()
    return {"errors": errors, "taken": script.taken, "figures": script.figures}
