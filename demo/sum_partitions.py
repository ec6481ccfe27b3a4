"""Counts and sums of some partitions of packed lineitem, as lines: partition, rows, quantity and price in hundredths."""

import io
import sys
from pathlib import Path

import faro_format as faro
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

MONEY = pa.decimal128(15, 2)
COLUMNS = ["l_quantity", "l_extendedprice"]


def main() -> None:
    """Read partitions [from, to) of the output NAME."""
    name, begin, end = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    with faro.open(name) as reader:
        header = reader.properties["faro.pack.header"].split(",")
        options = csv.ConvertOptions(include_columns=COLUMNS, column_types=dict.fromkeys(COLUMNS, MONEY))
        for partition in range(begin, end):
            lines = b"\n".join(reader.records(partition))
            table = csv.read_csv(io.BytesIO(lines), csv.ReadOptions(column_names=header), convert_options=options)
            sums = [int(pc.sum(table[column]).as_py() * 100) for column in COLUMNS]
            print(partition, table.num_rows, *sums)


if __name__ == "__main__":
    main()
