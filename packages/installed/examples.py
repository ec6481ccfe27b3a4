"""What the pages show, and what it must print."""

from __future__ import annotations

import json
import re
from pathlib import Path

from release.common import Failed, run

# Partition 7 of the README's example, in every language.
PARTITION_7 = ["for partition 7", "for every partition"]
ROWS = 5000
NAMES = "id,customer,amount"


def code(page: str, language: str) -> list[str]:
    """The blocks of one language in a page of Markdown."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def must_print(printed: str, expected: list[str], what: str) -> None:
    """Check that lines were printed, in this order.

    Raises:
        Failed: one is missing.
    """
    lines = iter(printed.splitlines())
    for wanted in expected:
        if wanted not in lines:
            raise Failed(f"{what}: expected the line {wanted!r} in:\n{printed}")


def round_trip(faro: Path, folder: Path, version: str) -> None:
    """Pack rows with an installed command, and compare what comes back.

    Raises:
        Failed: anything differs from what the command was given.
    """
    folder.mkdir()
    must_print(run([faro, "--version"], folder), [f"faro {version}"], "faro --version")
    rows = [f"{i},customer-{i * i % 97},{i % 100}.50" for i in range(ROWS)]
    (folder / "orders.csv").write_text("\n".join([NAMES, *rows]) + "\n")
    options = ["-o", "orders", "--by", "customer", "--partitions", "16", "--codec", "zstd"]
    run([faro, "pack", "orders.csv", *options], folder)
    report = json.loads(run([faro, "info", "orders", "--json"], folder))
    if f'"records": {ROWS}' not in json.dumps(report):
        raise Failed(f"faro info: expected {ROWS} records in {report}")
    run([faro, "check", "orders", "--level", "decode"], folder)
    # Each partition comes as a table of its own, with the line of names.
    tables = [run([faro, "cat", "orders", "-p", str(partition)], folder).splitlines() for partition in range(16)]
    back = [line for table in tables for line in table if line != NAMES]
    if sorted(back) != sorted(rows):
        raise Failed(f"faro cat: expected the {ROWS} rows that were packed, found {len(back)}")
