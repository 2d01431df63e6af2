"""The title page: what a book says of itself as a book stands in lines there, and a reader judges sentences."""

from __future__ import annotations

import re

from chapterverse.answer.questions import asks_about_book

_AUTHOR = re.compile(r"\b(?:authors?|writer|wrote|written)\b", re.IGNORECASE)
_TITLE = re.compile(r"\b(?:title|titled|called|named?)\b", re.IGNORECASE)
_NAME = r"[A-Z][\w.'’-]*(?:,?\s(?:[A-Z][\w.'’-]*|and|&|de|du|la|of|van|von))*"
_BY_LINES = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        rf"^(?i:authors?\s*:|written\s+by\b:?)\s*{_NAME}.*$",
        rf"^(?i:by)\b:?[ ]{_NAME}\.?(?:,.*)?$",
        rf"^(?P<before>.*\S),?\s(?i:by)\s{_NAME}\.?$",
    )
)
"""The surest first."""
_ANOTHER_HAND = re.compile(
    r"(?<!\bwritt)(?:ed|en|wn)$|\b(?:introduction|foreword|preface|notes|illustrations|art)$", re.I
)
"""`Translated by`, `with an introduction by`"""
_NAMED_SO = re.compile(r"^title\s*:\s*\S.*$", re.IGNORECASE | re.MULTILINE)
_LONGEST = 120
"""Signs. What is longer is no line of a title page."""
_LONGEST_TITLE = 90


def title_line(question: str, opening: str) -> tuple[int, int] | None:
    """The line of a book's opening that names its author or its title, whichever the question asks for."""
    if not asks_about_book(question):
        return None
    if _AUTHOR.search(question):
        found = (match for by_line in _BY_LINES for match in by_line.finditer(opening))
        return next((match.span() for match in found if _is_by_line(match)), None)
    if _TITLE.search(question):
        named = _NAMED_SO.search(opening)
        return named.span() if named else _first_line(opening)
    return None


def _is_by_line(match: re.Match[str]) -> bool:
    before = match.groupdict().get("before") or ""
    return len(match[0]) <= _LONGEST and not _ANOTHER_HAND.search(before.rstrip(","))


def _first_line(opening: str) -> tuple[int, int] | None:
    """What an opening begins with, if that can be a title: a short line that ends as no sentence does."""
    line = opening.lstrip().partition("\n")[0].rstrip()
    start = len(opening) - len(opening.lstrip())
    title = line[:1].isupper() and len(line) <= _LONGEST_TITLE and line[-1] not in ".,;:!"
    return (start, start + len(line)) if title else None
