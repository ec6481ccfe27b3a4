"""The target `header_block`: the blocks of a data file, by `rebuild` and by a model of the clauses."""

from __future__ import annotations

import faro_format as faro
from faro_format import FaroError

from faro_targets.broken import require
from faro_targets.data_model import expected
from faro_targets.folder import Folder
from faro_targets.inputs import DATA, INDEX, is_sealed, limits_of
from faro_targets.seal import seal
from faro_targets.transcript import Transcript


def header_block(raw: bytes, folder: Folder, transcript: Transcript) -> None:
    """A dry rebuild."""
    flags = raw[0] if raw else 0
    file = seal(raw[1:]) if is_sealed(flags) else raw[1:]
    limits = limits_of(flags)
    data = folder.write(DATA, file)
    try:
        report = faro.rebuild(data=data, index=str(folder.path / INDEX), limits=limits, dry_run=True)
        found = f"regions {report.regions} blocks {report.blocks} kept {report.data_kept} cut {report.data_cut}"
        found += f" orphaned {report.orphaned}"
        kept = (report.data_kept, report.data_cut)
        transcript.line("rebuild", report.regions, report.blocks, *kept, report.orphaned)
    except FaroError as error:
        found = f"{error.code} at {error.offset}"
        transcript.line("rebuild", error)
    model = expected(file, limits)
    require(found == model, f"rebuild: {found}, the model: {model}")
    require(folder.names() == [DATA] and folder.read(DATA) == file, "a dry run changes nothing")
