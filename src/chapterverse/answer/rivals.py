"""Rivals: things of nearly the same name or number as the one that is asked about.

Asked about Nether Garth, the reader may be sure of a row about High Garth, and of what is said of Martha Pell when
Agnes Pell is meant, of rule 4.3.4 when 4.3.3 is, or of the next entry of a list ("Coast Guard: …") when one above it
is. Such a sentence answers another question, however sure the reader is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from chapterverse.answer import facts
from chapterverse.answer.claims import COPY
from chapterverse.answer.questions import content
from chapterverse.answer.wording import FUNCTION_WORDS

_ASKS_FOR_NAME = re.compile(r"\b(?:who|whom|whose|which|names?|called)\b", re.IGNORECASE)
"""Then a relative, or the other street, may be the answer."""
_POINTS_BACK = re.compile(r"\b(?:her|him|his|hers|it|its|them|their)\b", re.IGNORECASE)
"""Beside a rival: it may stand for what is asked about ("Peter Holm married her")."""
_RANKS = frozenset(
    """
    king queen prince princess emperor empress president general colonel major lieutenant sergeant admiral pope bishop
    archbishop father mother brother sister uncle aunt duke duchess count countess baron earl judge senator governor
    young old little big
    """.split()
)
_OPENING = 2
"""Before so many words of a sentence or row, a name is what it is about."""
_CLAUSE = re.compile(r"(?<=[.!?;:])\s|\n")
_NUMBERED = re.compile(r"(?:\b(?P<kind>[^\W\d_]\w*)\s+)?(?<![\w.])(?P<number>\d{1,3}(?:\.\d{1,3})+)(?!\w|\.\d)")
"""`Rule 4.3.3`; no date, as years are longer."""
_ENTRY = re.compile(r"^[ \t]*(?P<name>[^\W\d_][^:\n]{2,80}?)[ \t]?:(?!\S)", re.MULTILINE)
"""`Federal Emergency Management Agency: leads …`"""
_WORDS_OF_ENTRY = 2
"""So many words of its own a name has at least: "Example: …" is no entry of a list."""
_WORK = r"book|novel|work|volume|story|play|poem"
_ASKS_OF_WORK = re.compile(rf"\b(?:the|this|first|second|last)\s+(?:{_WORK}|edition)\b", re.IGNORECASE)
_TELLS_OF_WORK = re.compile(rf"\b(?:{_WORK})\b", re.IGNORECASE)
_UNMISTAKABLE = 2
"""So many dots make an identifier of a number; with fewer, the word before it must say of what kind it is."""

Name = tuple[str, ...]


def speaks_of_rival(question: str, text: str, passage: str = "") -> bool:
    """Whether a text of a passage is about a rival of what the question names, and does not name that itself."""
    if _is_other_entry(question, text, passage):
        return True
    if _ASKS_FOR_NAME.search(question):
        return False
    if numbered_otherwise(question, text) or _tells_of_copy(question, text):
        return True
    told = {word for line in text.splitlines() for name in facts.names(line) for word in _folded(name)}
    asked = [_folded(name) for name in facts.names(question) if not name.opens]
    missing = [name for name in asked if len(name) > 1 and not set(name) <= told]
    return any(_rival(name, other) for name in missing for other in _subjects(text))


def _is_other_entry(question: str, text: str, passage: str) -> bool:
    """Whether a passage has an entry for what the question names, and a text of it is of other entries alone."""
    told = _entries(text)
    if not told:
        return False
    asked = content(question)
    words = {name: {word for word in content(name) if len(word) > 1} for name in _entries(passage)}
    meant = {name for name, own in words.items() if len(own) >= _WORDS_OF_ENTRY and own <= asked}
    return bool(meant) and meant.isdisjoint(told)


def _entries(text: str) -> set[str]:
    return {one["name"] for one in _ENTRY.finditer(text)}


def _tells_of_copy(question: str, text: str) -> bool:
    """Whether a text tells of a copy alone ("this ebook"), where the work itself is asked about."""
    if COPY.search(question) or not _ASKS_OF_WORK.search(question):
        return False
    return COPY.search(text) is not None and not _TELLS_OF_WORK.search(text)


def numbered_otherwise(question: str, text: str) -> bool:
    """Whether sentences or rows of a text begin with other numbers than the question names, and none of it has those.

    `4.3.3.1` is a part of `4.3.3`. What a text merely refers to ("see 4.3.4") is not what it is about.
    """
    asked = list(_NUMBERED.finditer(question))
    told = [one["number"] for one in _NUMBERED.finditer(text)]
    if any(f"{number}.".startswith(f"{one['number']}.") for number in told for one in asked):
        return False
    openings = [(clause, one) for clause in _CLAUSE.split(text) for one in _NUMBERED.finditer(clause)]
    subjects = [one for clause, one in openings if len(clause[: one.start("number")].split()) <= _OPENING]
    return any(_of_one_kind(one, other) for one in asked for other in subjects)


def _of_one_kind(asked: re.Match[str], told: re.Match[str]) -> bool:
    """Whether both are identifiers by themselves, or by the same word before them, which is a name in the text."""
    if min(one["number"].count(".") for one in (asked, told)) >= _UNMISTAKABLE:
        return True
    kind, other = asked["kind"] or "", told["kind"] or ""
    return kind.lower() == other.lower() not in FUNCTION_WORDS and other[:1].isupper()


def _subjects(text: str) -> Iterator[Name]:
    """The names that sentences and rows begin with, but for those that point back at something else."""
    for clause in _CLAUSE.split(text):
        for name in facts.names(clause):
            if len(clause[: name.start].split()) <= _OPENING and not _POINTS_BACK.search(clause, name.end):
                yield _folded(name)


def _rival(asked: Name, told: Name) -> bool:
    """Whether the names differ in their first word alone; what follows the other ("Martha Pell of Ribe") is no matter.

    A rank and an initial may stand for the first word itself.
    """
    one, other = asked[0], told[0] if told else ""
    if {one, other} & _RANKS or min(len(one), len(other)) < 2:
        return False
    return one != other and asked[1:] == told[1 : len(asked)]


def _folded(name: facts.Name) -> Name:
    """A name's words without accents."""
    plain = (unicodedata.normalize("NFKD", word) for word in name.words)
    return tuple("".join(c for c in word if not unicodedata.combining(c)) for word in plain)
