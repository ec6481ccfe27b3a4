"""A testee that does what its script says, to see whether the runner notices.

The script is a JSON file: {"hello": {...}, "rules": [{"op": ..., "contains": text of the request, "do": action}, ...]}.
The first rule that matches a request decides; if none does, the answer is `unsupported`. Actions: {"ok": ...},
{"error": ...}, {"unsupported": ...}, "crash", "abort", "hang", "garbage", "wrong-id", "twice", "close", {"raw": text},
{"write": {suffix: hex}, "ok": ...}: make the files of `path`; {"overwrite": {role: hex}, "ok": ...}: its files;
{"sha256": {role: digest}, "ok": ..., "error": ..., "crash_on": digest, "accept": digest}: ok for these files only;
{"eat": bytes}: take memory; {"spin": bytes}: compute for as long as the square of the files' size, in units of these.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

HELLO: dict[str, Any] = {
    "name": "fake",
    "version": "0",
    "language": "Python",
    "spec": "1.0-draft",
    "protocol": 1,
    "features": ["lz4"],
    "operations": ["hello", "read", "check", "write", "repair", "follow", "stop"],
}


def say(value: object) -> None:
    print(json.dumps(value), flush=True)


def perform(action: Any, request: dict[str, Any]) -> None:
    number = request["id"]
    if action == "crash":
        print("about to crash", file=sys.stderr, flush=True)
        os._exit(7)
    if action == "abort":
        os.abort()
    if action == "hang":
        time.sleep(600)
    if action == "garbage":
        print("Segmentation fault? No, a log line on the wrong stream", flush=True)
    elif action == "wrong-id":
        say({"id": number + 1, "ok": {}})
    elif action == "twice":
        say({"id": number, "unsupported": "once"})
        say({"id": number, "unsupported": "twice"})
    elif action == "close":
        os.close(1)
        time.sleep(600)
    elif "raw" in action:
        print(action["raw"], flush=True)
    elif "eat" in action:
        held = bytearray(action["eat"])
        say({"id": number, "unsupported": f"held {len(held)}"})
    elif "spin" in action:
        size = sum(Path(request[role]).stat().st_size for role in ("data", "index", "single") if role in request)
        end = time.process_time() + (size / action["spin"]) ** 2
        while time.process_time() < end:
            pass
        say({"id": number, "unsupported": "done"})
    elif "sha256" in action:
        digests = {role: hashlib.sha256(Path(request[role]).read_bytes()).hexdigest() for role in action["sha256"]}
        if action.get("crash_on") in digests.values():
            os._exit(7)
        passes = digests == action["sha256"] or action.get("accept") in digests.values()
        say({"id": number, "ok": action["ok"]} if passes else {"id": number, "error": action["error"]})
    else:
        for suffix, data in action.get("write", {}).items():
            Path(request["path"] + suffix).write_bytes(bytes.fromhex(data))
        for role, data in action.get("overwrite", {}).items():
            Path(request[role]).write_bytes(bytes.fromhex(data))
        say({"id": number, **{name: action[name] for name in ("ok", "error", "unsupported") if name in action}})


def main() -> None:
    script = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "hello" and "hello" not in {rule["op"] for rule in script["rules"]}:
            say({"id": request["id"], "ok": {**HELLO, **script.get("hello", {})}})
            continue
        if request["op"] == "stop" and "stop" not in {rule["op"] for rule in script["rules"]}:
            say({"id": request["id"], "ok": {}})
            return
        for rule in script["rules"]:
            if rule["op"] == request["op"] and rule.get("contains", "") in line:
                perform(rule["do"], request)
                break
        else:
            say({"id": request["id"], "unsupported": "not in the script"})


if __name__ == "__main__":
    main()
