"""Changes of a file as a whole: blocks in another order or of another file, cuts, torn ends, other identities."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

from generate.message import canonical
from generate.raw import HEADER_SIZE, KIND_REGION, patch, seal_header

from differential.blocks import ROOT_OF_KIND, Piece, put_together, put_together_moved, take_apart
from differential.draw import Draw, lay_out, pick
from differential.messages import DecodeError, decode


def order(draw: Draw) -> str | None:
    """Blocks swapped, left out or repeated."""
    picked = pick(draw)
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
    draw.files[role] = lay_out(taken, draw.rng)
    return f"block at {piece.offset} of {role}: {way}"


def splice(draw: Draw) -> str | None:
    """A block, a payload, or everything after some offset, from another file."""
    picked = pick(draw)
    if picked is None:
        return None
    role, taken, index = picked
    source = take_apart(draw.other[draw.rng.choice(list(draw.other))])
    if not source.pieces:
        return None
    place = draw.rng.randrange(len(source.pieces))
    found = source.pieces[place]
    # The new block keeps the offset of the replaced one, so that offsets lead to it.
    moved = Piece(taken.pieces[index].offset, found.head, found.payload, found.padding)
    way = draw.rng.choice(["block", "block as it was", "payload", "inserted", "rest"])
    if way == "block":
        taken.pieces[index] = moved
    elif way == "block as it was":
        # BLK-9: its checksum is for the other file's file_id.
        sum_there = struct.unpack_from("<I", source.pieces[place].encode(source.file_id), 20)[0]
        taken.pieces[index] = replace(moved, sealed=sum_there)
    elif way == "payload":
        taken.pieces[index] = taken.pieces[index].with_payload(found.payload)
    elif way == "inserted":
        taken.pieces.insert(index, replace(found, offset=-1))
    else:
        taken.pieces[index:] = [replace(piece, offset=-1) for piece in source.pieces[place:]]
        taken.tail = source.tail
    draw.files[role] = lay_out(taken, draw.rng)
    return f"{way} of another file at block {index} of {role}"


def cut(draw: Draw) -> str | None:
    """A file that is shorter or longer, at or near the end of a block, or anywhere; with or without a tail."""
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
    """The data file of another output, with the header of this one: sealed for it, or as it was (BLK-9)."""
    if "data" not in draw.files or "data" not in draw.other:
        return None
    header = draw.files["data"][:HEADER_SIZE]
    sealed = draw.rng.random() < 0.5
    taken = take_apart(draw.other["data"])
    taken.header = header
    draw.files["data"] = put_together(taken) if sealed else header + draw.other["data"][HEADER_SIZE:]
    return f"data is of another output, with the right header{', sealed for it' if sealed else ''}"


def newer(draw: Draw) -> str | None:
    """A minor version above the reader's: MSG-12."""
    if any(len(data) < HEADER_SIZE for data in draw.files.values()):
        return None
    draw.files = {role: seal_header(patch(data, 10, b"\1")) for role, data in draw.files.items()}
    return "version_minor 1"


def unsealed(draw: Draw) -> str | None:
    """One bit, without recomputing a checksum."""
    role = draw.role()
    data = draw.files[role]
    if not data:
        return None
    at = draw.rng.randrange(len(data))
    draw.files[role] = patch(data, at, bytes([data[at] ^ 1 << draw.rng.randrange(8)]))
    return f"a bit at {at} of {role}, unsealed"


def footer_again(draw: Draw) -> str | None:
    """The footer, built again by the canonical builder: a reader reads the same."""
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


