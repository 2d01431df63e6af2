"""Bearing: how much a text has to do with a question, by its words and by what the reader saw in it."""

from __future__ import annotations

import math

from chapterverse.answer import facts
from chapterverse.answer.layout import Layout
from chapterverse.answer.questions import content
from chapterverse.types import AnswerSpan, Reading

_PUNCTUATION = str.maketrans(dict.fromkeys(".,;:!?()[]\"'“”‘—|", " "))


def log(value: float) -> float:
    """The logarithm, which nothing has too."""
    return math.log(max(value, 1e-9))


def by_words(query: str, sheet: Layout) -> AnswerSpan:
    """The sentence that shares most words with the question, where the reader read no further."""
    asked = content(query)
    start, end = max(sheet.sentences, key=lambda s: len(asked & content(sheet.text[s[0] : s[1]])))
    return AnswerSpan(start, end, 0.0)


def coverage(wanted: set[str], text: str) -> float:
    """The share of the question's names and numbers that a text mentions."""
    return len(wanted & folded(text)) / len(wanted) if wanted else 1.0


def named(text: str) -> set[str]:
    """Words of names, and numbers as they are written."""
    words = {word for name in facts.names(text) if not name.opens for word in name.words}
    return words | {text[number.start : number.end].strip().lower() for number in facts.numbers(text)}


def folded(text: str) -> set[str]:
    """The words of a text in small letters; an owner is his own."""
    return set(text.lower().replace("’", "'").replace("'s", " ").translate(_PUNCTUATION).split())


def evidence(sentence: tuple[int, int], reading: Reading) -> float:
    """The strongest evidence that the reader sees in a sentence."""
    start, end = sentence
    return max((span.score for span in reading.evidence if span.start < end and span.end > start), default=0.0)
