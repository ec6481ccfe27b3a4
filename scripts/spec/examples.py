"""The pages of worked examples: real files, written by the Python library and annotated by `faro dump`."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
from faro_format import Reader, Writer, WriterOptions, repair

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "conformance"))

# Beside the suite.
from generate.base import text  # noqa: E402
from generate.trained import TEXTS, WORDS  # noqa: E402

PARTITIONS = 20
FILE_ID = bytes(range(0xA0, 0xB0))
TEXT = b"the same words, " * 6


def options(partition_count: int, **more: Any) -> WriterOptions:  # noqa: ANN401
    """Options of a single file with a fixed file_id."""
    return WriterOptions(partition_count, **{"layout": "single", "file_id": FILE_ID, **more})


def small(name: str) -> None:
    """The smallest file that has everything."""
    with Writer(name, options(2)) as writer:
        writer.write(1, b"ab")
        writer.write(0, b"xyz")


def pair(name: str) -> None:
    """A pair with a dense, rotated region and a sparse one, a broadcast and a multicast."""
    with Writer(name, options(PARTITIONS, layout="paired", rotation=5, producer=3, created_by="example 1")) as writer:
        for partition in range(PARTITIONS):
            writer.write(partition, b"p=%d" % partition)
        writer.broadcast(b"to all")
        writer.flush()
        writer.write(7, b"seven")
        writer.write(2, b"two")
        writer.multicast([1, 7], b"to 1 and 7")
        writer.property("job", "example")


def zstd(name: str) -> None:
    """One block compressed with Zstandard."""
    with Writer(name, options(1, framing="opaque", codec="zstd")) as writer:
        writer.write(0, TEXT)


def lz4(name: str) -> None:
    """One block compressed with LZ4."""
    with Writer(name, options(1, framing="opaque", codec="lz4")) as writer:
        writer.write(0, TEXT)


def event(name: str) -> None:
    """An event between two data blocks, and an empty one of the application for every partition."""
    with Writer(name, options(2)) as writer:
        writer.write(0, b"before")
        writer.write_event(0, 1, b"mark")
        writer.write(0, b"after")
        writer.broadcast_event(64, b"")


def dictionary(name: str) -> None:
    """A dictionary, and a block that is compressed with it."""
    plain, stored = TEXTS["words"]
    with Writer(name, options(1, framing="opaque", codec="zstd", dictionaries=True)) as writer:
        number = writer.dictionary(WORDS)
        with writer.region() as region:
            region.stored_block(0, 0, 2, len(plain), stored, 1, number)


def schema(name: str) -> None:
    """A file of framing arrow without records."""
    message = pyarrow.schema([("n", pyarrow.int64())]).serialize().to_pybytes()
    with Writer(name, options(1, framing="arrow", schema=message)):
        pass


def sparse(name: str) -> None:
    """A region with three of 12 partitions, and one with a multicast alone."""
    with Writer(name, options(12)) as writer:
        for partition in (10, 3, 7):
            writer.write(partition, b"p=%d" % partition)
        writer.flush()
        writer.multicast([3, 11], b"to 3 and 11")


def selective(name: str) -> None:
    """A file whose sequences have gaps, in the middle of a stream and at its end."""
    with Writer(name, options(3, selective=True)) as writer:
        with writer.region() as region:
            for partition, sequence, record in ((0, 3, "the fourth block"), (0, 5, "the sixth"), (2, 1, "the second")):
                region.sequence(sequence)
                region.block(partition, 0, text(record).plain, 1)
        writer.skip_to(0, 8)


def unfinished(name: str) -> None:
    """What a writer leaves that died while it wrote its second region's message."""
    with Writer(name, options(2)) as writer:
        writer.write(0, b"committed")
        writer.flush()
        writer.write(1, b"not committed")
    path = Path(f"{name}.faro")
    with Reader(single=path) as reader:
        torn = reader._region(1).entry.message_offset + 40
    with path.open("r+b") as file:
        file.truncate(torn)


def repaired(name: str) -> None:
    """The same file after a repair."""
    unfinished(name)
    repair(single=Path(f"{name}.faro"))


@dataclass(frozen=True)
class Example:
    """A page: the calls that make its file, and what to look at."""

    title: str
    make: Callable[[str], None]
    calls: str
    note: str


