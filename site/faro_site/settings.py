"""The settings of the site, from site.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
"""The folder of the project."""

SITE = ROOT / "site"
"""The folder with the settings and the files that only the site has."""


@dataclass(frozen=True)
class Entry:
    """A page in the navigation. Without a title of its own it has the page's."""

    page: str
    title: str | None = None


@dataclass(frozen=True)
class Group:
    """Pages with a common title. Those that no group names, and that `rest` matches, come after the others."""

    title: str
    entries: tuple[Entry, ...]
    rest: str | None = None


@dataclass(frozen=True)
class Tab:
    """A section of the site: pages, then groups of pages."""

    title: str
    entries: tuple[Entry, ...]
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class Settings:
    """All settings."""

    repository: str
    """Where files of the project can be seen: an address that a path can be appended to. Empty: there is none."""
    left_out: tuple[str, ...]
    copied: tuple[str, ...]
    unsearched: tuple[str, ...]
    """Addresses whose pages the search leaves out."""
    excepted: tuple[str, ...]
    """Patterns of faults that are left alone, as `file: target`."""
    tabs: tuple[Tab, ...]
    zensical: dict[str, Any]
    """The generator's own settings."""


def load(path: Path = SITE / "site.toml") -> Settings:
    """The settings in a file."""
    with path.open("rb") as file:
        data = tomllib.load(file)
    tabs = tuple(
        Tab(
            tab["title"],
            _entries(tab.get("pages", [])),
            tuple(Group(g["title"], _entries(g.get("pages", [])), g.get("rest")) for g in tab.get("group", [])),
        )
        for tab in data["tab"]
    )
    lists = ("left_out", "copied", "unsearched", "excepted")
    left_out, copied, unsearched, excepted = (tuple(data[name]) for name in lists)
    return Settings(data["repository"], left_out, copied, unsearched, excepted, tabs, data["zensical"])


def _entries(pages: list[str | dict[str, str]]) -> tuple[Entry, ...]:
    return tuple(Entry(page) if isinstance(page, str) else Entry(page["page"], page["title"]) for page in pages)
