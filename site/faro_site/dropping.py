"""Use the viewer of a built site in a browser, and compare what it shows with the command's own pages."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, TimeoutError

from faro_site.settings import ROOT
from faro_site.visit import DESKTOP, Visit

APP = "viewer/app/"
GOLD = ROOT / "conformance/gold/1.0-draft"
OUTPUTS = 1_000
ODD = "-größe 日本語日本語 #?.faro"
READ_MS = 60_000


@dataclass(frozen=True)
class Case:
    """Files that are chosen, and what the command is asked for to show the same."""

    name: str
    chosen: tuple[str, ...]
    names: tuple[str, ...]
    damaged: bool = False
    folder: bool = False


def cases(folder: Path) -> list[Case]:
    """Gold files, damaged files and a folder of many outputs, copied into a folder."""
    gold = sorted(path.name for path in GOLD.iterdir() if path.suffix in (".faro", ".data", ".index"))
    for name in gold:
        shutil.copy(GOLD / name, folder)
    singles = tuple(name for name in gold if name.endswith(".faro"))
    content = bytearray((folder / singles[0]).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "flipped.faro").write_bytes(content)
    shutil.copy(GOLD / "gold-single-records.faro", folder / ODD)
    (folder / "text.faro").write_text("no output of Faro, but long enough for the header of one: " * 9)
    shuffle = folder / "shuffle"
    shuffle.mkdir()
    for number in range(OUTPUTS):
        shutil.copy(folder / singles[0], shuffle / f"map-{number:04}.faro")
    (shuffle / "map-0500.faro").write_bytes(content)
    return [
        Case("pair", ("gold-paired-codecs.data", "gold-paired-codecs.index"), ("gold-paired-codecs",)),
        # Its schema is only a text.
        Case("arrow", ("gold-paired-arrow.data", "gold-paired-arrow.index"), ("gold-paired-arrow",), damaged=True),
        Case("singles", singles, singles),
        Case("odd", (ODD,), (ODD,)),
        Case("flipped", ("flipped.faro",), ("flipped.faro",), damaged=True),
        Case("text", ("text.faro",), ("text.faro",), damaged=True),
        Case("shuffle", ("shuffle",), ("shuffle",), damaged=True, folder=True),
    ]


def shown(page: Page) -> str:
    """What is read on a page about each output."""
    buttons = page.locator("#subjects button")
    texts = [page.locator("main").inner_text()]
    for at in range(buttons.count()):
        buttons.nth(at).click()
        texts.append(buttons.nth(at).inner_text() + page.locator("main").inner_text())
    return "\n".join(texts)


def choose(visit: Visit, case: Case, folder: Path) -> None:
    """Choose the files on the page, and wait until they are shown."""
    visit.open(APP)
    if case.folder:
        visit.page.set_input_files("#folder", folder / case.chosen[0])
    else:
        visit.page.set_input_files("#files", [folder / name for name in case.chosen])
    visit.page.locator("#state").filter(has_text=re.compile("^Read .*[.]$")).wait_for(timeout=READ_MS)


def compared(browser: Browser, visit: Visit, faro: Path, case: Case, folder: Path) -> Iterator[str]:
    """What is wrong with a case."""
    try:
        choose(visit, case, folder)
    except TimeoutError:
        yield f"viewer: {case.name}: {visit.page.locator('#state').inner_text()!r}"
        return
    own = folder / f"{case.name}.html"
    # The page's spec is that of the site, as the viewer's is.
    arguments: list[str | Path] = [faro, "report", "--html", own, "--spec", f"{visit.base}spec", "--", *case.names]
    done = subprocess.run(arguments, check=False, cwd=folder, capture_output=True, text=True)
    if done.returncode != (4 if case.damaged else 0):
        yield f"viewer: {case.name}: faro report ended with {done.returncode}: {done.stderr}"
        return
    page = browser.new_page(viewport={"width": DESKTOP["width"], "height": DESKTOP["height"]}, color_scheme="light")
    page.goto(own.as_uri())
    if shown(page) != shown(visit.page):
        yield f"viewer: {case.name}: it shows something else than `faro report`"
    page.close()
    own.unlink()


_DROP = """([names, entries]) => {
    const data = new DataTransfer();
    names.forEach((name) => data.items.add(new File([new Uint8Array(300)], name)));
    const event = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
    if (entries) {
        // What a dropped folder is to the page; this one is listed when the page says so.
        const listing = new Promise((resolve) => { window.list = resolve; });
        const reader = { readEntries: (done) => listing.then(() => done([])) };
        const item = { kind: "file", webkitGetAsEntry: () => ({ isFile: false, createReader: () => reader }) };
        Object.defineProperty(event, "dataTransfer", { value: { items: [item] } });
    }
    document.dispatchEvent(event);
}"""

_ELSEWHERE = """async () => {
    const other = new URL(location.href);
    other.hostname = "localhost";
    const tell = `then(() => postMessage("sent"), () => postMessage("refused"))`;
    const code = `fetch(${JSON.stringify(other.href)}, { mode: "no-cors" }).${tell}`;
    const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    const own = new Worker(address, { type: "module" });
    return new Promise((resolve) => {
        own.onmessage = ({ data }) => resolve(data);
        own.onerror = () => resolve("error");
    });
}"""


def _others(visit: Visit, folder: Path) -> Iterator[str]:
    """Files that cannot be opened, drops, and what the worker may ask for."""

    def said(what: str, pattern: str, where: str = "#state") -> Iterator[str]:
        try:
            visit.page.locator(where).filter(has_text=re.compile(pattern)).wait_for(timeout=READ_MS)
        except TimeoutError:
            yield f"viewer: {what}: {visit.page.locator('#state').inner_text()!r}"

    shutil.copy(GOLD / "gold-paired-codecs.index", folder / "lonely.index")
    visit.open(APP)
    visit.page.set_input_files("#files", folder / "lonely.index")
    yield from said("an index alone", r"lonely\.data", "#state.failed")
    visit.open(APP)
    visit.page.evaluate(_DROP, [["zeros.faro"], False])
    yield from said("a drop", "not-faro", "[role=alert]")
    # A folder whose listing ends after another drop was read.
    visit.page.evaluate(_DROP, [[], True])
    yield from said("a folder", "Listing")
    visit.page.evaluate(_DROP, [["zeros.faro"], False])
    yield from said("a drop after a folder", "damaged")
    visit.page.evaluate("() => window.list()")
    visit.page.wait_for_timeout(300)
    yield from said("a listing that ends late", "damaged")
    # An empty folder, and one that is stopped.
    visit.page.evaluate(_DROP, [[], True])
    visit.page.evaluate("() => window.list()")
    yield from said("an empty folder", "no files", "#state.failed")
    visit.page.evaluate(_DROP, [[], True])
    visit.page.get_by_role("button", name="Stop").click()
    yield from said("a stop", "Stopped")
    visit.page.evaluate(_DROP, [["same.faro", "same.faro"], False])
    yield from said("two files of one name", "two files have the name same.faro", "#state.failed")
    visit.page.evaluate(_DROP, [[f"map-{number}.faro" for number in range(25)], False])
    yield from said("many files", "damaged")
    if visit.page.get_by_role("button", name="map-7.faro (damaged)").count() != 1:
        yield "viewer: many files: they are not shown as a folder"
    answer = visit.page.evaluate(_ELSEWHERE)
    if answer != "refused":
        yield f"viewer: a worker's request to another origin: {answer}"


def check_viewer(browser: Browser, base: str, faro: Path, screenshots: Path) -> list[str]:
    """Read files in the viewer. Nothing may be asked for but the site's own files."""
    visit = Visit(browser, base, DESKTOP)
    faults: list[str] = []
    with tempfile.TemporaryDirectory(prefix="faro-viewer-") as temporary:
        folder = Path(temporary)
        for case in cases(folder):
            faults += compared(browser, visit, faro, case, folder)
            visit.page.screenshot(path=screenshots / f"viewer-{case.name}.png", full_page=True)
        faults += _others(visit, folder)
    visit.context.close()
    # The console has the request that the policy refuses. One that gets further would be a request to another place.
    refused = re.compile(r"Refused to connect|violates the following Content Security Policy directive: .connect-src")
    return [*faults, *(fault for fault in visit.faults if not refused.search(fault))]
