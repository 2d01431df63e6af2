"""Plain: what a drafted sentence says to whoever reads it, and what of it would look otherwise than it was judged."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chapterverse.answer.evidence import Evidence

_ITEM = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•–])\s+")
"""The mark of a draft's own list."""
_TAKEN_UP = re.compile(
    r"^\s*(?:(?:Yes|No|Yeah|Yep|Nope|(?:In)?correct|Right|Wrong|True|False|Indeed|Exactly|Certainly|Not at all"
    r"|Of course(?: not)?)(?:\s?[,;:.!—–]|\s+-\s|$)\s*)+",
    re.IGNORECASE,
)
"""What takes up the question: it says yes or no to what the gate does not judge."""
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Characters without a look of their own, some of which turn the text around that follows."""
_MARKUP = re.compile(r"~~|<[A-Za-z/!?]|!\[|\]\(|\]:|//|\bwww\.|[¬❌✖✗✘⛔🚫]")
"""What strikes out, hides, makes a link or denies where an answer is shown."""
_FIRST = re.compile(r"(?:(?P<before>\w+)\s+)?\bI\b(?=['’,]|\s)")
_OTHER_FIRSTS = re.compile(r"\b(?:[Mm]y|[Mm]yself|[Mm]e|[Ww]e)\b")
_NUMBERED = frozenset(
    "act article book chapter class grade group level part phase schedule stage title type volume".split()
)
"""What a Roman one may follow."""


def visible(text: str) -> str:
    """A text without the characters that cannot be seen."""
    return _UNSEEN.sub("", text)


def told(text: str) -> str:
    """A sentence without what takes up the question."""
    rest = _TAKEN_UP.sub("", text)
    return text if rest == text else rest[:1].upper() + rest[1:]


def has_speaker(text: str, evidence: Sequence[Evidence] = ()) -> bool:
    """Whether whoever writes speaks of himself; kings, wars and phases have the same letter behind their names."""
    for found in _FIRST.finditer(text):
        before = found["before"] or ""
        opens = not re.search(r"\w", text[: found.start()])  # a capital says nothing there
        name = before[:1].isupper() and (not opens or any(found[0] in one.text for one in evidence))
        if not name and before.lower() not in _NUMBERED:
            return True
    return _OTHER_FIRSTS.search(text) is not None


def unmarked(text: str) -> str:
    """A sentence without the marks of a list or of stress."""
    return _ITEM.sub("", text).replace("**", "")


def foreign_markup(text: str, passage: str) -> str:
    """The first mark in a text that may hide, deny or link what it says, and is not in the passage; or nothing."""
    return next((found[0] for found in _MARKUP.finditer(text) if found[0] not in passage), "")
