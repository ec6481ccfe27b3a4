"""Repair of what a writer left when it died, and rebuilding an index (REP)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from support import FILE_ID, Call, Output, arrow_message, delivered, fault_of, output, scripts, write

from faro_format import (
    ErrorCode,
    FaroError,
    Follower,
    Framing,
    Limits,
    Writer,
    WriterOptions,
    check,
    rebuild,
    repair,
)
from faro_format._storage.names import Layout

SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def unfinished(folder: Path, layout: Layout, framing: Framing = Framing.RECORDS) -> tuple[Output, list[int]]:
    """A follow-mode output whose writer died, and the index (or single) file's size at each commit."""
    schema = arrow_message(b"") if framing == Framing.ARROW else None
    options = WriterOptions(3, layout=layout, framing=framing, schema=schema, file_id=FILE_ID, follow=True)
    made = output(folder, options)
    writer = Writer(str(made.base), options)
    growing = made.files["index" if layout == "paired" else "single"]
    sizes = [growing.stat().st_size]
    for number in range(2):
        for partition in range(0, 3, 2):
            writer.write(partition, arrow_message(bytes(3)) if framing == Framing.ARROW else b"%d" % number * 5)
        writer.multicast([1, 2], arrow_message(b"") if framing == Framing.ARROW else b"shared")
        writer.flush()
        sizes.append(growing.stat().st_size)
    del writer
    return made, sizes


