"""Pieces of HTML: facts in a table, bars and a heat map as SVG, and a page of them.

Nothing in them runs, and nothing is fetched. Colours are the text's own, so they fit light and dark pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from faro_format._picture.plain import escaped, size, thousands
from faro_format._picture.sizes import Sizes

BARS = 128
"""Bars of a picture, at most."""
_WIDTH, _HEIGHT = 640, 96
_ROW = 10
"""The height of a row of a heat map, at least 2."""
_TABLE = 'style="border-collapse:collapse;margin:.3em 0"'
_CELL = 'style="text-align:left;padding:.1em .8em .1em 0;vertical-align:top"'


def facts(title: str, rows: Iterable[tuple[str, str]], *more: str) -> str:
    """Return a title, a table with a fact in each row, and pieces of HTML below it.

    Args:
        title: text; it is escaped.
        rows: names and values; both are escaped.
        more: HTML.
    """
    cells = "".join(
        f'<tr><th scope="row" {_CELL}>{escaped(name)}</th><td {_CELL}>{escaped(value)}</td></tr>'
        for name, value in rows
    )
    return f"<div><strong>{escaped(title)}</strong><table {_TABLE}><tbody>{cells}</tbody></table>{''.join(more)}</div>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with a line of names above it; all text is escaped."""
    names = "".join(f'<th scope="col" {_CELL}>{escaped(name)}</th>' for name in head)
    body = "".join("<tr>" + "".join(f"<td {_CELL}>{escaped(value)}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table {_TABLE}><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


def skew_facts(sizes: Sizes) -> list[tuple[str, str]]:
    """Return what there is to say about the sizes of partitions."""
    largest = ", ".join(f"{number} ({size(bytes_)})" for number, bytes_ in sizes.largest(5))
    skew = f"{sizes.skew:.2f} times the mean" + (f"; largest: {largest}" if largest else "")
    count = f"{thousands(sizes.count)}, {thousands(sizes.empty)} empty"
    return [("partitions", count), ("stored", f"mean {size(sizes.mean)}, most {size(sizes.most)}"), ("skew", skew)]


def bars(sizes: Sizes) -> str:
    """Return a picture of the sizes of partitions: a bar for each, or for some neighbours, and a line at the mean."""
    bins = sizes.bins(BARS)
    top = max((one.most for one in bins), default=0.0)
    if not top:
        return ""
    width = _WIDTH / len(bins)
    drawn = []
    for number, one in enumerate(bins):
        height = one.most / top * _HEIGHT
        if one.high - one.low == 1:
            what = f"partition {one.low}: {size(one.most)}"
        else:
            what = f"partitions {one.low} to {one.high - 1}: most {size(one.most)}, together {size(one.total)}"
        drawn.append(
            f'<rect x="{number * width:.1f}" y="{_HEIGHT - height:.1f}" width="{max(width - 1, width * 0.8):.1f}" '
            f'height="{height:.1f}"><title>{what}</title></rect>'
        )
    mean = _HEIGHT - min(sizes.mean / top, 1.0) * _HEIGHT
    line = f'<line x1="0" x2="{_WIDTH}" y1="{mean:.1f}" y2="{mean:.1f}" stroke="currentColor" stroke-dasharray="4 3"/>'
    each = (
        "a bar for each partition" if len(bins) == sizes.count else f"a bar for {bins[0].high - bins[0].low} partitions"
    )
    title = f"Stored bytes by partition: {each}, the tallest {size(top)}, a dashed line at the mean, {size(sizes.mean)}"
    return _svg(title, _HEIGHT, f'<g fill="currentColor" fill-opacity="0.6">{"".join(drawn)}</g>{line}') + _caption(
        title
    )


def heat_map(rows: Sequence[Sequence[float]], title: str) -> str:
    """Return a picture of numbers in rows and columns: the darker a cell, the larger its number.

    Args:
        rows: numbers of 0 or more; all rows have one length.
        title: what rows and columns are.
    """
    top = max((max(row, default=0.0) for row in rows), default=0.0)
    if not top:
        return ""
    high = max(2, min(_ROW, 240 // len(rows)))
    wide = _WIDTH / len(rows[0])
    cells = []
    for y, row in enumerate(rows):
        for x, value in enumerate(row):
            if value:
                # Linear, and never so light that it looks empty.
                cells.append(
                    f'<rect x="{x * wide:.1f}" y="{y * high}" width="{wide:.1f}" height="{high}" '
                    f'fill-opacity="{0.08 + 0.92 * value / top:.2f}"/>'
                )
    title = f"{title}; the darkest cell is {size(top)}, linear"
    frame = (
        f'<rect width="{_WIDTH}" height="{high * len(rows)}" fill="none" stroke="currentColor" stroke-opacity="0.3"/>'
    )
    return _svg(title, high * len(rows), f'<g fill="currentColor">{"".join(cells)}</g>{frame}') + _caption(title)


def page(title: str, body: str) -> str:
    """Return a whole page of HTML; ``title`` is text, and ``body`` is HTML."""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escaped(title)}</title>'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        "<style>:root{color-scheme:light dark}body{font:14px/1.4 sans-serif;margin:2em}</style></head>"
        f"<body>{body}</body></html>\n"
    )


def _svg(title: str, height: int, inside: str) -> str:
    return (
        f'<svg role="img" aria-label="{escaped(title)}" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" style="max-width:100%;display:block" xmlns="http://www.w3.org/2000/svg">'
        f"<title>{escaped(title)}</title>{inside}</svg>"
    )


def _caption(text: str) -> str:
    return f'<p style="margin:.2em 0;opacity:.8"><small>{escaped(text)}</small></p>'
