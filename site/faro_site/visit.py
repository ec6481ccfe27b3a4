"""A built site, served on this machine, and pages of it in a browser."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Route

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}

_OPEN_SHADOWS = """
const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (options) { return attach.call(this, {...options, mode: "open"}); };
"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def served(site: Path) -> Iterator[str]:
    """The address of a server of the site, on this machine only."""
    handler = functools.partial(_Quiet, directory=str(site))
    with _Server(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes to the next page breaks connections."""


class Visit:
    """Pages of one browser window, and the faults that were seen in it."""

    def __init__(self, browser: Browser, base: str, size: dict[str, int], scheme: str = "light") -> None:
        self.base = base
        self.faults: list[str] = []
        self.context: BrowserContext = browser.new_context(
            viewport={"width": size["width"], "height": size["height"]},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        self.context.route("**/*", self._routed)
        # Playwright does not see into closed shadow roots, and the search is in one.
        self.context.add_init_script(_OPEN_SHADOWS)
        self.page: Page = self.context.new_page()
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self._fault(str(error)))

    def _said(self, said: ConsoleMessage) -> None:
        # Browsers ask for this file on pages without an icon, as javadoc's are.
        if said.type == "error" and not said.location["url"].endswith("/favicon.ico"):
            self._fault(f"{said.text} {said.location['url']}")

    def _routed(self, route: Route) -> None:
        address = route.request.url
        if address.startswith((self.base, "data:", "blob:")):
            route.continue_()
        else:
            self._fault(f"a request to {address}")
            route.abort()

    def _fault(self, text: str) -> None:
        self.faults.append(f"{self.page.url.removeprefix(self.base) or 'the start page'}: {text}")

    def open(self, path: str) -> None:
        """Open a page of the site and wait until it has loaded."""
        answer = self.page.goto(self.base + path, wait_until="load")
        if answer is not None and answer.status >= 400:
            self._fault(f"status {answer.status}")

    def scrolls_sideways(self) -> int:
        """By how many pixels the page is wider than its window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))