@pytest.mark.parametrize("layout", ["paired", "single"])
@pytest.mark.parametrize("framing", [Framing.RECORDS, Framing.ARROW])
def test_repair_at_every_length(tmp_path: Path, layout: Layout, framing: Framing) -> None:
    made, sizes = unfinished(tmp_path, layout, framing)
    whole = made.contents()
    growing = "index" if layout == "paired" else "single"
    with Follower(**made.files) as follower:
        follower.poll()
        expected = delivered(follower, framing)
    for length in range(sizes[0], len(whole[growing]) + 1):
        made.put(whole | {growing: whole[growing][:length]})
        committed = sum(length >= size for size in sizes) - 1
        dry = repair(**made.files, dry_run=True)
        assert made.contents() == whole | {growing: whole[growing][:length]}
        report = repair(**made.files)
        assert report == dry
        assert (report.action, report.regions) == ("last-commit", committed)
        assert report.index_cut == length - report.index_kept
        check(**made.files)
        with made.reader() as reader:
            assert reader.properties == {"faro.repair": "last-commit"}
            assert reader.statistics is None
            each = [len(expected[p]) // 2 * committed for p in range(3)]
            assert delivered(reader, framing) == {p: expected[p][: each[p]] for p in range(3)}
        after = made.contents()
        assert after[growing].startswith(whole[growing][: report.index_kept])
        assert repair(**made.files).action == "nothing"
        assert made.contents() == after


def test_repair_of_torn_ends(tmp_path: Path) -> None:
    made, sizes = unfinished(tmp_path, "paired")
    whole = made.contents()
    index = whole["index"]
    for torn in (bytes(100), index[-8:] + bytes(50), b"\x01" * 20):
        made.put(whole | {"index": index[: sizes[-1]] + torn})
        if torn == bytes(100):
            assert repair(**made.files).index_cut == 100
        elif len(torn) < 24:
            assert repair(**made.files).index_cut == len(torn)
    # A finished file whose tail is damaged keeps its footer.
    repaired = made.contents()
    made.put(repaired | {"index": repaired["index"][:-1] + b"\0", "data": repaired["data"] + b"more"})
    report = repair(**made.files)
    assert (report.action, report.regions, report.data_cut, report.index_cut) == ("last-commit", 2, 4, 24)
    assert made.contents() == repaired
    # Damage before the end is reported and nothing is changed.
    damaged = bytearray(whole["index"])
    damaged[sizes[0] + 30] ^= 1
    made.put(whole | {"index": bytes(damaged)})
    fault = fault_of(repair, **made.files)
    assert fault is not None
    assert (fault.code, fault.role, fault.offset) == (ErrorCode.CHECKSUM, "index", sizes[0])
    assert made.contents()["index"] == bytes(damaged)


@SLOW
@given(script=scripts(layout="paired", rotation=0))
def test_rebuild(tmp_path: Path, script: tuple[WriterOptions, list[Call]]) -> None:
    options, calls = script
    made = write(tmp_path, options, calls)
    with made.reader() as reader:
        before = delivered(reader, options.framing)
    shared = any(call.name in ("broadcast", "multicast") for call in calls)
    schema = options.schema
    report = rebuild(**made.files, schema=schema)
    assert report.data_cut == 0
    assert check(**made.files).blocks == report.blocks
    with made.reader() as reader:
        after = delivered(reader, options.framing)
        assert reader.properties == {"faro.repair": "rebuilt"}
        assert reader.region_count == report.regions
    if not shared:
        assert after == before
        assert report.orphaned == 0
    made.files["data"].write_bytes(made.contents()["data"] + b"torn")
    assert rebuild(**made.files, schema=schema, shared="all").data_cut == 4
    with made.reader() as reader:
        for partition, events in delivered(reader, options.framing).items():
            assert set(before[partition]) <= set(events) or options.framing == Framing.OPAQUE


def test_what_rebuild_refuses(tmp_path: Path) -> None:
    options = WriterOptions(2, framing="arrow", schema=arrow_message(b""), file_id=FILE_ID)
    made = write(tmp_path, options, [])
    for more in ({}, {"schema": b"short"}, {"schema": arrow_message(b""), "shared": "some"}):
        with pytest.raises(FaroError, match="invalid-argument"):
            rebuild(**made.files, **more)
    fault = fault_of(rebuild, data=made.files["index"], index=made.files["index"])
    assert fault is not None
    assert (fault.code, fault.offset) == (ErrorCode.MISMATCHED_PAIR, 8)


def test_a_rebuild_takes_no_schema_that_the_framing_does_not_need(tmp_path: Path) -> None:
    made = write(tmp_path, WriterOptions(2, file_id=FILE_ID), [])
    with pytest.raises(FaroError, match="invalid-argument"):
        rebuild(**made.files, schema=arrow_message(b""))


def test_a_rebuilt_index_is_one_that_a_reader_with_these_limits_takes(tmp_path: Path) -> None:
    made = output(tmp_path, WriterOptions(100))
    with Writer(str(made.base), WriterOptions(100)) as writer:
        for partition in (2, 1, 0):
            writer.write(partition, b"abcd")
            writer.flush()
        writer.finish()
    before = made.contents()
    # A block has 24 + 8 bytes; the last region ends with the walk, the one before it with a block.
    for limits, offset in ((Limits(max_regions=2), 128), (Limits(max_regions=1), 96), (Limits(max_message_size=8), 64)):
        for dry_run in (True, False):
            fault = fault_of(rebuild, **made.files, limits=limits, dry_run=dry_run)
            assert fault is not None
            assert (fault.code, fault.role, fault.offset) == (ErrorCode.LIMIT_EXCEEDED, "data", offset)
            assert made.contents() == before
    assert rebuild(**made.files, limits=Limits(max_regions=3, max_message_size=400)).regions == 3


def test_the_report_of_a_rebuild_names_the_damaged_block(tmp_path: Path) -> None:
    made = output(tmp_path, WriterOptions(3))
    with Writer(str(made.base), WriterOptions(3)) as writer:
        for partition in range(3):
            writer.write(partition, b"abcd")
    whole = made.contents()
    assert rebuild(**made.files).fault is None
    assert repair(**made.files).fault is None
    # A block has 24 + 8 bytes; the last byte of the second is changed.
    damaged = bytearray(whole["data"])
    damaged[96 + 31] ^= 1
    made.put(whole | {"data": bytes(damaged)})
    reports = [rebuild(**made.files, dry_run=dry_run) for dry_run in (True, False)]
    assert len(set(reports)) == 1
    assert reports[0] != replace(reports[0], fault=None)
    for report in reports:
        assert (report.blocks, report.data_kept, report.data_cut) == (1, 96, 64)
        fault = report.fault
        assert fault is not None
        assert (fault.code, fault.role, fault.offset) == (ErrorCode.CHECKSUM, "data", 96)
        assert fault.file == str(made.files["data"])
        # It does not keep the data file in memory.
        assert fault.__traceback__ is None
    assert check(**made.files).blocks == 1
    assert rebuild(**made.files).fault is None
