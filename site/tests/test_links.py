from pathlib import Path

import pytest

from faro_site.links import Linker

PAGES = {"README.md", "docs/cli.md", "spec/README.md", "spec/index.md", "spec/hybrid.md"}


@pytest.fixture
def linker(tmp_path: Path) -> Linker:
    for path in [*PAGES, "rust/src/reader/open.rs", "docs/layout.svg"]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    return Linker(tmp_path, frozenset(PAGES), {"HYB-1": "spec/hybrid.md", "REG-2": "spec/index.md"})


@pytest.mark.parametrize(
    ("page", "text", "expected"),
    [
        ("README.md", "[spec/](spec)", "[spec/](spec/index.md)"),
        ("README.md", "[spec](spec/README.md#a)", "[spec](spec/index.md#a)"),
        # spec/index.md is a chapter, and not the page of its folder.
        ("spec/README.md", "[index.md](index.md)", "[index.md](index/index.md)"),
        ("spec/index.md", "[hybrid](hybrid.md#HYB-1)", "[hybrid](../hybrid.md#HYB-1)"),
        ("docs/cli.md", "![picture](layout.svg)", "![picture](layout.svg)"),
        ("docs/cli.md", "[Spark](https://spark.apache.org/)", "[Spark](https://spark.apache.org/)"),
        ("docs/cli.md", "[below](#layout)", "[below](#layout)"),
    ],
)
def test_a_link_leads_to_the_page_in_the_site(linker: Linker, page: str, text: str, expected: str) -> None:
    assert linker.rewrite(page, text) == expected


def test_a_source_file_is_text_without_a_repository(linker: Linker) -> None:
    named = linker.rewrite("docs/cli.md", "[reader/open](../rust/src/reader/open.rs)")
    assert named == '<span class="source" title="rust/src/reader/open.rs">reader/open</span>'
    unnamed = linker.rewrite("docs/cli.md", "see [the code](../rust/src/reader/open.rs)")
    assert unnamed == "see the code `rust/src/reader/open.rs`"


def test_a_source_file_is_a_link_into_the_repository(linker: Linker) -> None:
    linker.repository = "https://host.example/faro/blob/main/"
    made = linker.rewrite("docs/cli.md", "[open](../rust/src/reader/open.rs)")
    assert made == "[open](https://host.example/faro/blob/main/rust/src/reader/open.rs)"


def test_a_clause_is_a_link(linker: Linker) -> None:
    assert linker.rewrite("spec/hybrid.md", "(HYB-1, REG-2)") == "([HYB-1](#HYB-1), [REG-2](index/index.md#REG-2))"
    made = linker.rewrite("spec/hybrid.md", '<a id="HYB-1"></a>**HYB-1.** A store')
    assert made == '<a id="HYB-1"></a>**[HYB-1](#HYB-1).** A store'


@pytest.mark.parametrize(
    "text",
    [
        "CRC-32 and HYB-99 name no clause",
        "`HYB-1` and ``[x](gone.md)``",
        "```\nHYB-1 [x](gone.md)\n```\n",
        "Text\n\n    run -k HYB-1\n\n    run -k HYB-1\n",
        "## A heading of HYB-1",
        "[HYB-1](hybrid.md#HYB-1)",
        "<!-- HYB-1 [x](gone.md) -->",
    ],
)
def test_code_headings_links_and_comments_stay(linker: Linker, text: str) -> None:
    assert linker.rewrite("spec/hybrid.md", text) == text


def test_a_link_to_no_file_is_a_fault_with_its_line(linker: Linker) -> None:
    linker.rewrite("docs/cli.md", "one\n\n[three](gone.md)")
    assert linker.faults == ["docs/cli.md:3: the link to gone.md leads to no file"]


def test_a_picture_is_copied(linker: Linker) -> None:
    linker.rewrite("docs/cli.md", "![picture](layout.svg)")
    assert linker.copied == {"docs/layout.svg"}


def test_code_is_as_the_generator_wants_it(linker: Linker) -> None:
    assert linker.rewrite("docs/cli.md", "```rust,ignore\nlet a, b;\n```\n") == "```rust\nlet a, b;\n```\n"
    assert linker.rewrite("docs/cli.md", "| `a \\| b` |") == "| <code>a &#124; b</code> |"
    assert linker.rewrite("docs/cli.md", "in text `a \\| b`") == "in text `a \\| b`"
