"""The target `repair`: first as a dry run, then really."""

from __future__ import annotations

import faro_format as faro
from faro_format import ErrorCode, FaroError, Reader, RepairReport
from faro_format._error import invalid

from faro_targets.broken import BrokenError, require
from faro_targets.folder import Folder
from faro_targets.inputs import DATA, INDEX, SINGLE, FilesInput, judged, same_error
from faro_targets.seal import HEADER
from faro_targets.transcript import Transcript, sum_of

Outcome = RepairReport | FaroError
_ARROW = 2
_MERGED = 2**64 - 1


def repair(raw: bytes, folder: Folder, transcript: Transcript) -> None:
    """Repair an output as the mode says."""
    given = FilesInput.of(raw)
    given.write(folder)
    dry = _mend(given, folder, dry_run=True)
    _line(transcript, "dry", dry)
    require(_as_given(given, folder), "a dry run changes nothing")
    real = _mend(given, folder, dry_run=False)
    _line(transcript, "real", real)
    if isinstance(real, FaroError):
        require(isinstance(dry, FaroError) and same_error(dry, real), "a dry run fails as the real one")
        require(_as_given(given, folder), "what is refused is left as it is")
    else:
        require(dry == real, "a dry run tells what the real one tells")
        _mended(given, folder, real)
    for name, role in ((DATA, "data"), (INDEX, "index"), (SINGLE, "single")):
        now = folder.read(name)
        if now is not None:
            transcript.line("file", role, len(now), sum_of(now))


def _line(transcript: Transcript, how: str, outcome: Outcome) -> None:
    if isinstance(outcome, FaroError):
        transcript.line(how, outcome)
        return
    cut = (outcome.data_cut, outcome.index_cut)
    transcript.line(how, outcome.action, outcome.regions, *cut, outcome.orphaned)


def _as_given(given: FilesInput, folder: Folder) -> bool:
    first, second = given.names
    same = folder.read(first) == given.first and folder.read(second) == given.second
    return same and folder.names() == sorted({first, second})


def _mend(given: FilesInput, folder: Folder, *, dry_run: bool) -> Outcome:
    paths, limits = given.paths(folder), given.limits
    try:
        if not given.mode & 1:
            return faro.repair(**paths, limits=limits, dry_run=dry_run)
        if not given.pair:
            raise invalid("a pair", "a single file")
        data, index = paths["data"], paths["index"]
        if given.mode & 2:
            return faro.rebuild(data=data, index=index, shared="all", limits=limits, dry_run=dry_run)
        return faro.rebuild(data=data, index=index, limits=limits, dry_run=dry_run)
    except FaroError as error:
        return error if error.code == ErrorCode.INVALID_ARGUMENT and _needs_more(given) else judged(error)


def _needs_more(given: FilesInput) -> bool:
    """Whether it is a rebuild of a single file, or of one with framing arrow."""
    arrow = len(given.first) >= HEADER and given.first[11] == _ARROW
    return bool(given.mode & 1) and (not given.pair or arrow)


def _mended(given: FilesInput, folder: Folder, report: RepairReport) -> None:
    rebuilt = report.action == "rebuilt"
    paths, limits = given.paths(folder), given.limits
    try:
        with Reader(**paths, limits=limits) as reader:
            kept = reader.statistics is not None or reader.header.producer == _MERGED
    except FaroError as error:
        raise BrokenError(f"what was mended opens: {error}") from error
    if report.action != "nothing":
        try:
            faro.check(**paths, level="checksums" if rebuilt else "structure", limits=limits)
        except FaroError as error:
            # Repair keeps a footer that was there, with its statistics, and does not check them, nor the runs.
            allowed = kept and not rebuilt and error.code == ErrorCode.INCONSISTENT_INDEX
            require(allowed, f"what was mended is whole: {error}")
    before = [folder.read(name) for name in given.names]
    again = faro.repair(**paths, limits=limits)
    require(again.action == "nothing", "nothing is left to mend")
    require(before == [folder.read(name) for name in given.names], "nothing is mended twice")
