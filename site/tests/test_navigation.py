import pytest

from faro_site.navigation import navigation
from faro_site.settings import Entry, Group, Settings, Tab

TITLES = {"README.md": "Faro", "docs/cli.md": "The command", "docs/b.md": "Beta", "docs/a.md": "alpha"}


def settings(*entries: Entry, rest: str | None = "docs/") -> Settings:
    tab = Tab("Start", entries, (Group("Guides", (Entry("docs/cli.md", "cli"),), rest),))
    return Settings("", (), (), (), (), (tab,), {})


def test_a_group_has_the_rest_of_its_folder_by_title() -> None:
    made = navigation(settings(Entry("README.md")), TITLES, TITLES)
    guides = [{"cli": "docs/cli.md"}, {"alpha": "docs/a.md"}, {"Beta": "docs/b.md"}]
    assert made == [{"Start": [{"Faro": "index.md"}, {"Guides": guides}]}]


@pytest.mark.parametrize(
    ("entries", "rest", "fault"),
    [
        ((Entry("README.md"), Entry("gone.md")), "docs/", "there is no page gone.md"),
        ((Entry("README.md"), Entry("docs/cli.md")), "docs/", "docs/cli.md is in the navigation twice"),
        ((Entry("README.md"),), None, "no group has docs/a.md, docs/b.md"),
    ],
)
def test_every_page_has_one_place(entries: tuple[Entry, ...], rest: str | None, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        navigation(settings(*entries, rest=rest), TITLES, TITLES)
