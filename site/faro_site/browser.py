"""Look at a built site in a real browser, Debian's chromium.

    python -m faro_site.browser out/site out/site-screenshots

Every page of the project, and the first page of each API documentation, has to load without an error in the console,
and must not scroll sideways on a telephone. The search has to find a clause and a word. No request may leave the site.
With --faro, the viewer reads files, and has to show what the pages of `faro report` show.
Screenshots in light and dark are for people. The exit status is 1 if something is wrong, 2 without a browser.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, TimeoutError, sync_playwright

from faro_site.dropping import APP, check_viewer
from faro_site.visit import DESKTOP, PHONE, Visit, served

SHOWN = {
    "start": "",
    "clause": "spec/hybrid/#HYB-3",
    "benchmarks": "BENCHMARKS/#plots",
    "matrix": "conformance/matrix/",
    "layout": "docs/cli/#layout",
}
"""The pages of the screenshots."""

SEARCHES = {"HYB-6": "spec/hybrid/#HYB-6", "dictionary": "spec/dictionaries/", "Polars": "python/"}
"""What is searched for, and the address that has to be among the results."""

SEARCH_MS = 10_000


def pages(site: Path) -> list[str]:
    """The addresses of all pages of the project, and of the first page of each API documentation."""
    own = [p.relative_to(site).parent.as_posix() for p in sorted(site.rglob("index.html"))]
    found = ["" if path == "." else f"{path}/" for path in own if not path.startswith("api/")]
    starts = ("api/rust/faro/index.html", "api/java/index.html", "api/python/faro_format.html")
    return [*found, "api/", *(start for start in starts if (site / start).is_file())]


def check_pages(browser: Browser, base: str, site: Path) -> list[str]:
    """Open every page on a telephone."""
    visit = Visit(browser, base, PHONE)
    for path in pages(site):
        visit.open(path)
        wider = visit.scrolls_sideways()
        if wider > 0 and not path.startswith("api/"):
            visit.faults.append(f"{path or 'the start page'}: scrolls sideways by {wider} pixels at 390")
    visit.context.close()
    return visit.faults


def check_search(browser: Browser, base: str) -> list[str]:
    """Search as a reader does, and follow the result."""
    visit = Visit(browser, base, DESKTOP)
    for words, wanted in SEARCHES.items():
        visit.open("")
        visit.page.keyboard.press("/")
        visit.page.get_by_role("combobox", name="Search").press_sequentially(words)
        path, _, anchor = wanted.partition("#")
        end = f'[href$="#{anchor}"]' if anchor else ""
        result = visit.page.locator(f'[role=listbox] a[href*="/{path}"]{end}').first
        try:
            result.click(timeout=SEARCH_MS)
            visit.page.wait_for_url(re.compile(f"/{path}.*{anchor}$"), timeout=SEARCH_MS)
        except TimeoutError:
            visit.faults.append(f"search for {words}: {wanted} is not among the results")
    visit.context.close()
    return visit.faults


def take_screenshots(browser: Browser, base: str, folder: Path) -> None:
    """Screenshots in light and dark, on a desktop and on a telephone."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for scheme in ("light", "dark"):
        for name, size in (("desktop", DESKTOP), ("phone", PHONE)):
            visit = Visit(browser, base, size, scheme)
            for page, path in SHOWN.items():
                visit.open(path)
                visit.page.wait_for_timeout(300)
                visit.page.screenshot(path=folder / f"{page}-{name}-{scheme}.png")
            visit.context.close()


def main() -> int:
    """Check the site."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("screenshots", type=Path)
    parser.add_argument("--faro", type=Path, help="the command, whose pages the viewer's are compared with")
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="the browser (default: chromium)")
    arguments = parser.parse_args()
    if not arguments.chromium:
        print("chromium is not installed. On Debian: apt-get install chromium", file=sys.stderr)
        return 2
    with served(arguments.site) as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=arguments.chromium, args=["--no-sandbox"])
        faults = [*check_pages(browser, base, arguments.site), *check_search(browser, base)]
        take_screenshots(browser, base, arguments.screenshots)
        if (arguments.site / APP).is_dir() and arguments.faro:
            faults += check_viewer(browser, base, arguments.faro.resolve(), arguments.screenshots)
        browser.close()
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(pages(arguments.site))} pages, {len(SEARCHES)} searches, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
