"""The Markdown of a page as the site needs it: links to other pages, to copied files, and to files that it lacks.

Comments and headings stay as they are, and so does code, except for what the generator would not understand.
"""

from __future__ import annotations

import html
import posixpath
import re
from dataclasses import dataclass, field
from pathlib import Path

from faro_site.sources import staged

_SYNTAX = re.compile(
    r"""
      (?P<fence> ^(?P<mark>```+|~~~+)[^\n]*\n [\s\S]*? (?:^(?P=mark)[^\n]*$|\Z) )
    | (?P<indented> (?:(?<=\n\n)|\A) (?:[ ]{4}[^\n]*(?:\n|\Z)\n*)+ )
    | (?P<comment> <!--[\s\S]*?--> )
    | (?P<heading> ^\#{1,6}[ ][^\n]*$ )
    | (?P<clause> <a\ id="(?P<id>[A-Z]+-\d+)"></a>\*\*(?P=id)\.\*\* )
    | (?P<link> (?P<bang>!?) \[(?P<text>(?:[^\[\]`]|`[^`\n]*`|\[[^\[\]]*\])*)\] \((?P<target>[^()\s]+)\) )
    | (?P<code> (?P<ticks>`+)(?!`)[\s\S]*?(?<!`)(?P=ticks)(?!`) )
    | (?P<name> (?<![\w\#/.-]) [A-Z]{2,4}-\d+ (?![\w*-]) )
    """,
    re.VERBOSE | re.MULTILINE,
)


@dataclass
class Linker:
    """Rewrites the links of pages."""

    root: Path
    pages: frozenset[str]
    clauses: dict[str, str]
    repository: str = ""
    copied: set[str] = field(default_factory=set)
    """Files that the site has a copy of, as paths from the root. Pictures of pages are added."""
    faults: list[str] = field(default_factory=list)
    """Links that lead to no file, with page and line."""

    def rewrite(self, page: str, text: str) -> str:
        """The text of a page with links that work in the site.

        - The name of a clause in running text becomes a link to it, and a clause a link to itself.
        - A folder with a README is its README.
        - Code with a pipe in a table is HTML, which all dialects read alike; a fence has the name of a language only.
        - A file that the site lacks is a link into the repository if that has an address, else its path as text.

        A link to a file that the project does not have is a fault, and stays.
        """

        def replaced(found: re.Match[str]) -> str:
            if found["fence"]:
                # As rustdoc wants it: ```rust,ignore
                return re.sub(r"^(\W+\w+),[^\n]*", r"\1", found[0])
            if found["code"]:
                in_a_table = text[: found.start()].rpartition("\n")[2].startswith("|")
                return _code_of_a_cell(found[0].strip("`")) if in_a_table and "|" in found[0] else found[0]
            if found["clause"]:
                name = found["id"]
                return f'<a id="{name}"></a>**[{name}](#{name}).**'
            if found["link"]:
                return self._link(page, text, found)
            if found["name"]:
                return self._clause(page, found["name"])
            return found[0]

        return _SYNTAX.sub(replaced, text)

    def _clause(self, page: str, name: str) -> str:
        if name not in self.clauses:
            return name
        target = self.clauses[name]
        return f"[{name}]({'' if target == page else _relative(page, target)}#{name})"

    def _link(self, page: str, text: str, found: re.Match[str]) -> str:
        target = found["target"]
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return found[0]
        path, hash_, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        if not (self.root / path).exists():
            line = text.count("\n", 0, found.start()) + 1
            self.faults.append(f"{page}:{line}: the link to {target} leads to no file")
            return found[0]
        if f"{path}/README.md" in self.pages:
            path = f"{path}/README.md"
        if found["bang"]:
            self.copied.add(path)
        if path in self.pages or path in self.copied:
            return f"{found['bang']}[{found['text']}]({_relative(page, path)}{hash_}{anchor})"
        if self.repository:
            return f"[{found['text']}]({self.repository.rstrip('/')}/{path}{hash_}{anchor})"
        return _as_text(found["text"], path)


def _code_of_a_cell(code: str) -> str:
    return "<code>" + html.escape(code.strip(), quote=False).replace("\\|", "&#124;") + "</code>"


def _relative(page: str, target: str) -> str:
    return posixpath.relpath(staged(target), posixpath.dirname(staged(page)) or ".")


def _as_text(text: str, path: str) -> str:
    """A link's text with the path of a file that cannot be linked: beside it, unless the text says it."""
    plain = text.replace("`", "").strip("/")
    if posixpath.splitext(path)[0].lower().endswith(posixpath.splitext(plain)[0].lower()):
        return f'<span class="source" title="{path}">{text}</span>'
    return f"{text} `{path}`"
