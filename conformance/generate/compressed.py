"""Cases of compression: COD."""

from __future__ import annotations

from dataclasses import replace

from . import base
from .catalog import Catalog, fault
from .codecs import lz4_block, lz4_repeat, lz4_sequence, zstd_chunk, zstd_frame, zstd_run
from .output import Output, Region, Shared, build
from .raw import LZ4, OPAQUE, ZSTD, Block, Header

# One compressed block of a frame is enough: what a decoder does inside it is not specified here.
# It was made by libzstd 1.5.7 (level 1, no content size) of `TEXT`, without its magic number.
TEXT = b"the of shuffle and partition region block extent to data in writer " * 12
TEXT_FRAME = bytes.fromhex(
    "000015020032040e159035cd01084caefe86e7dbbe6dbf7177777172871c67d512f0d9542263ef55033521e0093eb4a1f243ab35a9981c5da794c31817bc4c0301008337a30a51"
)


def zstd(stored: bytes, plain: bytes, plain_size: int | None = None) -> Block:
    """A block of codec 2."""
    return Block(plain, codec=ZSTD, stored=stored, plain_size=plain_size)


def valid_lz4(cat: Catalog) -> None:
    """LZ4 blocks that every decoder accepts."""
    blocks = [
        ("run", lz4_block(b"a", 100, b"tail5")),
        ("repeat", lz4_block(b"words and ", 300, b"the last literals")),
        ("long-match", lz4_block(b"xyz", 70_000, b"12345")),
        ("long-literals", lz4_block(bytes(range(256)) + bytes(range(44)), 1200, b"ending literals")),
    ]
    for name, block in blocks:
        cat.valid(f"cod-2-lz4-{name}", "COD-2 COD-1", f"an LZ4 block: {name}", base.one(block))
    two = lz4_sequence(b"abcd", 4, 20) + lz4_sequence(b"efgh", 2, 30) + lz4_sequence(b"final")
    plain = b"abcd" * 6 + b"efgh" + b"gh" * 15 + b"final"
    cat.valid("cod-2-lz4-two-matches", "COD-2", "two LZ4 sequences with matches", base.one(Block(plain, 0, LZ4, two)))
    mixed = [lz4_block(b"-", 64, b"12345"), Block(b"plain between"), zstd_run(b"z", 500), base.event(b"e" * 40)]
    cat.valid("cod-mixed-codecs", "COD-1 BLK-2", "blocks of all codecs in one extent", base.many_blocks(mixed))
    shared = Region(shared=[Shared([lz4_block(b"to all ", 140, b"12345"), zstd_run(b"s", 99)])])
    cat.valid("cod-shared", "COD-1 BLK-4", "compressed blocks in a shared extent",
              Output(Header(framing=OPAQUE), [shared]))  # fmt: skip


def invalid_lz4(cat: Catalog) -> None:
    """Damaged LZ4 blocks with a correct checksum."""
    plain, good = lz4_repeat(b"words and ", 300, b"the last literals")
    size = len(plain)
    bads = [
        ("too-long", good, size - 1), ("too-short", good, size + 1), ("twice", good + b"\x00", size),
        ("byte-after", good + b"\x50", size), ("cut", good[:-1], size), ("cut-in-match", good[:12], size),
        ("only-token", b"\xf0", 100), ("length-without-end", b"\xff" * 20, 300),
        ("distance-before-start", lz4_sequence(b"abcd", 5, 50) + lz4_sequence(b"final"), 59),
        ("ends-with-match", lz4_sequence(b"abcd", 4, 96), 100),
        ("last-literals-4", lz4_sequence(b"abcd", 4, 92) + lz4_sequence(b"last"), 100),
        ("frame", bytes.fromhex("04224d18644082") + good, size),
        ("length-prefix", size.to_bytes(4, "little") + good, size),
        ("literals-past-end", b"\xa0" + b"123", 30), ("token-zero", b"\x00", 30),
    ]  # fmt: skip
    for name, stored, claimed in bads:
        block = Block(b"?", codec=LZ4, stored=stored, plain_size=claimed)
        built = build(base.one(block))
        cat.bad_block(f"cod-2-lz4-bad-{name}", "COD-2 COD-1 BLK-7", f"a damaged LZ4 block: {name}", built, block,
                      fault("malformed-block", "single", base.where(built, block) + 24), level="decode")  # fmt: skip


