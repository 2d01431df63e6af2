"""Marks: `[S1]` or `[S1, S2]` in a text says what its sentence cites."""

from __future__ import annotations

import re

from chapterverse.answer.validate import Sentences

_MARK = re.compile(r"\s*\[\s*(S\d+(?:\s*[,;]\s*S\d+)*)\s*\]")
_MARKS = re.compile(rf"(?<!\s){_MARK.pattern}")
"""To search with: of a long gap only its beginning is looked at."""
_SPACE_BEFORE_STOP = re.compile(r"(?<!\s)\s+(?=[.,;:!?])")


def keys(text: str) -> tuple[str, ...]:
    """The ids that a text has in its marks."""
    return tuple(key for found in _MARKS.findall(text) for key in re.findall(r"S\d+", found))


def without(text: str) -> str:
    """A text without its marks."""
    return _SPACE_BEFORE_STOP.sub("", _MARKS.sub("", text)).strip()


def sentences(text: str, split: Sentences) -> list[tuple[int, int]]:
    """The sentences of a text, each with the marks that follow it ("It is so. [S1]")."""
    spans: list[tuple[int, int]] = []
    for start, end in split(text):
        if spans and _MARK.fullmatch(text[start:end]):
            spans[-1] = (spans[-1][0], end)
        elif spans and (lead := _MARK.match(text, start, end)) and lead.start() == start:
            spans[-1] = (spans[-1][0], lead.end())
            spans.append((lead.end(), end))
        else:
            spans.append((start, end))
    return spans
