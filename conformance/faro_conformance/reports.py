"""Reports of a run: on a terminal, as JUnit XML and as JSON. report_html makes the page."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TextIO
from xml.etree import ElementTree

from faro_conformance import __version__
from faro_conformance.results import Result, Run, Totals, chapter_order, count

_MARKS = {"passed": ".", "failed": "F", "skipped": "s", "expected-failure": "x"}
_LINE = 100


class Terminal:
    """One character for each result, then the failures, then one line of totals for each testee."""

    def __init__(self, out: TextIO | None = None, verbose: bool = False) -> None:
        self._out = sys.stdout if out is None else out
        self._verbose = verbose
        self._column = 0

    def result(self, result: Result) -> None:
        """Show a result."""
        if self._verbose:
            reason = f" ({result.reason})" if result.reason else ""
            print(f"{result.testee}: {result.case}: {result.status}{reason}", file=self._out)
            return
        mark = "r" if result.recommended and result.status == "failed" else _MARKS[result.status]
        self._column += 1
        print(mark, end="\n" if self._column % _LINE == 0 else "", file=self._out, flush=True)

    def summary(self, run: Run) -> None:
        """Show the failures and the totals."""
        if self._column % _LINE and not self._verbose:
            print(file=self._out)
        for result in run.results:
            if result.status == "failed":
                word = "not followed" if result.recommended else "FAILED"
                clauses = f" [{', '.join(result.clauses)}]" if result.clauses else ""
                print(f"{word} {result.testee}: {result.case}{clauses}: {result.title}", file=self._out)
                for failure in result.failures:
                    print(f"    {_printable(str(failure))}", file=self._out)
        for error in run.errors:
            print(f"ERROR {error}", file=self._out)
        for fault in run.not_started.values():
            print(f"NOT STARTED {_printable(fault)}", file=self._out)
        self._skips(run)
        for name, totals in run.totals().items():
            print(f"{name}: {totals}", file=self._out)

    def _skips(self, run: Run) -> None:
        for name in run.testees:
            reasons = Counter(r.reason for r in run.results if r.testee == name and r.status == "skipped")
            for reason, number in sorted(reasons.items()):
                print(f"{name}: skipped {number}: {_printable(reason)}", file=self._out)


def write_junit(run: Run, path: Path) -> None:
    """The run as JUnit XML: a suite for each testee, the chapter as class name."""
    root = ElementTree.Element("testsuites", name="faro-conformance")
    for name in run.testees:
        results = [result for result in run.results if result.testee == name]
        totals = Totals()
        for result in results:
            count(totals, result)
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=name,
            tests=str(len(results)),
            failures=str(totals.failed),
            errors="0",
            skipped=str(totals.skipped + totals.expected_failures + totals.recommended),
            time=f"{sum(result.seconds for result in results):.3f}",
        )
        for result in results:
            _junit_case(suite, result)
    for number, error in enumerate([*run.errors, *run.not_started.values()]):
        suite = ElementTree.SubElement(root, "testsuite", name="suite", tests="1", failures="0", errors="1")
        case = ElementTree.SubElement(suite, "testcase", classname="suite", name=f"error-{number}")
        ElementTree.SubElement(case, "error", message=_printable(error))
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _junit_case(suite: ElementTree.Element, result: Result) -> None:
    case = ElementTree.SubElement(
        suite, "testcase", classname=f"{result.testee}.{result.chapter}", name=result.case, time=f"{result.seconds:.3f}"
    )
    if result.status == "failed" and not result.recommended:
        text = "\n".join(_printable(str(failure)) for failure in result.failures)
        ElementTree.SubElement(case, "failure", message=_printable(result.failures[0].outcome)).text = text
    elif result.status != "passed":
        reason = result.reason or "recommendation not followed"
        ElementTree.SubElement(case, "skipped", message=_printable(f"{result.status}: {reason}"))


def write_json(run: Run, path: Path) -> None:
    """The run as JSON, for programs."""
    report = {
        "version": 1,
        "runner": __version__,
        "testees": run.testees,
        "not_started": run.not_started,
        "errors": run.errors,
        "totals": {name: asdict(totals) for name, totals in run.totals().items()},
        "results": [{**asdict(result), "chapter": result.chapter} for result in run.results],
        "chapters": chapter_order(run.results),
    }
    path.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _printable(text: str) -> str:
    """The text without control characters, which could control a terminal or break XML."""
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in text)
