"""The targets `open` and `read_all`."""

from __future__ import annotations

from typing import Any

import faro_format as faro
from faro_format import CheckLevel, FaroError, Framing, Reader

from faro_targets.broken import BrokenError, require
from faro_targets.content import Content, partitions, read_partition, read_range
from faro_targets.folder import Folder
from faro_targets.inputs import FilesInput, judged, same_error
from faro_targets.transcript import Transcript

_LEVELS: tuple[CheckLevel, ...] = ("structure", "checksums", "decode")


def open_target(raw: bytes, folder: Folder, transcript: Transcript) -> None:
    """Opening, and every region's index."""
    given = FilesInput.of(raw)
    given.write(folder)
    paths = given.paths(folder)
    try:
        reader = Reader(**paths, limits=given.limits, verify=given.verify)
    except FaroError as error:
        transcript.line("open", judged(error))
        require(_fails(paths, given), "what does not open is not whole")
        return
    with reader:
        transcript.line("open", reader.region_count)
        for number in range(reader.region_count):
            try:
                reader._region(number)
                transcript.line("region", number, "ok")
            except FaroError as error:
                transcript.line("region", number, judged(error))


def _fails(paths: dict[str, Any], given: FilesInput) -> bool:
    try:
        faro.check(**paths, level="structure", limits=given.limits)
    except FaroError:
        return True
    return False


def read_all(raw: bytes, folder: Folder, transcript: Transcript) -> None:
    """Every partition, all of them as one range, and the three levels of `check`."""
    given = FilesInput.of(raw)
    given.write(folder)
    paths = given.paths(folder)
    try:
        reader = Reader(**paths, limits=given.limits, verify=given.verify)
    except FaroError as error:
        transcript.line("open", judged(error))
        return
    with reader:
        transcript.line("open", reader.region_count)
        contents = _read(reader, given, transcript)
        looked_up = _looked_up(paths, given)
        if _check(paths, given, reader.region_count, transcript):
            for partition, content in contents.items():
                require(content.error is None, f"what check passes can be read: {content.error}")
                _records(reader, partition)
                require(looked_up[partition] == content, "direct lookup reads what reading reads")


def _looked_up(paths: dict[str, Any], given: FilesInput) -> dict[int, Content]:
    """Read the partitions by direct lookup. Damaged ones may be refused or read."""
    with Reader(**paths, limits=given.limits, verify=given.verify, lookup="direct") as reader:
        most = given.limits.max_plain_size
        return {partition: read_partition(reader, partition, most) for partition in partitions(reader.header)}


def _read(reader: Reader, given: FilesInput, transcript: Transcript) -> dict[int, Content]:
    most = given.limits.max_plain_size
    contents = {partition: read_partition(reader, partition, most) for partition in partitions(reader.header)}
    for partition, content in contents.items():
        content.line(transcript, "partition", partition)
    whole, found = read_range(reader, [*contents], most)
    whole.line(transcript, "range")
    for partition, content in contents.items():
        # If one of them ends in an error, the other may too, at another place.
        same = content.error is None and content.blocks == found[partition]
        require(whole.error is not None or same, f"partition {partition} reads the same in a range")
    return contents


def _check(paths: dict[str, Any], given: FilesInput, regions: int, transcript: Transcript) -> bool:
    failure: FaroError | None = None
    for level in _LEVELS:
        try:
            report = faro.check(**paths, level=level, limits=given.limits)
        except FaroError as error:
            # A fault of the structure is reported at all levels.
            first = level == _LEVELS[1] and failure is not None
            require(not first or same_error(failure, error), f"the first fault, whatever the level: {error}")
            failure = error
            transcript.line("check", level, judged(error))
            continue
        require(failure is None, f"a level passes if a higher one does: {level}")
        require(report.regions == regions, "check counts the regions")
        transcript.line("check", level, report.regions, "-" if report.blocks is None else report.blocks)
    return failure is None


def _records(reader: Reader, partition: int) -> None:
    if reader.header.framing != Framing.RECORDS:
        return
    try:
        one_by_one = b"".join(reader.records(partition))
        data, offsets = reader.record_arrays(partition)
    except FaroError as error:
        raise BrokenError(f"records of what check passes: {error}") from error
    require(bytes(data) == one_by_one and int(offsets[-1]) == len(one_by_one), "records one by one and at once")
