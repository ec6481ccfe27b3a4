"""The report as one self-contained page."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib.resources import files
from pathlib import Path

from faro_conformance import __version__
from faro_conformance.results import Result, Run, chapter_order

# The mark, CSS class and word of each status, so that colour is never the only sign.
_STATUS = {
    "passed": ("✓", "pass", "passed"),
    "failed": ("✗", "fail", "failed"),
    "skipped": ("-", "skip", "skipped"),
    "expected-failure": ("!", "known", "failed as expected"),
    "recommended": ("~", "rec", "recommendation not followed"),
}


def write_html(run: Run, path: Path) -> None:
    """Write the page."""
    path.write_text(page(run), encoding="utf-8")


def page(run: Run) -> str:
    """The page."""
    package = files("faro_conformance")
    cases = [result for result in run.results if result.writer is None]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        "<title>Faro conformance</title>",
        f"<style>{package.joinpath('report.css').read_text(encoding='utf-8')}</style></head><body>",
        "<h1>Faro conformance</h1>",
        _totals(run),
        _problems(run),
        *_matrices(run),
        "<h2>Cases</h2>",
        '<p class="controls"><label><input type="checkbox" id="only-failures"> only results that did not pass</label> ',
        '<label>find <input type="search" id="find" placeholder="id, clause or title"></label> ',
        '<span id="shown"></span></p>',
        '<p class="legend">' + ", ".join(f'<b class="{css}">{mark}</b> {word}' for mark, css, word in _STATUS.values()),
        "</p>",
        *(_chapter(run, chapter, cases) for chapter in chapter_order(cases)),
        f"<footer>faro-conformance {escape(__version__)}</footer>",
        f"<script>{package.joinpath('report.js').read_text(encoding='utf-8')}</script></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _status(result: Result) -> tuple[str, str, str]:
    return _STATUS["recommended" if result.recommended and result.status == "failed" else result.status]


def _totals(run: Run) -> str:
    rows = []
    for name, totals in run.totals().items():
        hello = run.testees.get(name, {})
        features = hello.get("features", [])
        described = f"{hello.get('language', '')} {hello.get('version', '')}, spec {hello.get('spec', '')}"
        rows.append(
            f"<tr><th>{escape(name)}</th><td>{escape(described)}</td>"
            f"<td>{escape(', '.join(map(str, features)) if isinstance(features, list) else '')}</td>"
            f'<td class="num pass">{totals.passed}</td>'
            f'<td class="num {"fail" if totals.failed else ""}">{totals.failed}</td>'
            f'<td class="num">{totals.skipped}</td><td class="num">{totals.expected_failures}</td>'
            f'<td class="num">{totals.recommended}</td></tr>'
        )
    head = "<th>passed<th>failed<th>skipped<th>failed as expected<th>recommendations not followed"
    return (
        f"<table><thead><tr><th>testee<th>implementation<th>features{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _problems(run: Run) -> str:
    lines = [*run.errors, *(f"not started: {fault}" for fault in run.not_started.values())]
    return "".join(f'<p class="fail problem">{escape(line)}</p>' for line in lines)


def _matrices(run: Run) -> Iterable[str]:
    titles = {
        "pairs": ("Files of each writer, read by each reader", "writer ↓ reader →"),
        "canonical": ("The same bytes (codec none)", "compared with ↓ writer →"),
    }
    for op, (title, corner) in titles.items():
        results = [result for result in run.results if result.op == op]
        if results:
            yield f"<h2>{title}</h2>" + _matrix(run, results, corner)
            wrong = [result for result in results if result.status not in ("passed", "skipped")]
            yield "".join(
                f"<details><summary><b class='{_status(r)[1]}'>{_status(r)[0]}</b> {escape(r.testee)}: {escape(r.case)}"
                f"</summary>{_explanation(r)}</details>"
                for r in wrong
            )


def _matrix(run: Run, results: list[Result], corner: str) -> str:
    names = list(run.testees)
    writers = [name for name in names if any(result.writer == name for result in results)]
    rows = []
    for writer in writers:
        cells = []
        for reader in names:
            here = [r for r in results if r.writer == writer and r.testee == reader]
            tried = [r for r in here if r.status != "skipped"]
            passed = sum(r.status == "passed" for r in tried)
            css = "" if not tried else "pass" if passed == len(tried) else "fail"
            skipped = f" <small>{len(here) - len(tried)} skipped</small>" if len(here) > len(tried) else ""
            cells.append(f'<td class="{css}">{f"{passed} of {len(tried)}" if here else ""}{skipped}</td>')
        rows.append(f"<tr><th>{escape(writer)}</th>{''.join(cells)}</tr>")
    head = "".join(f"<th>{escape(name)}" for name in names)
    return f"<table><thead><tr><th>{corner}{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _chapter(run: Run, chapter: str, results: list[Result]) -> str:
    cases: dict[str, dict[str, Result]] = {}
    for result in results:
        if result.chapter == chapter:
            cases.setdefault(result.case, {})[result.testee] = result
    rows = "".join(_row(run, case, by_testee) for case, by_testee in cases.items())
    passed = sum(all(r.status in ("passed", "skipped") for r in by_testee.values()) for by_testee in cases.values())
    head = "".join(f'<th class="mark">{escape(name)}' for name in run.testees)
    return (
        f'<section><h3>{escape(chapter)} <small class="{"pass" if passed == len(cases) else "fail"}">{passed} of '
        f"{len(cases)}</small></h3><table class='cases'><thead><tr>"
        f"<th>case<th class='clauses'>clauses<th class='op'>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></section>"
    )


def _row(run: Run, case: str, by_testee: dict[str, Result]) -> str:
    first = next(iter(by_testee.values()))
    wrong = [result for result in by_testee.values() if result.status not in ("passed", "skipped")]
    cells = []
    for name in run.testees:
        if name in by_testee:
            mark, css, word = _status(by_testee[name])
            title = f"{word}: {by_testee[name].reason}" if by_testee[name].reason else word
            cells.append(f'<td class="mark {css}" title="{escape(title)}">{mark}</td>')
        else:
            cells.append("<td></td>")
    details = "".join(f"<div><b>{escape(r.testee)}</b>: {_explanation(r)}</div>" for r in wrong)
    if details:
        details = f"<details><summary>what happened</summary>{details}</details>"
    clauses = ", ".join(f"<span>{escape(clause)}</span>" for clause in first.clauses)
    return (
        f'<tr data-wrong="{int(bool(wrong))}"><td><code>{escape(case)}</code>'
        f'<div class="title">{escape(first.title)}</div>'
        f"{details}</td><td class='clauses'>{clauses}</td>"
        f"<td class='op'>{escape(first.op)}</td>{''.join(cells)}</tr>"
    )


def _explanation(result: Result) -> str:
    lines = [f"<li>{escape(str(failure))}</li>" for failure in result.failures]
    reason = f"<p>Expected: {escape(result.reason)}</p>" if result.status == "expected-failure" else ""
    return f"{reason}<ul>{''.join(lines)}</ul>"
