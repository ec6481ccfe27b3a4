"""Changes of an output's files after which the checksums are right, so that a reader gets past them."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace

from generate.message import canonical
from generate.raw import HEADER_SIZE, TAIL_MAGIC, TAIL_SIZE, patch, seal_header, seal_tail

from differential.blocks import ROOT_OF_KIND, Piece, Taken, put_together, put_together_moved, take_apart
from differential.messages import DecodeError, decode, encode, mutate_fields, mutate_layout, nudge

Files = dict[str, bytes]
# Offset and size of the header's fields behind the magic.
_HEADER_FIELDS = [
    (8, 1),
    (9, 1),
    (10, 1),
    (11, 1),
    (12, 4),
    (16, 4),
    (20, 4),
    (24, 8),
    (32, 4),
    (36, 4),
    (40, 4),
    (56, 4),
]
_BLOCK_FIELDS = [(0, 4), (4, 4), (8, 4), (12, 4), (16, 1), (17, 1), (18, 2)]
_TAIL_FIELDS = [(0, 8), (8, 4), (16, 4)]
_FORMATS = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}
_TRIES = 20


@dataclass
class Draw:
    """What a change is made of: the files as they are, those of another seed, and where chance comes from."""

    files: Files
    other: Files
    rng: random.Random

    def role(self) -> str:
        """One of the files, the one with the messages more often."""
        return self.rng.choice([*self.files, *(role for role in self.files if role != "data")])


Change = Callable[[Draw], str | None]


def mutate(files: Files, other: Files, rng: random.Random) -> tuple[Files, list[str]]:
    """The files with one to three changes, and what these were."""
    draw = Draw(dict(files), other, rng)
    done: list[str] = []
    wanted = rng.choice([1, 1, 1, 2, 2, 3])
    for _ in range(_TRIES):
        if len(done) == wanted:
            break
        change = rng.choices(list(CHANGES), list(CHANGES.values()))[0]
        text = change(draw)
        if text is not None:
            done.append(text)
    return draw.files, done


def _field(data: bytes, at: int, size: int, rng: random.Random) -> tuple[bytes, int]:
    value = nudge(struct.unpack_from(_FORMATS[size], data, at)[0], 8 * size, rng)
    return patch(data, at, struct.pack(_FORMATS[size], value)), value


def header_field(draw: Draw) -> str | None:
    """A field of the header, of both files of a pair as often as of one."""
    at, size = draw.rng.choice(_HEADER_FIELDS)
    roles = list(draw.files) if draw.rng.random() < 0.5 else [draw.role()]
    if any(len(draw.files[role]) < HEADER_SIZE for role in roles):
        return None
    _, value = _field(draw.files[roles[0]], at, size, draw.rng)
    for role in roles:
        draw.files[role] = seal_header(patch(draw.files[role], at, struct.pack(_FORMATS[size], value)))
    return f"header of {' and '.join(roles)}: {at} = {value}"


def tail_field(draw: Draw) -> str | None:
    """A field of the tail."""
    role = draw.role()
    data = draw.files[role]
    if len(data) < HEADER_SIZE + TAIL_SIZE or not data.endswith(TAIL_MAGIC):
        return None
    at, size = draw.rng.choice(_TAIL_FIELDS)
    changed, value = _field(data, len(data) - TAIL_SIZE + at, size, draw.rng)
    draw.files[role] = seal_tail(changed)
    return f"tail of {role}: {at} = {value}"


def _pick(draw: Draw) -> tuple[str, Taken, int] | None:
    role = draw.role()
    taken = take_apart(draw.files[role])
    if not taken.pieces:
        return None
    return role, taken, draw.rng.randrange(len(taken.pieces))


def block_field(draw: Draw) -> str | None:
    """A field of a block's header. The checksum is over as many bytes as the size says, if they are there."""
    picked = _pick(draw)
    if picked is None:
        return None
    role, taken, index = picked
    piece = taken.pieces[index]
    at, size = draw.rng.choice(_BLOCK_FIELDS)
    head, value = _field(piece.head, at, size, draw.rng)
    payload, padding = piece.payload, piece.padding
    if at == 0:
        behind = payload + padding
        if value > len(behind):
            behind += draw.files[role][piece.offset + piece.size :][: value - len(behind)]
        payload, padding = behind[:value], b""
        changed = replace(piece, head=head, payload=payload, padding=padding).encode()
        data = draw.files[role]
        end = max(piece.offset + piece.size, piece.offset + len(changed))
        tail_end = data[piece.offset + len(changed) : end]
        draw.files[role] = data[: piece.offset] + changed + tail_end + data[end:]
    else:
        taken.pieces[index] = replace(piece, head=head)
        draw.files[role] = put_together(taken)
    return f"block at {piece.offset} of {role}: {at} = {value}"


