"""Runs the commands of a guide and compares what they print.

Blocks of `sh` run in order, in one shell. The lines of a block of `text` must be, in this order, in the output of the
block before it; … stands for anything.
"""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

MARK = "==== block "
LIMIT_SECONDS = 600


def blocks(page: str) -> list[tuple[str, list[str]]]:
    """Commands, each with the lines that it must print."""
    found: list[tuple[str, list[str]]] = []
    for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        if language == "sh":
            found.append((text, []))
        elif language == "text":
            found[-1][1].extend(text.splitlines())
        else:
            raise ValueError(f"expected blocks of sh and text, found {language}")
    return found


def run(commands: list[str], folder: Path, environment: Mapping[str, str]) -> tuple[int, list[str]]:
    """Run the commands. Returns the status, and what each printed."""
    # What a command printed last may have no end of line.
    parts = (f"printf '\\n%s\\n' '{MARK}{i}'\n{text}" for i, text in enumerate(commands))
    script = "set -euo pipefail\n" + "".join(parts)
    shell = ["timeout", str(LIMIT_SECONDS), "bash", "-c", script]
    done = subprocess.run(
        shell, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, re.split(rf"^{MARK}\d+\n", done.stdout, flags=re.MULTILINE)[1:]


def lacks(printed: str, expected: list[str]) -> str | None:
    """The first of the expected lines that was not printed."""
    lines = iter(printed.splitlines())
    for wanted in expected:
        pattern = re.compile(".*".join(re.escape(part) for part in wanted.split("…")))
        if not any(pattern.fullmatch(line) for line in lines):
            return wanted
    return None


def faults(page: str, folder: Path, environment: Mapping[str, str], logs: str = "") -> list[str]:
    """The problems of a page, whose commands run in a folder. `logs` is a glob of logs to show if one fails."""
    steps = blocks(page)
    status, printed = run([text for text, _ in steps], folder, environment)
    found = []
    for (text, expected), output in zip(steps, printed, strict=False):
        lacking = lacks(output, expected)
        if lacking is not None:
            found.append(f"expected {lacking!r} of\n{text}found\n{output}")
    if status:
        ends = "".join(log.read_text()[-4000:] for log in sorted(folder.glob(logs))) if logs else ""
        found.append(f"{steps[len(printed) - 1][0]}ended with {status} after\n{printed[-1]}{ends}")
    return found
