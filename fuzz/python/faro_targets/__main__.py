"""`verdicts CORPUS` and `transcript TARGET FILE` (VERDICTS.md)."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

from faro_targets.folder import Folder
from faro_targets.targets import TARGETS, run


def entries(corpus: Path, target: str) -> list[Path]:
    """The entries of a target by name; none if it has no folder."""
    folder = corpus / target
    return sorted(path for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []


def _verdict(target: str, entry: Path, folder: Folder) -> str:
    try:
        return run(target, entry.read_bytes(), folder).verdict()
    except Exception:
        print(f"{target} {entry.name}:\n{traceback.format_exc()}", file=sys.stderr)
        return "broken -"


def main(arguments: list[str]) -> int:
    """Print what the targets saw."""
    with Folder() as folder:
        if arguments[:1] == ["verdicts"] and len(arguments) == 2:
            for target in sorted(TARGETS):
                for entry in entries(Path(arguments[1]), target):
                    print(target, entry.name, _verdict(target, entry, folder))
        elif arguments[:1] == ["transcript"] and len(arguments) == 3:
            print(run(arguments[1], Path(arguments[2]).read_bytes(), folder), end="")
        else:
            print("verdicts CORPUS | transcript TARGET FILE", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
