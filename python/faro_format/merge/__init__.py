"""Fragments and merged files: the blocks of many producers in one file, exactly once (FRG, MRG, NAM).

A producer plans its pushes (:class:`PushPlan`) and writes a :func:`fragment` of its output for each. A service checks
it while it arrives and appends it to a merged file: :class:`Merge`. A reader of that file asks :func:`have` and
:func:`missing`, and gets from the producers' own outputs only what is missing: :func:`with_originals`. For everything
else a merged file is an output like any other::

    import faro_format as faro
    from faro_format.merge import Merge, MergeOptions, fragment

    with Merge.create("merged", MergeOptions(partition_count=8)) as merge:
        for producer in range(3):
            sent = io.BytesIO()
            with faro.open(f"map-{producer}") as reader:
                fragment(reader, 0, 8, sent)
            push = merge.begin(producer, 0)
            push.write(sent.getvalue())
            push.commit()
        merge.finalize()
"""

from faro_format._index.holdings import Run
from faro_format.merge._fragment import FragmentSummary, fragment
from faro_format.merge._fragment_reader import Fragment, FragmentBlock, read_fragments
from faro_format.merge._merge import Merge, MergeSummary, Outcome, Push
from faro_format.merge._names import Names, merged_file_id, output_file_id
from faro_format.merge._options import MergeOptions
from faro_format.merge._provenance import Expected, Have, Missing, PlacedRun, have, missing, runs
from faro_format.merge._push_plan import PlannedPush, PushPlan
from faro_format.merge._reading import MergedBlock, MergedReading, with_originals
from faro_format.merge._region_fragments import region_fragments

__all__ = [
    "Expected",
    "Fragment",
    "FragmentBlock",
    "FragmentSummary",
    "Have",
    "Merge",
    "MergeOptions",
    "MergeSummary",
    "MergedBlock",
    "MergedReading",
    "Missing",
    "Names",
    "Outcome",
    "PlacedRun",
    "PlannedPush",
    "Push",
    "PushPlan",
    "Run",
    "fragment",
    "have",
    "merged_file_id",
    "missing",
    "output_file_id",
    "read_fragments",
    "region_fragments",
    "runs",
    "with_originals",
]
