"""Changes inside a header, a block, a message or a tail, with correct checksums afterwards."""

from __future__ import annotations

import struct
from dataclasses import replace

from generate.raw import HEADER_SIZE, TAIL_MAGIC, TAIL_SIZE, patch, seal_header, seal_tail

from differential.blocks import ROOT_OF_KIND, put_together, take_apart
from differential.draw import FORMATS, Draw, lay_out, nudge_field, pick
from differential.messages import DecodeError, decode, encode, mutate_fields, mutate_layout

# Offset and size of the header's fields after the magic.
_HEADER_FIELDS = [
    (8, 1),
    (9, 1),
    (10, 1),
    (11, 1),
    (12, 4),
    (16, 4),
    (20, 4),
    (24, 8),
    (32, 8),
    (40, 4),
    (56, 4),
]
_BLOCK_FIELDS = [(0, 4), (4, 4), (8, 4), (12, 4), (16, 1), (17, 1), (18, 2)]
# Kinds and codecs with a meaning, or next to one with a meaning.
_LIKELY = {16: [0, 1, 2, 63, 64, 127, 128, 129, 130, 131, 191, 192, 255], 17: [0, 1, 2, 3], 18: [0, 1, 1, 2, 3]}
_TAIL_FIELDS = [(0, 8), (8, 4), (16, 4)]


def header_field(draw: Draw) -> str | None:
    """A field of the header, as often in both files of a pair as in one."""
    at, size = draw.rng.choice(_HEADER_FIELDS)
    roles = list(draw.files) if draw.rng.random() < 0.5 else [draw.role()]
    if any(len(draw.files[role]) < HEADER_SIZE for role in roles):
        return None
    _, value = nudge_field(draw.files[roles[0]], at, size, draw.rng)
    for role in roles:
        draw.files[role] = seal_header(patch(draw.files[role], at, struct.pack(FORMATS[size], value)))
    return f"header of {' and '.join(roles)}: {at} = {value}"


def tail_field(draw: Draw) -> str | None:
    """A field of the tail."""
    role = draw.role()
    data = draw.files[role]
    if len(data) < HEADER_SIZE + TAIL_SIZE or not data.endswith(TAIL_MAGIC):
        return None
    at, size = draw.rng.choice(_TAIL_FIELDS)
    changed, value = nudge_field(data, len(data) - TAIL_SIZE + at, size, draw.rng)
    sealed = draw.rng.random() < 0.85
    draw.files[role] = seal_tail(changed) if sealed else changed
    return f"tail of {role}: {at} = {value}{'' if sealed else ', unsealed'}"


def block_field(draw: Draw) -> str | None:
    """A field of a block's header. The checksum covers as many bytes as the size says, if they are there."""
    picked = pick(draw)
    if picked is None:
        return None
    role, taken, index = picked
    piece = taken.pieces[index]
    at, size = draw.rng.choice(_BLOCK_FIELDS)
    head, value = nudge_field(piece.head, at, size, draw.rng)
    if at in _LIKELY and draw.rng.random() < 0.5:
        value = draw.rng.choice(_LIKELY[at])
        head = patch(head, at, bytes([value]))
    payload, padding = piece.payload, piece.padding
    if at == 0:
        behind = payload + padding
        if value > len(behind):
            behind += draw.files[role][piece.offset + piece.size :][: value - len(behind)]
        payload, padding = behind[:value], b""
        changed = replace(piece, head=head, payload=payload, padding=padding).encode(taken.file_id)
        data = draw.files[role]
        end = max(piece.offset + piece.size, piece.offset + len(changed))
        tail_end = data[piece.offset + len(changed) : end]
        draw.files[role] = data[: piece.offset] + changed + tail_end + data[end:]
    else:
        taken.pieces[index] = replace(piece, head=head)
        draw.files[role] = put_together(taken)
    return f"block at {piece.offset} of {role}: {at} = {value}"


def payload_bytes(draw: Draw) -> str | None:
    """Bytes of a payload, of a message or of data."""
    picked = pick(draw)
    if picked is None or not picked[1].pieces[picked[2]].payload:
        return None
    role, taken, index = picked
    piece = taken.pieces[index]
    payload = piece.payload
    at = draw.rng.randrange(len(payload))
    if draw.rng.random() < 0.5 and len(payload) >= 4:
        at = min(at // 4 * 4, len(payload) - 4)
        payload, value = nudge_field(payload, at, 4, draw.rng)
    else:
        payload, value = nudge_field(payload, at, 1, draw.rng)
    taken.pieces[index] = replace(piece, payload=payload)
    draw.files[role] = put_together(taken)
    return f"payload of the block at {piece.offset} of {role}: {at} = {value}"


def padding_byte(draw: Draw) -> str | None:
    """A byte of the padding that is not zero."""
    picked = pick(draw)
    if picked is None or not picked[1].pieces[picked[2]].padding:
        return None
    role, taken, index = picked
    piece = taken.pieces[index]
    at = draw.rng.randrange(len(piece.padding))
    taken.pieces[index] = replace(piece, padding=patch(piece.padding, at, bytes([draw.rng.randrange(1, 256)])))
    draw.files[role] = put_together(taken)
    return f"padding of the block at {piece.offset} of {role}: byte {at}"


def resize(draw: Draw) -> str | None:
    """A payload that is longer or shorter. Everything after it moves, and offsets that lead there follow."""
    picked = pick(draw)
    if picked is None:
        return None
    role, taken, index = picked
    payload = taken.pieces[index].payload
    way = draw.rng.choice(["cut", "longer", "empty"])
    if way == "cut":
        payload = payload[: draw.rng.randrange(len(payload) + 1)]
    elif way == "longer":
        payload += bytes(draw.rng.choice([1, 4, 7, 8, 32])) if draw.rng.random() < 0.5 else payload[:40]
    else:
        payload = b""
    piece = taken.pieces[index]
    taken.pieces[index] = piece.with_payload(payload)
    draw.files[role] = lay_out(taken, draw.rng)
    return f"payload of the block at {piece.offset} of {role}: {way}"


def message(draw: Draw) -> str | None:
    """A message with another value in a field, or with its parts in another layout."""
    role = draw.role()
    taken = take_apart(draw.files[role])
    found = [index for index, piece in enumerate(taken.pieces) if piece.kind in ROOT_OF_KIND]
    if not found:
        return None
    index = draw.rng.choice(found)
    piece = taken.pieces[index]
    root = ROOT_OF_KIND[piece.kind]
    try:
        fields = decode(root, piece.payload)
        if draw.rng.random() < 0.75:
            text = mutate_fields(root, fields, draw.rng)
            payload = encode(root, fields, draw.rng)
        else:
            payload, text = mutate_layout(root, fields, draw.rng)
    except (DecodeError, struct.error, ValueError, TypeError, OverflowError):
        # Not such a message, or a value that no message can have.
        return None
    taken.pieces[index] = piece.with_payload(payload)
    # A change made on purpose must not be corrected: offsets follow only if the message grew or shrank.
    same = taken.pieces[index].size == piece.size
    draw.files[role] = put_together(taken) if same else lay_out(taken, draw.rng)
    return f"message at {piece.offset} of {role}: {text}"
