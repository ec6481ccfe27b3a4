"""Read a partition that another language wrote, then write a single file."""

from pathlib import Path

import faro_format as faro

with faro.open(Path("orders")) as reader:
    for record in reader[7]:
        print(bytes(record).decode())

with faro.Writer("small", faro.WriterOptions(64, layout="single", codec="zstd")) as writer:
    writer.multicast([3, 7], b"for two partitions")  # leaving the block writes small.faro
