"""The target `merge`: pushes of fragments by a program, carried out twice, and what is read from the result."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import faro_format as faro
from faro_format import FaroError, Reader
from faro_format.merge import MergeSummary, Outcome, have

from faro_targets.broken import require
from faro_targets.content import partitions
from faro_targets.folder import Folder
from faro_targets.inputs import DATA, INDEX, judged
from faro_targets.merge_model import MergeModel, limits
from faro_targets.merge_program import Answer, MergeProgram, Step, carry_out, decode
from faro_targets.transcript import Transcript, sum_of


def merge(raw: bytes, folder: Folder, transcript: Transcript) -> None:
    """Merge twice, read, and compare with the model."""
    name = folder.path / "out"
    try:
        program = decode(raw)
        model = MergeModel(program, name)
        answers: list[Answer] = []

        def see(step: Step, answer: Answer) -> None:
            model.step(step, answer)
            answers.append(answer)

        carry_out(program, name, see)
    except FaroError as error:
        transcript.line("create", error)
        require(not folder.names(), "a merge that is refused leaves nothing")
        return
    lines = _lines(answers, transcript)
    first = {file: folder.read(file) for file in folder.names()}
    require(sorted(first) == [DATA, INDEX], "the files and nothing else")
    for file, role in ((DATA, "data"), (INDEX, "index")):
        data = first[file] or b""
        transcript.line("file", role, len(data), sum_of(data))
    _again(program, name, folder, first, lines)
    if model.state == "finished":
        _read(program, name, model, transcript)


def _lines(answers: list[Answer], transcript: Transcript) -> str:
    for number, answer in enumerate(answers):
        if isinstance(answer, MergeSummary):
            transcript.line("step", number, "finalized", answer.regions, answer.runs)
        else:
            transcript.line("step", number, answer.value if isinstance(answer, Outcome) else answer)
    return str(transcript)


def _again(program: MergeProgram, name: Path, folder: Folder, first: dict[str, bytes | None], lines: str) -> None:
    folder.clear()
    answers: list[Answer] = []
    carry_out(program, name, lambda _, answer: answers.append(answer))
    require(_lines(answers, Transcript()) == lines, "the same answers twice")
    require({file: folder.read(file) for file in folder.names()} == first, "the same bytes twice")


def _read(program: MergeProgram, name: Path, model: MergeModel, transcript: Transcript) -> None:
    most = limits(program)
    paths: dict[str, Any] = {"data": f"{name}.data", "index": f"{name}.index"}
    merged = model.merged
    faro.check(**paths, level="checksums", limits=most)
    with Reader(**paths, limits=most) as reader:
        for partition in partitions(reader.header):
            found = have(reader, partition)
            expected = [
                (producer, merged.attempts[producer], *held)
                for (of, producer), held in sorted(merged.held.items())
                if of == partition
            ]
            require([tuple(one) for one in found] == expected, f"what was merged of partition {partition}")
            for one in found:
                transcript.line("have", partition, one.producer, one.attempt, one.blocks, int(one.complete))
            pieces: list[tuple[int, bytes]] = []
            failed = False
            try:
                pieces.extend(
                    (block.kind, hashlib.sha256(block.payload).digest()) for block in reader.partition(partition)
                )
            except FaroError as error:
                judged(error)
                failed = True
            wanted = merged.pieces.get(partition, [])
            broken = next((at for at, (_, plain) in enumerate(wanted) if plain is None), len(wanted))
            require(pieces == wanted[:broken], f"the blocks of partition {partition}")
            require(failed == (broken < len(wanted)), f"partition {partition} ends as its fragments do")
