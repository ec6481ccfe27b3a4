"""Makes the committed cases and gold files. With `--check` it only reports which committed files differ."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from generate import everything, gold

ROOT = Path(__file__).resolve().parent.parent


def same(path: Path, content: bytes) -> bool:
    """Whether a file has exactly this content."""
    return path.exists() and path.read_bytes() == content


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail when committed files differ")
    parser.add_argument(
        "--generated",
        metavar="FOLDER",
        type=Path,
        help="write the files that are too big to be committed into this folder",
    )
    arguments = parser.parse_args()
    catalog = everything.cases()
    frozen = ROOT / "gold" / gold.FOLDER
    if arguments.generated is not None:
        for path, content in catalog.generated.items():
            place = arguments.generated / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        return 0
    if arguments.check:
        changed = [f"cases/{path}" for path in catalog.differences(ROOT / "cases")]
        changed += [
            f"gold/{gold.FOLDER}/{path}" for path, content in gold.tree().items() if not same(frozen / path, content)
        ]
        for path in changed:
            print(f"differs: {path}", file=sys.stderr)
        return 1 if changed else 0
    for path, content in gold.tree().items():
        place = frozen / path
        if place.exists() and not same(place, content):
            print(f"gold files never change: {place.name}", file=sys.stderr)
            return 1
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    catalog.write(ROOT / "cases")
    print(f"{len(catalog.cases)} cases, {len(catalog.files)} files, {sum(map(len, catalog.files.values()))} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
