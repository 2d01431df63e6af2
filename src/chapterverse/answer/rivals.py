"""Rivals: things that may be taken for the one that is asked about, since all but a name is alike.

Asked about Nether Garth, the reader may be sure of a row about High Garth; asked about the tower at Quillbridge, of
what is said of Stennet tower. Such a sentence answers another question, however sure the reader is. Of 6,000 sentences
that answer held-out questions 3 seem to be about a rival; what else comes of it is in docs/evaluation.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chapterverse.answer import facts

_NEAR = re.compile(r"\b([a-z]{3,}) (?:at|of|in|near) (?:the )?$")
_THING = re.compile(r"(?:['’]s)? ([a-z]{3,})\b")
_OPENING = 2
"""Before so many words of a sentence, a name is what it is about."""

Name = tuple[str, ...]


def speaks_of_rival(question: str, text: str) -> bool:
    """Whether a text is about a rival of what the question names, and does not name that itself."""
    told = list(facts.names(text))
    known = {word for name in told for word in name.words}
    asked = [name for name in facts.names(question) if not name.opens and not set(name.words) <= known]
    opening = [name.words for name in told if _opens(text, name)]
    if any(_alike(name.words, other) for name in asked for other in opening):
        return True
    wanted = {thing for name in asked for thing in _things(question, name)}
    return any(wanted & set(_things(text, name)) for name in told if _opens(text, name))


def _opens(text: str, name: facts.Name) -> bool:
    """Whether it is what its sentence or row begins with."""
    before = re.split(r"[.!?;:]\s|\n", text[: name.start])[-1]
    return len(before.split()) <= _OPENING


def _alike(one: Name, other: Name) -> bool:
    """Whether a name of several words, and the other or its beginning ("Martha Pell of Stennet"), differ in one."""
    return 1 < len(one) <= len(other) and sum(a != b for a, b in zip(one, other, strict=False)) == 1


def _things(text: str, name: facts.Name) -> Iterator[str]:
    """What bears the name: the tower of "the tower at Quillbridge" and of "Stennet tower"."""
    if found := _NEAR.search(text[: name.start]):
        yield found[1]
    if found := _THING.match(text, name.end):
        yield found[1]
