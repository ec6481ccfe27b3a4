"""Cases of the pushes of a shuffle: PSH."""

from __future__ import annotations

import struct
from itertools import groupby

import xxhash

from .catalog import Catalog, fault
from .output import Answer
from .prng import SplitMix


def pushes_of(options: Answer, producer: int, sizes: list[int]) -> list[list[int]]:
    """PSH-2 and PSH-3: [merger, first partition, count, bytes] of each push."""
    count, mergers = options["partition_count"], options["mergers"]
    size, largest = options.get("push_size", 3 << 20), options.get("largest_partition", 1 << 20)

    # Parts that no range crosses: the partitions of one merger, between those that are too large.
    large = [place for place in range(count) if sizes[place] > largest]
    part = [(place * mergers // count, sum(one < place for one in large)) for place in range(count)]
    found = []
    for _, group in groupby((place for place in range(count) if place not in large), key=part.__getitem__):
        filled = [place for place in group if sizes[place] > 0]
        while filled:
            taken = 1
            while taken < len(filled) and sum(sizes[place] for place in filled[: taken + 1]) <= size:
                taken += 1
            first, last = filled[0], filled[taken - 1]
            whole = sum(sizes[first : last + 1])
            found.append([first * mergers // count, options.get("first_partition", 0) + first, last + 1 - first, whole])
            filled = filled[taken:]
    return sorted(found, key=lambda one: (xxhash.xxh64_intdigest(struct.pack("<QI", producer, one[1])), one[1]))


def mergers_of(options: Answer) -> list[list[int]]:
    """PSH-1: [first partition, count] of each merger, by asking each partition."""
    count, mergers, first = options["partition_count"], options["mergers"], options.get("first_partition", 0)
    owner = [place * mergers // count for place in range(count)]
    return [[first + sum(one < merger for one in owner), owner.count(merger)] for merger in range(mergers)]


def cases_of(cat: Catalog) -> None:
    """PSH-1 to PSH-3."""

    def case(name: str, title: str, options: Answer, *sizes: list[int], first: int = 7) -> None:
        producers = {first + place: one for place, one in enumerate(sizes)}
        request = {"options": options, "producers": [{"producer": str(producer), "bytes": one} for producer, one in producers.items()]}  # fmt: skip
        pushes = {str(producer): pushes_of(options, producer, one) for producer, one in producers.items()}
        cat.add(f"psh-{name}", "PSH-1 PSH-2 PSH-3", title, "plan_pushes", folder="merge", request=request,
                expect={"ok": {"mergers": mergers_of(options), "pushes": pushes}})  # fmt: skip

    def options(count: int, mergers: int, **more: int) -> Answer:
        return {"partition_count": count, "mergers": mergers, **more}

    tens = {"push_size": 30, "largest_partition": 25}
    case("one", "one partition, one merger", options(1, 1), [100])
    case("defaults", "pushes of 3 MiB, partitions of 1 MiB", options(8, 1), [1 << 20, (1 << 20) + 1, *[1 << 20] * 5, 1])
    case("empty", "an output without any block", options(4, 2), [0] * 4)
    case("fits", "a push that is exactly full, and one byte more", options(6, 1, **tens), [10, 10, 10, 10, 10, 11])
    case("zeros", "partitions without bytes, at the ends and between", options(7, 1, **tens), [0, 0, 9, 0, 0, 9, 0])
    case("large", "a partition that is too large ends a range", options(5, 1, **tens), [5, 25, 26, 5, 5])
    case("large-first", "the first and the last are too large", options(4, 1, **tens), [26, 5, 5, 26])
    case(
        "alone", "a partition that is larger than a push", options(3, 1, push_size=10, largest_partition=90), [5, 50, 5]
    )
    case("no-room", "a push_size of 0: each partition by itself", options(3, 1, push_size=0), [1, 2, 3])
    case("none-small", "a largest_partition of 0: nothing is pushed", options(3, 1, largest_partition=0), [1, 2, 3])
    case("mergers", "a range ends where another merger begins", options(10, 3, **tens), [5] * 10)
    case("many-mergers", "more mergers than partitions", options(3, 7, **tens), [5, 5, 5])
    case("first", "partitions that do not begin at 0", options(10, 4, first_partition=1000, **tens), [5] * 10)
    case("last", "the last partitions there are", options(4, 2, first_partition=(1 << 28) - 4), [1, 2, 3, 4])
    case("order", "each producer has an order of its own", options(24, 6, **tens), *[[10] * 24] * 4)
    case("most", "the greatest producers", options(24, 6, **tens), [10] * 24, [9] * 24, first=(1 << 64) - 3)
    case("sizes", "large numbers", options(3, 1, push_size=1 << 52, largest_partition=1 << 51), [1 << 51, 1 << 51, 1])
    random = SplitMix(22)
    for number in range(6):
        count, mergers = 1 + random.next() % 60, 1 + random.next() % 12
        sizes = [[random.next() % 28 if random.next() % 4 else 0 for _ in range(count)] for _ in range(3)]
        case(f"random-{number}", "sizes drawn by chance", options(count, mergers, **tens), *sizes)
    for name, title, bad, wrong in (
        ("no-merger", "no merger", options(2, 0), [1, 2]),
        ("no-partition", "no partition", options(0, 1), []),
        ("outside", "partitions from 2^28 on", options(2, 1, first_partition=(1 << 28) - 1), [1, 2]),
        ("fewer", "bytes of fewer partitions", options(3, 1), [1, 2]),
        ("more", "bytes of more partitions", options(3, 1), [1, 2, 3, 4]),
    ):
        request = {"options": bad, "producers": [{"producer": "7", "bytes": wrong}]}
        cat.add(f"psh-{name}", "PSH-1 PSH-2", title, "plan_pushes", folder="merge", request=request,
                expect=fault("invalid-argument"))  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    cases_of(cat)
