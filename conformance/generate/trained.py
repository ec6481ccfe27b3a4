"""Dictionaries, and payloads that libzstd 1.5.7 compressed with them. They are kept as bytes, so that no compressor is needed."""

from __future__ import annotations

from .codecs import zstd_run
from .raw import ZSTD, Block

DICTIONARIES = 2
"""The bit of the reader feature, VER-3."""

# Trained on words of the generator (320 bytes; k 50, d 8), and on other words. Level 1, no content size, no dictionary id.
WORDS = bytes.fromhex(
    "37a430ec4b2df4262110d00a9274ffffffffffcf0d346793a224da9c244d4ad9acaaaae13f00ffffff0343002058b0f8c0b236000000048005919c2422160973811c63ca18"
    "4000000000000000000000030000000000447713ab4a32400c000000000000000000000001000000040000000800000072656164657220616e6420657874656e742074687874"
    "656e74206461746120726567696f6e2077726974657220706172746974696f6e2064617461207468652073687566666c6f20696e20626c6f636b20726567696f6e20626c6f63"
    "6b20706172746974696f6e20706172746974696f6e20657874656e74636b206461746120696e2073687566666c6520726567696f6e20666f6f7465722074686520657874656e"
    "7420706172746974207a65726f2077726974657220696e646578206f6620706172746974696f6e2072"
)
OTHERS = bytes.fromhex(
    "37a430ec25b8d86b2610c80b9274ffffffffffff0fc242da2664a7ddc8dd4d369908cccccc8c3816111111111111a133000078b838f9316d000000040000842a293d6a4a100a"
    "8234cfb19c0100000000000000000000000000000000447c006003000000000000000000000000000100000004000000080000006465706f736974732066696e616c20717569"
    "636b676c6520686167676c65207061636b6167657320616d6f6e67206361726566756c6c7920726567756c617220717569636b6c66756c6c79207061636b6167657320717569"
    "636b6c7920616d6f6e6720686167676c6520726567756c617220636172656675717569636b6c7920726571756573747320726571756573747320717569636b6c792063617265"
    "66756c6c7920667572696f757569636b6c792066696e616c20616d6f6e672066696e616c20667572"
)
TEXTS: dict[str, tuple[bytes, bytes]] = {
    "words": (
        b"of block shuffle reader region index writer reader block of the zero",
        bytes.fromhex("00000d0100c301043e57a15b4e689a44cc409ab3e6392b7405fc4ea0f93f5b80daca4f0d5b0e"),
    ),
    "extents": (
        b"index extent partition partition to zero partition shuffle index of extent extent",
        bytes.fromhex("0000f50000238102efbd399fab90df9c350306fc074b5afda23a83668f7adf7d1b8d02"),
    ),
    "deposits": (
        b"carefully haggle final quickly regular deposits regular sleep among bold requests regular",
        bytes.fromhex("0000f50000e300028dd9c9faa710bd0208fc9278e0fba48773c05c5106874db72be401"),
    ),
    "requests": (
        b"quickly bold regular haggle deposits deposits furiously packages deposits requests bold bold",
        bytes.fromhex("000005010043c102f5efa3fe2de7a87120f52f08fc93fa27213526a36cece39e19519b041d"),
    ),
}
"""By name: the text and its frame. The first two go with `WORDS`, the others with `OTHERS`."""

HEAD = WORDS[:8]
"""The shortest dictionary that DIC-4 accepts; no decoder accepts it."""
CORRUPT = WORDS[:20] + bytes([WORDS[20] ^ 0xFF]) + WORDS[21:]
"""Entropy tables that no decoder accepts."""


def with_dictionary(name: str, number: int) -> Block:
    """A block of one of the texts, compressed with the dictionary of this number."""
    plain, stored = TEXTS[name]
    return Block(plain, codec=ZSTD, stored=stored, dictionary=number)


def run(number: int, byte: bytes = b"r") -> Block:
    """A block that names a dictionary and does not need it: every decoder gives the same result."""
    block = zstd_run(byte, 100)
    return Block(block.plain, codec=ZSTD, stored=block.stored, dictionary=number)


def another(content: bytes) -> bytes:
    """The same dictionary with another id, which readers ignore (DIC-1)."""
    return content[:4] + bytes(4) + content[8:]
