"""Shows outputs and shuffles. The exit codes are those of the command ``faro`` (docs/cli.md)."""

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from faro_format._command.reports import Report, of_reader, of_shuffle
from faro_format._error import ErrorFamily, FaroError
from faro_format._picture.fragments import page
from faro_format._picture.plain import printable
from faro_format._reader.reader import Reader
from faro_format._shuffle.opening import open as open_any

_USAGE, _SYSTEM, _FILE, _INTERRUPTED = 2, 3, 4, 130
_CODES = {ErrorFamily.CALLER: _USAGE, ErrorFamily.ENVIRONMENT: _SYSTEM}
_PAGE = b"<!DOCTYPE html>"
"""How a page begins."""
_MESSAGE = 1000
"""Characters of a message, at most."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: those after its name; None: those that the program was started with.

    Returns:
        The exit code.
    """
    given = _parser().parse_args(arguments)
    try:
        return _run(given.source, given.html, as_json=given.json)
    except FaroError as fault:
        return _failed(str(fault), _code_of(fault))
    except ImportError as fault:
        return _failed(str(fault), _SYSTEM)
    except BrokenPipeError:
        # The program that reads the output has ended. Python would complain when it closes standard output.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as fault:
        return _failed(str(fault), _SYSTEM)
    except KeyboardInterrupt:
        return _INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m faro_format",
        description="Shows what an output is, or all outputs of a shuffle in a folder: counts, sizes and skew.",
        epilog="exit codes: 0 success, 2 wrong arguments, 3 the system refused something, 4 a file is damaged, "
        "unfinished, or not what its format says, 130 interrupted",
    )
    parser.add_argument("source", metavar="NAME", help="an output: its NAME, one of its files, or a URL; or a folder")
    parser.add_argument("--json", action="store_true", help="print one object of JSON")
    parser.add_argument("--html", metavar="FILE", help="write a page with pictures to this file, and print nothing")
    return parser


def _run(source: str, html: str | None, *, as_json: bool) -> int:
    report = _report(source)
    if html is not None:
        _write_page(Path(html), page(f"Faro: {source}", report.html))
    if as_json:
        print(json.dumps(report.facts, indent=2))
    elif html is None:
        width = max(len(name) for name, _ in report.lines)
        for name, value in report.lines:
            print(f"{printable(name, width):{width}}  {printable(value, _MESSAGE)}".rstrip())
    sys.stdout.flush()
    return max(map(_code_of, report.faults), default=0)


def _write_page(path: Path, text: str) -> None:
    """Write a page. Another kind of file is kept: it may be what the page is about."""
    if path.is_file():
        with path.open("rb") as there:
            begin = there.read(len(_PAGE))
        if begin and begin != _PAGE:
            raise FileExistsError(errno.EEXIST, "exists, and is not a page: not replaced", str(path))
    path.write_text(text, encoding="utf-8")


def _report(source: str) -> Report:
    opened = open_any(source)
    if isinstance(opened, Reader):
        with opened:
            return of_reader(opened)
    return of_shuffle(opened)


def _code_of(fault: FaroError) -> int:
    return _CODES.get(fault.code.family, _FILE)


def _failed(message: str, code: int) -> int:
    print(f"faro_format: {printable(message, _MESSAGE)}", file=sys.stderr)
    return code
