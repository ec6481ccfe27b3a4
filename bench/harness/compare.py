"""`bench/compare`: whether anything got slower than in earlier results, relative to the limits of each run.

Absolute times of two runs say little: machines and hours differ. So ratios are compared: that of a subject to the
limit that took turns with it, which is raw writes, raw reads, memcpy, or the codec alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.figures import Results, Spread, ratio
from harness.lines import Key, Line, LineError, parse
from harness.machine import REPOSITORY
from harness.store import MACHINES, Bench, slug
from harness.verdicts import short_name

SAME, WORSE, USAGE = 0, 1, 2
LIMITS = (
    "codec",
    "raw-write",
    "raw-pread-crc",
    "pread-crc-arrow",
    "raw-pread",
    "memcpy",
    "plain-file",
    "flink-pipelined",
    "flink-selective",
    "flink-sort",
    "spark-push",
    "spark-sort",
)
"""The limits of subjects: the first of these that the same case has, in the same language if possible. The limit of a
whole job is the same job with the engine's own shuffle."""

_EPILOG = """\
A subject is worse if the median of its ratios to the limit is more than the threshold below its lowest ratio in the
earlier run. So a subject with a wide spread has to fall further. Peers are not judged, only Faro's own subjects.
A folder of results, or a revision, is asked for the machine with the same processor. If it has none, the lowest ratio
of all its machines counts.

exit codes: 0 nothing is worse; 1 something is worse, or gone; 2 wrong usage, or not a file of results
"""


@dataclass(frozen=True)
class Change:
    """The change of one subject in one case."""

    part: str
    subject: str
    case: str
    limit: str
    before: Spread
    after: Spread | None
    """None if it is gone."""

    def is_worse(self, threshold: float) -> bool:
        """Whether it fell by more than a share below its lowest ratio."""
        return self.after is None or self.after.median < (1 - threshold) * self.before.least

    @property
    def factor(self) -> float | None:
        """How the medians moved."""
        return None if self.after is None else self.after.median / self.before.median


def measured(lines: list[Line]) -> dict[tuple[str, tuple[str, str], Key], tuple[str, Spread]]:
    """The ratios of Faro's subjects to their limits."""
    results = Results(lines)
    found = {}
    for line in lines:
        if not line.subject.startswith("faro"):
            continue
        limit = _limit(results, line)
        if limit is not None:
            found[line.part, line.name, line.key] = (" ".join(limit.name), ratio(line, limit))
    return found


def _limit(results: Results, line: Line) -> Line | None:
    for subject in LIMITS:
        for language in (line.language, "rust", "java", "python"):
            limit = results.peer(line, language, subject)
            if limit is not None:
                return limit
    return None


def compare(before: Sequence[list[Line]], after: list[Line]) -> list[Change]:
    """The changes of everything that was measured before. Of several earlier results, the lowest of each counts."""
    old: dict[tuple[str, tuple[str, str], Key], tuple[str, Spread]] = {}
    for lines in before:
        for key, found in measured(lines).items():
            if key not in old or found[1].least < old[key][1].least:
                old[key] = found
    new = measured(after)
    changes = []
    for key, (limit, spread) in old.items():
        part, name, case = key
        now = new.get(key)
        # Ratios to different limits cannot be compared.
        kept = now[1] if now is not None and now[0] == limit else None
        changes.append(Change(part, " ".join(name), short_name(case), limit, spread, kept))
    return changes


def load(text: str, name: str) -> Bench:
    """The results in a text.

    Raises:
        LineError: it holds no results.
    """
    try:
        bench: Bench = json.loads(text)
        return bench | {"lines": parse(bench["results"], name), "slug": slug(bench["machine"])}
    except (json.JSONDecodeError, KeyError, TypeError) as fault:
        raise LineError(f"{name}: no results of the benchmarks: {fault!r}") from fault


def earlier(name: str, machine: str) -> list[list[Line]]:
    """Earlier results, of a file, a folder or a revision: those of a machine, or of all if it has none.

    Raises:
        LineError: there is no such file or revision, or it holds no results.
    """
    path = Path(name)
    if path.is_file():
        return [load(path.read_text(), name)["lines"]]
    if path.is_dir():
        texts = {file.stem: file.read_text() for file in sorted(path.glob("*.json"))}
    else:
        files = _git("ls-tree", "--name-only", name, f"{MACHINES}/").split()
        texts = {Path(file).stem: _git("show", f"{name}:{file}") for file in files if file.endswith(".json")}
    if not texts:
        raise LineError(f"{name}: no results in it")
    chosen = {machine: texts[machine]} if machine in texts else texts
    return [load(text, f"{name}: {stem}")["lines"] for stem, text in chosen.items()]


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LineError(f"{' '.join(arguments)}: no such file, and no revision: {done.stderr.strip()}")
    return done.stdout


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="bench/compare",
        description="Compare results with earlier ones, by ratios to the limits of their own runs.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("after", type=Path, help="the results of a run: a file of bench/run")
    parser.add_argument(
        "--before",
        default=str(REPOSITORY / MACHINES),
        metavar="WHAT",
        help=f"a file, a folder or a revision with earlier results; default {MACHINES}",
    )
    parser.add_argument("--threshold", type=float, default=0.1, metavar="SHARE", help="default 0.1: ten percent")
    parser.add_argument(
        "--allow-missing", action="store_true", help="what is gone is not worse: for a run of some parts"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code."""
    parser = build_parser()
    options = parser.parse_args(arguments)
    if not 0 <= options.threshold < 1:
        parser.error("--threshold has to be from 0 to below 1")
    try:
        after = load(options.after.read_text(), str(options.after))
        changes = compare(earlier(options.before, after["slug"]), after["lines"])
    except (LineError, OSError) as fault:
        print(f"bench/compare: {fault}", file=sys.stderr)
        return USAGE
    if not changes:
        print("bench/compare: nothing was measured beside a limit before", file=sys.stderr)
        return USAGE
    if options.allow_missing:
        changes = [change for change in changes if change.after is not None]
    worse = [change for change in changes if change.is_worse(options.threshold)]
    if options.json:
        print(json.dumps({"compared": len(changes), "worse": [_json(change) for change in worse]}, indent=1))
    else:
        for change in sorted(changes, key=lambda change: change.factor or 0):
            print(_text(change, worse=change in worse))
        print(f"{len(changes)} compared, {len(worse)} worse")
    return WORSE if worse else SAME


def _json(change: Change) -> dict[str, Any]:
    return asdict(change) | {"factor": change.factor}


def _text(change: Change, *, worse: bool) -> str:
    told = f"{change.before.median:.3f} of {change.limit} ({change.before.least:.3f} to {change.before.most:.3f})"
    if change.after is None or change.factor is None:
        now = "gone"
    else:
        now = (
            f"{change.after.median:.3f} ({change.after.least:.3f} to {change.after.most:.3f}), {change.factor - 1:+.1%}"
        )
    mark = "WORSE" if worse else "     "
    return f"{mark} {change.part} {change.subject} {change.case}: {told}, now {now}"


if __name__ == "__main__":
    sys.exit(main())
