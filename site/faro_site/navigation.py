"""The navigation: the settings' tabs and groups, with every page in exactly one place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from faro_site.settings import Entry, Group, Settings
from faro_site.sources import staged


def navigation(settings: Settings, pages: Iterable[str], titles: dict[str, str]) -> list[dict[str, Any]]:
    """The navigation in the generator's form.

    Raises ValueError if an entry has no page, or a page no entry.
    """
    known = set(pages)
    entries = list(_all(settings))
    for number, entry in enumerate(entries):
        if entry.page not in known:
            raise ValueError(f"site.toml: there is no page {entry.page}")
        if entry.page in [other.page for other in entries[:number]]:
            raise ValueError(f"site.toml: {entry.page} is in the navigation twice")
    left = sorted(known - {entry.page for entry in entries}, key=lambda page: titles[page].lower())

    def items(entries: Iterable[Entry]) -> list[dict[str, Any]]:
        return [{entry.title or titles[entry.page]: staged(entry.page)} for entry in entries]

    def rest(group: Group) -> list[Entry]:
        taken = [page for page in left if group.rest is not None and page.startswith(group.rest)]
        left[:] = [page for page in left if page not in taken]
        return [Entry(page) for page in taken]

    def groups(all_groups: Iterable[Group]) -> list[dict[str, Any]]:
        filled = [(group.title, [*group.entries, *rest(group)]) for group in all_groups]
        return [{title: items(entries)} for title, entries in filled if entries]

    made = [{tab.title: items(tab.entries) + groups(tab.groups)} for tab in settings.tabs]
    if left:
        raise ValueError(f"site.toml: no group has {', '.join(left)}")
    return made


def _all(settings: Settings) -> Iterator[Entry]:
    for tab in settings.tabs:
        yield from tab.entries
        for group in tab.groups:
            yield from group.entries
