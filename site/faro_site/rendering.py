"""Compare each page of the site with what a renderer of GitHub's Markdown makes of it.

The pages are written for GitHub's Markdown, and the generator renders another dialect. Where they differ, for example
in a list without a blank line before it, a page would silently show something else.

    python -m faro_site.rendering out/site-work
"""

from __future__ import annotations

import argparse
import sys
from html.parser import HTMLParser
from pathlib import Path

from markdown_it import MarkdownIt

_SHOWN = {
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "li",
    "tr",
    "td",
    "th",
    "pre",
    "img",
    "code",
    "strong",
    "em",
    "blockquote",
}
_HIDDEN = {"button", "script", "style", "nav"}
_ELEMENT = "\0"
"""Begins the name of an element among the words."""

_VOID = {"img", "br", "hr", "input", "link", "meta", "wbr"}


class _Content(HTMLParser):
    """What a reader sees: elements of `_SHOWN`, and words."""

    def __init__(self, within: str | None) -> None:
        super().__init__()
        self.seen: list[str] = []
        self._within = within
        self._depth = 0
        self._hidden = 0
        self._pre = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            if tag in _SHOWN and self._reading():
                self.seen.append(f"{_ELEMENT}{tag}")
            return
        if tag == self._within:
            self._depth += 1
        if self._hidden or tag in _HIDDEN or ("class", "headerlink") in attributes:
            self._hidden += 1
        if not self._reading():
            return
        self._pre += tag == "pre"
        if tag in _SHOWN and not (self._pre and tag == "code"):
            self.seen.append(f"{_ELEMENT}{tag}")

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        if self._hidden:
            self._hidden -= 1
            return
        self._pre -= tag == "pre"
        if tag == self._within:
            self._depth -= 1

    def handle_data(self, data: str) -> None:
        if not self._reading():
            return
        self.seen.extend(data.split())

    def _reading(self) -> bool:
        return not self._hidden and (self._within is None or self._depth > 0)


def content(html: str, within: str | None = None) -> list[str]:
    """What a reader sees of a page, or of an element of it, in order. Words that touch are one word."""
    parser = _Content(within)
    parser.feed(html)
    parser.close()
    joined: list[str] = []
    for piece in parser.seen:
        if joined and not piece.startswith(_ELEMENT) and not joined[-1].startswith(_ELEMENT):
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def difference(page: Path, built: Path) -> str | None:
    """The first difference of a page's Markdown and its HTML; None if there is none."""
    renderer = MarkdownIt("gfm-like", {"html": True, "linkify": False})
    wanted = content(renderer.render(page.read_text(encoding="utf-8")))
    shown = content(built.read_text(encoding="utf-8"), within="article")
    for number, (one, other) in enumerate(zip([*wanted, "the end"], [*shown, "the end"], strict=False)):
        if one != other:
            at = next(
                (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
            )
            before = "".join(wanted[max(0, number - 3) : number])[-60:].replace(_ELEMENT, "/")
            return f"after {before!r}: the site shows {other[at : at + 60]!r}, GitHub {one[at : at + 60]!r}"
    return None


def main() -> int:
    """Compare all pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("work", type=Path, help="the folder of the generator, with pages and built")
    work = parser.parse_args().work
    found = 0
    for page in sorted((work / "pages").rglob("*.md")):
        path = page.relative_to(work / "pages")
        folder = path.parent if path.name == "index.md" else path.with_suffix("")
        fault = difference(page, work / "built" / folder / "index.html")
        if fault:
            found += 1
            print(f"{path}: {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
