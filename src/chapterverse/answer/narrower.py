"""Narrower: before a question is refused, the paragraphs that have most of its words are read by themselves.

The reader judges a passage as a whole, and what stands around a plain answer can hide it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from chapterverse.answer.layout import Span, stands_above
from chapterverse.answer.questions import content
from chapterverse.types import Passage

SURE = 0.75
"""The chance from which such a paragraph answers."""
WORTH_IT = 0.3
"""The chance that a passage must have for that. Of 525 questions that five long books, short ones of our own that were
held out of training and 63 in modern prose answer, 9 more are answered so, 8 of them rightly, and one of 470 that they
only seem to answer. From 0.1 on it was 11, 9 of them rightly, and 7; from a SURE of 0.9 on 3, all rightly, and none."""
_PARAGRAPHS = 2
_FEWEST_WORDS = 7
_PARAGRAPH = re.compile(r"\S(?:.|\n(?!\n)|(?<=:)\n\n)*")
"""What stands between blank lines; what a colon announces belongs to it."""


def narrowed(question: str, passages: Sequence[Passage]) -> list[Passage]:
    """The paragraphs that share most words with a question, as passages of their own; none that is all of its own.

    Each has the heading with it that stands right above it: below a question, a text may have none of its words.
    """
    asked = content(question)
    found: dict[str, tuple[int, Passage]] = {}
    for passage in passages:
        for start, end in _units(passage.text):
            text = passage.text[start:end]
            shared = len(asked & content(text))
            if shared and len(text.split()) >= _FEWEST_WORDS and text != passage.text.strip():
                found.setdefault(text, (shared, replace(passage, text=text, start=passage.start + start)))
    best = sorted(found.values(), key=lambda one: -one[0])[:_PARAGRAPHS]
    return [replace(passage, id=f"S{n}") for n, (_, passage) in enumerate(best, 1)]


def _units(text: str) -> Iterator[Span]:
    """The paragraphs, each from the heading right above it on; a very short one below that has the next with it."""
    units: list[Span] = []
    waits = False  # whether the last of them is a heading, or nearly
    for match in _PARAGRAPH.finditer(text):
        start, end = match.start(), match.start() + len(match[0].rstrip())
        above = stands_above(text, start, end)
        if waits and not above:
            units[-1] = (units[-1][0], end)
        else:
            units.append((start, end))
        waits = above or (waits and len(text[start:end].split()) < _FEWEST_WORDS)
    return (unit for unit in units if not stands_above(text, *unit))
