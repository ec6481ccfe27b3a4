"""Which kinds of blocks are allowed where (CTX-1, SCH-2)."""

from __future__ import annotations

from faro_format._block.block import KIND_SCHEMA, SKIPPABLE_KINDS
from faro_format._bytes.header import FRAMING_ARROW, HEADER_SIZE, FileHeader


def allowed_kinds(header: FileHeader, offset: int, *more: int) -> frozenset[int]:
    """Return the kinds of metadata allowed at an offset: those to skip, a schema's at its place, and ``more``."""
    schema = header.framing == FRAMING_ARROW and offset == HEADER_SIZE
    return SKIPPABLE_KINDS | frozenset(more) | (frozenset((KIND_SCHEMA,)) if schema else frozenset())
