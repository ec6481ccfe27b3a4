"""Blocks that belong to another file (BLK-9) or to another place (REG-11, PRT-4), and wrong sizes (FOL-2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import FILE_ID, Call, Output, fault_of, read_all, write

from faro_format import ErrorCode, FaroError, Follower, WriterOptions, check, rebuild, repair
from faro_format._block.block import KIND_FOOTER, KIND_REGION, encode_metadata
from faro_format._bytes.checksum import crc32c
from faro_format._bytes.tail import encode_tail
from faro_format._message.build import build_footer, build_region
from faro_format._message.messages import ENTRY

OTHER = bytes(range(100, 116))
BOTH = pytest.mark.parametrize("layout", ["paired", "single"])


def place_of(fault: FaroError | None) -> tuple[Any, ...]:
    assert fault is not None
    return str(fault.code), fault.role, fault.offset


@BOTH
def test_a_block_of_another_file_is_refused(tmp_path: Path, layout: Any) -> None:
    calls = [Call("write", [0], b"mine")]
    made, other = (write(tmp_path, WriterOptions(2, layout=layout, file_id=name), calls) for name in (FILE_ID, OTHER))
    role = "single" if layout == "single" else "data"
    mine, its = made.contents()[role], other.contents()[role]
    # The blocks are the same except for their checksums.
    assert mine[64:84] + mine[88:96] == its[64:84] + its[88:96]
    assert mine[84:88] != its[84:88]
    made.put(made.contents() | {role: mine[:64] + its[64:96] + mine[96:]})
    with made.reader() as reader:
        assert place_of(fault_of(read_all, reader)) == ("checksum", role, 64)
    with made.reader(verify=False) as reader:
        read_all(reader)
    if layout == "paired":
        assert rebuild(**made.files).blocks == 0


@BOTH
def test_shared_extents_that_changed_places(tmp_path: Path, layout: Any) -> None:
    calls = [Call("multicast", [0], b"to 0"), Call("multicast", [1], b"to 1"), Call("broadcast", [], b"all!")]
    made = write(tmp_path, WriterOptions(2, layout=layout, file_id=FILE_ID), calls)
    with made.reader() as reader:
        region = reader._region(0)
        assert [region.shared(number).first_block for number in range(3)] == [0, 1, 2]
    role = "single" if layout == "single" else "data"
    contents = made.contents()[role]
    made.put(made.contents() | {role: contents[:64] + contents[96:128] + contents[64:96] + contents[128:]})
    with made.reader() as reader:
        # Partition 1 reads the second extent only.
        assert place_of(fault_of(lambda: list(reader.partition(0)))) == ("inconsistent-index", role, 64 + 12)
        assert place_of(fault_of(lambda: list(reader.partition(1)))) == ("inconsistent-index", role, 96 + 12)
        assert place_of(fault_of(lambda: list(reader.range(1, 2)))) == ("inconsistent-index", role, 96 + 12)
    assert fault_of(check, **made.files, level="structure") is None
    assert place_of(fault_of(check, **made.files)) == ("inconsistent-index", role, 64 + 12)


def put_regions(made: Output, *regions: list[int]) -> None:
    """Give a pair whose blocks are all shared and 32 bytes long new regions: each the first_block of its extents."""
    seed = crc32c(FILE_ID)
    offsets, none = np.zeros(1, np.uint32), np.zeros(0, np.uint32)
    index, begin, directory = made.contents()["index"][:64], 64, []
    for number, firsts in enumerate(regions):
        shared = [(4, bytes((1 << i,)), first) for i, first in enumerate(firsts)]
        length = 32 * len(firsts)
        message = build_region(
            sequence=number, data_offset=begin, data_length=length, offsets=offsets, partitions=none, shared=shared
        )
        directory.append((len(index), len(message), 0, begin, length))
        index += encode_metadata(seed, KIND_REGION, number, message)
        begin += length
    footer = build_footer(regions=np.array(directory, ENTRY), data_size=begin)
    ending = encode_metadata(seed, KIND_FOOTER, len(regions), footer) + encode_tail(len(index), len(footer))
    made.put(made.contents() | {"index": index + ending})


def test_first_block_of_shared_extents_ascends_and_is_the_first_block_s(tmp_path: Path) -> None:
    calls = [Call("multicast", [0], b"to 0"), Call("multicast", [1], b"to 1")]
    made = write(tmp_path, WriterOptions(2, file_id=FILE_ID), calls)
    put_regions(made, [0, 1])
    assert check(**made.files).blocks == 2
    for firsts in ([1, 1], [1, 0], [0, 0]):
        put_regions(made, firsts)
        assert place_of(fault_of(check, **made.files, level="structure")) == ("inconsistent-index", "index", 88)
    for firsts, partition, at in (([0, 2], 1, 96), ([0, 7], 1, 96)):
        put_regions(made, firsts)
        with made.reader() as reader:
            assert len(list(reader.partition(1 - partition))) == 1
            fault = fault_of(lambda reader=reader, partition=partition: list(reader.partition(partition)))
        assert place_of(fault) == ("inconsistent-index", "data", at + 12)
        assert place_of(fault_of(check, **made.files)) == ("inconsistent-index", "data", at + 12)


def test_check_counts_the_shared_blocks_of_the_whole_file(tmp_path: Path) -> None:
    # Blocks and index agree with each other, but block 0 of the stream is missing.
    calls = [Call("multicast", [0], b"to 0"), Call("multicast", [1], b"to 1"), Call("multicast", [0], b"to 0")]
    made = write(tmp_path, WriterOptions(2, file_id=FILE_ID), calls)
    data = made.contents()["data"]
    made.put(made.contents() | {"data": data[:64] + data[96:160]})
    put_regions(made, [1, 2])
    with made.reader() as reader:
        read_all(reader)
    assert place_of(fault_of(check, **made.files)) == ("inconsistent-index", "data", 64 + 12)


def test_shared_sequences_ascend_over_regions(tmp_path: Path) -> None:
    made = write(tmp_path, WriterOptions(2, file_id=FILE_ID), [Call("multicast", [0], b"to 0")])
    data = made.contents()["data"]
    made.put(made.contents() | {"data": data + data[64:96]})
    # Both regions say that their block is the first of the stream, and so do the blocks.
    put_regions(made, [0], [0])
    assert fault_of(check, **made.files, level="structure") is None
    with made.reader() as reader:
        assert place_of(fault_of(lambda: list(reader.partition(0)))) == ("inconsistent-index", "data", 96 + 12)
        assert len(list(reader.partition(0, from_region=1))) == 1


def test_rebuild_writes_first_block_from_the_blocks(tmp_path: Path) -> None:
    calls = [
        Call("broadcast", [], b"a"),
        Call("write", [0], b"b"),
        Call("broadcast", [], b"c"),
        Call("write", [1], b"d"),
    ]
    made = write(tmp_path, WriterOptions(2, file_id=FILE_ID), calls)
    rebuild(**made.files, shared="all")
    with made.reader() as reader:
        firsts = [reader._region(number).shared(0).first_block for number in range(reader.region_count - 1)]
        assert firsts == [0, 1]
        read_all(reader)


# A header at the end of an unfinished file (FOL-2, REP-1).


def unfinished(folder: Path, layout: Any) -> tuple[Output, str, int]:
    """An unfinished output of two regions, the growing file's role, and where its last message begins."""
    calls = [Call("write", [0], b"one"), Call("flush"), Call("write", [1], b"two"), Call("broadcast", [], b"all")]
    made = write(folder, WriterOptions(2, layout=layout, file_id=FILE_ID), calls)
    with made.reader() as reader:
        end, last = reader._opened.footer_offset, int(reader._footer.regions[1]["message_offset"])
    role = "index" if layout == "paired" else "single"
    made.put(made.contents() | {role: made.contents()[role][:end]})
    return made, role, last


