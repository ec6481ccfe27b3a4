"""The pages of the project: which there are, their titles, the addresses they get, and the clauses in them."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

CLAUSE = re.compile(r'<a id="([A-Z]+-\d+)"></a>\*\*\1\.\*\*')
"""Where a clause of the specification begins."""


@dataclass(frozen=True)
class Pages:
    """Pages with their texts and titles, and the clauses of the specification with the page that has each."""

    texts: dict[str, str]
    titles: dict[str, str]
    clauses: dict[str, str]


_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


def pages(root: Path, left_out: tuple[str, ...] = ()) -> list[str]:
    """The Markdown files that git knows, or would add, as paths from the root; without those below `left_out`."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "*.md"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = {path for path in listing.split("\0") if path and (root / path).is_file()}
    return sorted(path for path in found if not path.startswith(left_out))


def read(root: Path, left_out: tuple[str, ...] = ()) -> Pages:
    """The pages of the project; those below `left_out` are not in the site."""
    texts = {path: (root / path).read_text(encoding="utf-8") for path in pages(root, left_out)}
    return Pages(texts, {path: title(text, path) for path, text in texts.items()}, clauses(texts))


def title(text: str, path: str) -> str:
    """A page's title: its first heading, else its path."""
    heading = _TITLE.search(text)
    return re.sub(r"[`*]", "", heading[1]).strip() if heading else path


def address(path: str) -> str:
    """Where a page is in the site: that of its path in the repository, without the ending; README.md is its folder.

    >>> address("spec/hybrid.md"), address("spec/index.md"), address("spec/README.md"), address("README.md")
    ('spec/hybrid/', 'spec/index/', 'spec/', '')
    """
    page = PurePosixPath(path)
    folder = page.parent if page.name == "README.md" else page.with_suffix("")
    return "" if folder == PurePosixPath(".") else f"{folder}/"


def staged(path: str) -> str:
    """The file that the generator needs, to give a page its address.

    It takes an index.md for the page of its folder, but spec/index.md is not one.

    >>> staged("spec/hybrid.md"), staged("spec/README.md"), staged("spec/index.md")
    ('spec/hybrid.md', 'spec/index.md', 'spec/index/index.md')
    """
    page = PurePosixPath(path)
    if page.name == "README.md":
        return str(page.with_name("index.md"))
    return str(page.with_suffix("") / "index.md") if page.name == "index.md" else path


def clauses(texts: dict[str, str]) -> dict[str, str]:
    """The clauses of the specification, in the order of the pages: the page that has each."""
    found: dict[str, str] = {}
    for path, text in texts.items():
        if not path.startswith("spec/"):
            continue
        for clause in CLAUSE.findall(text):
            if clause in found:
                raise ValueError(f"{path}: {clause} is in {found[clause]} too")
            found[clause] = path
    return found


def linked_pages(text: str, folder: str) -> list[str]:
    """The pages of the same folder that a page links to, in its order, each once."""
    return list(dict.fromkeys(folder + target for target in re.findall(r"\]\(([\w-]+\.md)\)", text)))
