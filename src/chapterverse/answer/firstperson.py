"""First person: whoever wrote a book calls himself "I" in it, and whoever asks calls him by his name."""

from __future__ import annotations

import re

from chapterverse.answer.facts import names
from chapterverse.answer.questions import content, parts

_WRITER = r"the\s+(?:author|writer|narrator)"
_TITLE = r"(?:(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir)\.?\s+)?"
_BEHIND = re.compile(r"\b(?:about|at|behind|by|for|from|near|of|on|to|with)\s+$", re.IGNORECASE)
_VERBS = {"does": "do", "has": "have", "is": "am"}
_VERB = re.compile(rf"\b({'|'.join(_VERBS)})(?=\s+I\b)|(?<=\bI\s)({'|'.join(_VERBS)})\b")


def in_first_person(question: str, author: str | None) -> str | None:
    """A question about the book's author as the book would put it: `How many nests did I open?`; else None."""
    if len(parts(question)) > 1:
        return None
    asked = _pattern(author).sub(_first_person, question)
    if asked == question or not content(asked):
        return None
    return _VERB.sub(lambda verb: _VERBS[verb[0]], asked)


def names_somebody(question: str) -> bool:
    """Whether a question has a name or speaks of the author at all, so that it is worth asking who that is."""
    return any(not name.opens for name in names(question)) or re.search(_WRITER, question) is not None


def _pattern(author: str | None) -> re.Pattern[str]:
    called = [_WRITER]
    if given := re.split(r"\s*(?:,|;|&|\band\b)\s*", author or "")[0].split():
        *first, last = map(re.escape, given)
        called.append(rf"{_TITLE}(?:(?:{'|'.join([*first, '[A-Z]'])})\.?\s+)*{last}" if first else rf"{_TITLE}{last}")
    return re.compile(rf"\b(?:{'|'.join(called)})\b(?P<own>['’]s?)?")


def _first_person(name: re.Match[str]) -> str:
    if name["own"]:
        return "my"
    return "me" if _BEHIND.search(name.string, 0, name.start()) else "I"
