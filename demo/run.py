"""From real data to shuffle files and back: see `make demo`.

Packs TPC-H lineitem in Rust, reads half of the partitions in Java and half in Python, compares counts and sums with those that DuckDB
computes from the original. Then does the same with 64 outputs, each of a part of the rows, merged in one file. Last it damages one byte
and shows that all three report the same code at the same offset.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import duckdb
import pyarrow as pa
from faro_format.key import partition_columns

ROOT = Path(__file__).resolve().parent.parent
FARO = ROOT / "rust/target/release/faro"
PARTITIONS = 64
PRODUCERS = 64


def run(title: str, command: list[str | Path], *, allowed: tuple[int, ...] = (0,)) -> str:
    """Run a command, print how long it took, return its standard output."""
    start = time.monotonic()
    print(f"  {title:<44}", end="", flush=True)
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    if done.returncode not in allowed:
        sys.exit(f"\ndemo: {title} ended with status {done.returncode}: {' '.join(map(str, command))}")
    print(f" {time.monotonic() - start:6.1f} s", flush=True)
    return done.stdout


def java() -> list[str]:
    """The java command, with the library and its dependencies on the class path."""
    path = [
        ROOT / "java/faro-format/target/classes",
        *(ROOT / "java/faro-testee/target/classpath").read_text().strip().split(":"),
    ]
    return ["java", "-cp", ":".join(map(str, path))]


def generate(folder: Path, scale: float) -> Path:
    """Lineitem as CSV, made once."""
    source = folder / f"lineitem-{scale:g}.csv"
    if not source.exists():
        program = Path(sys.executable).parent / "tpchgen-cli"
        run(
            f"make lineitem at scale {scale:g} (tpchgen-cli)",
            [program, "csv", "-q", "-s", f"{scale:g}", "-T", "lineitem", "-o", folder, "--overwrite"],
        )
        (folder / "lineitem.csv").rename(source)
    return source


def expected(source: Path) -> dict[int, list[int]]:
    """Per partition: rows, sum of quantity, sum of extended price (both in hundredths), by DuckDB."""
    start = time.monotonic()
    print(f"  {'count and sum the original (DuckDB)':<44}", end="", flush=True)

    def partition(keys: pa.ChunkedArray) -> pa.Array:
        return pa.array(partition_columns([keys], PARTITIONS), pa.int32())

    database = duckdb.connect()
    database.create_function("partition_of", partition, ["VARCHAR"], "INTEGER", type="arrow")
    rows = database.execute(
        """
        WITH orders AS (
            SELECT l_orderkey AS key, count(*) AS n, sum(l_quantity) AS quantity, sum(l_extendedprice) AS price
            FROM read_csv(?, types = {'l_orderkey': 'VARCHAR', 'l_quantity': 'DECIMAL(15,2)', 'l_extendedprice': 'DECIMAL(15,2)'})
            GROUP BY key)
        SELECT partition_of(key) AS p, sum(n)::BIGINT, (sum(quantity) * 100)::BIGINT, (sum(price) * 100)::BIGINT
        FROM orders GROUP BY p""",
        [str(source)],
    ).fetchall()
    print(f" {time.monotonic() - start:6.1f} s", flush=True)
    return {p: list(sums) for p, *sums in rows}


def pack(inputs: list[Path], to: Path) -> None:
    """Pack one input, or one after another into a folder, each as the output of a producer of its own."""
    title = "pack (Rust, Zstandard, 64 MiB of memory)" if len(inputs) == 1 else f"pack {len(inputs)} parts (Rust, LZ4)"
    codec = "zstd" if len(inputs) == 1 else "lz4"
    options = ["--by", "l_orderkey", "--partitions", str(PARTITIONS), "--memory", "64MiB", "--codec", codec, "--force"]
    run(title, [FARO, "pack", *inputs, "-o", to, *options])


def split(source: Path, folder: Path) -> list[Path]:
    """The rows in parts of about the same size, each with the header line."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    parts = [folder / f"part-{number:02}.csv" for number in range(PRODUCERS)]
    size = source.stat().st_size
    with source.open("rb") as rows:
        header = rows.readline()
        for number, part in enumerate(parts):
            end = size * (number + 1) // PRODUCERS
            with part.open("wb") as to:
                to.write(header)
                # No field of lineitem has a line end in it.
                to.write(rows.read(max(end - rows.tell(), 0)) + rows.readline())
    return parts


def read_back(base: Path) -> dict[int, list[int]]:
    """Per partition: rows and sums as in `expected`, half of them by Java and half by Python."""
    half = PARTITIONS // 2
    lines = run(f"read partitions 0 to {half - 1} (Java)", [*java(), "demo/SumPartitions.java", base, "0", str(half)])
    lines += run(
        f"read partitions {half} to {PARTITIONS - 1} (Python)",
        [sys.executable, "demo/sum_partitions.py", base, str(half), str(PARTITIONS)],
    )
    return {int(p): [int(v) for v in sums] for p, *sums in (line.split() for line in lines.splitlines())}


