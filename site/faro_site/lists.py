"""What is inside of list items, as the generator wants it: four spaces in, where GitHub takes two or three."""

from __future__ import annotations

import re

_ITEM = re.compile(r"(\d+\.|[-*+]) +(?=\S)")
_FENCE = re.compile(r"```|~~~")
_WANTED = 4


def indented(text: str) -> str:
    """The text with the further paragraphs, code and lists of each list item four spaces in.

    An item after a further paragraph gets an empty line before it, or it would be a part of the paragraph.
    """
    lines: list[str] = []
    content = 0
    paragraphs = False
    in_fence = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            in_fence = not in_fence
        item = None if in_fence else _ITEM.match(line)
        indentation = len(line) - len(line.lstrip(" "))
        paragraphs = bool(content) and (paragraphs or not line)
        if item:
            if paragraphs and lines[-1]:
                lines.append("")
            content = len(item[0])
            paragraphs = False
        elif line and (in_fence or indentation < content):
            content = 0
        inside = content and not item and line
        lines.append(" " * max(0, _WANTED - content) + line if inside else line)
    return "\n".join(lines)
