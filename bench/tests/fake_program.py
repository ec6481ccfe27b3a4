"""A fake program: it reports a line, or does what FAKE says."""

import json
import os
import sys
import time
from pathlib import Path

part, rest = sys.argv[1], [word for word in sys.argv[2:] if word != "--quick"]
options = dict(zip(rest[::2], rest[1::2], strict=True))
cell = dict(word.split("=", 1) for word in rest if "=" in word)
codec = options.get("--codec") or cell.get("codec")
mode = os.environ.get("FAKE", "")
big = Path(options["--dir"]) / "big"
big.write_bytes(bytes(1000))
if mode == "hang" or mode == f"hang-{codec}":
    Path(os.environ["FAKE_STARTED"]).touch()
    time.sleep(60)
if mode == "fail":
    sys.exit("it is broken")
if mode == "trace":
    sys.exit("Exception: this\n\tat Some.where(Some.java:1)\nCaused by: that\n" + "\tat Some.where(Some.java:2)\n" * 99)
repetitions = int(options.get("--repetitions", options.get("--rounds", "1")))
line = {
    "part": part,
    "language": "rust" if "--rounds" in options else "java",
    "subject": "faro",
    "case": {"partitions": 1} | ({"codec": codec} if codec else {}),
    "seconds": [time.time() % 1000] * repetitions,
    "plain_bytes": 10,
}
with open(options["--out"], "a") as out:
    out.write("{}\n" if mode == "nonsense" else json.dumps(line) + "\n")
