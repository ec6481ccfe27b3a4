"""A testee to start a fourth implementation from: `hello`, `stop`, and the first checks of opening for `read`.

It answers `unsupported` to everything that it does not implement, and the runner skips those cases. It does implement
HDR-1 for each header, OPN-1 checks 1 to 5, and OPN-2 checks 1 to 3. See fourth-implementation.md.
"""

from __future__ import annotations

import json
import struct
import sys
from typing import Any, NoReturn

MAGIC = b"\x89FARO\r\n\x1a"
TAIL_MAGIC = bytes(byte ^ 0xFF for byte in MAGIC)
# FileHeader, in the order of its table in header.md.
HEADER = struct.Struct("<8s4B3I2Q16s2I")
KIND_OF_ROLE = {"data": 1, "index": 2, "single": 3}
# FIL-3, in its order: name, index in HEADER, offset in the file.
PAIR_FIELDS = [("file_id", 10, 40), ("partition_count", 5, 12), ("first_partition", 11, 56), ("producer", 8, 24)]
PAIR_FIELDS += [("attempt", 9, 32), ("framing", 4, 11), ("reader_features", 6, 16), ("writer_features", 7, 20)]
PAIR_FIELDS += [("version_minor", 3, 10)]


class FaroError(Exception):
    """A fault, as errors.md defines it."""

    def __init__(self, code: str, file: str | None, offset: int | None, expected: object, found: object) -> None:
        self.answer = {"code": code, "file": file, "offset": offset, "expected": str(expected), "found": str(found)}
        super().__init__(code)


class UnsupportedError(Exception):
    """A request that this testee does not support."""


def crc32c(data: bytes) -> int:
    """INT-6, bit by bit: the inputs here are short."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def read_header(role: str, data: bytes) -> tuple[Any, ...]:
    """HDR-1: the checks in their order; the first that fails is reported."""

    def fail(code: str, offset: int, expected: object, found: object) -> NoReturn:
        raise FaroError(code, role, offset, expected, found)

    if data[:8] != MAGIC[: len(data)]:
        fail("not-faro", 0, MAGIC.hex(" "), data[:8].hex(" "))
    if len(data) < 64:
        fail("truncated", len(data), "64 bytes", f"{len(data)} bytes")
    header = HEADER.unpack(data[:64])
    _, kind, major, _, framing, partitions, features, _, _, _, _, first, checksum = header
    if crc32c(data[:60]) != checksum:
        fail("checksum", 0, f"stored {checksum:08x}", f"computed {crc32c(data[:60]):08x}")
    if major != 1:
        fail("unsupported-version", 9, 1, major)
    if features & 1:
        raise UnsupportedError("the reader feature selective, which a conforming reader knows")
    if features & 2:
        raise UnsupportedError("the reader feature dictionaries, which a conforming reader knows")
    if features & ~3:
        fail("unsupported-feature", 16, "known features", f"{features:#x}")
    if kind == 4:
        fail("unsupported-feature", 8, "data, index or single", "manifest")
    if kind not in (1, 2, 3, 5):
        fail("malformed-header", 8, "1, 2, 3 or 5", kind)
    if framing > 2:
        fail("malformed-header", 11, "0, 1 or 2", framing)
    if not 1 <= partitions <= 1 << 28:
        fail("malformed-header", 12, "1 to 2^28", partitions)
    if first + partitions > 1 << 28:
        fail("malformed-header", 56, "at most 2^28 with partition_count", first)
    return header


def load(role: str, path: str) -> bytes:
    """The whole file: a real reader maps it, or reads parts."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise FaroError("io", role, None, "a readable file", error) from error


def read(request: dict[str, Any]) -> NoReturn:
    """OPN-1, as far as it is implemented. The footer message would come next."""
    roles = ["single"] if "single" in request else ["index", "data"]
    files, headers = {}, {}
    for role in roles:
        files[role] = load(role, request[role])
        headers[role] = read_header(role, files[role])
        if headers[role][1] != KIND_OF_ROLE[role]:
            raise FaroError("mismatched-pair", role, 8, KIND_OF_ROLE[role], headers[role][1])
    if "data" in headers:
        for name, field, offset in PAIR_FIELDS:
            if headers["data"][field] != headers["index"][field]:
                expected, found = headers["index"][field], headers["data"][field]
                raise FaroError("mismatched-pair", "data", offset, f"{name} {expected}", found)
    check_tail(roles[0], files[roles[0]])
    raise UnsupportedError("the footer message and everything after it")


def check_tail(role: str, data: bytes) -> None:
    """OPN-2, checks 1 to 3."""
    tail = len(data) - 24
    if tail < 64 or data[-8:] != TAIL_MAGIC:
        raise FaroError("unfinished", role, len(data), "a tail", data[-8:].hex(" "))
    footer_offset, footer_size, checksum = struct.unpack("<QII", data[tail : tail + 16])
    computed = crc32c(data[tail : tail + 12] + data[-8:])
    if computed != checksum:
        raise FaroError("checksum", role, tail, f"stored {checksum:08x}", f"computed {computed:08x}")
    if footer_offset < 64 or footer_offset % 8 or footer_offset + 24 + (footer_size + 7) // 8 * 8 != tail:
        raise FaroError("inconsistent-index", role, tail, "a footer that ends here", footer_offset)


def main() -> None:
    """One request on each line, one answer on each line, in order."""
    hello = {"name": "skeleton", "version": "0", "language": "Python", "spec": "1.0-draft", "protocol": 1}
    hello |= {"features": [], "operations": ["hello", "read", "stop"]}
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any] = {"id": request["id"]}
        try:
            if request["op"] in ("hello", "stop"):
                answer["ok"] = hello if request["op"] == "hello" else {}
            elif request["op"] == "read":
                read(request)
            else:
                raise UnsupportedError(f"operation {request['op']}")
        except FaroError as error:
            answer["error"] = error.answer
        except UnsupportedError as error:
            answer["unsupported"] = str(error)
        print(json.dumps(answer), flush=True)
        if request["op"] == "stop":
            return


if __name__ == "__main__":
    main()
