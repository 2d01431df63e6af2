"""Enumerations: "There are three reasons. First, … Second, … Finally, …" is a list that is written as prose."""

from __future__ import annotations

import re

from chapterverse.answer.layout import Layout
from chapterverse.answer.questions import asks_for_list

_BE = r"(?:\s+[\w-]+){0,2}?\s+(?:is|are|was|were)\b"
_ORDINAL = r"(?:second|third|fourth|fifth)"
_FIRST = re.compile(rf"first(?:ly)?,|first\s+of\s+all\b|(?:the\s+first|one){_BE}", re.IGNORECASE)
_LAST = re.compile(rf"(?:finally|lastly|last)\b(?:,|\s+of\s+all\b)|finally\s|the\s+(?:last|final){_BE}", re.IGNORECASE)
_NEXT = re.compile(
    rf"{_ORDINAL}(?:ly)?,|(?:then|next)\b|(?:(?:the|a)\s+(?:{_ORDINAL}|next|further)|(?:yet\s+)?another){_BE}",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(r"\b(?:two|three|four|five|several|many|some|both|following|these)\b|:$", re.IGNORECASE)
_WHY = re.compile(r"\W*why\b|\b(?:reasons?|causes?)\b", re.IGNORECASE)
_MOST_BETWEEN = 2
"""Sentences that may stand between two members, about the first of them."""


def asks_for_members(question: str) -> bool:
    """Whether an answer is all that an enumeration has: reasons, steps, parts."""
    return asks_for_list(question) or _WHY.search(question) is not None


def enumeration(sheet: Layout, n: int) -> tuple[int, list[int]] | None:
    """The members of the enumeration that a sentence opens or belongs to, behind how many lead into it (1 or 0)."""
    for first in range(len(sheet.sentences)):
        members = _members(sheet, first) if _FIRST.match(sheet.sentence(first)) else []
        if len(members) < 2:
            continue
        lead = _lead_in(sheet, first)
        if n in (*lead, *members):
            return len(lead), [*lead, *members]
    return None


def _members(sheet: Layout, first: int) -> list[int]:
    members = [first]
    for i in range(first + 1, len(sheet.sentences)):
        said = sheet.sentence(i)
        if i - members[-1] > _MOST_BETWEEN + 1 or sheet.headed(sheet.sentences[first][0], sheet.sentences[i][0]):
            break
        if _FIRST.match(said):
            break
        if _NEXT.match(said) or _LAST.match(said):
            members.append(i)
        if _LAST.match(said):
            break
    return members


def _lead_in(sheet: Layout, first: int) -> list[int]:
    """The sentence right before the first member, if it says that some follow."""
    before = first - 1
    if before < 0 or sheet.headed(sheet.sentences[before][0], sheet.sentences[first][0]):
        return []
    return [before] if _ANNOUNCES.search(sheet.sentence(before)) else []