COMMON = "layout single, file_id a0a1...af"
EXAMPLES = {
    "single": Example(
        "A single file", small,
        f'options: {COMMON}, partition_count 2, framing records\nwrite(1, "ab")\nwrite(0, "xyz")\nfinish()',
        "The smallest file that has everything: one region, two partitions.",
    ),
    "pair": Example(
        "A pair", pair,
        "options: layout paired, file_id a0a1...af, partition_count 20, framing records, rotation 5, producer 3, created_by example 1\n"
        'write(p, "p=" p)            for p = 0 to 19 in this order\nbroadcast("to all")\nflush()\n'
        'write(7, "seven"), write(2, "two")\nmulticast({1, 7}, "to 1 and 7")\nproperty("job", "example")\nfinish()',
        "A dense, rotated region and a sparse one, a broadcast and a multicast.",
    ),
    "zstandard": Example(
        "A block compressed with Zstandard", zstd,
        f'options: {COMMON}, partition_count 1, framing opaque, codec Zstandard\nwrite(0, "the same words, " 6 times)\nfinish()',
        "The payload is a Zstandard frame without its magic number (COD-3): put `28 B5 2F FD` before it and any decoder takes it. "
        "Its first byte is the frame header descriptor, its second the window (COD-4). Other versions of the compressor may "
        "make other bytes (COD-6).",
    ),
    "lz4": Example(
        "A block compressed with LZ4", lz4,
        f'options: {COMMON}, partition_count 1, framing opaque, codec LZ4\nwrite(0, "the same words, " 6 times)\nfinish()',
        "The payload is one block of the LZ4 block format (COD-2): a token, 16 literals, a match at offset 16, and the last literals.",
    ),
    "event": Example(
        "Events", event,
        f'options: {COMMON}, partition_count 2, framing records\nwrite(0, "before")\nwrite_event(0, 1, "mark")\nwrite(0, "after")\n'
        'broadcast_event(64, "")\nfinish()',
        "An event is a block of its own, ends the data block before it (SRT-6), is not framed, and may be empty (BLK-2).",
    ),
    "dictionary": Example(
        "A dictionary", dictionary,
        f"options: {COMMON}, partition_count 1, framing opaque, codec Zstandard, dictionaries yes\n"
        f"dictionary({len(WORDS)} bytes) returns 1\nregion(): stored_block(0, 0, Zstandard, plain_size {len(TEXTS['words'][0])}, "
        f"{len(TEXTS['words'][1])} bytes, records 1, dictionary 1), end()\nfinish()",
        "The dictionary is a metadata block before the region's blocks (DIC-3). The data block names it in its header. The footer says where it is.",
    ),
    "schema": Example(
        "A schema message", schema,
        f"options: {COMMON}, partition_count 1, framing arrow, schema: one column, n, of 64-bit integers\nfinish()",
        "With framing arrow the first block is the schema block (SCH-1). Its message wraps the encapsulated Arrow message.",
    ),
    "sparse": Example(
        "Sparse regions", sparse,
        f'options: {COMMON}, partition_count 12, framing records\nwrite(10, "p=10"), write(3, "p=3"), write(7, "p=7")\nflush()\n'
        'multicast({3, 11}, "to 3 and 11")\nfinish()',
        "The first region names its three slots. The second has none: `partitions` is present and empty (CAN-3).",
    ),
    "selective": Example(
        "A selective file", selective,
        f"options: {COMMON}, partition_count 3, framing records, selective\nregion(): sequence(3), block(0, record \"the fourth block\"), "
        'sequence(5), block(0, record "the sixth"), sequence(1), block(2, record "the second")\nskip_to(0, 8)\nfinish()',
        "With the reader feature `selective` sequences may have gaps. The region message has `first_block`: the sequence of the first "
        "block of each slot, 0 for a slot without blocks (REG-9, PRT-4). The footer has the streams: partition 0 had 8 blocks, of which "
        "6 are not in the file; partition 2 had 2, of which 1 is not (FTR-8).",
    ),
    "unfinished": Example(
        "An unfinished file", unfinished,
        f'options: {COMMON}, partition_count 2, framing records\nwrite(0, "committed")\nflush()\nwrite(1, "not committed")\nfinish(), '
        "cut 40 bytes after the beginning of the second region message's block",
        "What a writer leaves that died while it wrote its second region message. Opening says `unfinished`; a follower sees one region, "
        "and waits at the block that is not yet there (FOL-2).",
    ),
    "repaired": Example(
        "A repaired file", repaired,
        "the file of unfinished.md\nrepair()",
        "The same file, cut after the last region message and finished (REP-3). The footer has the property `faro.repair`, and no statistics.",
    ),
}  # fmt: skip


