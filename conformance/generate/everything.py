"""All cases, in the order of the manifest."""

from __future__ import annotations

from . import blocks, compressed, header, index, layouts, parts, scripts, structure
from .catalog import Catalog


def cases() -> Catalog:
    """The catalog of all cases."""
    catalog = Catalog()
    for part in (header, blocks, compressed, structure, parts, index, layouts, scripts):
        part.add(catalog)
    return catalog
