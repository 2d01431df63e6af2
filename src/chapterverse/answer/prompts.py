"""Every fixed sentence that an answer may contain, and every instruction that a model is given: wording lives here.

Part 1: what users read (refusals, notices, connecting phrases). Part 2: what models read.
"""

from __future__ import annotations

import re

# 1. What users read -------------------------------------------------------------------------------------------------

NOT_IN_BOOK = "This information is not available in the book"
NOT_IN_SELECTION = "This information is not available in the selected text"
INSUFFICIENT_CONTEXT = "I do not have enough grounded context to answer that."
EMPTY_QUESTION = "Please provide a question about the book."
SEARCH_FAILED = "Unable to search the book. Please try again later."

REFUSALS = frozenset({NOT_IN_BOOK, NOT_IN_SELECTION, INSUFFICIENT_CONTEXT})

PART_ABSENT = "The book does not answer this part of the question: {part}"
PART_ABSENT_SELECTION = "The selected text does not answer this part of the question: {part}"
CONFLICT = "The book gives more than one answer."
CONFLICT_SELECTION = "The selected text gives more than one answer."
LIST_LEAD = "The book lists:"
ALSO = "It also says:"
SOURCE_SELECTION = "selected text"

NOTICES = frozenset({*REFUSALS, CONFLICT, CONFLICT_SELECTION, LIST_LEAD, ALSO})
"""Notices that are the same every time."""
_NOTICES_WITH_PART = tuple(
    re.compile(re.escape(phrase).replace(r"\{part\}", r"(?P<part>[^\n]{1,300})"))
    for phrase in (PART_ABSENT, PART_ABSENT_SELECTION)
)


def is_notice(text: str, question: str = "") -> bool:
    """Whether a text is one of the fixed phrases; what a phrase says is absent must be words of the question."""
    if text in NOTICES:
        return True
    asked = _words(question)
    return any(
        (match := phrase.fullmatch(text)) is not None and _contains(asked, _words(match["part"]))
        for phrase in _NOTICES_WITH_PART
    )


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _contains(words: list[str], run: list[str]) -> bool:
    return bool(run) and any(words[at : at + len(run)] == run for at in range(len(words) - len(run) + 1))


# 2. What models read ------------------------------------------------------------------------------------------------
