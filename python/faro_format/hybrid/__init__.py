"""Outputs that are read while they are written: from memory as long as it lasts, else from files (HYB).

::

    from faro_format import WriterOptions
    from faro_format.hybrid import HybridMemory, HybridStore

    memory = HybridMemory(256 << 20)
    with HybridStore("orders", WriterOptions(8), memory=memory, mode="selective") as store:
        consumer = store.open(3)
        store.write(3, b"a record")
        store.flush()
        for block in consumer.blocks():
            consume(block.payload)
        store.finish()

A memory and its stores are for one thread at a time: what leaves the memory is written by the call that committed a
region.
"""

from faro_format.hybrid._consumer import HybridConsumer
from faro_format.hybrid._figures import HybridFigures, HybridPosition
from faro_format.hybrid._memory import HybridMemory
from faro_format.hybrid._store import HybridStore

__all__ = ["HybridConsumer", "HybridFigures", "HybridMemory", "HybridPosition", "HybridStore"]
