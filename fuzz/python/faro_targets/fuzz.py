"""One target under Atheris: `python -m faro_targets.fuzz TARGET [libFuzzer's options and corpora]`."""

from __future__ import annotations

import atexit
import sys
import zlib

import atheris

# Coverage is counted in the library that the targets import, not in the targets.
with atheris.instrument_imports(include=["faro_format"]):
    from faro_targets.folder import Folder
    from faro_targets.targets import run, run_twice

# One input of this many runs twice, as a second run costs as much as another input.
_TWICE = 16


def main() -> None:
    """Fuzz until libFuzzer ends the process."""
    target = sys.argv.pop(1)
    folder = Folder()
    atexit.register(folder.close)

    def one(raw: bytes) -> None:
        if zlib.crc32(raw) % _TWICE == 0:
            run_twice(target, raw, folder)
        else:
            run(target, raw, folder)

    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