def valid_zstd(cat: Catalog) -> None:
    """Frames that every decoder accepts."""
    run, raw = zstd_chunk(1, b"r", 600), zstd_chunk(0, b"raw bytes", last=False)
    text = len(TEXT)
    frames = [
        ("run", zstd_frame(run), b"r" * 600),
        ("run-single-segment", zstd_frame(zstd_chunk(1, b"r", 200), None, 200), b"r" * 200),
        ("single-segment-2", zstd_frame(run, None, 600, 1), b"r" * 600),
        ("single-segment-4", zstd_frame(run, None, 600, 2), b"r" * 600),
        ("single-segment-8", zstd_frame(run, None, 600, 3), b"r" * 600),
        ("size-2", zstd_frame(run, 0, 600, 1), b"r" * 600),
        ("size-4", zstd_frame(run, 0, 600, 2), b"r" * 600),
        ("size-8", zstd_frame(run, 0, 600, 3), b"r" * 600),
        ("raw-then-run", zstd_frame(raw + run), b"raw bytes" + b"r" * 600),
        ("empty-last-block", zstd_frame(zstd_chunk(1, b"r", 600, False) + zstd_chunk(0, b"")), b"r" * 600),
        ("text", TEXT_FRAME, TEXT),
        ("window-mantissa", zstd_frame(run, 0x07), b"r" * 600),
        ("window-8mib", zstd_frame(run, 13 << 3), b"r" * 600),
        ("run-largest", zstd_frame(zstd_chunk(1, b"L", 131_072), 7 << 3), b"L" * 131_072),
    ]
    for name, stored, plain in frames:
        cat.valid(f"cod-3-zstd-{name}", "COD-3 COD-4 COD-1", f"a Zstandard frame: {name}",
                  base.one(zstd(stored, plain)))  # fmt: skip
    sized = bytes([TEXT_FRAME[0] & 0x3F | 0x40, TEXT_FRAME[1]]) + (text - 256).to_bytes(2, "little") + TEXT_FRAME[2:]
    cat.valid("cod-4-zstd-text-sized", "COD-4", "a compressed block in a frame with a content size",
              base.one(zstd(sized, TEXT)))  # fmt: skip
    for name, window, descriptor in (("least", 1024, 0), ("mantissa", 1024 + 7 * 128, 7), ("16k", 16384, 4 << 3)):
        block = zstd(zstd_frame(run, descriptor), b"r" * 600)
        cat.valid(f"lim-1-window-at-{name}", "LIM-1 COD-4", f"max_window_size is exactly the frame's, {window}",
                  base.one(block), request={"limits": {"max_window_size": window}})  # fmt: skip
        built = build(base.one(block))
        cat.bad_block(f"lim-1-window-above-{name}", "LIM-1 COD-4", f"the frame's window is {window}, one too many", built,
                      block, fault("limit-exceeded", "single", base.where(built, block) + 24), level="decode",
                      request={"limits": {"max_window_size": window - 1}})  # fmt: skip
    block = zstd(zstd_frame(run, None, 600, 1), b"r" * 600)
    cat.valid("lim-1-window-at-single-segment", "LIM-1 COD-4", "the window of a single segment is its content size",
              base.one(block), request={"limits": {"max_window_size": 600}})  # fmt: skip
    built = build(base.one(block))
    cat.bad_block("lim-1-window-above-single-segment", "LIM-1 COD-4", "a single segment above max_window_size", built,
                  block, fault("limit-exceeded", "single", base.where(built, block) + 24), level="decode",
                  request={"limits": {"max_window_size": 599}})  # fmt: skip


