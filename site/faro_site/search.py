"""The index of the search: each clause has an entry of its own, and pages of figures have none."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

from faro_site import sources
from faro_site.sources import Pages


def entries(project: Pages) -> list[dict[str, Any]]:
    """An entry for each clause, which leads to its anchor and shows its first paragraph."""
    made = []
    for clause, path in project.clauses.items():
        text = project.texts[path]
        begin = text.index(f'<a id="{clause}"></a>')
        paragraph = text[begin:].partition("\n\n")[0].partition(f"**{clause}.**")[2]
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[*`]", r"\1", paragraph)
        made.append(
            {
                "location": f"{sources.address(path)}#{clause}",
                "level": 2,
                "title": clause,
                "text": f"<p>{html.escape(' '.join(plain.split()), quote=False)}</p>",
                "path": ["Specification", project.titles[path]],
                "tags": [],
            }
        )
    return made


def improve(index: Path, made: list[dict[str, Any]], unsearched: tuple[str, ...]) -> None:
    """Put entries into the index that the generator made, and take out those below the addresses `unsearched`."""
    data = json.loads(index.read_text(encoding="utf-8"))
    kept = [item for item in data["items"] if not item["location"].startswith(unsearched)]
    data["items"] = [*made, *kept]
    index.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