def payload_bytes(draw: Draw) -> str | None:
    """Bytes of a payload, of a message as of data."""
    picked = _pick(draw)
    if picked is None or not picked[1].pieces[picked[2]].payload:
        return None
    role, taken, index = picked
    piece = taken.pieces[index]
    payload = piece.payload
    at = draw.rng.randrange(len(payload))
    if draw.rng.random() < 0.5 and len(payload) >= 4:
        at = min(at // 4 * 4, len(payload) - 4)
        payload, value = _field(payload, at, 4, draw.rng)
    else:
        payload, value = _field(payload, at, 1, draw.rng)
    taken.pieces[index] = replace(piece, payload=payload)
    draw.files[role] = put_together(taken)
    return f"payload of the block at {piece.offset} of {role}: {at} = {value}"


def padding_byte(draw: Draw) -> str | None:
    """A byte of the padding that is not zero."""
    picked = _pick(draw)
    if picked is None or not picked[1].pieces[picked[2]].padding:
        return None
    role, taken, index = picked
    piece = taken.pieces[index]
    at = draw.rng.randrange(len(piece.padding))
    taken.pieces[index] = replace(piece, padding=patch(piece.padding, at, bytes([draw.rng.randrange(1, 256)])))
    draw.files[role] = put_together(taken)
    return f"padding of the block at {piece.offset} of {role}: byte {at}"


def resize(draw: Draw) -> str | None:
    """A payload longer or shorter, everything behind it moved, and what leads there with it."""
    picked = _pick(draw)
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
    draw.files[role] = _lay_out(taken, draw.rng)
    return f"payload of the block at {piece.offset} of {role}: {way}"


def _lay_out(taken: Taken, rng: random.Random) -> bytes:
    return put_together_moved(taken) if rng.random() < 0.8 else put_together(taken)


def message(draw: Draw) -> str | None:
    """A message with another value in a field, or with its parts laid out otherwise."""
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
        # No such message, or a value that no message can have.
        return None
    taken.pieces[index] = piece.with_payload(payload)
    # What was changed on purpose must not be mended: offsets follow only when the message grew or shrank.
    same = taken.pieces[index].size == piece.size
    draw.files[role] = put_together(taken) if same else _lay_out(taken, draw.rng)
    return f"message at {piece.offset} of {role}: {text}"


def order(draw: Draw) -> str | None:
    """Blocks swapped, left out or repeated."""
    picked = _pick(draw)
    if picked is None:
        return None
    role, taken, index = picked
    pieces = taken.pieces
    piece = pieces[index]
    way = draw.rng.choice(["swapped", "left out", "twice"])
    if way == "swapped":
        other = draw.rng.randrange(len(pieces))
        pieces[index], pieces[other] = pieces[other], piece
    elif way == "left out":
        del pieces[index]
    else:
        pieces.insert(draw.rng.randrange(len(pieces) + 1), piece)
    draw.files[role] = _lay_out(taken, draw.rng)
    return f"block at {piece.offset} of {role}: {way}"


def splice(draw: Draw) -> str | None:
    """A block, a payload or what stands behind some place, of another file."""
    picked = _pick(draw)
    if picked is None:
        return None
    role, taken, index = picked
    source = take_apart(draw.other[draw.rng.choice(list(draw.other))])
    if not source.pieces:
        return None
    place = draw.rng.randrange(len(source.pieces))
    found = source.pieces[place]
    # The offset stays that of the block that is replaced: what leads there leads to the new one.
    moved = Piece(taken.pieces[index].offset, found.head, found.payload, found.padding)
    way = draw.rng.choice(["block", "payload", "inserted", "rest"])
    if way == "block":
        taken.pieces[index] = moved
    elif way == "payload":
        taken.pieces[index] = taken.pieces[index].with_payload(found.payload)
    elif way == "inserted":
        taken.pieces.insert(index, replace(found, offset=-1))
    else:
        taken.pieces[index:] = [replace(piece, offset=-1) for piece in source.pieces[place:]]
        taken.tail = source.tail
    draw.files[role] = _lay_out(taken, draw.rng)
    return f"{way} of another file at block {index} of {role}"


def cut(draw: Draw) -> str | None:
    """A file shorter or longer: at or near the end of a block, or anywhere; with a tail all the same, or without."""
    role = draw.role()
    data = draw.files[role]
    if not data:
        return None
    ends = [piece.offset + piece.size for piece in take_apart(data).pieces] + [HEADER_SIZE, len(data)]
    way = draw.rng.choice(["cut", "cut", "longer", "inside"])
    at = draw.rng.choice(ends) + draw.rng.choice([0, 0, 0, -8, -1, 1, 8, 24])
    at = max(0, min(len(data), at if draw.rng.random() < 0.7 else draw.rng.randrange(len(data) + 1)))
    if way == "cut":
        draw.files[role] = data[:at]
    elif way == "inside":
        end = min(len(data), at + draw.rng.choice([1, 8, 16, 24, 64]))
        draw.files[role] = data[:at] + data[end:]
    else:
        more = draw.rng.choice(
            [bytes(8), bytes(24), bytes(1), bytes(64), data[-24:], data[at:], draw.rng.randbytes(32)]
        )
        draw.files[role] = data + more
    return f"{role} {way} at {at}: {len(draw.files[role])} bytes"


def swap(draw: Draw) -> str | None:
    """Files of the wrong role or of another output."""
    way = draw.rng.choice(["roles", "other"])
    if way == "roles":
        if len(draw.files) != 2:
            return None
        one, two = draw.files
        draw.files[one], draw.files[two] = draw.files[two], draw.files[one]
        return "the two files the wrong way round"
    role = draw.role()
    draw.files[role] = draw.other.get(role, next(iter(draw.other.values())))
    return f"{role} is of another output"


def same_identity(draw: Draw) -> str | None:
    """The data file of another output, with the header of this one's: what an identity cannot tell."""
    if "data" not in draw.files or "data" not in draw.other:
        return None
    draw.files["data"] = draw.files["data"][:HEADER_SIZE] + draw.other["data"][HEADER_SIZE:]
    return "data is of another output, with the right header"


def newer(draw: Draw) -> str | None:
    """A minor version above the reader's: MSG-12."""
    if any(len(data) < HEADER_SIZE for data in draw.files.values()):
        return None
    draw.files = {role: seal_header(patch(data, 10, b"\1")) for role, data in draw.files.items()}
    return "version_minor 1"


def unsealed(draw: Draw) -> str | None:
    """One bit, and no checksum made right."""
    role = draw.role()
    data = draw.files[role]
    if not data:
        return None
    at = draw.rng.randrange(len(data))
    draw.files[role] = patch(data, at, bytes([data[at] ^ 1 << draw.rng.randrange(8)]))
    return f"a bit at {at} of {role}, unsealed"


def footer_again(draw: Draw) -> str | None:
    """The footer's bytes built anew by the canonical builder: no change for a reader."""
    for role, data in draw.files.items():
        taken = take_apart(data)
        for index, piece in enumerate(taken.pieces):
            if piece.kind in ROOT_OF_KIND and ROOT_OF_KIND[piece.kind] == "Footer":
                try:
                    payload = canonical("Footer", decode("Footer", piece.payload))
                except (DecodeError, struct.error, ValueError, TypeError, OverflowError):
                    return None
                taken.pieces[index] = piece.with_payload(payload)
                draw.files[role] = put_together_moved(taken)
                return f"footer of {role} built anew"
    return None


CHANGES: dict[Change, int] = {
    header_field: 5, tail_field: 4, block_field: 12, payload_bytes: 14, padding_byte: 2, resize: 6, message: 25,
    order: 6, splice: 8, cut: 8, swap: 2, same_identity: 2, newer: 2, unsealed: 2, footer_again: 1,
}  # fmt: skip
