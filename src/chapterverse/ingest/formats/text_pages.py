"""Pages of plain text, as printers were sent them: running heads and feet go, their page numbers stay as labels."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

_REPEATS = 3
_LONGEST_HEAD = 120
_NUMBER = re.compile(r"(?:\[Page|\bPage|^)\s+([0-9]{1,5}|[ivxlc]{1,7})\]?\s*$", re.IGNORECASE)
"""A page's number at the end of a line: named, or by itself in its middle."""


class TextPage(NamedTuple):
    """What is left of a page, and its printed number."""

    text: str
    label: str | None


def text_pages(text: str) -> list[TextPage]:
    """The pages that form feeds part; first and last lines that most pages have, but for their numbers, are no text.

    Where no page has a number, such a line may be a refrain.
    """
    pages = [page.strip("\n").split("\n") for page in text.split("\f")]
    ends = Counter(_pattern(line) for page in pages if len(page) > 1 for line in (page[0], page[-1]))
    if not any(_recurs(count, len(pages)) for pattern, count in ends.items() if pattern.endswith("#")):
        ends.clear()
    found: list[TextPage] = []
    for page in pages:
        labels: list[str] = []
        for end in (0, -1):
            if len(page) > 1 and len(page[end]) <= _LONGEST_HEAD and _recurs(ends[_pattern(page[end])], len(pages)):
                labels += _NUMBER.findall(page.pop(end))
        found.append(TextPage("\n".join(page), labels[-1] if labels else None))
    return found


def _recurs(count: int, pages: int) -> bool:
    return count >= _REPEATS and 2 * count >= pages


def _pattern(line: str) -> str:
    return " ".join(_NUMBER.sub("#", line).split())
