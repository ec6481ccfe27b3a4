"""Threads that share a reader."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support import FILE_ID, Call, write

from faro import WriterOptions
from faro.options import CodecName


@pytest.mark.parametrize("codec", ["none", "lz4", "zstd"])
def test_threads_share_a_reader(tmp_path: Path, codec: CodecName) -> None:
    options = WriterOptions(20, codec=codec, buffer_size=3000, block_size=200, file_id=FILE_ID)
    calls = [Call("write", [i % 20], b"record %d " % (i % 7) * (i % 11)) for i in range(2000)]
    made = write(tmp_path, options, calls)
    expected = {p: [call.record for call in calls if call.partitions == [p]] for p in range(20)}
    with made.reader(cache=1) as reader, ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda p: [bytes(record) for record in reader.records(p)], list(range(20)) * 4)
        assert list(found) == [expected[p] for p in range(20)] * 4
