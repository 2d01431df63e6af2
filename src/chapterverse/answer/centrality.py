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
_WORK = (
    r"(?:book|guide|handbook|manual|report|plan|paper|story|work|document|policy|tutorial|article|essay|course|standard"
    r"|specification)"
)
_WRITING = rf"(?:chapter|section|part|{_WORK})"
_SUMS_UP = re.compile(
    r"\b(?:lesson|moral|theme|in short|in sum|in a word|above all|to sum up|the point (?:is|of)"
    rf"|the whole (?:art|craft|point)|the (?:aim|purpose|goal|object|subject) of (?:this|the) {_WRITING}"
    rf"|this {_WRITING} (?:is|has|shows|argues|aims|describes|explains|covers|tells|provides|sets out|introduces))\b",
    re.IGNORECASE,
)
_STATES_PURPOSE = re.compile(
    rf"\b(?:the (?:aim|purpose|goal|object|objective|intent) of (?:this|the present) {_WORK}"
    rf"|this {_WORK} (?:shows|argues|describes|explains|covers|tells|sets out|introduces|presents|outlines|teaches"
    r"|is about|aims to|is (?:intended|meant|written|designed) (?:to|for))"
    rf"|in this {_WORK},? (?:we|you|i) (?:will\s)?(?:show|explain|describe|learn|present|find|argue))\b",
    re.IGNORECASE,
)
"""What a book says of the whole of itself."""
_CAPTION = re.compile(
    r"(?:figure|fig\.|table|plate|listing|chart|diagram|photo(?:graph)?|exhibit)\s+[\dA-Z][\w.-]*?\s?[.:—–|]",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"(?:[$>#]\s|>>>|//|#include|import\s\w+$|def\s\w+\(|class\s\w+[(:])|.*?(?:\w\([^()]*\)\s*$|[{}]\s*$|\);|\w\s?=\s?[\w\"'\[({]"
    r"|=>|->|::|&&)"
)
_LEGAL = re.compile(
    r"\bcopyright\s+(?:©|\(c\)|\d{4})|©\s*\d|\ball rights reserved\b|\bpermission is (?:hereby )?granted\b"
    r"|\bwithout (?:any )?warranty\b|\b(?:licensed|distributed|released) under\b",
    re.IGNORECASE,
)
_APART = re.compile(
    r"\W*(?:[\d.]+\s+)?(?:(?:review|discussion|practice|study)\s+)?(?:exercises?|problems|questions|quiz|homework|assignments?"
    r"|licen[cs]e|copyright|legal notices?|disclaimer|colophon|imprint)\W*",
    re.IGNORECASE,
)
"""Headings of what is set for readers to do, or tells of the volume."""
_NOT_ITS_OWN = re.compile(
    r"(?:^|[\s(—–-])[\"“‘'](?=\w)|[?!][\"”’']?\s*$|\b(?:e-?books?|gutenberg|copyright|licen[cs]ed?|reserved)\b|©",
    re.IGNORECASE,
)
"""What somebody says or asks in a book, or who made the file, is not what the book says."""
_ABBREVIATION = re.compile(r"([A-Z][A-Z0-9]+)s?")
_WORDS_A_LETTER = 2
"""How many words each letter of an abbreviation may stand for at the most, on average."""
_STANDS_FOR = re.compile(r"\bstands?\s+for\b|\bshort\s+for\b|\babbreviation\b", re.IGNORECASE)
_IS_SHORT_FOR = (
    rf"(?:\s+(?:stands|is\s+(?:short|an?\s+(?:abbreviation|acronym|initialism)))\s+(?:for|of)\s|{_GLOSS.pattern})"
)
"""Behind an abbreviation, what has its words behind it."""
_CUE = 0.5
_PURPOSE = 2.0
"""As much as the most central sentence has that the reader is sure of: a stated purpose goes before it."""
_TOO_LIKE = 0.7
"""Sentences with more in common than this say the same thing."""


Form = Callable[[str, str | None], bool]
"""Whether a sentence says in a certain form what a subject is."""


def forms(question: str) -> tuple[Form, ...]:
    """The forms that answer "What is …?", the better first: whoever asks what it stands for wants it spelled out."""
    return (spells_out, _says_otherwise) if _STANDS_FOR.search(question) else (defines, spells_out)


def _says_otherwise(sentence: str, subject: str | None) -> bool:
    """Whether a sentence says what the subject is that has no words to stand for: `The red flag is a sign of …`."""
    return _ABBREVIATION.fullmatch(subject or "") is None and defines(sentence, subject)


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
    """Whether a sentence has the words that an abbreviation stands for: `long-term goals (LTG)`, `LTG (…)`, `LTG: …`"""
    short = _ABBREVIATION.fullmatch(subject or "")
    if short is None:
        return False
    letters = short[1]
    before = [sentence[: one.start()] for one in re.finditer(rf"\({letters}s?\)", sentence)]
    meant = [text.replace(")", "(").rpartition("(")[2].split()[-_WORDS_A_LETTER * len(letters) :] for text in before]
    meant += [one[1].split() for one in re.finditer(rf"\b{letters}s?\s+\(([^()]+)\)", sentence)]
    if any(_has_initials(words[n:], letters) for words in meant for n in range(len(words) - 1)):
        return True
    said = re.match(rf"{_QUOTE}(?:The\s+)?{letters}s?{_QUOTE}{_IS_SHORT_FOR}", text := unmarked(sentence), re.DOTALL)
    return said is not None and _has_letters(text[said.end() :].split()[: _WORDS_A_LETTER * len(letters)], letters)


def _has_initials(words: Sequence[str], letters: str) -> bool:
    """Whether words have these letters in their order, the first at the very beginning."""
    return words[0][0].upper() == letters[0] and _has_letters(words, letters)


def _has_letters(words: Sequence[str], letters: str) -> bool:
    """Whether words have these letters in their order."""
    said = iter("".join(words).upper())
    return all(letter in said for letter in letters)


def most_central(texts: Sequence[str], weights: Sequence[float], count: int) -> list[int]:
    """The sentences most like all the others, or that say they sum up; none says another's again.

    Each may be helped by a weight from 0 to 1.
    """
    vectors = _vectors([content(text) for text in texts])
    # What is said twice in almost the same words is not the more central for it.
    likeness = [sum(d for other in vectors if (d := _dot(one, other)) < _TOO_LIKE) for one in vectors]
    top = max(likeness, default=0.0) or 1.0
    order = sorted(range(len(texts)), key=lambda n: (-(likeness[n] / top + weights[n] + _cue(texts[n])), n))
    chosen: list[int] = []
    for n in order:
        if len(chosen) < count and all(_dot(vectors[n], vectors[k]) < _TOO_LIKE for k in chosen):
            chosen.append(n)
    return chosen


def _cue(text: str) -> float:
    """What speaks for a sentence, or against it, whatever it has in common with others."""
    if _NOT_ITS_OWN.search(text):
        return -_CUE
    return _PURPOSE if states_purpose(text) else _CUE * bool(_SUMS_UP.search(text))


def states_purpose(sentence: str) -> bool:
    """Whether a sentence says what the whole book is for, or about: "This guide explains …"."""
    return _STATES_PURPOSE.search(sentence) is not None


def stands_apart(line: str, heading: str) -> bool:
    """Whether a line under a heading is no text of the book: a caption, code, an exercise, or who may copy it."""
    words = unmarked(line)
    forms = (_CAPTION.match(words), _CODE.match(words), _LEGAL.search(words), _APART.fullmatch(heading))
    return any(forms)


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