def torn(draw: Draw) -> str | None:
    """An end that a crash may leave: zeros from some offset on, a part of a block, a header with a wrong size."""
    rng, role = draw.rng, draw.role()
    data = draw.files[role]
    pieces = take_apart(data).pieces
    if not pieces:
        return None
    piece = rng.choice([*pieces[-3:], rng.choice(pieces)])
    end = piece.offset + piece.size
    way = rng.choice(["zeros", "part", "size", "bit"])
    if way == "zeros":
        at = min(piece.offset + rng.choice([0, 4, 15, 16, 17, 20, 24, piece.size]), end)
        data = data[:at] + bytes(rng.choice([0, 1, 8, 24, end - at, len(data) - at]))
    elif way == "part":
        data = data[: piece.offset + rng.randrange(piece.size + 1)]
    else:
        # Unsealed, as damage is: FOL-2 checks the header before it trusts the size.
        at = piece.offset + (rng.randrange(4) if way == "size" else rng.randrange(20))
        behind = rng.choice([0, 0, 8, 24, 32, len(data)])
        data = patch(data, at, bytes([data[at] ^ 1 << rng.randrange(8)]))[: end + behind]
    draw.files[role] = data
    return f"torn end of {role}: {way} at the block at {piece.offset}, {len(data)} bytes"


def demoted(draw: Draw) -> str | None:
    """A region message as metadata that a reader may skip: the directory has more regions than the file."""
    for role, data in draw.files.items():
        taken = take_apart(data)
        found = [index for index, piece in enumerate(taken.pieces) if piece.kind == KIND_REGION]
        if found:
            index = draw.rng.choice([found[-1], draw.rng.choice(found)])
            piece = taken.pieces[index]
            kind = draw.rng.choice([192, 255])
            taken.pieces[index] = replace(piece, head=patch(piece.head, 16, bytes([kind])))
            draw.files[role] = put_together(taken)
            return f"region message at {piece.offset} of {role} is of kind {kind}"
    return None


def new_identity(draw: Draw) -> str | None:
    """Another file_id in one header or in all; the blocks sealed for it, or as they were."""
    if any(len(data) < HEADER_SIZE for data in draw.files.values()):
        return None
    rng = draw.rng
    roles = list(draw.files) if rng.random() < 0.5 else [draw.role()]
    file_id, sealed = rng.randbytes(16), rng.random() < 0.5
    for role in roles:
        data = seal_header(patch(draw.files[role], 40, file_id))
        draw.files[role] = put_together(take_apart(data)) if sealed else data
    return f"{' and '.join(roles)} of another file_id{', sealed for it' if sealed else ''}"


def shared_extents(draw: Draw) -> str | None:
    """The shared extents of a region: their first_block, members, lengths and order."""
    for role, data in draw.files.items():
        taken = take_apart(data)
        found = [index for index, piece in enumerate(taken.pieces) if piece.kind == KIND_REGION]
        draw.rng.shuffle(found)
        for index in found:
            try:
                fields = decode("Region", taken.pieces[index].payload)
                if not fields.get("shared"):
                    continue
                text = _change_shared(fields["shared"], draw)
                payload = canonical("Region", fields)
            except (DecodeError, struct.error, ValueError, TypeError, OverflowError):
                continue
            taken.pieces[index] = taken.pieces[index].with_payload(payload)
            draw.files[role] = put_together_moved(taken)
            return f"shared extents of the message at {taken.pieces[index].offset} of {role}: {text}"
    return None


def _change_shared(shared: list[dict[str, Any]], draw: Draw) -> str:
    rng = draw.rng
    one, two = rng.randrange(len(shared)), rng.randrange(len(shared))
    way = rng.choice(["first", "first", "same", "swap", "swap firsts", "members", "length"])
    first = shared[one].get("first_block", 0)
    if way == "first":
        shared[one]["first_block"] = max(0, first + rng.choice([-1, 1, 2, 1000])) % (1 << 32)
    elif way == "same":
        shared[one]["first_block"] = shared[two].get("first_block", 0)
    elif way == "swap":
        shared[one], shared[two] = shared[two], shared[one]
    elif way == "swap firsts":
        shared[one]["first_block"], shared[two]["first_block"] = shared[two].get("first_block", 0), first
    elif way == "members":
        members = list(shared[one].get("members") or shared[two].get("members") or [1])
        at = rng.randrange(len(members))
        members[at] ^= 1 << rng.randrange(8)
        shared[one]["members"] = members
    else:
        by = rng.choice([1, 3, 4])
        shared[one]["length"] = max(0, shared[one].get("length", 0) - by)
        shared[two]["length"] = shared[two].get("length", 0) + by
    return f"{way} of {one} and {two}"
