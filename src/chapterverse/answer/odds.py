"""Odds: what speaks for a passage beside what the reader says of it.

The reader judges each passage by itself, and in a book whose pages speak of the same things a neighbour's "because …"
can look like the reason that was asked for. Among several passages, one that has hardly any of the question's words is
less likely to hold the answer than one that has them, and so is one that the search put last.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from chapterverse.answer.questions import content
from chapterverse.types import Reading

_WORDS = 2.0
"""The log-odds of having none of the question's words that the best passage has; half of them cost nothing."""
_PLACE = 0.1
"""Those of each place further down. Both were chosen on 500 questions about 38 short books that were held out of
training and on 195 about five long ones, with a look at 300 about one half of `benchmarks/unseen_books.txt`. Where 168
of the 250 that a page answers get the page that does, 8 instead of 24 of 250 that none answers are answered (of another
250, which chose nothing here, 18); in the long books, where all that is found has the question's words, little changes.
"""
_ENOUGH = 0.5
_SUREST = 0.9999


def weighed(question: str, texts: Sequence[str], readings: Sequence[Reading]) -> list[Reading]:
    """The readings of passages that come best first, each with the chance that it has beside the others."""
    against = _against(content(question), [content(text) for text in texts])
    return [
        replace(reading, answerable=_shifted(reading.answerable, one))
        for reading, one in zip(readings, against, strict=True)
    ]


def _against(asked: frozenset[str], told: Sequence[frozenset[str]]) -> list[float]:
    """The log-odds against each passage; the one that has least against it keeps its chance."""
    shared = [len(asked & words) for words in told]
    most = max(shared, default=0) or 1
    against = [_WORDS * max(0.0, _ENOUGH - count / most) / _ENOUGH + _PLACE * n for n, count in enumerate(shared)]
    least = min(against, default=0.0)
    return [one - least for one in against]


def odds(chance: float) -> float:
    """How much likelier something is than not; nothing is certain."""
    return chance / (1 - min(chance, _SUREST))


def _shifted(chance: float, against: float) -> float:
    if not against:
        return chance
    left = odds(chance) * math.exp(-against)
    return left / (1 + left)
