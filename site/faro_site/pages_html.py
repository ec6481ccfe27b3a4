"""What a checker needs of a page in HTML: its anchors, its links, and what a browser loads for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

_LOADED = {
    "img": ("src", "srcset"),
    "script": ("src",),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src",),
    "audio": ("src",),
    "object": ("data",),
    "use": ("href", "xlink:href"),
}
_LOADING_RELATIONS = {
    "stylesheet",
    "icon",
    "preload",
    "modulepreload",
    "prefetch",
    "manifest",
    "preconnect",
    "shortcut",
}


@dataclass(frozen=True)
class Link:
    """An address in a page. A browser loads it with the page, or when a reader follows it."""

    target: str
    line: int
    loaded: bool


@dataclass
class Page:
    """A page."""

    anchors: set[str] = field(default_factory=set)
    links: list[Link] = field(default_factory=list)


class _Collector(HTMLParser):
    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page = page

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attributes if value is not None}
        if "id" in values:
            self.page.anchors.add(values["id"])
        if tag == "a":
            if "name" in values:
                self.page.anchors.add(values["name"])
            if "href" in values:
                self._add(values["href"], loaded=False)
        elif tag == "link" and "href" in values:
            self._add(values["href"], loaded=bool(_LOADING_RELATIONS & set(values.get("rel", "").split())))
        for attribute in _LOADED.get(tag, ()):
            value = values.get(attribute, "")
            for target in value.split(",") if attribute == "srcset" else [value]:
                if target.strip():
                    self._add(target.split()[0], loaded=True)

    def _add(self, target: str, loaded: bool) -> None:
        self.page.links.append(Link(target.strip(), self.getpos()[0], loaded))


def read(path: Path) -> Page:
    """The anchors and links of a file."""
    page = Page()
    collector = _Collector(page)
    collector.feed(path.read_text(encoding="utf-8"))
    collector.close()
    return page
