"""All cases, in the order in which they are made."""

from __future__ import annotations

from . import (
    believed,
    blocks,
    by_partition,
    compressed,
    dictionaries,
    dictionary_places,
    dictionary_rebuilds,
    dictionary_scripts,
    dictionary_walks,
    fragments,
    gold,
    growing,
    handed,
    header,
    hybrids,
    identity,
    index,
    layouts,
    lookup,
    mending,
    merging,
    parts,
    planning,
    provenance,
    readings,
    region_fragments,
    resuming,
    scripts,
    selective,
    small_outputs,
    streams,
    structure,
    tails,
    two_readings,
    two_readings_calls,
    watched,
)
from .catalog import Catalog

PARTS = (
    header,
    blocks,
    compressed,
    structure,
    parts,
    tails,
    index,
    layouts,
    selective,
    scripts,
    handed,
    small_outputs,
    streams,
    mending,
    growing,
    watched,
    hybrids,
    readings,
    identity,
    believed,
    dictionaries,
    dictionary_places,
    dictionary_walks,
    dictionary_rebuilds,
    dictionary_scripts,
    by_partition,
    lookup,
    two_readings,
    two_readings_calls,
    fragments,
    merging,
    resuming,
    planning,
    provenance,
    region_fragments,
    gold,
)


def cases() -> Catalog:
    """The catalog of all cases."""
    catalog = Catalog()
    for part in PARTS:
        part.add(catalog)
    return catalog
