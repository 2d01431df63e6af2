"""Centrality: the sentences that stand for a text, and those that say what something is."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

from chapterverse.answer.lists import unmarked
from chapterverse.answer.questions import content

_SAYS_WHAT = re.compile(
    r"\s+(?:is|are|was|were|means|denotes|(?:is|are|was|were)\s+(?:called|known\s+as)|refers?\s+to)\s+"
    r"(?:an?|the|any|one|that|what|when|where)\b"
)
_SUBJECT = re.compile(r"(?:(?:An?|The)\s+)?(?P<subject>[^,.;:!?]{2,60}?)" + _SAYS_WHAT.pattern)
_GLOSS = re.compile(
    r"(?:\s*:(?!.*:\s*$)|(?:\s+|\.\s*)(?:[–—]|--)(?!.*(?:[–—]|--)))(?=(?:\W*\w\S*\s){2}\W*\w)", re.DOTALL
)
"""What parts a word from its meaning in a glossary; no colon that leads on to a list, no dash of a pair."""
_MEANS = r"\s+(?:means|denotes|refers\s+to)\s+\S"
"""Then whatever follows is what it is: `“Business Day” means any day but Sunday`."""
_QUOTE = "[\"'“”‘’*_]?"
_NO_SUBJECT = re.compile(r"(?:this|that|it|he|she|they|these|those|there|here|what|which|who|one)\b", re.IGNORECASE)
_WRITING = r"(?:chapter|section|part|book|guide|handbook|manual|report|plan|paper|story|work)"
_SUMS_UP = re.compile(
    r"\b(?:lesson|moral|theme|in short|in sum|in a word|above all|to sum up|the point (?:is|of)"
    rf"|the whole (?:art|craft|point)|the (?:aim|purpose|goal|object|subject) of (?:this|the) {_WRITING}"
    rf"|this {_WRITING} (?:is|has|shows|argues|aims|describes|explains|covers|tells|provides|sets out|introduces))\b",
    re.IGNORECASE,
)
_NOT_ITS_OWN = re.compile(
    r"(?:^|[\s(—–-])[\"“‘'](?=\w)|[?!][\"”’']?\s*$|\b(?:e-?books?|gutenberg|copyright|licen[cs]ed?|reserved)\b|©",
    re.IGNORECASE,
)
"""What somebody says or asks in a book, or who made the file, is not what the book says."""
_ABBREVIATION = re.compile(r"([A-Z][A-Z0-9]+)s?")
_WORDS_A_LETTER = 2
"""How many words each letter of an abbreviation may stand for at the most, on average."""
_STANDS_FOR = re.compile(r"\bstands?\s+for\b|\bshort\s+for\b|\babbreviation\b", re.IGNORECASE)
_CUE = 0.5
_TOO_LIKE = 0.7
"""Sentences with more in common than this say the same thing."""


Form = Callable[[str, str | None], bool]
"""Whether a sentence says in a certain form what a subject is."""


def forms(question: str) -> tuple[Form, ...]:
    """The forms that answer "What is …?", the better first: whoever asks what it stands for wants it spelled out."""
    return (spells_out, defines) if _STANDS_FOR.search(question) else (defines, spells_out)


def defines(sentence: str, subject: str | None) -> bool:
    """Whether a sentence says what the subject is, be it in a glossary; or, without one, what anything is."""
    if subject is None:
        match = _SUBJECT.match(sentence)
        return match is not None and not _NO_SUBJECT.match(match.group("subject"))
    sentence = unmarked(sentence)
    words = r"\s+".join(re.escape(word) for word in subject.split())
    says = rf"(?:{_SAYS_WHAT.pattern}|{_MEANS})"
    if re.match(rf"{_QUOTE}(?:(?:An?|The)\s+)?{words}{_QUOTE}{says}", sentence, re.IGNORECASE):
        return True
    one = words.removesuffix("s") if len(subject) > 3 else words
    entry = re.match(rf"{_QUOTE}(?:(?:An?|The)\s+)?{one}(?:e?s)?{_QUOTE}", sentence, re.IGNORECASE)
    return entry is not None and _GLOSS.match(sentence, entry.end()) is not None


def spells_out(sentence: str, subject: str | None) -> bool:
    """Whether a sentence has the words that an abbreviation stands for: `long-term goals (LTG)`, `LTG (…)`."""
    short = _ABBREVIATION.fullmatch(subject or "")
    if short is None:
        return False
    letters = short[1]
    before = [sentence[: one.start()] for one in re.finditer(rf"\({letters}s?\)", sentence)]
    meant = [text.replace(")", "(").rpartition("(")[2].split()[-_WORDS_A_LETTER * len(letters) :] for text in before]
    meant += [one[1].split() for one in re.finditer(rf"\b{letters}s?\s+\(([^()]+)\)", sentence)]
    return any(_has_initials(words[n:], letters) for words in meant for n in range(len(words) - 1))


def _has_initials(words: Sequence[str], letters: str) -> bool:
    """Whether words have these letters in their order, the first at the very beginning."""
    said = iter("".join(words).upper())
    return words[0][0].upper() == letters[0] and all(letter in said for letter in letters)


def most_central(texts: Sequence[str], weights: Sequence[float], count: int) -> list[int]:
    """The sentences most like all the others, or that say they sum up; none says another's again.

    Each may be helped by a weight from 0 to 1.
    """
    vectors = _vectors([content(text) for text in texts])
    # What is said twice in almost the same words is not the more central for it.
    likeness = [sum(d for other in vectors if (d := _dot(one, other)) < _TOO_LIKE) for one in vectors]
    top = max(likeness, default=0.0) or 1.0
    cues = [_CUE * (bool(_SUMS_UP.search(text)) - bool(_NOT_ITS_OWN.search(text))) for text in texts]
    order = sorted(range(len(texts)), key=lambda n: (-(likeness[n] / top + weights[n] + cues[n]), n))
    chosen: list[int] = []
    for n in order:
        if len(chosen) < count and all(_dot(vectors[n], vectors[k]) < _TOO_LIKE for k in chosen):
            chosen.append(n)
    return chosen


def _vectors(bags: Sequence[frozenset[str]]) -> list[dict[str, float]]:
    """Unit vectors of words, the rarer the heavier."""
    seen = Counter(word for bag in bags for word in bag)
    result = []
    for bag in bags:
        # Sorted, because the order in which floats are added shows in their last digits.
        weighed = {word: math.log(1 + len(bags) / seen[word]) for word in sorted(bag)}
        norm = math.sqrt(sum(weight * weight for weight in weighed.values())) or 1.0
        result.append({word: weight / norm for word, weight in weighed.items()})
    return result


def _dot(one: dict[str, float], other: dict[str, float]) -> float:
    return sum(weight * other[word] for word, weight in one.items() if word in other)
