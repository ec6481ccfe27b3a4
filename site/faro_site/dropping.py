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
READ_MS = 120_000


@dataclass(frozen=True)
class Case:
    """Files that are chosen, and what the command is asked for to show the same."""

    name: str
    chosen: tuple[str, ...]
    names: tuple[str, ...]
    damaged: bool = False

    @property
    def input(self) -> str:
        """The field of the page."""
        return "#folder" if self.chosen == self.names and "." not in self.chosen[0] else "#files"


def cases(folder: Path) -> list[Case]:
    """Gold files, damaged files and a folder of many outputs, copied into a folder."""
    gold = sorted(path.name for path in GOLD.iterdir() if path.suffix in (".faro", ".data", ".index"))
    for name in gold:
        shutil.copy(GOLD / name, folder)
    singles = tuple(name for name in gold if name.endswith(".faro"))
    content = bytearray((folder / singles[0]).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "flipped.faro").write_bytes(content)
    (folder / "text.faro").write_text("no output of Faro, but long enough for the header of one: " * 9)
    shuffle = folder / "shuffle"
    shuffle.mkdir()
    for number in range(OUTPUTS):
        shutil.copy(folder / singles[0], shuffle / f"map-{number:04}.faro")
    (shuffle / "map-0500.faro").write_bytes(content)
    stems = tuple(name.removesuffix(".faro") for name in singles)
    return [
        Case("pair", ("gold-paired-codecs.data", "gold-paired-codecs.index"), ("gold-paired-codecs",)),
        # Its schema is only a text.
        Case("arrow", ("gold-paired-arrow.data", "gold-paired-arrow.index"), ("gold-paired-arrow",), damaged=True),
        Case("singles", singles[:20], stems[:20]),
        Case("flipped", ("flipped.faro",), ("flipped",), damaged=True),
        Case("text", ("text.faro",), ("text",), damaged=True),
        Case("shuffle", ("shuffle",), ("shuffle",), damaged=True),
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
    if case.input == "#folder":
        visit.page.set_input_files(case.input, folder / case.chosen[0])
    else:
        visit.page.set_input_files(case.input, [folder / name for name in case.chosen])
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
    arguments: list[str | Path] = [faro, "report", *case.names, "--html", own, "--spec", f"{visit.base}spec"]
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


def _refusals(visit: Visit, folder: Path) -> Iterator[str]:
    """An index alone is refused with its name, and a drop is read."""
    visit.open(APP)
    (folder / "lonely.index").write_bytes(b"")
    visit.page.set_input_files("#files", folder / "lonely.index")
    failed = visit.page.locator("#state.failed, #state").filter(has_text=re.compile("lonely|damaged"))
    try:
        failed.first.wait_for(timeout=READ_MS)
    except TimeoutError:
        yield f"viewer: an index alone: {visit.page.locator('#state').inner_text()!r}"
    visit.open(APP)
    visit.page.evaluate(
        """() => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(300)], "zeros.faro"));
        document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }"""
    )
    try:
        visit.page.get_by_role("alert").filter(has_text="not-faro").wait_for(timeout=READ_MS)
    except TimeoutError:
        yield f"viewer: a drop: {visit.page.locator('#state').inner_text()!r}"


def check_viewer(browser: Browser, base: str, faro: Path, screenshots: Path) -> list[str]:
    """Read files in the viewer. Nothing may be asked for but the site's own files."""
    visit = Visit(browser, base, DESKTOP)
    faults: list[str] = []
    with tempfile.TemporaryDirectory(prefix="faro-viewer-") as temporary:
        folder = Path(temporary)
        for case in cases(folder):
            faults += compared(browser, visit, faro, case, folder)
            visit.page.screenshot(path=screenshots / f"viewer-{case.name}.png", full_page=True)
        faults += _refusals(visit, folder)
    visit.context.close()
    return [*faults, *visit.faults]
