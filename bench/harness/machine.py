"""The machine and the versions of a run."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]


def machine(folder: Path) -> dict[str, Any]:
    """The machine, and the filesystem of the folder that is written to."""
    cpu = next(
        (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor() or platform.machine(),
    )
    return {
        "cpu": cpu,
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": f"{platform.system()} {platform.release()}",
        "filesystem": filesystem(folder, _lines("/proc/self/mounts")),
    }


def filesystem(folder: Path, mounts: list[str]) -> str:
    """The type of a folder's filesystem and its options, by the lines of /proc/mounts."""
    found, best = "unknown", -1
    for line in mounts:
        _, point, kind, options, *_ = line.split()
        place = Path(point.replace("\\040", " "))
        if len(place.parts) >= best and folder.resolve().is_relative_to(place):
            found, best = f"{kind} ({options})", len(place.parts)
    return found


def versions() -> dict[str, str]:
    """Versions of the tools that build and run the programs."""
    found = {"python": platform.python_version()}
    for name in ("numpy", "pyarrow", "google-crc32c", "lz4", "zstandard"):
        found[name] = metadata.version(name)
    found["rustc"] = _first(["rustc", "--version"])
    found["java"] = _first(["java", "-version"])
    found["flink"] = jar("flink-runtime", _lines(str(REPOSITORY / "java/faro-flink/target/classpath")))
    found["spark"] = jar("spark-core_2.1[23]", _lines(str(REPOSITORY / "java/faro-spark/target/classpath")))
    return found


def jar(name: str, classpath: list[str]) -> str:
    """The version of a jar in the class path of what was built."""
    found = re.search(name + r"-([0-9.]+)\.jar", "".join(classpath))
    return found[1] if found else "unknown"


def commit() -> tuple[str, bool]:
    """The revision, and whether files differ from it."""
    changed = bool(_output(["git", "--no-optional-locks", "status", "--porcelain", "--untracked-files=no"]))
    return _output(["git", "rev-parse", "HEAD"]), changed


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return (done.stdout or done.stderr).strip()


def _first(command: list[str]) -> str:
    return (_output(command).splitlines() or ["unknown"])[0]
