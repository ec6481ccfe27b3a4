"""Going on with a merge from its last commit (MRG-4)."""

from __future__ import annotations

from faro_format._block.block import BLOCK_HEADER_SIZE, load_dictionary
from faro_format._bytes.header import HEADER_SIZE, FileHeader
from faro_format._error import ErrorCode, FaroError, Place, invalid
from faro_format._follow.walk import Walk
from faro_format._reader.opening import Files, load_region, open_files, open_finished
from faro_format._repair.repair import known_features
from faro_format._storage.names import OutputPaths
from faro_format._storage.output_file import OutputFile
from faro_format.merge._merged_file import Committed, MergedFile, known_by
from faro_format.merge._options import MergeOptions

_FIELDS = (
    ("producer", 24),
    ("partition_count", 12),
    ("first_partition", 56),
    ("framing", 11),
    ("attempt", 32),
    ("file_id", 40),
    ("reader_features", 16),
)
"""What the options say of the header, with the offsets, in the order of MRG-4, step 3."""


def resume(data_path: str, index_path: str, options: MergeOptions) -> MergedFile:
    """Take the steps of MRG-4."""
    own = OutputFile(index_path, "index", None), OutputFile(data_path, "data", None)
    try:
        for file in own:
            file.resume()
        files, header = open_files(OutputPaths(data_path, index_path))
        try:
            committed = _committed(files, header, _walk(files, header, options), options)
        finally:
            files.close()
        index, data = own
        data.go_to(committed.data_end)
        index.go_to(committed.index_end)
        index.cut()
        data.cut()
        return MergedFile(header, data, index, committed, durable=options.durability == "commit")
    except BaseException:
        for file in own:
            file.close()
        raise


def _walk(files: Files, header: FileHeader, options: MergeOptions) -> Walk:
    """Take the steps 2 to 6."""
    place = files.index.place
    known_features(header, place)
    wanted = options._header(header.file_id if options.file_id is None else options.file_id)
    for name, offset in _FIELDS:
        if getattr(header, name) != getattr(wanted, name):
            raise place.error(ErrorCode.MISMATCHED_PAIR, offset, f"the {name} that the options say", "another value")
    finished = True
    try:
        open_finished(files, header, options.limits)
    except FaroError as fault:
        if fault.code == ErrorCode.IO:
            raise
        finished = False
    if finished:
        raise invalid("a merge that is unfinished", "one that is finished")
    walk = Walk(files, header, options.limits, repairing=True)
    walk.go_on()
    if walk.schema != options.schema:
        at = HEADER_SIZE + BLOCK_HEADER_SIZE
        raise place.error(ErrorCode.MISMATCHED_PAIR, at, "the schema that the options say", "another one")
    return walk


def _committed(files: Files, header: FileHeader, walk: Walk, options: MergeOptions) -> Committed:
    """Take step 7, and return what the merge needs to know of the committed regions."""
    footer = walk.footer is not None
    found = Committed(
        walk.data_end,
        walk.footer_offset if footer else walk.kept_end,
        walk.sequence - (1 if footer else 0),
        walk.regions,
        [entry for entry in walk.dictionaries if entry.offset < walk.data_end],
    )
    for number, entry in enumerate(found.dictionaries, 1):
        block = load_dictionary(files.data, options.limits, number, entry, sequence=number - 1)
        found.known[known_by(block.stored)] = number
    for committed in walk.regions:
        region = load_region(files, header, options.limits, committed)
        runs = list(region.runs())
        broken = found.holdings.add_region((partition, run) for partition, _, run in runs)
        if broken is not None or not runs:
            raise fault_of_runs(files.index.place, committed.message_offset, broken or "a region without runs")
        for partition, _, run in runs:
            found.sequences[partition] = found.sequences.get(partition, 0) + run.blocks
        found.runs += len(runs)
    return found


def fault_of_runs(place: Place, message_offset: int, found: str) -> FaroError:
    """Return the fault of a region whose runs break a rule."""
    at = message_offset + BLOCK_HEADER_SIZE
    return place.error(ErrorCode.INCONSISTENT_INDEX, at, "runs that obey MRG-2 and MRG-3", found)