def polled(made: Output) -> int:
    with Follower(**made.files) as follower:
        assert not follower.poll()
        return follower.region_count


CHANGES = [
    # (offset in the header, value, code, offset of the fault in the header)
    (2, 1, "malformed-block", 4),  # A size that reaches beyond the end, of which plain_size knows nothing.
    (3, 0xFF, "limit-exceeded", 0),
    (4, 1, "malformed-block", 4),
    (8, 0, "inconsistent-index", 8),
    (12, 9, "inconsistent-index", 12),
    (16, 140, "unsupported-feature", 16),
    (16, 2, "malformed-block", 16),
    (17, 3, "unsupported-codec", 17),
    (17, 1, "malformed-block", 17),
    (18, 1, "malformed-block", 18),
]


@BOTH
@pytest.mark.parametrize(("field", "value", "code", "at"), CHANGES)
def test_a_torn_block_has_a_header_that_could_stand_there(
    tmp_path: Path, layout: Any, field: int, value: int, code: str, at: int
) -> None:
    made, role, last = unfinished(tmp_path, layout)
    whole = made.contents()[role]
    damaged = bytearray(whole)
    damaged[last + field] = value
    for contents in (bytes(damaged), bytes(damaged[:-8]), bytes(damaged[: last + 24])):
        made.put(made.contents() | {role: contents})
        with Follower(**made.files) as follower:
            assert place_of(fault_of(follower.poll)) == (code, role, last + at)
            assert follower.region_count == 1
            # A fault changes nothing: when the block is right, the walk goes on.
            with made.files[role].open("r+b") as file:
                file.write(whole)
            assert not follower.poll()
            assert follower.region_count == 2
        if contents != bytes(damaged):
            made.put(made.contents() | {role: contents})
            assert place_of(fault_of(repair, **made.files)) == (code, role, last + at)
            assert made.contents()[role] == contents


