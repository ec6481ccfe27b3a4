"""`verdicts CORPUS` and `transcript TARGET FILE` (VERDICTS.md)."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import pack
from faro_targets.folder import Folder
from faro_targets.targets import TARGETS, run


def entries(corpus: Path, target: str) -> Iterator[tuple[str, bytes]]:
    """The name and the bytes of each input in the pack of a target; none if there is no pack."""
    path = pack.targets(corpus).get(target)
    for raw in pack.decode(path.read_bytes()) if path is not None else ():
        yield pack.name_of(raw), raw


def _verdict(target: str, name: str, raw: bytes, folder: Folder) -> str:
    try:
        return run(target, raw, folder).verdict()
    except Exception:
        print(f"{target} {name}:\n{traceback.format_exc()}", file=sys.stderr)
        return "broken -"


def main(arguments: list[str]) -> int:
    """Print what the targets saw."""
    with Folder() as folder:
        if arguments[:1] == ["verdicts"] and len(arguments) == 2:
            for target in sorted(TARGETS):
                for name, raw in entries(Path(arguments[1]), target):
                    print(target, name, _verdict(target, name, raw, folder))
        elif arguments[:1] == ["transcript"] and len(arguments) == 3:
            print(run(arguments[1], Path(arguments[2]).read_bytes(), folder), end="")
        else:
            print("verdicts CORPUS | transcript TARGET FILE", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
