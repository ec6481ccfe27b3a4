"""Check a built site: every link and anchor in it, that it loads nothing from elsewhere, and the clauses' anchors.

    python -m faro_site.check out/site

Prints each fault with file and line, and the page of the project that it is from. The exit status is 1 if there is one.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from urllib.parse import unquote, urlsplit

from faro_site import pages_html, settings, sources
from faro_site.pages_html import Link, Page
from faro_site.settings import ROOT

_LINES = re.compile(r"(\d+)-\d+")
"""Lines of a source file in rustdoc, whose script finds the first."""

_CSS = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s]+)""")


def faults(site: Path, excepted: tuple[str, ...] = ()) -> list[str]:
    """The faults of the links and of what is loaded, in the order of files and lines.

    Links that a pattern of `excepted` matches, as `file: target`, are left alone.
    """
    exceptions = [re.compile(pattern) for pattern in excepted]
    files = sorted(site.rglob("*.html"))
    with ProcessPoolExecutor() as pool:
        read = dict(zip(files, pool.map(pages_html.read, files, chunksize=16), strict=True))
    origins = {sources.address(path): path for path in sources.pages(ROOT)}
    found = []
    for file, page in read.items():
        folder = file.relative_to(site).parent.as_posix()
        origin = origins.get("" if folder == "." else f"{folder}/") if file.name == "index.html" else None
        for link in page.links:
            fault = _fault(site, file, link, read)
            named = f"{file.relative_to(site)}: {link.target}"
            if fault and not any(exception.search(named) for exception in exceptions):
                found.append(f"{file}:{link.line}: {fault}" + (f" (made from {origin})" if origin else ""))
    return [*found, *_style_faults(site)]


def _fault(site: Path, file: Path, link: Link, pages: dict[Path, Page]) -> str | None:
    parts = urlsplit(link.target)
    if parts.scheme or parts.netloc:
        elsewhere = parts.scheme in ("http", "https", "") and link.loaded
        return f"{link.target} is loaded from elsewhere" if elsewhere else None
    path = unquote(parts.path)
    base = site if path.startswith("/") else file.parent
    target = Path(*_normal(base / path.lstrip("/"))) if path else file
    if not target.is_relative_to(site):
        return f"{link.target} leaves the site"
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return f"{link.target} leads to no file"
    anchor = parts.fragment
    if not anchor or anchor == "top" or target not in pages or target.name == "404.html":
        return None
    lines = _LINES.fullmatch(anchor)
    # Browsers look for the anchor as it is first; rustdoc's have percent signs.
    if not {lines[1] if lines else anchor, unquote(anchor)} & pages[target].anchors:
        return f"{link.target} names no anchor of {target.relative_to(site)}"
    return None


def _normal(path: Path) -> Iterator[str]:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    yield from parts


def _style_faults(site: Path) -> Iterator[str]:
    for file in sorted(site.rglob("*.css")):
        text = file.read_text(encoding="utf-8")
        for found in _CSS.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            yield f"{file}:{line}: {found[1]} is loaded from elsewhere"


def missing_clauses(site: Path) -> list[str]:
    """The clauses of the specification without an anchor at the address of their chapter."""
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in sources.pages(ROOT)}
    found = []
    anchors: dict[str, set[str]] = {}
    for clause, path in sources.clauses(texts).items():
        address = sources.address(path)
        if address not in anchors:
            anchors[address] = pages_html.read(site / address / "index.html").anchors
        if clause not in anchors[address]:
            found.append(f"{address}#{clause} does not exist ({path} has the clause)")
    return found


def main() -> int:
    """Check the site."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("site", type=Path)
    site = parser.parse_args().site.resolve()
    found = [*faults(site, settings.load().excepted), *missing_clauses(site)]
    for fault in found:
        print(fault, file=sys.stderr)
    pages = len(list(site.rglob("*.html")))
    print(f"{pages} pages, {len(found)} faults of links, anchors and clauses")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