@BOTH
def test_a_damaged_or_missing_payload_at_the_end_is_not_yet_there(tmp_path: Path, layout: Any) -> None:
    made, role, last = unfinished(tmp_path, layout)
    whole = made.contents()[role]
    for contents in (whole[:-8] + bytes(8), whole[: last + 24], whole[: last + 23], whole[: last + 40]):
        made.put(made.contents() | {role: contents})
        assert polled(made) == 1
    # Damage with more bytes after it is damage, to a follower and, from 25 bytes on, to repair.
    changed = whole[: last + 30] + bytes((whole[last + 30] ^ 1,)) + whole[last + 31 :]
    for more in (8, 24, 32):
        contents = changed + b"\x01" * more
        made.put(made.contents() | {role: contents})
        with Follower(**made.files) as follower:
            assert place_of(fault_of(follower.poll)) == ("checksum", role, last)
        if more > 24:
            assert place_of(fault_of(repair, **made.files)) == ("checksum", role, last)
        else:
            assert repair(**made.files, dry_run=True).regions == 1
            wrong = contents[: last + 18] + b"\x01" + contents[last + 19 :]
            made.put(made.contents() | {role: wrong})
            assert place_of(fault_of(repair, **made.files)) == ("checksum", role, last)


@BOTH
@pytest.mark.parametrize("kept", [0, 4, 16])
def test_repair_takes_zeros_for_what_never_reached_the_device(tmp_path: Path, layout: Any, kept: int) -> None:
    made, role, last = unfinished(tmp_path, layout)
    whole = made.contents()[role]
    header = whole[last : last + kept] if kept < 16 else b"\xff" * 16
    for zeros in (24, 1000, 1 << 21):
        contents = whole[:last] + header + bytes(zeros - kept)
        made.put(made.contents() | {role: contents})
        report = repair(**made.files, dry_run=True)
        assert report.regions == 1
    # One byte that is not zero and it is damage again, as a follower says anyway.
    made.put(made.contents() | {role: contents[:-1] + b"\x01"})
    with Follower(**made.files) as follower:
        found = place_of(fault_of(follower.poll))
    assert place_of(fault_of(repair, **made.files)) == found
    assert found[0] in (str(ErrorCode.CHECKSUM), str(ErrorCode.LIMIT_EXCEEDED), str(ErrorCode.MALFORMED_BLOCK))
