"""What objects show in notebooks: text and HTML that is well formed, escaped, and runs nothing."""

from __future__ import annotations

import html.parser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest

import faro_format as faro
from faro_format import Writer, WriterOptions
from faro_format._picture.fragments import BARS, bars, heat_map, page, table
from faro_format._picture.plain import escaped, printable, size
from faro_format._picture.sizes import Sizes, added

HOSTILE = '</td></table><script>alert(1)</script><img src=x onerror="alert(2)">\x1b[31m\u202e\0\'&amp;'
ALLOWED = {
    "div",
    "strong",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "svg",
    "g",
    "rect",
    "line",
    "title",
    "p",
    "small",
}
ATTRIBUTES = {
    *("style", "scope", "role", "aria-label", "viewbox", "width", "height", "xmlns", "x", "y", "x1", "x2", "y1", "y2"),
    *("fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-dasharray"),
}


class Seen(html.parser.HTMLParser):
    """The elements and attributes of a piece of HTML, and its text."""

    def __init__(self, piece: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(piece)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def checked(piece: str) -> Seen:
    """What a piece has, after it was found harmless and well formed."""
    ElementTree.fromstring(piece)
    seen = Seen(piece)
    assert seen.tags <= ALLOWED
    assert seen.attributes <= ATTRIBUTES
    assert all(mark.isprintable() for mark in piece), piece
    for word in ("http://", "https://", "url(", "javascript"):
        assert word not in piece.replace("http://www.w3.org/2000/svg", "")
    return seen


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    # A name that is text for people, too.
    name = tmp_path / "out & <b>"
    with Writer(name, WriterOptions(6, created_by=HOSTILE)) as writer:
        for partition in range(6):
            writer.write(partition, b"x" * 100 * (partition + 1) ** 2)
        writer.property(HOSTILE, HOSTILE)
        writer.property("faro.pack.header", "<script>alert(3)</script>" * 1000)
    return name


def test_hostile_text_is_escaped_everywhere(hostile: Path) -> None:
    with faro.open(hostile) as reader:
        seen = checked(reader._repr_html_())
        assert "<script>alert(1)</script>" in seen.text
        assert "\\x1b[31m\\u202e" in seen.text
        checked(reader[2]._repr_html_())
        for shown in (repr(reader), repr(reader[2])):
            assert shown.isprintable()
    shuffle = faro.Shuffle(hostile.parent)
    checked(shuffle._repr_html_())
    assert repr(shuffle.sum_up()).isprintable()
    (hostile.parent / "out & <b>.index").write_bytes(HOSTILE.encode() * 9)
    seen = checked(faro.open(hostile.parent)._repr_html_())
    assert "not-faro" in seen.text


def test_every_object_has_a_picture_with_a_title(hostile: Path) -> None:
    summary = faro.write(pa.table({"x": range(1000)}), hostile.parent / "rows", by="x", partitions=5)
    with faro.open(hostile) as reader:
        for shown in (reader, faro.open(hostile.parent), summary):
            root = ElementTree.fromstring(shown._repr_html_())
            pictures = [element for element in root.iter() if element.tag.endswith("}svg")]
            assert pictures
            for picture in pictures:
                title = next(iter(picture))
                assert title.tag.endswith("}title")
                assert title.text == picture.get("aria-label")
                assert picture.get("role") == "img"
                # No colour of its own: the page's, light or dark.
                colours = {element.get(name) for element in picture.iter() for name in ("fill", "stroke")}
                assert colours <= {None, "none", "currentColor"}
    assert repr(summary).startswith("<Summary: files ")
    assert "1,000" in checked(summary._repr_html_()).text


def test_bars_are_as_high_as_partitions_are_large(hostile: Path) -> None:
    with faro.open(hostile) as reader:
        root = ElementTree.fromstring(reader._repr_html_())
        stored = [partition.stored_bytes for partition in reader]
    svg = "{http://www.w3.org/2000/svg}"
    heights = [float(bar.get("height", "")) for bar in root.iter(f"{svg}rect")]
    assert heights == pytest.approx([96 * size / max(stored) for size in stored], abs=0.06)
    (line,) = root.iter(f"{svg}line")
    assert float(line.get("y1", "")) == pytest.approx(96 - 96 * np.mean(stored) / max(stored), abs=0.06)
    titles = [bar.findtext(f"{svg}title") for bar in root.iter(f"{svg}rect")]
    assert titles[5] == f"partition 5: {size(stored[5])}"


def sizes_of(values: list[int], first: int = 0, shared: Any = ()) -> Sizes:
    at = np.flatnonzero(values)
    return Sizes(first, first + len(values), at + first, np.array(values, np.uint64)[at], list(shared))


def test_many_partitions_share_bars() -> None:
    values = [(i * 7919) % 1000 for i in range(10_000)]
    found = sizes_of(values, 5).bins(BARS)
    assert len(found) <= BARS
    assert (found[0].low, found[-1].high) == (5, 10_005)
    for one in found:
        mine = values[one.low - 5 : one.high - 5]
        assert (one.most, one.total) == (max(mine), sum(mine))
    claimed = Sizes(0, 2**28, np.array([7]), np.array([9], np.uint64), [(0, 2**28, 1)])
    assert (claimed.total, claimed.most, claimed.empty) == (2**28 + 9, 10, 0)
    assert len(bars(claimed)) < 40_000


@pytest.mark.parametrize("shared", [[], [(0, 50, 3)], [(0, 20, 3), (10, 50, 5), (49, 50, 1)]])
def test_sums_are_those_of_all_values(shared: list[tuple[int, int, int]]) -> None:
    own = [(i * i) % 11 for i in range(50)]
    values = [own[i] + sum(each for low, high, each in shared if low <= i < high) for i in range(50)]
    found = sizes_of(own, shared=shared)
    assert (found.total, found.most, found.empty) == (sum(values), max(values), values.count(0))
    assert found.skew == pytest.approx(max(values) / np.mean(values))
    assert found.of(np.arange(50)).tolist() == values
    best = sorted((value, -number) for number, value in enumerate(values) if own[number])[-3:]
    assert found.largest(3) == [(-number, value) for value, number in reversed(best)]


def test_sums_beyond_64_bits_stay_the_largest_number() -> None:
    numbers, values = added(np.array([3, 1, 3]), np.array([2**63, 7, 2**63], np.uint64))
    assert (numbers.tolist(), values.tolist()) == ([1, 3], [7, 2**64 - 1])


def test_nothing_and_one_thing() -> None:
    assert bars(sizes_of([0, 0])) == ""
    assert heat_map([], "none") == ""
    assert heat_map([[0.0]], "none") == ""
    drawn = heat_map([[0.0, 4.0], [1.0, 0.0]], "rows & columns")
    cells = [cell.get("fill-opacity") for cell in ElementTree.fromstring(f"<div>{drawn}</div>").iter() if cell.get("x")]
    assert cells == ["1.00", "0.31"]
    checked(table(("<a>",), [(HOSTILE,)]))


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 B"), (999, "999 B"), (1000, "0.98 KiB"), (1024, "1.00 KiB"), (102_400, "100 KiB"), (2**70, "1024 EiB")],
)
def test_sizes_have_three_digits(count: int, shown: str) -> None:
    assert size(count) == shown


def test_text_is_printable_and_short() -> None:
    assert printable("a\nb\x1b\u200b\ud800") == "a\\nb\\x1b\\u200b\\ud800"
    assert len(printable("x" * 10**7)) == 200
    assert escaped("<\"'&>") == "&lt;&quot;&#x27;&amp;&gt;"


def test_a_page_is_whole_and_fetches_nothing() -> None:
    made = page("<title>", "<p>body</p>")
    assert made.startswith("<!DOCTYPE html>")
    assert "<title>&lt;title&gt;</title>" in made
    assert "default-src 'none'" in made
    assert "<script" not in made
