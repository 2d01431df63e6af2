"""Places: where in the passages the answer to a question may be, and how likely it is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from chapterverse.answer.bearing import by_words, coverage, log, named
from chapterverse.answer.layout import Layout
from chapterverse.answer.odds import odds
from chapterverse.types import Reading


class Place(NamedTuple):
    """Where an answer may be, and the chance that it is there."""

    sheet: int
    start: int
    end: int
    score: float
    chance: float = 1.0
    alone: float = 1.0
    """The chance by its own strength, whatever else its passage holds."""


def places(query: str, sheets: Sequence[Layout], readings: Sequence[Reading]) -> Iterator[Place]:
    """Where the answer may be, in every passage; the score is the log-odds that it is there, and a bonus.

    The bonus is for a paragraph that speaks of what the question names: at most 1, so that it decides between
    good places, and never for one that the reader thinks much less likely.
    """
    wanted = named(query)
    for n, (sheet, reading) in enumerate(zip(sheets, readings, strict=True)):
        if sheet.is_bare:
            continue
        told = tuple(span for span in reading.spans if sheet.tells(span.start, span.end))
        # What the reader has found in headings and questions is not left for sentences that are less likely.
        left = 1 - sum(span.score for span in reading.spans if sheet.says_nothing(span.start, span.end))
        telling = tuple(one for one in reading.evidence if not sheet.only_asks(one.start))
        spans = told or telling[:1] or (by_words(query, sheet),)
        best = (reading.spans or spans)[0].score  # also of a heading: it leaves the rest as doubtful as it was
        for span in spans:
            strength = span.score / best if best else 1.0
            speaks = coverage(wanted, sheet.paragraph(span.start))
            score = log(odds(reading.answerable) * strength) + speaks
            chance = reading.answerable * max(left, strength if told else 0.0)
            yield Place(n, span.start, span.end, score, chance, reading.answerable * strength)
