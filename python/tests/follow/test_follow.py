"""Following a file while it is written (FOL)."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from support import FILE_ID, Call, arrow_message, delivered, events_of, fault_of, model, output, scripts, write

from faro_format import Block, ErrorCode, FaroError, Follower, Writer, WriterOptions
from faro_format._storage.names import Layout

SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@SLOW
@given(script=scripts(follow=True, ordered=True))
def test_a_follower_sees_each_region_when_it_is_committed(
    tmp_path: Path, script: tuple[WriterOptions, list[Call]]
) -> None:
    options, calls = script
    options = replace(options, created_by="a test")
    made = output(tmp_path, options)
    writer = Writer(str(made.base), options)
    with Follower(**made.files) as follower:
        watches = {partition: follower.watch(partition) for partition in follower.partitions}
        watched: dict[int, list[Block]] = {partition: [] for partition in follower.partitions}
        for done, call in enumerate(calls):
            call.make(writer)
            writer.flush()
            assert not follower.poll()
            for partition in follower.partitions:
                # A loop that is left early loses nothing.
                watched[partition] += islice(watches[partition].blocks(), 1)
                watched[partition] += watches[partition].blocks()
                assert events_of(iter(watched[partition]), options.framing) == model(
                    calls[: done + 1], options, partition
                )
                found = events_of(follower.partition(partition), options.framing)
                assert found == model(calls[: done + 1], options, partition)
            assert (follower.properties, follower.created_by, follower.statistics) == ({}, None, None)
        writer.property("key", "value")
        writer.finish()
        assert follower.poll()
        assert follower.poll()
        assert follower.finished
        with made.reader() as reader:
            assert delivered(reader, options.framing) == delivered(follower, options.framing)
            assert follower.properties == {"key": "value"}
            assert follower.created_by == reader.created_by == "a test"
            assert str(follower.statistics) == str(reader.statistics)


@pytest.mark.parametrize("layout", ["paired", "single"])
def test_following_byte_by_byte(tmp_path: Path, layout: Layout) -> None:
    options = WriterOptions(3, layout=layout, file_id=FILE_ID, follow=True, framing="arrow", schema=arrow_message(b""))
    calls = [Call("write", [1], arrow_message(b"x" * 9)), Call("flush"), Call("broadcast", [], arrow_message(b"y"))]
    made = write(tmp_path, options, calls)
    whole = made.contents()
    growing = "index" if layout == "paired" else "single"
    contents = whole[growing]
    made.put(whole | {growing: contents[:64]})
    fault = fault_of(Follower, **made.files)
    assert fault is not None
    assert (fault.code, fault.offset) == (ErrorCode.UNFINISHED, 64)
    at = 64
    while fault is not None:
        at += 1
        made.put(whole | {growing: contents[:at]})
        fault = fault_of(Follower, **made.files)
    with Follower(**made.files) as follower:
        seen = []
        for size in range(at, len(contents) + 1):
            with made.files[growing].open("r+b") as file:
                file.write(contents[:size])
            finished = follower.poll()
            assert finished == (size == len(contents))
            seen.append(follower.region_count)
            assert seen == sorted(seen)
        assert seen[-1] == 2
        assert follower.schema_message == arrow_message(b"")


def test_a_watch_that_was_interrupted_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Writer(tmp_path / "out", WriterOptions(2)) as writer:
        writer.write(1, b"a record")
        writer.finish()
    with Follower(tmp_path / "out") as follower:
        follower.poll()
        watch = follower.watch(1)
        with monkeypatch.context() as patch:
            patch.setattr(Follower, "_region", lambda _, __: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                list(watch.blocks())
        for _ in range(2):
            with pytest.raises(FaroError, match="interrupted"):
                list(watch.blocks())
        assert [bytes(block.payload) for block in follower.watch(1).blocks()] == [b"\x08\0\0\0a record"]
