"""Record batches of blocks: what FRM-4 and FRM-5 demand of a message, and pyarrow's own checks. Needs pyarrow."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

from faro_format._block.block import BLOCK_HEADER_SIZE, KIND_DATA, Block
from faro_format._block.framing import check_framing
from faro_format._bytes.header import FRAMING_ARROW, HEADER_SIZE, Framing
from faro_format._error import ErrorCode, Place, invalid
from faro_format._pyarrow import pa

RECORD_BATCH = 3
"""Of the types of an Arrow message's header."""
_ENCAPSULATION = 8
"""Bytes before the metadata of an encapsulated message: FF FF FF FF, and the metadata length."""
_LEARNED = 8
"""How often an outline is replaced. In a file whose messages differ more, that would take more time than it saves."""
_I32 = struct.Struct("<i")
_U16 = struct.Struct("<H")
_U8 = struct.Struct("B")


class Outline:
    """The bytes that decide whether a message is one to refuse, as they were in one that was accepted.

    They are its encapsulation (FRM-4) and whatever :func:`_has_compressed_buffers` looked at. The messages of a file
    differ in their counts of rows and in sizes, which are elsewhere. So one comparison takes the place of these checks.
    """

    def __init__(self) -> None:
        """Know no message yet."""
        self._known: tuple[struct.Struct, tuple[bytes, ...], int] | None = None
        """Replaced as a whole, since threads may share this: the places, their bytes, and the least payload."""
        self._left = _LEARNED

    def accepts(self, payload: memoryview | bytes) -> bool:
        """Whether a payload keeps FRM-4, and is without compressed buffers if pyarrow takes it. False: not known."""
        known = self._known
        if known is None:
            return False
        places, expected, least = known
        return len(payload) >= least and places.unpack_from(payload) == expected

    def learn(self, payload: memoryview | bytes, looked_at: set[int]) -> None:
        """Remember the outline of a message that was accepted.

        Args:
            payload: the message.
            looked_at: the offsets of the bytes that said so, besides the encapsulation.
        """
        if not self._left:
            return
        self._left -= 1
        form, size, end = "<", 0, 0
        for at in sorted(looked_at.union(range(_ENCAPSULATION))):
            if at > end:
                form += f"{size}s{at - end}x"
                size = 0
            size += 1
            end = at + 1
        form += f"{size}s"
        places = struct.Struct(form)
        least = max(_ENCAPSULATION + _I32.unpack_from(payload, 4)[0], places.size)
        self._known = (places, places.unpack_from(payload), least)


def schema_of(framing: Framing, message: bytes | None, place: Place) -> Any:  # noqa: ANN401 - pyarrow ships no types
    """Return the Arrow schema of an output with framing arrow.

    Args:
        framing: of the output.
        message: its encapsulated schema message.
        place: the file that has it.

    Raises:
        FaroError: ``invalid-argument`` for another framing; ``malformed-message`` at 88 if pyarrow refuses the
            schema (SCH-3).
    """
    if framing != FRAMING_ARROW or message is None:
        raise invalid(
            "an output with framing arrow; reader.records() reads framing records", f"framing {framing.name.lower()}"
        )
    try:
        return pa.ipc.read_schema(pa.py_buffer(message))
    except MemoryError:
        raise
    except Exception as fault:
        offset = HEADER_SIZE + BLOCK_HEADER_SIZE
        raise place.error(ErrorCode.MALFORMED_MESSAGE, offset, "an Arrow schema", fault) from fault


def batches(
    blocks: Iterator[Block],
    schema: Any,  # noqa: ANN401
    place: Place,
    outline: Outline,
    *,
    validate: bool,
    columns: Sequence[int] | None = None,
) -> Iterator[Any]:
    """Yield the record batches of blocks; events are passed over.

    Args:
        blocks: decoded blocks of a file with framing arrow.
        schema: the file's, as pyarrow has it.
        place: the file, for errors.
        outline: of messages of this schema.
        validate: whether to look at all values for what pyarrow trusts.
        columns: the numbers of those that are wanted; None: all. The values of others are not looked at.

    Raises:
        FaroError: ``malformed-block`` at the block's offset + 24 (FRM-5).
    """
    read = pa.ipc.read_record_batch
    for block in blocks:
        if block.kind != KIND_DATA:
            continue
        payload = block.payload
        known = outline.accepts(payload)
        if not known:
            looked_at: set[int] = set()
            check_framing(block, FRAMING_ARROW, place)
        try:
            message = payload
            if not known:
                message = pa.ipc.read_message(payload)
                if _has_compressed_buffers(payload, looked_at):
                    raise ValueError("buffers that Arrow compressed")
            batch = read(message, schema)
            if columns is not None:
                batch = batch.select(columns)
            batch.validate(full=validate)
        except MemoryError:
            # No fault of the file.
            raise
        except Exception as fault:
            offset = block.offset + BLOCK_HEADER_SIZE
            raise place.error(ErrorCode.MALFORMED_BLOCK, offset, "a record batch", fault) from fault
        if not known:
            outline.learn(payload, looked_at)
        yield batch


def _has_compressed_buffers(message: memoryview | bytes, looked_at: set[int]) -> bool:
    """Whether an Arrow message is a record batch with the field ``compression`` (FRM-3); pyarrow has verified it.

    Args:
        message: the encapsulated message.
        looked_at: gets the offsets of the bytes that the answer depends on.
    """

    def number(form: struct.Struct, at: int) -> int:
        looked_at.update(range(at, at + form.size))
        found: int = form.unpack_from(message, at)[0]
        return found

    def field(table: int, number_of_field: int) -> int:
        """Return where a field of a FlatBuffers table is, 0 if it is absent."""
        vtable = table - number(_I32, table)
        entry = 4 + 2 * number_of_field
        if entry >= number(_U16, vtable):
            return 0
        offset = number(_U16, vtable + entry)
        return table + offset if offset else 0

    root = _ENCAPSULATION + number(_I32, _ENCAPSULATION)
    kind, header = field(root, 1), field(root, 2)
    if not kind or not header or number(_U8, kind) != RECORD_BATCH:
        return False
    return bool(field(header + number(_I32, header), 3))
