"""The target `script`: a program of writer calls, carried out twice, and its result."""

from __future__ import annotations

from typing import Any

import faro_format as faro
from faro_format import Codec, ErrorCode, FaroError, Reader, Writer

from faro_targets.broken import BrokenError, require
from faro_targets.content import partitions, read_partition
from faro_targets.folder import Folder
from faro_targets.inputs import DATA, INDEX, SINGLE
from faro_targets.program import Call, Handed, Program, Property, Put, decode
from faro_targets.transcript import Transcript, sum_of
from faro_targets.writer_model import Pieces, WriterModel


def script(raw: bytes, folder: Folder, transcript: Transcript) -> None:
    """Write twice, read, and compare with the model."""
    program = decode(raw)
    model = WriterModel(program.options)
    expected = [model.call(call) for call in program.calls]
    first = _write(program, folder, expected)
    require(first == _write(program, folder, expected), "the same bytes twice")
    for number, code in enumerate(expected):
        if code is not None:
            transcript.line("call", number, code)
            transcript.note(f"{code}@-:-")
    if not model.finished:
        require(not first, "an aborted writer leaves nothing")
        return
    names = [(SINGLE, "single")] if program.options.layout == "single" else [(DATA, "data"), (INDEX, "index")]
    require(folder.names() == sorted(name for name, _ in names), "the files and nothing else")
    if program.options.codec == Codec.NONE:
        for name, role in names:
            transcript.line("file", role, len(first[name]), sum_of(first[name]))
    paths: dict[str, Any] = {role: str(folder.path / name) for name, role in names}
    try:
        faro.check(**paths, level="decode")
        with Reader(**paths) as reader:
            _compare(program, model, reader)
            for partition in partitions(reader.header):
                content = read_partition(reader, partition, program.options.max_plain_size)
                content.line(transcript, "partition", partition)
    except FaroError as error:
        raise BrokenError(f"what was written is whole: {error}") from error


def _write(program: Program, folder: Folder, expected: list[ErrorCode | None]) -> dict[str, bytes]:
    """Carry out the program again. Returns the files that it leaves."""
    folder.clear()
    writer = Writer(str(folder.path / "out"), program.options)
    try:
        for number, (call, wanted) in enumerate(zip(program.calls, expected, strict=True)):
            found = None
            try:
                _call(writer, program, call)
            except FaroError as error:
                found = error.code
            require(found == wanted, f"call {number} gave {found}, not {wanted}")
    finally:
        writer.abort()
    return {name: folder.read(name) or b"" for name in folder.names()}


def _put(writer: Writer, call: Put) -> None:
    if isinstance(call.readers, int):
        if call.kind:
            writer.write_event(call.readers, call.kind, call.payload)
        else:
            writer.write(call.readers, call.payload)
    elif call.readers is None:
        if call.kind:
            writer.broadcast_event(call.kind, call.payload)
        else:
            writer.broadcast(call.payload)
    elif call.kind:
        writer.multicast_event(call.readers, call.kind, call.payload)
    else:
        writer.multicast(call.readers, call.payload)


def _call(writer: Writer, program: Program, call: Call) -> None:
    if isinstance(call, Put):
        _put(writer, call)
    elif isinstance(call, Property):
        writer.property(call.key, call.value)
    elif isinstance(call, Handed):
        _hand(writer, program, call)
    elif call == "flush":
        writer.flush()
    elif call == "finish":
        writer.finish()
    else:
        writer.abort()


def _hand(writer: Writer, program: Program, handed: Handed) -> None:
    shared = False
    with writer.region() as region:
        for item in handed.items:
            if item.shared:
                shared = True
                region.shared(None if item.shared == "all" else [program.options.first_partition])
            else:
                region.block(None if shared else item.partition, item.kind, item.payload, item.records)


def _compare(program: Program, model: WriterModel, reader: Reader) -> None:
    options, statistics = program.options, reader.statistics
    require(reader.properties == model.properties, "the properties that were given")
    require((statistics is not None) == options.statistics, "statistics as asked for")
    for relative, wanted in enumerate(model.contents):
        partition = options.first_partition + relative
        read = Pieces(options)
        for block in reader.partition(partition):
            read.add_block(block.kind, bytes(block.payload))
        require(read.normal() == wanted.normal(), f"partition {partition} reads what was written")
        if statistics is not None:
            own = 0 if statistics.records is None else int(statistics.records[relative])
            same = own + statistics.records_to_all == model.records[relative]
            require(same, f"records of partition {partition}")