def dump(faro: Path, path: Path) -> str:
    """What `faro dump --annotate` prints of a file, as a block of the page."""
    # Run beside the file, so that the page does not hold the name of a folder.
    command = [str(faro), "dump", "--annotate", path.name]
    done = subprocess.run(command, cwd=path.parent, check=False, capture_output=True, text=True)
    if not done.stdout:
        raise SystemExit(done.stderr)
    return f"```text\n{done.stdout.rstrip()}\n```\n"


def where_is_seven(base: Path) -> str:
    """The way to partition 7, step by step, with the numbers of the file."""
    data, index = base.with_suffix(".data"), base.with_suffix(".index")
    size = index.stat().st_size
    steps = [
        f"1. The index file has {size} bytes, so its tail begins at {size} − 24 = {size - 24}. It leads to the footer block, whose "
        "directory says where the two region messages are, and where in the data file their blocks.",
    ]
    with Reader(data=data, index=index) as reader:
        for number in range(reader.region_count):
            steps.append(f"{number + 2}. {_region_step(number, reader._region(number))}")
        found = list(reader.partition(7))
        steps.append(
            f"{reader.region_count + 2}. So partition 7 reads, in this order, the blocks at "
            + ", ".join(f"{block.offset}" for block in found)
            + ". Their plain payloads are records, each a u32 length and that many bytes: "
            + ", ".join(f"`{record.tobytes().decode()}`" for record in reader.records(7))
            + "."
        )
    return "\n".join(steps) + "\n"


def _region_step(number: int, region: Any) -> str:  # noqa: ANN401
    begin = region.entry.data_offset
    partitions = [int(partition) for partition in region.slot_partitions()]
    own = region.own(7)
    if own is None:
        raise SystemExit("the example is made so that partition 7 has an own extent in each region")
    if region.slots == PARTITIONS:
        turn = partitions[0]
        how = f"is dense with rotation {turn}: partition 7 has slot (7 − {turn}) mod {PARTITIONS} = {own.number}"
    else:
        how = f"is sparse, its slots hold the partitions {partitions}: partition 7 has slot {own.number}"
    first, last = (own.begin - begin) // 8, (own.end - begin) // 8
    text = (
        f"Region {number} begins at {begin} of the data file and {how}. offsets[{own.number}] and offsets[{own.number + 1}] are {first} "
        f"and {last}, in units of 8: bytes {begin} + {first} × 8 = {own.begin} to {own.end}."
    )
    for position in range(region.shared_count):
        shared, members = region.shared(position), region.members(position)
        text += f" After the own extents comes a shared extent, bytes {shared.begin} to {shared.end}, "
        if members is None:
            text += "without `members`: every partition reads it, so 7 does."
        else:
            reads = "so 7 reads it" if 7 in members else "so 7 does not read it"
            text += f"whose members are {[int(member) for member in members]}, {reads}."
    return text


def _page(faro: Path, name: str, example: Example, base: Path) -> str:
    example.make(str(base))
    parts = [f"# {example.title}\n\n{example.note}\n\n```text\n{example.calls}\n```\n"]
    if name == "pair":
        parts.append(f"## Where is partition 7?\n\n{where_is_seven(base)}")
        parts += [f"## The {role} file\n\n{dump(faro, base.with_suffix(f'.{role}'))}" for role in ("index", "data")]
    else:
        parts.append(dump(faro, base.with_suffix(".faro")))
    return "\n".join(parts)


def examples_pages(faro: Path) -> dict[str, str]:
    """All pages, by their names in the folder.

    Args:
        faro: the `faro` command.
    """
    pages = {
        "README.md": "# Examples\n\nReal files, byte by byte. The calls on each page ([writing.md](../writing.md)) write its file; `faro dump --annotate`\n"
        "annotates it; `make spec` rebuilds the pages.\n\nOffsets are decimal, bytes hexadecimal in file order. All integers are little-endian.\n\n"
        "| page | shows |\n|---|---|\n"
        + "".join(
            f"| [{name}.md]({name}.md) | {it.title[0].lower() + it.title[1:]} |\n" for name, it in EXAMPLES.items()
        )
    }
    for name, example in EXAMPLES.items():
        folder = tempfile.mkdtemp()
        try:
            pages[f"{name}.md"] = _page(faro.resolve(), name, example, Path(folder) / name)
        finally:
            shutil.rmtree(folder)
    return pages
