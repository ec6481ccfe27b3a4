"""What the rows of a table come from: the payloads of one output, partition by partition. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from faro_format._block.block import Block
from faro_format._bytes.header import FRAMING_ARROW, FRAMING_RECORDS, Framing
from faro_format._error import Place, invalid
from faro_format._tables.batches import Outline, schema_of
from faro_format._tables.text import TextForm, text_form


@dataclass(frozen=True)
class Source:
    """What the payloads of an output are."""

    framing: Framing
    place: Place
    """The file with the blocks."""
    schema: Any = None
    """With framing arrow: the columns, as pyarrow has them."""
    text: TextForm | None = None
    """With framing records: what text they are, if the output says so."""
    outline: Outline = field(default_factory=Outline, compare=False)


Part = tuple[Source, Iterator[Block]]
"""The blocks that a partition reads from one output."""


def source_of(
    framing: Framing, message: bytes | None, properties: Mapping[str, str], index: Place, data: Place
) -> Source:
    """Return what the payloads of an output are.

    Args:
        framing: of its header.
        message: its encapsulated schema message, with framing arrow.
        properties: of its footer; those of ``faro pack`` say what text records are.
        index: the file with the schema.
        data: the file with the blocks.

    Raises:
        FaroError: ``invalid-argument`` for framing opaque; ``malformed-message`` if pyarrow refuses the schema.
    """
    if framing == FRAMING_ARROW:
        return Source(framing, data, schema=schema_of(framing, message, index))
    if framing != FRAMING_RECORDS:
        wanted = "an output with framing arrow or records; the blocks() of a partition are of any"
        raise invalid(wanted, f"framing {framing.name.lower()}")
    return Source(framing, data, text=text_form(properties))


def check_alike(first: Source, other: Source) -> None:
    """Refuse an output whose rows have other columns than those of the first."""
    if first.framing != other.framing:
        what, found = f"framing {first.framing.name.lower()}", f"framing {other.framing.name.lower()}"
    elif first.text != other.text:
        what, found = "the same format, delimiter and header of text", str(other.text)
    elif first.schema is not None and not first.schema.equals(other.schema):
        what, found = "the same columns", ", ".join(map(str, other.schema))
    else:
        return
    raise invalid(f"outputs with {what}, as {first.place.path!r} has", f"{found} in {other.place.path!r}")
