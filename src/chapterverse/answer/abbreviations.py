"""Abbreviations that a question has and its passages do not: they write the words instead.

Asked what FEMA does, the reader takes what any agency does for it. Where the passages speak of one thing alone that has
these initials, the question is read with its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_SHORT = re.compile(r"\b[A-Z]{3,}\b")
_CAPITALISED = r"[A-Z][\w.'’-]*"
_NAME = re.compile(rf"{_CAPITALISED}(?:[ \t]+(?:(?:of|and|for|the|in|on|to|&)[ \t]+){{0,2}}{_CAPITALISED})+")
"""`Department of Health and Human Services`"""
_ASKS_FOR_WORDS = re.compile(
    r"\b(?:stands?|short)\s+for\b|\bmeans?\b|\b(?:abbreviat|spell)|\b(?:acronym|initialism)s?\b", re.IGNORECASE
)
"""Those must stand in the book beside the letters."""


def written_out(question: str, texts: Iterable[str]) -> str:
    """The question with the names that the texts have for its abbreviations."""
    short = set(_SHORT.findall(question))
    if not short or question.isupper() or _ASKS_FOR_WORDS.search(question):
        return question
    text = "\n".join(texts)
    unknown = {letters for letters in short if not re.search(rf"\b{letters}\b", text)}
    names = {letters: set[str]() for letters in unknown}
    for one in _NAME.findall(text) if unknown else ():
        for letters in unknown:
            if name := _of_initials(one.split(), letters):
                names[letters].add(name)
    return _SHORT.sub(lambda one: _only(names.get(one[0], set())) or one[0], question)


def _of_initials(words: list[str], letters: str) -> str:
    """The end of a name that has just these initials: `U.S. Coast Guard` has USCG and no others."""
    for start, word in enumerate(words):
        if word[0].isupper() and _capitals(words[start:]) == letters:
            return " ".join(words[start:])
    return ""


def _capitals(words: list[str]) -> str:
    return "".join(letter for word in words for letter in (word if "." in word else word[0]) if letter.isupper())


def _only(names: set[str]) -> str:
    return names.pop() if len(names) == 1 else ""
