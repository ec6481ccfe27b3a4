"""Ways in which disks, caches, networks and people damage files."""

from __future__ import annotations

import itertools
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from generate.raw import block_crc, pad8, patch, u32

from .outputs import PAGE, Files, Subject


@dataclass(frozen=True)
class Damage:
    """The files that changed, after the damage."""

    kind: str
    what: str
    after: Files

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"


def flipped(data: bytes, *bits: int) -> bytes:
    """The bytes with some bits flipped, counted from the lowest bit of the first byte."""
    out = bytearray(data)
    for bit in bits:
        out[bit // 8] ^= 1 << bit % 8
    return bytes(out)


def one_bit(subject: Subject, rng: random.Random, count: int | None) -> Iterator[Damage]:
    """Every bit, or *count* of them, the same number in each file."""
    for role, data in subject.files.items():
        bits = range(8 * len(data))
        share = None if count is None else count // len(subject.files)
        for bit in bits if share is None or share >= len(bits) else rng.sample(bits, share):
            yield Damage("1 bit", f"{role} byte {bit // 8} bit {bit % 8}", {role: flipped(data, bit)})


def two_bits(subject: Subject, rng: random.Random, count: int) -> Iterator[Damage]:
    """Two bits that are at most 32 apart."""
    for role, data in subject.files.items():
        for _ in range(count // len(subject.files)):
            one = rng.randrange(8 * len(data) - 32)
            two = one + rng.randrange(1, 33)
            yield Damage(
                "2 bits", f"{role} byte {one // 8} bit {one % 8} and {two - one} on", {role: flipped(data, one, two)}
            )


def _block_places(subject: Subject) -> Iterator[tuple[str, int]]:
    built = subject.built
    for _, _, offset, _, _ in built.blocks:
        yield built.data, offset
    for offset in built.metadata:
        yield built.index, offset


def both_sizes(subject: Subject, rng: random.Random, count: int | None) -> Iterator[Damage]:
    """The same bit in stored_size and plain_size of a block: a damage after which both sizes still agree."""
    places = [(role, at, bit) for role, at in _block_places(subject) for bit in range(32)]
    for role, at, bit in places if count is None or count >= len(places) else rng.sample(places, count):
        yield Damage("bit n of both sizes of a header", f"{role} block at {at} bit {bit}",
                     {role: flipped(subject.files[role], 8 * at + bit, 8 * at + 32 + bit)})  # fmt: skip


def truncations(subject: Subject, rng: random.Random, count: int | None) -> Iterator[Damage]:
    """Every length below a file's own, or *count* of them."""
    for role, data in subject.files.items():
        share = None if count is None else count // len(subject.files)
        sizes = range(len(data))
        for size in sizes if share is None or share >= len(sizes) else rng.sample(sizes, share):
            yield Damage("truncated", f"{role} has {size} bytes", {role: data[:size]})


def _pages(data: bytes) -> list[tuple[int, int]]:
    return [(at, min(at + PAGE, len(data))) for at in range(0, len(data), PAGE)]


def zeroed_pages(subject: Subject, rng: random.Random) -> Iterator[Damage]:
    """Each page of zeros."""
    for role, data in subject.files.items():
        for begin, end in _pages(data):
            yield Damage(
                "page of zeros", f"{role} page {begin // PAGE}", {role: patch(data, begin, bytes(end - begin))}
            )


def swapped_pages(subject: Subject, rng: random.Random) -> Iterator[Damage]:
    """Every two whole pages of a file swapped, and one page in the place of another."""
    for role, data in subject.files.items():
        whole = [begin for begin, end in _pages(data) if end - begin == PAGE]
        for one, two in itertools.combinations(whole, 2):
            first, second = data[one : one + PAGE], data[two : two + PAGE]
            what = f"{role} pages {one // PAGE} and {two // PAGE}"
            yield Damage("two pages of a file swapped", what, {role: patch(patch(data, one, second), two, first)})
            yield Damage(
                "page of another place of the file", what + ", twice the first", {role: patch(data, two, first)}
            )
            yield Damage(
                "page of another place of the file", what + ", twice the second", {role: patch(data, one, second)}
            )


def strange_pages(subject: Subject, rng: random.Random) -> Iterator[Damage]:
    """Each page as it is in the other producer's file; and all pages but one."""
    for role, data in subject.files.items():
        other = subject.twin.files[role]
        pages = _pages(data)
        for begin, end in pages:
            what = f"{role} page {begin // PAGE}"
            yield Damage("page of another producer's file", what, {role: patch(data, begin, other[begin:end])})
            if len(pages) > 1:
                yield Damage(
                    "all pages but one of another producer's file", what, {role: patch(other, begin, data[begin:end])}
                )


def stale_pages(subject: Subject, rng: random.Random) -> Iterator[Damage]:
    """Each page as it was after an earlier append: zeros after the end that the file had then."""
    for role, data in subject.files.items():
        for size in sorted({end for _, end in _appends(subject)[role]} - {len(data)}):
            begin = size // PAGE * PAGE
            end = min(begin + PAGE, len(data))
            if size < end:
                yield Damage("older version of a page", f"{role} page {begin // PAGE} when the file had {size} bytes",
                             {role: patch(data, size, bytes(end - size))})  # fmt: skip


def _appends(subject: Subject) -> dict[str, list[tuple[int, int]]]:
    """The appends by which each file was written: a region's blocks, its message, footer, tail."""
    built = subject.built
    if subject.layout == "single":
        marks = {64, len(built.files["single"]), *itertools.chain(*subject.extents)}
        marks |= {built.footer, built.tail} if subject.finished else set()
        cuts = sorted(marks)
        return {"single": list(itertools.pairwise(cuts))}
    data = [64, *[end for _, end in subject.extents]]
    index = sorted({64, *built.metadata, *([built.tail] if subject.finished else []), len(built.files["index"])})
    return {"data": list(itertools.pairwise(data)), "index": list(itertools.pairwise(index))}


def appends(subject: Subject, rng: random.Random) -> Iterator[Damage]:
    """The last append of each file, or of both, lost or made twice; one in the middle lost, made twice, or a hole."""
    made = _appends(subject)
    last: dict[str, tuple[int, int]] = {role: spans[-1] for role, spans in made.items()}
    sets = [[role] for role in last] + ([list(last)] if len(last) > 1 else [])
    for roles in sets:
        text = " and ".join(roles)
        files = {role: subject.files[role] for role in roles}
        yield Damage("last append lost", text, {role: data[: last[role][0]] for role, data in files.items()})
        yield Damage(
            "last append made twice", text, {role: data + data[slice(*last[role])] for role, data in files.items()}
        )
    for role, spans in made.items():
        data = subject.files[role]
        for begin, end in spans[:-1]:
            what = f"{role} bytes {begin} to {end}"
            yield Damage("append in the middle lost", what, {role: data[:begin] + data[end:]})
            yield Damage("append in the middle made twice", what, {role: data[:end] + data[begin:]})
            yield Damage("append in the middle is a hole", what, {role: patch(data, begin, bytes(end - begin))})
    if len(made) == 2:
        for number, ((begin, end), (start, stop)) in enumerate(zip(made["data"][:-1], made["index"], strict=False)):
            data, index = subject.files["data"], subject.files["index"]
            yield Damage("append in the middle lost", f"region {number} of both files",
                         {"data": data[:begin] + data[end:], "index": index[:start] + index[stop:]})  # fmt: skip


def other_outputs(subject: Subject, rng: random.Random) -> Iterator[Damage]:
    """Whole files of the other producer."""
    twin = subject.twin.files
    if subject.layout == "paired":
        for role in subject.files:
            yield Damage("one file of another producer's output", role, {role: twin[role]})
            yield Damage("one file of another producer's output", f"{role}, without its header",
                         {role: subject.files[role][:64] + twin[role][64:]})  # fmt: skip
    else:
        yield Damage("one file of another producer's output", "without its header",
                     {"single": subject.files["single"][:64] + twin["single"][64:]})  # fmt: skip
    yield Damage("all files of another producer's output", "all", dict(twin))


def _extents(subject: Subject) -> dict[tuple[int, int], tuple[int, int]]:
    """The begin and the end of each extent, by region and extent."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for region, extent, offset, end, _ in subject.built.blocks:
        begin, _ = found.get((region, extent), (offset, end))
        found[region, extent] = (begin, end)
    return found


def swapped_extents(subject: Subject, rng: random.Random) -> Iterator[Damage]:
    """Two extents of the same size of one region: own, or shared, or one of each."""
    role = subject.built.data
    data = subject.files[role]
    for (key, (a, b)), (other, (c, d)) in itertools.combinations(_extents(subject).items(), 2):
        if key[0] == other[0] and b - a == d - c and data[a:b] != data[c:d]:
            yield Damage("two extents of a region swapped", f"{role} {a} to {b} and {c} to {d}",
                         {role: patch(patch(data, a, data[c:d]), c, data[a:b])})  # fmt: skip


def as_before_blk_9(subject: Subject, rng: random.Random) -> Iterator[Damage]:
    """Pages of the other producer's file, with the checksums that their blocks would have without BLK-9."""
    for damage in strange_pages(subject, rng):
        if damage.kind != "page of another producer's file":
            continue
        after = {}
        for role, data in damage.after.items():
            twin, out = subject.twin.files[role], data
            for place, at in _block_places(subject):
                end = at + 24 + pad8(struct.unpack_from("<I", data, at)[0]) if place == role else at
                if place == role and data[at:end] == twin[at:end]:
                    size = struct.unpack_from("<I", data, at)[0]
                    checksum = block_crc(data[40:56], data[at : at + 20], data[at + 24 : at + 24 + size])
                    out = patch(out, at + 20, u32(checksum))
            # Without its own header, the file is refused before anything else is read.
            after[role] = out
        if not damage.what.endswith(" page 0"):
            yield Damage("page of another producer's file, without BLK-9", damage.what, after)


def as_before_reg_11(subject: Subject, rng: random.Random) -> Iterator[Damage]:
    """Shared extents without a common member that changed places, with the sequences that a reader expects there."""
    role = subject.built.data
    data, file_id = subject.files[role], subject.output.header.file_id
    spans = _extents(subject)
    for number, region in enumerate(subject.output.regions):
        for one, two in itertools.combinations(range(len(region.shared)), 2):
            members = region.shared[one].members, region.shared[two].members
            (a, b), (c, d) = (spans[number, 0xFFFFFFFE - n] for n in (one, two))
            if None in members or set(members[0] or ()) & set(members[1] or ()) or b - a != d - c:
                continue
            out = patch(patch(data, a, data[c:d]), c, data[a:b])
            for new, old in ((a, a), (c, c)):
                # One block each: the payloads change places, the sequences do not.
                head = out[new : new + 12] + data[old + 12 : old + 16] + out[new + 16 : new + 20]
                size = struct.unpack_from("<I", head)[0]
                checksum = block_crc(file_id, head, out[new + 24 : new + 24 + size])
                out = patch(out, new, head + u32(checksum))
            yield Damage("two multicasts swapped, without REG-11", f"{role} {a} and {c}", {role: out})