def invalid_zstd(cat: Catalog) -> None:
    """Each rule of COD-4."""
    run = zstd_chunk(1, b"r", 600)
    bads: list[tuple[str, bytes, int, str]] = [
        *((f"1-flag-{bit}", zstd_frame(run, flags=1 << bit), 600, "malformed-block") for bit in range(5)),
        ("1-empty", b"", 600, "malformed-block"),
        ("2-no-window", b"\x00", 600, "malformed-block"),
        ("3-size-less", zstd_frame(run, 0, 599, 1), 600, "malformed-block"),
        ("3-size-more", zstd_frame(run, 0, 601, 2), 600, "malformed-block"),
        ("3-size-huge", zstd_frame(run, 0, (1 << 64) - 1, 3), 600, "malformed-block"),
        ("3-size-wraps", zstd_frame(run, 0, (1 << 32) + 600, 3), 600, "malformed-block"),
        ("3-single-size-byte", zstd_frame(run, None, 600 & 0xFF), 600, "malformed-block"),
        ("3-cut", b"\xc0\x00\x58\x02", 600, "malformed-block"),
        ("4-window-16mib", zstd_frame(run, 14 << 3), 600, "limit-exceeded"),
        ("4-window-by-mantissa", zstd_frame(run, 13 << 3 | 1), 600, "limit-exceeded"),
        ("4-window-most", zstd_frame(run, 0xFF), 600, "limit-exceeded"),
        ("5-type-3", zstd_frame(zstd_chunk(3, b"r", 600)), 600, "malformed-block"),
        ("5-no-block", b"\x00\x00", 600, "malformed-block"),
        ("5-header-cut", zstd_frame(run)[:4], 600, "malformed-block"),
        ("5-content-cut", zstd_frame(run)[:5], 600, "malformed-block"),
        ("5-raw-past-end", zstd_frame(zstd_chunk(0, b"1234", 600)), 600, "malformed-block"),
        ("5-not-last", zstd_frame(zstd_chunk(1, b"r", 600, False)), 600, "malformed-block"),
        ("5-byte-after", zstd_frame(run) + b"\x00", 600, "malformed-block"),
        ("5-second-frame", zstd_frame(run) + bytes.fromhex("28b52ffd") + zstd_frame(run), 1200, "malformed-block"),
        ("5-skippable-frame", zstd_frame(run) + bytes.fromhex("502a4d1800000000"), 600, "malformed-block"),
        ("5-checksum-after", zstd_frame(run) + bytes(4), 600, "malformed-block"),
        ("5-block-above-window", zstd_frame(zstd_chunk(1, b"r", 1025)), 1025, "malformed-block"),
        ("5-block-above-128k", zstd_frame(zstd_chunk(1, b"r", 131_073), 8 << 3), 131_073, "malformed-block"),
        ("magic-in-front", bytes.fromhex("28b52ffd") + zstd_frame(run), 600, "malformed-block"),
        ("plain-less", zstd_frame(run), 599, "malformed-block"),
        ("plain-more", zstd_frame(run), 601, "malformed-block"),
        ("content-damaged", TEXT_FRAME[:8] + b"\xff\xff\xff" + TEXT_FRAME[11:], len(TEXT), "malformed-block"),
        ("order-1-3", zstd_frame(run, 0, 3, 2, flags=4), 600, "malformed-block"),
        ("order-3-4", zstd_frame(run, 14 << 3, 5, 2), 600, "malformed-block"),
        ("order-4-5", zstd_frame(zstd_chunk(3, b"r", 600), 14 << 3), 600, "limit-exceeded"),
        ("order-4-1", zstd_frame(run, 14 << 3, flags=8), 600, "malformed-block"),
        ("bomb", zstd_frame(b"".join(zstd_chunk(1, b"b", 131_072, n == 63) for n in range(64)), 7 << 3), 1000,
         "malformed-block"),
    ]  # fmt: skip
    for name, stored, claimed, code in bads:
        clause = "COD-4 COD-3 BLK-7" if name[0].isdigit() or name.startswith("order") else "COD-1 COD-3"
        block = zstd(stored, b"?", claimed)
        built = build(base.one(block))
        cat.bad_block(f"cod-4-zstd-bad-{name}", clause, f"a frame that is refused: {name}", built, block,
                      fault(code, "single", base.where(built, block) + 24), level="decode")  # fmt: skip
    block = replace(zstd_run(b"r", 600), padding=bytes(1) + b"\x01")
    built = build(base.one(block))
    cat.bad_block("blk-7-order-11-12", "BLK-7 COD-4", "padding is checked before the payload is decoded", built, block,
                  fault("malformed-block", "single", base.where(built, block) + 24 + 7))  # fmt: skip


def add(cat: Catalog) -> None:
    """All of them."""
    for part in (valid_lz4, invalid_lz4, valid_zstd, invalid_zstd):
        part(cat)
