"""The page of worked examples: real files, written by the Python library and annotated by `faro dump`."""

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from faro.index import Region
from faro.options import WriterOptions
from faro.reader import Reader
from faro.writer import Writer

PARTITIONS = 20
FILE_ID = bytes(range(0xA0, 0xB0))

SMALL = """\
options: layout single, partition_count 2, framing records, file_id a0a1...af
write(1, "ab")
write(0, "xyz")
finish()"""


def small(name: str) -> None:
    """The smallest file that has everything: one region, two partitions."""
    with Writer(name, WriterOptions(2, layout="single", file_id=FILE_ID)) as writer:
        writer.write(1, b"ab")
        writer.write(0, b"xyz")


PAIR = """\
options: layout paired, partition_count 20, framing records, rotation 5, producer 3, file_id a0a1...af
write(p, "p=" p)            for p = 0 to 19 in this order
broadcast("to all")
flush()
write(7, "seven"), write(2, "two")
multicast({1, 7}, "to 1 and 7")
property("job", "example")
finish()"""


def pair(name: str) -> None:
    """A pair with a dense, rotated region and a sparse one, a broadcast and a multicast."""
    with Writer(name, WriterOptions(PARTITIONS, rotation=5, producer=3, file_id=FILE_ID)) as writer:
        for partition in range(PARTITIONS):
            writer.write(partition, b"p=%d" % partition)
        writer.broadcast(b"to all")
        writer.flush()
        writer.write(7, b"seven")
        writer.write(2, b"two")
        writer.multicast([1, 7], b"to 1 and 7")
        writer.property("job", "example")


def dump(faro: Path, path: Path, *more: str) -> str:
    """What `faro dump --annotate` prints of a file, as a block of the page."""
    # Run beside the file, so that the page does not hold the name of a folder.
    command = [str(faro), "dump", "--annotate", path.name, *more]
    text = subprocess.run(command, cwd=path.parent, check=True, stdout=subprocess.PIPE, text=True).stdout
    return f"```text\n{text.rstrip()}\n```\n"


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
            region = reader.region(number)
            steps.append(f"{number + 2}. {_region_step(number, region)}")
        found = list(reader.blocks(7))
        steps.append(
            f"{reader.region_count + 2}. So partition 7 reads, in this order, the blocks at "
            + ", ".join(f"{block.offset}" for block in found)
            + ". Their plain payloads are records, a u32 length and so many bytes each: "
            + ", ".join(f"`{record.tobytes().decode()}`" for record in reader.records(7))
            + "."
        )
    return "\n".join(steps) + "\n"


def _region_step(number: int, region: Region) -> str:
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
        text += f" Behind the own extents stands a shared extent, bytes {shared.begin} to {shared.end}, "
        if members is None:
            text += "without `members`: every partition reads it, so 7 does."
        else:
            reads = "so 7 reads it" if 7 in members else "so 7 does not read it"
            text += f"whose members are {[int(member) for member in members]}, {reads}."
    return text


def examples_page(faro: Path) -> str:
    """The whole page.

    Args:
        faro: the `faro` command.
    """
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        makers: dict[str, Callable[[str], None]] = {"small": small, "pair": pair}
        for name, make in makers.items():
            paths[name] = Path(folder) / name
            make(str(paths[name]))
        return f"""# Examples

Real files, byte by byte. The files are written by these calls ([writing.md](writing.md)) and annotated by `faro dump --annotate`; `make spec` rebuilds this page.

Offsets are decimal, bytes hexadecimal in file order. All integers are little-endian.

## A single file

```text
{SMALL}
```

{dump(faro.resolve(), paths["small"].with_suffix(".faro"))}
## A pair

```text
{PAIR}
```

### Where does partition 7 lie?

{where_is_seven(paths["pair"])}
### The index file

{dump(faro.resolve(), paths["pair"].with_suffix(".index"))}
### The data file

{dump(faro.resolve(), paths["pair"].with_suffix(".data"))}"""
