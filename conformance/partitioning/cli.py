"""`conformance/run partitioning`: on the command line."""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from faro_conformance.protocol import SuiteError
from partitioning.arrow_check import check_arrow, check_refused
from partitioning.judge import Judge
from partitioning.oracle import Oracle
from partitioning.packing import Faro
from partitioning.text_check import check_text

_EPILOG = """\
Tables of every type that `faro pack` takes, as CSV, TSV, JSON lines, Parquet and Arrow, are packed by hash, by range
and by bounds. Every row has to be in the partition that DuckDB computes from the same bounds, or that a model of
spec/key-hash.md and Python's faro_format.key compute by hash; and no row may be lost or changed.

exit codes: as of conformance/run
"""


def main(arguments: Sequence[str], add_common: Callable[[argparse.ArgumentParser], None]) -> int:
    """Run the checks; the exit code."""
    del add_common  # There are no testees: this is about the command.
    parser = argparse.ArgumentParser(
        prog="conformance/run partitioning",
        description="Compare the partitions of `faro pack` with those of DuckDB and of a model of the key hash.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rows", type=int, default=250, metavar="N", help="in each table; default 250")
    parser.add_argument("--seed", type=int, help="the seed of the values; printed, so that a run can be repeated")
    parser.add_argument("--faro", type=Path, metavar="FILE", help="the command; default rust/target/release/faro")
    parser.add_argument("-k", dest="word", default="", metavar="WORD", help="only tables with this in their name")
    options = parser.parse_args(arguments)
    program = options.faro or Path(__file__).parents[2] / "rust" / "target" / "release" / "faro"
    if not program.exists():
        raise SuiteError(f"{program} is missing: `make faro` builds it")
    if options.rows < 1:
        raise SuiteError("--rows has to be above 0")
    seed = random.randrange(1 << 32) if options.seed is None else options.seed
    print(f"partitioning: --rows {options.rows} --seed {seed}", flush=True)
    begin = time.monotonic()
    judge = Judge()
    with tempfile.TemporaryDirectory(prefix="faro-partitioning-") as folder:
        faro = Faro(program.resolve(), Path(folder))
        for check in (check_arrow, check_text):
            check(faro, Oracle(), judge, options.rows, f"{seed}", options.word)
        check_refused(faro, judge, options.word)
    seconds = time.monotonic() - begin
    print(
        f"{judge.tables} tables, {faro.packs} packs, {judge.rows} rows in {seconds:.0f} s: {len(judge.faults)} faults"
    )
    if judge.tables == 0:
        raise SuiteError(f"no table has {options.word!r} in its name")
    return 1 if judge.faults else 0