def extents(merged: Path) -> int:
    """In how many places of a merged file one partition has blocks, at most."""
    ranges = json.loads(run("layout", [FARO, "layout", merged, "--json"]))["ranges"]
    return max(Counter(one["partition"] for one in ranges if one["what"] == "own-extent").values())


def compare(wanted: dict[int, list[int]], found: dict[int, list[int]]) -> int:
    """How many partitions differ; each is printed."""
    wrong = 0
    for p in range(PARTITIONS):
        if wanted.get(p) != found.get(p):
            wrong += 1
            print(f"  partition {p}: DuckDB has {wanted.get(p)}, read back {found.get(p)}")
    return wrong


def flip(base: Path, damaged: Path) -> int:
    """Copy the pair and flip one bit in the middle of the data. Returns the offset of the damaged byte."""
    for suffix in (".data", ".index"):
        shutil.copyfile(f"{base}{suffix}", f"{damaged}{suffix}")
    with open(f"{damaged}.data", "r+b") as file:
        offset = os.fstat(file.fileno()).st_size // 2
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 0x10]))
    return offset


def merge(source: Path, folder: Path, wanted: dict[int, list[int]]) -> tuple[Path, int, int]:
    """Pack and merge the rows as outputs of many producers, and read them back.

    Returns the merged output, in how many places a partition has blocks there, and how many partitions differ.
    """
    maps, merged = folder / "maps", folder / "merged"
    shutil.rmtree(maps, ignore_errors=True)
    maps.mkdir()
    parts = split(source, folder / "parts")
    pack(parts, maps)
    shutil.rmtree(folder / "parts")
    outputs = sorted(maps.glob("*.index"))
    for suffix in (".data", ".index"):
        Path(f"{merged}{suffix}").unlink(missing_ok=True)
    run(f"merge {len(outputs)} outputs (Rust)", [FARO, "merge", merged, *outputs])
    run("check the merged file against them", [FARO, "check", merged, "--originals", *outputs])
    return merged, extents(merged), compare(wanted, read_back(merged))


def main() -> int:
    """Run the demo. Returns 1 if anything differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scale", type=float, default=0.5, help="TPC-H scale factor (default 0.5: 380 MB of CSV)")
    args = parser.parse_args()
    folder = ROOT / "build/demo"
    folder.mkdir(parents=True, exist_ok=True)
    base = folder / "lineitem"

    print("Real data in")
    source = generate(folder, args.scale)
    pack([source], base)
    regions = json.loads(run("info", [FARO, "info", base, "--json"]))["regions"]["count"]
    wanted = expected(source)

    print("Checked out")
    found = read_back(base)
    wrong = compare(wanted, found)
    run("draw the layout", [FARO, "layout", base, "--svg", folder / "layout.svg"])

    print(f"{PRODUCERS} outputs merged")
    merged, places_each, wrong_merged = merge(source, folder, wanted)

    print("One bit flipped")
    damaged = folder / "damaged"
    offset = flip(base, damaged)
    verdicts = {
        "Rust": json.loads(run("check (Rust)", [FARO, "check", damaged, "--json"], allowed=(4,)))["outputs"][0][
            "error"
        ],
        "Java": json.loads(run("check (Java)", [*java(), "demo/CheckFile.java", damaged])),
        "Python": json.loads(run("check (Python)", [sys.executable, "demo/check_file.py", damaged])),
    }
    places = {(verdict.get("code"), verdict.get("offset")) for verdict in verdicts.values()}

    rows = sum(sums[0] for sums in found.values())
    size = sum(os.path.getsize(f"{base}{suffix}") for suffix in (".data", ".index"))
    print(f"""
{rows:,} rows, {os.path.getsize(source):,} bytes of CSV -> {size:,} bytes in {regions} regions
{PARTITIONS - wrong} of {PARTITIONS} partitions agree with DuckDB in count, sum of quantity and sum of extended price
{PARTITIONS - wrong_merged} of {PARTITIONS} agree in {merged.relative_to(ROOT)} too, where the {PRODUCERS} pieces of a partition are in at most {places_each} places
bit flipped in byte {offset:,}:""")
    for name, verdict in verdicts.items():
        print(f"  {name:<8} {verdict.get('code')} at {verdict.get('offset')}")
    print(f"picture: {(folder / 'layout.svg').relative_to(ROOT)}")
    agreed = len(places) == 1 and None not in next(iter(places))
    if wrong or wrong_merged or not agreed or regions < 2:
        print("demo: FAILED", file=sys.stderr)
        return 1
    print("demo: everything agrees")
    return 0


if __name__ == "__main__":
    sys.exit(main())
