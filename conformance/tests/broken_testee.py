"""The Python testee with one fault, named by its argument, to see whether the suite of faults finds it."""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

_REPO = Path(__file__).parents[2]
sys.path.insert(0, str(_REPO / "python"))

# Not by an import statement, so that the type checker does not follow it into the library.
faro: Any = importlib.import_module("faro_format")
output_file: Any = importlib.import_module("faro_format._storage.output_file")

merged_file: Any = importlib.import_module("faro_format.merge._merged_file")
output_files: Any = importlib.import_module("faro_format._writer.output_files")

_end_region = merged_file.MergedFile.end_region
_append = output_file.OutputFile.append
_held: list[tuple[Any, list[bytes]]] = []


def message_first(file: Any, parts: Sequence[Any]) -> None:
    """Data is written after the message that commits it."""
    if file.place.role == "data":
        _held.append((file, [bytes(part) for part in parts]))
        file.position += sum(map(len, parts))
        return
    _append(file, parts)
    for held, pieces in _held:
        held.position -= sum(map(len, pieces))
        _append(held, pieces)
    _held.clear()


def late_data(file: Any) -> None:
    """A merge writes the data of a region after its message."""
    with patch.object(file, "write_waiting", lambda: None):
        _end_region(file)
    file.write_waiting()


class CarelessSystem:
    """Pretends that bytes were written."""

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    @staticmethod
    def writev(descriptor: int, parts: Sequence[Any]) -> int:
        os.writev(descriptor, parts)
        return sum(map(len, parts))


def forgetful(writer: Any, action: Any) -> Any:
    """The writer continues after an error."""
    return action()


def trusting(*arguments: Any, **options: Any) -> Any:
    """A reader that does not verify blocks."""
    return _reader(*arguments, **{**options, "verify": False})


_reader = faro.Reader


def replace(owner: object, name: str, broken: object) -> None:
    """Replace an attribute that exists: a name that the library no longer has would break nothing."""
    patch.object(owner, name, broken).start()


def main() -> None:
    """Apply the fault and run the testee."""
    kind = sys.argv[1]
    if kind == "message-first":
        replace(output_file.OutputFile, "append", message_first)
    elif kind == "short-writes":
        replace(output_file, "os", CarelessSystem())
    elif kind == "forgetful":
        replace(faro.Writer, "_guarded", forgetful)
    elif kind == "leftovers":
        replace(output_files.OutputFiles, "discard", output_files.OutputFiles.close)
    elif kind == "late-data":
        replace(merged_file.MergedFile, "end_region", late_data)
    elif kind == "keeps-refused":
        replace(merged_file.MergedFile, "give_up_push", lambda _: None)
    elif kind == "trusting":
        replace(faro, "Reader", trusting)
    else:
        raise ValueError(kind)
    testees = _REPO / "conformance" / "testees"
    sys.path.insert(0, str(testees))
    runpy.run_path(str(testees / "python_testee.py"), run_name="__main__")


if __name__ == "__main__":
    main()
