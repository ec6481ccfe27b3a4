"""A testee that knows nothing of Faro: its answers follow from the bytes. Its argument names a fault that it has.

`minor`: another code for files whose version_minor is not 0. `offset`: another offset for some files. `crash`: it
crashes on some files. `write`: another byte in its files if a property is among the calls. `mend`: it changes files
that it refuses to repair. `fragment`: another byte in some fragments. `merge`: another code for long merges.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

HELLO = {
    "name": "fake",
    "version": "0",
    "language": "Python",
    "spec": "1.0-draft",
    "protocol": 1,
    "features": [],
    "operations": ["hello", "read", "check", "write", "repair", "follow", "fragment", "fragments", "merge", "stop"],
}


def refuse(request: dict[str, Any], fault: str) -> dict[str, Any]:
    roles = [role for role in ("index", "single", "data") if role in request]
    if not roles:
        return {"unsupported": "no files"}
    path = Path(request[roles[0]])
    data = path.read_bytes() if path.exists() else b""
    digest = hashlib.sha256(data).digest()
    if fault == "mend" and request["op"] == "repair" and not request.get("dry_run"):
        Path(request[roles[0]]).write_bytes(data + b"!")
    code, offset = "checksum", digest[0]
    if fault == "minor" and len(data) > 10 and data[10]:
        code = "truncated"
    if fault == "offset" and digest[1] < 64:
        offset += 1
    if fault == "crash" and digest[2] < 28:
        os._exit(7)
    return {"error": {"code": code, "file": roles[0], "offset": offset, "expected": "", "found": fault}}


def write(request: dict[str, Any], fault: str) -> dict[str, Any]:
    odd = fault == "write" and any(call["call"] == "property" for call in request["calls"])
    Path(request["path"] + ".faro").write_bytes(bytes(99) + bytes([odd]))
    return {"ok": {"errors": [], "finished": True}}


def fragment(request: dict[str, Any], fault: str) -> dict[str, Any]:
    odd = fault == "fragment" and "numbers" in request
    # The kind is 5, and there are 4 partitions.
    header = bytes(8) + bytes([5, 1, 0, 0, 4, 0, 0, 0]) + bytes(48)
    Path(request["path"]).write_bytes(header + bytes([odd]))
    return {"ok": {"blocks": 1, "length": 64, "last": False}}


def merge(request: dict[str, Any], fault: str) -> dict[str, Any]:
    code = "truncated" if fault == "merge" and len(request["steps"]) > 12 else "io"
    return {"error": {"code": code, "file": None, "offset": None, "expected": "", "found": fault}}


def main() -> None:
    fault = sys.argv[1] if len(sys.argv) > 1 else ""
    for line in sys.stdin:
        request = json.loads(line)
        op = request["op"]
        if op == "hello":
            answer: dict[str, Any] = {"ok": HELLO}
        elif op == "stop":
            answer = {"ok": {}}
        elif op == "fragment":
            answer = fragment(request, fault)
        elif op == "fragments":
            answer = {"error": {"code": "io", "file": None, "offset": None, "expected": "", "found": fault}}
        elif op == "merge":
            answer = merge(request, fault)
        else:
            answer = write(request, fault) if op == "write" else refuse(request, fault)
        print(json.dumps({"id": request["id"], **answer}), flush=True)
        if op == "stop":
            return


main()
