from pathlib import Path

import pytest

from faro_site import check


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "spec").mkdir()
    (tmp_path / "index.html").write_text('<p id="here"></p>\n<a href="spec/#HYB-1">x</a> <a href="#here">y</a>')
    (tmp_path / "spec/index.html").write_text(
        '<a id="HYB-1"></a><a href="..">up</a>\n<link rel="icon" href="../i.png">'
    )
    (tmp_path / "i.png").touch()
    return tmp_path


def test_a_good_site_has_no_fault(site: Path) -> None:
    assert check.faults(site) == []


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ('<a href="gone/">', "gone/ leads to no file"),
        ('<a href="../../x">', "../../x leaves the site"),
        ('<a href="../#gone">', "../#gone names no anchor of index.html"),
        ('<a href="#gone">', "#gone names no anchor of spec/index.html"),
        ('<img src="gone.svg">', "gone.svg leads to no file"),
        ('<script src="https://cdn.example/x.js">', "https://cdn.example/x.js is loaded from elsewhere"),
        ('<link rel="stylesheet" href="//fonts.example/x">', "//fonts.example/x is loaded from elsewhere"),
    ],
)
def test_a_fault_has_its_file_and_line(site: Path, html: str, fault: str) -> None:
    page = site / "spec/index.html"
    page.write_text(f'<a id="HYB-1"></a>\n\n{html}')
    assert check.faults(site) == [f"{page}:3: {fault} (made from spec/README.md)"]


def test_a_style_sheet_loads_nothing_from_elsewhere(site: Path) -> None:
    (site / "x.css").write_text("a {}\n@import 'https://fonts.example/x';")
    assert check.faults(site) == [f"{site}/x.css:2: https://fonts.example/x is loaded from elsewhere"]


def test_links_that_a_reader_follows_may_leave_the_site(site: Path) -> None:
    (site / "x.html").write_text('<a href="https://spark.apache.org/">Spark</a><a href="mailto:a@b">b</a>')
    assert check.faults(site) == []


def test_lines_of_a_source_file_count_by_the_first(site: Path) -> None:
    (site / "a.rs.html").write_text('<a id="12"></a><a href="#12-30"></a><a href="#13-14"></a>')
    assert [fault.partition(": ")[2] for fault in check.faults(site)] == ["#13-14 names no anchor of a.rs.html"]


def test_an_exception_is_for_a_file_and_a_target(site: Path) -> None:
    (site / "x.html").write_text('<a href="gone">1</a> <a href="lost">2</a>')
    found = check.faults(site, (r"^x\.html: gone$", r"^y\.html: lost$"))
    assert [fault.partition(": ")[2] for fault in found] == ["lost leads to no file"]


def test_a_picture_in_the_page_is_no_link(site: Path) -> None:
    (site / "x.html").write_text('<img src="data:image/svg+xml,%3Csvg%3E, more"><img srcset="i.png 1x, gone.png 2x">')
    assert [fault.partition(": ")[2] for fault in check.faults(site)] == ["gone.png leads to no file"]
